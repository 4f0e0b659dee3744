"""Uses boto3, the AWS CLI, botocore's signer and Mayfly's commands to test a server that checks signatures."""

import datetime
import gzip
import hashlib
import http.client
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock
import urllib.parse

from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from mayfly_server import REGION, MayflyServer, binary, key_schema, stream

KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
ACCOUNT_KEY, ACCOUNT_SECRET = "000000000042", "second+secret/"
SESSION_KEY, SESSION_SECRET, TOKEN = "ASIAEXAMPLE", "third secret", "t0ken/of+a+session=="
SECRETS = (SECRET, ACCOUNT_SECRET, SESSION_SECRET, TOKEN)
KEYS = f"""
[default]
aws_access_key_id = {KEY}
aws_secret_access_key = {SECRET}
[forty-two]
aws_access_key_id = {ACCOUNT_KEY}
aws_secret_access_key = {ACCOUNT_SECRET}
region = eu-west-1
[session]
aws_access_key_id = {SESSION_KEY}
aws_secret_access_key = {SESSION_SECRET}
aws_session_token = {TOKEN}
"""
MISMATCH = "The request signature we calculated does not match the signature you provided."


class Link(SigV4QueryAuth):
    """A presigned URL for a POST with the body {}. botocore's own class moves the body into the query and signs an empty body."""

    def payload(self, request):
        return hashlib.sha256(b"{}").hexdigest()


def setUpModule():
    global server, log
    directory = tempfile.TemporaryDirectory(prefix="mayfly-test-")
    unittest.addModuleCleanup(directory.cleanup)
    keys = pathlib.Path(directory.name) / "credentials"
    keys.write_text(KEYS)
    log = pathlib.Path(directory.name) / "log"
    with open(log, "w") as said:
        server = MayflyServer("--require-signature", "--keys", str(keys), log_level="debug", log=said)
    unittest.addModuleCleanup(server.stop)


def credentials(key=KEY, secret=SECRET, token=None):
    return {"aws_access_key_id": key, "aws_secret_access_key": secret, "aws_session_token": token}


def client(service="dynamodb", **given):
    return server.client(service, **credentials(**given))


def signed(method="POST", path="/", body=b"{}", operation="ListTables", signer=SigV4Auth, service="dynamodb", **more):
    """Returns a request that botocore signed, at the time `at` if it is given."""
    at = more.pop("at", None)
    request = AWSRequest(method, server.url + path, data=body, headers=more.pop("headers", {}))
    if operation:
        request.headers["X-Amz-Target"] = f"DynamoDB_20120810.{operation}"
    request.headers["Content-Type"] = "application/x-amz-json-1.0"
    key = Credentials(more.pop("key", KEY), more.pop("secret", SECRET), more.pop("token", None))
    with unittest.mock.patch("botocore.auth.datetime", wraps=datetime) as time:
        time.datetime.utcnow.return_value = at or datetime.datetime.utcnow()
        signer(key, service, REGION, **more).add_auth(request)
    return request.prepare()


def send(request, method=None, path=None, body=None, headers=()):
    """Sends a request. The arguments replace parts that were signed. Returns the response's status and body."""
    url = urllib.parse.urlsplit(request.url)
    target = url.path + ("?" + url.query if url.query else "")
    sent = {name: value for name, value in request.headers.items() if name.lower() != "content-length"}
    sent.update(headers)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request(method or request.method, path or target, request.body if body is None else body, sent)
        response = connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text.startswith(b"{") else text
    finally:
        connection.close()


def mayfly(*arguments, **environment):
    """Runs a Mayfly command. Returns its exit code and its output."""
    done = subprocess.run(
        [binary(), *arguments, "--url", server.url],
        env={"PATH": os.environ["PATH"], **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout or done.stderr


class SignatureTest(unittest.TestCase):
    def refused(self, error, message, call, *arguments, **named):
        with self.assertRaises(ClientError) as raised:
            call(*arguments, **named)
        self.assertEqual(raised.exception.response["Error"]["Code"], error)
        self.assertIn(message, raised.exception.response["Error"]["Message"])
        return raised.exception.response["ResponseMetadata"]["HTTPStatusCode"]

    def test_boto3_is_accepted_with_every_key_in_the_file_and_with_no_other_key(self):
        for key, secret, token in (
            (KEY, SECRET, None),
            (ACCOUNT_KEY, ACCOUNT_SECRET, None),
            (SESSION_KEY, SESSION_SECRET, TOKEN),
        ):
            client(key=key, secret=secret, token=token).list_tables()
        invalid = "The security token included in the request is invalid"
        for wrong, error, message in (
            ({"key": "AKIDOTHER"}, "UnrecognizedClientException", invalid + "."),
            ({"secret": "other"}, "InvalidSignatureException", MISMATCH),
            ({"token": "x"}, "UnrecognizedClientException", invalid),
            ({"key": SESSION_KEY, "secret": SESSION_SECRET}, "UnrecognizedClientException", invalid),
            ({"key": SESSION_KEY, "secret": SESSION_SECRET, "token": "x"}, "UnrecognizedClientException", invalid),
        ):
            with self.subTest(wrong):
                self.assertEqual(self.refused(error, message, client(**wrong).list_tables), 400)

    def test_a_table_its_stream_and_lambda_work_with_signatures(self):
        dynamodb = client(key=ACCOUNT_KEY, secret=ACCOUNT_SECRET)
        dynamodb.create_table(
            TableName="carts",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=key_schema("id"),
            BillingMode="PAY_PER_REQUEST",
            StreamSpecification=stream(),
        )
        dynamodb.put_item(TableName="carts", Item={"id": {"S": "söme  späces"}, "text": {"S": "x" * 300_000}})
        self.assertEqual(dynamodb.scan(TableName="carts")["Count"], 1)
        self.assertEqual(client().list_tables()["TableNames"], [])
        arn = dynamodb.describe_table(TableName="carts")["Table"]["LatestStreamArn"]
        streams = client("dynamodbstreams", key=ACCOUNT_KEY, secret=ACCOUNT_SECRET)
        shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
        iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
        self.assertEqual(len(streams.get_records(ShardIterator=iterator["ShardIterator"])["Records"]), 1)
        functions = client("lambda", key=ACCOUNT_KEY, secret=ACCOUNT_SECRET)
        mapping = functions.create_event_source_mapping(
            EventSourceArn=arn, FunctionName="nobody", StartingPosition="TRIM_HORIZON", Enabled=False
        )
        listed = functions.list_event_source_mappings(EventSourceArn=arn)["EventSourceMappings"]
        self.assertEqual([one["UUID"] for one in listed], [mapping["UUID"]])
        # The signature covers the path after its escape sequences have been escaped again.
        resource = f"arn:aws:lambda:{REGION}:{ACCOUNT_KEY}:event-source-mapping:{mapping['UUID']}"
        tags = functions.list_tags(Resource=resource)["Tags"]
        self.assertEqual(tags, {})
        functions.delete_event_source_mapping(UUID=mapping["UUID"])
        other = client("lambda", secret="other").list_event_source_mappings
        self.assertEqual(self.refused("InvalidSignatureException", MISMATCH, other), 403)
        # A signature for one service is invalid for another service.
        request = signed("GET", "/2015-03-31/event-source-mappings/", b"", operation=None)
        self.assertEqual(send(request)[0], 403)

    def test_a_request_that_is_changed_after_signing_is_rejected(self):
        request = signed()
        self.assertEqual(send(request), (200, {"TableNames": []}))
        self.assertEqual(send(request)[0], 200)  # AWS also accepts a request twice
        for change in (
            {"body": b'{"Limit":1}'},
            {"method": "PUT"},
            {"path": "/?a=b"},
            {"headers": {"Host": "localhost:8000"}},
            {"headers": {"X-Amz-Target": "DynamoDB_20120810.DescribeLimits"}},
            {"headers": {"Content-Type": "application/json"}},
        ):
            with self.subTest(change):
                status, answer = send(request, **change)
                self.assertNotEqual(status, 200)
                if "method" not in change:
                    self.assertEqual(answer["__type"], "com.amazon.coral.service#InvalidSignatureException")
                    self.assertIn(MISMATCH, answer["message"])
        late = {"X-Amz-Date": "20240101T000000Z"}
        self.assertIn("Signature expired", send(request, headers=late)[1]["message"])
        added = {"X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD"}
        self.assertIn("must be a 'SignedHeader'", send(request, headers=added)[1]["message"])

    def test_the_date_of_a_signed_request_is_compared_with_the_hosts_clock(self):
        now = datetime.datetime.utcnow()
        for minutes, message in (
            (-14, None),
            (14, None),
            (-16, "Signature expired: "),
            (16, "Signature not yet current: "),
        ):
            with self.subTest(minutes):
                status, answer = send(signed(at=now + datetime.timedelta(minutes=minutes)))
                self.assertEqual(status, 400 if message else 200, answer)
                if message:
                    self.assertEqual(answer["__type"], "com.amazon.coral.service#InvalidSignatureException")
                    self.assertTrue(answer["message"].startswith(message), answer)

    def test_a_presigned_url_is_valid_until_it_expires(self):
        request = signed(signer=Link, expires=60)
        self.assertNotIn("Authorization", request.headers)
        self.assertEqual(send(request, body=b"{}"), (200, {"TableNames": []}))
        self.assertIn(MISMATCH, send(request, body=b"{ }")[1]["message"])
        token = {"key": SESSION_KEY, "secret": SESSION_SECRET, "token": TOKEN}
        self.assertEqual(send(signed(signer=Link, expires=60, **token), body=b"{}")[0], 200)
        ago = datetime.datetime.utcnow() - datetime.timedelta(seconds=120)
        status, answer = send(signed(signer=Link, expires=60, at=ago), body=b"{}")
        self.assertEqual(status, 400)
        self.assertRegex(answer["message"], r"^Signature expired: .* - 1 min\.\)$")
        self.assertEqual(send(signed(signer=Link, expires=600, at=ago), body=b"{}")[0], 200)
        longer = request.url.replace("X-Amz-Expires=60", "X-Amz-Expires=600")
        self.assertIn(MISMATCH, send(request, path="/?" + longer.split("?")[1], body=b"{}")[1]["message"])
        # boto3's own presigned URL has a valid signature but lacks the body.
        link = AWSRequest("POST", client().generate_presigned_url("list_tables"))
        link.headers["X-Amz-Target"] = "DynamoDB_20120810.ListTables"
        link.headers["Content-Type"] = "application/x-amz-json-1.0"
        status, answer = send(link.prepare())
        self.assertEqual((status, answer["__type"]), (400, "com.amazon.coral.service#SerializationException"))

    def test_the_signature_of_a_compressed_request_covers_the_compressed_body(self):
        request = signed(body=gzip.compress(b'{"Limit": 1}'), headers={"Content-Encoding": "gzip"})
        self.assertEqual(send(request), (200, {"TableNames": []}))
        self.assertIn(MISMATCH, send(request, body=gzip.compress(b'{"Limit": 2}'))[1]["message"])

    def test_the_aws_cli_is_accepted(self):
        known = {"AWS_ACCESS_KEY_ID": SESSION_KEY, "AWS_SECRET_ACCESS_KEY": SESSION_SECRET, "AWS_SESSION_TOKEN": TOKEN}
        self.assertEqual(server.aws("dynamodb", "list-tables", **known), {"TableNames": []})
        with self.assertRaisesRegex(RuntimeError, r"\(UnrecognizedClientException\)"):
            server.aws("dynamodb", "list-tables", **{**known, "AWS_SESSION_TOKEN": "other"})

    def test_control_calls_need_a_signature_and_commands_sign_them(self):
        self.assertEqual(send(AWSRequest("GET", server.url + "/_mayfly/health").prepare())[0], 200)
        self.assertEqual(send(AWSRequest("GET", server.url + "/").prepare())[0], 200)
        for path in ("clock", "metrics", "events", "await", "ttl", "nothing"):
            status, answer = send(AWSRequest("GET", server.url + "/_mayfly/" + path).prepare())
            self.assertEqual(status, 403)
            self.assertEqual(answer["__type"], "com.amazon.coral.service#MissingAuthenticationTokenException")
        self.assertEqual(send(signed("GET", "/_mayfly/clock", b"", operation=None))[0], 200)
        link = signed("GET", "/_mayfly/clock", b"", operation=None, signer=SigV4QueryAuth, expires=60)
        self.assertEqual(send(link)[0], 403)  # any page could make a browser follow such a link
        self.assertEqual(send(signed("GET", "/_mayfly/ttl?x=a%20b&y=c%2Bd&a=", b"", operation=None))[0], 200)

        known = {"AWS_ACCESS_KEY_ID": SESSION_KEY, "AWS_SECRET_ACCESS_KEY": SESSION_SECRET, "AWS_SESSION_TOKEN": TOKEN}
        code, said = mayfly("clock", "freeze", "2031-01-01T00:00:00Z", "--account", "000000000077", "--json", **known)
        self.assertEqual((code, json.loads(said)["now"]), (0, "2031-01-01T00:00:00Z"))
        code, said = mayfly("ttl", "show", "--region", "eu-west-1", **known)
        self.assertEqual(code, 0, said)
        code, said = mayfly("clock", "show")
        hint = " The server checks signatures: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.\n"
        self.assertEqual((code, said), (1, "mayfly: Request is missing Authentication Token." + hint))
        code, said = mayfly("table", "list", "--json", **known)
        self.assertEqual(code, 0, said)
        code, said = mayfly("table", "list")
        self.assertEqual((code, said.endswith(hint)), (1, True), said)
        code, said = mayfly("clock", "show", **{**known, "AWS_SECRET_ACCESS_KEY": "other"})
        self.assertEqual(code, 1)
        self.assertIn(MISMATCH, said)

    def test_a_key_from_the_environment_is_accepted(self):
        known = {"AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "B", "AWS_SESSION_TOKEN": ""}
        other = MayflyServer("--require-signature", environment=known)
        try:
            other.client("dynamodb", **credentials("A", "B")).list_tables()
            wrong = other.client("dynamodb", **credentials()).list_tables
            self.refused("UnrecognizedClientException", "security token", wrong)
        finally:
            other.stop()

    def test_no_secret_is_logged_or_returned(self):
        answers = []
        for key, secret, token in ((SESSION_KEY, SESSION_SECRET, TOKEN), (KEY, SECRET, None), (KEY, "other", TOKEN)):
            for signer in (SigV4Auth, SigV4QueryAuth):
                for change in ({}, {"body": b"x"}, {"path": "/_mayfly/clock"}, {"headers": {"X-Amz-Date": "x"}}):
                    more = {"expires": 60} if signer is SigV4QueryAuth else {}
                    request = signed(signer=signer, key=key, secret=secret, token=token, **more)
                    answers.append(json.dumps(send(request, **change)[1]) if change else "")
                    signature = request.headers.get("Authorization", request.url).split("Signature=")[1].split("&")[0]
                    self.assertNotIn(signature, log.read_text())
        said = log.read_text()
        self.assertIn("POST / DynamoDB_20120810.ListTables of account 000000000000 -> ", said)
        for secret in SECRETS:
            for text in (secret, urllib.parse.quote(secret, safe="")):
                self.assertNotIn(text, said)
                self.assertFalse([answer for answer in answers if text in answer])


if __name__ == "__main__":
    unittest.main()
