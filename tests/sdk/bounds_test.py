"""That a server ends in time when it is told to, whatever is under way, and that a deleted table's memory comes back."""

import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import unittest

from mayfly_server import MayflyServer, binary, eventually, key_schema

SECONDS_MAX = 30


class Client:
    """One connection, kept: another one would need a descriptor."""

    def __init__(self, server):
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def ask(self, method, path, body=None, headers=None):
        self._connection.request(method, path, None if body is None else json.dumps(body), headers or {})
        answer = self._connection.getresponse()
        return answer.status, answer.read().decode()

    def operation(self, name, body):
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{name}",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
            "SignedHeaders=host, Signature=0",
        }
        return self.ask("POST", "/", body, headers)

    def close(self):
        self._connection.close()


class DroppedTable(unittest.TestCase):
    def test_its_memory_comes_back(self):
        server = MayflyServer()
        self.addCleanup(server.stop)
        client = Client(server)
        self.addCleanup(client.close)

        def resident():
            pages = int(pathlib.Path(f"/proc/{server.pid}/statm").read_text().split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE")

        for round in range(3):
            server.create_table("items", {"id": "S"}, key_schema("id"))
            for number in range(300):
                item = {"id": {"S": str(number)}, "value": {"S": "x" * 390_000}}
                self.assertEqual(client.operation("PutItem", {"TableName": "items", "Item": item})[0], 200)
            full = resident()
            self.assertGreater(full, 110_000_000)
            self.assertEqual(client.operation("DeleteTable", {"TableName": "items"})[0], 200)
            eventually(lambda: resident() < full - 90_000_000, SECONDS_MAX)
            eventually(lambda: resident() < 100_000_000, SECONDS_MAX)


class Ends(unittest.TestCase):
    def test_it_ends_at_once_whatever_waits(self):
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
        server.stop()  # by itself, with status 0: not by its deadline
        for connection in waiting:
            connection.close()

    def test_it_ends_even_if_nobody_reads_its_log(self):
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
                with self.assertRaises(TimeoutError):  # it waits for somebody to read its log
                    while True:
                        client.sendall(request)
                        self.assertTrue(client.recv(10_000))
            process.send_signal(signal.SIGTERM)
            code = process.wait(SECONDS_MAX)
            self.assertIn(code, (1, -signal.SIGALRM))  # where the log has room for a last sentence, and where not
            if code == 1:
                self.assertIn(b"what is under way has not ended in time", process.stderr.read())


if __name__ == "__main__":
    unittest.main()
