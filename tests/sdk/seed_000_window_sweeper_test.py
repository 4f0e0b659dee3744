"""Tests expiry windows and their sweeper, as described in "Improving DynamoDB's TTL accuracy to minutes (or better)".

Each item stores the name of the minute in which it expires. A job that runs every minute finds expired items through a
global index on that name and deletes them. The published job has an off-by-one error: its windows are (start, end], but it
queries ttl < end, so it never sweeps an item whose ttl is exactly the window's end. DynamoDB keeps that item, and
so does Mayfly while TTL is disabled. With TTL enabled, Mayfly removes the item on time without a sweeper.
"""

import datetime
import time
import unittest

from boto3.dynamodb.conditions import Attr, Key
from botocore.exceptions import ClientError

from mayfly_server import MayflyServer, StreamReader, index, is_expiry, key_schema, stream

WINDOW_SECONDS = 60


def setUpModule():
    global server
    server = MayflyServer.for_module()


def iso(epoch):
    return datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def window_of(epoch):
    """Returns the name of the window that contains `epoch`, with the published bounds (start, end]: "2022-07-19T21:27:00.000Z_2022-07-19T21:28:00.000Z"."""
    end = -(-epoch // WINDOW_SECONDS) * WINDOW_SECONDS
    start = (epoch - 1) // WINDOW_SECONDS * WINDOW_SECONDS
    return f"{iso(start)}_{iso(end)}"


def half_open_window_of(epoch):
    """Returns the name of the window that contains `epoch`, with the corrected bounds [start, end)."""
    start = epoch // WINDOW_SECONDS * WINDOW_SECONDS
    return f"{iso(start)}_{iso(start + WINDOW_SECONDS)}"


def create_table(name, ttl=None):
    return server.create_table(
        name,
        {"itemId": "S", "expirationWindow": "S", "ttl": "N"},
        key_schema("itemId"),
        ttl,
        GlobalSecondaryIndexes=[index("expirationWindowIndex", "expirationWindow", "ttl")],
        StreamSpecification=stream(),
    )


def expired_in(table, window, now):
    """Yields all items in a window's partition with ttl < now, page by page."""
    request = {
        "IndexName": "expirationWindowIndex",
        "KeyConditionExpression": Key("expirationWindow").eq(window) & Key("ttl").lt(now),
    }
    while True:
        answer = table.query(**request)
        yield from answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def published_sweep(table, now):
    """The published job, which runs every minute on the minute. Unconditionally deletes everything that it finds, 25 items at
    a time."""
    with table.batch_writer() as batch:
        for item in expired_in(table, window_of(now), now):
            batch.delete_item(Key={"itemId": item["itemId"]})


def corrected_sweep(table, now, since):
    """The corrected job. Uses half-open windows, starts at the window that was swept last, and leaves renewed items alone."""
    for start in range(since // WINDOW_SECONDS * WINDOW_SECONDS, now, WINDOW_SECONDS):
        for item in expired_in(table, half_open_window_of(start), now):
            try:
                table.delete_item(
                    Key={"itemId": item["itemId"]}, ConditionExpression=Attr("ttl").eq(item["ttl"])
                )
            except ClientError as error:
                if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                    raise


def item_ids(table):
    return sorted(item["itemId"] for item in table.scan()["Items"])


class WindowSweeperTest(unittest.TestCase):
    def setUp(self):
        # The end of a minute in the distant past, so that no test has to wait. TTL is disabled except in the last test.
        self.end = 1_658_266_080  # 2022-07-19T21:28:00Z

    def put(self, table, item_id, ttl, window=window_of):
        table.put_item(Item={"itemId": item_id, "ttl": ttl, "expirationWindow": window(ttl)})

    def test_a_window_is_named_by_its_start_and_end(self):
        self.assertEqual(window_of(self.end - 1), "2022-07-19T21:27:00.000Z_2022-07-19T21:28:00.000Z")
        self.assertEqual(window_of(self.end), "2022-07-19T21:27:00.000Z_2022-07-19T21:28:00.000Z")
        self.assertEqual(half_open_window_of(self.end), "2022-07-19T21:28:00.000Z_2022-07-19T21:29:00.000Z")

    def test_the_published_sweeper_misses_an_item_whose_ttl_is_the_windows_end(self):
        table = create_table("published")
        for second in range(1, WINDOW_SECONDS + 1):
            self.put(table, f"{second:02}", self.end - WINDOW_SECONDS + second)
        published_sweep(table, self.end)
        self.assertEqual(item_ids(table), ["60"])
        # The next run queries the next window, so the remaining item is never swept.
        published_sweep(table, self.end + WINDOW_SECONDS)
        self.assertEqual(item_ids(table), ["60"])

    def test_the_corrected_sweeper_deletes_exactly_the_expired_items(self):
        table = create_table("corrected")
        for second in range(1, WINDOW_SECONDS + 1):
            self.put(table, f"{second:02}", self.end - WINDOW_SECONDS + second, half_open_window_of)
        self.put(table, "later", self.end + 5, half_open_window_of)
        corrected_sweep(table, self.end, self.end - WINDOW_SECONDS)
        # An item with ttl == now has not expired: its ttl must be "less than the current time".
        self.assertEqual(item_ids(table), ["60", "later"])
        corrected_sweep(table, self.end + WINDOW_SECONDS, self.end)
        self.assertEqual(item_ids(table), [])

    def test_a_filter_for_deletions_by_the_service_does_not_match_a_sweepers_deletions(self):
        table = create_table("customers")
        reader = StreamReader(server, "customers")
        self.put(table, "swept", self.end - 1)
        published_sweep(table, self.end)
        removed = reader.removed()
        self.assertEqual([is_expiry(record) for record in removed], [False])

    def test_with_ttl_enabled_no_sweeper_is_needed(self):
        table = create_table("exact", ttl="ttl")
        reader = StreamReader(server, "exact")
        ttl = int(time.time()) + 3600
        self.put(table, "goes", ttl)
        self.put(table, "stays", ttl + 24 * 3600)
        server.advance(2 * 3600)
        removed = reader.removed()
        self.assertEqual([record["dynamodb"]["Keys"]["itemId"]["S"] for record in removed], ["goes"])
        self.assertTrue(is_expiry(removed[0]))
        self.assertEqual(list(expired_in(table, window_of(ttl), ttl + 1)), [])
        self.assertEqual(item_ids(table), ["stays"])


if __name__ == "__main__":
    unittest.main()
