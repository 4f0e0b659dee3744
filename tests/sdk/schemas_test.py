"""Tests `serve --schema`: the schema's tables exist before the server answers the first request."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from mayfly_server import MayflyServer, binary

TEMPLATE = """
Parameters:
  Stage: {Type: String}
Resources:
  Carts:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "${Stage}-carts"
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      TimeToLiveSpecification: {AttributeName: ttl, Enabled: true}
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}
"""


class Schemas(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.template = self.write("template.yaml", TEMPLATE)

    def write(self, name, text):
        path = self.directory / name
        path.write_text(text)
        return str(path)

    def serve_template(self, *arguments):
        return MayflyServer("--schema", self.template, "--schema-parameter", "Stage=dev", *arguments)

    def test_a_templates_tables_exist_from_the_start(self):
        server = self.serve_template()
        self.addCleanup(server.stop)
        dynamodb = server.client("dynamodb")
        self.assertEqual(dynamodb.list_tables()["TableNames"], ["dev-carts"])
        expiry = dynamodb.describe_time_to_live(TableName="dev-carts")["TimeToLiveDescription"]
        self.assertEqual(expiry, {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"})
        backups = dynamodb.describe_continuous_backups(TableName="dev-carts")["ContinuousBackupsDescription"]
        self.assertEqual(backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"], "ENABLED")

    def test_the_output_of_describe_table_recreates_the_table(self):
        server = self.serve_template()
        described = server.client("dynamodb").describe_table(TableName="dev-carts")["Table"]
        server.stop()
        again = MayflyServer("--schema", self.write("table.json", json.dumps({"Table": described}, default=str)))
        self.addCleanup(again.stop)
        table = again.client("dynamodb").describe_table(TableName="dev-carts")["Table"]
        for member in ("KeySchema", "AttributeDefinitions", "TableStatus"):
            self.assertEqual(table[member], described[member])
        self.assertEqual(table["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST")

    def test_a_table_that_exists_in_the_data_directory_is_not_changed(self):
        data = str(self.directory / "data")
        server = self.serve_template("--data", data)
        server.client("dynamodb").put_item(TableName="dev-carts", Item={"id": {"S": "1"}})
        server.stop()
        again = self.serve_template("--data", data)
        self.addCleanup(again.stop)
        self.assertEqual(again.client("dynamodb").scan(TableName="dev-carts")["Count"], 1)

    def test_the_start_waits_for_tables_that_are_created_slowly(self):
        server = self.serve_template("--table-delay-ms", "30")
        self.addCleanup(server.stop)
        table = server.client("dynamodb").describe_table(TableName="dev-carts")["Table"]
        self.assertEqual(table["TableStatus"], "ACTIVE")

    def test_a_workbench_models_items_are_created(self):
        key = {"PartitionKey": {"AttributeName": "id", "AttributeType": "S"}}
        items = [{"id": {"S": "1"}, "n": {"N": "5"}}, {"id": {"S": "2"}}]
        model = {"DataModel": [{"TableName": "Tickets", "KeyAttributes": key, "TableData": items}]}
        server = MayflyServer("--schema", self.write("model.json", json.dumps(model)))
        self.addCleanup(server.stop)
        scanned = server.client("dynamodb").scan(TableName="Tickets")["Items"]
        self.assertEqual(sorted(scanned, key=lambda item: item["id"]["S"]), items)
        model["DataModel"][0]["TableData"].append({"no": {"S": "key"}})
        ended = self.failed_start(self.write("model.json", json.dumps(model)))
        self.assertIn("model.json: Tickets: PutItem of item 3: ValidationException: ", ended.stderr)

    def test_a_provisioned_global_table_gets_replicas_and_its_minimum_capacity(self):
        template = """
Resources:
  Music:
    Type: AWS::DynamoDB::GlobalTable
    Properties:
      TableName: music
      BillingMode: PROVISIONED
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}, {AttributeName: g, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}
      WriteProvisionedThroughputSettings: {WriteCapacityAutoScalingSettings: {MinCapacity: 5, MaxCapacity: 50}}
      GlobalSecondaryIndexes:
        - IndexName: by_g
          KeySchema: [{AttributeName: g, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
          WriteProvisionedThroughputSettings: {WriteCapacityAutoScalingSettings: {MinCapacity: 2, MaxCapacity: 9}}
      Replicas: [{Region: us-east-1}, {Region: eu-west-1}]
"""
        server = MayflyServer("--schema", self.write("global.yaml", template))
        self.addCleanup(server.stop)
        table = server.client("dynamodb").describe_table(TableName="music")["Table"]
        self.assertEqual(table["BillingModeSummary"]["BillingMode"], "PROVISIONED")
        self.assertEqual(table["ProvisionedThroughput"]["WriteCapacityUnits"], 5)
        self.assertEqual(table["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["WriteCapacityUnits"], 2)
        self.assertEqual([replica["RegionName"] for replica in table["Replicas"]], ["eu-west-1"])

    def test_a_table_is_created_without_tags_that_dynamodb_rejects(self):
        key = [{"AttributeName": "id", "KeyType": "HASH"}]
        definition = [{"AttributeName": "id", "AttributeType": "S"}]
        table = {"TableName": "tagged", "KeySchema": key, "AttributeDefinitions": definition, "Tags": [{"Key": "a", "Value": "{}"}]}
        table["BillingMode"] = "PAY_PER_REQUEST"
        server = MayflyServer("--schema", self.write("table.json", json.dumps(table)))
        self.addCleanup(server.stop)
        self.assertEqual(server.client("dynamodb").list_tables()["TableNames"], ["tagged"])

    def test_an_unreadable_file_of_a_directory_is_named_and_fails_a_strict_start(self):
        broken = self.write("broken.yaml", "a: *b")
        server = MayflyServer("--schema", str(self.directory), "--schema-parameter", "Stage=dev")
        self.addCleanup(server.stop)
        self.assertEqual(server.client("dynamodb").list_tables()["TableNames"], ["dev-carts"])
        ended = self.failed_start(str(self.directory), "--schema-parameter", "Stage=dev", "--schema-strict")
        self.assertIn(f"mayfly: {broken}: line 1: the alias *b is not supported", ended.stderr)

    def failed_start(self, schema, *arguments):
        ended = subprocess.run(
            [binary(), "serve", "--port", "0", "--schema", schema, *arguments], capture_output=True, text=True, timeout=60
        )
        self.assertEqual(ended.returncode, 1)
        return ended

    def test_a_table_that_cannot_be_created_fails_the_start_with_awss_message(self):
        keys = '[{"AttributeName":"id","KeyType":"HASH"}]'
        bad = self.write("bad.json", f'{{"TableName":"table","KeySchema":{keys}}}')
        ended = self.failed_start(bad)
        self.assertIn(f"mayfly: {bad}: table: CreateTable: ValidationException: ", ended.stderr)


if __name__ == "__main__":
    unittest.main()
