"""Runs the program for Windows with Wine as users run it, with boto3 as the client.

WINEPREFIX and the other variables are those that `script/test --windows` sets.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request

import boto3
from botocore.config import Config

ROOT = pathlib.Path(__file__).resolve().parents[2]
WINE = os.environ.get("MAYFLY_TEST_WINE", "/usr/lib/wine/wine64")
PROGRAM = str(ROOT / "build/windows-x86_64/mayfly.exe")
START_SECONDS_MAX = 60


def windows_path(path):
    """Wine shows the root directory as drive Z."""
    return "Z:" + str(path).replace("/", "\\")


def mayfly(*arguments, **options):
    """Runs a command and returns its result."""
    return subprocess.run([WINE, PROGRAM, *arguments], capture_output=True, timeout=START_SECONDS_MAX, **options)


class Server:
    """A server in a directory that is removed at the end."""

    def __init__(self, directory, *options):
        self.port_file = pathlib.Path(directory, "port")
        self.port_file.unlink(missing_ok=True)
        self.log = open(pathlib.Path(directory, "log"), "w+b")
        self.process = subprocess.Popen(
            [WINE, PROGRAM, "serve", "--port", "0", "--port-file", windows_path(self.port_file), *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self.port_file.exists() or not self.port_file.read_text().strip():
            assert self.process.poll() is None and time.monotonic() < deadline, self.said()
            time.sleep(0.05)
        self.url = f"http://127.0.0.1:{int(self.port_file.read_text())}"

    def said(self):
        self.log.seek(0)
        return self.log.read().decode()

    def client(self, service="dynamodb"):
        return boto3.client(service, endpoint_url=self.url, region_name="us-east-1", aws_access_key_id="a",
                            aws_secret_access_key="b", config=Config(retries={"max_attempts": 1}))

    def get(self, path):
        with urllib.request.urlopen(self.url + path) as response:
            return json.load(response)

    def end(self, number):
        """Sends a signal to Wine's process, which is the server, and returns the exit status."""
        self.process.send_signal(number)
        self.process.stdout.close()
        return self.process.wait(timeout=START_SECONDS_MAX)


class WindowsTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="mayfly windows ä ")  # with spaces and a letter that is not ASCII
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.servers = []
        self.addCleanup(lambda: [server.end(signal.SIGKILL) for server in self.servers if server.process.poll() is None])

    def server(self, *options):
        server = Server(self.directory, *options)
        self.servers.append(server)
        return server

    def create_carts(self, client):
        client.create_table(TableName="carts", BillingMode="PAY_PER_REQUEST",
                            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        client.get_waiter("table_exists").wait(TableName="carts", WaiterConfig={"Delay": 1})
        client.update_time_to_live(TableName="carts",
                                   TimeToLiveSpecification={"AttributeName": "ttl", "Enabled": True})

    def test_items_survive_a_server_that_is_killed(self):
        data = windows_path(pathlib.Path(self.directory, "data"))
        server = self.server("--data", data, "--fsync")
        client = server.client()
        self.create_carts(client)
        for number in range(200):
            client.put_item(TableName="carts", Item={"id": {"S": str(number)}, "n": {"N": str(number)}})
        server.end(signal.SIGKILL)
        again = self.server("--data", data).client()
        self.assertEqual(again.scan(TableName="carts", Select="COUNT")["Count"], 200)
        self.assertEqual(again.get_item(TableName="carts", Key={"id": {"S": "7"}})["Item"]["n"], {"N": "7"})

    def test_a_second_server_cannot_use_a_data_directory_in_use(self):
        data = windows_path(pathlib.Path(self.directory, "data"))
        self.server("--data", data)
        second = mayfly("serve", "--port", "0", "--data", data)
        self.assertEqual(second.returncode, 1)
        self.assertIn(b"is in use by another process", second.stderr)

    def test_an_item_expires_when_the_clock_moves_with_a_record_of_the_service(self):
        server = self.server("--clock", "frozen", "--now", "2031-01-01T00:00:00Z")
        client = server.client()
        self.create_carts(client)
        client.put_item(TableName="carts", Item={"id": {"S": "1"}, "ttl": {"N": "1924992060"}})
        advanced = mayfly("clock", "advance", "2m", "--url", server.url)
        self.assertEqual(advanced.returncode, 0, advanced.stderr)
        self.assertNotIn("Item", client.get_item(TableName="carts", Key={"id": {"S": "1"}}))
        streams = server.client("dynamodbstreams")
        arn = client.describe_table(TableName="carts")["Table"]["LatestStreamArn"]
        shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
        iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
        records = streams.get_records(ShardIterator=iterator["ShardIterator"])["Records"]
        self.assertEqual([record["eventName"] for record in records], ["INSERT", "REMOVE"])
        self.assertEqual(records[1]["userIdentity"], {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"})

    def test_a_schema_file_can_have_windows_line_ends(self):
        schema = pathlib.Path(self.directory, "schema.yaml")
        text = """Resources:
  Carts:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: carts
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - AttributeName: id
          AttributeType: S
      KeySchema:
        - AttributeName: id
          KeyType: HASH
"""
        schema.write_bytes(text.replace("\n", "\r\n").encode())
        server = self.server("--schema", windows_path(schema))
        self.assertEqual(server.client().list_tables()["TableNames"], ["carts"])

    def test_paths_may_be_long_or_begin_with_the_prefix_for_long_paths(self):
        deep = pathlib.Path(self.directory, *["a directory with a rather long name"] * 8)
        deep.mkdir(parents=True)
        self.assertGreater(len(windows_path(deep)), 260)
        for data in (windows_path(deep / "data"), "\\\\?\\" + windows_path(deep / "more")):
            with self.subTest(data):
                client = self.server("--data", data).client()
                self.create_carts(client)
                client.put_item(TableName="carts", Item={"id": {"S": "1"}})
        self.assertTrue((deep / "data" / "CURRENT").exists())
        self.assertTrue((deep / "more" / "CURRENT").exists())

    def test_tables_are_exported_to_a_file_and_imported_again(self):
        server = self.server()
        client = server.client()
        self.create_carts(client)
        client.put_item(TableName="carts", Item={"id": {"S": "ä"}})
        file = windows_path(pathlib.Path(self.directory, "carts.jsonl"))
        exported = mayfly("export", "carts", "--from", server.url, "--to", file)
        self.assertEqual(exported.returncode, 0, exported.stderr)
        client.delete_table(TableName="carts")
        imported = mayfly("import", "--from", file, "--to", server.url)
        self.assertEqual(imported.returncode, 0, imported.stderr)
        self.assertEqual(client.get_item(TableName="carts", Key={"id": {"S": "ä"}})["Item"], {"id": {"S": "ä"}})

    def test_a_port_in_use_is_reported(self):
        server = self.server()
        second = mayfly("serve", "--port", server.url.rsplit(":", 1)[1])
        self.assertEqual(second.returncode, 1)
        self.assertIn(b"cannot listen", second.stderr)

    def test_arguments_and_messages_are_utf_8(self):
        file = pathlib.Path(self.directory, "file")
        file.write_text("not a directory")
        answered = mayfly("serve", "--port", "0", "--data", windows_path(file))
        self.assertEqual(answered.returncode, 1)
        self.assertIn("mayfly windows ä", answered.stderr.decode())


if __name__ == "__main__":
    unittest.main()
