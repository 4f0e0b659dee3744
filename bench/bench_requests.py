"""The measured requests, and the checks of their responses.

    PATHS["GetItem of 1 KB"].requests           pairs of a body and the checks of its response (bench/load.h)
    write_requests(file, port, path)            writes a path's requests for the load generator, signed as an SDK does

Tables, items and requests are the same for every server.
"""

import dataclasses
import datetime
import functools
import hashlib
import hmac
import json
import struct

REGION = "us-east-1"
TARGETS = {"dynamodb": "DynamoDB_20120810", "dynamodbstreams": "DynamoDBStreams_20120810"}
ITEMS = 1000
LARGE_ITEMS = 50
PARTITION_ITEMS = 50
MARK = "an item of the bench"  # occurs once in every item

# --- signatures


def sha256(text):
    return hashlib.sha256(text).hexdigest()


@functools.lru_cache(maxsize=64)
def signing_key(secret, day, service):
    key = ("AWS4" + secret).encode()
    for part in (day, REGION, service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def signed_headers(port, operation, payload, service="dynamodb", account="test"):
    """Returns a request's headers as botocore sends and signs them. The secret key is `test`."""
    now = datetime.datetime.now(datetime.timezone.utc)
    stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    headers = {
        "Host": f"127.0.0.1:{port}",
        "Accept-Encoding": "identity",
        "X-Amz-Target": f"{TARGETS[service]}.{operation}",
        "Content-Type": "application/x-amz-json-1.0",
        "User-Agent": "Boto3/1.26.27 Python/3.11.2 Linux/6.1.0-31-amd64 Botocore/1.29.27",
        "X-Amz-Date": stamp,
    }
    names = ("content-type", "host", "x-amz-date", "x-amz-target")
    values = {name.lower(): value for name, value in headers.items()}
    canonical = "\n".join(
        ("POST", "/", "", *(f"{name}:{values[name]}" for name in names), "", ";".join(names), sha256(payload))
    )
    scope = f"{day}/{REGION}/dynamodb/aws4_request"
    text = "\n".join(("AWS4-HMAC-SHA256", stamp, scope, sha256(canonical.encode())))
    signature = hmac.digest(signing_key("test", day, "dynamodb"), text.encode(), "sha256").hex()
    headers["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={account}/{scope}, SignedHeaders={';'.join(names)}, Signature={signature}"
    )
    headers["Content-Length"] = str(len(payload))
    return headers


# --- tables and items

KEY_SCHEMA = [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}]


def table(name, **more):
    indexed = ["owner"] if "GlobalSecondaryIndexes" in more else []
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": KEY_SCHEMA,
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in ("p", "s", *indexed)],
        **more,
    }


INDEX = {
    "IndexName": "by_owner",
    "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}
TABLES = {
    "small": [("CreateTable", table("small"))],
    "plain": [("CreateTable", table("plain"))],
    "large": [("CreateTable", table("large"))],
    "indexed": [
        (
            "CreateTable",
            table(
                "indexed",
                GlobalSecondaryIndexes=[INDEX],
                StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
            ),
        ),
        (
            "UpdateTimeToLive",
            {"TableName": "indexed", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}},
        ),
    ],
}
TABLES["on disk"] = TABLES["plain"]


def sort_key(number):
    return str(100000 + number)


def key(number):
    return {"p": {"S": f"partition {number // PARTITION_ITEMS}"}, "s": {"S": sort_key(number)}}


def small_item(number, version=0):
    """Returns an item of about 200 bytes, as DynamoDB counts item sizes."""
    return {**key(number), "mark": {"S": MARK}, "version": {"N": str(version)}, "text": {"S": "x" * 118}}


def item(number, version=0, text_bytes=820):
    """Returns an item of 1 KB of JSON, which is the size of a session or an order."""
    return {
        **key(number),
        "mark": {"S": MARK},
        "version": {"N": str(version)},
        "tags": {"SS": ["one", "three", "two"]},
        "active": {"BOOL": True},
        "address": {"M": {"street": {"S": "Main Street"}, "number": {"N": "42"}}},
        "text": {"S": "x" * text_bytes},
    }


def large_item(number, version=0):
    return item(number, version, 50 * 1024)


def indexed_item(number, version=0):
    # A new version moves the item to another owner, so that a write of the item also changes the index.
    return {
        **item(number, version),
        "owner": {"S": f"owner {(number + version) % (ITEMS // 10)}"},
        "ttl": {"N": str(4000000000 + number)},
    }


def items_of(name):
    """Returns the items that a table has before the measurement."""
    make, count = {
        "small": (small_item, ITEMS),
        "large": (large_item, LARGE_ITEMS),
        "indexed": (indexed_item, ITEMS),
    }.get(name, (item, ITEMS))
    return [make(number) for number in range(count)]


# --- checks: (kind, count, text) of bench/load.h


def holds(count, text):
    return ("c", count, text)


def is_empty(name):
    return ("e", 0, name)


NOTHING = ("w", 0, "{}")


def items_checks(count, *numbers):
    return [holds(count, f'"{MARK}"'), *(holds(1, f'"{sort_key(number)}"') for number in numbers)]


@dataclasses.dataclass
class Path:
    operation: str
    table: str
    make: object  # a function that takes a number and returns a request's body and the checks of its response
    item: str = "1 KB"
    changes: bool = False
    on_disk: bool = False
    pool: int = ITEMS

    @functools.cached_property
    def requests(self):
        return [self.make(number) for number in range(self.pool)]


def get_item(name, items):
    def make(number):
        number %= items
        return {"TableName": name, "Key": key(number)}, items_checks(1, number)

    return make


def put_item(name, make_item, items):
    # The pool contains each item twice, with different versions, so that every write changes its item even when the
    # generator repeats the pool.
    def make(number):
        return {"TableName": name, "Item": make_item(number % items, 1 + number // items)}, [NOTHING]

    return make


def update_item(number):
    body = {
        "TableName": "plain",
        "Key": key(number),
        "UpdateExpression": "SET seen = if_not_exists(seen, :none) + :one, #t = :now",
        "ConditionExpression": "attribute_exists(p)",
        "ExpressionAttributeNames": {"#t": "touched"},
        "ExpressionAttributeValues": {":none": {"N": "0"}, ":one": {"N": "1"}, ":now": {"N": str(number)}},
    }
    return body, [NOTHING]


def query(number):
    partition = number % (ITEMS // PARTITION_ITEMS)
    body = {
        "TableName": "plain",
        "KeyConditionExpression": "p = :p",
        "ExpressionAttributeValues": {":p": {"S": f"partition {partition}"}},
        "Limit": PARTITION_ITEMS,
    }
    first = partition * PARTITION_ITEMS
    return body, items_checks(PARTITION_ITEMS, first)


def index_query(number):
    owner = number % (ITEMS // 10)
    body = {
        "TableName": "indexed",
        "IndexName": "by_owner",
        "KeyConditionExpression": "#o = :o",
        "ExpressionAttributeNames": {"#o": "owner"},
        "ExpressionAttributeValues": {":o": {"S": f"owner {owner}"}},
    }
    return body, [*items_checks(10), holds(10, f'"owner {owner}"')]


def scan(number):
    # Scans from the beginning of the table, because servers order items differently: after a given key, the number of
    # remaining items would differ.
    return {"TableName": "plain", "Limit": 50}, [holds(50, f'"{MARK}"')]


def together(number, count):
    return [(number * count + i) % ITEMS for i in range(count)]


def batch_get(number):
    numbers = together(number, 25)
    body = {"RequestItems": {"plain": {"Keys": [key(i) for i in numbers]}}}
    # Checks only some of the items. A search for all of them would take the generator longer than the server takes to
    # respond.
    return body, [*items_checks(25, *numbers[::8]), is_empty("UnprocessedKeys")]


def batch_write(number):
    puts = [{"PutRequest": {"Item": item(i, 1 + number)}} for i in together(number, 25)]
    return {"RequestItems": {"plain": puts}}, [is_empty("UnprocessedItems")]


def transact_write(number):
    puts = [{"Put": {"TableName": "plain", "Item": item(i, 1 + number)}} for i in together(number, 4)]
    return {"TransactItems": puts}, [NOTHING]


# Reads come first, because index queries check each owner's number of items, which writes change.
PATHS = {
    "GetItem of 200 B": Path("GetItem", "small", get_item("small", ITEMS), "200 B"),
    "GetItem of 1 KB": Path("GetItem", "plain", get_item("plain", ITEMS)),
    "GetItem of 50 KB": Path("GetItem", "large", get_item("large", LARGE_ITEMS), "50 KB", pool=LARGE_ITEMS),
    "Query of 50": Path("Query", "plain", query, pool=100),
    "Query of an index, 10": Path("Query", "indexed", index_query, pool=100),
    "Scan page of 50": Path("Scan", "plain", scan, pool=1),
    "BatchGetItem of 25": Path("BatchGetItem", "plain", batch_get, pool=40),
    "PutItem of 200 B": Path(
        "PutItem", "small", put_item("small", small_item, ITEMS), "200 B", changes=True, pool=2 * ITEMS
    ),
    "PutItem of 1 KB": Path("PutItem", "plain", put_item("plain", item, ITEMS), changes=True, pool=2 * ITEMS),
    "PutItem of 50 KB": Path(
        "PutItem", "large", put_item("large", large_item, LARGE_ITEMS), "50 KB", changes=True, pool=2 * LARGE_ITEMS
    ),
    "PutItem with index, TTL and stream": Path(
        "PutItem", "indexed", put_item("indexed", indexed_item, ITEMS), changes=True, pool=2 * ITEMS
    ),
    "PutItem on disk": Path(
        "PutItem", "plain", put_item("plain", item, ITEMS), changes=True, on_disk=True, pool=2 * ITEMS
    ),
    "UpdateItem": Path("UpdateItem", "plain", update_item, changes=True),
    "BatchWriteItem of 25": Path("BatchWriteItem", "plain", batch_write, changes=True, pool=80),
    "TransactWriteItems of 4": Path("TransactWriteItems", "plain", transact_write, changes=True, pool=500),
}


def request(port, operation, body, checks):
    """Encodes a request in the file format of bench/load.h."""
    payload = json.dumps(body).encode()
    head = "".join(f"{name}: {value}\r\n" for name, value in signed_headers(port, operation, payload).items())
    text = f"POST / HTTP/1.1\r\n{head}\r\n".encode() + payload
    parts = [struct.pack("<I", len(text)), text, struct.pack("<I", len(checks))]
    for kind, count, check in checks:
        wanted = check.encode()
        parts += [kind.encode(), struct.pack("<II", count, len(wanted)), wanted]
    return b"".join(parts)


def write_requests(file, port, path, checked=True):
    """Writes the path's requests to a file. If `checked` is false, the generator checks only the status."""
    with open(file, "wb") as requests:
        for body, checks in path.requests:
            requests.write(request(port, path.operation, body, checks if checked else []))
