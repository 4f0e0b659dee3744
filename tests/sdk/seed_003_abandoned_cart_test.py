"""Detects abandoned shopping carts by expiry: each activity renews a cart's ttl, and an order deletes the cart.

A reader of the table's stream reminds customers of carts that expired. The reader must distinguish the service's deletions
from the customers' deletions, and it acts only on carts that have a customer and products.
"""

import time
import unittest

from mayfly_server import MayflyServer, StreamReader, is_expiry, key_schema, stream

HOUR_SECONDS = 3600


def setUpModule():
    global server
    server = MayflyServer.for_module()


def create_carts(name):
    # Only key attributes are declared; customerid, productids and ttl are not.
    server.create_table(name, {"cartid": "S"}, key_schema("cartid"), ttl="ttl", StreamSpecification=stream())
    return server.client("dynamodb")


def should_remind(record):
    """Implements the event source's filter: the service deleted a cart with a customer and products."""
    cart = record["dynamodb"].get("OldImage", {})
    return is_expiry(record) and "SS" in cart.get("productids", {}) and "S" in cart.get("customerid", {})


class AbandonedCartTest(unittest.TestCase):
    def test_only_abandoned_carts_cause_a_reminder(self):
        dynamodb = create_carts("carts")
        reader = StreamReader(server, "carts")
        ttl = int(time.time()) + 24 * HOUR_SECONDS

        def put(cart_id, expires=ttl, **attributes):
            dynamodb.put_item(
                TableName="carts", Item={"cartid": {"S": cart_id}, "ttl": {"N": str(expires)}, **attributes}
            )

        customer, products = {"S": "nina"}, {"SS": ["piano", "stool"]}
        put("abandoned", customerid=customer, productids=products)
        put("ordered", customerid=customer, productids=products)
        put("renewed", customerid=customer, productids=products)
        put("anonymous", productids=products)
        put("empty", customerid=customer)
        # The customer orders, so the customer deletes the cart.
        dynamodb.delete_item(TableName="carts", Key={"cartid": {"S": "ordered"}})
        # The customer adds a product, so the cart expires later.
        dynamodb.update_item(
            TableName="carts",
            Key={"cartid": {"S": "renewed"}},
            UpdateExpression="ADD productids :more SET #ttl = :ttl",
            ExpressionAttributeNames={"#ttl": "ttl"},
            ExpressionAttributeValues={":more": {"SS": ["metronome"]}, ":ttl": {"N": str(ttl + 2 * HOUR_SECONDS)}},
        )

        server.advance(25 * HOUR_SECONDS)
        removed = reader.removed()
        by_cart = {record["dynamodb"]["Keys"]["cartid"]["S"]: record for record in removed}
        self.assertEqual(
            {cart: is_expiry(record) for cart, record in by_cart.items()},
            {"abandoned": True, "anonymous": True, "empty": True, "ordered": False},
        )
        reminders = [record for record in reader.records if should_remind(record)]
        self.assertEqual(
            [record["dynamodb"]["OldImage"] for record in reminders],
            [
                {
                    "cartid": {"S": "abandoned"},
                    "customerid": customer,
                    "productids": products,
                    "ttl": {"N": str(ttl)},
                }
            ],
        )
        carts = dynamodb.scan(TableName="carts")["Items"]
        self.assertEqual([cart["cartid"]["S"] for cart in carts], ["renewed"])
        self.assertEqual(sorted(carts[0]["productids"]["SS"]), ["metronome", "piano", "stool"])


if __name__ == "__main__":
    unittest.main()
