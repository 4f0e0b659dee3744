"""Runs `mayfly export` and `mayfly import` as their users do: between servers, directories, files and pipes, killed and
resumed, and with anonymization rules. Each test has its own accounts, whose tables are compared through boto3."""

import contextlib
import gzip
import http.server
import json
import os
import pathlib
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from mayfly_server import MayflyServer, binary, eventually, key_schema

FAILED, MEANS_NOTHING, UNFINISHED = 1, 2, 3
PAST, FAR = 1_700_000_000, 4_000_000_000  # before and after the time that the machine's clock shows


def setUpModule():
    global server
    server = MayflyServer.for_module()


def all_items(client, table):
    """Returns all items of a table, sorted independently of the scan's order."""
    pages = client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
    items = [item for page in pages for item in page["Items"]]
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True, default=lambda raw: raw.hex()))


def ask(client, operation, body):
    """Calls an operation that Debian's boto3 does not support."""
    key = client._request_signer._credentials.access_key
    request = urllib.request.Request(
        client.meta.endpoint_url,
        json.dumps(body).encode(),
        {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "Authorization": f"AWS4-HMAC-SHA256 Credential={key}/20310101/us-east-1/dynamodb/aws4_request, "
            "SignedHeaders=host;x-amz-date, Signature=0",
            "X-Amz-Date": "20310101T000000Z",
        },
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def settings(client, table):
    """Returns the settings that a copy must share with its source."""
    described = ask(client, "DescribeTable", {"TableName": table})["Table"]
    arn = described["TableArn"]
    kept = ["AttributeDefinitions", "KeySchema", "StreamSpecification", "DeletionProtectionEnabled", "TableClassSummary"]
    facts = {name: described.get(name) for name in kept}
    facts["AttributeDefinitions"] = sorted(facts["AttributeDefinitions"], key=lambda one: one["AttributeName"])
    facts["TableClassSummary"] = (facts["TableClassSummary"] or {}).get("TableClass")
    facts["billing"] = described.get("BillingModeSummary", {}).get("BillingMode")
    units = lambda one: [one.get("ProvisionedThroughput", {}).get(name) for name in ("ReadCapacityUnits", "WriteCapacityUnits")]
    facts["units"] = units(described)
    facts["indexes"] = sorted(
        (kind, one["IndexName"], json.dumps([one["KeySchema"], one["Projection"]], sort_keys=True), units(one))
        for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
        for one in described.get(kind, [])
    )
    facts["ttl"] = client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    recovery = ask(client, "DescribeContinuousBackups", {"TableName": table})["ContinuousBackupsDescription"]
    recovery = recovery["PointInTimeRecoveryDescription"]
    facts["recovery"] = [recovery["PointInTimeRecoveryStatus"], recovery.get("RecoveryPeriodInDays")]
    insights = ask(client, "ListContributorInsights", {"TableName": table})["ContributorInsightsSummaries"]
    facts["insights"] = [(one.get("IndexName"), one["ContributorInsightsMode"]) for one in insights]
    facts["tags"] = sorted((tag["Key"], tag["Value"]) for tag in client.list_tags_of_resource(ResourceArn=arn)["Tags"])
    return facts


@contextlib.contextmanager
def relay(answers):
    """Runs a server that answers the operations in `answers` with (status, body) and forwards the others to the test's
    server. Yields its URL."""

    class Relay(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            operation = self.headers["X-Amz-Target"].partition(".")[2]
            if operation in answers:
                status, answer = answers[operation]
                answer = json.dumps(answer).encode()
            else:
                headers = {name: value for name, value in self.headers.items() if name != "Content-Length"}
                try:
                    with urllib.request.urlopen(urllib.request.Request(server.url, body, headers)) as answered:
                        status, answer = answered.status, answered.read()
                except urllib.error.HTTPError as refused:
                    status, answer = refused.code, refused.read()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    serving.daemon_threads = True
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{serving.server_port}"
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()


EVERY_TYPE = {
    "text": {"S": "ä\u2028\"\\ \U0001f600"},
    "empty": {"S": ""},
    "number": {"N": "-12345678901234567890123456789012345678"},
    "small": {"N": "1E-130"},
    "bytes": {"B": bytes(range(256))},
    "truth": {"BOOL": True},
    "nothing": {"NULL": True},
    "texts": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2.5"]},
    "binaries": {"BS": [b"\x00", b"\xff"]},
    "map": {"M": {"Item": {"S": "x"}, "deep": {"M": {"list": {"L": [{"N": "1"}, {"L": []}, {"M": {}}]}}}}},
}


class TransferTest(unittest.TestCase):
    accounts = 0

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="mayfly-transfer-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.source, self.target = self.account(), self.account()
        self.here, self.there = server.client("dynamodb", self.source), server.client("dynamodb", self.target)

    def account(self):
        TransferTest.accounts += 1
        return f"77{TransferTest.accounts:010}"

    # --- the program

    def command(self, words):
        return [binary(), *[str(word) for word in words]]

    def environment(self, **more):
        return {"PATH": os.environ["PATH"], "HOME": str(self.directory), "MAYFLY_URL": server.url, **more}

    def mayfly(self, *words, code=0, stdin=b"", **environment):
        """Runs a command and returns both output streams as text, or standard output as bytes if the command writes items
        there."""
        done = subprocess.run(
            self.command(words), cwd=self.directory, env=self.environment(**environment), input=stdin, capture_output=True
        )
        self.assertEqual(done.returncode, code, done.stderr.decode())
        if words[-2:] == ("--to", "-"):
            return done.stdout
        return done.stdout.decode() + done.stderr.decode()

    def export(self, *words, **more):
        return self.mayfly("export", "--account", self.source, *words, **more)

    def import_(self, *words, **more):
        return self.mayfly("import", "--account", self.target, *words, **more)

    def kill_and_resume(self, words, journal, kills):
        """Kills the command each time it has journaled more progress, and lets the last run finish."""
        words = [*words, "--quiet"]
        for number in range(kills):
            lines = lambda: journal.read_bytes().count(b"\n") if journal.exists() else 0
            before = lines()
            process = subprocess.Popen(self.command(words), cwd=self.directory, env=self.environment())
            eventually(lambda: process.poll() is not None or lines() > before + 2)
            self.assertIsNone(process.poll(), f"it exited before it could be killed, in run {number}")
            process.send_signal(signal.SIGKILL)
            process.wait()
            if "--resume" not in words:
                words.append("--resume")
        unbound = [word for word in words if not str(word).startswith(("--read-units", "--write-units"))]
        self.mayfly(*unbound)
        self.assertFalse(journal.exists())

    # --- tables

    def make(self, name="carts", items=3, client=None):
        client = client or self.here
        client.create_table(
            TableName=name,
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=key_schema("id"),
            BillingMode="PAY_PER_REQUEST",
        )
        self.put(name, [{"id": {"S": str(number)}} for number in range(items)], client)

    def put(self, table, items, client=None):
        client = client or self.here
        for at in range(0, len(items), 25):
            client.batch_write_item(RequestItems={table: [{"PutRequest": {"Item": one}} for one in items[at : at + 25]]})

    def make_orders(self):
        """Creates a table with every setting that a table can have."""
        attribute = lambda name, kind: {"AttributeName": name, "AttributeType": kind}
        key = lambda name, kind: {"AttributeName": name, "KeyType": kind}
        units = lambda read, write: {"ReadCapacityUnits": read, "WriteCapacityUnits": write}
        client = self.here
        arn = client.create_table(
            TableName="orders",
            AttributeDefinitions=[attribute("who", "S"), attribute("at", "N"), attribute("day", "B")],
            KeySchema=[key("who", "HASH"), key("at", "RANGE")],
            LocalSecondaryIndexes=[
                {
                    "IndexName": "by_day",
                    "KeySchema": [key("who", "HASH"), key("day", "RANGE")],
                    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["text"]},
                }
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "days",
                    "KeySchema": [key("day", "HASH")],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                    "ProvisionedThroughput": units(300, 400),
                }
            ],
            ProvisionedThroughput=units(1000, 2000),
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
            TableClass="STANDARD_INFREQUENT_ACCESS",
            Tags=[{"Key": "team", "Value": "shop"}, {"Key": "stage", "Value": ""}],
        )["TableDescription"]["TableArn"]
        ask(client, "UpdateTable", {"TableName": "orders", "DeletionProtectionEnabled": True})
        client.update_time_to_live(
            TableName="orders", TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
        )
        recovery = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7}
        ask(client, "UpdateContinuousBackups", {"TableName": "orders", "PointInTimeRecoverySpecification": recovery})
        insights = {"TableName": "orders", "ContributorInsightsAction": "ENABLE"}
        ask(client, "UpdateContributorInsights", {**insights, "ContributorInsightsMode": "THROTTLED_KEYS"})
        ask(client, "UpdateContributorInsights", {**insights, "IndexName": "days"})
        orders = [
            {"who": {"S": f"w{number % 5}"}, "at": {"N": str(number)}, "day": {"B": bytes([number % 3])}, **EVERY_TYPE}
            for number in range(60)
        ]
        self.put("orders", [{**order, "expires": {"N": str(FAR)}} for order in orders])
        return arn

    def make_large(self, items=30, kilobytes=300):
        """Creates a table with several pages of 1 MB for each segment."""
        self.make("large", items=0)
        large = [{"id": {"S": str(number)}, "filled": {"S": chr(97 + number % 26) * 1024 * kilobytes}} for number in range(items)]
        for one in large:
            self.here.put_item(TableName="large", Item=one)

    def assert_copied(self, *tables):
        for table in tables:
            self.assertEqual(all_items(self.there, table), all_items(self.here, table))
            self.assertEqual(settings(self.there, table), settings(self.here, table))

    # --- between servers, directories, files and pipes

    def test_a_directory_preserves_tables_with_all_their_settings(self):
        self.make_orders()
        self.make("carts")
        self.make("empty", items=0)
        said = self.export("--all", "--to", "backup")
        self.assertIn("63 items of 3 tables", said)

        self.import_("--from", "backup")
        self.assert_copied("orders", "carts", "empty")
        self.assertEqual(settings(self.there, "orders")["insights"], [(None, "THROTTLED_KEYS"), ("days", "ACCESSED_AND_THROTTLED_KEYS")])
        self.assertEqual(self.there.list_tables()["TableNames"], ["carts", "empty", "orders"])

    def test_a_directory_is_private_and_its_manifest_lists_the_contents(self):
        self.make("carts", items=3)
        self.export("carts", "--to", "backup")
        backup = self.directory / "backup"
        manifest = json.loads((backup / "manifest.json").read_text())
        self.assertEqual([(one["name"], one["items"]) for one in manifest["tables"]], [("carts", 3)])
        lines = []
        for file in manifest["tables"][0]["files"]:
            lines += gzip.decompress((backup / file["name"]).read_bytes()).splitlines()
        self.assertEqual(sorted(json.loads(line)["Item"]["id"]["S"] for line in lines), ["0", "1", "2"])
        for path in [backup, *backup.rglob("*")]:
            self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, path)

    def test_serve_schema_creates_the_tables_of_a_directory(self):
        self.make_orders()
        self.export("orders", "--to", "backup")
        other = MayflyServer("--schema", str(self.directory / "backup" / "orders" / "table.json"))
        self.addCleanup(other.stop)
        found = other.client("dynamodb").describe_table(TableName="orders")["Table"]
        self.assertEqual([one["IndexName"] for one in found["GlobalSecondaryIndexes"]], ["days"])

    def test_tables_can_be_copied_through_a_file_a_gzip_file_or_a_pipe(self):
        self.make_orders()
        self.make("carts")
        for way in ("tables.json", "tables.jsonl.gz", "-"):
            with self.subTest(way):
                self.target = self.account()
                self.there = server.client("dynamodb", self.target)
                written = self.export("--all", "--to", way)
                self.import_("--from", way, stdin=written if way == "-" else b"")
                self.assert_copied("orders", "carts")
        self.assertEqual(stat.S_IMODE((self.directory / "tables.json").stat().st_mode), 0o600)
        self.assertIn("already exists", self.export("--all", "--to", "tables.json", code=FAILED))
        self.export("carts", "--to", "tables.json", "--if-exists", "replace")
        self.assertNotIn("orders", (self.directory / "tables.json").read_text())

    def test_tables_can_be_copied_directly_between_servers(self):
        self.make_orders()
        self.make("carts")
        other = MayflyServer()
        self.addCleanup(other.stop)
        self.export("--all", "--to", other.url, "--to-account", self.target)
        self.there = other.client("dynamodb", self.target)
        self.assert_copied("orders", "carts")
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_patterns_select_tables_and_tables_can_be_renamed(self):
        for name in ("orders-1", "orders-2", "users"):
            self.make(name)
        self.export("orders*", "--to", server.url, "--to-account", self.target, "--rename", "orders-1=first")
        self.assertEqual(self.there.list_tables()["TableNames"], ["first", "orders-2"])
        self.assertEqual(all_items(self.there, "first"), all_items(self.here, "orders-1"))
        self.assertIn("no table nowhere", self.export("nowhere", "--to", "x", code=FAILED))
        self.assertIn("--all", self.export("--to", "x", code=MEANS_NOTHING))

    def test_the_all_option_skips_the_state_table_of_sweep_unless_the_table_is_named(self):
        self.make("carts")
        self.make("mayfly_sweep")
        left_out = "mayfly_sweep: skipped, because it holds the state of 'mayfly sweep'; to copy this table, name it"
        self.assertEqual(self.export("--all", "--to", "backup").count(left_out), 1)
        self.import_("--from", "backup")
        self.assertEqual(self.there.list_tables()["TableNames"], ["carts"])
        self.assertNotIn("skipped", self.export("mayfly_sweep", "--to", "state"))
        self.import_("--from", "state")
        self.assertEqual(self.there.list_tables()["TableNames"], ["carts", "mayfly_sweep"])

    def test_the_items_only_option_fills_an_existing_table(self):
        self.make("carts", items=30)
        self.make("carts", items=0, client=self.there)
        self.export("carts", "--items-only", "--to", "items.jsonl")
        lines = (self.directory / "items.jsonl").read_text().splitlines()
        self.assertEqual(len(lines), 30)
        self.assertEqual(list(json.loads(lines[0])), ["Item"])
        self.import_("carts", "--from", "items.jsonl", "--items-only")
        self.assertEqual(all_items(self.there, "carts"), all_items(self.here, "carts"))
        self.assertIn("no such table", self.import_("others", "--from", "items.jsonl", code=FAILED))

    def import_text(self, text, *words, name="items.json", code=0):
        path = self.directory / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.import_(*words, "--from", name, code=code)

    def test_item_files_of_other_programs_can_be_imported(self):
        self.make("carts", items=0, client=self.there)
        typed = [{"id": {"S": "1"}, "n": {"N": "1.50"}, "set": {"SS": ["a"]}}, {"id": {"S": "2"}}]
        plain = '[{"id": "1", "n": 1.50, "none": null, "list": ["a", {"b": true}]}, {"id": "2"}]'
        from_plain = [
            {
                "id": {"S": "1"},
                "n": {"N": "1.5"},
                "none": {"NULL": True},
                "list": {"L": [{"S": "a"}, {"M": {"b": {"BOOL": True}}}]},
            },
            {"id": {"S": "2"}},
        ]
        expected = [{"id": {"S": "1"}, "n": {"N": "1.5"}, "set": {"SS": ["a"]}}, {"id": {"S": "2"}}]
        scan = {"Items": typed, "Count": 2, "ScannedCount": 2, "ConsumedCapacity": None}
        raw = {"Count": 2, "Items": typed, "ScannedCount": 2}
        batch = {"carts": [{"PutRequest": {"Item": item}} for item in typed], "other": []}
        lines = "".join(json.dumps(item) + "\n" for item in typed)
        for name, text, items in (
            ("scan", json.dumps(scan), expected),
            ("scan, indented", json.dumps(scan, indent=4), expected),
            ("scans, one after the other", json.dumps({"Items": typed[:1]}) + json.dumps({"Items": typed[1:]}), expected),
            ("raw answer", json.dumps(raw), expected),
            ("batch-write-item", json.dumps(batch), expected),
            ("batch-write-item's request", json.dumps({"RequestItems": batch}, indent=1), expected),
            ("an item a line", lines, expected),
            ("indented items", "\n".join(json.dumps(item, indent=2) for item in typed), expected),
            ("byte order mark", "\ufeff" + lines, expected),
            ("gzip", gzip.compress(lines.encode()), expected),
            ("a list", json.dumps(typed), expected),
            ("a plain list", plain, from_plain),
            ("a plain item a line", '{"id":"1","n":1.5,"none":null,"list":["a",{"b":true}]}\n{"id":"2"}', from_plain),
        ):
            with self.subTest(name):
                self.there.delete_table(TableName="carts")
                self.make("carts", items=0, client=self.there)
                self.import_text(text, "carts")
                self.assertEqual(all_items(self.there, "carts"), items)
        part = json.dumps({"Items": typed, "LastEvaluatedKey": {"id": {"S": "2"}}})
        self.assertIn("part of a scan", self.import_text(part, "carts"))

    def test_a_batch_write_item_file_names_its_tables(self):
        for name in ("one", "two"):
            self.make(name, items=0, client=self.there)
        put = lambda number: {"PutRequest": {"Item": {"id": {"S": str(number)}}}}
        batch = json.dumps({"one": [put(number) for number in range(1500)], "two": [put(1)]})
        self.import_text(batch)
        self.assertEqual(len(all_items(self.there, "one")), 1500)
        self.assertEqual(len(all_items(self.there, "two")), 1)
        self.assertIn("no table three", self.import_text(batch, "three", code=FAILED))

    def test_an_invalid_file_is_rejected_before_anything_is_written(self):
        self.make("carts", items=0, client=self.there)
        no_key = "item 1 has no 'id', a key attribute of table carts"
        for text, problem in (
            ('{"Items":[]}', "items.json has no items"),
            ("[]", "items.json has no items"),
            ('{"carts":[]}', no_key),
            ('{"carts":[{"DeleteRequest":{"Key":{}}}]}', "request 1 of carts is not a PutRequest with an Item"),
            ("hello", "line 1: not an item. A file must be a mayfly export"),
            ("[1]", "line 1: an item must be an object"),
            ('[\n{"id":"1"}\n{"id":"2"}]', "line 3: expected ','"),
            ('[{"id":"1"}] x', "line 1: unexpected text after the list of items"),
            ('[{"id":"1"}', "line 1: the file ends too early"),
            ('{"Items":[{"id":{"S":"1"}},{"id"', "line 1: the file ends too early"),
            ('{"Items":[{"id":{"S":"1"}}]', "line 1: the file ends too early"),
            ('{"id":{"S":"1"}}\n{"id":{"X":"1"}}', "line 2: Supplied AttributeValue is empty"),
            ('{"id":{"S":"1"}}\n{"id":"2"}', "line 2: Unexpected value type in payload"),
            ('{"id":nothing}', "line 1: not JSON"),
            ('{"name":"x"}', no_key),
            ('[{"id":"1"},{"no":"id"}]', "item 2 has no 'id', a key attribute of table carts"),
            ('{"id":"1"}}', "line 1: expected a value, found '}'"),
            ('{"id":"' + "x" * (5 << 20), "line 1: the value is too long for an item"),
            ('{"' + "x" * (5 << 20), "line 1: the value is too long for an item"),
        ):
            with self.subTest(text[:60]):
                said = self.import_text(text, "carts", code=FAILED)
                self.assertIn(problem, said)
                self.assertNotIn("--resume", said)
                self.assertEqual([path.name for path in self.directory.iterdir()], ["items.json"])
        self.assertEqual(all_items(self.there, "carts"), [])
        self.assertIn("mayfly import TABLE --from items.json", self.import_text('{"id":"1"}', code=FAILED))
        # A file is read completely before anything is written.
        lines = "".join(json.dumps({"id": {"S": str(number)}}) + "\n" for number in range(3000))
        bad = "line 3001: NUMBER_VALUE cannot be converted to String"
        said = self.import_text(lines + '{"id":{"S":1}}', "carts", code=FAILED)
        self.assertIn(bad, said)
        self.assertIn("item 3001 has no 'id'", self.import_text(lines + '{"no":{"S":"1"}}', "carts", code=FAILED))
        self.assertEqual([path.name for path in self.directory.iterdir()], ["items.json"])
        self.assertEqual(all_items(self.there, "carts"), [])
        self.import_text(lines + '{"id":{"S":1}}', "carts", "--to", "out.json", code=FAILED)
        self.assertEqual([path.name for path in self.directory.iterdir()], ["items.json"])
        # Items from a pipe are written while the pipe is read, so the items before the malformed one are kept.
        words = self.command(["import", "--account", self.target, "carts", "--from", "-"])
        text = (lines + '{"id":{"S":1}}').encode()
        ended = subprocess.run(words, input=text, capture_output=True, cwd=self.directory, env=self.environment(), timeout=60)
        self.assertEqual(ended.returncode, FAILED)
        self.assertIn(bad + ". The 3000 items written before the failure remain in the target", ended.stderr.decode())
        self.assertEqual([path.name for path in self.directory.iterdir()], ["items.json"])
        self.import_text(lines, "carts")
        self.assertEqual(len(all_items(self.there, "carts")), 3000)

    def test_an_aws_export_is_imported_with_its_tables_definition(self):
        bucket = self.directory / "bucket"
        bucket.mkdir()
        other = MayflyServer("--bucket", f"bucket={bucket}", "--exact-recovery")
        self.addCleanup(other.stop)
        self.here = other.client("dynamodb", self.source)
        arn = self.make_orders()
        for format_ in ("DYNAMODB_JSON", "ION"):
            with self.subTest(format_):
                self.target = self.account()
                self.there = server.client("dynamodb", self.target)
                export = self.here.export_table_to_point_in_time(
                    TableArn=arn, S3Bucket="bucket", S3Prefix=format_, ExportFormat=format_
                )["ExportDescription"]["ExportArn"]
                status = lambda: self.here.describe_export(ExportArn=export)["ExportDescription"]["ExportStatus"]
                eventually(lambda: status() == "COMPLETED")
                definition = self.directory / "table.json"
                definition.write_text(json.dumps(self.here.describe_table(TableName="orders"), default=str))
                self.assertIn("--schema", self.import_("--from", bucket / format_, code=FAILED))
                self.import_("--from", bucket / format_, "--schema", definition)
                self.assertEqual(all_items(self.there, "orders"), all_items(self.here, "orders"))

    def test_vector_indexes_are_copied(self):
        index = {
            "IndexName": "by_v",
            "VectorAttribute": {"AttributeName": "v"},
            "SearchSchema": [{"AttributeName": "kind", "SearchSchemaElementType": "INLINE_FILTER"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["title"]},
            "Dimensions": 3,
            "DistanceFunction": "COSINE",
        }
        attribute = lambda name: {"AttributeName": name, "AttributeType": "S"}
        definitions = {"AttributeDefinitions": [attribute("id"), attribute("kind")], "KeySchema": key_schema("id")}
        ask(self.here, "CreateTable", {"TableName": "docs", **definitions, "BillingMode": "PAY_PER_REQUEST", "VectorIndexes": [index]})
        self.put("docs", [{"id": {"S": "1"}, "kind": {"S": "k"}, "v": {"L": [{"N": "1"}, {"N": "0"}, {"N": "0.5"}]}}])
        self.export("docs", "--to", "docs.json")
        self.import_("--from", "docs.json")
        self.assert_copied("docs")
        (found,) = ask(self.there, "DescribeTable", {"TableName": "docs"})["Table"]["VectorIndexes"]
        self.assertEqual({name: found[name] for name in index}, index)
        self.assertEqual((found["IndexStatus"], found["ItemCount"]), ("ACTIVE", 1))

    # --- settings that are not copied

    STAYS = (
        "orders: its resource policy is not copied, because it names accounts and ARNs",
        "orders: its Kinesis destinations are not copied, because the copy would send changes to them",
        "orders: its auto scaling is not copied; the copy has the current capacity",
    )

    def test_settings_that_apply_only_at_the_source_are_reported_and_not_copied(self):
        arn = self.make_orders()
        self.make("carts")
        allow = {"Effect": "Allow", "Principal": {"AWS": "444455556666"}, "Action": "dynamodb:GetItem", "Resource": arn}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [allow]})
        ask(self.here, "PutResourcePolicy", {"ResourceArn": arn, "Policy": policy})
        stream = f"arn:aws:kinesis:us-east-1:{self.source}:stream/changes"
        ask(self.here, "EnableKinesisStreamingDestination", {"TableName": "orders", "StreamArn": stream})
        scaling = {"AutoScalingDisabled": False, "MinimumUnits": 5}
        replica = {"RegionName": "us-east-1", "ReplicaProvisionedReadCapacityAutoScalingSettings": scaling}
        answers = {"DescribeTableReplicaAutoScaling": (200, {"TableAutoScalingDescription": {"Replicas": [replica]}})}
        with relay(answers) as url:
            dry = self.export("--all", "--url", url, "--to", "backup", "--dry-run")
            said = self.export("--all", "--url", url, "--to", "backup")
        for sentence in self.STAYS:
            self.assertEqual(said.count(sentence), 1, said)
            self.assertIn(sentence, dry)
        self.assertNotIn("carts: ", said)
        for path in (self.directory / "backup").rglob("*.json"):
            self.assertNotIn("444455556666", path.read_text())

        self.import_("--from", "backup")
        destinations = ask(self.there, "DescribeKinesisStreamingDestination", {"TableName": "orders"})
        self.assertEqual(destinations["KinesisDataStreamDestinations"], [])
        with self.assertRaises(urllib.error.HTTPError) as refused:
            ask(self.there, "GetResourcePolicy", {"ResourceArn": self.there.describe_table(TableName="orders")["Table"]["TableArn"]})
        self.assertIn("PolicyNotFoundException", refused.exception.read().decode())

    def test_a_streams_policy_is_reported_but_a_disabled_destination_is_not(self):
        arn = self.make_orders()
        stream_arn = self.here.describe_table(TableName="orders")["Table"]["LatestStreamArn"]
        allow = {"Effect": "Allow", "Principal": {"AWS": "444455556666"}, "Action": "dynamodb:GetRecords", "Resource": stream_arn}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [allow]})
        ask(self.here, "PutResourcePolicy", {"ResourceArn": stream_arn, "Policy": policy})
        destination = {"TableName": "orders", "StreamArn": arn.replace("dynamodb", "kinesis").replace("table/", "stream/")}
        ask(self.here, "EnableKinesisStreamingDestination", destination)
        ask(self.here, "DisableKinesisStreamingDestination", destination)
        said = self.export("orders", "--to", "orders.json")
        self.assertIn(self.STAYS[0], said)
        self.assertNotIn("Kinesis", said)

    def test_settings_that_the_source_does_not_support_are_skipped_and_settings_that_it_denies_are_reported(self):
        self.make("carts")
        asked = ("ListContributorInsights", "GetResourcePolicy", "DescribeKinesisStreamingDestination", "ListTagsOfResource")
        failure = lambda name: (400, {"__type": f"com.amazonaws.dynamodb.v20120810#{name}", "message": "so it is"})
        with relay({operation: failure("UnknownOperationException") for operation in asked}) as url:
            said = self.export("carts", "--url", url, "--to", "one.json")
        self.assertNotIn("carts: ", said)
        with relay({operation: failure("AccessDeniedException") for operation in asked}) as url:
            said = self.export("carts", "--url", url, "--to", "two.json")
        for operation in asked:
            sentence = f"carts: {operation} failed (AccessDeniedException: so it is), so its settings are not copied"
            self.assertEqual(said.count(sentence), 1, said)

    # --- existing tables

    def test_the_if_exists_option_decides_what_happens_to_an_existing_table(self):
        self.make("carts", items=3)
        self.export("carts", "--to", "backup")
        self.make("carts", items=0, client=self.there)
        other = {"id": {"S": "other"}}
        self.put("carts", [other], self.there)

        self.assertIn("--if-exists", self.import_("--from", "backup", code=FAILED))
        self.assertEqual(all_items(self.there, "carts"), [other])
        self.assertIn("skipped", self.import_("--from", "backup", "--if-exists", "skip"))
        self.assertEqual(all_items(self.there, "carts"), [other])
        self.import_("--from", "backup", "--if-exists", "append")
        self.assertEqual(len(all_items(self.there, "carts")), 4)
        self.import_("--from", "backup", "--if-exists", "replace")
        self.assertEqual(all_items(self.there, "carts"), all_items(self.here, "carts"))

    def test_copying_a_table_onto_itself_is_rejected_even_through_another_host_name_of_the_server(self):
        self.make("carts")
        before = all_items(self.here, "carts")
        for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
            for how in ("fail", "skip", "append", "replace"):
                said = self.export("carts", "--to", url, "--to-account", self.source, "--if-exists", how, code=FAILED)
                self.assertIn("carts: source and target are the same table. Use --rename, or name another server", said)
            said = self.export("carts", "--to", url, "--to-account", self.source, "--items-only", code=FAILED)
            self.assertIn("the same table", said)
        self.assertEqual(list(self.directory.iterdir()), [])
        self.export("carts", "--to", server.url, "--to-account", self.source, "--rename", "carts=carts-2")
        self.assertEqual(all_items(self.here, "carts"), before)
        self.assertEqual(all_items(self.here, "carts-2"), before)

    # --- concurrent imports

    def import_at_once(self, *words):
        """Runs two concurrent imports of the directories `one` and `two`. Returns their exit codes and outputs."""
        processes = []
        for name in ("one", "two"):
            where = self.directory / f"in-{name}"
            where.mkdir(exist_ok=True)
            command = self.command(["import", "--account", self.target, "--from", self.directory / name, *words])
            processes.append(
                subprocess.Popen(command, cwd=where, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            )
        said = [process.communicate()[0].decode() for process in processes]
        return [process.returncode for process in processes], said

    def make_one_and_two(self, items=60):
        """Exports a table carts with different items into each of the directories `one` and `two`."""
        for name in ("one", "two"):
            account = self.account()
            client = server.client("dynamodb", account)
            self.make("carts", items=0, client=client)
            client.update_time_to_live(
                TableName="carts", TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
            )
            self.put("carts", [{"id": {"S": f"{name}-{number}"}} for number in range(items)], client)
            self.mayfly("export", "--account", account, "carts", "--to", name)

    def names_there(self):
        return [item["id"]["S"].partition("-")[0] for item in all_items(self.there, "carts")]

    def test_two_imports_can_append_to_one_table_at_once(self):
        self.make_one_and_two()
        for is_there in (False, True, False, False):
            with self.subTest(is_there=is_there):
                self.target = self.account()
                self.there = server.client("dynamodb", self.target)
                if is_there:
                    self.make("carts", items=0, client=self.there)
                codes, said = self.import_at_once("--if-exists", "append")
                self.assertEqual(codes, [0, 0], said)
                self.assertEqual(self.names_there(), ["one"] * 60 + ["two"] * 60)
                ttl = self.there.describe_time_to_live(TableName="carts")["TimeToLiveDescription"]
                self.assertEqual(ttl["TimeToLiveStatus"], "DISABLED" if is_there else "ENABLED")

    def test_one_of_two_imports_that_create_the_same_table_at_once_fails(self):
        self.make_one_and_two()
        for _ in range(4):
            self.target = self.account()
            self.there = server.client("dynamodb", self.target)
            codes, said = self.import_at_once()
            self.assertEqual(sorted(codes), [0, FAILED], said)
            loser = codes.index(FAILED)
            self.assertRegex(said[loser], "carts: (the table already exists at|CreateTable: ResourceInUseException)")
            self.assertEqual(set(self.names_there()), {("two", "one")[loser]})
            self.assertEqual(len(self.names_there()), 60)
            for name in ("one", "two"):
                self.assertEqual(list((self.directory / f"in-{name}").iterdir()), [])  # nothing to resume

    def test_an_import_whose_journal_is_in_use_is_rejected(self):
        self.make_large(items=6)
        self.export("large", "--to", "backup")
        words = ["import", "--account", self.target, "--from", "backup", "--write-units-max", "50", "--quiet"]
        first = subprocess.Popen(self.command(words), cwd=self.directory, env=self.environment(), stderr=subprocess.DEVNULL)
        journal = self.directory / "mayfly-transfer.journal"
        try:
            eventually(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 2)
            self.assertIn("another mayfly process is using it", self.import_("--from", "backup", code=FAILED))
        finally:
            first.send_signal(signal.SIGTERM)
            self.assertEqual(first.wait(), UNFINISHED)

    def test_a_directory_is_never_overwritten(self):
        self.make("carts")
        self.export("carts", "--to", "backup")
        self.assertIn("is not empty", self.export("carts", "--to", "backup", code=FAILED))

    # --- TTL

    def make_expiring(self):
        """Creates a table with one item that has expired by the machine's clock. The source has no TTL; the exported
        description enables it."""
        self.make("sessions", items=0)
        self.put("sessions", [{"id": {"S": name}, "expires": {"N": str(at)}} for name, at in (("old", PAST), ("new", FAR))])
        self.export("sessions", "--to", "backup")
        # Simulates a source that deletes expired items late: the item has expired but still exists.
        path = self.directory / "backup" / "sessions" / "table.json"
        description = json.loads(path.read_text())
        description["TimeToLiveDescription"] = {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
        path.write_text(json.dumps(description))

    def test_ttl_can_be_enabled_left_off_shifted_or_used_to_skip_expired_items(self):
        self.make_expiring()
        names = lambda: sorted(item["id"]["S"] for item in all_items(self.there, "sessions"))
        ttl = lambda: self.there.describe_time_to_live(TableName="sessions")["TimeToLiveDescription"]["TimeToLiveStatus"]

        said = self.import_("--from", "backup", "--if-exists", "replace")
        self.assertIn("sessions: expired items (by this machine's clock): 1", said)
        eventually(lambda: names() == ["new"])
        self.assertEqual(ttl(), "ENABLED")

        self.import_("--from", "backup", "--if-exists", "replace", "--ttl", "off")
        self.assertEqual((names(), ttl()), (["new", "old"], "DISABLED"))

        said = self.import_("--from", "backup", "--if-exists", "replace", "--ttl", "unexpired")
        self.assertIn("expired items (skipped): 1", said)
        self.assertEqual((names(), ttl()), (["new"], "ENABLED"))

        manifest = self.directory / "backup" / "manifest.json"
        text = json.loads(manifest.read_text())
        day = 24 * 3600
        text["begun"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - day))
        manifest.write_text(json.dumps(text))
        self.import_("--from", "backup", "--if-exists", "replace", "--ttl", "shift")
        moved = [int(item["expires"]["N"]) - FAR for item in all_items(self.there, "sessions") if item["id"]["S"] == "new"]
        self.assertTrue(day <= moved[0] < day + 3600, moved)

    # --- failures

    def faults(self, account, *rules):
        request = urllib.request.Request(
            f"{server.url}/_mayfly/faults",
            json.dumps({"rules": rules}).encode(),
            {"Content-Type": "application/json", "X-Mayfly-Account": account},
            method="PUT",
        )
        urllib.request.urlopen(request).close()

    def test_requests_to_a_busy_server_are_retried(self):
        self.make("carts", items=60)
        self.faults(self.source, {"operation": "Scan", "fault": "throttle", "count": 2})
        self.faults(
            self.target,
            {"operation": "BatchWriteItem", "fault": "throttle", "count": 2},
            {"operation": "CreateTable", "fault": "internal_server_error", "count": 1},
            {"operation": "BatchWriteItem", "fault": "unprocessed", "count": 3},
        )
        self.export("carts", "--to", server.url, "--to-account", self.target)
        self.assert_copied("carts")

    def test_an_unreachable_server_and_a_rejected_key_are_reported(self):
        said = self.mayfly("export", "--all", "--url", "http://127.0.0.1:1", "--to", "x", code=FAILED)
        self.assertIn("http://127.0.0.1:1: ListTables:", said)
        closed = MayflyServer("--require-signature", environment={"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "right"})
        self.addCleanup(closed.stop)
        keys = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "wrong-secret"}
        said = self.mayfly("export", "--all", "--url", closed.url, "--to", "x", code=FAILED, **keys)
        self.assertIn("ListTables: ", said)
        self.assertNotIn("wrong-secret", said)
        closed.client("dynamodb", "k", aws_secret_access_key="right").list_tables()
        keys["AWS_SECRET_ACCESS_KEY"] = "right"
        said = self.mayfly("export", "--all", "--url", closed.url, "--to", "x", code=FAILED, **keys)
        self.assertIn("there are no tables in", said)

    def test_aws_is_never_called_without_a_key(self):
        said = self.mayfly("export", "--all", "--from", "aws", "--from-region", "eu-west-1", "--to", "x", code=FAILED)
        self.assertIn("no AWS credentials", said)

    def test_damaged_files_are_rejected(self):
        self.make("carts", items=30)
        self.export("carts", "--to", "backup")
        self.export("carts", "--to", "carts.json")
        self.export("carts", "--to", "carts.json.gz")
        data = next((self.directory / "backup" / "carts" / "data").iterdir())
        whole = data.read_bytes()
        data.write_bytes(whole[:-9] + bytes(9))
        self.assertIn("checksum", self.import_("--from", "backup", "--journal", "-", code=FAILED))
        self.there.delete_table(TableName="carts")
        data.write_bytes(whole)
        manifest = self.directory / "backup" / "manifest.json"
        text = manifest.read_text()
        for wrong in ("../../etc/passwd", "/etc/passwd", "carts/../../x", ""):
            names = json.loads(text)
            names["tables"][0]["files"][0]["name"] = wrong
            manifest.write_text(json.dumps(names))
            self.assertIn("not a path within the directory", self.import_("--from", "backup", code=FAILED))
        for wrong in ("", "[]", "{}", "[" * 5000, text[:-9], text.replace('"carts"', '"../x"')):
            manifest.write_text(wrong)
            self.import_("--from", "backup", code=FAILED)
        manifest.unlink()
        self.assertIn("is not an export", self.import_("--from", "backup", code=FAILED))

        for name in ("carts.json", "carts.json.gz"):
            path = self.directory / name
            path.write_bytes(path.read_bytes()[:-12])
            said = self.import_("--from", name, code=FAILED)
            self.assertIn(name, said)
            self.assertEqual(self.there.list_tables()["TableNames"], [])
        (self.directory / "hostile.json").write_text('{"Tables":[{"Table":{"TableName":"carts"}}]}\nnothing\n')
        self.import_("--from", "hostile.json", code=FAILED)
        (self.directory / "empty.json").write_text("")
        self.assertIn("is empty", self.import_("--from", "empty.json", code=FAILED))
        self.assertEqual(self.there.list_tables()["TableNames"], [])

    def test_invalid_options_are_rejected_before_any_request(self):
        for words in (
            ["--all", "carts", "--to", "x"],
            ["--all", "--to", "x.zst"],
            ["--all", "--to", "x", "--rename", "carts"],
            ["--all", "--to", "x", "--secret-file", "s"],
            ["--all", "--to", "x", "--if-exists", "append"],
            ["--all", "--to", "x", "--parallel", "0"],
            ["--all", "--to", "x", "--ttl", "later"],
            ["--all"],
        ):
            self.export(*words, code=MEANS_NOTHING)
        self.assertFalse((self.directory / "x").exists())

    # --- killed and resumed

    def test_a_killed_export_to_a_directory_resumes_and_has_each_item_once(self):
        self.make_large()
        words = ["export", "--account", self.source, "--all", "--to", "backup", "--parallel", "2", "--read-units-max=500"]
        self.kill_and_resume(words, self.directory / "backup" / "export.journal", kills=3)
        data = [gzip.decompress(path.read_bytes()) for path in (self.directory / "backup").rglob("*.json.gz")]
        self.assertEqual(sum(text.count(b'{"Item"') for text in data), 30)
        self.import_("--from", "backup")
        self.assert_copied("large")

    def test_a_killed_export_to_a_file_resumes_and_has_each_item_once(self):
        self.make_large()
        words = ["export", "--account", self.source, "--all", "--to", "large.json.gz", "--read-units-max=500", "--parallel=2"]
        self.kill_and_resume(words, self.directory / "large.json.gz.journal", kills=2)
        text = gzip.decompress((self.directory / "large.json.gz").read_bytes())
        self.assertEqual(text.count(b'{"Item"'), 30)
        self.import_("--from", "large.json.gz")
        self.assert_copied("large")

    def test_a_killed_import_resumes_even_with_if_exists_replace(self):
        self.make_large()
        self.export("--all", "--to", "backup", "--parallel", "2")
        self.make("large", items=2, client=self.there)
        words = ["import", "--account", self.target, "--from", "backup", "--if-exists", "replace", "--write-units-max=4000"]
        self.kill_and_resume(words, self.directory / "mayfly-transfer.journal", kills=3)
        self.assert_copied("large")

    def test_an_interrupted_transfer_resumes_only_with_the_same_options(self):
        self.make_large(items=12)
        journal = self.directory / "backup" / "export.journal"
        words = ["--all", "--to", "backup", "--parallel", "1", "--quiet"]
        process = subprocess.Popen(
            self.command(["export", "--account", self.source, *words, "--read-units-max", "100"]),
            cwd=self.directory,
            env=self.environment(),
            stderr=subprocess.PIPE,
        )
        eventually(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 3)
        process.send_signal(signal.SIGTERM)
        said = process.communicate()[1].decode()
        self.assertEqual(process.returncode, UNFINISHED)
        self.assertIn("--resume", said)
        self.assertEqual(stat.S_IMODE(journal.stat().st_mode), 0o600)

        self.assertIn("unfinished transfer", self.export(*words, code=FAILED))
        self.assertIn("incomplete export", self.import_("--from", "backup", code=FAILED))
        self.assertIn("a different --ttl", self.export(*words, "--ttl", "off", "--resume", code=FAILED))
        whole = journal.read_bytes()
        journal.write_bytes(whole[:60] + b"\xff\n" + whole[61:])
        self.export(*words, "--resume", code=FAILED)
        journal.write_bytes(whole + b'{"part":0,"cur')  # truncated when the process was killed
        self.export(*words, "--resume")
        self.import_("--from", "backup")
        self.assert_copied("large")
        self.assertIn("nothing to resume", self.export("--all", "--to", "other", "--resume", code=FAILED))

    def test_a_signal_ends_a_command_that_waits_for_a_response(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        words = ["export", "--all", "--url", url, "--to", "x"]
        process = subprocess.Popen(self.command(words), cwd=self.directory, env=self.environment(), stderr=subprocess.DEVNULL)
        asking, _ = silent.accept()
        self.addCleanup(asking.close)
        asking.recv(1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), FAILED)

    # --- anonymization

    RULES = {
        "default": "hash",
        "rules": [
            {"table": "users", "path": "email", "action": "fake", "kind": "email"},
            {"table": "users", "path": "name", "action": "fake", "kind": "name"},
            {"path": "**.password", "action": "drop"},
            {"path": "plan", "action": "keep"},
            {"table": "orders", "path": "lines[*].sku", "action": "keep"},
            {"table": "orders", "path": "lines[*].note", "action": "drop"},
            {"table": "orders", "path": "number", "action": "keep"},
        ],
    }
    SECRETS = ("alice", "Alice", "corp.test", "hunter2", "fragile", "Elm Street")

    def make_shop(self):
        self.make("users", items=0)
        self.make("orders", items=0)
        users = [
            {
                "id": {"S": f"alice-{number}"},
                "email": {"S": f"alice{number}@corp.test"},
                "name": {"S": "Alice Smith"},
                "plan": {"S": "free"},
                "login": {"M": {"password": {"S": "hunter2"}, "street": {"S": "Elm Street"}}},
            }
            for number in range(40)
        ]
        line = {"M": {"sku": {"S": "sku-1"}, "note": {"S": "fragile"}, "for": {"S": "alice-7"}}}
        orders = [
            {"id": {"S": f"o{number}"}, "user": {"S": f"alice-{number}"}, "number": {"N": str(number)}, "lines": {"L": [line, line]}}
            for number in range(40)
        ]
        self.put("users", users)
        self.put("orders", orders)
        (self.directory / "rules.json").write_text(json.dumps(self.RULES))

    def test_rules_can_drop_hash_fake_or_keep_values_and_foreign_keys_still_match(self):
        self.make_shop()
        words = ["--all", "--anonymize", "rules.json"]
        said = self.export(*words, "--to", server.url, "--to-account", self.target)
        self.assertIn("users: email (fake email): 40", said)
        self.assertIn("users: **.password (drop): 40", said)

        users, orders = all_items(self.there, "users"), all_items(self.there, "orders")
        self.assertEqual((len(users), len(orders)), (40, 40))
        ids = {user["id"]["S"] for user in users}
        self.assertEqual(len(ids), 40)
        self.assertEqual({order["user"]["S"] for order in orders}, ids)
        self.assertEqual(len({user["email"]["S"] for user in users}), 40)
        for user in users:
            self.assertRegex(user["id"]["S"], "^[0-9a-f]{32}$")
            self.assertRegex(user["email"]["S"], r"^[a-z]+\.[a-z]+\.[0-9a-f]{16}@example\.com$")
            self.assertRegex(user["name"]["S"], r"^\w+ \w+$")
            self.assertEqual(user["plan"], {"S": "free"})
            self.assertEqual(list(user["login"]["M"]), ["street"])
        self.assertEqual(sorted(int(order["number"]["N"]) for order in orders), list(range(40)))
        for order in orders:
            for one in order["lines"]["L"]:
                self.assertEqual(one["M"]["sku"], {"S": "sku-1"})
                self.assertNotIn("note", one["M"])
                self.assertIn(one["M"]["for"]["S"], ids)
        everything = json.dumps([users, orders]) + said
        for secret in self.SECRETS:
            self.assertNotIn(secret, everything)

    def test_replacement_values_depend_only_on_the_secret(self):
        self.make_shop()
        key = "correct horse battery staple"
        (self.directory / "secret").write_text(key + "\n")
        words = ["users", "--anonymize", "rules.json"]
        self.export(*words, "--to", "one.json", "--parallel", "1", "--secret-file", "secret")
        said = self.export(*words, "--to", "two.json", "--parallel", "1", MAYFLY_ANONYMIZE_SECRET=key)
        self.export(*words, "--to", "three.json", "--parallel", "1")
        items = lambda name: [line for line in (self.directory / name).read_text().splitlines() if line.startswith('{"Item"')]
        self.assertEqual(len(items("one.json")), 40)
        self.assertEqual(items("one.json"), items("two.json"))
        self.assertEqual(set(items("one.json")) & set(items("three.json")), set())
        for text in (said, (self.directory / "one.json").read_text(), (self.directory / "three.json").read_text()):
            for secret in (key, *self.SECRETS):
                self.assertNotIn(secret, text)
        (self.directory / "secret").write_text("short")
        said = self.export(*words, "--to", "four.json", "--secret-file", "secret", code=MEANS_NOTHING)
        self.assertIn("at least 16 bytes", said)

    def test_a_dry_run_shows_items_before_and_after_and_writes_nothing(self):
        self.make_shop()
        said = self.export("users", "--anonymize", "rules.json", "--to", "x", "--dry-run")
        self.assertIn("before", said)
        self.assertIn("@example.com", said)
        self.assertFalse((self.directory / "x").exists())

    def test_a_killed_anonymized_export_resumes_with_its_generated_secret(self):
        self.make("large", items=0)
        for number in range(24):
            item = {"id": {"S": str(number)}, "who": {"S": "alice"}, "filled": {"S": "x" * 1024 * 300}}
            self.here.put_item(TableName="large", Item=item)
        rules = {"default": "hash", "rules": [{"path": "filled", "action": "keep"}]}
        (self.directory / "rules.json").write_text(json.dumps(rules))
        words = ["export", "--account", self.source, "large", "--to", "backup", "--anonymize", "rules.json"]
        journal = self.directory / "backup" / "export.journal"
        self.kill_and_resume([*words, "--parallel", "1", "--read-units-max=500"], journal, kills=2)
        self.import_("--from", "backup")
        items = all_items(self.there, "large")
        self.assertEqual(len(items), 24)
        self.assertEqual(len({item["who"]["S"] for item in items}), 1)
        self.assertNotEqual(items[0]["who"]["S"], "alice")

    def test_invalid_rules_are_rejected_before_anything_is_written(self):
        self.make_shop()
        rule = lambda **members: {"default": "hash", "rules": [members]}
        wrong = [
            ({"rules": []}, "default"),
            ({"default": "fake"}, "default"),
            ({"default": "hash", "ruls": []}, "ruls"),
            ({"default": "hash", "rules": {}}, "array"),
            ({"default": "hash", "rules": [7]}, "rule 1"),
            ({"default": "hash", "rules": [{"path": "x", "action": "keep"}] * 1001}, "1000"),
            ({"default": "drop"}, "key attribute id"),
            (rule(path="id", action="drop"), "key attribute id"),
            (rule(path="id", action="fake", kind="name"), "the same fake value"),
            (rule(path="id", action="shred"), "shred"),
            (rule(path="x", action="fake", kind="face"), "face"),
            (rule(path="x", action="fake", kind="number"), "'min' and 'max'"),
            (rule(path="x", action="fake", kind="number", min=2, max=1), "'min' and 'max'"),
            (rule(path="x..y", action="keep"), "is not a valid path"),
            (rule(path="x[", action="keep"), "is not a valid path"),
            (rule(path="x[99999999999999999999999]", action="keep"), "is not a valid path"),
            (rule(path="", action="keep"), "path"),
            (rule(path="a.**", action="keep"), "ends with **"),
            (rule(path=".".join(["*"] * 60 + ["x"]), action="keep"), "40 steps"),
            (rule(action="keep"), "path"),
        ]
        path = self.directory / "rules.json"
        for rules, words in wrong:
            with self.subTest(str(rules)[:80]):
                path.write_text(json.dumps(rules))
                said = self.export("users", "--anonymize", "rules.json", "--to", "x", code=MEANS_NOTHING)
                self.assertIn(words, said)
        for text in ("", "[" * 100000, '{"default":"hash"', "\xff\x00", '{"default":"hash","default":"keep"'):
            path.write_text(text)
            self.export("users", "--anonymize", "rules.json", "--to", "x", code=MEANS_NOTHING)
        path.write_bytes(b" " * (1024 * 1024 + 1))
        self.assertIn("larger", self.export("users", "--anonymize", "rules.json", "--to", "x", code=FAILED))
        self.assertFalse((self.directory / "x").exists())

    def test_matching_a_path_with_many_wildcards_terminates_on_a_deep_item(self):
        deep = {"S": "alice"}
        for _ in range(30):
            deep = {"M": {"a": deep}}
        self.make("deep", items=0)
        self.put("deep", [{"id": {"S": "1"}, "a": deep}])
        path = ".".join(["**", "a"] * 15)
        drops = [{"path": f"{path}.b{number}", "action": "drop"} for number in range(200)]
        rules = {"default": "keep", "rules": [*drops, {"path": "**.a", "action": "hash"}]}
        (self.directory / "rules.json").write_text(json.dumps(rules))
        self.export("deep", "--anonymize", "rules.json", "--to", "deep.json")
        self.assertNotIn("alice", (self.directory / "deep.json").read_text())


if __name__ == "__main__":
    unittest.main()
