"""Tests typical uses of DynamoDB from Python, with Debian's boto3."""

import time
import unittest
from decimal import Decimal

from boto3.dynamodb.conditions import Attr, Key
from botocore.exceptions import ClientError

from mayfly_server import MayflyServer, StreamReader, index, is_expiry, key_schema, stream


def setUpModule():
    global server
    server = MayflyServer.for_module()


def create_music(name):
    """Creates a table of songs, keyed by artist and song, with a local index by year and a sparse global index by genre. TTL
    and a stream are enabled."""
    return server.create_table(
        name,
        {"artist": "S", "song": "S", "year": "N", "genre": "S"},
        key_schema("artist", "song"),
        ttl="ttl",
        LocalSecondaryIndexes=[index("by_year", "artist", "year")],
        GlobalSecondaryIndexes=[index("by_genre", "genre", projection="KEYS_ONLY")],
        StreamSpecification=stream(),
    )


class Boto3Test(unittest.TestCase):
    def test_an_item_is_read_back_unchanged(self):
        table = create_music("values")
        item = {
            "artist": "Nina",
            "song": "Feeling Good",
            "year": Decimal("1965"),
            "rating": Decimal("9.87654321098765432109876543210987654321"[:39]),
            "live": False,
            "label": None,
            "cover": b"\x00\xff",
            "tags": {"jazz", "soul"},
            "charts": {Decimal(1), Decimal("2.5")},
            "credits": [{"name": "Newley"}, ["Bricusse", {}]],
        }
        table.put_item(Item=item)
        read = table.get_item(Key={"artist": "Nina", "song": "Feeling Good"}, ConsistentRead=True)["Item"]
        read["cover"] = read["cover"].value
        self.assertEqual(read, item)

    def test_queries_and_scans_page_through_tables_and_indexes(self):
        table = create_music("pages")
        with table.batch_writer() as batch:
            for number in range(60):
                song = {"artist": "Nina", "song": f"song {number:02}", "year": 2000 - number}
                if number % 3 == 0:
                    song["genre"] = "jazz"
                batch.put_item(Item=song)

        def read_all(read, **request):
            items = []
            while True:
                answer = read(Limit=7, **request)
                items += answer["Items"]
                if "LastEvaluatedKey" not in answer:
                    return items
                request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

        artist = Key("artist").eq("Nina")
        songs = [item["song"] for item in read_all(table.query, KeyConditionExpression=artist)]
        self.assertEqual(songs, [f"song {number:02}" for number in range(60)])
        songs = [
            item["song"]
            for item in read_all(
                table.query,
                KeyConditionExpression=artist & Key("song").between("song 10", "song 14"),
                ScanIndexForward=False,
            )
        ]
        self.assertEqual(songs, ["song 14", "song 13", "song 12", "song 11", "song 10"])
        years = [
            item["year"]
            for item in read_all(
                table.query,
                IndexName="by_year",
                KeyConditionExpression=artist & Key("year").lt(1950),
                FilterExpression=Attr("genre").not_exists(),
            )
        ]
        self.assertEqual(years, [2000 - number for number in range(59, 50, -1) if number % 3 != 0])
        jazz = read_all(table.query, IndexName="by_genre", KeyConditionExpression=Key("genre").eq("jazz"))
        self.assertEqual(len(jazz), 20)
        self.assertEqual({frozenset(item) for item in jazz}, {frozenset({"artist", "song", "genre"})})
        self.assertEqual(len(read_all(table.scan)), 60)
        segments = [read_all(table.scan, Segment=segment, TotalSegments=3) for segment in range(3)]
        self.assertEqual(sum(map(len, segments)), 60)

    def test_updates_and_deletes_can_be_conditional(self):
        table = create_music("conditions")
        key = {"artist": "Nina", "song": "Sinnerman"}
        answer = table.update_item(
            Key=key,
            UpdateExpression="SET plays = if_not_exists(plays, :none) + :one ADD tags :tags",
            ExpressionAttributeValues={":none": 0, ":one": 1, ":tags": {"live"}},
            ReturnValues="ALL_NEW",
        )
        self.assertEqual(answer["Attributes"], {**key, "plays": 1, "tags": {"live"}})
        with self.assertRaises(ClientError) as raised:
            table.delete_item(Key=key, ConditionExpression=Attr("plays").gt(1))
        self.assertEqual(
            raised.exception.response["Error"],
            {"Code": "ConditionalCheckFailedException", "Message": "The conditional request failed"},
        )
        answer = table.delete_item(Key=key, ConditionExpression=Attr("plays").eq(1), ReturnValues="ALL_OLD")
        self.assertEqual(answer["Attributes"]["plays"], 1)
        self.assertNotIn("Item", table.get_item(Key=key))

    def test_an_expiry_removes_the_item_and_its_index_entries_and_writes_one_service_record(self):
        table = create_music("expiry")
        reader = StreamReader(server, "expiry")
        ttl = int(time.time()) + 3600
        stays = {"artist": "Nina", "song": "stays", "year": 1, "genre": "jazz", "ttl": ttl + 24 * 3600}
        goes = {"artist": "Nina", "song": "goes", "year": 2, "genre": "jazz", "ttl": ttl}
        deleted = {"artist": "Nina", "song": "deleted", "year": 3, "genre": "jazz", "ttl": ttl}
        for item in (stays, goes, deleted):
            table.put_item(Item=item)
        table.delete_item(Key={"artist": "Nina", "song": "deleted"})

        self.assertEqual(server.advance(2 * 3600)["tables"], {"expiry": 1})
        removed = reader.removed()
        by_song = {record["dynamodb"]["Keys"]["song"]["S"]: record for record in removed}
        self.assertEqual(set(by_song), {"deleted", "goes"})
        self.assertNotIn("userIdentity", by_song["deleted"])
        record = by_song["goes"]
        self.assertEqual(record["userIdentity"], {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"})
        self.assertNotIn("NewImage", record["dynamodb"])
        # The item expired during the advance, not at its end.
        self.assertEqual(record["dynamodb"]["ApproximateCreationDateTime"].timestamp(), ttl)
        self.assertEqual(
            record["dynamodb"]["OldImage"],
            {
                "artist": {"S": "Nina"},
                "song": {"S": "goes"},
                "year": {"N": "2"},
                "genre": {"S": "jazz"},
                "ttl": {"N": str(ttl)},
            },
        )
        for answer in (
            table.scan(),
            table.query(KeyConditionExpression=Key("artist").eq("Nina")),
            table.query(IndexName="by_year", KeyConditionExpression=Key("artist").eq("Nina")),
            table.query(IndexName="by_genre", KeyConditionExpression=Key("genre").eq("jazz")),
        ):
            self.assertEqual([item["song"] for item in answer["Items"]], ["stays"])
        self.assertEqual([is_expiry(record) for record in removed].count(True), 1)

    def test_accounts_are_isolated(self):
        create_music("worlds")
        self.assertIn("worlds", server.client("dynamodb", "anybody").list_tables()["TableNames"])
        self.assertEqual(server.client("dynamodb", "000000000042").list_tables()["TableNames"], [])

    def test_a_missing_table_raises_boto3s_exception(self):
        dynamodb = server.client("dynamodb")
        with self.assertRaises(dynamodb.exceptions.ResourceNotFoundException) as raised:
            dynamodb.describe_table(TableName="nowhere")
        self.assertEqual(
            raised.exception.response["Error"]["Message"],
            "Requested resource not found: Table: nowhere not found",
        )


if __name__ == "__main__":
    unittest.main()
