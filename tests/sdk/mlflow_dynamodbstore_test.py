"""Tests MLflow with the DynamoDB store mlflow-dynamodbstore from PyPI: deleted runs expire after 90 days of Mayfly's clock.

Runs in an environment with mlflow_dynamodbstore_requirements.txt; `script/test --all` creates it.
"""

import http.server
import os
import pathlib
import subprocess
import sys
import threading
import unittest

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # must be set before MLflow is imported

from mayfly_server import ACCESS_KEY, REGION, SECRET_KEY, MayflyServer, eventually, index, key_schema
from mlflow import MlflowClient
from mlflow.entities import ViewType
from mlflow.exceptions import MlflowException

DAY_SECONDS = 24 * 3600


class StackIsThere(http.server.BaseHTTPRequestHandler):
    """Answers the store's first request, which asks CloudFormation whether the store's stack, and therefore its table, exists."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        answer = (
            b'<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">'
            b"<DescribeStacksResult><Stacks><member><StackName>mlflow</StackName>"
            b"<StackStatus>CREATE_COMPLETE</StackStatus><CreationTime>2026-01-01T00:00:00Z</CreationTime>"
            b"</member></Stacks></DescribeStacksResult></DescribeStacksResponse>"
        )
        self.send_response(200)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


def setUpModule():
    global cloudformation
    cloudformation = http.server.ThreadingHTTPServer(("127.0.0.1", 0), StackIsThere)
    threading.Thread(target=cloudformation.serve_forever, daemon=True).start()


def tearDownModule():
    cloudformation.shutdown()
    cloudformation.server_close()


def create_table(server, name):
    """Creates the table of the store's own template, with five local and five global indexes. Enables TTL and point-in-time
    recovery."""
    names = ["PK", "SK"]
    names += [f"lsi{number}sk" for number in range(1, 6)]
    names += [f"gsi{number}{key}" for number in range(1, 6) for key in ("pk", "sk")]
    server.create_table(
        name,
        {name: "S" for name in names},
        key_schema("PK", "SK"),
        ttl="ttl",
        LocalSecondaryIndexes=[index(f"lsi{number}", "PK", f"lsi{number}sk") for number in range(1, 6)],
        GlobalSecondaryIndexes=[index(f"gsi{number}", f"gsi{number}pk", f"gsi{number}sk") for number in range(1, 6)],
    )
    server.client("dynamodb").update_continuous_backups(
        TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )


class MlflowTest(unittest.TestCase):
    def setUp(self):
        # Each test has its own clock. MLflow caches stores by URI, so each test also needs its own table name.
        self.server = MayflyServer()
        self.addCleanup(self.server.stop)
        self.table = f"mlflow-{self.server.port}"
        create_table(self.server, self.table)
        # The store and its command use boto3, which reads its endpoint from these variables.
        os.environ |= {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL_DYNAMODB": self.server.url,
            "AWS_ENDPOINT_URL_CLOUDFORMATION": f"http://127.0.0.1:{cloudformation.server_port}",
        }
        self.mlflow = MlflowClient(f"dynamodb://{REGION}/{self.table}", f"dynamodb://{REGION}/{self.table}")
        self.experiment = self.mlflow.create_experiment("wings", artifact_location="/nowhere")

    def command(self, *arguments):
        """Runs `mlflow-dynamodbstore …` and returns its output."""
        executable = pathlib.Path(sys.executable).with_name("mlflow-dynamodbstore")
        done = subprocess.run(
            [executable, *arguments, "--table", self.table, "--region", REGION],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def create_run(self, name):
        """Creates a run with a parameter, a tag and a metric with three steps. Returns its id."""
        run_id = self.mlflow.create_run(self.experiment, run_name=name).info.run_id
        self.mlflow.log_param(run_id, "depth", "4")
        self.mlflow.set_tag(run_id, "team", "entomology")
        # Does not use log_batch, because for several steps of one metric the store sends a BatchWriteItem with duplicate
        # keys.
        for step in (1, 2, 4):
            self.mlflow.log_metric(run_id, "loss", 1 / step, timestamp=1000 * step, step=step)
        return run_id

    def items_of(self, run_id):
        """Returns the sort keys of all items that belong to the run."""
        pages = self.server.client("dynamodb").get_paginator("scan").paginate(TableName=self.table)
        items = [item for page in pages for item in page["Items"]]
        return sorted(item["SK"]["S"] for item in items if run_id in str(item))

    def history_of(self, run_id):
        """Returns the items of the run's metric steps. (The client's get_metric_history needs pages, which this store does
        not support.)"""
        return [key for key in self.items_of(run_id) if "#MHIST#" in key]

    def search(self, view, query=""):
        found = self.mlflow.search_runs([self.experiment], query, run_view_type=view)
        return sorted(run.info.run_name for run in found)

    def test_a_deleted_run_is_visible_for_ninety_days_and_then_removed_completely(self):
        deleted, kept = self.create_run("deleted"), self.create_run("kept")
        self.assertEqual(self.search(ViewType.ACTIVE_ONLY, "metrics.loss < 0.5"), ["deleted", "kept"])
        self.assertGreater(len(self.items_of(deleted)), 8)
        items_of_kept = self.items_of(kept)

        self.mlflow.delete_run(deleted)
        self.server.advance(90 * DAY_SECONDS - 60)
        run = self.mlflow.get_run(deleted)
        self.assertEqual(run.info.lifecycle_stage, "deleted")
        self.assertEqual((run.data.metrics, run.data.params["depth"]), ({"loss": 0.25}, "4"))
        self.assertEqual(self.search(ViewType.DELETED_ONLY), ["deleted"])

        advanced = self.server.advance(120)
        self.assertGreater(advanced["tables"][self.table], 8)
        self.assertEqual(self.items_of(deleted), [])
        with self.assertRaises(MlflowException) as raised:
            self.mlflow.get_run(deleted)
        self.assertEqual(raised.exception.error_code, "RESOURCE_DOES_NOT_EXIST")
        self.assertEqual(self.search(ViewType.ALL), ["kept"])
        self.assertEqual(self.items_of(kept), items_of_kept)

    def test_a_run_restored_on_its_last_day_does_not_expire(self):
        run_id = self.create_run("restored")
        items = self.items_of(run_id)
        self.mlflow.delete_run(run_id)
        self.server.advance(89 * DAY_SECONDS)
        self.mlflow.restore_run(run_id)
        self.assertEqual(self.server.advance(30 * DAY_SECONDS)["expired"], 0)
        run = self.mlflow.get_run(run_id)
        self.assertEqual(run.info.lifecycle_stage, "active")
        self.assertEqual(run.data.tags["team"], "entomology")
        self.assertEqual(len(self.history_of(run_id)), 3)
        self.assertEqual(self.items_of(run_id), items)

    def test_a_metrics_history_expires_after_a_year_but_its_last_value_stays(self):
        run_id = self.create_run("old")
        self.assertEqual(len(self.history_of(run_id)), 3)
        self.assertEqual(self.server.advance(366 * DAY_SECONDS)["tables"], {self.table: 3})
        self.assertEqual(self.history_of(run_id), [])
        self.assertEqual(self.mlflow.get_run(run_id).data.metrics, {"loss": 0.25})

    def test_a_changed_policy_is_shown_and_applies_to_the_next_deletion(self):
        self.assertEqual(
            self.command("ttl-policy", "show"),
            [
                "metric_history_retention_days: 365 days",
                "soft_deleted_retention_days: 90 days",
                "trace_retention_days: 30 days",
            ],
        )
        set_to_a_week = ("ttl-policy", "set", "--soft-deleted-retention-days", "7")
        self.assertEqual(self.command(*set_to_a_week), ["TTL policy updated."])
        self.assertIn("soft_deleted_retention_days: 7 days", self.command("ttl-policy", "show"))
        run_id = self.create_run("short")
        self.mlflow.delete_run(run_id)
        self.server.advance(8 * DAY_SECONDS)
        self.assertEqual(self.items_of(run_id), [])

    def test_a_cleanup_expires_the_orphaned_items_of_an_expired_experiment(self):
        run_id = self.create_run("orphan")
        self.mlflow.delete_experiment(self.experiment)
        advanced = self.server.advance(91 * DAY_SECONDS)
        self.assertEqual(advanced["tables"], {self.table: 1})
        orphans = self.items_of(self.experiment)
        self.assertIn(f"R#{run_id}", orphans)

        self.assertEqual(
            self.command("cleanup-expired", "--dry-run"),
            [
                f"Experiment {self.experiment}: {len(orphans)} orphaned items",
                f"Dry run: {len(orphans)} orphaned items found",
            ],
        )
        self.assertEqual(self.items_of(self.experiment), orphans)
        self.assertEqual(self.command("cleanup-expired")[-1], f"Set TTL on {len(orphans)} orphaned items")
        # The command uses real time, which is three months behind the server's clock, so the items expire immediately.
        eventually(lambda: not self.items_of(self.experiment))


if __name__ == "__main__":
    unittest.main()
