"""Buckets at a real S3 server, moto's, which checks each signature: what the C++ of tests/http/s3_server_test.cc puts
there another client reads, and the other way round."""

import json
import os
import subprocess
import unittest
import urllib.request

import boto3
from moto.server import ThreadedMotoServer

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

    def test_what_is_put_is_there_for_others(self):
        iam = self.client("iam")
        iam.create_user(UserName="mayfly")
        iam.put_user_policy(UserName="mayfly", PolicyName="all", PolicyDocument=json.dumps(EVERYTHING))
        key = iam.create_access_key(UserName="mayfly")["AccessKey"]
        self.client("s3").create_bucket(Bucket="exports")
        # From now on moto looks at who signed.
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


if __name__ == "__main__":
    unittest.main()
