"""The handler of runtimes_test.py, with Lambda's own client for Python."""
import os


def handler(event, context):
    if "Records" in event:
        with open(os.environ["SEEN"], "a") as seen:
            seen.write("".join(record["dynamodb"]["Keys"]["id"]["S"] + "\n" for record in event["Records"]))
        return None
    if "fail" in event:
        raise ValueError(event["fail"])
    if "exit" in event:
        os._exit(event["exit"])
    return {"echo": event["echo"], "arn": context.invoked_function_arn, "left": context.get_remaining_time_in_millis()}
