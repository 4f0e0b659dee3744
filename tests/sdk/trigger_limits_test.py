"""Tests the limits of triggers against a real server: threads, hanging functions and files.

Threads run out as in a container that limits the number of processes. The server runs as an unprivileged user, because
RLIMIT_NPROC does not apply to root. From some point on, the server cannot start another thread.
"""

import os
import pathlib
import resource
import shutil
import stat
import subprocess
import tempfile
import threading
import unittest

from botocore.exceptions import ClientError
from function_server import FunctionServer
from mayfly_server import MayflyServer, binary, eventually, key_schema, stream

NOBODY = 65534
POOL_THREADS = 4  # compat/triggers/pool.h
# The slow lane (http/base/slow_lane.h) starts another thread for sequential calls only if the last thread is not idle yet.
LANE_THREADS_MAX = 4
ROLLS = 300


def become_nobody():
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


SET_LIMIT = """
import resource, sys
pid, threads = map(int, sys.argv[1:])
_, hard = resource.prlimit(pid, resource.RLIMIT_NPROC)
resource.prlimit(pid, resource.RLIMIT_NPROC, (hard if threads < 0 else threads, hard))
"""


def limit_threads(server, threads_max):
    """Limits the server's number of threads from now on; -1 removes the limit. Only the server's user can set this limit."""
    arguments = ["/usr/bin/python3", "-c", SET_LIMIT, str(server.pid), str(threads_max)]
    subprocess.run(arguments, preexec_fn=become_nobody, check=True)


def threads(server):
    return len(os.listdir(f"/proc/{server.pid}/task"))


def address_space(server):
    return int(pathlib.Path(f"/proc/{server.pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def create_table(server, name="carts"):
    """Creates a table and returns its stream's ARN."""
    server.create_table(name, {"id": "S"}, key_schema("id"), StreamSpecification=stream())
    return server.client("dynamodb").describe_table(TableName=name)["Table"]["LatestStreamArn"]


def put(server, *ids, table="carts"):
    dynamodb = server.client("dynamodb")
    for one in ids:
        dynamodb.put_item(TableName=table, Item={"id": {"S": one}})


def ids_of(function):
    return [record["dynamodb"]["Keys"]["id"]["S"] for record in function.records]


class ThreadsRunOut(unittest.TestCase):
    def setUp(self):
        self.function = FunctionServer()
        self.addCleanup(self.function.stop)

    def start(self, *arguments):
        server = MayflyServer(
            "--function", f"f={self.function.url}", "--kinesis-endpoint", self.function.url, *arguments,
            preexec=become_nobody,
        )
        self.addCleanup(server.stop)
        return server

    def refused(self, error, call, **request):
        with self.assertRaises(ClientError) as raised:
            call(**request)
        self.assertEqual(raised.exception.response["Error"], error)

    def test_a_mapping_that_no_thread_can_serve_is_rejected_and_the_server_continues(self):
        server = self.start()
        arn = create_table(server)
        functions, dynamodb = server.client("lambda"), server.client("dynamodb")
        limit_threads(server, 0)
        before = threads(server)
        mapping = {"EventSourceArn": arn, "FunctionName": "f", "StartingPosition": "TRIM_HORIZON"}
        self.refused(
            {"Code": "ServiceException", "Message": "Cannot start a thread to read the stream."},
            functions.create_event_source_mapping, **mapping,
        )
        with self.assertRaises(ClientError) as raised:
            functions.invoke(FunctionName="f", InvocationType="Event")
        # An idle thread of an earlier call may be available to wait, but no thread can be started to make the call.
        self.assertIn(
            raised.exception.response["Error"]["Message"],
            ("Cannot start a thread to call the function.", "The server cannot start a thread to wait for this request."),
        )
        self.refused(
            {"Code": "InternalServerError", "Message": "Internal server error"},
            dynamodb.enable_kinesis_streaming_destination,
            TableName="carts", StreamArn="arn:aws:kinesis:us-east-1:000000000000:stream/changes",
        )
        self.assertEqual(functions.list_event_source_mappings()["EventSourceMappings"], [])
        self.assertEqual(
            dynamodb.describe_kinesis_streaming_destination(TableName="carts")["KinesisDataStreamDestinations"], []
        )
        put(server, "a", "b")
        self.assertEqual(threads(server), before)
        limit_threads(server, -1)
        functions.create_event_source_mapping(**mapping)
        eventually(lambda: ids_of(self.function) == ["a", "b"])

    def test_a_mapping_works_with_the_threads_that_are_available(self):
        server = self.start("--stream-shards", "4")
        arn = create_table(server)
        put(server, *(str(i) for i in range(20)))
        limit_threads(server, threads(server) + 2)  # one for the lanes, one for calls
        server.client("lambda").create_event_source_mapping(
            EventSourceArn=arn, FunctionName="f", StartingPosition="TRIM_HORIZON", ParallelizationFactor=10
        )
        eventually(lambda: sorted(ids_of(self.function)) == sorted(str(i) for i in range(20)))

    def test_writes_and_a_large_backfill_succeed_without_new_threads(self):
        server = self.start()
        create_table(server)
        limit_threads(server, 0)
        self.addCleanup(limit_threads, server, -1)  # because the leak sanitizer starts another process
        dynamodb = server.client("dynamodb")
        for first in range(0, 11_000, 25):
            dynamodb.batch_write_item(
                RequestItems={
                    "carts": [
                        {"PutRequest": {"Item": {"id": {"S": str(i)}, "by": {"S": "x" * 1000}}}}
                        for i in range(first, first + 25)
                    ]
                }
            )
        index = {
            "IndexName": "by_by", "KeySchema": key_schema("by"), "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
        dynamodb.update_table(
            TableName="carts",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("id", "by")],
            GlobalSecondaryIndexUpdates=[{"Create": index}],
        )

        def described():
            [index] = dynamodb.describe_table(TableName="carts")["Table"]["GlobalSecondaryIndexes"]
            return index["IndexStatus"], index["ItemCount"]

        eventually(lambda: described() == ("ACTIVE", 11_000))
        put(server, "after")
        self.assertEqual(dynamodb.get_item(TableName="carts", Key={"id": {"S": "after"}})["Item"], {"id": {"S": "after"}})


class NoThreadAtAll(unittest.TestCase):
    def test_a_command_that_cannot_start_a_thread_reports_the_failure(self):
        def become_nobody_alone():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
            become_nobody()

        with tempfile.TemporaryDirectory() as directory:
            os.chmod(directory, 0o755)
            # The server's user may be unable to read the executable's directory.
            executable = shutil.copy(binary(), directory)
            endpoint = "http://127.0.0.1:1"
            # LeakSanitizer uses an additional thread.
            looks_for_no_leaks = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
            for command in (
                ("serve", "--port", "0"),
                ("mcp", "--url", endpoint),
                ("mcp", "--in-memory"),
                ("export", "--url", endpoint, "--to", f"{directory}/there"),
            ):
                with self.subTest(command):
                    done = subprocess.run(
                        (executable, *command),
                        capture_output=True,
                        stdin=subprocess.DEVNULL,
                        text=True,
                        env=os.environ | looks_for_no_leaks,
                        preexec_fn=become_nobody_alone,
                    )
                    said = "mayfly: cannot start a thread: Resource temporarily unavailable\n"
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", said))


class FunctionsHang(unittest.TestCase):
    def setUp(self):
        self.release = threading.Event()
        self.hanging = FunctionServer(lambda event: self.release.wait(60) and None)
        self.good = FunctionServer()
        for function in (self.hanging, self.good):
            self.addCleanup(function.stop)
        self.addCleanup(self.release.set)

    def start(self):
        server = MayflyServer("--function", f"good={self.good.url}", "--stream-shards", "4")
        self.addCleanup(server.stop)  # asserts that SIGTERM stops the server
        names = [f"hanging{i}" for i in range(20)]
        for name in names:
            server.control("PUT", f"functions/{name}", {"url": self.hanging.url, "timeout_seconds": 60})
        return server, names

    def test_hanging_functions_hold_no_thread_and_other_mappings_continue(self):
        server, names = self.start()
        arn = create_table(server)
        functions = server.client("lambda")
        before = threads(server)
        uuids = [
            functions.create_event_source_mapping(
                EventSourceArn=arn, FunctionName=name, StartingPosition="TRIM_HORIZON", ParallelizationFactor=10
            )["UUID"]
            for name in names
        ]
        put(server, *(str(i) for i in range(40)))
        eventually(lambda: len(self.hanging.calls) > 100)
        functions.create_event_source_mapping(
            EventSourceArn=arn, FunctionName="good", StartingPosition="TRIM_HORIZON", ParallelizationFactor=10
        )
        eventually(lambda: len(ids_of(self.good)) == 40)
        # One thread calls all functions.
        self.assertLessEqual(threads(server), before + POOL_THREADS + 1 + LANE_THREADS_MAX)
        # None of these calls waits for a function.
        self.assertEqual(functions.delete_event_source_mapping(UUID=uuids[0])["State"], "Deleting")
        self.assertEqual(
            functions.update_event_source_mapping(UUID=uuids[1], ParallelizationFactor=2)["State"], "Updating"
        )
        self.assertEqual(functions.update_event_source_mapping(UUID=uuids[2], Enabled=False)["State"], "Disabling")
        server.control("POST", f"snapshots/{server.control('POST', 'snapshots')['id']}/restore")
        self.assertEqual(len(functions.list_event_source_mappings()["EventSourceMappings"]), 20)

    def test_sigterm_ends_a_server_whose_functions_hang(self):
        server, names = self.start()
        arn = create_table(server)
        for name in names:
            server.client("lambda").create_event_source_mapping(
                EventSourceArn=arn, FunctionName=name, StartingPosition="TRIM_HORIZON", ParallelizationFactor=10
            )
        put(server, "a")
        eventually(lambda: len(self.hanging.calls) >= 20)


class ManyRolls(unittest.TestCase):
    def test_closed_shards_leave_no_threads_or_memory_behind(self):
        function = FunctionServer()
        self.addCleanup(function.stop)
        server = MayflyServer("--function", f"f={function.url}")
        self.addCleanup(server.stop)
        server.client("lambda").create_event_source_mapping(
            EventSourceArn=create_table(server), FunctionName="f", StartingPosition="TRIM_HORIZON",
            ParallelizationFactor=10,
        )
        put(server, "first")
        eventually(lambda: ids_of(function) == ["first"])
        threads_before, bytes_before = threads(server), address_space(server)
        for _ in range(ROLLS):
            server.control("POST", "streams/carts/roll", {})
        put(server, "last")
        eventually(lambda: ids_of(function) == ["first", "last"])
        self.assertLessEqual(threads(server), threads_before + POOL_THREADS)
        self.assertLess(address_space(server), bytes_before + (1 << 30))


class FileDestinations(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="mayfly-test-")
        self.addCleanup(directory.cleanup)
        self.file = pathlib.Path(directory.name) / "failed.jsonl"
        self.function = FunctionServer(lambda event: 1 / 0)
        self.addCleanup(self.function.stop)

    def create_mapping(self, *arguments):
        server = MayflyServer("--function", f"f={self.function.url}", *arguments)
        self.addCleanup(server.stop)
        server.client("lambda").create_event_source_mapping(
            EventSourceArn=create_table(server), FunctionName="f", StartingPosition="TRIM_HORIZON",
            MaximumRetryAttempts=0, DestinationConfig={"OnFailure": {"Destination": self.file.as_uri()}},
        )
        return server

    def test_a_failed_batch_is_written_to_a_file_below_the_destination_directory(self):
        server = self.create_mapping("--destination-dir", str(self.file.parent))
        put(server, "a")
        eventually(lambda: self.file.exists() and self.file.read_text().count("\n") == 1)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)

    def test_a_file_destination_is_rejected_without_a_destination_directory(self):
        with self.assertRaises(ClientError) as raised:
            self.create_mapping()
        error = raised.exception.response["Error"]
        self.assertEqual(
            (error["Code"], error["Message"]),
            (
                "InvalidParameterValueException",
                "Invalid destination. File destinations are available only with --destination-dir.",
            ),
        )
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    unittest.main()
