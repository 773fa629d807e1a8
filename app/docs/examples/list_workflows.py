from treadle import Treadle

for workflow in Treadle().workflows():
    print(workflow["id"], workflow["name"])
