"""Runs the scripts of the GitHub Action (action.yml) as the runner runs them.

Each test is a job. It sets the runner's variables and the inputs, runs packages/action/start.mjs, reads the files that the
script wrote for the runner, and passes variables and state on to later steps. Archives come from a server on this machine.
"""

import contextlib
import gzip
import hashlib
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import socketserver
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
import urllib.request
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("MAYFLY_SERVER", ROOT / "build/release/mayfly"))
VERSION = re.search(r"^project\(mayfly VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
STEP_SECONDS_MAX = 180
ARCHIVE = f"mayfly-{VERSION}-linux-x86_64.tar.gz"
SCHEMA = (ROOT / "tests/action/a template.yaml").read_text()


def tar_of(name, content, kind=tarfile.REGTYPE, level=0):
    """A .tar.gz archive with a license and one other entry."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=level) as zipped, tarfile.open(fileobj=zipped, mode="w") as tar:
        for entry, data, entry_kind in ((name.split("/")[0] + "/LICENSE", b"license", tarfile.REGTYPE), (name, content, kind)):
            info = tarfile.TarInfo(entry)
            info.type, info.mode, info.linkname = entry_kind, 0o755, "/bin/sh"
            info.size = len(data) if entry_kind == tarfile.REGTYPE else 0
            tar.addfile(info, io.BytesIO(data))
    return packed.getvalue()


def zip_of(name, content, method=zipfile.ZIP_STORED):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method, compresslevel=1) as archive:
        archive.writestr(name.split("/")[0] + "/LICENSE", "license")
        archive.writestr(name, content)
    return packed.getvalue()


def checksum_line(archive, name):
    return f"{hashlib.sha256(archive).hexdigest()}  {name}\n".encode()


class Releases:
    """A server on this machine with archives. `files` maps paths to contents, or to functions that answer a request."""

    def __init__(self, certificate=None):
        self.files, self.requests = {}, []
        releases = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                releases.requests.append(self.path)
                found = releases.files.get(self.path)
                if callable(found):
                    return found(self)
                self.answer(200 if found is not None else 404, found or b"")

            def answer(self, status, body=b"", **headers):
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}/releases"

    def add(self, archive, name=ARCHIVE, version=VERSION):
        self.files[f"/releases/v{version}/{name}"] = archive
        self.files[f"/releases/v{version}/{name}.sha256"] = checksum_line(archive, name)

    def stop(self):
        self._server.shutdown()
        self._server.server_close()


class Proxy:
    """A proxy that sends each connection to `port` on this machine, whatever host the client asks for."""

    def __init__(self, port):
        self.hosts = []
        proxy = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                proxy.hosts.append(self.rfile.readline().split()[1].decode())
                while self.rfile.readline().strip():
                    pass
                with socket.create_connection(("127.0.0.1", port)) as target:
                    self.connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    back = threading.Thread(target=self.pump, args=(target, self.connection), daemon=True)
                    back.start()
                    self.pump(self.connection, target)
                    back.join()

            @staticmethod
            def pump(source, target):
                with contextlib.suppress(OSError):
                    while part := source.recv(65536):
                        target.sendall(part)
                    target.shutdown(socket.SHUT_WR)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self):
        self._server.shutdown()
        self._server.server_close()


def make_certificate(directory):
    """Creates a self-signed certificate for releases.test and this machine. Returns the paths of the certificate and its key."""
    files = directory / "cert.pem", directory / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", "/CN=mayfly test", "-addext", "subjectAltName=DNS:releases.test,IP:127.0.0.1",
                    "-out", files[0], "-keyout", files[1]], check=True, stderr=subprocess.DEVNULL)
    return files


def action_inputs():
    """The inputs of action.yml with their defaults."""
    text = (ROOT / "action.yml").read_text()
    section = re.search(r"^inputs:\n(.*?)^outputs:\n", text, re.MULTILINE | re.DOTALL)[1]
    found = {}
    for name, body in re.findall(r"^  ([a-z0-9-]+):\n((?:    .*\n)+)", section, re.MULTILINE):
        default = re.search(r"^    default: (.*)$", body, re.MULTILINE)
        found[name] = default[1].strip('"') if default else ""
    return found


def action_outputs():
    """The names of the outputs of action.yml."""
    section = re.search(r"^outputs:\n(.*?)^#", (ROOT / "action.yml").read_text(), re.MULTILINE | re.DOTALL)[1]
    return set(re.findall(r"^  ([a-z]+):$", section, re.MULTILINE))


class Step:
    def __init__(self, process, files):
        self.status, self.output = process.returncode, process.stdout
        self.variables, self.outputs, self.state, self.path = files
        self.commands = commands_in(self.output)

    def __str__(self):
        return f"status {self.status}\n{self.output}"

    @property
    def errors(self):
        return [text for command, text in self.commands if command == "error"]

    @property
    def warnings(self):
        return [text for command, text in self.commands if command == "warning"]


def commands_in(output):
    """The workflow commands that the runner would obey: those outside of a section between stop-commands and its token."""
    found, token = [], None
    for line in output.splitlines():
        command = re.match(r"\s*::([^ :]+)(?: [^:]*)?::(.*)$", line)
        if token:
            token = None if command and command[1] == token else token
        elif command and command[1] == "stop-commands":
            token = command[2]
        elif command:
            text = command[2].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
            found.append((command[1], text))
    assert token is None, f"commands are still stopped at the end of:\n{output}"
    return found


def assignments(file):
    """The variables of a file in the runner's format NAME<<DELIMITER."""
    found, lines = {}, iter(file.read_text().splitlines())
    for line in lines:
        name, delimiter = line.split("<<")
        value = []
        for line in lines:
            if line == delimiter:
                break
            value.append(line)
        found[name] = "\n".join(value)
    return found


def is_alive(pid):
    try:
        return not re.search(r"^State:\s+Z", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:
        return False


class Job:
    """A job on a runner, in directories whose names have spaces and other characters."""

    def __init__(self, test, releases):
        self._test, self._releases = test, releases
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="mayfly action $(é) "))
        test.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        for name in ("work", "tools", "temp", "home"):
            (self.directory / name).mkdir()
        self.workspace = self.directory / "work"
        self.copy_action(b"")  # a checkout can list the checksums of its version's real archives
        self.variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.directory / "home"),
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_OS": "Linux",
            "RUNNER_ARCH": "X64",
            "RUNNER_TEMP": str(self.directory / "temp"),
            "RUNNER_TOOL_CACHE": str(self.directory / "tools"),
            "RUNNER_TRACKING_ID": "github_of_this_test",
            "ACTIONS_RUNTIME_TOKEN": "secret",
        }

    def write(self, name, content):
        file = self.workspace / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        return name

    def start(self, **inputs):
        """Runs the action's step. Its server stops after the test at the latest."""
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        defaults = {**action_inputs(), "port": "0", "download-url": self._releases.url, "job-status": "success"}
        unknown = set(given) - set(defaults)
        assert not unknown, f"action.yml has no input {unknown}"
        step = self._run("start.mjs", {**defaults, **given}, {})
        step.inputs = {**defaults, **given}
        if step.state.get("pid"):
            self._test.addCleanup(self._kill, int(step.state["pid"]))
        self.variables.update(step.variables)
        if step.path:
            self.variables["PATH"] = os.pathsep.join([*reversed(step.path), self.variables["PATH"]])
        return step

    def finish(self, step, status="success"):
        """Runs the step that the runner runs at the end of a job."""
        return self._run("stop.mjs", {**step.inputs, "job-status": status}, step.state)

    def run(self, *command):
        """Runs a later step of the job. Returns its standard output."""
        return subprocess.run(command, env=self.variables, cwd=self.workspace, stdout=subprocess.PIPE, text=True, check=True,
                              timeout=STEP_SECONDS_MAX).stdout

    def _run(self, script, inputs, state):
        files = {name: self.directory / f"file_{name}" for name in ("ENV", "OUTPUT", "STATE", "PATH")}
        for file in files.values():
            file.write_text("")
        environment = {
            **self.variables,
            **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
            **{f"STATE_{name}": value for name, value in state.items()},
            **{f"GITHUB_{name}": str(file) for name, file in files.items()},
        }
        process = subprocess.run([shutil.which("node"), self.action / "packages/action" / script], env=environment, cwd=self.workspace,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=STEP_SECONDS_MAX)
        return Step(process, (*(assignments(files[name]) for name in ("ENV", "OUTPUT", "STATE")), files["PATH"].read_text().splitlines()))

    @staticmethod
    def _kill(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def copy_action(self, checksums):
        """Uses a copy of the action, whose checksums.txt has the given content."""
        self.action = self.directory / "the action"
        shutil.copytree(ROOT / "packages/action", self.action / "packages/action", dirs_exist_ok=True)
        shutil.copy(ROOT / "CMakeLists.txt", self.action)
        (self.action / "packages/action/checksums.txt").write_bytes(checksums)


def processes_of(job):
    """The ids of the processes that a job has started and that run."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if str(job.directory).encode() in (entry / "environ").read_bytes() and is_alive(entry.name):
                    found.append(int(entry.name))
    return found


class ActionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Like a release's program, it has no symbols.
        with tempfile.TemporaryDirectory() as directory:
            stripped = pathlib.Path(directory) / "mayfly"
            subprocess.run(["strip", "-o", stripped, BINARY], check=True)
            cls.program = stripped.read_bytes()
        cls.archive = tar_of(f"mayfly-{VERSION}-linux-x86_64/bin/mayfly", cls.program, level=1)

    def setUp(self):
        self.releases = Releases()
        self.addCleanup(self.releases.stop)
        self.releases.add(self.archive)
        self.job = Job(self, self.releases)

    def assert_started(self, step):
        self.assertEqual((step.status, step.errors), (0, []), step)
        health = json.load(urllib.request.urlopen(step.outputs["url"] + "/_mayfly/health", timeout=STEP_SECONDS_MAX))
        self.assertEqual(health["status"], "ok")

    def assert_failed(self, step, *parts):
        """The step has failed with one error, which contains `parts`, and no server runs."""
        self.assertEqual(step.status, 1, step)
        self.assertEqual(len(step.errors), 1, step)
        for part in parts:
            self.assertIn(part, step.errors[0])
        self.assertEqual(step.outputs, {})
        self.assertEqual(step.variables, {})
        self.assertEqual(step.path, [])
        self.assertEqual(processes_of(self.job), [])

    def tables(self):
        return json.loads(self.job.run("mayfly", "table", "list", "--json"))["TableNames"]

    # --- start

    def test_later_steps_use_a_server_with_the_tables_of_the_schema(self):
        self.job.write("my schemas/carts table.yaml", SCHEMA)
        self.job.write("events.json", json.dumps({"Table": {
            "TableName": "events", "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}}))
        step = self.job.start(version=VERSION, schema="  my schemas/carts table.yaml\n\nevents.json\n",
                              schema_parameters="Stage=a-stage", region="eu-west-1")
        self.assert_started(step)
        url = step.outputs["url"]
        self.assertEqual(set(step.outputs), action_outputs())
        self.assertEqual(step.outputs["port"], url.rsplit(":", 1)[1])
        self.assertEqual(step.variables, {
            "AWS_ENDPOINT_URL_DYNAMODB": url, "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": url, "AWS_ENDPOINT_URL_LAMBDA": url,
            "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "eu-west-1", "MAYFLY_URL": url,
        })
        # The program in a later step is the one that runs, and it finds the server.
        self.assertEqual(self.job.run("mayfly", "--version"), f"mayfly {VERSION}\n")
        self.assertEqual(self.tables(), ["a-stage-carts", "events"])
        # boto3 gets the region and the credentials from the environment. Debian 12's boto3 ignores AWS_ENDPOINT_URL_….
        printed = self.job.run(sys.executable, "-c", """
import boto3, os
def client(name, variable):
    return boto3.client(name, endpoint_url=os.environ["AWS_ENDPOINT_URL_" + variable])
print(client("dynamodb", "DYNAMODB").describe_table(TableName="events")["Table"]["TableArn"])
print(client("dynamodbstreams", "DYNAMODB_STREAMS").list_streams()["Streams"])
print(client("lambda", "LAMBDA").list_event_source_mappings()["EventSourceMappings"])
""")
        self.assertEqual(printed, "arn:aws:dynamodb:eu-west-1:000000000000:table/events\n[]\n[]\n")
        self.assertIn("info mayfly", pathlib.Path(step.outputs["log"]).read_text())

    def test_the_default_version_is_that_of_the_checkout(self):
        self.assert_started(self.job.start())
        self.assertEqual(self.releases.requests, [f"/releases/v{VERSION}/{ARCHIVE}.sha256", f"/releases/v{VERSION}/{ARCHIVE}"])

    def test_quoted_options_keep_their_spaces(self):
        self.job.write("a directory/keys file", "[default]\naws_access_key_id = k\naws_secret_access_key = s\n")
        (self.job.workspace / "it's here").mkdir()
        step = self.job.start(options="""
            --clock frozen --now="2031-01-01T00:00:00Z"
            --require-signature --keys 'a directory/keys file'
            --destination-dir "it's here"
        """)
        self.assert_started(step)
        self.job.variables.update(AWS_ACCESS_KEY_ID="k", AWS_SECRET_ACCESS_KEY="s")
        self.assertIn("2031-01-01", self.job.run("mayfly", "clock", "show", "--json"))

    def test_options_that_would_break_the_action_are_rejected_before_a_download(self):
        for options, part in (
            ("--port 8001", "with the input 'port'"), ("--data=x", "with the input 'data'"), ("--region x", "with the input 'region'"),
            ("--exit-with-parent", "--exit-with-parent would end the server"), ("--now 'x", "an opening ' without a closing one"),
        ):
            with self.subTest(options):
                self.assert_failed(self.job.start(options=options), part)
        self.assertEqual(self.releases.requests, [])

    def test_malformed_inputs_are_rejected_before_a_download(self):
        for inputs, part in (
            ({"version": "0.1.0; touch x"}, "must consist of digits and dots, such as 0.1.0, got '0.1.0; touch x'"),
            ({"version": "../0.1.0"}, "must consist of digits and dots"), ({"version": "v0.1.0"}, "must consist of digits and dots"),
            ({"version": "0.1.0\n::add-mask::x"}, "must consist of digits and dots"), ({"version": "latest"}, "digits and dots"),
            ({"port": "65536"}, "between 0 and 65535, got '65536'"), ({"port": "-1"}, "between 0 and 65535, got '-1'"),
            ({"wait-seconds": "0"}, "between 1 and 3600"), ({"set-environment": "yes"}, "must be true or false, got 'yes'"),
            ({"region": "eu west"}, "The region must consist of"), ({"region": "x\nPATH=/tmp"}, "The region must consist of"),
            ({"schema-parameters": "--host=0.0.0.0"}, "needs NAME=VALUE, got '--host=0.0.0.0'"),
            ({"snapshot": "1"}, "needs the input 'data'"),
            ({"import": "missing.json"}, "missing.json, which does not exist"), ({"import": "aws"}, "aws, which does not exist"),
            ({"import": "http://example.com/"}, "does not exist"),
            ({"sha256": "abc"}, "must be 64 hexadecimal digits"),
            ({"sha256": "0" * 64 + "  other.tar.gz"}, f"has no line for {ARCHIVE}"),
            ({"download-url": "http://example.com/x"}, "it leads to http://example.com, which is neither https:// nor"),
            ({"download-url": "file:///etc"}, "must be an https:// URL"), ({"download-url": "x"}, "must be an https:// URL"),
            ({"download-url": "https://me:secret@example.com/"}, "without a user name"),
            ({"download-url": "https://example.com/?token=secret"}, "without a user name"),
        ):
            with self.subTest(inputs):
                step = self.job.start(**{name.replace("-", "_"): value for name, value in inputs.items()})
                self.assert_failed(step, part)
                self.assertNotIn("secret", step.output)
        self.assertEqual(self.releases.requests, [])
        self.assertEqual(list(self.job.workspace.iterdir()), [])

    def test_the_credentials_and_the_region_of_the_job_are_kept(self):
        self.job.variables.update(AWS_ACCESS_KEY_ID="AKIA", AWS_SECRET_ACCESS_KEY="s", AWS_REGION="ap-south-1")
        step = self.job.start()
        self.assert_started(step)
        self.assertEqual(step.variables["AWS_REGION"], "ap-south-1")
        self.assertFalse({"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} & set(step.variables))

    def test_a_profile_of_the_job_is_kept(self):
        self.job.variables["AWS_PROFILE"] = "ours"
        self.job.write("items.json", '[{"id": "1"}]')
        self.job.write("schema.yaml", SCHEMA)
        step = self.job.start(**{"schema": "schema.yaml", "import": "dev-carts=items.json"})
        self.assert_started(step)
        self.assertNotIn("AWS_ACCESS_KEY_ID", step.variables)

    def test_without_set_environment_only_outputs_name_the_server(self):
        step = self.job.start(set_environment="false")
        self.assert_started(step)
        self.assertEqual((step.variables, step.path), ({}, []))

    def test_two_servers_run_in_one_job(self):
        first = self.job.start()
        second = self.job.start(options="--clock frozen")
        self.assert_started(first)
        self.assert_started(second)
        self.assertNotEqual(first.outputs["url"], second.outputs["url"])
        self.assertNotEqual(first.outputs["log"], second.outputs["log"])
        self.assertEqual(self.job.variables["MAYFLY_URL"], second.outputs["url"])
        self.assertIn("frozen", self.job.run("mayfly", "clock", "show"))
        # The runner runs the last steps in reverse order.
        self.assertEqual(self.job.finish(second).status, 0)
        self.assert_started(first)
        self.assertEqual(self.job.finish(first).status, 0)
        self.assertEqual(processes_of(self.job), [])

    def test_the_server_gets_no_tokens_and_keeps_the_id_by_which_the_runner_ends_it(self):
        self.job.variables["MAYFLY_EXIT_WITH_PARENT"] = "1"
        step = self.job.start()
        self.assert_started(step)
        environment = pathlib.Path(f"/proc/{step.state['pid']}/environ").read_bytes().split(b"\0")
        self.assertIn(b"RUNNER_TRACKING_ID=github_of_this_test", environment)
        self.assertEqual([each for each in environment if each.startswith((b"ACTIONS_", b"INPUT_", b"STATE_"))], [])

    def test_a_proxy_does_not_hide_the_server(self):
        self.job.variables.update(https_proxy="http://127.0.0.1:1", http_proxy="http://127.0.0.1:1", no_proxy="127.0.0.1")
        step = self.job.start()
        self.job.variables.pop("no_proxy")
        again = self.job.start()  # without a download
        self.assertEqual((step.status, again.status), (0, 0), f"{step}\n{again}")
        self.assertEqual(self.job.finish(step).warnings, [])

    def test_a_server_with_tls_is_started(self):
        certificate, key = make_certificate(self.job.directory)
        self.job.variables["MAYFLY_CA_FILE"] = str(certificate)
        self.job.write("items.json", '[{"id": "1"}]')
        step = self.job.start(**{"schema": self.job.write("schema.yaml", SCHEMA), "import": "dev-carts=items.json",
                                 "options": f"--tls-cert '{certificate}' --tls-key '{key}'"})
        self.assertEqual((step.status, step.errors), (0, []), step)
        self.assertTrue(step.outputs["url"].startswith("https://"), step.outputs)
        self.assertEqual(self.tables(), ["dev-carts"])
        self.job.finish(step)
        self.assertEqual(processes_of(self.job), [])

    def test_a_server_that_listens_on_all_addresses_is_reached_on_this_machine(self):
        step = self.job.start(options="--host 0.0.0.0")
        self.assert_started(step)
        self.assertTrue(step.outputs["url"].startswith("http://127.0.0.1:"), step.outputs)

    # --- start that fails

    def test_a_port_in_use_is_reported(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            step = self.job.start(port=str(port))
        self.assert_failed(step, f"mayfly serve exited with status 1: cannot listen on 127.0.0.1:{port}: the port is taken")
        self.assertIn("Mayfly's log\n", step.output)
        # The last step of the job has nothing to do.
        step = self.job.finish(step, "failure")
        self.assertEqual((step.status, step.output), (0, ""))

    def test_the_error_of_a_malformed_schema_is_reported(self):
        self.job.write("bad schema.yaml", "Resources:\n  Carts: [\n")
        self.assert_failed(self.job.start(schema="bad schema.yaml"), "bad schema.yaml: line 3: did not find expected node content")
        self.assert_failed(self.job.start(schema="missing.yaml"), "missing.yaml: No such file or directory")
        self.job.write("two.yaml", SCHEMA.replace("AttributeName: id, KeyType", "AttributeName: nope, KeyType"))
        self.assert_failed(self.job.start(schema="two.yaml"), "two.yaml", "Carts")

    def test_an_unknown_option_is_reported(self):
        self.assert_failed(self.job.start(options="--ttl-mod aws"), "exited with status 2", "Did you mean '--ttl-mode'?")

    def test_a_server_that_does_not_become_healthy_is_ended(self):
        program = self.job.workspace / "mayfly that hangs"
        program.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && exec echo mayfly {VERSION}\necho '::error::x' >&2\nexec sleep 600\n")
        program.chmod(0o755)
        step = self.job.start(program="mayfly that hangs", wait_seconds="1")
        self.assert_failed(step, "was not healthy within 1 s (input 'wait-seconds')")
        # The runner ignores this command in the log: assert_failed has found only the action's own error.
        self.assertIn("\n::error::x\n", step.output)

    # --- archives

    def test_the_tool_cache_keeps_the_program(self):
        self.assert_started(self.job.start())
        self.releases.requests.clear()
        step = self.job.start()
        self.assert_started(step)
        self.assertEqual(self.releases.requests, [])
        tools = self.job.directory / "tools" / "mayfly" / VERSION
        self.assertEqual(sorted(each.name for each in tools.iterdir()), ["x64", "x64.complete"])
        self.assertEqual(step.outputs["program"], str(tools / "x64" / "mayfly"))

    def test_a_damaged_program_in_the_tool_cache_is_replaced(self):
        program = pathlib.Path(self.job.start(set_environment="false").outputs["program"])
        content = program.read_bytes()
        program.unlink()
        program.write_bytes(content[: len(content) // 2])
        program.chmod(0o755)
        step = self.job.start()
        self.assert_started(step)
        self.assertIn("the program in the tool cache is damaged", step.output)
        self.assertEqual(program.read_bytes(), content)

    def test_a_program_that_another_job_did_not_finish_storing_is_replaced(self):
        unfinished = self.job.directory / "tools" / "mayfly" / VERSION / "x64"
        unfinished.mkdir(parents=True)
        (unfinished / "mayfly").write_text("#!/bin/sh\n")
        self.assert_started(self.job.start())

    def test_a_tool_cache_that_cannot_be_written_is_not_needed(self):
        (self.job.directory / "file").write_text("")
        self.job.variables["RUNNER_TOOL_CACHE"] = str(self.job.directory / "file" / "tools")
        step = self.job.start()
        self.assert_started(step)
        self.assertTrue(step.outputs["program"].startswith(self.job.variables["RUNNER_TEMP"]), step.outputs)
        self.releases.requests.clear()
        self.assert_started(self.job.start())
        self.assertEqual(self.releases.requests, [])

    def assert_nothing_stored(self):
        self.assertEqual([str(each) for each in (self.job.directory / "tools").rglob("mayfly*") if each.is_file()], [])

    def test_an_archive_that_does_not_match_the_release_s_checksum_is_not_used(self):
        self.releases.files[f"/releases/v{VERSION}/{ARCHIVE}"] = self.archive[:-1] + b"x"
        self.assert_failed(self.job.start(), "but the release's .sha256 file requires " + hashlib.sha256(self.archive).hexdigest())
        self.assert_nothing_stored()

    def test_a_malformed_checksum_of_the_release_is_rejected(self):
        for content in (b"", b"x" * 2000, checksum_line(self.archive, "other.tar.gz"), b"<html>404</html>"):
            with self.subTest(content[:20]):
                self.releases.files[f"/releases/v{VERSION}/{ARCHIVE}.sha256"] = content
                self.assert_failed(self.job.start(), f"{ARCHIVE}.sha256")
        self.assert_nothing_stored()

    def test_the_action_s_own_checksum_overrides_the_release_s(self):
        self.job.copy_action(b"# comment\n" + checksum_line(self.archive, ARCHIVE))
        self.assert_started(self.job.start())
        self.assertEqual(self.releases.requests, [f"/releases/v{VERSION}/{ARCHIVE}"])

        # Somebody replaces the archive and its .sha256.
        shutil.rmtree(self.job.directory / "tools" / "mayfly")
        self.releases.add(tar_of(f"mayfly-{VERSION}-linux-x86_64/bin/mayfly", b"#!/bin/sh\ntouch stolen\n"))
        for pid in processes_of(self.job):
            os.kill(pid, signal.SIGKILL)
        self.assert_failed(self.job.start(), "but the action's checksums.txt requires " + hashlib.sha256(self.archive).hexdigest())
        self.assert_nothing_stored()

    def test_the_input_sha256_overrides_the_action_s_own_checksum(self):
        self.job.copy_action(checksum_line(b"another archive", ARCHIVE))
        right = checksum_line(self.archive, ARCHIVE).decode()
        self.assert_failed(self.job.start(), "the action's checksums.txt requires")
        self.assert_started(self.job.start(sha256=right.split()[0].upper()))
        # The program in the tool cache is not used if it comes from an archive with another checksum.
        self.releases.requests.clear()
        step = self.job.start(sha256="0" * 64 + f"  mayfly-{VERSION}-macos-arm64.tar.gz\n" + "1" * 64 + f"  {ARCHIVE}\n")
        self.assertIn("but the input 'sha256' requires " + "1" * 64, step.errors[0])
        self.assertEqual(self.releases.requests, [f"/releases/v{VERSION}/{ARCHIVE}"])

    def test_a_version_that_was_not_released_is_reported(self):
        self.assert_failed(self.job.start(version="99.0.1"), f"{self.releases.url}/v99.0.1/mayfly-99.0.1-linux-x86_64.tar.gz.sha256 "
                           "does not exist. Either this version of Mayfly was not released, or it has no program for this platform.")

    def test_an_archive_with_another_version_is_rejected(self):
        self.releases.add(tar_of("mayfly-99.0.2-linux-x86_64/bin/mayfly", self.program), "mayfly-99.0.2-linux-x86_64.tar.gz", "99.0.2")
        self.assert_failed(self.job.start(version="99.0.2"), f"--version prints 'mayfly {VERSION}'")

    def test_malformed_archives_are_rejected(self):
        name = f"mayfly-{VERSION}-linux-x86_64/bin/mayfly"
        for archive, part in (
            (tar_of(name, b"", tarfile.SYMTYPE), f"The archive has no file {name}"),
            (tar_of("../" + name, b"x"), f"The archive has no file {name}"),
            (tar_of(name, b"not a program"), "does not work on this runner"),
            (gzip.compress(gzip.decompress(tar_of(name, b"x" * 5000))[:2048]), "The archive ends in the middle of"),
            (b"no gzip", "incorrect header check"),
            (b"", "unexpected end of file"),
        ):
            with self.subTest(part):
                self.releases.add(archive)
                self.assert_failed(self.job.start(), part)

    def test_downloads_have_a_size_limit(self):
        self.releases.add(bytes(64 * 1024 * 1024 + 1))
        self.assert_failed(self.job.start(), "it has more than 67108864 bytes")
        self.releases.add(gzip.compress(bytes(300_000_000), compresslevel=1))
        self.assert_failed(self.job.start(), "Cannot create a Buffer larger than")

    def test_downloads_follow_redirects_on_this_machine_only(self):
        path = f"/releases/v{VERSION}/{ARCHIVE}"
        self.releases.files["/elsewhere"] = self.archive
        self.releases.files[path] = lambda request: request.answer(302, Location="/elsewhere")
        self.assert_started(self.job.start())
        shutil.rmtree(self.job.directory / "tools" / "mayfly")
        for pid in processes_of(self.job):
            os.kill(pid, signal.SIGKILL)
        for location, part in (
            ("http://example.com/?token=1", "it leads to http://example.com, which is neither https:// nor"),
            ("file:///etc", "it leads to file://"), (path, "it is redirected more than 5 times"),
        ):
            with self.subTest(location):
                self.releases.files[path] = lambda request: request.answer(302, Location=location)
                self.assert_failed(self.job.start(), part)

    def test_a_download_that_failed_is_repeated(self):
        path, failures = f"/releases/v{VERSION}/{ARCHIVE}", [503]

        def answer(request):
            request.answer(failures.pop() if failures else 200, self.archive)

        self.releases.files[path] = answer
        step = self.job.start()
        self.assert_started(step)
        self.assertIn(f"tries again to download {self.releases.url}/v{VERSION}/{ARCHIVE}: the server answered with status 503", step.output)

    def test_a_server_of_archives_that_cannot_be_reached_is_reported(self):
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]
        self.assert_failed(self.job.start(download_url=f"http://127.0.0.1:{port}/"), f"127.0.0.1:{port}", "cannot be downloaded",
                           "ECONNREFUSED")

    def secure_releases(self):
        certificate = make_certificate(self.job.directory)
        releases = Releases(certificate)
        self.addCleanup(releases.stop)
        releases.add(self.archive)
        return releases, str(certificate[0])

    def test_archives_come_only_from_a_server_with_a_trusted_certificate(self):
        releases, certificate = self.secure_releases()
        self.assert_failed(self.job.start(download_url=releases.url), "cannot be downloaded: self-signed certificate")
        self.assertEqual(releases.requests, [])
        self.job.variables["NODE_EXTRA_CA_CERTS"] = certificate
        self.assert_started(self.job.start(download_url=releases.url))
        # A secure server does not redirect to an insecure one.
        shutil.rmtree(self.job.directory / "tools" / "mayfly")
        releases.files[f"/releases/v{VERSION}/{ARCHIVE}"] = lambda request: request.answer(302, Location=self.releases.url)
        step = self.job.start(download_url=releases.url)
        self.assertIn(f"it leads to http://127.0.0.1:{self.releases.port}, which is neither", step.errors[0])
        self.assertEqual(self.releases.requests, [])

    def test_archives_are_downloaded_through_the_proxy_of_the_runner(self):
        version = subprocess.run(["node", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        if int(re.match(r"v(\d+)", version)[1]) < 24:
            self.skipTest("needs Node.js 24, which the runner has: older versions use no proxy")
        releases, certificate = self.secure_releases()
        proxy = Proxy(releases.port)
        self.addCleanup(proxy.stop)
        self.job.variables.update(NODE_EXTRA_CA_CERTS=certificate, https_proxy=proxy.url, http_proxy=proxy.url)
        step = self.job.start(download_url="https://releases.test/releases")
        self.assert_started(step)
        self.assertEqual(set(proxy.hosts), {"releases.test:443"})
        self.assertEqual(self.job.finish(step).warnings, [])

    def test_each_platform_has_its_archive(self):
        # The archives contain this machine's program under the platform's name.
        names = {("Linux", "ARM64"): "linux-arm64", ("macOS", "ARM64"): "macos-arm64", ("macOS", "X64"): "macos-x86_64",
                 ("Windows", "X64"): "windows-x86_64", ("Windows", "ARM64"): "windows-x86_64"}
        methods = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]
        for (system, machine), platform in names.items():
            with self.subTest(system=system, machine=machine):
                folder = f"mayfly-{VERSION}-{platform}"
                if system == "Windows":
                    self.releases.add(zip_of(f"{folder}/mayfly.exe", self.program, methods.pop()), f"{folder}.zip")
                else:
                    self.releases.add(tar_of(f"{folder}/bin/mayfly", self.program), f"{folder}.tar.gz")
                self.job.variables.update(RUNNER_OS=system, RUNNER_ARCH=machine, RUNNER_TOOL_CACHE=tempfile.mkdtemp(dir=self.job.directory))
                step = self.job.start()
                self.assert_started(step)
                self.assertEqual(pathlib.Path(step.outputs["program"]).name, "mayfly.exe" if system == "Windows" else "mayfly")

    def test_malformed_zip_archives_are_rejected(self):
        self.job.variables.update(RUNNER_OS="Windows")
        folder = f"mayfly-{VERSION}-windows-x86_64"
        whole = zip_of(f"{folder}/mayfly.exe", b"x" * 10_000)
        directory = whole.rindex(b"PK\x01\x02")
        large = whole[: directory + 24] + b"\xff\xff\xff\x7f" + whole[directory + 28 :]
        for archive, part in ((zip_of(f"{folder}/other.exe", b"x"), f"The archive has no file {folder}/mayfly.exe"),
                              (whole[:-30], "The zip archive is malformed"), (whole[40:], "malformed"), (large, "malformed"),
                              (b"", "malformed"),
                              (whole, "does not work on this runner")):
            with self.subTest(part):
                self.releases.add(archive, f"{folder}.zip")
                self.assert_failed(self.job.start(), part)

    def test_a_platform_without_a_program_is_named(self):
        self.job.variables["RUNNER_ARCH"] = "X86"
        self.assert_failed(self.job.start(), "Mayfly has no program for Linux on X86. Use a runner with")

    def test_a_given_program_needs_no_release(self):
        shutil.copy(BINARY, self.job.workspace / "my mayfly")
        step = self.job.start(program="my mayfly")
        self.assert_started(step)
        self.assertEqual(step.outputs["program"], str(self.job.workspace / "my mayfly"))
        self.assertEqual(self.releases.requests, [])

    def test_a_given_program_that_is_not_mayfly_is_rejected(self):
        self.job.write("text", "text")
        for program, part in (("missing", "the file does not exist"), ("text", "EACCES"), ("/bin/echo", "--version prints '")):
            with self.subTest(program):
                self.assert_failed(self.job.start(program=program), "which is not a mayfly for this runner", part)

    # --- data

    def test_data_outlives_the_job_and_a_snapshot_of_it_is_restored(self):
        first = self.job.start(data="my data")
        self.job.run("mayfly", "table", "create", "carts")
        self.job.run("mayfly", "item", "put", "carts", "id=1")
        snapshot = self.job.run("mayfly", "snapshot", "take", "--name", "my fixtures").strip()
        self.job.run("mayfly", "item", "put", "carts", "id=2")
        self.assertEqual(self.job.finish(first).status, 0)
        self.assertEqual(processes_of(self.job), [])

        def count():
            return json.loads(self.job.run("mayfly", "item", "scan", "carts", "--json"))["Count"]

        for wanted, items in (("", 2), ("my fixtures", 1), (snapshot, 1)):
            step = self.job.start(data="my data", snapshot=wanted)
            self.assert_started(step)
            self.assertEqual(count(), items)
            self.job.run("mayfly", "item", "put", "carts", "id=2")
            self.job.run("mayfly", "snapshot", "take", "--name", "twice")
            self.job.finish(step)
        self.assert_failed(self.job.start(data="my data", snapshot="nope"), "There is no snapshot 'nope'. The account's snapshots: ",
                           f"{snapshot} (my fixtures)")
        self.assert_failed(self.job.start(data="my data", snapshot="twice"),
                           "snapshots have the name 'twice'. Set the input 'snapshot' to an id")

    def test_exports_and_files_of_items_are_imported(self):
        first = self.job.start()
        self.job.run("mayfly", "table", "create", "users")
        self.job.run("mayfly", "item", "put", "users", "id=ann")
        self.job.run("mayfly", "export", "--all", "--to", "my export")
        self.job.finish(first)
        self.job.write("schema.yaml", SCHEMA)
        self.job.write("an item=1.json", '[{"id": "1"}, {"id": "2"}]')
        step = self.job.start(**{"schema": "schema.yaml", "import": "my export\ndev-carts=an item=1.json",
                                 "import_options": "--if-exists append"})
        self.assert_started(step)
        self.assertEqual(self.tables(), ["dev-carts", "users"])
        self.assertEqual(json.loads(self.job.run("mayfly", "item", "scan", "dev-carts", "--json"))["Count"], 2)
        self.assertEqual(json.loads(self.job.run("mayfly", "item", "scan", "users", "--json"))["Count"], 1)
        # The import leaves no journal in the workspace.
        self.assertEqual(sorted(each.name for each in self.job.workspace.iterdir()), ["an item=1.json", "my export", "schema.yaml"])

    def test_an_import_that_fails_is_reported_and_ends_the_server(self):
        self.job.write("schema.yaml", SCHEMA)
        self.job.write("items.json", '[{"name": "no key"}]')
        self.assert_failed(self.job.start(**{"schema": "schema.yaml", "import": "dev-carts=items.json"}),
                           "mayfly import ended with status 1", "items.json")
        self.assert_failed(self.job.start(**{"import": "carts=items.json"}), "mayfly import ended with status")

    # --- end of the job

    def test_the_log_is_printed_only_if_the_job_has_failed(self):
        for status, is_printed in (("success", False), ("failure", True), ("cancelled", True)):
            with self.subTest(status):
                step = self.job.start()
                self.assert_started(step)
                end = self.job.finish(step, status)
                self.assertEqual((end.status, end.warnings), (0, []), end)
                self.assertEqual("info mayfly" in end.output, is_printed, end)
                self.assertEqual("SIGTERM: exiting" in end.output, is_printed, end)
                self.assertEqual([command for command, _ in end.commands], ["group", "endgroup"] if is_printed else [])
                self.assertEqual(processes_of(self.job), [])

    def test_the_log_starts_no_workflow_commands(self):
        step = self.job.start()
        with open(step.outputs["log"], "a", encoding="utf-8") as log:
            log.write("::add-mask::e\n##[error]x\n" + "é" * 200_000 + "\nlast line\n")
        end = self.job.finish(step, "failure")
        self.assertEqual([command for command, _ in end.commands], ["group", "endgroup"])
        self.assertIn("bytes are not shown", end.output)
        self.assertIn("\nlast line\n", end.output)

    def test_a_server_that_ended_during_the_job_is_reported(self):
        step = self.job.start()
        os.kill(int(step.state["pid"]), signal.SIGKILL)
        deadline = time.monotonic() + STEP_SECONDS_MAX
        while is_alive(step.state["pid"]) and time.monotonic() < deadline:
            time.sleep(0.01)
        end = self.job.finish(step)
        self.assertEqual(end.status, 0)
        self.assertIn("ended, or no longer answered, before the end of the job", end.warnings[0])
        self.assertIn("info mayfly", end.output)

    # --- the action's files

    def test_action_yml_declares_the_inputs_and_outputs_that_the_scripts_use_and_the_page_describes(self):
        scripts = "".join(file.read_text() for file in sorted((ROOT / "packages/action").glob("*.mjs")))
        used = set(re.findall(r'\b(?:input|lines|words|number|flag)\("([a-z0-9-]+)"', scripts))
        self.assertEqual(used, set(action_inputs()))
        text = (ROOT / "action.yml").read_text()
        page = (ROOT / "packages/action/README.md").read_text()
        described = set(re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.MULTILINE))
        self.assertEqual(described, (used - {"job-status"}) | action_outputs())
        for script in re.findall(r"^  (?:main|post): (.*)$", text, re.MULTILINE):
            self.assertTrue((ROOT / script).is_file(), script)

    def test_the_checksums_of_a_release_are_added_if_all_archives_are_intact(self):
        self.job.copy_action(b"# comment\n" + checksum_line(b"old", "mayfly-0.0.9-linux-x86_64.tar.gz")
                             + checksum_line(b"wrong", ARCHIVE))
        listed = self.job.action / "packages/action/checksums.txt"
        before = listed.read_bytes()
        dist = self.job.directory / "dist"
        dist.mkdir()
        command = [self.job.action / "packages/action/checksums", dist, VERSION]
        added = b""
        for name in ("linux-x86_64.tar.gz", "linux-arm64.tar.gz", "macos-arm64.tar.gz", "macos-x86_64.tar.gz", "windows-x86_64.zip"):
            self.assertNotEqual(subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode, 0)
            archive = f"mayfly-{VERSION}-{name}"
            content = self.archive if archive == ARCHIVE else name.encode()
            (dist / archive).write_bytes(content)
            (dist / f"{archive}.sha256").write_bytes(checksum_line(b"damaged", archive))
            refused = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn(f"does not have the SHA-256 in {archive}.sha256", refused.stderr)
            (dist / f"{archive}.sha256").write_bytes(checksum_line(content, archive))
            added += checksum_line(content, archive)
            self.assertEqual(listed.read_bytes(), before)
        for _ in range(2):
            subprocess.run(command, check=True)
            self.assertEqual(listed.read_bytes(), b"# comment\n" + checksum_line(b"old", "mayfly-0.0.9-linux-x86_64.tar.gz") + added)
        self.assertEqual(sorted(each.name for each in listed.parent.iterdir()),
                         sorted(each.name for each in (ROOT / "packages/action").iterdir()))
        # The action requires the checksums that were added.
        self.assert_started(self.job.start())
        self.assertNotIn(f"/releases/v{VERSION}/{ARCHIVE}.sha256", self.releases.requests)


if __name__ == "__main__":
    if not shutil.which("node"):
        sys.exit("action_test: needs Node.js 20 or later")
    unittest.main()
