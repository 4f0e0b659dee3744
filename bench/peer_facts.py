"""Observes what a DynamoDB server does with expired items and streams, and how it answers ten requests.

    python3 bench/peer_facts.py expiry http://127.0.0.1:8000 360      watches a stream for up to 360 seconds
    python3 bench/peer_facts.py functions http://127.0.0.1:8000 70    watches a function's events for 70 seconds
    python3 bench/peer_facts.py answers http://127.0.0.1:8000         compares ten answers with AWS's

Needs boto3. Each part needs a new server, in which it creates tables.

- `expiry` writes twenty items that have already expired and twenty that expire five seconds later.
- `functions` creates a Lambda function and an event source mapping, and then writes to the table three times. The
  function posts its events to this script. A fourth argument names the environment variable in which the function gets
  the script's URL.
- `answers` prints each answer that differs from AWS's answer.
"""

import http.server
import io
import json
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile

import boto3
from botocore import auth, awsrequest, credentials

ACCESS = credentials.Credentials("test", "test")
ITEMS_EACH = 20
POLL_SECONDS = 0.5
KEYED_BY_PK = {
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}
WITH_STREAM = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}}
SERVICES = {"dynamodb": "DynamoDB_20120810", "streams": "DynamoDBStreams_20120810"}


class Server:
    def __init__(self, url):
        self.url = url

    def send(self, operation, body, service="dynamodb"):
        """Returns the status and the body. Does not use boto3's client, because it hides members that it does not know."""
        headers = {"X-Amz-Target": f"{SERVICES[service]}.{operation}", "Content-Type": "application/x-amz-json-1.0"}
        request = awsrequest.AWSRequest("POST", self.url, headers, json.dumps(body).encode())
        auth.SigV4Auth(ACCESS, "dynamodb", "us-east-1").add_auth(request)
        signed = urllib.request.Request(self.url, request.body, dict(request.headers))
        try:
            with urllib.request.urlopen(signed) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def call(self, operation, body, service="dynamodb"):
        status, answer = self.send(operation, body, service)
        if status != 200:
            raise SystemExit(f"{operation}: status {status}: {json.dumps(answer)}")
        return answer

    def create_table(self, name, **settings):
        """Creates a table with the string key `pk`, and waits until it is active. Returns its stream's ARN, or None."""
        self.call("CreateTable", {"TableName": name, **KEYED_BY_PK, **settings})
        while (table := self.call("DescribeTable", {"TableName": name})["Table"])["TableStatus"] != "ACTIVE":
            time.sleep(POLL_SECONDS)
        return table.get("LatestStreamArn")


class Stream:
    def __init__(self, server, arn):
        self.server = server
        self.arn = arn
        self.iterators = {}

    def records(self):
        """Returns the records since the last call."""
        found = []
        shards = self.server.call("DescribeStream", {"StreamArn": self.arn}, "streams")["StreamDescription"]["Shards"]
        for shard in (shard["ShardId"] for shard in shards):
            iterator = self.iterators[shard] if shard in self.iterators else self.from_start(shard)
            if iterator is not None:
                page = self.server.call("GetRecords", {"ShardIterator": iterator}, "streams")
                found += page["Records"]
                self.iterators[shard] = page.get("NextShardIterator")
        return found

    def from_start(self, shard):
        position = {"StreamArn": self.arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        return self.server.call("GetShardIterator", position, "streams")["ShardIterator"]


def is_remove(record):
    return record["eventName"] == "REMOVE"


def expiry(server, seconds_max):
    arn = server.create_table("carts", **WITH_STREAM)
    ttl = {"Enabled": True, "AttributeName": "expires"}
    server.call("UpdateTimeToLive", {"TableName": "carts", "TimeToLiveSpecification": ttl})
    begin = time.time()
    for group, due in (("expired", int(begin) - 60), ("due", int(begin) + 5)):
        for number in range(ITEMS_EACH):
            item = {"pk": {"S": f"{group}-{number}"}, "expires": {"N": str(due)}}
            server.call("PutItem", {"TableName": "carts", "Item": item})
    deleted = {"pk": {"S": "deleted"}}
    server.call("PutItem", {"TableName": "carts", "Item": deleted})
    server.call("DeleteItem", {"TableName": "carts", "Key": deleted})

    stream = Stream(server, arn)
    left, records, removes = 2 * ITEMS_EACH, [], []
    while time.time() < begin + seconds_max and len(removes) < 2 * ITEMS_EACH:
        new = stream.records()
        new_removes = [record for record in new if is_remove(record) and record["dynamodb"]["Keys"] != deleted]
        now_left = server.call("Scan", {"TableName": "carts", "Select": "COUNT"})["Count"]
        if now_left != left or new_removes:
            print(f"{time.time() - begin:.1f} s: {now_left} items left, {len(new_removes)} REMOVE records", flush=True)
        records += new
        removes += new_removes
        left = now_left
        time.sleep(POLL_SECONDS)

    inserted = sum(record["eventName"] == "INSERT" for record in records)
    by_service = sum("userIdentity" in record for record in removes)
    by_call = sum(map(is_remove, records)) - len(removes)
    print(f"{time.time() - begin:.0f} s: {left} of {2 * ITEMS_EACH} items left")
    print(f"in the stream: {inserted} INSERT, {by_call} REMOVE of DeleteItem, {len(removes)} REMOVE of expired items,")
    print(f"{by_service} of these with userIdentity")
    for record in removes[:1]:
        print(json.dumps(record))


HANDLER = """import json, os, urllib.request
def handler(event, context):
    urllib.request.urlopen(urllib.request.Request(os.environ["COLLECTOR"], json.dumps(event).encode()))
"""


class Collector(http.server.BaseHTTPRequestHandler):
    events = []

    def do_POST(self):
        self.events.append((time.time(), json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def functions(server, seconds, *variables):
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{collector.server_port}"
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("index.py", HANDLER)

    lambdas, roles = (
        boto3.client(service, endpoint_url=server.url, region_name="us-east-1", aws_access_key_id=ACCESS.access_key,
                     aws_secret_access_key=ACCESS.secret_key)
        for service in ("lambda", "iam")
    )  # fmt: skip
    role = roles.create_role(RoleName="reminder", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    lambdas.create_function(
        FunctionName="reminder", Runtime="python3.11", Handler="index.handler", Role=role, Timeout=20,
        Code={"ZipFile": code.getvalue()}, Environment={"Variables": dict.fromkeys(("COLLECTOR", *variables), address)},
    )  # fmt: skip
    arn = server.create_table("carts", **WITH_STREAM)
    ttl = {"Enabled": True, "AttributeName": "expires"}
    server.call("UpdateTimeToLive", {"TableName": "carts", "TimeToLiveSpecification": ttl})
    mapping = lambdas.create_event_source_mapping(
        EventSourceArn=arn, FunctionName="reminder", StartingPosition="TRIM_HORIZON"
    )
    print("event source mapping:", mapping["State"])

    begin = time.time()
    due = {"pk": {"S": "due"}, "expires": {"N": str(int(begin) + 3)}}
    deleted = {"pk": {"S": "deleted"}}
    server.call("PutItem", {"TableName": "carts", "Item": due})
    server.call("PutItem", {"TableName": "carts", "Item": deleted})
    server.call("DeleteItem", {"TableName": "carts", "Key": deleted})
    time.sleep(seconds)
    for at, event in Collector.events:
        for record in event["Records"]:
            print(f"{at - begin:.1f} s: {json.dumps(record)}")
    print(server.call("Scan", {"TableName": "carts", "Select": "COUNT"})["Count"], "items left")


# Each of these functions takes a server and returns its answer: an error as (type, message), any other result unchanged.


def error_of(server, operation, body):
    status, answer = server.send(operation, body)
    if status == 200:
        return "accepted"
    return answer.get("__type", "").rpartition("#")[2], answer.get("message", answer.get("Message", ""))


def put(table, **attributes):
    return {"TableName": table, "Item": {"pk": {"S": "a"}, **attributes}}


def enable_ttl_twice(server):
    server.create_table("ttl")
    body = {"TableName": "ttl", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"}}
    server.call("UpdateTimeToLive", body)
    return error_of(server, "UpdateTimeToLive", body)


def enable_stream_twice(server):
    server.create_table("stream", **WITH_STREAM)
    return error_of(server, "UpdateTable", {"TableName": "stream", **WITH_STREAM})


def records_of_equal_writes(server):
    stream = Stream(server, server.create_table("equal", **WITH_STREAM))
    for _ in range(2):
        server.call("PutItem", put("equal", n={"N": "1"}))
    return [record["eventName"] for record in stream.records()]


def stream_record_sizes(server):
    stream = Stream(server, server.create_table("sizes", **WITH_STREAM))
    for word in ("one", "three"):
        server.call("PutItem", put("sizes", word={"S": word}))
    return [record["dynamodb"].get("SizeBytes") for record in stream.records()]


def get_empty_key(server):
    server.create_table("plain")
    return error_of(server, "GetItem", {"TableName": "plain", "Key": {"pk": {"S": ""}}})


def put_equal_members(server):
    return error_of(server, "PutItem", put("plain", tags={"SS": ["b", "a", "b"]}))


def put_empty_number(server):
    return error_of(server, "PutItem", put("plain", n={"N": ""}))


def grow_with_false_condition(server):
    return error_of(server, "UpdateItem", {
        "TableName": "plain", "Key": {"pk": {"S": "absent"}}, "UpdateExpression": "SET big = :big",
        "ConditionExpression": "attribute_exists(pk)", "ExpressionAttributeValues": {":big": {"S": "x" * 409600}},
    })  # fmt: skip


def empty_index_key_in_transaction(server):
    keys = ("pk", "email")
    server.create_table(
        "users", AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        GlobalSecondaryIndexes=[{
            "IndexName": "by_email", "KeySchema": [{"AttributeName": "email", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }],
    )  # fmt: skip
    update = {
        "TableName": "users", "Key": {"pk": {"S": "a"}}, "UpdateExpression": "SET email = :none",
        "ExpressionAttributeValues": {":none": {"S": ""}},
    }  # fmt: skip
    return error_of(server, "TransactWriteItems", {"TransactItems": [{"Update": update}]})[0]


def create_with_short_name(server):
    return error_of(server, "CreateTable", {"TableName": "ab", **KEYED_BY_PK})


INVALID = "ValidationException"
ON_AWS = {
    enable_ttl_twice: (INVALID, "TimeToLive is already enabled"),
    enable_stream_twice: (INVALID, "Table already has an enabled stream: TableName: stream"),
    records_of_equal_writes: ["INSERT"],
    # Each record contains the item's key (3 bytes) and its images: a new image (10 bytes) in the first record, an old and a
    # new image (10 and 12 bytes) in the second.
    stream_record_sizes: [13, 25],
    get_empty_key: (INVALID, "One or more parameter values are not valid. The AttributeValue for a key attribute "
                             "cannot contain an empty string value. Key: pk"),
    put_equal_members: (INVALID, "1 validation error detected: One or more parameter values were invalid: Input "
                                 'collection ["a", "b", "b"] contains duplicates.'),
    put_empty_number: (INVALID, "1 validation error detected: The parameter cannot be converted to a numeric value: "),
    grow_with_false_condition: (INVALID, "Item size to update has exceeded the maximum allowed size"),
    empty_index_key_in_transaction: INVALID,
    create_with_short_name: (INVALID, "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy "
                                      "constraint: Member must have length greater than or equal to 3"),
}  # fmt: skip


def answers(server):
    equal = 0
    for probe, on_aws in ON_AWS.items():
        answer = probe(server)
        if answer == on_aws:
            equal += 1
        else:
            print(f"{probe.__name__}:\n  {answer}\n  AWS: {on_aws}")
    print(f"{equal} of {len(ON_AWS)} answers as on AWS")


if __name__ == "__main__":
    part, url, *rest = sys.argv[1:]
    if part == "expiry":
        expiry(Server(url), float(rest[0]))
    elif part == "functions":
        functions(Server(url), float(rest[0]), *rest[1:])
    else:
        answers(Server(url))
