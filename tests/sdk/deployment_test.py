"""Tests functions and mappings that deployment descriptions define: `mayfly serve --schema FILE --functions`.

The functions are programs (the runtime provided.al2023) with the client in functions/runtime.py. Tests with Lambda's runtimes for
Python, Node.js and Java are in runtimes_test.py.
"""
import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest
import zipfile

from mayfly_server import MayflyServer, binary, eventually

RUNTIME = pathlib.Path(__file__).parent / "functions/runtime.py"
BOOTSTRAP = "#!/bin/sh\nexec /usr/bin/python3 -B runtime.py\n"
ONLY_EXPIRED = json.dumps({"userIdentity": {"type": ["Service"], "principalId": ["dynamodb.amazonaws.com"]}})


def table(name, **more):
    return {"Type": "AWS::DynamoDB::Table",
            "Properties": {"TableName": name, "BillingMode": "PAY_PER_REQUEST",
                           "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
                           "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], **more}}


CARTS = table("carts", StreamSpecification={"StreamViewType": "NEW_AND_OLD_IMAGES"},
              TimeToLiveSpecification={"AttributeName": "ttl", "Enabled": True})


def sam_template(handler, **event):
    return {"Transform": "AWS::Serverless-2016-10-31", "Resources": {
        "Carts": CARTS, "Seen": table("seen"),
        "Reminder": {"Type": "AWS::Serverless::Function", "Properties": {
            "Runtime": "provided.al2023", "Handler": handler, "CodeUri": "Reminder", "Timeout": 10,
            "Environment": {"Variables": {"TABLE": {"Ref": "Seen"}}},
            "Events": {"Expired": {"Type": "DynamoDB", "Properties": {
                "Stream": {"Fn::GetAtt": ["Carts", "StreamArn"]}, "StartingPosition": "TRIM_HORIZON", **event}}}}}}}


class DeploymentTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def write(self, name, text):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path

    def build(self, directory, handler="carts.py"):
        """Leaves in a directory what a build tool would."""
        self.write(f"{directory}/bootstrap", BOOTSTRAP).chmod(0o755)
        for source in (RUNTIME, RUNTIME.parent / handler):
            shutil.copy(source, self.directory / directory)

    def serve(self, *options):
        log = (self.directory / "log").open("a")
        self.addCleanup(log.close)
        server = MayflyServer("--functions", *(str(option) for option in options), log=log, log_level="info")
        self.addCleanup(server.stop)
        return server

    def log(self):
        return (self.directory / "log").read_text()

    def refused(self, *options):
        command = [binary(), "serve", "--port", "0", "--functions", *(str(option) for option in options)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=20)
        self.assertEqual(ended.returncode, 1, ended)
        return ended.stderr.splitlines()[-1].replace(f"{self.directory}/", "")

    def abandon(self, server, count=5):
        """Puts carts that expire, and returns the settle report and the carts that the handler has remembered."""
        carts, seen = server.resource().Table("carts"), server.resource().Table("seen")
        for number in range(count):
            carts.put_item(Item={"id": str(number), "ttl": int(time.time()) + 3600})
        advanced = server.control("POST", "clock/advance", {"seconds": 48 * 3600, "settle": "triggers"})
        return advanced, {item["id"]: int(item["times"]) for item in seen.scan()["Items"]}

    def test_a_built_sam_template_runs_its_functions_on_its_streams(self):
        self.build("built/Reminder")
        template = self.write("built/template.yaml", sam_template(
            "carts.remember", FilterCriteria={"Filters": [{"Pattern": ONLY_EXPIRED}]}))
        advanced, seen = self.abandon(self.serve("--schema", template))
        self.assertTrue(advanced["settled"], advanced)
        self.assertEqual(seen, {str(number): 1 for number in range(5)})

    def test_a_serverless_package_is_unpacked_and_removed_at_the_end(self):
        self.build("code")
        with zipfile.ZipFile(self.directory / "shop.zip", "w", zipfile.ZIP_DEFLATED) as package:
            for path in (self.directory / "code").iterdir():
                package.write(path, path.name)
        template = self.write("cloudformation-template-update-stack.json", {"Resources": {
            "Carts": CARTS, "Seen": table("seen"),
            "RemindLambdaFunction": {"Type": "AWS::Lambda::Function", "Properties": {
                "Code": {"S3Bucket": {"Ref": "Bucket"}, "S3Key": "serverless/shop/dev/1/shop.zip"}, "Runtime": "provided.al2023",
                "Handler": "carts.variables", "FunctionName": "shop-dev-remind", "Timeout": 6}}}})
        server = self.serve("--schema", template)
        answer = json.load(server.client("lambda").invoke(FunctionName="shop-dev-remind")["Payload"])
        code = pathlib.Path(answer["LAMBDA_TASK_ROOT"])
        self.assertTrue((code / "bootstrap").is_file())
        self.assertEqual(answer["AWS_LAMBDA_FUNCTION_NAME"], "shop-dev-remind")
        self.assertEqual(answer["AWS_EXECUTION_ENV"], "AWS_Lambda_provided.al2023")
        server.stop()
        self.assertFalse(code.parent.exists())

    def test_a_terraform_plan_runs_a_function_on_a_table_of_another_file(self):
        self.build("code")
        with zipfile.ZipFile(self.directory / "code.zip", "w") as package:
            for path in (self.directory / "code").iterdir():
                package.write(path, path.name)
        tables = self.write("tables.json", {"Resources": {"Carts": CARTS, "Seen": table("seen")}})
        mapping = {"type": "aws_lambda_event_source_mapping", "name": "m", "mode": "managed"}
        plan = self.write("plan.json", {
            "planned_values": {"root_module": {"resources": [
                {"address": "aws_lambda_function.f", "type": "aws_lambda_function", "name": "f", "mode": "managed", "values": {
                    "function_name": "remind", "runtime": "provided.al2023", "handler": "carts.remember", "filename": "code.zip"}},
                {"address": "aws_lambda_event_source_mapping.m", **mapping, "values": {
                    "function_name": "remind", "starting_position": "TRIM_HORIZON", "maximum_retry_attempts": 1,
                    "filter_criteria": [{"filter": [{"pattern": ONLY_EXPIRED}]}]}}]}},
            "configuration": {"root_module": {"resources": [
                {**mapping, "expressions": {"event_source_arn": {"references": ["data.aws_dynamodb_table.carts.stream_arn"]}}}]}},
            "prior_state": {"values": {"root_module": {"resources": [
                {"address": "data.aws_dynamodb_table.carts", "mode": "data", "type": "aws_dynamodb_table", "name": "carts",
                 "values": {"name": "carts"}}]}}}})
        advanced, seen = self.abandon(self.serve("--schema", plan, "--schema", tables))
        self.assertTrue(advanced["settled"], advanced)
        self.assertEqual(len(seen), 5)
        self.assertEqual(self.refused("--schema", plan), "mayfly: plan.json: aws_lambda_event_source_mapping.m: table carts does "
                         "not exist. Pass the file that defines it with another --schema")

    def test_a_function_whose_code_is_missing_fails_each_call_with_the_reason(self):
        template = self.write("template.yaml", sam_template("carts.remember", MaximumRetryAttempts=0))
        server = self.serve("--schema", template)
        why = f"its code {self.directory}/Reminder does not exist. Run 'sam build'"
        self.assertIn(why, self.log())
        answer = server.client("lambda").invoke(FunctionName="Reminder")
        self.assertEqual(answer["FunctionError"], "Unhandled")
        self.assertIn(why, json.load(answer["Payload"])["errorMessage"])
        advanced, _ = self.abandon(server, 1)
        self.assertFalse(advanced["settled"])
        self.assertIn(why, advanced["given_up"][0]["error"]["message"])

    def test_the_command_line_replaces_a_described_function(self):
        template = self.write("template.yaml", sam_template("carts.remember"))
        server = self.serve("--schema", template, "--function", f"Reminder=exec:/usr/bin/python3 -B {RUNTIME} carts.remember")
        advanced, seen = self.abandon(server)
        self.assertTrue(advanced["settled"], advanced)
        self.assertEqual(len(seen), 5)
        self.assertNotIn("does not exist", self.log())

    def test_a_mapping_survives_a_restart_and_is_not_made_twice(self):
        self.build("Reminder")
        template = self.write("template.yaml", sam_template("carts.remember"))
        for _ in range(2):
            server = self.serve("--schema", template, "--data", self.directory / "data")
            self.assertEqual(len(server.client("lambda").list_event_source_mappings()["EventSourceMappings"]), 1)
            server.stop()
        self.assertIn("already mapped the stream of table carts to function Reminder", self.log())

    def test_functions_need_a_schema(self):
        self.assertEqual(self.refused(), "mayfly: --functions creates the functions of --schema files: give a file with --schema")
        self.assertEqual(self.refused("--schema", self.write("t.yaml", {"Resources": {"Carts": CARTS}}), "--function-inspect", "x"),
                         "mayfly: --function-inspect: there is no function x")
        self.assertEqual(self.refused("--schema", self.write("t.yaml", {"Resources": {"Carts": CARTS}}), "--function", "a=python:a.b",
                                      "--function", "b=python:a.b", "--function-inspect", "a,b"),
                         "mayfly: --function-inspect: functions a and b need different ports: --function-inspect b=PORT")

    def test_functions_with_the_same_name_and_mappings_without_a_function_are_reported(self):
        self.build("Reminder")
        template = sam_template("carts.remember")
        first = self.write("a.yaml", template)
        template["Resources"]["Lost"] = {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {
            "EventSourceArn": {"Fn::GetAtt": ["Carts", "StreamArn"]}, "FunctionName": "elsewhere", "StartingPosition": "LATEST"}}
        template["Resources"]["Table"] = table("other", StreamSpecification={"StreamViewType": "KEYS_ONLY"})
        template["Resources"]["Other"] = {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {
            "EventSourceArn": {"Fn::GetAtt": ["Table", "StreamArn"]}, "StartingPosition": "LATEST",
            "FunctionName": "arn:aws:lambda:us-east-1:000000000000:function:Reminder:live"}}
        self.serve("--schema", first, "--schema", self.write("b.yaml", template))
        self.assertIn("mapped the stream of table other to function Reminder (", self.log())
        self.assertNotIn("no function has the name arn", self.log())
        self.assertIn("b.yaml: Resources.Reminder: function Reminder is left out, because ", self.log())
        self.assertIn("b.yaml: Resources.Lost: no function has the name elsewhere. The mapping waits", self.log())

    def test_a_changed_handler_is_used_after_watch_has_noticed_it(self):
        self.build("Reminder")
        handler = self.write("Reminder/watched.py", "def version(event, context): return 1")
        template = self.write("template.yaml", sam_template("watched.version"))
        server = self.serve("--schema", template, "--watch")

        def version():
            return json.load(server.client("lambda").invoke(FunctionName="Reminder")["Payload"])

        self.assertEqual(version(), 1)
        handler.write_text("def version(event, context): return 'two'")
        eventually(lambda: version() == "two", 10)
        self.assertIn("function Reminder: its code has changed", self.log())

    def test_no_invocation_is_lost_while_the_code_changes(self):
        self.build("Reminder")
        handler = self.write("Reminder/watched.py", "def version(event, context): return 0")
        server = self.serve("--schema", self.write("template.yaml", sam_template("watched.version")), "--watch")
        client = server.client("lambda")

        def invoke_often(_):
            answers = []
            while not answers or answers[-1] != 3:
                answer = client.invoke(FunctionName="Reminder")
                self.assertNotIn("FunctionError", answer)
                answers.append(json.load(answer["Payload"]))
            return answers

        with concurrent.futures.ThreadPoolExecutor(4) as callers:
            running = [callers.submit(invoke_often, number) for number in range(4)]
            for version in (1, 2, 3):
                time.sleep(0.5)
                replacement = self.write("Reminder/new", f"def version(event, context): return {version}")
                replacement.replace(handler)
            for one in running:
                self.assertEqual(one.result(60)[-1], 3)

    def test_settling_names_the_items_that_a_handler_wrote_with_its_own_clock(self):
        self.build("Reminder")
        self.write("Reminder/renew.py", """
import os, time, boto3
def renew(event, context):
    table = boto3.resource("dynamodb", endpoint_url=os.environ["AWS_ENDPOINT_URL_DYNAMODB"]).Table("carts")
    for record in event["Records"]:
        if record["eventName"] == "REMOVE" and not record["dynamodb"]["Keys"]["id"]["S"].startswith("again"):
            table.put_item(Item={"id": "again", "ttl": int(time.time()) + 3600})
""")
        advanced, _ = self.abandon(self.serve("--schema", self.write("template.yaml", sam_template("renew.renew"))), 1)
        self.assertTrue(advanced["settled"], advanced)
        self.assertEqual(advanced["born_expired_items"], {"carts": [{"key": {"id": {"S": "again"}}}]})

    def test_a_handler_can_follow_the_accounts_clock(self):
        self.build("Reminder")
        self.write("Reminder/clock.py", "import time\ndef now(event, headers): "
                                        "return [time.time(), int(headers['Lambda-Runtime-Deadline-Ms']) / 1000]")
        template = self.write("template.yaml", sam_template("clock.now"))
        server = self.serve("--schema", template, "--function-clock", "follow")
        client = server.client("lambda")
        for ahead in (0, 48 * 3600, 96 * 3600):
            now, deadline = json.load(client.invoke(FunctionName="Reminder")["Payload"])
            self.assertAlmostEqual(now, time.time() + ahead, delta=30)
            self.assertTrue(0 < deadline - now <= 10, deadline - now)
            server.control("POST", "clock/advance", {"hours": 48})


if __name__ == "__main__":
    unittest.main()
