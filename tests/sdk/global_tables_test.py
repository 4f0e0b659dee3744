"""Tests global tables with boto3: concurrent writes to two regions, lags, pauses, TTL, and recovery from a crash."""

import pathlib
import random
import tempfile
import unittest

from botocore.exceptions import ClientError
from mayfly_server import Client, MayflyServer, key_schema

START = "2031-01-01T00:00:00Z"
START_SECONDS = 1924992000
EAST, WEST = "us-east-1", "us-west-2"


def setUpModule():
    global server
    server = MayflyServer.for_module()


def way(origin, to, at=None, **setting):
    (at or server).control("PUT", "replication", {"from": origin, "to": to, **setting})


def settle(at=None):
    return (at or server).control("POST", "replication/settle")["in_flight"]


class GlobalTablesTest(unittest.TestCase):
    def setUp(self):
        server.control("POST", "reset")
        server.control("PUT", "clock", {"mode": "frozen", "now": START})
        server.create_table("carts", {"id": "S"}, key_schema("id"))
        self.east = server.client("dynamodb", region_name=EAST)
        self.west = server.client("dynamodb", region_name=WEST)
        self.east.update_table(TableName="carts", ReplicaUpdates=[{"Create": {"RegionName": WEST}}])
        self.west.get_waiter("table_exists").wait(TableName="carts", WaiterConfig={"Delay": 1, "MaxAttempts": 10})

    def total(self, client):
        item = client.get_item(TableName="carts", Key={"id": {"S": "1"}}).get("Item")
        return item and item["total"]["N"]

    def removals(self, region):
        streams = server.client("dynamodbstreams", region_name=region)
        (stream,) = streams.list_streams(TableName="carts")["Streams"]
        shards = streams.describe_stream(StreamArn=stream["StreamArn"])["StreamDescription"]["Shards"]
        records = []
        for shard in shards:
            iterator = streams.get_shard_iterator(
                StreamArn=stream["StreamArn"], ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            records += streams.get_records(ShardIterator=iterator)["Records"]
        return {
            record["dynamodb"]["Keys"]["id"]["S"]: record.get("userIdentity")
            for record in records
            if record["eventName"] == "REMOVE"
        }

    def test_the_example_in_the_documentation_works_as_written(self):
        way(WEST, EAST, paused=True)
        self.east.put_item(TableName="carts", Item={"id": {"S": "1"}, "total": {"N": "10"}})
        self.west.put_item(TableName="carts", Item={"id": {"S": "1"}, "total": {"N": "12"}})
        settle()
        self.assertEqual((self.total(self.east), self.total(self.west)), ("10", "12"))
        way(WEST, EAST, paused=False)
        settle()
        self.assertEqual((self.total(self.east), self.total(self.west)), ("12", "12"))

    def test_a_replication_lag_follows_the_accounts_clock(self):
        way(EAST, WEST, lag_milliseconds=1500)
        self.east.put_item(TableName="carts", Item={"id": {"S": "1"}, "total": {"N": "1"}})
        self.assertEqual([each["writes"] for each in settle()], [1])
        server.advance(1.499)
        self.assertIsNone(self.total(self.west))
        server.advance(0.001)
        self.assertEqual(self.total(self.west), "1")

    def test_concurrent_writes_in_two_regions_converge(self):
        model, chance = {}, random.Random(7)
        for number in range(400):
            if chance.random() < 0.1:
                way(*chance.choice([(EAST, WEST), (WEST, EAST)]), paused=chance.random() < 0.5)
            client = chance.choice([self.east, self.west])
            key = {"id": {"S": str(chance.randrange(20))}}
            if chance.random() < 0.25:
                old = client.delete_item(TableName="carts", Key=key, ReturnValues="ALL_OLD")
                if "Attributes" in old:
                    model.pop(key["id"]["S"], None)
            else:
                client.put_item(TableName="carts", Item={**key, "total": {"N": str(number)}})
                model[key["id"]["S"]] = str(number)
        server.control("DELETE", "replication")
        self.assertEqual(settle(), [])
        for client in (self.east, self.west):
            items = client.scan(TableName="carts")["Items"]
            self.assertEqual({item["id"]["S"]: item["total"]["N"] for item in items}, model)

    def test_a_replicated_ttl_deletion_has_no_service_identity(self):
        self.east.update_time_to_live(
            TableName="carts", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"}
        )
        due = {"ttl": {"N": str(START_SECONDS + 10)}}
        self.east.put_item(TableName="carts", Item={"id": {"S": "east"}, **due})
        self.west.put_item(TableName="carts", Item={"id": {"S": "west"}, **due})
        settle()
        way(EAST, WEST, paused=True)
        self.assertEqual(server.advance(10.001)["expired"], 2)
        for client in (self.east, self.west):
            self.assertEqual(client.scan(TableName="carts")["Items"], [])
        service = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
        self.assertEqual(self.removals(EAST), {"east": service, "west": None})
        self.assertEqual(self.removals(WEST), {"west": service})
        way(EAST, WEST, paused=False)
        settle()
        self.assertEqual(self.removals(WEST), {"west": service, "east": None})

    def test_a_snapshot_keeps_writes_that_are_not_replicated_yet(self):
        way(EAST, WEST, paused=True)
        self.east.put_item(TableName="carts", Item={"id": {"S": "1"}, "total": {"N": "1"}})
        snapshot = server.control("POST", "snapshots")["id"]
        server.control("DELETE", "replication")
        settle()
        self.assertEqual(self.total(self.west), "1")
        server.control("POST", f"snapshots/{snapshot}/restore")
        self.assertEqual([each["writes"] for each in settle()], [1])
        self.assertIsNone(self.total(self.west))
        server.control("DELETE", "replication")
        settle()
        self.assertEqual(self.total(self.west), "1")

    def test_a_strongly_consistent_table_replicates_at_once_and_a_fault_causes_a_conflict(self):
        server.create_table("orders", {"id": "S"}, key_schema("id"))
        # Debian's boto3 does not support MultiRegionConsistency yet.
        status, answer = Client(server).operation(
            "UpdateTable",
            {
                "TableName": "orders",
                "MultiRegionConsistency": "STRONG",
                "ReplicaUpdates": [{"Create": {"RegionName": WEST}}, {"Create": {"RegionName": "us-east-2"}}],
            },
        )
        self.assertEqual(status, 200, answer)
        self.east.put_item(TableName="orders", Item={"id": {"S": "1"}})
        self.assertIn("Item", self.west.get_item(TableName="orders", Key={"id": {"S": "1"}}))
        rule = {"operation": "PutItem", "fault": "replicated_write_conflict", "count": 1}
        server.control("PUT", "faults", {"rules": [rule]})
        with self.assertRaises(ClientError) as refused:
            self.west.put_item(TableName="orders", Item={"id": {"S": "1"}})
        self.assertEqual(refused.exception.response["Error"]["Code"], "ReplicatedWriteConflictException")
        self.west.put_item(TableName="orders", Item={"id": {"S": "1"}})


class CrashTest(unittest.TestCase):
    def test_writes_that_were_not_replicated_before_a_crash_arrive_once(self):
        with tempfile.TemporaryDirectory() as directory:
            data = str(pathlib.Path(directory) / "data")
            first = MayflyServer("--data", data)
            first.create_table("carts", {"id": "S"}, key_schema("id"))
            east = first.client("dynamodb", region_name=EAST)
            east.update_table(TableName="carts", ReplicaUpdates=[{"Create": {"RegionName": WEST}}])
            way(EAST, WEST, first, paused=True)
            for number in range(50):
                east.put_item(TableName="carts", Item={"id": {"S": str(number)}})
            first.kill()
            second = MayflyServer("--data", data)
            try:
                self.assertEqual([each["writes"] for each in settle(second)], [50])
                way(EAST, WEST, second, paused=False)
                self.assertEqual(settle(second), [])
                west = second.client("dynamodb", region_name=WEST)
                self.assertEqual(west.scan(TableName="carts", Select="COUNT")["Count"], 50)
                streams = second.client("dynamodbstreams", region_name=WEST)
                (stream,) = streams.list_streams(TableName="carts")["Streams"]
                (shard,) = streams.describe_stream(StreamArn=stream["StreamArn"])["StreamDescription"]["Shards"]
                iterator = streams.get_shard_iterator(
                    StreamArn=stream["StreamArn"], ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
                )["ShardIterator"]
                self.assertEqual(len(streams.get_records(ShardIterator=iterator)["Records"]), 50)
            finally:
                second.stop()


if __name__ == "__main__":
    unittest.main()
