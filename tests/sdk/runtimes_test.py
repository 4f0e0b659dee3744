"""Tests functions in several languages with the clients of the Runtime API that their users have.

    runtimes_test.py Python    the language needs its toolchain, or for Python the packages of functions_requirements.txt

Each language has the same handler (functions/tried.* and the directories next to it): it writes the keys of records to a
file, echoes, fails or exits. Managed runs the handlers as the functions of a SAM template. FUNCTIONS_BUILD names a directory
that keeps what is built for the next run.
"""
import functools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile
from concurrent.futures import ThreadPoolExecutor

from mayfly_server import MayflyServer, eventually, key_schema, stream

FUNCTIONS = pathlib.Path(__file__).parent / "functions"
RECORDS = 10_000
KILLS = 50
TOOLS = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # for Python's client
JAVA_CLIENT = "com.amazonaws:aws-lambda-java-runtime-interface-client:2.10.1"


@functools.cache
def build_directory():
    if "FUNCTIONS_BUILD" in os.environ:
        return pathlib.Path(os.environ["FUNCTIONS_BUILD"])
    directory = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(directory.cleanup)
    return pathlib.Path(directory.name)


@functools.cache
def build_rust():
    target = build_directory() / "rust"
    subprocess.run(["cargo", "build", "-q", "--locked"], cwd=FUNCTIONS / "rust", check=True,
                   env={**os.environ, "CARGO_TARGET_DIR": str(target)})
    return target / "debug/tried"


@functools.cache
def build_java():
    """Returns the directory with the classes, the jars that they need in lib/, and two jars (functions/java/pom.xml)."""
    target = build_directory() / "java"
    subprocess.run(["mvn", "-B", "-ntp", "-q", f"-Dbuild={target}", "package"], cwd=FUNCTIONS / "java", check=True)
    return target


class Runtime:
    """The tests of all languages."""

    def program(self, directory):
        raise NotImplementedError

    def program_for_records(self, directory):
        """Returns another program if the language needs one for events with records."""
        return self.program(directory)

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.seen = self.directory / "seen"
        self.seen.touch()
        log = (self.directory / "log").open("w")
        self.addCleanup(log.close)
        for name in ("tried.py", "tried.mjs"):
            shutil.copy(FUNCTIONS / name, self.directory)
        before = os.getcwd()
        os.chdir(self.directory)  # Python and Node.js look for the handler's file in the server's directory
        try:
            self.server = MayflyServer("--function", f"tried={self.program(self.directory)}",
                                       "--function", f"records={self.program_for_records(self.directory)}",
                                       "--function-env", f"SEEN={self.seen}", "--stream-shards", "4",
                                       environment={"PATH": TOOLS}, log=log, log_level="info")
        finally:
            os.chdir(before)
        self.addCleanup(self.server.stop)
        self.client = self.server.client("lambda")

    def invoke(self, payload):
        answer = self.client.invoke(FunctionName="tried", Payload=json.dumps(payload))
        return json.load(answer["Payload"]), answer.get("FunctionError")

    def log(self):
        return (self.directory / "log").read_text()

    def map_table(self, batch_size):
        table = self.server.create_table("carts", {"id": "S"}, key_schema("id"), StreamSpecification=stream())
        self.client.create_event_source_mapping(EventSourceArn=table.latest_stream_arn, FunctionName="records",
                                                StartingPosition="TRIM_HORIZON", BatchSize=batch_size)
        return table

    def settle(self):
        settled = self.server.control("POST", "clock/advance", {"seconds": 0, "settle": "triggers", "settle_seconds": 60})
        self.assertTrue(settled["settled"], settled)

    def shards(self, table):
        """Returns the ids in the records of each shard, oldest first."""
        client = self.server.client("dynamodbstreams")
        arn = table.latest_stream_arn
        for shard in client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
            start = client.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")
            ids, page = [], client.get_records(ShardIterator=start["ShardIterator"])
            while page["Records"]:
                ids += [record["dynamodb"]["Keys"]["id"]["S"] for record in page["Records"]]
                page = client.get_records(ShardIterator=page["NextShardIterator"])
            yield ids

    def assert_in_order(self, table, delivered):
        first = {}
        for position, key in enumerate(delivered):
            first.setdefault(key, position)
        shards = list(self.shards(table))
        self.assertEqual(len(shards), 4)
        self.assertEqual(sum(len(ids) for ids in shards), len(first))
        for ids in shards:
            positions = [first[key] for key in ids]
            self.assertEqual(positions, sorted(positions))

    def test_a_handler_returns_fails_and_exits(self):
        for text in ("a", "ä€😀", "x" * 1_000_000):
            result, error = self.invoke({"echo": text})
            self.assertIsNone(error, result)
            self.assertEqual(result["echo"], text)
        self.assertEqual(result["arn"], "arn:aws:lambda:us-east-1:000000000000:function:tried")
        self.assertTrue(50_000 < result["left"] <= 60_000, result["left"])
        result, error = self.invoke({"fail": "no such cart"})
        self.assertEqual((error, result["errorType"], result["errorMessage"]), ("Unhandled", "ValueError", "no such cart"))
        result, error = self.invoke({"exit": 3})
        self.assertEqual((error, result["errorType"]), ("Unhandled", "Runtime.ExitError"))
        self.assertTrue(result["errorMessage"].endswith("Error: Runtime exited with error: exit status 3"), result)
        self.assertEqual(self.invoke({"echo": 1})[0]["echo"], 1)

    def test_concurrent_invocations_start_a_process_each(self):
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda number: self.invoke({"echo": number}), range(4)))
        self.assertEqual([error or result["echo"] for result, error in answers], [0, 1, 2, 3], answers)

    def test_each_record_is_delivered_once_and_in_the_order_of_its_shard(self):
        table = self.map_table(1000)
        with table.batch_writer() as batch:
            for number in range(RECORDS):
                batch.put_item(Item={"id": str(number)})
        self.settle()
        delivered = self.seen.read_text().split()
        self.assertEqual(sorted(delivered, key=int), [str(number) for number in range(RECORDS)])
        self.assert_in_order(table, delivered)

    def test_a_warm_invocation_takes_milliseconds(self):
        self.invoke({"echo": 1})
        began = time.monotonic()
        for _ in range(100):
            self.invoke({"echo": 1})
        print(f"{type(self).__name__}: {(time.monotonic() - began) * 10:.2f} ms for each warm invocation", file=sys.stderr)

    def test_only_the_first_invocation_reports_the_time_of_the_start(self):
        began = time.monotonic()
        self.invoke({"echo": 1})
        cold_ms = (time.monotonic() - began) * 1000
        self.invoke({"echo": 1})
        first, second = re.findall("REPORT RequestId.*", self.log())
        self.assertNotIn("Init Duration", second)
        times = re.search(r" Duration: ([0-9.]+) ms .* Init Duration: ([0-9.]+) ms", first)
        print(f"{type(self).__name__}: {cold_ms:.2f} ms for the first invocation ({times[2]} ms for the start of the process,"
              f" {times[1]} ms for the handler)", file=sys.stderr)


class Compiled(Runtime):
    """Tests that kill the function's processes, which only a program has under its own path."""

    def processes(self):
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(path / "exe") == str(self.directory / "bootstrap"):
                    yield int(path.name)
            except OSError:
                pass  # it has ended, or is a thread of the system

    def kill_a_process(self, chosen):
        """Kills one of the function's processes. Waits for one if there is none."""
        def kill():
            try:
                os.kill(chosen.choice(list(self.processes())), signal.SIGKILL)
                return True
            except (IndexError, ProcessLookupError):
                return False
        eventually(kill)

    def test_each_record_is_delivered_although_processes_are_killed(self):
        seed = random.randrange(1 << 32)
        chosen = random.Random(seed)
        table = self.map_table(10)
        written, enough = [], threading.Event()

        def write():
            with table.batch_writer() as batch:
                while not enough.is_set():
                    batch.put_item(Item={"id": str(len(written))})
                    written.append(str(len(written)))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(KILLS):
                time.sleep(chosen.uniform(0, 0.02))
                self.kill_a_process(chosen)
        finally:
            enough.set()
            writer.join()
        self.settle()
        delivered = self.seen.read_text().split()
        interrupted = len(re.findall("RequestId: .*signal: killed", self.log()))
        print(f"{type(self).__name__}: {KILLS} kills (seed {seed}), of which {interrupted} interrupted an invocation: "
              f"{len(written)} records, {len(delivered)} deliveries", file=sys.stderr)
        self.assertGreater(interrupted, 0)
        self.assertEqual(set(delivered), set(written))
        self.assert_in_order(table, delivered)


class Python(Runtime, unittest.TestCase):
    def program(self, directory):
        return "python:tried.handler"


class Node(Runtime, unittest.TestCase):
    def program(self, directory):
        return "node:tried.handler"


class NodePackages(unittest.TestCase):
    """Lambda's runtime for Node.js brings the AWS SDK, also for modules that import it. Here, the project has it."""

    def test_a_handler_imports_and_requires_packages_of_the_servers_directory(self):
        with tempfile.TemporaryDirectory() as directory:
            project = pathlib.Path(directory)
            files = {
                "node_modules/greeting/package.json": '{"name": "greeting", "main": "index.js"}',
                "node_modules/greeting/index.js": "exports.greet = (name) => `hello ${name}`;",
                "built/modules/app.mjs": 'import { text } from "./lib.mjs";\nexport const handler = async ({ name }) => text(name);',
                "built/modules/lib.mjs": 'import { greet } from "greeting";\nexport const text = greet;',
                "built/required/app.js": 'exports.api = { handler: async ({ name }) => require("greeting").greet(name) };',
                "built/missing/app.mjs": 'import "nowhere";\nexport const handler = () => null;'}
            functions = {"modules": "app.handler", "required": "app.api.handler", "missing": "app.handler"}
            files["built/template.json"] = json.dumps({"Resources": {name: {
                "Type": "AWS::Serverless::Function", "Properties": {"Runtime": "nodejs20.x", "Handler": handler, "CodeUri": name}}
                for name, handler in functions.items()}})
            for name, text in files.items():
                (project / name).parent.mkdir(parents=True, exist_ok=True)
                (project / name).write_text(text)
            before = os.getcwd()
            os.chdir(project)
            try:
                server = MayflyServer("--schema", "built/template.json", "--functions")
            finally:
                os.chdir(before)
            self.addCleanup(server.stop)

            def invoke(name):
                answer = server.client("lambda").invoke(FunctionName=name, Payload=b'{"name": "cart"}')
                return json.load(answer["Payload"])

            self.assertEqual(invoke("modules"), "hello cart")
            self.assertEqual(invoke("required"), "hello cart")
            self.assertIn("Cannot find package 'nowhere'", invoke("missing")["errorMessage"])


class Go(Compiled, unittest.TestCase):
    def program(self, directory):
        subprocess.run(["go", "build", "-o", directory / "bootstrap", "."], cwd=FUNCTIONS / "go", check=True)
        return f"exec:{directory / 'bootstrap'}"


class Rust(Compiled, unittest.TestCase):
    def program(self, directory):
        shutil.copy(build_rust(), directory / "bootstrap")
        return f"exec:{directory / 'bootstrap'}"


class Java(Runtime, unittest.TestCase):
    def program(self, directory):
        return f"java:{build_java() / 'tried-with-client.jar'}::Tried"

    def program_for_records(self, directory):
        return f"java:{build_java() / 'tried-with-client.jar'}::Remembered"


class Managed(unittest.TestCase):
    """Tests functions of a template, whose code does not contain the client because Lambda's runtimes bring it."""

    @classmethod
    def setUpClass(cls):
        # Mayfly finds the client in the local repository.
        subprocess.run(["mvn", "-B", "-ntp", "-q", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get",
                        f"-Dartifact={JAVA_CLIENT}"], check=True)

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        for language, name in (("Python", "tried.py"), ("Node", "tried.mjs")):
            (self.directory / language).mkdir()
            shutil.copy(FUNCTIONS / name, self.directory / language)
        java = build_java()
        shutil.copy(java / "tried-deployed.jar", self.directory / "tried.jar")
        shutil.copytree(java / "classes", self.directory / "Java")
        shutil.copytree(java / "lib", self.directory / "Java/lib")
        python = f"python3.{sys.version_info.minor}"
        functions = {"Python": (python, "tried.handler", "Python"), "Node": ("nodejs24.x", "tried.handler", "Node"),
                     "Java": ("java17", "Remembered", "Java"),
                     "JavaJar": ("java17", "Remembered::handleRequest", "tried.jar")}
        resources = {name: self.function(name, *about) for name, about in functions.items()}
        for function in resources.values():
            function["Properties"]["Events"] = {"Expired": {"Type": "DynamoDB", "Properties": {
                "Stream": {"Fn::GetAtt": ["Carts", "StreamArn"]}, "StartingPosition": "TRIM_HORIZON",
                "FilterCriteria": {"Filters": [{"Pattern": json.dumps({"userIdentity": {"type": ["Service"]}})}]}}}}
        self.mapped = list(resources)
        resources["JavaEcho"] = self.function("JavaEcho", "java17", "Tried::handleRequest", "tried.jar")
        resources["Carts"] = {"Type": "AWS::DynamoDB::Table", "Properties": {
            "TableName": "carts", "BillingMode": "PAY_PER_REQUEST", "KeySchema": key_schema("id"),
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"},
            "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": True}}}
        template = self.directory / "template.json"
        template.write_text(json.dumps({"Transform": "AWS::Serverless-2016-10-31", "Resources": resources}))
        self.server = MayflyServer("--schema", str(template), "--functions", environment={"PATH": TOOLS})
        self.addCleanup(self.server.stop)

    def function(self, name, runtime, handler, code):
        (self.directory / f"{name}.seen").touch()
        return {"Type": "AWS::Serverless::Function", "Properties": {
            "FunctionName": name, "Runtime": runtime, "Handler": handler, "CodeUri": code, "Timeout": 30,
            "Environment": {"Variables": {"SEEN": str(self.directory / f"{name}.seen")}}}}

    def test_each_expired_cart_reaches_a_function_in_each_language_once(self):
        carts = self.server.resource().Table("carts")
        for number in range(100):
            carts.put_item(Item={"id": str(number), "ttl": int(time.time()) + 3600})
        carts.delete_item(Key={"id": "0"})
        advanced = self.server.control("POST", "clock/advance", {"hours": 48, "settle": "triggers"})
        self.assertTrue(advanced["settled"], advanced)
        for name in self.mapped:
            seen = (self.directory / f"{name}.seen").read_text().split()
            self.assertEqual(sorted(seen, key=int), [str(number) for number in range(1, 100)], name)

    def test_invoke_returns_the_response_of_a_described_function(self):
        client = self.server.client("lambda")
        for name in ("Python", "Node", "JavaEcho"):
            answer = client.invoke(FunctionName=name, Payload=json.dumps({"echo": "ä€😀"}))
            result = json.load(answer["Payload"])
            self.assertEqual(result.get("echo"), "ä€😀", result)
            self.assertTrue(20_000 < result["left"] <= 30_000, result)

    def test_the_deployed_jar_does_not_contain_the_client(self):
        with zipfile.ZipFile(build_java() / "tried-deployed.jar") as jar:
            names = jar.namelist()
        self.assertIn("com/amazonaws/services/lambda/runtime/events/DynamodbEvent.class", names)
        self.assertFalse([name for name in names if "/runtime/api/client/" in name])


if __name__ == "__main__":
    unittest.main()
