"""Tests functions in several languages with the clients of the Runtime API that their users have.

    runtimes_test.py Python    the language needs its toolchain, or for Python the packages of functions_requirements.txt

Each language has the same handler (functions/tried.*): it writes the keys of records to a file, echoes, fails or exits.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from mayfly_server import MayflyServer, key_schema, stream

FUNCTIONS = pathlib.Path(__file__).parent / "functions"
RECORDS = 10_000


class Runtime:
    """The tests of all languages."""

    def program(self, directory):
        raise NotImplementedError

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.seen = pathlib.Path(directory.name, "seen")
        self.seen.touch()
        program = self.program(pathlib.Path(directory.name))
        path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        before = os.getcwd()
        os.chdir(FUNCTIONS)  # Python and Node.js look for the handler's file in the server's directory
        try:
            self.server = MayflyServer("--function", f"tried={program}", "--function-env", f"SEEN={self.seen}",
                                       environment={"PATH": path})
        finally:
            os.chdir(before)
        self.addCleanup(self.server.stop)
        self.client = self.server.client("lambda")

    def invoke(self, payload):
        answer = self.client.invoke(FunctionName="tried", Payload=json.dumps(payload))
        return json.load(answer["Payload"]), answer.get("FunctionError")

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

    def test_each_record_is_delivered_once(self):
        table = self.server.create_table("carts", {"id": "S"}, key_schema("id"), StreamSpecification=stream())
        self.client.create_event_source_mapping(EventSourceArn=table.latest_stream_arn, FunctionName="tried",
                                                StartingPosition="TRIM_HORIZON", BatchSize=1000)
        with table.batch_writer() as batch:
            for number in range(RECORDS):
                batch.put_item(Item={"id": str(number)})
        settled = self.server.control("POST", "clock/advance", {"seconds": 0, "settle": "triggers", "settle_seconds": 60})
        self.assertTrue(settled["settled"], settled)
        self.assertEqual(sorted(self.seen.read_text().split(), key=int), [str(number) for number in range(RECORDS)])

    def test_a_warm_invocation_takes_milliseconds(self):
        self.invoke({"echo": 1})
        began = time.monotonic()
        for _ in range(100):
            self.invoke({"echo": 1})
        print(f"{type(self).__name__}: {(time.monotonic() - began) * 10:.2f} ms for each warm invocation", file=sys.stderr)


class Python(Runtime, unittest.TestCase):
    def program(self, directory):
        return "python:tried.handler"


class Node(Runtime, unittest.TestCase):
    def program(self, directory):
        return "node:tried.handler"


class Go(Runtime, unittest.TestCase):
    def program(self, directory):
        subprocess.run(["go", "build", "-o", directory / "bootstrap", "."], cwd=FUNCTIONS / "go", check=True)
        return f"exec:{directory / 'bootstrap'}"


if __name__ == "__main__":
    unittest.main()
