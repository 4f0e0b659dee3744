"""Kills a server repeatedly under load. The server must keep every acknowledged write and must not apply any write partially.

Each writer owns its items and knows each item's last acknowledged state. While a response is missing, one further state is
possible. After each kill the test reads everything back: each item, the table by Scan, its index by Query, and the stream
from its beginning. The stream must have every change once and in order, including the expiries during the time
when the server was down.

MAYFLY_KILLS sets the number of kills. MAYFLY_KILL_SECONDS sets the time instead, which script/nightly does.
"""

import http.client
import json
import os
import random
import tempfile
import threading
import time
import unittest

from mayfly_server import MayflyServer, eventually, index, key_schema, stream

KILLS = int(os.environ.get("MAYFLY_KILLS", "12"))
KILL_SECONDS = float(os.environ.get("MAYFLY_KILL_SECONDS", "0"))
SEED = int(os.environ.get("MAYFLY_SEED", "1"))
WRITERS = 4
ITEMS = 12  # for each writer
SECONDS_UP_MAX = 0.6


class Connection:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(self, operation, body):
        """Returns the response's status and body. Raises OSError or HTTPException if there is no response."""
        service = "DynamoDBStreams_20120810" if operation in STREAM_OPERATIONS else "DynamoDB_20120810"
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"{service}.{operation}",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
            "SignedHeaders=host, Signature=0",
        }
        self.connection.request("POST", "/", json.dumps(body), headers)
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def close(self):
        self.connection.close()


STREAM_OPERATIONS = {"DescribeStream", "GetShardIterator", "GetRecords"}


class Writer:
    """Writes to its own items until the server stops responding, and keeps a log."""

    def __init__(self, number):
        self.random = random.Random(SEED * 1000 + number)
        self.keys = [f"{number}-{item}" for item in range(ITEMS)]
        self.items = {key: None for key in self.keys}  # the last acknowledged state
        self.changes = {key: [] for key in self.keys}  # every state of each item in order; None is a deletion
        self.doubt = None  # {key: item}: the last request, if it has no response yet; applied completely or not at all
        self.version = 0
        self.acknowledged = 0

    def new_item(self, key):
        self.version += 1
        item = {"id": {"S": key}, "v": {"N": str(self.version)}, "user": {"S": f"u{self.version % 3}"}}
        if self.random.random() < 0.3:
            item["ttl"] = {"N": str(int(time.time()) + self.random.randint(1, 3))}
        return item

    def expire(self):
        """Returns the keys of items that have expired or are about to expire. The writer does not write to these items until
        they have certainly expired."""
        now = time.time()
        return {key for key, item in self.items.items() if item and "ttl" in item and int(item["ttl"]["N"]) <= now + 1}

    def step(self, connection):
        dying = self.expire()
        keys = [key for key in self.keys if key not in dying]
        if len(keys) < 2:
            time.sleep(0.02)
            self.forget_expired()
            return
        key, other = self.random.sample(keys, 2)
        draw = self.random.random()
        if draw < 0.5:
            new = {key: self.new_item(key)}
            request = ("PutItem", {"TableName": "items", "Item": new[key]})
        elif draw < 0.65:
            new = {key: None}
            request = ("DeleteItem", {"TableName": "items", "Key": {"id": {"S": key}}})
        elif draw < 0.85:
            new = {key: self.new_item(key), other: None}
            puts = {"Put": {"TableName": "items", "Item": new[key]}}
            deletes = {"Delete": {"TableName": "items", "Key": {"id": {"S": other}}}}
            request = ("TransactWriteItems", {"TransactItems": [puts, deletes]})
        else:
            new = {one: self.new_item(one) for one in (key, other)}
            request = (
                "TransactWriteItems",
                {"TransactItems": [{"Put": {"TableName": "items", "Item": item}} for item in new.values()]},
            )
        self.doubt = new
        status, answer = connection.ask(*request)
        if status != 200:
            raise AssertionError(f"{request} -> {status} {answer}")
        self.took_place()
        self.acknowledged += 1

    def took_place(self):
        for key, item in self.doubt.items():
            if self.items[key] is not None or item is not None:
                self.changes[key].append(item)
            self.items[key] = item
        self.doubt = None

    def forget_expired(self):
        now = time.time()
        for key, item in self.items.items():
            if item and "ttl" in item and int(item["ttl"]["N"]) < now - 0.5:
                self.items[key] = None
                self.changes[key].append("expired")


class CrashLoop(unittest.TestCase):
    maxDiff = None

    def start(self):
        self.server = MayflyServer("--data", os.path.join(self.directory.name, "data"), *self.options)
        self.addCleanup(self.server.kill)  # even if the test fails

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="mayfly-crashes-")
        self.addCleanup(self.directory.cleanup)

    def write_until_killed(self, writers, seconds):
        wrong = []

        def write(writer):
            connection = Connection(self.server.port)
            try:
                while True:
                    writer.step(connection)
            except (OSError, http.client.HTTPException):
                pass  # the server was killed
            except BaseException as error:  # noqa: BLE001 - re-raised by the test's own thread
                wrong.append(error)
            finally:
                connection.close()

        threads = [threading.Thread(target=write, args=(writer,)) for writer in writers]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        self.server.kill()
        for thread in threads:
            thread.join()
        if wrong:
            raise wrong[0]

    def read_all(self, connection, operation, body, name):
        found = []
        while True:
            status, answer = connection.ask(operation, body)
            self.assertEqual(status, 200, answer)
            found += answer[name]
            if "LastEvaluatedKey" not in answer:
                return found
            body = {**body, "ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def check(self, writers):
        connection = Connection(self.server.port)
        self.addCleanup(connection.close)
        # Wait until no item can expire during the check.
        while any(
            item and "ttl" in item and abs(int(item["ttl"]["N"]) - time.time()) < 0.6
            for writer in writers
            for candidate in (writer.items, writer.doubt or {})
            for item in candidate.values()
        ):
            time.sleep(0.05)
        now = time.time()

        def visible(item):
            return None if item and "ttl" in item and int(item["ttl"]["N"]) <= now else item

        scanned = {
            item["id"]["S"]: item for item in self.read_all(connection, "Scan", {"TableName": "items"}, "Items")
        }
        for writer in writers:
            if writer.doubt:
                agree = [scanned.get(key) == visible(item) for key, item in writer.doubt.items()]
                before = [scanned.get(key) == visible(writer.items[key]) for key in writer.doubt]
                # If an expiry makes both states look alike, the stream shows whether the request was applied.
                if all(agree) and not all(before):
                    writer.took_place()
                elif all(agree):
                    if self.is_in_stream(connection, writer):
                        writer.took_place()
                elif not all(before):
                    self.fail(f"applied partially: {writer.doubt}, {[scanned.get(key) for key in writer.doubt]}")
                writer.doubt = None
            for key in writer.keys:
                self.assertEqual(scanned.get(key), visible(writer.items[key]), f"the item {key}")
            writer.forget_expired()
        self.assertEqual(len(scanned), sum(item is not None for writer in writers for item in writer.items.values()))
        for user in ("u0", "u1", "u2"):
            query = {
                "TableName": "items",
                "IndexName": "by_user",
                "KeyConditionExpression": "#u = :u",
                "ExpressionAttributeNames": {"#u": "user"},
                "ExpressionAttributeValues": {":u": {"S": user}},
            }
            found = {item["id"]["S"]: item for item in self.read_all(connection, "Query", query, "Items")}
            self.assertEqual(found, {key: item for key, item in scanned.items() if item["user"] == {"S": user}})
        self.check_stream(connection, writers, self.after, self.found)
        connection.close()

    def records(self, connection, after):
        """Returns each shard's records in order, starting after the records of the last call. Stores each shard's position
        in `after`."""
        _, table = connection.ask("DescribeTable", {"TableName": "items"})
        arn = table["Table"]["LatestStreamArn"]
        _, described = connection.ask("DescribeStream", {"StreamArn": arn})
        found = []
        for shard in described["StreamDescription"]["Shards"]:
            name = shard["ShardId"]
            start = {"StreamArn": arn, "ShardId": name, "ShardIteratorType": "TRIM_HORIZON"}
            if name in after:
                start.update(ShardIteratorType="AFTER_SEQUENCE_NUMBER", SequenceNumber=after[name])
            _, answer = connection.ask("GetShardIterator", start)
            iterator = answer["ShardIterator"]
            while iterator:
                status, page = connection.ask("GetRecords", {"ShardIterator": iterator})
                self.assertEqual(status, 200, page)
                found += page["Records"]
                if page["Records"]:
                    after[name] = page["Records"][-1]["dynamodb"]["SequenceNumber"]
                iterator = page.get("NextShardIterator") if page["Records"] else None
        return found

    def changes(self, connection, after):
        """Yields the key and the new item of each record from records(). Instead of an item, the second value is
        None after a deletion by a writer and "expired" after an expiry."""
        for record in self.records(connection, after):
            by_service = record.get("userIdentity", {}).get("PrincipalId") == "dynamodb.amazonaws.com"
            yield record["dynamodb"]["Keys"]["id"]["S"], "expired" if by_service else record["dynamodb"].get("NewImage")

    def is_in_stream(self, connection, writer):
        """Returns whether the stream has one more change by the writer than the writer has seen acknowledged."""

        def by_writer(changes):
            return len([change for change in changes if change != "expired"])

        made = {key: by_writer(self.found.get(key, [])) for key in writer.doubt}
        for key, item in self.changes(connection, dict(self.after)):
            if key in made and item != "expired":
                made[key] += 1
        return any(count > by_writer(writer.changes[key]) for key, count in made.items())

    def check_stream(self, connection, writers, after, found):
        """Compares the stream with the writers' logs. `found` has the changes that earlier calls read, by key; this
        call adds the new ones."""
        expected = {key: writer.changes[key] for writer in writers for key in writer.keys}

        def recorded():
            for key, item in self.changes(connection, after):
                found.setdefault(key, []).append(item)
            return {key: found.get(key, []) for key in expected}

        # Items that expired while the server was down are deleted shortly after it starts.
        try:
            eventually(lambda: recorded() == expected, 5)
        except AssertionError:
            self.assertEqual(recorded(), expected)

    def run_loop(self, kills):
        self.start()
        self.server.create_table(
            "items",
            {"id": "S", "user": "S"},
            key_schema("id"),
            ttl="ttl",
            StreamSpecification=stream(),
            GlobalSecondaryIndexes=[index("by_user", "user")],
        )
        writers = [Writer(number) for number in range(WRITERS)]
        self.after, self.found = {}, {}
        chance = random.Random(SEED)
        began, kill = time.monotonic(), 0
        while time.monotonic() - began < KILL_SECONDS if KILL_SECONDS else kill < kills:
            self.write_until_killed(writers, chance.uniform(0.02, SECONDS_UP_MAX))
            self.start()
            with self.subTest(kill=kill):
                self.check(writers)
            kill += 1
        connection = Connection(self.server.port)
        self.check_stream(connection, writers, {}, {})
        connection.close()
        self.server.stop()
        print(f"{kill} kills, {sum(writer.acknowledged for writer in writers)} acknowledged writes", flush=True)

    def test_acknowledged_writes_survive_kills_of_the_server(self):
        self.options = ()
        self.run_loop(KILLS)

    def test_acknowledged_writes_survive_kills_of_a_server_that_runs_with_fsync(self):
        self.options = ("--fsync",)
        self.run_loop(max(KILLS // 4, 1))


if __name__ == "__main__":
    unittest.main()
