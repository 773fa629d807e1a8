import os

from treadle import Treadle, TreadleError

try:
    execution = Treadle().approve(os.environ["EXECUTION_ID"], "Looks good")
    for review in execution["reviews"]:
        print(f"{review['label']}: {review['decision']}")
except TreadleError as error:
    # 409: somebody was faster. The sentence says who, and when.
    if error.code != "CONFLICT":
        raise
    print(error)
