"""A server under --data that runs out of descriptors says so, and goes on by itself when there are enough again."""

import http.client
import json
import os
import resource
import tempfile
import unittest

from mayfly_server import MayflyServer, eventually, key_schema

SECONDS_MAX = 30
ITEM_BYTES = 390_000  # some forty of them fill a buffer, which then becomes a file


class OutOfDescriptors(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="mayfly-data-")
        self.addCleanup(directory.cleanup)
        self.log = tempfile.TemporaryFile()
        self.addCleanup(self.log.close)
        # The server's log goes where this process's standard error stream went when it was started.
        kept = os.dup(2)
        os.dup2(self.log.fileno(), 2)
        try:
            self.server = MayflyServer("--data", os.path.join(directory.name, "data"))
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        self.addCleanup(self.server.stop)
        self.items = self.server.create_table("items", {"id": "S"}, key_schema("id"))
        # One connection for all that follows: another one would need a descriptor.
        self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        self.addCleanup(self.connection.close)
        self.written = 0

    def ask(self, method, path, body=None, headers=None):
        self.connection.request(method, path, None if body is None else json.dumps(body), headers or {})
        answer = self.connection.getresponse()
        return answer.status, answer.read().decode()

    def put(self):
        """The status of the answer to a PutItem."""
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": "DynamoDB_20120810.PutItem",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
            "SignedHeaders=host, Signature=0",
        }
        item = {"id": {"S": str(self.written)}, "value": {"S": "x" * ITEM_BYTES}}
        status, body = self.ask("POST", "/", {"TableName": "items", "Item": item}, headers)
        self.assertIn(status, (200, 500), body)
        self.written += status == 200
        return status

    def logged(self):
        self.log.seek(0)
        return self.log.read().decode()

    def test_it_says_so_and_goes_on(self):
        self.assertEqual(self.put(), 200)
        limits = resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
        try:
            eventually(lambda: self.put() == 500, SECONDS_MAX)
            eventually(lambda: "storage takes no writes until this has passed" in self.logged(), SECONDS_MAX)
            status, health = self.ask("GET", "/_mayfly/health")
            self.assertEqual((status, json.loads(health)["status"]), (503, "storage takes no writes"))
            self.assertIn("mayfly_storage_failing 1\n", self.ask("GET", "/_mayfly/metrics")[1])
        finally:
            resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE, limits)
        eventually(lambda: self.put() == 200, SECONDS_MAX)
        eventually(lambda: "storage takes writes again" in self.logged(), SECONDS_MAX)
        self.assertIn("Too many open files", self.logged())
        self.assertEqual(self.ask("GET", "/_mayfly/health")[0], 200)
        metrics = self.ask("GET", "/_mayfly/metrics")[1]
        self.assertIn("mayfly_storage_failing 0\n", metrics)
        self.assertNotIn("mayfly_storage_faults_total 0\n", metrics)
        for number in range(self.written):
            self.assertIn("Item", self.items.get_item(Key={"id": str(number)}))


if __name__ == "__main__":
    unittest.main()
