"""Tests the log lines that help a developer investigate a failed test."""

import tempfile
import time
import unittest

from botocore.exceptions import ClientError
from mayfly_server import MayflyServer, eventually

KEYS = [{"AttributeName": "id", "KeyType": "HASH"}]


class Log(unittest.TestCase):
    def start(self, level):
        self.file = tempfile.NamedTemporaryFile("r")
        self.addCleanup(self.file.close)
        with open(self.file.name, "a") as log:
            self.server = MayflyServer(log_level=level, log=log)
        self.addCleanup(self.server.stop)

    def line(self, part):
        """Returns the first line that contains `part`, without its time."""

        def find():
            with open(self.file.name) as file:
                return next((line.rstrip("\n").split(" ", 1)[1] for line in file if part in line), None)

        return eventually(find)

    def test_a_clock_move_is_logged(self):
        self.start("info")
        self.server.control("PUT", "clock", {"mode": "frozen", "now": "2031-01-01T00:00:00Z"})
        self.server.advance(60)
        self.assertEqual(
            self.line("advance"),
            'info POST /_mayfly/clock/advance {"seconds": 60} of account 000000000000 -> 200 '
            '{"now":"2031-01-01T00:01:00Z","expired":0,"tables":{},"next_expiry":null}',
        )

    def test_expired_items_are_logged_as_totals(self):
        self.start("info")
        carts = self.server.create_table("carts", {"id": "S"}, KEYS, ttl="ttl")
        for key in "123":
            carts.put_item(Item={"id": key, "ttl": int(time.time()) + 3600})
        self.server.control("PUT", "clock", {"mode": "rate", "rate": 1_000_000})
        self.assertEqual(self.line(" expired "), "info expired 3 items of account 000000000000: carts 3")

    def test_injected_faults_are_logged_up_to_a_limit_per_second(self):
        self.start("info")
        carts = self.server.create_table("carts", {"id": "S"}, KEYS)
        self.server.control("PUT", "faults", {"rules": [{"operation": "PutItem", "fault": "throttle", "count": 40}]})
        for _ in range(40):
            with self.assertRaises(ClientError):
                carts.put_item(Item={"id": "1"})
        self.assertEqual(
            self.line("a fault struck"),
            "info a fault struck PutItem of account 000000000000: ProvisionedThroughputExceededException",
        )

    def test_a_function_that_does_not_respond_is_logged(self):
        self.start("info")
        stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
        carts = self.server.create_table("carts", {"id": "S"}, KEYS, StreamSpecification=stream)
        self.server.control("PUT", "functions/reminder", {"url": "http://127.0.0.1:1/secret"})
        self.server.client("lambda").create_event_source_mapping(
            FunctionName="reminder", EventSourceArn=carts.latest_stream_arn, StartingPosition="TRIM_HORIZON"
        )
        carts.put_item(Item={"id": "1"})
        self.assertTrue(
            self.line("PROBLEM").startswith("info the mapping of carts to reminder of account 000000000000: PROBLEM: "), self.line("PROBLEM")
        )
        self.assertNotIn("secret", self.line("PUT /_mayfly/functions/reminder"))

    def test_each_request_is_logged_at_level_debug(self):
        self.start("debug")
        with self.assertRaises(ClientError):
            self.server.client("dynamodb").get_item(TableName="carts", Key={"id": {"S": "1"}})
        self.assertRegex(
            self.line("GetItem"),
            r"^debug POST / DynamoDB_20120810\.GetItem of carts of account 000000000000 -> 400 ResourceNotFoundException, \d+ bytes, \d+\.\d ms$",
        )


if __name__ == "__main__":
    unittest.main()
