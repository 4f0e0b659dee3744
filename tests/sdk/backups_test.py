"""Tests backups and point-in-time recovery as applications use them. Writes to a table for three weeks of virtual time,
restores it to arbitrary seconds and compares the result with a model. Also tests which settings a restored table lacks, and
backups that outlive their tables."""

import random
import time
import unittest

from botocore.exceptions import ClientError

from mayfly_server import MayflyServer, eventually, index, key_schema, stream

DAY_SECONDS = 24 * 3600


def setUpModule():
    global server
    server = MayflyServer.for_module("--clock", "frozen", "--now", "2030-01-01T00:00:00Z")


def scan(name):
    """Returns all items of a table, keyed by their primary keys."""
    table = server.resource().Table(name)
    items, start = {}, {}
    while start is not None:
        page = table.scan(ConsistentRead=True, **start)
        items.update({(item["p"], item["s"]): item for item in page["Items"]})
        last = page.get("LastEvaluatedKey")
        start = {"ExclusiveStartKey": last} if last else None
    return items


def refused(call, **request):
    """Makes a call that must fail. Returns the error's code and message."""
    try:
        call(**request)
    except ClientError as error:
        return error.response["Error"]["Code"], error.response["Error"]["Message"]
    raise AssertionError("accepted")


class ThreeWeeks:
    """A table that is written to at random instants, and a model of its items at each instant."""

    def __init__(self, name, seed):
        self.random = random.Random(seed)
        self.table = server.create_table(
            name,
            {"p": "S", "s": "N", "local": "N", "global": "S"},
            key_schema("p", "s"),
            LocalSecondaryIndexes=[index("by_local", "p", "local")],
            GlobalSecondaryIndexes=[index("by_global", "global")],
            StreamSpecification=stream("NEW_AND_OLD_IMAGES"),
        )
        self.items = {}
        self.history = []  # (instant, items from then on)
        described = server.client("dynamodb").describe_table(TableName=name)["Table"]
        self.now = int(described["CreationDateTime"].timestamp())

    def note(self):
        self.history.append((self.now, dict(self.items)))

    def at(self, instant):
        """Returns the items at the end of a second."""
        state = {}
        for since, items in self.history:
            if since > instant:
                break
            state = items
        return state

    def write(self):
        key = (f"p{self.random.randrange(4)}", self.random.randrange(12))
        item = {"p": key[0], "s": key[1], "local": self.random.randrange(9), "global": f"g{self.random.randrange(3)}"}
        kind = self.random.randrange(5)
        if kind == 0:
            self.table.delete_item(Key={"p": key[0], "s": key[1]})
            self.items.pop(key, None)
        elif kind == 1:
            self.table.update_item(
                Key={"p": key[0], "s": key[1]},
                UpdateExpression="SET #l = :l, seen = if_not_exists(seen, :zero) + :one",
                ExpressionAttributeNames={"#l": "local"},
                ExpressionAttributeValues={":l": item["local"], ":zero": 0, ":one": 1},
            )
            old = self.items.get(key, {"p": key[0], "s": key[1]})
            self.items[key] = {**old, "local": item["local"], "seen": old.get("seen", 0) + 1}
        elif kind == 2:
            ttl = self.now + self.random.randrange(1, 2 * DAY_SECONDS)
            self.table.put_item(Item={**item, "ttl": ttl})
            self.items[key] = {**item, "ttl": ttl}
        else:
            self.table.put_item(Item=item)
            self.items[key] = item
        self.note()

    def pass_time(self, seconds):
        """Advances the clock by whole seconds. Items that expire in this time are deleted in the first millisecond after
        their TTL."""
        server.advance(seconds)
        end = self.now + seconds
        for key, item in sorted(self.items.items(), key=lambda each: each[1].get("ttl", 0)):
            if "ttl" in item and item["ttl"] < end:
                self.now = item["ttl"] + 1
                del self.items[key]
                self.history.append((self.now, dict(self.items)))
        self.history.sort(key=lambda each: each[0])
        self.now = end


class PointInTimeTest(unittest.TestCase):
    def test_a_table_can_be_restored_to_any_second_of_three_weeks(self):
        seed = random.randrange(1 << 32)
        print("seed", seed, flush=True)
        weeks = ThreeWeeks("weeks", seed)
        dynamodb = server.client("dynamodb")
        dynamodb.update_time_to_live(
            TableName="weeks", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"}
        )
        for _ in range(20):
            weeks.write()
        dynamodb.update_continuous_backups(
            TableName="weeks", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        begin = weeks.now
        while weeks.now < begin + 21 * DAY_SECONDS:
            for _ in range(weeks.random.randrange(1, 4)):
                weeks.write()
            weeks.pass_time(weeks.random.randrange(1, DAY_SECONDS // 2))
        described = dynamodb.describe_continuous_backups(TableName="weeks")["ContinuousBackupsDescription"]
        recovery = described["PointInTimeRecoveryDescription"]
        self.assertEqual(recovery["EarliestRestorableDateTime"].timestamp(), begin)
        self.assertEqual(recovery["LatestRestorableDateTime"].timestamp(), weeks.now - 300)
        seconds = [begin, weeks.now - 300] + [weeks.random.randrange(begin, weeks.now - 300) for _ in range(8)]
        seconds += [instant for instant, _ in weeks.random.sample(weeks.history, 4) if begin <= instant <= weeks.now - 300]
        for number, instant in enumerate(seconds):
            with self.subTest(instant=instant):
                name = f"then-{number}"
                dynamodb.restore_table_to_point_in_time(
                    SourceTableName="weeks", TargetTableName=name, RestoreDateTime=instant
                )
                dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
                self.assertEqual(scan(name), weeks.at(instant))
                self.assert_is_plain(dynamodb, name)
                self.assert_indexes_hold(name, weeks.at(instant))
        # A restored table has TTL disabled, so its items stay even after their TTL.
        server.advance(5 * DAY_SECONDS)
        self.assertEqual(scan("then-0"), weeks.at(seconds[0]))

    def assert_is_plain(self, dynamodb, name):
        table = dynamodb.describe_table(TableName=name)["Table"]
        for absent in ("StreamSpecification", "RestoreSummary", "TableClassSummary"):
            self.assertNotIn(absent, table)
        self.assertEqual(
            dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"], {"TimeToLiveStatus": "DISABLED"}
        )
        described = dynamodb.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
        self.assertEqual(described["PointInTimeRecoveryDescription"], {"PointInTimeRecoveryStatus": "DISABLED"})

    def assert_indexes_hold(self, name, items):
        table = server.resource().Table(name)
        for indexed, attribute in (("by_local", "local"), ("by_global", "global")):
            found = table.scan(IndexName=indexed)["Items"]
            self.assertCountEqual(found, [item for item in items.values() if attribute in item])

    def test_a_restores_time_and_source_are_checked_in_awss_order(self):
        dynamodb = server.client("dynamodb")
        server.create_table("checked", {"p": "S"}, key_schema("p"))
        restore = dynamodb.restore_table_to_point_in_time
        wanted = {"SourceTableName": "checked", "TargetTableName": "checked"}
        self.assertEqual(
            refused(restore, **wanted),
            (
                "ValidationException",
                "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both",
            ),
        )
        self.assertEqual(
            refused(restore, **wanted, RestoreDateTime=1)[0], "PointInTimeRecoveryUnavailableException"
        )
        dynamodb.update_continuous_backups(
            TableName="checked", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        self.assertEqual(refused(restore, **wanted, RestoreDateTime=1)[0], "InvalidRestoreTimeException")
        self.assertEqual(
            refused(restore, **wanted, UseLatestRestorableTime=True),
            ("TableAlreadyExistsException", "Table already exists: checked"),
        )


class BackupTest(unittest.TestCase):
    def test_a_backup_outlives_its_table_and_a_later_table_of_the_same_name(self):
        dynamodb = server.client("dynamodb")
        first = server.create_table("lasting", {"p": "S", "s": "N"}, key_schema("p", "s"))
        first.put_item(Item={"p": "a", "s": 1, "of": "the first"})
        arn = dynamodb.create_backup(TableName="lasting", BackupName="one")["BackupDetails"]["BackupArn"]
        first.put_item(Item={"p": "a", "s": 1, "of": "later"})
        dynamodb.delete_table(TableName="lasting")
        second = server.create_table("lasting", {"p": "S", "s": "N"}, key_schema("p", "s"))
        second.put_item(Item={"p": "a", "s": 1, "of": "the second"})
        other = dynamodb.create_backup(TableName="lasting", BackupName="two")["BackupDetails"]["BackupArn"]
        listed = dynamodb.list_backups(TableName="lasting")["BackupSummaries"]
        self.assertEqual([each["BackupArn"] for each in listed], sorted([arn, other]))
        self.assertEqual(len({each["TableId"] for each in listed}), 2)
        for name, backup, of in (("from-one", arn, "the first"), ("from-two", other, "the second")):
            dynamodb.restore_table_from_backup(TargetTableName=name, BackupArn=backup)
            dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
            self.assertEqual([each["of"] for each in scan(name).values()], [of])
        deleted = dynamodb.delete_backup(BackupArn=arn)["BackupDescription"]["BackupDetails"]
        self.assertEqual(deleted["BackupStatus"], "DELETED")
        self.assertEqual(refused(dynamodb.describe_backup, BackupArn=arn)[0], "BackupNotFoundException")

    def test_pages_list_each_backup_once(self):
        dynamodb = server.client("dynamodb")
        server.create_table("paged", {"p": "S"}, key_schema("p"))
        made = {
            dynamodb.create_backup(TableName="paged", BackupName=f"backup-{i}")["BackupDetails"]["BackupArn"]
            for i in range(25)
        }
        found = []
        for page in dynamodb.get_paginator("list_backups").paginate(
            TableName="paged", PaginationConfig={"PageSize": 7}
        ):
            found += [each["BackupArn"] for each in page["BackupSummaries"]]
        self.assertEqual(len(found), 25)
        self.assertEqual(set(found), made)

    def test_a_restored_table_of_20_000_items_becomes_active_with_all_items(self):
        dynamodb = server.client("dynamodb")
        table = server.create_table("many", {"p": "S"}, key_schema("p"))
        with table.batch_writer() as batch:
            for i in range(20_000):
                batch.put_item(Item={"p": str(i)})
        begin = time.monotonic()
        arn = dynamodb.create_backup(TableName="many", BackupName="all")["BackupDetails"]["BackupArn"]
        taken = time.monotonic()
        dynamodb.restore_table_from_backup(TargetTableName="many-again", BackupArn=arn)
        eventually(
            lambda: dynamodb.describe_table(TableName="many-again")["Table"]["TableStatus"] == "ACTIVE", 60
        )
        print(f"20,000 items: backup {taken - begin:.3f} s, restore {time.monotonic() - taken:.3f} s", flush=True)
        self.assertEqual(dynamodb.describe_table(TableName="many-again")["Table"]["ItemCount"], 20_000)


if __name__ == "__main__":
    unittest.main()
