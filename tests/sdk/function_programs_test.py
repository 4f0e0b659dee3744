"""Tests functions that are programs: `mayfly serve --function NAME=exec:COMMAND`.

The programs are Python with a client of the Runtime API that uses only the standard library (functions/runtime.py). Tests with
the official clients are in runtimes_test.py.
"""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import boto3
import botocore.exceptions
from mayfly_server import MayflyServer, binary, eventually, key_schema, stream
from tls_test import make_certificate

RUNTIME = pathlib.Path(__file__).parent / "functions/runtime.py"
# The function must not see these variables of the server's process.
REAL = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI", "AWS_SESSION_TOKEN": "t",
        "AWS_PROFILE": "production", "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9"}


def program(handler):
    return f"exec:/usr/bin/python3 -B {RUNTIME} {handler}"


def is_running(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def map_stream(server, name, function, **settings):
    table = server.create_table(name, {"id": "S"}, key_schema("id"), ttl="ttl", StreamSpecification=stream())
    server.client("lambda").create_event_source_mapping(
        EventSourceArn=table.latest_stream_arn, FunctionName=function, StartingPosition="TRIM_HORIZON", **settings)
    return table


class FunctionProgramsTest(unittest.TestCase):
    def serve(self, handler, *options, **environment):
        server = MayflyServer("--function", f"tested={program(handler)}", *options, environment={**REAL, **environment})
        self.addCleanup(server.stop)
        return server

    def invoke(self, server, payload=None):
        answer = server.client("lambda").invoke(FunctionName="tested", Payload=json.dumps(payload))
        return json.load(answer["Payload"]), answer.get("FunctionError")

    def test_an_expired_cart_reaches_a_handler_that_writes_with_boto3(self):
        server = self.serve("carts.remember")
        seen = server.create_table("seen", {"id": "S"}, key_schema("id"))
        only_expired = {"userIdentity": {"type": ["Service"], "principalId": ["dynamodb.amazonaws.com"]}}
        carts = map_stream(server, "carts", "tested", FilterCriteria={"Filters": [{"Pattern": json.dumps(only_expired)}]})
        for number in range(5):
            carts.put_item(Item={"id": str(number), "ttl": int(time.time()) + 3600})
        advanced = server.control("POST", "clock/advance", {"seconds": 48 * 3600, "settle": "triggers"})
        self.assertTrue(advanced["settled"], advanced)
        self.assertEqual({item["id"]: item["times"] for item in seen.scan()["Items"]}, {str(n): 1 for n in range(5)})

    def test_the_developers_credentials_do_not_reach_a_handler_and_other_services_are_refused(self):
        server = self.serve("carts.variables")
        variables, error = self.invoke(server)
        self.assertIsNone(error)
        self.assertEqual(variables["AWS_ACCESS_KEY_ID"], "000000000000")
        self.assertEqual(variables["AWS_ENDPOINT_URL_DYNAMODB"], server.url)
        for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL_S3", "MAYFLY_SERVER"):
            self.assertNotIn(name, variables)
        self.assertFalse(set(REAL.values()) & set(variables.values()))
        server = self.serve("carts.list_buckets")
        answer, error = self.invoke(server)
        self.assertEqual(error, "Unhandled")
        self.assertIn("--function-env AWS_ENDPOINT_URL_S3=", answer["errorMessage"])

    def test_a_handler_reaches_a_server_with_tls_that_requires_signatures(self):
        with tempfile.TemporaryDirectory() as directory:
            cert, key = make_certificate(directory)
            keys = pathlib.Path(directory, "keys")
            keys.write_text("[a]\naws_access_key_id = AKIDTEST\naws_secret_access_key = secret\n")
            server = self.serve("carts.list_tables", "--tls-cert", os.path.relpath(cert), "--tls-key", key,
                                "--require-signature", "--keys", str(keys), "--function-env", "AWS_ACCESS_KEY_ID=AKIDTEST",
                                "--function-env", "AWS_SECRET_ACCESS_KEY=secret")
            client = boto3.client("lambda", endpoint_url=f"https://127.0.0.1:{server.port}", region_name="us-east-1", verify=cert,
                                  aws_access_key_id="AKIDTEST", aws_secret_access_key="secret")
            self.assertEqual(json.load(client.invoke(FunctionName="tested")["Payload"]), [])

    def test_variables_can_be_given(self):
        server = self.serve("carts.variables", "--function-env", "STAGE=test", "--function-env", "AWS_REGION=eu-west-1")
        variables, _ = self.invoke(server)
        self.assertEqual((variables["STAGE"], variables["AWS_REGION"]), ("test", "eu-west-1"))

    def test_an_invocation_has_a_time_limit(self):
        server = self.serve("carts.wait", "--function-seconds-max", "1")
        answer, error = self.invoke(server, {"seconds": 60})
        self.assertEqual((error, answer["errorType"]), ("Unhandled", "Sandbox.Timedout"))
        self.assertRegex(answer["errorMessage"], r"^RequestId: [-0-9a-f]{36} Error: Task timed out after 1\.00 seconds$")
        self.assertEqual(self.invoke(server, {"seconds": 0}), (None, None))

    def test_no_process_survives_the_server_however_it_ends(self):
        for end in (MayflyServer.stop, MayflyServer.kill):
            server = MayflyServer("--function", f"tested={program('carts.process_ids')}")
            ids, error = self.invoke(server)
            self.assertIsNone(error, ids)
            self.assertTrue(all(is_running(pid) for pid in ids))
            end(server)
            eventually(lambda: not any(is_running(pid) for pid in ids), 5)

    def test_the_processes_that_a_handler_started_end_with_it(self):
        server = self.serve("carts.process_ids")
        ids, _ = self.invoke(server)
        os.kill(ids[0], signal.SIGKILL)
        eventually(lambda: not any(is_running(pid) for pid in ids), 5)
        self.assertEqual(self.invoke(server)[1], None)

    def test_all_records_are_delivered_in_order_although_the_function_is_killed(self):
        """Without kills each record is delivered once; with kills at least once."""
        for kills, items in ((0, 2000), (20, 400)):
            with tempfile.TemporaryDirectory() as directory:
                seen = pathlib.Path(directory, "seen")
                seen.touch()
                server = self.serve("carts.in_order", "--function-env", f"SEEN={seen}")
                table = map_stream(server, "orders", "tested", BatchSize=50)
                with table.batch_writer() as batch:
                    for number in range(items):
                        batch.put_item(Item={"id": str(number)})
                if kills:
                    self.kill_functions(kills, server.pid)
                settled = server.control("POST", "clock/advance", {"seconds": 0, "settle": "triggers", "settle_seconds": 60})
                self.assertTrue(settled["settled"], settled)
                delivered = seen.read_text().split()
                self.assertEqual(set(delivered), {str(number) for number in range(items)})
                if not kills:
                    self.assertEqual(len(delivered), items)

    def kill_functions(self, kills, server):
        for _ in range(kills):
            time.sleep(0.02)
            for path in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    command = (path / "cmdline").read_bytes()
                    parents = (path / "stat").read_text().rpartition(")")[2].split()[1]
                    grandparent = pathlib.Path(f"/proc/{parents}/stat").read_text().rpartition(")")[2].split()[1]
                except OSError:
                    continue
                if b"runtime.py" in command and grandparent == str(server):
                    os.kill(int(path.name), signal.SIGKILL)

    def test_a_function_that_cannot_be_started_is_reported(self):
        server = self.serve("nothing.handler")
        answer, error = self.invoke(server)
        self.assertEqual(error, "Unhandled")
        self.assertIn("Runtime exited with error: exit status 1", answer["errorMessage"])

    def test_a_program_that_does_not_exist_is_reported_at_the_start(self):
        started = subprocess.run([binary(), "serve", "--port", "0", "--function", "a=exec:/no-such-program"],
                                 capture_output=True, text=True, timeout=60)
        self.assertEqual((started.returncode, started.stderr), (1, "mayfly: function a: there is no program /no-such-program\n"))

    def test_concurrent_invocations_run_in_separate_processes(self):
        from concurrent.futures import ThreadPoolExecutor

        server = self.serve("carts.process_ids")
        with ThreadPoolExecutor(4) as pool:
            ids = list(pool.map(lambda _: self.invoke(server)[0][0], range(4)))
        self.assertLessEqual(len(set(ids)), 4)
        self.assertRaises(botocore.exceptions.ClientError, server.client("lambda").invoke, FunctionName="unknown")

    def run_here(self, server, handler):
        """Starts `mayfly function run`. Returns its process after it has registered the function."""
        words = ["function", "run", "tested", "--url", server.url, "--", "/usr/bin/python3", "-B", str(RUNTIME), handler]
        run = subprocess.Popen([binary(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **REAL})
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        self.assertEqual(run.stdout.readline(), f"mayfly runs tested for {server.url}, account 000000000000\n")
        return run

    def test_the_event_of_the_newest_changes_can_be_piped_to_a_handler_in_another_terminal(self):
        server = MayflyServer()
        self.addCleanup(server.stop)
        carts, seen = (server.create_table(name, {"id": "S"}, key_schema("id"), StreamSpecification=stream())
                       for name in ("carts", "seen"))
        for number in range(5):
            carts.put_item(Item={"id": str(number)})
        run = self.run_here(server, "carts.remember")
        pipe = f"{binary()} event dynamodb --from carts --limit 3 | {binary()} invoke tested -"
        called = subprocess.run(["bash", "-c", pipe], env={"MAYFLY_URL": server.url}, capture_output=True, text=True)
        self.assertEqual((called.returncode, called.stdout, called.stderr), (0, "null\n", ""))
        self.assertEqual({item["id"]: item["times"] for item in seen.scan()["Items"]}, {"2": 1, "3": 1, "4": 1})
        run.terminate()
        _, log = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0)
        self.assertIn("function tested: REPORT RequestId: ", log)

    def test_no_process_survives_function_run_however_it_ends(self):
        server = MayflyServer()
        self.addCleanup(server.stop)
        for end in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            run = self.run_here(server, "carts.process_ids")
            ids, error = self.invoke(server)
            self.assertIsNone(error, ids)
            self.assertTrue(all(is_running(pid) for pid in ids))
            run.send_signal(end)
            run.wait(60)
            eventually(lambda: not any(is_running(pid) for pid in ids), 5)
            registered = {"tested"} if end == signal.SIGKILL else set()
            self.assertEqual({one["name"] for one in server.control("GET", "functions")["functions"]}, registered)


if __name__ == "__main__":
    unittest.main()
