"""Tests code that forgets ConsistentRead: it passes while reads see the latest state, and fails when reads are stale, as on
AWS.

The code under test is a shop that writes items and immediately reads them by key, with a query and through a global index.
"""

import unittest

import control_test
from control_test import World


def setUpModule():
    control_test.setUpModule()


class Shop:
    """Stores customers' orders. `consistent` says whether the shop's reads use ConsistentRead."""

    def __init__(self, dynamodb, consistent):
        self.dynamodb = dynamodb
        self.consistent = consistent

    def create(self):
        self.dynamodb.create_table(
            TableName="orders",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("customer", "order", "status")
            ],
            KeySchema=[
                {"AttributeName": "customer", "KeyType": "HASH"},
                {"AttributeName": "order", "KeyType": "RANGE"},
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "by_status",
                    "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        )

    @staticmethod
    def key(order):
        return {"customer": {"S": "nina"}, "order": {"S": order}}

    def place(self, order):
        self.dynamodb.put_item(TableName="orders", Item={**self.key(order), "status": {"S": "open"}})

    def pay(self, order):
        """Pays for the order, reads the order again and returns the status that the read found."""
        self.dynamodb.update_item(
            TableName="orders",
            Key=self.key(order),
            UpdateExpression="SET #s = :paid",
            ConditionExpression="#s = :open",
            ExpressionAttributeNames={"#s": "status"},
            ExpressionAttributeValues={":paid": {"S": "paid"}, ":open": {"S": "open"}},
        )
        item = self.dynamodb.get_item(TableName="orders", Key=self.key(order), ConsistentRead=self.consistent)
        return item["Item"]["status"]["S"]

    def orders(self):
        pages = self.dynamodb.get_paginator("query").paginate(
            TableName="orders",
            KeyConditionExpression="customer = :c",
            ExpressionAttributeValues={":c": {"S": "nina"}},
            ConsistentRead=self.consistent,
            PaginationConfig={"PageSize": 2},
        )
        return [item["order"]["S"] for page in pages for item in page["Items"]]

    def orders_by_status(self, status):
        found = self.dynamodb.query(
            TableName="orders",
            IndexName="by_status",
            KeyConditionExpression="#s = :s",
            ExpressionAttributeNames={"#s": "status"},
            ExpressionAttributeValues={":s": {"S": status}},
        )
        return sorted(item["order"]["S"] for item in found["Items"])


class StaleReadsTest(unittest.TestCase):
    def open(self, consistent, *rules):
        self.world = World()
        shop = Shop(self.world.dynamodb, consistent)
        shop.create()
        for order in ("1", "2", "3"):
            shop.place(order)
        self.world.ok("PUT", "/faults", {"rules": list(rules)})
        return shop

    def test_code_without_consistent_read_passes_without_a_stale_reads_rule(self):
        shop = self.open(False)
        self.assertEqual(shop.pay("1"), "paid")
        self.assertEqual(shop.orders_by_status("paid"), ["1"])

    def test_code_without_consistent_read_fails_under_a_stale_reads_rule(self):
        shop = self.open(False, {"fault": "stale_reads", "table": "orders", "writes": 1})
        self.assertEqual(shop.pay("1"), "open")
        shop.place("4")
        self.assertEqual(shop.orders(), ["1", "2", "3"])

    def test_code_with_consistent_read_passes_under_a_stale_reads_rule(self):
        shop = self.open(True, {"fault": "stale_reads", "table": "orders", "writes": 1})
        self.assertEqual(shop.pay("1"), "paid")
        shop.place("4")
        self.assertEqual(shop.orders(), ["1", "2", "3", "4"])

    def test_a_global_index_lags_even_if_the_table_is_read_consistently(self):
        shop = self.open(True, {"fault": "stale_reads", "milliseconds": 800})
        self.world.freeze()
        self.assertEqual(shop.pay("1"), "paid")
        self.assertEqual(shop.orders_by_status("paid"), [])
        self.assertEqual(shop.orders_by_status("open"), ["1", "2", "3"])
        self.world.advance(seconds=1)
        self.assertEqual(shop.orders_by_status("paid"), ["1"])
        self.assertEqual(shop.orders_by_status("open"), ["2", "3"])

    def test_settling_makes_all_writes_visible(self):
        shop = self.open(False, {"fault": "stale_reads", "writes": 100, "seed": 3})
        shop.place("4")
        self.world.advance(seconds=0, settle="triggers")
        self.assertEqual(shop.orders(), ["1", "2", "3", "4"])
        self.assertEqual(shop.orders_by_status("open"), ["1", "2", "3", "4"])

    def test_repeated_reads_see_a_write_eventually_and_from_then_on(self):
        shop = self.open(False, {"fault": "stale_reads", "writes": 3, "probability": 0.9, "seed": 5})
        shop.place("4")
        seen = ["4" in shop.orders_by_status("open") for _ in range(100)]
        self.assertIn(False, seen)
        self.assertTrue(seen[-1])
        self.assertEqual(seen, sorted(seen))

    def test_a_transaction_is_visible_completely_or_not_at_all(self):
        shop = self.open(False, {"fault": "stale_reads", "writes": 4, "seed": 11})
        put = lambda order: {
            "Put": {"TableName": "orders", "Item": {**Shop.key(order), "status": {"S": "open"}}}
        }
        for number in range(10, 40, 2):
            pair = [str(number), str(number + 1)]
            self.world.dynamodb.transact_write_items(TransactItems=[put(order) for order in pair])
            found = shop.orders_by_status("open")
            for first in range(10, number + 1, 2):
                self.assertEqual(str(first) in found, str(first + 1) in found)


if __name__ == "__main__":
    unittest.main()
