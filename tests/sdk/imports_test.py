"""Tests imports and bulk puts with boto3 and local directories as buckets: the examples of docs/imports.md, the handling of
bad lines, and a server that is killed during an import."""

import gzip
import json
import pathlib
import struct
import tempfile
import unittest

from mayfly_server import Client, MayflyServer, eventually, key_schema

TABLE = {
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": key_schema("id"),
}


def lines(items):
    return "".join(json.dumps({"Item": item}) + "\n" for item in items).encode()


def zstd(text):
    """Returns a Zstandard frame of raw blocks. Every decoder can read them, and no encoder is needed to write them."""
    blocks = [text[at : at + 100_000] for at in range(0, len(text), 100_000)]
    frame = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(text))
    for number, block in enumerate(blocks):
        frame += struct.pack("<I", (len(block) << 3) | (number == len(blocks) - 1))[:3] + block
    return frame


class Bucket:
    """A directory that a server uses as a bucket."""

    def __init__(self, test, name):
        directory = tempfile.TemporaryDirectory(prefix="mayfly-bucket-")
        test.addCleanup(directory.cleanup)
        self.name, self.path = name, pathlib.Path(directory.name)
        self.option = ("--bucket", f"{name}={directory.name}")

    def put(self, key, content):
        path = self.path / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


class Imports(unittest.TestCase):
    def setUp(self):
        self.bucket = Bucket(self, "in")
        self.out = Bucket(self, "out")
        self.server = MayflyServer(*self.bucket.option, *self.out.option)
        self.addCleanup(lambda: self.server.stop())
        self.dynamodb = self.server.client("dynamodb")
        self.raw = Client(self.server)
        self.addCleanup(self.raw.close)

    def start(self, table, prefix, **request):
        return self.dynamodb.import_table(
            S3BucketSource={"S3Bucket": "in", "S3KeyPrefix": prefix},
            TableCreationParameters={"TableName": table, **TABLE},
            **{"InputFormat": "DYNAMODB_JSON", **request},
        )["ImportTableDescription"]["ImportArn"]

    def over(self, arn):
        def ended():
            shown = self.dynamodb.describe_import(ImportArn=arn)["ImportTableDescription"]
            return shown if shown["ImportStatus"] != "IN_PROGRESS" else None

        return eventually(ended, 60)

    def items(self, table):
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=table)
        return {item["id"]["S"]: item for page in pages for item in page["Items"]}

    def operation(self, name, body):
        """Calls an operation that Debian's boto3 does not support, and returns its response."""
        status, answer = self.raw.operation(name, body)
        self.assertEqual(status, 200, answer)
        return json.loads(answer)

    def test_every_format_and_compression_imports_the_same_table(self):
        items = [{"id": {"S": str(n)}, "n": {"N": str(n)}, "text": {"S": "x" * (n % 200)}} for n in range(3000)]
        text = lines(items)
        self.bucket.put("plain/a.json", text)
        self.bucket.put("gzip/a.json.gz", gzip.compress(text[: len(text) // 2]) + gzip.compress(text[len(text) // 2 :]))
        self.bucket.put("zstd/a.json.zst", zstd(text))
        ion = "".join(
            "{Item:{id:%s,n:%s.,text:%s}}\n" % (json.dumps(i["id"]["S"]), i["n"]["N"], json.dumps(i["text"]["S"]))
            for i in items
        )
        self.bucket.put("ion/a.ion", b"$ion_1_0\n" + ion.encode())
        wanted = {item["id"]["S"]: item for item in items}
        for name, request in {
            "plain": {},
            "gzip": {"InputCompressionType": "GZIP"},
            "zstd": {"InputCompressionType": "ZSTD"},
            "ion": {"InputFormat": "ION"},
        }.items():
            with self.subTest(name):
                shown = self.over(self.start(name + "-table", name + "/", **request))
                self.assertEqual(shown["ImportStatus"], "COMPLETED", shown)
                self.assertEqual(shown["ImportedItemCount"], 3000)
                self.assertEqual(shown["ProcessedItemCount"], 3000)
                self.assertEqual(shown["ErrorCount"], 0)
                self.assertEqual(self.items(name + "-table"), wanted)
        self.assertEqual(len(self.dynamodb.list_imports()["ImportSummaryList"]), 4)

    def test_exported_items_are_imported_unchanged(self):
        self.dynamodb.create_table(TableName="carts", **TABLE)
        self.dynamodb.update_continuous_backups(
            TableName="carts", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        values = [
            {"S": 'quotes " and \\ and \n and ü \U0001f409'},
            {"N": "-1.5"},
            {"N": "12345678901234567890123456789012345678"},
            {"N": "0.000001"},
            {"N": "1" + "0" * 20},
            {"B": bytes(range(256))},
            {"SS": ["a", "b"]},
            {"NS": ["1", "2.5"]},
            {"BS": [b"\x00", b"\xff"]},
            {"BOOL": False},
            {"NULL": True},
            {"L": [{"S": ""}, {"M": {"x y": {"L": []}}}]},
            {"M": {"1": {"N": "1"}, "true": {"BOOL": True}, "": {"S": "no name"}}},
        ]
        for number in range(200):
            self.dynamodb.put_item(
                TableName="carts", Item={"id": {"S": str(number)}, "value": values[number % len(values)]}
            )
        wanted = self.items("carts")
        for format in "DYNAMODB_JSON", "ION":
            with self.subTest(format):
                arn = self.dynamodb.export_table_to_point_in_time(
                    TableArn="arn:aws:dynamodb:us-east-1:000000000000:table/carts",
                    S3Bucket="out",
                    S3Prefix="exports",
                    ExportFormat=format,
                )["ExportDescription"]["ExportArn"]
                self.assertTrue(self.server.control("POST", "jobs/await", {"timeout_seconds": 60})["settled"])
                export = self.dynamodb.describe_export(ExportArn=arn)["ExportDescription"]
                self.assertEqual(export["ExportStatus"], "COMPLETED", export)
                again = self.dynamodb.import_table(
                    S3BucketSource={"S3Bucket": "out", "S3KeyPrefix": f"exports/AWSDynamoDB/{arn.split('/')[-1]}/data/"},
                    InputFormat=format,
                    InputCompressionType="GZIP",
                    TableCreationParameters={"TableName": "again-" + format, **TABLE},
                )["ImportTableDescription"]["ImportArn"]
                shown = self.over(again)
                self.assertEqual(shown["ImportStatus"], "COMPLETED", shown)
                self.assertEqual(shown["ImportedItemCount"], 200)
                self.assertEqual(self.items("again-" + format), wanted)

    def test_bad_csv_lines_are_counted_and_logged_and_good_ones_are_imported(self):
        self.bucket.put("a.csv", b"id,n\n1,one\n,two\n3,three,3\n4,four\n")
        self.bucket.put("b.csv", b'id,n\n5,"five\n')
        shown = self.over(self.start("carts", "", InputFormat="CSV"))
        self.assertEqual(shown["ImportStatus"], "FAILED")
        self.assertEqual(shown["FailureCode"], "ItemValidationError")
        self.assertEqual((shown["ProcessedItemCount"], shown["ImportedItemCount"], shown["ErrorCount"]), (5, 2, 3))
        self.assertEqual(self.dynamodb.describe_table(TableName="carts")["Table"]["TableStatus"], "ACTIVE")
        self.assertEqual(
            self.items("carts"),
            {"1": {"id": {"S": "1"}, "n": {"S": "one"}}, "4": {"id": {"S": "4"}, "n": {"S": "four"}}},
        )
        job = self.server.control("GET", "jobs")["jobs"][0]
        self.assertEqual((job["kind"], job["table"], job["status"], job["percent"]), ("import", "carts", "FAILED", 100))
        log = self.server.control("GET", f"jobs/{job['id']}/log")["lines"]
        self.assertEqual(
            [(line["itemS3Pointer"]["key"], line["itemS3Pointer"]["itemIndex"]) for line in log],
            [("a.csv", 1), ("a.csv", 2), ("b.csv", 0)],
        )
        self.assertEqual({line["importArn"] for line in log}, {job["arn"]})
        self.assertEqual(
            log[0]["errorMessages"], ["One or more parameter values were invalid: Missing the key id in the item"]
        )

    def test_a_missing_bucket_fails_the_import_and_creates_no_table(self):
        arn = self.dynamodb.import_table(
            S3BucketSource={"S3Bucket": "nobodys"},
            InputFormat="CSV",
            TableCreationParameters={"TableName": "ghost", **TABLE},
        )["ImportTableDescription"]["ImportArn"]
        self.assertEqual(self.over(arn)["FailureCode"], "S3NoSuchBucket")
        self.assertEqual(self.dynamodb.list_tables()["TableNames"], [])

    def test_a_table_has_the_status_creating_and_cannot_be_changed_during_its_import(self):
        self.bucket.put("a.json", lines({"id": {"S": str(n)}, "x": {"S": "x" * 300}} for n in range(60_000)))
        arn = self.start("carts", "")
        errors = self.dynamodb.exceptions
        eventually(lambda: "carts" in self.dynamodb.list_tables()["TableNames"])
        states, percents = [], []
        while True:
            status = self.dynamodb.describe_table(TableName="carts")["Table"]["TableStatus"]
            shown = self.dynamodb.describe_import(ImportArn=arn)["ImportTableDescription"]
            if shown["ImportStatus"] != "IN_PROGRESS":
                break
            states.append(status)
            percents.append(self.server.control("GET", "jobs")["jobs"][0]["percent"])
            if status == "CREATING" and percents[-1] < 50:  # the import cannot finish before the next call
                try:
                    self.dynamodb.delete_table(TableName="carts")
                    self.fail("a table that is being imported was deleted")
                except errors.ResourceInUseException:
                    pass
        self.assertIn("CREATING", states)
        self.assertEqual(percents, sorted(percents))
        self.assertTrue(any(0 < percent < 100 for percent in percents), percents)
        self.assertEqual(shown["ImportStatus"], "COMPLETED")
        self.assertEqual(len(self.items("carts")), 60_000)

    def test_a_canceled_bulk_put_keeps_the_items_it_has_put(self):
        self.dynamodb.create_table(TableName="carts", **TABLE)
        self.bucket.put("a.json", lines({"id": {"S": str(n)}} for n in range(50_000)))
        arn = self.operation(
            "StartBulkPutItems",
            {
                "TableName": "carts",
                "InputS3Configuration": {"S3Bucket": "in", "InputFormat": "DYNAMODB_JSON"},
                "OutputS3Configuration": {"S3Bucket": "out", "OutputType": ["ERROR"]},
                "MaxWriteRequestUnits": 1024,
            },
        )["BulkOperationDescription"]["BulkOperationArn"]

        def shown():
            return self.operation("DescribeBulkOperation", {"BulkOperationArn": arn})["BulkOperationDescription"]

        eventually(lambda: shown().get("ProcessedItemCount", 0) > 0)
        cancelled = self.operation("CancelBulkOperation", {"BulkOperationArn": arn})
        self.assertEqual(cancelled, {"BulkOperationArn": arn, "BulkOperationStatus": "CANCELLING"})
        end = eventually(lambda: shown() if shown()["BulkOperationStatus"] == "CANCELLED" else None)
        put = len(self.items("carts"))
        self.assertGreater(put, 0)
        self.assertLess(put, 50_000)
        self.assertLessEqual(put, end["ProcessedItemCount"])
        self.assertEqual(list(self.out.path.iterdir()), [])

    def test_a_bulk_put_reports_the_items_it_did_not_put(self):
        self.dynamodb.create_table(TableName="carts", **TABLE)
        self.dynamodb.put_item(TableName="carts", Item={"id": {"S": "2"}, "v": {"N": "0"}})
        condition = {"ConditionExpression": "attribute_not_exists(id)"}
        self.bucket.put(
            "a.json",
            b"".join(
                json.dumps(line).encode() + b"\n"
                for line in [
                    {"Item": {"id": {"S": "1"}}, **condition},
                    {"Item": {"id": {"S": "2"}}, **condition},
                    {"Item": {"v": {"S": "3"}}},
                ]
            ),
        )
        arn = self.operation(
            "StartBulkPutItems",
            {
                "TableName": "carts",
                "InputS3Configuration": {"S3Bucket": "in", "InputFormat": "DYNAMODB_JSON"},
                "OutputS3Configuration": {
                    "S3Bucket": "out",
                    "S3KeyPrefix": "reports",
                    "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"],
                },
            },
        )["BulkOperationDescription"]["BulkOperationArn"]
        self.assertTrue(self.server.control("POST", "jobs/await", {"timeout_seconds": 30})["settled"])
        shown = self.operation("DescribeBulkOperation", {"BulkOperationArn": arn})["BulkOperationDescription"]
        self.assertEqual(shown["BulkOperationStatus"], "COMPLETED_WITH_ERRORS")
        reports = self.out.path / "reports" / "AWSDynamoDB" / arn.split("/")[-1]
        manifest = json.loads((reports / "manifest.json").read_text())
        self.assertEqual(
            {file["outputType"]: file["itemCount"] for file in manifest["files"]},
            {"ERROR": 1, "CONDITION_CHECK_FAILURE": 1},
        )
        for file in manifest["files"]:
            line = json.loads((self.out.path / file["key"]).read_text())
            self.assertEqual(line["bulkOperationArn"], arn)
            if file["outputType"] == "ERROR":
                self.assertEqual(line["itemS3Pointer"], {"bucket": "in", "key": "a.json", "itemIndex": 2})
            else:
                self.assertEqual(line["attemptedItem"], {"id": {"S": "2"}})
                self.assertEqual(line["existingItem"], {"id": {"S": "2"}, "v": {"N": "0"}})


class Killed(unittest.TestCase):
    def test_an_import_interrupted_by_a_crash_is_reported_as_failed_and_its_table_keeps_earlier_items(self):
        bucket = Bucket(self, "in")
        for n in range(4):
            bucket.put(f"{n}.json", lines({"id": {"S": f"{n}-{m}"}, "x": {"S": "x" * 500}} for m in range(60_000)))
        data = tempfile.TemporaryDirectory(prefix="mayfly-data-")
        self.addCleanup(data.cleanup)
        arguments = ("--data", data.name, *bucket.option)
        server = MayflyServer(*arguments)
        dynamodb = server.client("dynamodb")
        arn = dynamodb.import_table(
            S3BucketSource={"S3Bucket": "in"},
            InputFormat="DYNAMODB_JSON",
            TableCreationParameters={"TableName": "carts", **TABLE},
        )["ImportTableDescription"]["ImportArn"]

        def shown(client):
            return client.describe_import(ImportArn=arn)["ImportTableDescription"]

        eventually(lambda: shown(dynamodb).get("ProcessedSizeBytes", 0) > 0)
        before = shown(dynamodb)
        self.assertEqual(before["ImportStatus"], "IN_PROGRESS")
        self.assertEqual([before[f"{name}Count"] for name in ("ProcessedItem", "ImportedItem", "Error")], [0, 0, 0])
        server.kill()

        with tempfile.NamedTemporaryFile(prefix="mayfly-log-") as log:
            server = MayflyServer(*arguments, log=log)
            self.addCleanup(server.stop)
            dynamodb = server.client("dynamodb")
            after = shown(dynamodb)
            self.assertEqual(after["ImportStatus"], "FAILED")
            self.assertEqual(after["FailureCode"], "InternalServerError")
            self.assertGreater(after["ImportedItemCount"], 0)
            said = pathlib.Path(log.name).read_text()
            self.assertIn(f"the import {arn} failed because the server stopped while it was running", said)
        self.assertEqual(dynamodb.describe_table(TableName="carts")["Table"]["TableStatus"], "ACTIVE")
        pages = dynamodb.get_paginator("scan").paginate(TableName="carts", Select="COUNT")
        self.assertGreaterEqual(sum(page["Count"] for page in pages), after["ImportedItemCount"])


if __name__ == "__main__":
    unittest.main()
