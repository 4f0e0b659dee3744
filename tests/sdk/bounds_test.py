"""Tests a server that runs out of descriptors, threads or memory: it serves existing clients, reports the shortage, and
recovers automatically. Also tests that a deleted table's memory is freed and that the server exits in time."""

import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import tempfile
import unittest

from mayfly_server import Client, MayflyServer, binary, eventually, key_schema
from trigger_limits_test import become_nobody, limit_threads

SECONDS_MAX = 30


class Short(unittest.TestCase):
    ARGUMENTS = ()

    def setUp(self):
        self.log = tempfile.TemporaryFile()
        self.addCleanup(self.log.close)
        self.server = MayflyServer(*self.ARGUMENTS, log=self.log)
        self.addCleanup(self.server.stop)
        self.client = Client(self.server)
        self.addCleanup(self.client.close)
        self.assertEqual(self.client.health(), (200, "ok"))

    def logged(self, text):
        self.log.seek(0)
        return self.log.read().decode().count(text)


class OutOfDescriptors(Short):
    def test_when_descriptors_run_out_existing_clients_are_served_and_new_ones_are_accepted_later(self):
        limits = resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
        others = []
        try:
            for _ in range(20):
                # The kernel accepts the connection, but the server cannot accept it yet.
                others.append(socket.create_connection(("127.0.0.1", self.server.port), timeout=SECONDS_MAX))
            eventually(lambda: self.client.metric("mayfly_accept_failures_total") > 10, SECONDS_MAX)
            self.assertEqual(self.client.health(), (200, "degraded: cannot accept connections"))
            self.assertEqual(self.client.metric("mayfly_accepts_failing"), 1)
            self.assertEqual(self.client.operation("ListTables", {}), (200, '{"TableNames":[]}'))
        finally:
            resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE, limits)
        for other in others:
            other.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertIn(b" 200 ", other.recv(100))
            other.close()
        self.assertEqual(self.client.health(), (200, "ok"))
        self.assertEqual(self.logged("cannot accept connections: Too many open files"), 1)
        self.assertEqual(self.logged("recovered from: cannot accept connections"), 1)


class OutOfThreads(unittest.TestCase):
    def test_when_no_thread_can_be_started_only_requests_that_wait_are_rejected(self):
        log = tempfile.TemporaryFile()
        self.addCleanup(log.close)
        server = MayflyServer(preexec=become_nobody, log=log)
        self.addCleanup(server.stop)
        client = Client(server)
        self.addCleanup(client.close)
        limit_threads(server, 1)
        for _ in range(3):
            status, body = client.ask("GET", "/_mayfly/clock")
            self.assertEqual(status, 503)
            self.assertEqual(json.loads(body)["message"], "The server cannot start a thread to wait for this request.")
        self.assertEqual(client.health(), (200, "degraded: cannot start threads for waiting requests"))
        self.assertEqual(client.operation("ListTables", {}), (200, '{"TableNames":[]}'))
        limit_threads(server, -1)
        self.assertEqual(client.ask("GET", "/_mayfly/clock")[0], 200)
        self.assertEqual(client.health(), (200, "ok"))
        self.assertEqual(client.metric("mayfly_thread_failures_total"), 4)  # ListTables also tried to start a thread
        log.seek(0)
        said = log.read().decode()
        self.assertEqual(said.count("error cannot start threads for waiting requests: "), 1)
        self.assertEqual(said.count("recovered from: cannot start threads for waiting requests"), 1)


class DroppedTable(unittest.TestCase):
    def test_a_deleted_tables_memory_is_freed(self):
        # Without these options, sanitizers keep freed memory and data about it.
        thrifty = {"ASAN_OPTIONS": "quarantine_size_mb=1", "TSAN_OPTIONS": "flush_memory_ms=500"}
        server = MayflyServer(
            environment={name: os.environ.get(name, "") + ":" + value for name, value in thrifty.items()}
        )
        self.addCleanup(server.stop)
        client = Client(server)
        self.addCleanup(client.close)

        # Counts only anonymous pages. The host can load and drop pages of the executable at any time, and a sanitizer build
        # has many of them.
        def resident():
            status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
            return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) * 1024

        empty = resident()
        for round in range(3):
            server.create_table("items", {"id": "S"}, key_schema("id"))
            for number in range(300):
                item = {"id": {"S": str(number)}, "value": {"S": "x" * 390_000}}
                self.assertEqual(client.operation("PutItem", {"TableName": "items", "Item": item})[0], 200)
            full = resident()
            self.assertGreater(full, empty + 100_000_000)
            self.assertEqual(client.operation("DeleteTable", {"TableName": "items"})[0], 200)
            eventually(lambda: resident() < full - 90_000_000, SECONDS_MAX)
            eventually(lambda: resident() < empty + 80_000_000, SECONDS_MAX)


class FullMemory(Short):
    ARGUMENTS = ("--memory-max", str(64 * 1024 * 1024))

    def put(self, table, number):
        item = {"id": {"S": str(number)}, "value": {"S": "x" * 390_000}}
        return self.client.operation("PutItem", {"TableName": table, "Item": item})

    def test_full_memory_rejects_writes_until_a_table_is_deleted(self):
        for table in ("large", "small"):
            self.server.create_table(table, {"id": "S"}, key_schema("id"))
        self.assertEqual(self.put("small", 0)[0], 200)
        number = 0

        # A compaction needs additional memory for a short time, so the first rejection can be temporary.
        def is_full():
            nonlocal number
            while (answer := self.put("large", number))[0] == 200:
                number += 1
                self.assertLess(number, 400)
            self.assertEqual(answer[0], 400)
            self.assertEqual(
                json.loads(answer[1])["message"],
                "The server's memory limit is reached (67108864 bytes, set by --memory-max).",
            )
            counted = self.client.metric("mayfly_memory_bytes")
            return counted >= 48_000_000 and self.client.health() == full

        full = (200, "degraded: memory limit reached (--memory-max)")
        eventually(is_full, SECONDS_MAX)
        self.assertGreater(number, 100)
        self.assertGreaterEqual(self.client.metric("mayfly_resident_bytes"), 50_000_000)
        key = {"TableName": "large", "Key": {"id": {"S": "0"}}}
        self.assertEqual(self.client.operation("GetItem", key)[0], 200)
        self.assertEqual(self.client.operation("DeleteItem", key)[0], 200)
        self.assertEqual(self.client.operation("DeleteTable", {"TableName": "large"})[0], 200)
        eventually(lambda: self.client.health() == (200, "ok"), SECONDS_MAX)
        self.assertEqual(self.put("small", 1)[0], 200)
        self.assertGreaterEqual(self.logged("storage reached its memory limit"), 1)
        self.assertGreaterEqual(self.logged("storage is below its memory limit again"), 1)


class Ends(unittest.TestCase):
    def test_a_server_exits_immediately_despite_waiting_requests(self):
        server = MayflyServer()
        waiting = []
        for request in (
            b"GET /_mayfly/events HTTP/1.1\r\nHost: x\r\n\r\n",
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{",
            b"GET / HTTP/1.1\r\nX-Y: ",
        ):
            waiting += [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
            for connection in waiting[-20:]:
                connection.sendall(request)
        server.stop()  # exits with status 0, before the deadline
        for connection in waiting:
            connection.close()

    def test_a_server_exits_even_if_nothing_reads_its_log(self):
        with tempfile.TemporaryDirectory() as directory:
            port_file = os.path.join(directory, "port")
            arguments = [binary(), "serve", "--port", "0", "--port-file", port_file]
            arguments += ["--log-level", "debug", "--shutdown-seconds-max", "1"]
            process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            self.addCleanup(process.stderr.close)
            eventually(lambda: os.path.exists(port_file), SECONDS_MAX)
            port = int(pathlib.Path(port_file).read_text())
            with socket.create_connection(("127.0.0.1", port), timeout=2) as client:
                request = b"GET /" + b"x" * 10_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"
                with self.assertRaises(TimeoutError):  # the server waits for a reader of its log
                    while True:
                        client.sendall(request)
                        self.assertTrue(client.recv(10_000))
            process.send_signal(signal.SIGTERM)
            code = process.wait(SECONDS_MAX)
            self.assertIn(code, (1, -signal.SIGALRM))  # 1 if the log has room for a last message
            if code == 1:
                self.assertIn(b"work in progress did not end in time", process.stderr.read())


if __name__ == "__main__":
    unittest.main()
