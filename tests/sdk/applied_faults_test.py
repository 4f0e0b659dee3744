"""Tests writes whose responses are lost or late, which a client that retries must handle.

The code under test is a lock and a counter, implemented in a common way.
"""

import threading
import unittest

import botocore.config
import botocore.exceptions
import control_test
from control_test import World


def setUpModule():
    control_test.setUpModule()


LOST = (botocore.exceptions.ConnectionClosedError, botocore.exceptions.ClientError)


class AppliedFaultsTest(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.world.create_carts()

    def client(self, attempts):
        config = botocore.config.Config(retries={"total_max_attempts": attempts, "mode": "standard"})
        return control_test.server.client("dynamodb", access_key=self.world.account, config=config)

    def rules(self, *rules):
        self.world.ok("PUT", "/faults", {"rules": list(rules)})

    @staticmethod
    def lock(client, owner):
        client.put_item(
            TableName="carts",
            Item={"id": {"S": "lock"}, "owner": {"S": owner}},
            ConditionExpression="attribute_not_exists(id)",
        )

    def owner(self):
        item = self.world.dynamodb.get_item(TableName="carts", Key={"id": {"S": "lock"}}).get("Item")
        return item and item["owner"]["S"]

    def test_a_retried_put_fails_on_the_lock_that_its_first_attempt_took(self):
        for fault in ("connection_closed", "internal_server_error"):
            with self.subTest(fault):
                self.world.dynamodb.delete_item(TableName="carts", Key={"id": {"S": "lock"}})
                self.rules({"operation": "PutItem", "fault": fault, "applied": True, "count": 1})
                client = self.client(attempts=2)
                with self.assertRaises(client.exceptions.ConditionalCheckFailedException):
                    self.lock(client, "nina")
                self.assertEqual(self.owner(), "nina")

    def test_a_retried_put_takes_the_lock_if_the_first_request_was_lost(self):
        for fault in ("connection_closed", "internal_server_error"):
            with self.subTest(fault):
                self.world.dynamodb.delete_item(TableName="carts", Key={"id": {"S": "lock"}})
                self.rules({"operation": "PutItem", "fault": fault, "count": 1})
                self.lock(self.client(attempts=2), "nina")
                self.assertEqual(self.owner(), "nina")

    def test_a_transaction_retried_with_its_token_is_applied_once(self):
        self.rules({"operation": "TransactWriteItems", "fault": "connection_closed", "applied": True, "count": 1})
        update = {
            "TableName": "carts",
            "Key": {"id": {"S": "counter"}},
            "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        self.client(attempts=2).transact_write_items(TransactItems=[{"Update": update}])
        self.assertEqual(self.count(), 1)

    def count(self):
        item = self.world.dynamodb.get_item(TableName="carts", Key={"id": {"S": "counter"}}).get("Item")
        return int(item["n"]["N"]) if item else 0

    def count_together(self, rule):
        """Adds 1 to the counter 400 times from eight threads. Returns how many updates got a response, how many did not, and
        the counter."""
        self.world.dynamodb.delete_item(TableName="carts", Key={"id": {"S": "counter"}})
        self.rules({"operation": "UpdateItem", "probability": 0.3, "seed": 7, **rule})
        answered, lost = [], []

        def add():
            client = self.client(attempts=1)
            for _ in range(50):
                try:
                    client.update_item(
                        TableName="carts",
                        Key={"id": {"S": "counter"}},
                        UpdateExpression="ADD n :one",
                        ExpressionAttributeValues={":one": {"N": "1"}},
                    )
                    answered.append(1)
                except LOST:
                    lost.append(1)

        threads = [threading.Thread(target=add) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (counted,) = self.world.ok("GET", "/faults")["rules"]
        self.assertEqual(counted["struck"], len(lost))
        self.assertGreater(len(lost), 50)
        return len(answered), len(lost), self.count()

    def test_the_counter_counts_exactly_the_applied_updates(self):
        for fault in ("connection_closed", "internal_server_error"):
            for applied in (False, True):
                with self.subTest(fault, applied=applied):
                    answered, lost, count = self.count_together({"fault": fault, "applied": applied})
                    self.assertEqual(answered + lost, 400)
                    self.assertEqual(count, 400 if applied else answered)


if __name__ == "__main__":
    unittest.main()
