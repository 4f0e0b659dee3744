"""Handlers for function_programs_test.py."""
import os
import subprocess
import sys
import time


def remember(event, context):
    """Writes the ids of the records to the table `seen`, with boto3 as it is configured by the environment."""
    import boto3

    # Debian's boto3 does not read this variable itself.
    table = boto3.resource("dynamodb", endpoint_url=os.environ["AWS_ENDPOINT_URL_DYNAMODB"]).Table("seen")
    for record in event["Records"]:
        table.update_item(Key={"id": record["dynamodb"]["Keys"]["id"]["S"]}, UpdateExpression="ADD times :one",
                          ExpressionAttributeValues={":one": 1})
    print("remembered", len(event["Records"]))


def list_tables(event, context):
    import boto3

    return boto3.client("dynamodb", endpoint_url=os.environ["AWS_ENDPOINT_URL_DYNAMODB"]).list_tables()["TableNames"]


def list_buckets(event, context):
    import boto3

    return boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"]).list_buckets()


def process_ids(event, context):
    """Starts a process, and returns its id and this one's."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
    return [os.getpid(), child.pid]


def variables(event, context):
    return dict(os.environ)


def wait(event, context):
    time.sleep(event["seconds"])


last = 0


def in_order(event, context):
    """Writes the ids of the records to a file. Fails if a record's number is not greater than the numbers before it."""
    global last
    for record in event["Records"]:
        number = int(record["dynamodb"]["SequenceNumber"])
        assert number > last, "out of order"
        last = number
    with open(os.environ["SEEN"], "a") as seen:
        seen.write("".join(record["dynamodb"]["Keys"]["id"]["S"] + "\n" for record in event["Records"]))
