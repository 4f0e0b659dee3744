"""A data directory that an older version wrote can be verified, opened, read and upgraded.

older_directory/NAME.tar.xz holds the directory that a server built from commit NAME wrote. To add a directory, set
MAYFLY_SERVER to that commit's server and run `python3 older_directory_test.py older_directory/NAME.tar.xz`.
"""

import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

from mayfly_server import MayflyServer, StreamReader, binary, index, key_schema, stream

ARCHIVES = sorted((pathlib.Path(__file__).parent / "older_directory").glob("*.tar.xz"))
START_SECONDS = 1893456000  # 2030-01-01T00:00:00Z
OTHER_ACCOUNT = "other"
ITEMS = 40
SOON = 3600  # seconds from START_SECONDS to the TTL of items 0, 2, … 18


def item(number, version):
    values = {"p": f"p{number % 4}", "s": number, "local": ITEMS - number, "owner": f"owner {number % 3}"}
    if number < 20 and number % 2 == 0:
        values["ttl"] = START_SECONDS + SOON
    if number == 21:
        values["ttl"] = "2030-01-01"  # a String never expires
    return {**values, "version": version}


def items(version, numbers=range(ITEMS)):
    return {number: item(number, version) for number in numbers}


# The items of the table "orders" at the snapshot, at the backup and when the server stopped.
FIRST = items(1)
SECOND = {**FIRST, **items(2, range(10))}
LAST = {number: values for number, values in SECOND.items() if number < 35}


def write_orders(server):
    """Fills an empty server whose clock is frozen at START_SECONDS."""
    dynamodb = server.client("dynamodb")
    orders = server.create_table(
        "orders",
        {"p": "S", "s": "N", "local": "N", "owner": "S"},
        key_schema("p", "s"),
        ttl="ttl",
        LocalSecondaryIndexes=[index("by_local", "p", "local")],
        GlobalSecondaryIndexes=[index("by_owner", "owner", projection="KEYS_ONLY")],
        StreamSpecification=stream(),
        Tags=[{"Key": "team", "Value": "sales"}],
    )
    dynamodb.update_continuous_backups(
        TableName="orders", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    for values in FIRST.values():
        orders.put_item(Item=values)
    server.control("POST", "snapshots", {"name": "first"})
    server.advance(600)
    for number in range(10):
        orders.put_item(Item=SECOND[number])
    dynamodb.create_backup(TableName="orders", BackupName="second")
    server.advance(600)
    for number in range(35, ITEMS):
        orders.delete_item(Key={"p": item(number, 0)["p"], "s": number})
    server.advance(600)


def write_notes(server):
    others = server.client("dynamodb", OTHER_ACCOUNT)
    others.create_table(
        TableName="notes",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=key_schema("id"),
        BillingMode="PAY_PER_REQUEST",
    )
    others.put_item(TableName="notes", Item={"id": {"S": "1"}, "bytes": {"B": bytes(range(256))}})


def scan(server, name, **options):
    return {int(each["s"]): each for each in server.resource().Table(name).scan(**options)["Items"]}


class OlderDirectory(unittest.TestCase):
    def unpacked(self, archive):
        parent = tempfile.TemporaryDirectory(prefix="mayfly-older-")
        self.addCleanup(parent.cleanup)
        with tarfile.open(archive) as files:
            files.extractall(parent.name)
        return pathlib.Path(parent.name) / "data"

    def assert_verified(self, directory):
        checked = subprocess.run([binary(), "verify", "--data", directory], capture_output=True, text=True)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)
        self.assertTrue(checked.stdout.endswith("\n0 problems\n"), checked.stdout)

    def restored(self, server, name, restore, **request):
        dynamodb = server.client("dynamodb")
        restore(dynamodb, **request)
        dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
        return scan(server, name, ConsistentRead=True)

    def assert_as_it_was_left(self, server):
        dynamodb = server.client("dynamodb")
        self.assertEqual(scan(server, "orders"), LAST)
        described = dynamodb.describe_table(TableName="orders")["Table"]
        self.assertEqual((described["ItemCount"], described["LatestStreamArn"] != ""), (len(LAST), True))
        tags = dynamodb.list_tags_of_resource(ResourceArn=described["TableArn"])["Tags"]
        self.assertEqual(tags, [{"Key": "team", "Value": "sales"}])
        self.assertEqual(set(scan(server, "orders", IndexName="by_local")), set(LAST))
        self.assertEqual(set(scan(server, "orders", IndexName="by_owner")), set(LAST))
        records = StreamReader(server, "orders").poll()
        self.assertEqual(
            [record["eventName"] for record in records], ["INSERT"] * ITEMS + ["MODIFY"] * 10 + ["REMOVE"] * 5
        )
        notes = server.client("dynamodb", OTHER_ACCOUNT).scan(TableName="notes")["Items"]
        self.assertEqual(notes, [{"id": {"S": "1"}, "bytes": {"B": bytes(range(256))}}])

    def assert_restores_are_right(self, server):
        (backup,) = server.client("dynamodb").list_backups()["BackupSummaries"]
        self.assertEqual(
            self.restored(
                server,
                "from-backup",
                lambda client, **request: client.restore_table_from_backup(**request),
                TargetTableName="from-backup",
                BackupArn=backup["BackupArn"],
            ),
            SECOND,
        )
        self.assertEqual(
            self.restored(
                server,
                "from-past",
                lambda client, **request: client.restore_table_to_point_in_time(**request),
                SourceTableName="orders",
                TargetTableName="from-past",
                RestoreDateTime=START_SECONDS + 30,
            ),
            FIRST,
        )

    def assert_pending_expiries_happen(self, server, before):
        left = {number: values for number, values in before.items() if number >= 20 or number % 2}
        self.assertEqual(scan(server, "orders"), before)
        server.advance(SOON + 1)
        self.assertEqual(scan(server, "orders"), left)
        self.assertEqual(set(scan(server, "orders", IndexName="by_owner")), set(left))

    def test_a_data_directory_of_an_older_version_can_be_verified_read_and_upgraded(self):
        self.assertNotEqual(ARCHIVES, [])
        for archive in ARCHIVES:
            with self.subTest(archive.name):
                directory = self.unpacked(archive)
                self.assert_verified(directory)
                server = MayflyServer("--data", str(directory))
                try:
                    self.assert_as_it_was_left(server)
                    self.assert_restores_are_right(server)
                    self.assert_pending_expiries_happen(server, LAST)
                    (snapshot,) = server.control("GET", "snapshots")["snapshots"]
                    server.control("POST", f"snapshots/{snapshot['id']}/restore")
                    self.assert_pending_expiries_happen(server, FIRST)
                finally:
                    server.stop()
                self.assert_verified(directory)
                self.assertEqual((directory / "MAYFLY").read_text(), self.mark_of_a_new_directory())

    def mark_of_a_new_directory(self):
        with tempfile.TemporaryDirectory(prefix="mayfly-newer-") as parent:
            directory = pathlib.Path(parent) / "data"
            MayflyServer("--data", str(directory)).stop()
            return (directory / "MAYFLY").read_text()


def write_archive(path):
    with tempfile.TemporaryDirectory(prefix="mayfly-older-") as parent:
        directory = pathlib.Path(parent) / "data"
        # A restart moves the log's contents into a table file, so that the directory has a table file and a log.
        for write in (write_orders, write_notes):
            server = MayflyServer("--data", str(directory), "--clock", "frozen", "--now", "2030-01-01T00:00:00Z")
            write(server)
            server.stop()
        with tarfile.open(path, "w:xz") as archive:
            archive.add(directory, "data")


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].endswith(".tar.xz"):
        write_archive(sys.argv[1])
    else:
        unittest.main()
