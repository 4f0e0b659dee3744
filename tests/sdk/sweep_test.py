"""Runs `mayfly sweep` as its users do, against an endpoint with its own TTL disabled: kills and restarts the command and
observes its deletions through a stream. Most tests control the clock; the ones about lateness use real time."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request

from function_server import FunctionServer
from mayfly_server import ACCESS_KEY, REGION, SECRET_KEY, MayflyServer, StreamReader, binary, eventually, key_schema, stream

BEGIN = 1_924_992_000  # 2031-01-01T00:00:00Z, a minute boundary


def setUpModule():
    global server
    server = MayflyServer.for_module()


MANUAL = pathlib.Path(__file__).resolve().parents[2].joinpath("docs/sweep.md").read_text()


def manuals_swept():
    """Returns the function that docs/sweep.md shows for writers in Python."""
    block = MANUAL.split("```python\n")[1].split("table = ")[0]
    names = {}
    exec(block, names)  # pylint: disable=exec-used
    return names["swept"]


def swept(key, ttl):
    return {"id": key, **manuals_swept()(key, ttl)}


class Sweeper:
    """A run of `mayfly sweep`. `account` has its own tables and clock."""

    def __init__(self, account, *arguments, table="carts"):
        self._log = tempfile.TemporaryFile("w+")
        environment = {"PATH": os.environ["PATH"], "HOME": os.devnull, "AWS_ACCESS_KEY_ID": ACCESS_KEY}
        environment |= {"AWS_SECRET_ACCESS_KEY": SECRET_KEY, "AWS_DEFAULT_REGION": REGION, "MAYFLY_ACCOUNT": account}
        common = ["--endpoint", server.url, "--table", table, "--ttl-attribute", "ttl", "--look-back-seconds", "3600"]
        command = [*arguments, *common] if arguments and not arguments[0].startswith("-") else [*common, *arguments]
        self.process = subprocess.Popen(
            [binary(), "sweep", *command], stdout=subprocess.PIPE, stderr=self._log, text=True, env=environment
        )

    def log(self):
        self._log.seek(0)
        return [json.loads(line) for line in self._log.read().splitlines()]

    def said(self):
        self._log.seek(0)
        return self._log.read()

    def started(self):
        """Returns the sweeper's start event, as soon as it is logged."""
        return eventually(lambda: [line for line in self.log() if line["event"] == "started"])[0]

    def close(self):
        self.process.stdout.close()
        self._log.close()

    def wait(self):
        code = self.process.wait(120)
        self.printed = self.process.stdout.read()
        return code

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.wait()


class SweepTest(unittest.TestCase):
    accounts = 0

    def setUp(self):
        SweepTest.accounts += 1
        self.account = f"{SweepTest.accounts:012}"
        self.running = []
        self.client = server.client("dynamodb", self.account)

    def tearDown(self):
        for sweeper in self.running:
            if sweeper.process.poll() is None:
                sweeper.end(signal.SIGKILL)
            sweeper.close()

    def control(self, method, path, body=None):
        request = urllib.request.Request(
            f"{server.url}/_mayfly/{path}",
            json.dumps(body or {}).encode() if method != "GET" else None,
            {"Content-Type": "application/json", "X-Mayfly-Account": self.account},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)

    def sweeper(self, *arguments, table="carts"):
        self.running.append(Sweeper(self.account, *arguments, table=table))
        return self.running[-1]

    def run_to_its_end(self, *arguments):
        sweeper = self.sweeper(*arguments)
        code = sweeper.wait()
        self.assertEqual(code, 0, sweeper.said())
        return sweeper

    def create_table(self):
        self.client.create_table(
            TableName="carts",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=key_schema("id"),
            BillingMode="PAY_PER_REQUEST",
            StreamSpecification=stream(),
        )
        self.run_to_its_end("plan", "--apply")
        return StreamReader(server, "carts", self.account)

    def put(self, item):
        values = {name: {"N": str(value)} if isinstance(value, int) else {"S": value} for name, value in item.items()}
        self.client.put_item(TableName="carts", Item=values)

    def renew(self, key, ttl):
        """Sets the item's TTL. Returns whether the item still existed."""
        try:
            self.client.update_item(
                TableName="carts",
                Key={"id": {"S": key}},
                UpdateExpression="SET #t = :t",
                ConditionExpression="attribute_exists(id)",
                ExpressionAttributeNames={"#t": "ttl"},
                ExpressionAttributeValues={":t": {"N": str(ttl)}},
            )
        except self.client.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def delete(self, key):
        """Deletes the item. Returns whether the item still existed."""
        return "Attributes" in self.client.delete_item(
            TableName="carts", Key={"id": {"S": key}}, ReturnValues="ALL_OLD"
        )

    def ids(self):
        return {item["id"]["S"] for item in self.client.scan(TableName="carts")["Items"]}

    def freeze(self):
        self.control("PUT", "clock", {"mode": "frozen", "now": "2031-01-01T00:00:00Z"})

    def advance(self, seconds):
        self.control("POST", "clock/advance", {"seconds": seconds})

    def test_sweep_plan_sweep_backfill_and_a_single_pass_work_as_the_manual_shows(self):
        self.freeze()
        self.create_table()
        for n in range(30):
            self.put({"id": str(n), "ttl": BEGIN + n * 10})
        clock = ["--clock", "mayfly"]
        plan = self.run_to_its_end("plan", *clock).printed
        self.assertRegex(plan, r"missing +30 ")
        self.assertIn("30 scanned, 30 armed", self.run_to_its_end("backfill", *clock).printed)
        self.assertRegex(self.run_to_its_end("plan", *clock).printed, r"placed +30 ")
        self.advance(100.001)
        dry = self.run_to_its_end("--once", "--dry-run", *clock)
        self.assertEqual(dry.log()[-1]["would_delete"], 11)
        self.assertEqual(len(self.ids()), 30)
        self.assertEqual(self.run_to_its_end("--once", *clock).log()[-1]["deleted"], 11)
        self.assertEqual(self.ids(), {str(n) for n in range(11, 30)})

    def test_after_an_hour_of_downtime_items_are_deleted_in_due_order(self):
        self.freeze()
        reader = self.create_table()
        due = {f"i{n}": BEGIN + n * 7919 % 3600 for n in range(300)}
        for key, ttl in due.items():
            self.put(swept(key, ttl))
        first = self.sweeper("--clock", "mayfly", "--lease-seconds", "0.5")
        self.advance(300)
        eventually(lambda: len(reader.removed()) >= sum(ttl < BEGIN + 300 for ttl in due.values()))
        first.end(signal.SIGKILL)
        self.advance(3600)
        second = self.run_to_its_end("--clock", "mayfly", "--lease-seconds", "0.5", "--once")
        removed = [record["dynamodb"]["Keys"]["id"]["S"] for record in reader.removed()]
        self.assertEqual(sorted(removed), sorted(due))
        seconds = [due[key] for key in removed]
        self.assertEqual(seconds, sorted(seconds))
        self.assertGreater(second.log()[-1]["deleted"], 200)

    def test_while_sweepers_are_killed_each_item_is_deleted_once_and_no_item_is_deleted_early(self):
        """Renewed items stay. Sweepers mark each item that they delete, so that a stream filter can distinguish their
        deletions from the user's."""
        reader = self.create_table()
        start = int(time.time()) + 5
        due = {f"i{n}": start + n % 8 for n in range(400)}
        for key, ttl in due.items():
            self.put(swept(key, ttl))
        options = ["--lease-seconds", "0.5", "--mark-attribute", "deletedBy", "--metrics", "127.0.0.1:0"]
        sweepers = [self.sweeper(*options), self.sweeper(*options)]
        # On a busy machine, a sweeper can delete the first items before they are renewed or deleted here.
        renewed = {key for key in list(due)[::5] if self.renew(key, due[key] + 86400)}
        removed = {key for key in list(due)[1::5] if self.delete(key)}
        self.assertTrue(renewed and removed)
        kills = 0
        while time.time() < start + 9:
            time.sleep(1)
            sweepers[kills % 2].end(signal.SIGKILL)
            sweepers[kills % 2] = self.sweeper(*options)
            kills += 1
        gone = set(due) - renewed
        eventually(lambda: self.ids() == renewed)
        eventually(lambda: not any("deletedBy" in item for item in self.client.scan(TableName="carts")["Items"]))
        for sweeper in sweepers:
            sweeper.started()
            self.assertEqual(sweeper.end(), 0, sweeper.said())
        while reader.poll():
            pass  # a page has at most a thousand records
        records = {}
        for record in reader.removed():
            records.setdefault(record["dynamodb"]["Keys"]["id"]["S"], []).append(record["dynamodb"])
        self.assertEqual(set(records), gone)
        self.assertEqual({len(each) for each in records.values()}, {1})
        marked = {
            key
            for key, (change,) in records.items()
            if change["OldImage"].get("deletedBy", {}).get("S", "").startswith("mayfly-sweep/")
        }
        self.assertEqual(marked, gone - removed)
        for key in marked:
            self.assertGreaterEqual(records[key][0]["ApproximateCreationDateTime"].timestamp(), due[key])

    def test_errors_are_reported_and_the_log_is_json(self):
        self.create_table()
        missing = self.sweeper("--once", table="none")
        self.assertEqual(missing.wait(), 1)
        self.assertIn("mayfly: table none: ResourceNotFoundException: ", missing.said())
        other = self.sweeper("--once", "--window-seconds", "30")
        self.assertEqual(other.wait(), 1)
        self.assertIn("already has other settings: --window-seconds 60 --shards 16 (or more)", other.said())
        with tempfile.TemporaryDirectory() as directory:
            tables = pathlib.Path(directory, "tables.json")
            tables.write_text('[{"table":"carts"},{"table":"none"}]')
            several = self.sweeper("--tables", str(tables), "--once")
            self.assertEqual(several.wait(), 1)
            self.assertIn("table none: ResourceNotFoundException", several.said())

    def test_the_manuals_filter_distinguishes_the_sweepers_deletions_from_a_users_deletions(self):
        self.freeze()
        self.create_table()
        patterns = [line for line in MANUAL.splitlines() if line.startswith('{"eventName": ["REMOVE"]')]
        arn = self.client.describe_table(TableName="carts")["Table"]["LatestStreamArn"]
        functions = {}
        for name, pattern in zip(["sweeps", "users"], patterns, strict=True):
            functions[name] = FunctionServer()
            self.addCleanup(functions[name].stop)
            self.control("PUT", f"functions/{name}", {"url": functions[name].url})
            server.client("lambda", self.account).create_event_source_mapping(
                EventSourceArn=arn,
                FunctionName=name,
                StartingPosition="TRIM_HORIZON",
                FilterCriteria={"Filters": [{"Pattern": pattern}]},
            )
        self.put(swept("expired", BEGIN))
        self.put(swept("unwanted", BEGIN + 9000))
        self.client.delete_item(TableName="carts", Key={"id": {"S": "unwanted"}})
        self.advance(1)
        self.run_to_its_end("--once", "--clock", "mayfly", "--mark-attribute", "deletedBy")

        def told(name):
            records = [record for call in functions[name].calls for record in call.event["Records"]]
            return [record["dynamodb"]["Keys"]["id"]["S"] for record in records]

        eventually(lambda: told("sweeps") and told("users"))
        self.control("POST", "clock/advance", {"seconds": 1, "settle": "triggers"})
        self.assertEqual((told("sweeps"), told("users")), (["expired"], ["unwanted"]))

    def test_metrics_are_served_during_a_sweep(self):
        self.freeze()
        self.create_table()
        self.put(swept("1", BEGIN))
        sweeper = self.sweeper("--clock", "mayfly", "--metrics", "127.0.0.1:0")
        started = sweeper.started()
        self.advance(1)
        eventually(lambda: not self.ids())

        def metrics():
            with urllib.request.urlopen(f"http://127.0.0.1:{started['metrics_port']}/metrics") as page:
                return page.read().decode()

        eventually(lambda: 'mayfly_sweep_items_total{table="carts",outcome="deleted"} 1\n' in metrics())
        eventually(lambda: 'mayfly_sweep_shards_held{table="carts"} 16\n' in metrics())
        self.assertEqual(sweeper.end(), 0)
        rows = self.client.scan(TableName="mayfly_sweep")["Items"]
        self.assertFalse([row for row in rows if "owner" in row or row["part"]["S"].startswith("sweeper#")])


if __name__ == "__main__":
    unittest.main()
