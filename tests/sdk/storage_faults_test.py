"""Tests a server with --data that can no longer write: it reports this, and recovers without a restart."""

import os
import resource
import tempfile
import unittest

from mayfly_server import Client, MayflyServer, eventually, key_schema

SECONDS_MAX = 30
ITEM_BYTES = 390_000  # about forty items fill a buffer, which then becomes a file


class StorageFaults(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="mayfly-data-")
        self.addCleanup(directory.cleanup)
        self.log = tempfile.TemporaryFile()
        self.addCleanup(self.log.close)
        self.server = MayflyServer("--data", os.path.join(directory.name, "data"), log=self.log)
        self.addCleanup(self.server.stop)
        self.items = self.server.create_table("items", {"id": "S"}, key_schema("id"))
        self.client = Client(self.server)
        self.addCleanup(self.client.close)
        self.written = 0

    def put(self):
        """Puts an item and returns the response's status."""
        item = {"id": {"S": str(self.written)}, "value": {"S": "x" * ITEM_BYTES}}
        status, body = self.client.operation("PutItem", {"TableName": "items", "Item": item})
        self.assertIn(status, (200, 500), body)
        self.written += status == 200
        return status

    def logged(self):
        self.log.seek(0)
        return self.log.read().decode()

    def test_a_server_recovers_after_reaching_a_file_size_limit(self):
        """A process that writes beyond RLIMIT_FSIZE (`ulimit -f`) gets SIGXFSZ, which ends the process by default."""
        self.assertEqual(self.put(), 200)
        limits = resource.prlimit(self.server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.server.pid, resource.RLIMIT_FSIZE, (1 << 16, limits[1]))
        try:
            eventually(lambda: self.put() == 500, SECONDS_MAX)
            self.assertEqual(self.client.health(), (503, "storage is read-only"))
            self.assertIn("Item", self.items.get_item(Key={"id": "0"}))
        finally:
            resource.prlimit(self.server.pid, resource.RLIMIT_FSIZE, limits)
        eventually(lambda: self.put() == 200, SECONDS_MAX)
        self.assertIn("File too large", self.logged())
        for number in range(self.written):
            self.assertIn("Item", self.items.get_item(Key={"id": str(number)}))

    def test_a_server_recovers_after_running_out_of_descriptors(self):
        self.assertEqual(self.put(), 200)
        limits = resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
        try:
            eventually(lambda: self.put() == 500, SECONDS_MAX)
            eventually(lambda: "storage is read-only until this is resolved" in self.logged(), SECONDS_MAX)
            self.assertEqual(self.client.health(), (503, "storage is read-only"))
            self.assertEqual(self.client.metric("mayfly_storage_failing"), 1)
        finally:
            resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE, limits)
        eventually(lambda: self.put() == 200, SECONDS_MAX)
        eventually(lambda: "storage accepts writes again" in self.logged(), SECONDS_MAX)
        self.assertIn("Too many open files", self.logged())
        self.assertEqual(self.client.health(), (200, "ok"))
        self.assertEqual(self.client.metric("mayfly_storage_failing"), 0)
        self.assertGreater(self.client.metric("mayfly_storage_faults_total"), 0)
        for number in range(self.written):
            self.assertIn("Item", self.items.get_item(Key={"id": str(number)}))


if __name__ == "__main__":
    unittest.main()
