"""Tests buckets on a real S3 server, moto, which checks each signature: other clients read what the C++ test
tests/http/s3_server_test.cc writes, and vice versa. Also tests exports to that server, requested with the newest
boto3."""

import gzip
import json
import os
import subprocess
import unittest
import urllib.request

import boto3
from moto.server import ThreadedMotoServer

from mayfly_server import MayflyServer, eventually, key_schema

PROGRAM = os.environ.get("MAYFLY_HTTP_TESTS", "../../build/release/tests/http_tests")
EVERYTHING = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}


class S3Server(unittest.TestCase):
    def setUp(self):
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
        self.server.start()
        self.addCleanup(self.server.stop)
        self.url = "http://{}:{}".format(*self.server.get_host_and_port())

    def client(self, service, key="anybody", secret="anything"):
        return boto3.client(service, endpoint_url=self.url, region_name="us-east-1",
                            aws_access_key_id=key, aws_secret_access_key=secret)

    def test_other_clients_can_read_what_mayfly_puts(self):
        iam = self.client("iam")
        iam.create_user(UserName="mayfly")
        iam.put_user_policy(UserName="mayfly", PolicyName="all", PolicyDocument=json.dumps(EVERYTHING))
        key = iam.create_access_key(UserName="mayfly")["AccessKey"]
        self.client("s3").create_bucket(Bucket="exports")
        # From now on moto checks signatures.
        urllib.request.urlopen(urllib.request.Request(self.url + "/moto-api/reset-auth", b"0",
                                                      {"Content-Type": "text/plain"}, method="POST"))

        environment = dict(os.environ, MAYFLY_TEST_S3_ENDPOINT=self.url, AWS_ACCESS_KEY_ID=key["AccessKeyId"],
                           AWS_SECRET_ACCESS_KEY=key["SecretAccessKey"])
        environment.pop("AWS_SESSION_TOKEN", None)
        ran = subprocess.run([PROGRAM, "[s3_server]"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(ran.returncode, 0, ran.stdout.decode(errors="replace"))

        s3 = self.client("s3", key["AccessKeyId"], key["SecretAccessKey"])
        body = s3.get_object(Bucket="exports", Key="2024/a b+c=d.json")["Body"].read()
        self.assertEqual(body, b"2024/a b+c=d.json!")
        self.assertGreater(s3.head_object(Bucket="exports", Key="large")["ContentLength"], 16 * 1024 * 1024)
        self.assertEqual(s3.list_multipart_uploads(Bucket="exports").get("Uploads", []), [])

    def test_exports_are_written_to_the_s3_server(self):
        s3 = self.client("s3")
        s3.create_bucket(Bucket="exports")
        server = MayflyServer("--s3-endpoint", self.url,
                              environment={"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything"})
        self.addCleanup(server.stop)
        server.control("PUT", "clock", {"mode": "frozen", "now": "2031-01-01T00:00:00Z"})
        carts = server.create_table("carts", {"id": "S"}, key_schema("id"))
        dynamodb = server.client("dynamodb")
        dynamodb.update_continuous_backups(
            TableName="carts", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
        server.advance(60)
        for number in range(100):
            carts.put_item(Item={"id": str(number)})
        server.advance(3600)

        def exported(**request):
            arn = dynamodb.export_table_to_point_in_time(
                TableArn="arn:aws:dynamodb:us-east-1:000000000000:table/carts", S3Prefix="2031", **request
            )["ExportDescription"]["ExportArn"]

            def over():
                export = dynamodb.describe_export(ExportArn=arn)["ExportDescription"]
                return export if export["ExportStatus"] != "IN_PROGRESS" else None

            return eventually(over)

        def lines(export):
            def get(key):
                return s3.get_object(Bucket="exports", Key=key)

            summary = json.loads(get(export["ExportManifest"])["Body"].read())
            for line in get(summary["manifestFilesS3Key"])["Body"].read().splitlines():
                entry = json.loads(line)
                stored = get(entry["dataFileS3Key"])
                self.assertEqual(stored["ETag"].strip('"'), entry["etag"])
                yield from map(json.loads, gzip.decompress(stored["Body"].read()).splitlines())

        full = exported(S3Bucket="exports")
        self.assertEqual(full["ExportStatus"], "COMPLETED", full)
        self.assertEqual({line["Item"]["id"]["S"] for line in lines(full)}, {str(number) for number in range(100)})
        changes = exported(
            S3Bucket="exports", ExportType="INCREMENTAL_EXPORT",
            IncrementalExportSpecification={"ExportFromTime": "2031-01-01T00:01:00Z",
                                            "ExportToTime": "2031-01-01T00:30:00Z"})
        self.assertEqual(changes["ExportStatus"], "COMPLETED", changes)
        self.assertEqual({line["NewImage"]["id"]["S"] for line in lines(changes)}, {str(number) for number in range(100)})
        nowhere = exported(S3Bucket="nowhere")
        self.assertEqual((nowhere["ExportStatus"], nowhere["FailureCode"]), ("FAILED", "S3NoSuchBucket"))

    def test_imports_and_bulk_puts_read_from_and_report_to_the_s3_server(self):
        s3 = self.client("s3")
        s3.create_bucket(Bucket="data")
        server = MayflyServer("--s3-endpoint", self.url,
                              environment={"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything"})
        self.addCleanup(server.stop)
        dynamodb = server.client("dynamodb")

        def put(key, numbers, **condition):
            items = [{"Item": {"id": {"S": str(number)}, "x": {"S": "x" * 1000}}, **condition} for number in numbers]
            s3.put_object(Bucket="data", Key=key,
                          Body=gzip.compress("".join(json.dumps(item) + "\n" for item in items).encode()))

        # There are more objects than one page of a listing holds. One object is larger than a chunk, and one is empty.
        for number in range(1005):
            put(f"in/{number:04}.json.gz", [number])
        put("in/large.json.gz", range(10_000, 13_000))
        s3.put_object(Bucket="data", Key="in/empty.json.gz", Body=b"")
        arn = dynamodb.import_table(
            S3BucketSource={"S3Bucket": "data", "S3KeyPrefix": "in/"}, InputFormat="DYNAMODB_JSON",
            InputCompressionType="GZIP", TableCreationParameters={
                "TableName": "carts", "BillingMode": "PAY_PER_REQUEST", "KeySchema": key_schema("id"),
                "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]},
        )["ImportTableDescription"]["ImportArn"]
        eventually(lambda: server.control("POST", "jobs/await", {"timeout_seconds": 1})["settled"], 300)
        shown = dynamodb.describe_import(ImportArn=arn)["ImportTableDescription"]
        self.assertEqual((shown["ImportStatus"], shown["ImportedItemCount"]), ("COMPLETED", 4005), shown)

        put("bulk/1.json.gz", [1, 2, 20_000], ConditionExpression="attribute_not_exists(id)")
        arn = dynamodb.start_bulk_put_items(
            TableName="carts",
            InputS3Configuration={"S3Bucket": "data", "S3KeyPrefix": "bulk/", "InputFormat": "DYNAMODB_JSON",
                                  "InputCompressionType": "GZIP"},
            OutputS3Configuration={"S3Bucket": "data", "S3KeyPrefix": "out", "OutputType": ["CONDITION_CHECK_FAILURE"]},
        )["BulkOperationDescription"]["BulkOperationArn"]
        eventually(lambda: server.control("POST", "jobs/await", {"timeout_seconds": 1})["settled"], 300)
        shown = dynamodb.describe_bulk_operation(BulkOperationArn=arn)["BulkOperationDescription"]
        self.assertEqual((shown["BulkOperationStatus"], shown["ProcessedItemCount"]), ("COMPLETED", 3), shown)
        report = s3.get_object(Bucket="data", Key=f"out/AWSDynamoDB/{arn.split('/')[-1]}/condition-check-failure.json")
        self.assertEqual([json.loads(line)["attemptedItem"]["id"]["S"] for line in report["Body"].read().splitlines()],
                         ["1", "2"])


if __name__ == "__main__":
    unittest.main()
