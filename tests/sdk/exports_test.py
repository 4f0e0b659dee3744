"""Reads exports with independent readers: Python's gzip, json and hashlib, and a small Ion parser.

The test writes items over several virtual days, some of them with a TTL, and keeps a model of the table. Then it makes full
exports at random seconds and incremental exports of random windows, and compares each file with the model. Debian's boto3
does not support incremental exports or filters yet, so the test sends those requests as JSON, as newer SDKs do.
"""

import base64
import collections
import datetime
import gzip
import hashlib
import json
import pathlib
import random
import resource
import signal
import socket
import tempfile
import unittest
import urllib.error
import urllib.request
from decimal import Decimal

import botocore.exceptions

from mayfly_server import ACCESS_KEY, REGION, MayflyServer, eventually, key_schema

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"
START = 1_924_992_000  # 2031-01-01T00:00:00Z
MINUTE, HOUR, DAY = 60, 3600, 86400


def operation(server, name, body):
    """Calls an operation and returns (status, response)."""
    request = urllib.request.Request(
        server.url,
        json.dumps(body).encode(),
        {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{name}",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/20260101/{REGION}/dynamodb/aws4_request, "
            "SignedHeaders=host, Signature=0",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.load(refusal)


class Exporter:
    """A server with a bucket, a table with point-in-time recovery, and the table's exports."""

    def __init__(self, test, *arguments, **options):
        directory = tempfile.TemporaryDirectory(prefix="mayfly-bucket-")
        test.addCleanup(directory.cleanup)
        self.bucket = pathlib.Path(directory.name)
        self.server = MayflyServer("--bucket", f"exports={self.bucket}", *arguments, **options)
        test.addCleanup(self.stop)
        self.dynamodb = self.server.client("dynamodb")

    def stop(self):
        if self.server:
            self.server.stop()

    def create(self, name="carts", ttl=None):
        self.server.control("PUT", "clock", {"mode": "frozen", "now": "2031-01-01T00:00:00Z"})
        table = self.server.create_table(name, {"id": "S"}, key_schema("id"), ttl=ttl)
        self.dynamodb.update_continuous_backups(
            TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        self.server.advance(1)
        return table

    def export(self, **request):
        """Exports the table, waits until the export has finished, and returns its description."""
        status, answer = operation(
            self.server, "ExportTableToPointInTime", {"TableArn": ARN + "carts", "S3Bucket": "exports", **request}
        )
        assert status == 200, answer
        assert answer["ExportDescription"]["ExportStatus"] == "IN_PROGRESS", answer
        return self.wait(answer["ExportDescription"]["ExportArn"])

    def wait(self, arn):
        def over():
            _, answer = operation(self.server, "DescribeExport", {"ExportArn": arn})
            description = answer["ExportDescription"]
            return description if description["ExportStatus"] != "IN_PROGRESS" else None

        return eventually(over)

    def files(self, export):
        """Checks an export's manifests and returns its data files as (object key, text)."""
        summary_bytes = (self.bucket / export["ExportManifest"]).read_bytes()
        own = (self.bucket / export["ExportManifest"]).parent
        summary = json.loads(summary_bytes)
        files_bytes = (self.bucket / summary["manifestFilesS3Key"]).read_bytes()
        for name, content in (("summary", summary_bytes), ("files", files_bytes)):
            checksum = base64.b64encode(hashlib.md5(content).digest()).decode()
            assert (own / f"manifest-{name}.md5").read_text() == checksum, name
        assert (own / "_started").read_bytes() == b""
        assert summary["exportArn"] == export["ExportArn"]
        assert summary["itemCount"] == export["ItemCount"]
        assert summary["billedSizeBytes"] == export["BilledSizeBytes"]
        texts = []
        for line in files_bytes.decode().splitlines():
            entry = json.loads(line)
            packed = (self.bucket / entry["dataFileS3Key"]).read_bytes()
            assert base64.b64encode(hashlib.md5(packed).digest()).decode() == entry["md5Checksum"]
            assert hashlib.md5(packed).hexdigest() == entry["etag"]
            text = gzip.decompress(packed).decode()
            assert text.count("\n") == entry["itemCount"]
            texts.append((entry["dataFileS3Key"], text))
        assert sum(text.count("\n") for _, text in texts) == summary["itemCount"]
        return texts

    def lines(self, export):
        return [line for _, text in self.files(export) for line in text.splitlines()]

    def items(self, export):
        """Returns the items of a DYNAMODB_JSON export, keyed by id."""
        items = [json.loads(line)["Item"] for line in self.lines(export)]
        return {item["id"]["S"]: item for item in items}


class Model:
    """The history of a table: its writes, each with the second at which it was made. An item is due from the first
    millisecond after its TTL."""

    def __init__(self):
        self.writes = collections.defaultdict(list)  # by id: (second, item or None)

    def write(self, second, key, item):
        self.writes[key].append((second, item))

    def at(self, ms):
        """Returns the items at the end of an instant, keyed by id."""
        state = {}
        for key, writes in self.writes.items():
            written = [item for second, item in writes if second * 1000 <= ms]
            if written and written[-1] is not None and not self._due(written[-1], ms):
                state[key] = written[-1]
        return state

    @staticmethod
    def _due(item, ms):
        return "ttl" in item and int(item["ttl"]["N"]) * 1000 + 1 <= ms

    def between(self, first, end):
        """Returns the changes from `first` until just before `end`: id -> (ms of the last write, new item, old item).
        """
        old, new = self.at(first - 1), self.at(end - 1)
        changed = {}
        for key, writes in self.writes.items():
            times = [second * 1000 for second, _ in writes if first <= second * 1000 < end]
            for at, (second, item) in enumerate(writes):
                if item is None or "ttl" not in item:
                    continue
                due = int(item["ttl"]["N"]) * 1000 + 1
                until = writes[at + 1][0] * 1000 if at + 1 < len(writes) else end
                if first <= due < end and due <= until:
                    times.append(due)
            if times and (key in old or key in new):
                changed[key] = (max(times), new.get(key), old.get(key))
        return changed


class ReadAgain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.random = random.Random(20310101)
        cls.exporter = Exporter(cls_cleanup(cls))
        cls.exporter.create(ttl="ttl")
        cls.model = Model()
        cls.now = START + 1
        for number in range(400):
            cls.write_something(number)
            step = cls.random.choice([1, 7, 60, 600, 3000])
            cls.now += step
            cls.exporter.server.advance(step)
        # The export time must be at least five minutes in the past.
        cls.now += 6 * MINUTE
        cls.exporter.server.advance(6 * MINUTE)

    @classmethod
    def write_something(cls, number):
        key = f"id{cls.random.randrange(60)}"
        dynamodb = cls.exporter.dynamodb
        if cls.random.random() < 0.2:
            if key in cls.model.at(cls.now * 1000):
                dynamodb.delete_item(TableName="carts", Key={"id": {"S": key}})
                cls.model.write(cls.now, key, None)
            return
        item = {"id": {"S": key}, "number": {"N": str(number)}, "text": {"S": 'ä"\n\\' * cls.random.randrange(4)}}
        if cls.random.random() < 0.4:
            item["ttl"] = {"N": str(cls.now + cls.random.randrange(1, 8 * HOUR))}
        if cls.random.random() < 0.3:
            item["all"] = {"M": {"l": {"L": [{"NULL": True}, {"BOOL": False}]}, "s": {"SS": ["a", "b"]},
                                 "n": {"NS": ["1.5", "2"]}, "b": {"B": base64.b64encode(b"\0\xff").decode()}}}
        status, answer = operation(cls.exporter.server, "PutItem", {"TableName": "carts", "Item": item})
        assert status == 200, answer
        cls.model.write(cls.now, key, item)

    def test_a_full_export_contains_the_table_as_of_the_requested_second(self):
        seconds = [self.random.randrange(START + 1, self.now - 5 * MINUTE) for _ in range(8)]
        for second in seconds + [None]:
            with self.subTest(second=second):
                request = {} if second is None else {"ExportTime": second}
                export = self.exporter.export(S3Prefix="2031", **request)
                self.assertEqual(export["ExportStatus"], "COMPLETED", export)
                expected = self.model.at((self.now if second is None else second) * 1000)
                self.assertEqual(normal(self.exporter.items(export)), normal(expected))
                self.assertEqual(export["ItemCount"], len(expected))
                self.assertTrue(export["ExportManifest"].startswith("2031/AWSDynamoDB/"))
                for key, _ in self.exporter.files(export):
                    self.assertTrue(key.startswith(str(pathlib.Path(export["ExportManifest"]).parent) + "/data/"), key)

    def test_an_incremental_export_contains_the_changes_in_its_window(self):
        for view in ("NEW_AND_OLD_IMAGES", "NEW_IMAGE"):
            for _ in range(6):
                first = self.random.randrange(START + 1, self.now - 20 * MINUTE)
                end = min(first + self.random.randrange(15 * MINUTE, DAY), self.now)
                with self.subTest(view=view, first=first, end=end):
                    export = self.exporter.export(
                        ExportType="INCREMENTAL_EXPORT",
                        IncrementalExportSpecification={
                            "ExportFromTime": first, "ExportToTime": end, "ExportViewType": view
                        },
                    )
                    self.assertEqual(export["ExportStatus"], "COMPLETED", export)
                    expected = self.model.between(first * 1000, end * 1000)
                    found = {}
                    for line in self.exporter.lines(export):
                        change = json.loads(line)
                        micros = int(change["Metadata"]["WriteTimestampMicros"]["N"])
                        found[change["Keys"]["id"]["S"]] = (
                            micros // 1000, change.get("NewImage"), change.get("OldImage")
                        )
                    if view == "NEW_IMAGE":
                        expected = {key: (at, new, None) for key, (at, new, _) in expected.items()}
                    self.assertEqual(normal(found), normal(expected))
                    self.assertEqual(export["BilledSizeBytes"], 10_000_000)
                    for key, _ in self.exporter.files(export):
                        self.assertTrue(key.startswith("AWSDynamoDB/data/"), key)

    def test_an_ion_export_contains_the_items_of_the_table(self):
        export = self.exporter.export(ExportFormat="ION")
        expected = self.model.at(self.now * 1000)
        found = {}
        for line in self.exporter.lines(export):
            item = read_ion(line)["Item"]
            found[item["id"]] = item
        self.assertEqual(found, {key: as_ion(item) for key, item in expected.items()})

    def test_exported_items_can_be_imported(self):
        for form in ("DYNAMODB_JSON", "ION"):
            with self.subTest(form=form):
                export = self.exporter.export(ExportFormat=form)
                name = "again" + form.split("_")[0].lower()
                status, answer = operation(self.exporter.server, "ImportTable", {
                    "ClientToken": name,
                    "S3BucketSource": {"S3Bucket": "exports",
                                       "S3KeyPrefix": str(pathlib.Path(export["ExportManifest"]).parent) + "/data/"},
                    "InputFormat": form,
                    "InputCompressionType": "GZIP",
                    "TableCreationParameters": {
                        "TableName": name,
                        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
                        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
                        "BillingMode": "PAY_PER_REQUEST",
                    },
                })
                self.assertEqual(status, 200, answer)
                arn = answer["ImportTableDescription"]["ImportArn"]

                def over():
                    _, described = operation(self.exporter.server, "DescribeImport", {"ImportArn": arn})
                    description = described["ImportTableDescription"]
                    return description if description["ImportStatus"] != "IN_PROGRESS" else None

                self.assertEqual(eventually(over)["ImportStatus"], "COMPLETED")
                _, scanned = operation(self.exporter.server, "Scan", {"TableName": name})
                found = {item["id"]["S"]: item for item in scanned["Items"]}
                self.assertEqual(normal(found), normal(self.model.at(self.now * 1000)))

    def test_a_filter_selects_items_and_attributes(self):
        export = self.exporter.export(
            FilterSpecification={
                "FilterExpression": "#n BETWEEN :low AND :high",
                "ProjectionExpression": "id, #n",
                "ExpressionAttributeNames": {"#n": "number"},
                "ExpressionAttributeValues": {":low": {"N": "100"}, ":high": {"N": "300"}},
            }
        )
        expected = {
            key: {"id": item["id"], "number": item["number"]}
            for key, item in self.model.at(self.now * 1000).items()
            if 100 <= int(item["number"]["N"]) <= 300
        }
        self.assertEqual(self.exporter.items(export), expected)
        key = next(iter(self.model.at(self.now * 1000)))
        one = self.exporter.export(
            FilterSpecification={
                "KeyConditionExpression": "id = :id", "ExpressionAttributeValues": {":id": {"S": key}}
            }
        )
        self.assertEqual(list(self.exporter.items(one)), [key])


def cls_cleanup(cls):
    """Makes a class's addClassCleanup available as addCleanup."""

    class Cleanup:
        addCleanup = staticmethod(cls.addClassCleanup)

    return Cleanup


def normal(value):
    """Returns the value with all sets sorted."""
    if isinstance(value, dict):
        return {key: sorted(each) if key in ("SS", "NS", "BS") else normal(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [normal(each) for each in value]
    return value


# ---------------------------------------------------------------- Ion


def as_ion(item):
    """Returns an item's values as Ion represents them."""

    def value(typed):
        ((kind, content),) = typed.items()
        if kind == "M":
            return {name: value(each) for name, each in content.items()}
        if kind == "L":
            return [value(each) for each in content]
        if kind in ("SS", "NS", "BS"):
            convert = {"SS": str, "NS": Decimal, "BS": base64.b64decode}[kind]
            return ("$dynamodb_" + kind, sorted(convert(each) for each in content))
        if kind == "N":
            return Decimal(content)
        if kind == "B":
            return base64.b64decode(content)
        return None if kind == "NULL" else content

    return {name: value(typed) for name, typed in item.items()}


class IonText:
    """Parses the part of Ion's text format that DynamoDB's exports use."""

    ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "a": "\a", "b": "\b", "v": "\v", "f": "\f"}

    def __init__(self, text):
        self.text, self.at = text, 0

    def skip(self, token):
        while self.at < len(self.text) and self.text[self.at] == " ":
            self.at += 1
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def quoted(self, quote):
        out = ""
        while self.text[self.at] != quote:
            char = self.text[self.at]
            self.at += 1
            if char == "\\":
                char = self.text[self.at]
                self.at += 1
                if char == "x":
                    char, self.at = chr(int(self.text[self.at:self.at + 2], 16)), self.at + 2
                else:
                    char = self.ESCAPES.get(char, char)
            out += char
        self.at += 1
        return out

    def word(self):
        start = self.at
        while self.at < len(self.text) and (self.text[self.at].isalnum() or self.text[self.at] in "_$.+-"):
            self.at += 1
        return self.text[start:self.at]

    def elements(self, end, element):
        found = []
        while not self.skip(end):
            found.append(element())
            self.skip(",")
        return found

    def member(self):
        self.skip("")
        name = self.quoted("'") if self.skip("'") else self.word()
        assert self.skip(":"), self.text[self.at:]
        return name, self.value()

    def value(self):
        self.skip("")
        if self.skip("{{"):
            end = self.text.index("}}", self.at)
            blob, self.at = base64.b64decode(self.text[self.at:end]), end + 2
            return blob
        if self.skip("{"):
            return dict(self.elements("}", self.member))
        if self.skip("["):
            return self.elements("]", self.value)
        if self.skip('"'):
            return self.quoted('"')
        word = self.word()
        if self.skip("::"):
            return (word, sorted(self.value()))
        if word in ("null", "true", "false"):
            return {"null": None, "true": True, "false": False}[word]
        return Decimal(word.replace("d", "e"))


def read_ion(line):
    text = IonText(line)
    assert text.skip("$ion_1_0"), line
    value = text.value()
    assert text.at == len(line), line
    return value


# ---------------------------------------------------------------- failures


class Failures(unittest.TestCase):
    def test_boto3_can_start_describe_and_list_exports(self):
        exporter = Exporter(self)
        exporter.create().put_item(Item={"id": "1"})
        dynamodb = exporter.dynamodb
        started = dynamodb.export_table_to_point_in_time(TableArn=ARN + "carts", S3Bucket="exports")
        arn = started["ExportDescription"]["ExportArn"]
        export = exporter.wait(arn)
        described = dynamodb.describe_export(ExportArn=arn)["ExportDescription"]
        self.assertEqual(described["ExportStatus"], "COMPLETED")
        self.assertEqual(described["ItemCount"], 1)
        self.assertIsInstance(described["EndTime"], datetime.datetime)
        self.assertEqual(exporter.items(export), {"1": {"id": {"S": "1"}}})
        listed = dynamodb.list_exports(TableArn=ARN + "carts", MaxResults=1)
        self.assertEqual([each["ExportArn"] for each in listed["ExportSummaries"]], [arn])
        with self.assertRaises(dynamodb.exceptions.ExportNotFoundException):
            dynamodb.describe_export(ExportArn=arn[:-1] + ("0" if arn[-1] != "0" else "1"))
        with self.assertRaises(dynamodb.exceptions.InvalidExportTimeException):
            dynamodb.export_table_to_point_in_time(
                TableArn=ARN + "carts", S3Bucket="exports", ExportTime=datetime.datetime(2041, 1, 1)
            )
        with self.assertRaises(botocore.exceptions.ClientError) as refused:
            dynamodb.export_table_to_point_in_time(TableArn=ARN + "cart", S3Bucket="exports")
        self.assertEqual(refused.exception.response["Error"]["Code"], "TableNotFoundException")

    def test_an_unknown_bucket_fails_the_export(self):
        exporter = Exporter(self)
        exporter.create()
        export = exporter.export(S3Bucket="Nowhere")
        self.assertEqual(export["ExportStatus"], "FAILED")
        self.assertEqual(export["FailureCode"], "S3NoSuchBucket")
        self.assertIn("The specified bucket does not exist", export["FailureMessage"])
        self.assertNotIn("ExportManifest", export)

    def test_a_prefix_cannot_escape_the_bucket(self):
        exporter = Exporter(self)
        exporter.create()
        for prefix in ("..", "a/../../b", "/etc"):
            with self.subTest(prefix=prefix):
                export = exporter.export(S3Prefix=prefix)
                self.assertEqual(export["ExportStatus"], "FAILED", export)
                self.assertEqual(export["FailureCode"], "S3InvalidArgument")
        self.assertEqual(list(exporter.bucket.iterdir()), [])

    def test_a_full_disk_fails_the_export_but_not_the_server(self):
        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        exporter = Exporter(self, preexec=small_files)
        exporter.bucket.chmod(0o777)
        table = exporter.create()
        noise = random.Random(1)
        for number in range(10):
            table.put_item(Item={"id": str(number), "noise": noise.randbytes(100_000)})
        export = exporter.export()
        self.assertEqual(export["ExportStatus"], "FAILED", export)
        self.assertEqual(export["FailureCode"], "S3InternalError")
        self.assertFalse(list(exporter.bucket.rglob("manifest-summary.json")))
        self.assertFalse([path for path in exporter.bucket.rglob("*") if path.is_file() and path.name != "_started"
                          and path.stat().st_size > 99_000])
        # The server still works.
        table.put_item(Item={"id": "more"})
        self.assertEqual(len(table.scan()["Items"]), 11)

    def test_an_export_interrupted_by_a_kill_is_reported_as_failed(self):
        """The bucket's endpoint accepts connections but never responds, so the export stays in progress."""
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        with tempfile.TemporaryDirectory(prefix="mayfly-data-") as data:
            endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
            exporter = Exporter(self, "--data", data, "--s3-endpoint", endpoint)
            exporter.create().put_item(Item={"id": "1"})
            status, answer = operation(exporter.server, "ExportTableToPointInTime",
                                       {"TableArn": ARN + "carts", "S3Bucket": "elsewhere"})
            self.assertEqual(status, 200)
            arn = answer["ExportDescription"]["ExportArn"]
            _, described = operation(exporter.server, "DescribeExport", {"ExportArn": arn})
            self.assertEqual(described["ExportDescription"]["ExportStatus"], "IN_PROGRESS")
            exporter.server.kill()
            exporter.server = None
            with tempfile.TemporaryFile() as log:
                server = MayflyServer("--data", data, log=log)
                try:
                    _, described = operation(server, "DescribeExport", {"ExportArn": arn})
                    self.assertEqual(described["ExportDescription"]["ExportStatus"], "FAILED", described)
                    self.assertIn("FailureMessage", described["ExportDescription"])
                    log.seek(0)
                    self.assertIn(arn.encode(), log.read())
                finally:
                    server.stop()


if __name__ == "__main__":
    unittest.main()
