"""Tests memory use under different loads: mayfly_memory_bytes is close to the process's memory, and with --memory-max the
process stays close to that limit."""

import contextlib
import json
import os
import pathlib
import re
import socket
import time
import unittest

from mayfly_server import Client, MayflyServer, eventually

MB = 1_000_000
SECONDS_MAX = 60
# The process may use at most FACTOR_MAX times the memory that the server counts, plus CONSTANT_MAX for static data, I/O
# buffers and free memory that cannot be returned to the system.
FACTOR_MAX, CONSTANT_MAX = 1.3, 20 * MB


class Full(Exception):
    """The server rejected a write because of --memory-max."""


class Loaded:
    """A server and the calls that the loads need."""

    def __init__(self, *arguments):
        self.server = MayflyServer(*arguments, log_level="off")
        self.client = Client(self.server)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()
        self.server.stop()

    def operation(self, name, body):
        status, answer = self.client.operation(name, body)
        if status == 400 and "set by --memory-max)" in answer:
            raise Full
        if status != 200:
            raise AssertionError(f"{name}: {status} {answer[:300]}")
        return json.loads(answer)

    def control(self, method, path, body=None):
        status, answer = self.client.ask(method, f"/_mayfly/{path}", body, {"Content-Type": "application/json"})
        if status >= 300:
            raise AssertionError(f"{method} {path}: {status} {answer[:300]}")
        return json.loads(answer)

    def table(self, name="items", indexes=0, **request):
        indexed = [f"indexed{number}" for number in range(indexes)]
        if indexed:
            request["GlobalSecondaryIndexes"] = [
                {
                    "IndexName": f"by_{attribute}",
                    "KeySchema": [{"AttributeName": attribute, "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
                for attribute in indexed
            ]
        self.operation(
            "CreateTable",
            {
                "TableName": name,
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ["id", *indexed]],
                "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
                **request,
            },
        )

    def put(self, items, at_once=25):
        items = list(items)
        for first in range(0, len(items), at_once):
            puts = [{"PutRequest": {"Item": item}} for item in items[first : first + at_once]]
            self.operation("BatchWriteItem", {"RequestItems": {"items": puts}})

    def counted(self):
        return self.client.metric("mayfly_memory_bytes")

    def status(self, name):
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
        return int(re.search(name + r":\s+(\d+) kB", status)[1]) * 1024

    def resident(self):
        return self.status("RssAnon")

    def peak(self):
        """Returns the peak resident memory without the current file mappings."""
        return self.status("VmHWM") - self.status("RssFile")


def item(number, **values):
    return {"id": {"S": str(number)}, **values}


def text(length, number=0):
    return {"S": f"{number:x}".rjust(length, "x")}


# Each load writes about `megabytes` MB.


def small_items(loaded, megabytes):
    loaded.table()
    loaded.put(item(number, value=text(1)) for number in range(megabytes * 14_000))


def large_items(loaded, megabytes):
    loaded.table()
    loaded.put((item(number, value=text(390_000)) for number in range(megabytes * 5 // 2)), 5)


def many_attributes(loaded, megabytes):
    loaded.table()
    values = {f"attribute{number}": {"N": str(number)} for number in range(300)}
    loaded.put(item(number, **values) for number in range(megabytes * 180))


def deep_items(loaded, megabytes):
    loaded.table()
    values = {"L": [{"NULL": True}] * 190_000}
    loaded.put((item(number, value=values) for number in range(megabytes * 2)), 1)


def indexed_items(loaded, megabytes):
    loaded.table(indexes=10)
    loaded.put(
        item(number, **{f"indexed{index}": text(20, number * 10 + index) for index in range(10)})
        for number in range(megabytes * 800)
    )


def stream_records(loaded, megabytes):
    loaded.table(StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    loaded.put(item(number % 1000, value=text(2000, number)) for number in range(megabytes * 240))


def overwritten_items(loaded, megabytes):
    loaded.table()
    loaded.put(item(number % 1000, value=text(2000, number)) for number in range(megabytes * 500))


def overwritten_large_items(loaded, megabytes):
    loaded.table()
    loaded.put((item(number % 150, value=text(390_000, number)) for number in range(megabytes * 5 // 2)), 5)


def expiring_items(loaded, megabytes):
    loaded.table()
    loaded.operation(
        "UpdateTimeToLive",
        {"TableName": "items", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"}},
    )
    expires = int(time.time()) + 1_000_000
    loaded.put(item(number, expires={"N": str(expires + number)}) for number in range(megabytes * 6500))


def old_versions(loaded, megabytes):
    loaded.table()
    loaded.operation(
        "UpdateContinuousBackups",
        {"TableName": "items", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}},
    )
    loaded.put(item(number % 1000, value=text(2000, number)) for number in range(megabytes * 500))


def snapshots(loaded, megabytes):
    loaded.table()
    for snapshot in range(5):
        loaded.put(item(number, value=text(2000, snapshot)) for number in range(megabytes * 100))
        loaded.control("POST", "snapshots", {})


def tables(loaded, megabytes):
    for number in range(min(megabytes * 50, 2500)):
        loaded.table(f"items{number}", indexes=20)


LOADS = (
    small_items,
    large_items,
    many_attributes,
    deep_items,
    indexed_items,
    stream_records,
    overwritten_items,
    overwritten_large_items,
    expiring_items,
    old_versions,
    snapshots,
    tables,
)


INSTRUMENTED = any(os.environ.get(name) for name in ("ASAN_OPTIONS", "TSAN_OPTIONS"))


@unittest.skipIf(INSTRUMENTED, "sanitizers need several times as much memory")
class Memory(unittest.TestCase):
    def test_the_metric_is_close_to_the_memory_of_an_idle_process(self):
        for load in LOADS:
            with self.subTest(load.__name__), Loaded() as loaded:
                load(loaded, 50)
                last = None

                def is_near():
                    nonlocal last
                    last = counted, resident = loaded.counted(), loaded.resident()
                    return counted - 4 * MB <= resident <= FACTOR_MAX * counted + CONSTANT_MAX

                try:
                    eventually(is_near)
                except AssertionError:
                    self.fail(f"{last[0]} bytes are counted but {last[1]} are resident")

    def test_the_process_stays_close_to_its_limit(self):
        limit = 96 * MB
        for load in LOADS:
            with self.subTest(load.__name__), Loaded("--memory-max", str(limit)) as loaded:
                try:
                    load(loaded, 150)
                except Full:
                    pass
                self.assertLessEqual(loaded.peak(), FACTOR_MAX * limit + CONSTANT_MAX)

    def test_requests_in_progress_count_against_the_limit(self):
        limit = 96 * MB
        with Loaded("--memory-max", str(limit)) as loaded, contextlib.ExitStack() as uploads:
            loaded.table()
            for _ in range(12):
                upload = socket.create_connection(("127.0.0.1", loaded.server.port))
                uploads.enter_context(upload)
                upload.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14000000\r\n\r\n")
                upload.sendall(b" " * 13_000_000)
            eventually(lambda: loaded.resident() > limit)
            self.assertLess(loaded.counted(), limit // 2)

            def is_refused():
                try:
                    loaded.put((item(number, value=text(300_000)) for number in range(4)), 4)
                except Full:
                    return True
                return False

            eventually(is_refused)
            self.assertEqual(loaded.client.health(), (200, "degraded: memory limit reached (--memory-max)"))
            uploads.close()
            eventually(lambda: not is_refused())
            self.assertEqual(loaded.client.health(), (200, "ok"))


if __name__ == "__main__":
    unittest.main()
