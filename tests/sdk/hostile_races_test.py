"""Another process swaps names in directories while Mayfly works there. Mayfly must not read, create or change any file
outside those directories."""

import contextlib
import ctypes
import gzip
import hashlib
import json
import os
import pathlib
import tempfile
import threading
import unittest

from hostile_test import SECRET, run
from mayfly_server import MayflyServer, key_schema

AT_FDCWD, RENAME_EXCHANGE = -100, 2
ROUNDS = 25
LINE = json.dumps({"Item": {"id": {"S": "public"}}}).encode() + b"\n"
TABLE = {
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": key_schema("id"),
}
libc = ctypes.CDLL(None, use_errno=True)


def exchange(one, other):
    if libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def setUpModule():
    with tempfile.TemporaryDirectory(prefix="mayfly-test-") as directory:
        one, other = pathlib.Path(directory) / "one", pathlib.Path(directory) / "other"
        one.touch()
        other.touch()
        try:
            exchange(one, other)
        except (OSError, AttributeError) as failure:
            raise unittest.SkipTest("needs renameat2 with RENAME_EXCHANGE") from failure


class Races(unittest.TestCase):
    def setUp(self):
        cleanup = contextlib.ExitStack()
        self.addCleanup(cleanup.close)
        self.root = pathlib.Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="mayfly-test-")))
        # Files that must be neither read nor changed. They have the names of an export's files.
        self.private = self.root / "private"
        packed = gzip.compress(json.dumps({"Item": {"id": {"S": SECRET}}}).encode() + b"\n")
        for name in ("carts/data/0000.json.gz", "data/0000.json.gz", "0000.json.gz"):
            (self.private / name).parent.mkdir(parents=True, exist_ok=True)
            (self.private / name).write_bytes(packed)
        self.before = self.state()

    def state(self):
        return {str(path): (path.stat().st_mode, path.is_file() and path.read_bytes()) for path in self.private.rglob("*")}

    @contextlib.contextmanager
    def exchanging(self, entry, target):
        """Continuously swaps `entry` with a link to `target`."""
        link = self.root / f"link-{os.urandom(4).hex()}"
        link.symlink_to(target)
        ended = threading.Event()

        def loop():
            while not ended.is_set():
                with contextlib.suppress(FileNotFoundError):  # raised until Mayfly has created `entry`
                    exchange(link, entry)

        thread = threading.Thread(target=loop)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def write_export(self, directory):
        """Writes an export whose manifest has the private file's checksum, so that an import that followed a link to
        the file would accept the file."""
        name = "carts/data/0000.json.gz"
        (directory / name).parent.mkdir(parents=True)
        (directory / name).write_bytes(gzip.compress(LINE))
        sha256 = hashlib.sha256((self.private / name).read_bytes()).hexdigest()
        described = {"name": "carts", "files": [{"name": name, "items": 1, "sha256": sha256}]}
        (directory / "manifest.json").write_text(json.dumps({"mayfly_export": 1, "tables": [described]}))

    def test_an_import_reads_nothing_outside_its_directory(self):
        targets = {"carts": "carts", "carts/data": "data", "carts/data/0000.json.gz": "0000.json.gz"}
        for number, (name, target) in enumerate(targets.items()):
            directory = self.root / f"in-{number}"
            self.write_export(directory)
            with self.subTest(name), self.exchanging(directory / name, self.private / target):
                for _ in range(ROUNDS):
                    run("import", "--from", str(directory), "--to", str(self.root / "out.json"))
                    for path in self.root.glob("out.json*"):
                        self.assertNotIn(SECRET, path.read_text())
                        path.unlink()
        self.assertEqual(self.state(), self.before)

    def test_an_export_changes_nothing_outside_its_directory(self):
        server = MayflyServer()
        self.addCleanup(server.stop)
        carts = server.create_table("carts", {"id": "S"}, key_schema("id"))
        carts.put_item(Item={"id": "1", "text": "x" * 1000})
        for name, target in {"carts": "carts", "carts/data": "data", "carts/data/0000.json.gz": "0000.json.gz"}.items():
            for number in range(ROUNDS):
                directory = self.root / f"out-{name.count('/')}-{number}"
                with self.subTest(name), self.exchanging(directory / name, self.private / target):
                    run("export", "carts", "--url", server.url, "--to", str(directory))
        self.assertEqual(self.state(), self.before)

    def test_a_bucket_reads_and_changes_nothing_outside_its_directory(self):
        directory = self.root / "bucket"
        for number in range(20):
            (directory / "data").mkdir(parents=True, exist_ok=True)
            (directory / "data" / f"{number:04}.json.gz").write_bytes(gzip.compress(LINE))
        server = MayflyServer("--bucket", f"here={directory}")
        self.addCleanup(server.stop)
        dynamodb = server.client("dynamodb")
        dynamodb.create_table(TableName="source", **TABLE)
        dynamodb.put_item(TableName="source", Item={"id": {"S": "public"}})
        dynamodb.update_continuous_backups(
            TableName="source", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        source = dynamodb.describe_table(TableName="source")["Table"]["TableArn"]
        with self.exchanging(directory / "data", self.private / "data"):
            for number in range(ROUNDS):
                dynamodb.import_table(
                    S3BucketSource={"S3Bucket": "here", "S3KeyPrefix": "data/"},
                    TableCreationParameters={"TableName": f"carts-{number}", **TABLE},
                    InputFormat="DYNAMODB_JSON",
                    InputCompressionType="GZIP",
                )
                dynamodb.export_table_to_point_in_time(TableArn=source, S3Bucket="here", S3Prefix="data")
                server.control("POST", "jobs/await", {"timeout_seconds": 60})
        for name in dynamodb.list_tables()["TableNames"]:
            self.assertNotIn(SECRET, json.dumps(dynamodb.scan(TableName=name)["Items"]))
        self.assertEqual(self.state(), self.before)


if __name__ == "__main__":
    unittest.main()
