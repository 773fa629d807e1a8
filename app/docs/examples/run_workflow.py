import os
import uuid

from treadle import Treadle

treadle = Treadle()
run = treadle.execute(os.environ["WORKFLOW_ID"], "Write a line about looms.", idempotency_key=str(uuid.uuid4()))
for event in treadle.follow(run["execution_id"]):
    match event["type"]:
        case "execution_paused":
            print("Waits for a person:", event["title"])
        case "execution_complete":
            print(f"{event['status']}: {event['output']}")
        case "execution_failed":
            print("failed:", event["error"])
