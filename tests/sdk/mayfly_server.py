"""A Mayfly server for a test module, helpers to create tables, and helpers to wait for changes.

    def setUpModule():
        global server
        server = MayflyServer.for_module()       # on a free port, in memory; stops with the module

    carts = server.create_table("carts", {"id": "S"}, key_schema("id"), ttl="ttl")
    carts.put_item(Item={"id": "1", "ttl": 1})
"""

import http.client
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.request

import boto3
from botocore.config import Config

ACCESS_KEY, SECRET_KEY, REGION = "test", "test", "us-east-1"
START_SECONDS_MAX = 30


def binary():
    """Returns the path of the server to test: $MAYFLY_SERVER, or the binary that script/build creates."""
    root = pathlib.Path(__file__).resolve().parents[2]
    return os.environ.get("MAYFLY_SERVER", str(root / "build" / "release" / "mayfly"))


def is_instrumented():
    """Returns whether the server was built with sanitizers, which make it slow and reserve much address space."""
    return any(os.environ.get(name) for name in ("ASAN_OPTIONS", "TSAN_OPTIONS"))


class MayflyServer:
    def __init__(self, *arguments, preexec=None, log_level="warning", log=None, environment=None):
        """Starts a server and waits until it accepts requests. `preexec` runs in the server's process before the server, for
        example to change its user or its limits. `log` is a file for the server's standard error. The server gets this
        process's environment and, in addition, `environment`."""
        self._directory = tempfile.TemporaryDirectory(prefix="mayfly-test-")
        self._clients = []
        port_file = pathlib.Path(self._directory.name) / "port"
        executable = binary()
        if preexec:
            os.chmod(self._directory.name, 0o777)
            # If `preexec` changes the user, that user may be unable to read the executable's directory.
            executable = shutil.copy(executable, self._directory.name)
        self._process = subprocess.Popen(
            [
                *(executable, "serve", "--log-level", log_level),
                *("--port", "0", "--port-file", str(port_file)),
                *arguments,
            ],
            stdout=subprocess.DEVNULL,
            stderr=log,
            env={**os.environ, **(environment or {})},
            preexec_fn=preexec,
        )
        self.pid = self._process.pid
        try:
            # The file appears, already complete, once the server accepts requests.
            self.port = int(eventually(lambda: self._read(port_file), START_SECONDS_MAX))
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise
        scheme = "https" if "--tls-cert" in arguments else "http"
        self.url = f"{scheme}://127.0.0.1:{self.port}"

    @classmethod
    def for_module(cls, *arguments):
        """Starts a server for setUpModule. It stops after the module's tests."""
        server = cls(*arguments)
        unittest.addModuleCleanup(server.stop)
        return server

    def _read(self, port_file):
        if self._process.poll() is not None:
            raise RuntimeError(f"mayfly exited with {self._process.returncode} before it served")
        return port_file.read_text() if port_file.exists() else None

    def stop(self):
        """Sends SIGTERM. Fails if the server does not exit cleanly."""
        for client in self._clients:
            client.close()
        self._process.terminate()
        try:
            code = self._process.wait(START_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            self._directory.cleanup()
        assert code == 0, f"mayfly exited with {code} on SIGTERM"

    def kill(self):
        """Sends SIGKILL, to simulate a crash."""
        for client in self._clients:
            client.close()
        self._process.kill()
        self._process.wait()
        self._directory.cleanup()

    def advance(self, seconds):
        """Advances the clock. Returns {"now", "expired", "tables", "next_expiry"} once all expired items are deleted."""
        return self.control("POST", "clock/advance", {"seconds": seconds})

    def control(self, method, path, body=None):
        """Makes a call under /_mayfly/ and returns its response."""
        request = urllib.request.Request(
            f"{self.url}/_mayfly/{path}",
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)

    def client(self, service, access_key=ACCESS_KEY, **options):
        """Returns a boto3 client for "dynamodb", "dynamodbstreams" or "lambda". `options` are passed to boto3.client."""
        client = boto3.client(service, **{**self._options(access_key), **options})
        self._clients.append(client)
        return client

    def resource(self):
        """Returns boto3's DynamoDB resource, which uses Python values instead of {"S": …}."""
        resource = boto3.resource("dynamodb", **self._options(ACCESS_KEY))
        self._clients.append(resource.meta.client)
        return resource

    def aws(self, service, command, *arguments, **environment):
        """Runs the AWS CLI with no configuration except `environment`. Returns the parsed output, or None if it is empty.
        Raises RuntimeError with the error message if the command fails. Skips the test if the CLI is not installed."""
        cli = os.environ.get("AWS_CLI", "/usr/bin/aws")
        if not shutil.which(cli):
            raise unittest.SkipTest("the AWS CLI is not installed")
        done = subprocess.run(
            [cli, "--endpoint-url", self.url, service, command, *arguments],
            env={
                "PATH": os.environ["PATH"],
                "HOME": os.devnull,
                "AWS_ACCESS_KEY_ID": ACCESS_KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
                "AWS_DEFAULT_REGION": REGION,
                "AWS_PAGER": "",
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return json.loads(done.stdout) if done.stdout.strip() else None

    def create_table(self, name, attributes, keys, ttl=None, **request):
        """Creates a table in on-demand mode and returns boto3's resource for it. `attributes` maps names to types; `ttl` is
        the TTL attribute."""
        dynamodb = self.client("dynamodb")
        dynamodb.create_table(
            TableName=name,
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": kind} for name, kind in attributes.items()],
            KeySchema=keys,
            BillingMode="PAY_PER_REQUEST",
            **request,
        )
        dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 10})
        if ttl:
            dynamodb.update_time_to_live(
                TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": ttl}
            )
        return self.resource().Table(name)

    def _options(self, access_key):
        return {
            "endpoint_url": self.url,
            "region_name": REGION,
            "aws_access_key_id": access_key,
            "aws_secret_access_key": SECRET_KEY,
            # A failed request must fail the test instead of being retried.
            "config": Config(retries={"total_max_attempts": 1}),
        }


class Client:
    """One connection that stays open, for a server that cannot accept another one."""

    def __init__(self, server):
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def ask(self, method, path, body=None, headers=None):
        self._connection.request(method, path, None if body is None else json.dumps(body), headers or {})
        answer = self._connection.getresponse()
        return answer.status, answer.read().decode()

    def operation(self, name, body):
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{name}",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/20260101/{REGION}/dynamodb/aws4_request, "
            "SignedHeaders=host, Signature=0",
        }
        return self.ask("POST", "/", body, headers)

    def health(self):
        status, body = self.ask("GET", "/_mayfly/health")
        return status, json.loads(body)["status"]

    def metric(self, name):
        lines = self.ask("GET", "/_mayfly/metrics")[1].splitlines()
        return next(int(line.split()[-1]) for line in lines if line.startswith(name + " "))

    def close(self):
        self._connection.close()


def key_schema(partition_key, sort_key=None):
    keys = [{"AttributeName": partition_key, "KeyType": "HASH"}]
    return keys + [{"AttributeName": sort_key, "KeyType": "RANGE"}] if sort_key else keys


def index(name, partition_key, sort_key=None, projection="ALL"):
    """Returns a local or global index for CreateTable."""
    return {
        "IndexName": name,
        "KeySchema": key_schema(partition_key, sort_key),
        "Projection": {"ProjectionType": projection},
    }


def stream(view_type="NEW_AND_OLD_IMAGES"):
    return {"StreamEnabled": True, "StreamViewType": view_type}


def eventually(condition, seconds_max=20):
    """Returns the result of `condition` as soon as it is true. Fails after `seconds_max`."""
    deadline = time.monotonic() + seconds_max
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"still {result!r} after {seconds_max} s")
        time.sleep(0.005)


class StreamReader:
    """Reads a table's newest stream from its beginning."""

    def __init__(self, server, table_name, access_key=ACCESS_KEY):
        self._streams = server.client("dynamodbstreams", access_key)
        arn = server.client("dynamodb", access_key).describe_table(TableName=table_name)["Table"]["LatestStreamArn"]
        shards = self._streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        self._iterators = [
            self._streams.get_shard_iterator(
                StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            for shard in shards
        ]
        self.records = []

    def poll(self):
        """Returns the new records."""
        new, iterators = [], []
        for iterator in self._iterators:
            answer = self._streams.get_records(ShardIterator=iterator)
            new += answer["Records"]
            if "NextShardIterator" in answer:
                iterators.append(answer["NextShardIterator"])
        self._iterators = iterators
        self.records += new
        return new

    def removed(self):
        """Reads the new records, then returns all REMOVE records read so far."""
        self.poll()
        return [record for record in self.records if record["eventName"] == "REMOVE"]


def is_expiry(record):
    """Returns whether the service, not a client, removed the item because its TTL had passed."""
    return record["eventName"] == "REMOVE" and record.get("userIdentity") == {
        "Type": "Service",
        "PrincipalId": "dynamodb.amazonaws.com",
    }
