"""Tests commands that read hostile directories and call hostile endpoints: they report the problem in one message, use limited
memory, and exit when a signal tells them to."""

import base64
import contextlib
import gzip
import hashlib
import json
import os
import pathlib
import resource
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

from mayfly_server import MayflyServer, binary, eventually, is_instrumented

FAILED, UNFINISHED = 1, 3
SECRET = "nobody-may-read-this"
# The time limit for operations that normally take well under a second, with a margin for a busy machine. A command abandons
# an endpoint after 60 seconds, so a command that exits within this limit was ended by its signal.
SECONDS_MAX = 20
LARGE_FILE_SECONDS_MAX = 200 if is_instrumented() else SECONDS_MAX
ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/carts"


def setUpModule():
    global server
    server = MayflyServer.for_module()


def environment():
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "MAYFLY_"))}
    return {**kept, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}


def run(*words, memory_max=None, timeout=SECONDS_MAX):
    """Runs a command. Returns its exit code and the combined output. `memory_max` limits the command's address space, in
    bytes."""

    def limit():
        if memory_max:
            resource.setrlimit(resource.RLIMIT_AS, (memory_max, memory_max))

    done = subprocess.run(
        [binary(), *words], capture_output=True, env=environment(), timeout=timeout, stdin=subprocess.DEVNULL, preexec_fn=limit
    )
    return done.returncode, (done.stdout + done.stderr).decode(errors="backslashreplace")


class Directories(unittest.TestCase):
    def setUp(self):
        cleanup = contextlib.ExitStack()
        self.addCleanup(cleanup.close)
        self.root = pathlib.Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="mayfly-test-")))
        self.export = self.root / "export"
        self.private = self.root / "private.json.gz"
        line = json.dumps({"Item": {"id": {"S": SECRET}}}) + "\n"
        self.private.write_bytes(gzip.compress(line.encode()))
        self.sha256 = hashlib.sha256(self.private.read_bytes()).hexdigest()
        self.md5 = base64.b64encode(hashlib.md5(self.private.read_bytes()).digest()).decode()

    def write(self, name, content):
        path = self.export / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    def aws_export(self):
        self.write("manifest-summary.json", {"tableArn": ARN, "outputFormat": "DYNAMODB_JSON"})
        self.write("manifest-files.json", {"dataFileS3Key": "data/a.json.gz", "md5Checksum": self.md5, "itemCount": 1})
        (self.export / "data").mkdir(exist_ok=True)

    def own_export(self, file="carts/data/0000.json.gz"):
        self.write(
            "manifest.json",
            {"mayfly_export": 1, "tables": [{"name": "carts", "files": [{"name": file, "items": 1, "sha256": self.sha256}]}]},
        )
        (self.export / "carts" / "data").mkdir(parents=True, exist_ok=True)

    def refused(self, reason, **more):
        code, said = run("import", "--from", str(self.export), "--to", str(self.root / "out.json"), **more)
        # A bad data file can be detected only when it is read. The import can be resumed after the export is repaired.
        self.assertIn(code, (FAILED, UNFINISHED), said)
        self.assertIn(reason, said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertNotIn(SECRET, said)
        written = list(self.root.glob("out*"))
        self.assertNotIn(SECRET, "".join(path.read_text() for path in written))
        for path in written:
            path.unlink()

    def test_a_data_file_that_is_a_link_is_not_read(self):
        self.aws_export()
        (self.export / "data" / "a.json.gz").symlink_to(self.private)
        self.refused("link")
        (self.export / "manifest-summary.json").unlink()
        self.own_export()
        (self.export / "carts" / "data" / "0000.json.gz").symlink_to(self.private)
        self.refused("link")

    def test_a_directory_that_is_a_link_is_not_followed(self):
        elsewhere = self.root / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "a.json.gz").write_bytes(self.private.read_bytes())
        self.aws_export()
        (self.export / "data").rmdir()
        (self.export / "data").symlink_to(elsewhere)
        self.refused("link")

    def test_an_export_that_is_found_through_a_link_is_not_read(self):
        self.aws_export()
        (self.export / "data" / "a.json.gz").write_bytes(self.private.read_bytes())
        (self.root / "real").mkdir()
        self.export.rename(self.root / "real" / "0123")
        self.export.mkdir()
        for name, target in {"0123": "real/0123", "AWSDynamoDB": "real"}.items():
            (self.export / name).symlink_to(self.root / target)
            self.refused("link")
            (self.export / name).unlink()
        # Without links the import succeeds.
        (self.root / "real" / "0123").rename(self.export / "0123")
        code, said = run("import", "--from", str(self.export), "--to", str(self.root / "out.json"))
        self.assertEqual(code, 0, said)

    def test_a_file_is_not_written_through_a_link(self):
        self.export.mkdir()
        private, out, items = self.root / "private", self.export / "out.json", self.root / "in.json"
        items.write_text(json.dumps({"Item": {"id": {"S": "1"}}}) + "\n")
        private.write_text(SECRET)
        words = ["import", "carts", "--from", str(items), "--to", str(out)]
        for replaces in ([], ["--if-exists", "replace"]):
            for target, reason in ((self.root / "missing", "is a link"), (private, "is a link" if replaces else "exists")):
                out.symlink_to(target)
                code, said = run(*words, *replaces)
                self.assertEqual((code != 0, reason in said), (True, True), said)
                out.unlink()
        os.link(private, out)
        code, said = run(*words, "--if-exists", "replace")
        self.assertEqual((code != 0, "other hard links" in said), (True, True), said)
        self.assertEqual(private.read_text(), SECRET)
        self.assertFalse((self.root / "missing").exists())

    def test_a_port_file_is_not_written_through_a_link(self):
        private, port = self.root / "private", self.root / "port"
        private.write_text(SECRET)
        process = subprocess.Popen(
            [binary(), "serve", "--port", "0", "--port-file", str(port)],
            stdout=subprocess.DEVNULL,
            # The temporary file's name contains the process id, which anyone can guess.
            preexec_fn=lambda: os.symlink(private, f"{port}.{os.getpid()}.tmp"),
        )
        try:
            self.assertTrue(eventually(lambda: port.exists() and port.read_text()))
        finally:
            process.kill()
            process.wait()
        self.assertFalse(port.is_symlink())
        self.assertEqual(private.read_text(), SECRET)

    def test_a_file_name_cannot_escape_the_directory(self):
        for name in ("../private.json.gz", str(self.private), "carts/../../private.json.gz"):
            self.own_export(name)
            self.refused("not a path within the directory")

    def test_a_manifest_that_is_a_link_is_not_read(self):
        self.own_export()
        manifest = self.export / "manifest.json"
        manifest.rename(self.root / "manifest.json")
        manifest.symlink_to(self.root / "manifest.json")
        self.refused("link")

    def test_a_pipe_in_a_directory_does_not_block_an_import(self):
        self.aws_export()
        os.mkfifo(self.export / "data" / "a.json.gz")
        self.refused("regular file")
        (self.export / "manifest-files.json").unlink()
        os.mkfifo(self.export / "manifest-files.json")
        self.refused("regular file")
        (self.export / "manifest-summary.json").unlink()
        self.own_export()
        os.mkfifo(self.export / "carts" / "table.json")
        self.refused("regular file")
        (self.export / "manifest.json").unlink()
        os.mkfifo(self.export / "manifest.json")
        self.refused("regular file")

    def test_a_manifest_with_too_many_tables_or_values_is_rejected(self):
        memory_max = None if is_instrumented() else 1_000_000_000
        tables = ",".join(f'{{"name":"table-{number}"}}' for number in range(200_000))
        self.write("manifest.json", f'{{"mayfly_export":1,"tables":[{tables}]}}')
        self.refused("more than 10000 tables", memory_max=memory_max)
        self.write("manifest.json", '{"mayfly_export":1,"tables":[' + "[]," * 10_000_000 + "[]]}")
        self.refused("JSON values", memory_max=memory_max, timeout=LARGE_FILE_SECONDS_MAX)

    def test_table_descriptions_that_are_too_large_in_total_are_rejected(self):
        names = [f"table-{number}" for number in range(100)]
        self.write("manifest.json", {"mayfly_export": 1, "tables": [{"name": name} for name in names]})
        padding = "x" * 1_000_000
        memory_max = None if is_instrumented() else 1_000_000_000
        for name in names:
            self.write(f"{name}/table.json", {"Table": {"TableName": name, "Padding": padding}})
        self.refused("in total", memory_max=memory_max, timeout=LARGE_FILE_SECONDS_MAX)

    def test_a_rule_with_many_double_stars_costs_no_more_than_a_rule_with_one_double_star(self):
        rules = [{"path": "**." * 39 + f"x{number}", "action": "drop"} for number in range(1000)]
        (self.root / "rules.json").write_text(json.dumps({"default": "keep", "rules": rules}))
        item = {"id": {"S": "1"}, "list": {"L": [{"S": ""}] * 2000}}
        (self.root / "in.json").write_text(json.dumps({"Item": item}) + "\n")
        words = ["import", "carts", "--from", str(self.root / "in.json"), "--to", str(self.root / "out.json")]
        code, said = run(*words, "--anonymize", str(self.root / "rules.json"))
        self.assertEqual(code, 0, said)

    def test_a_signal_ends_a_command_that_waits_for_a_pipe(self):
        pipe = self.root / "pipe.json"
        os.mkfifo(pipe)

        def is_read():
            with contextlib.suppress(OSError):  # raised while the pipe has no reader
                return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)

        serve = ["serve", "--port", "0", "--require-signature", "--keys", str(pipe)]
        for words in (["import", "carts", "--from", str(pipe), "--to", str(self.root / "out.json")], serve):
            for number in (signal.SIGTERM, signal.SIGINT):
                writers = []
                with self.subTest(words=words, number=number):
                    ended_by(self, number, words, lambda: writers.append(eventually(is_read)))
                for writer in writers:
                    os.close(writer)


class Endpoint:
    """Answers each request with the pieces that `answer(request number)` yields, and keeps the connection open."""

    def __init__(self, test, answer):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.requests = 0
        self.asked = threading.Event()
        self.answer = answer
        threading.Thread(target=self.serve, daemon=True).start()
        test.addCleanup(self.listener.close)

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self.answer_all, args=[connection], daemon=True).start()

    def answer_all(self, connection):
        with contextlib.suppress(OSError), connection:
            while self.take(connection):
                self.requests += 1
                self.asked.set()
                for piece in self.answer(self.requests):
                    connection.sendall(piece)
                    if piece == b"":
                        connection.recv(1)  # blocks until the peer closes the connection
                        return

    @staticmethod
    def take(connection):
        taken = b""
        while b"\r\n\r\n" not in taken:
            piece = connection.recv(65536)
            if not piece:
                return False
            taken += piece
        head, _, body = taken.partition(b"\r\n\r\n")
        length = next((int(l.split(b":")[1]) for l in head.split(b"\r\n") if l.lower().startswith(b"content-length")), 0)
        while len(body) < length:
            body += connection.recv(65536)
        return True


def whole(body, status="200 OK", headers=""):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def commands(url, directory):
    """Returns one command of each kind that calls an endpoint."""
    return [
        ["clock", "show", "--url", url],
        ["table", "list", "--url", url],
        ["item", "scan", "carts", "--url", url],
        ["export", "--all", "--url", url, "--to", str(directory / "to")],
        ["sweep", "plan", "--endpoint", url, "--table", "carts", "--ttl-attribute", "ttl"],
    ]


def ended_by(test, number, words, wait):
    """Sends a signal to a running command and checks that it exits. `wait` returns once the command is blocked."""
    process = subprocess.Popen(
        [binary(), *words], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        wait()
        process.send_signal(number)
        said = process.communicate(timeout=SECONDS_MAX)[1].decode()
    finally:
        process.kill()
        process.wait()
    test.assertNotEqual(process.returncode, 0, words)
    test.assertNotEqual(process.returncode, -signal.SIGKILL, words)
    test.assertLessEqual(said.count("\n"), 2, said)


class Endpoints(unittest.TestCase):
    def setUp(self):
        cleanup = contextlib.ExitStack()
        self.addCleanup(cleanup.close)
        self.root = pathlib.Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="mayfly-test-")))

    def endpoint(self, answer):
        return Endpoint(self, answer)

    def refused(self, words, *reasons, **more):
        code, said = run(*words, **more)
        self.assertNotEqual(code, 0, said)
        self.assertEqual(said.count("\n"), 1, said[:2000])
        self.assertTrue(any(reason in said for reason in reasons), said)
        self.assertFalse(any(ord(char) < 32 and char != "\n" for char in said), said)
        return said

    def test_a_signal_ends_a_command_whose_endpoint_does_not_respond(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            for begin in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"):
                for which in range(5):
                    endpoint = self.endpoint(lambda _: [begin, b""] if begin else [b""])
                    words = commands(endpoint.url, self.root)[which]
                    with self.subTest(words=words, number=number):
                        ended_by(self, number, words, lambda: self.assertTrue(endpoint.asked.wait(SECONDS_MAX)))

    def test_an_endless_response_is_rejected_in_bounded_memory(self):
        def endless(_):
            yield CHUNKED
            chunk = b"100000\r\n" + b"[" + b"1," * ((1 << 19) - 1) + b"1" + b"\r\n"
            while True:
                yield chunk

        memory_max = None if is_instrumented() else 1_000_000_000
        for which in (0, 1, 3):
            words = commands(self.endpoint(endless).url, self.root)[which]
            with self.subTest(words=words):
                self.refused(words, "more than 67108864 bytes", memory_max=memory_max, timeout=60)

    def test_a_false_content_length_is_rejected(self):
        lie = b"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n{}"
        for words in [*commands("URL", self.root), ["tail", "--url", "URL"]]:
            endpoint = self.endpoint(lambda _: [lie, b""])
            words = [endpoint.url if word == "URL" else word for word in words]
            with self.subTest(words=words):
                self.refused(words, "more than 67108864 bytes")

    def test_an_event_of_more_than_16_mb_ends_tail(self):
        def event(megabytes):
            yield CHUNKED + b"6\r\ndata: \r\n"
            for _ in range(megabytes):
                yield b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"
            yield b""

        memory_max = None if is_instrumented() else 1_000_000_000
        words = ["tail", "--url", self.endpoint(lambda _: event(17)).url]
        self.refused(words, "an event of more than 16 MB", memory_max=memory_max)

    def test_a_redirect_is_not_followed(self):
        secret = self.endpoint(lambda _: [whole({"TableNames": [SECRET]})])
        for which in range(5):
            endpoint = self.endpoint(lambda _: [whole(b"", "302 Found", f"Location: {secret.url}/\r\n")])
            words = commands(endpoint.url, self.root)[which]
            with self.subTest(words=words):
                self.refused(words, "redirects are not followed")
        self.assertEqual(secret.requests, 0)

    def test_a_repeated_page_key_ends_a_listing(self):
        for circle in (1, 3):
            names = lambda number: [whole({"TableNames": ["carts"], "LastEvaluatedTableName": f"t{number % circle}"})]
            for words in (["table", "list"], ["export", "--all", "--to", str(self.root / "to")]):
                with self.subTest(words=words):
                    self.refused([*words, "--url", self.endpoint(names).url], "the same page key twice")
        described = {
            "TableName": "carts",
            "TableStatus": "ACTIVE",
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        }
        # One response that suits all operations.
        page = {"Table": described, "TableNames": ["carts"], "Items": [], "Count": 0, "ScannedCount": 0}
        page["LastEvaluatedKey"] = {"id": {"S": "1"}}
        for words in (["item", "scan", "carts"], ["export", "carts", "--to", str(self.root / "scan")]):
            url = self.endpoint(lambda _: [whole(page)]).url
            code, said = run(*words, "--url", url)
            self.assertNotEqual(code, 0, said)
            self.assertIn("the same page key twice", said)

    def test_an_endpoints_error_message_is_printed_escaped(self):
        evil = "\x1b]0;owned\x07\r\nmayfly: all is well\x9b2J"
        refusal = whole({"__type": "x#" + evil, "message": evil}, "400 Bad Request")
        for which in range(5):
            words = commands(self.endpoint(lambda _: [refusal]).url, self.root)[which]
            with self.subTest(words=words):
                code, said = run(*words)
                self.assertNotEqual(code, 0)
                self.assertIn("\\x1b]0;owned", said)
                for char in ("\x1b", "\x07", "\r", "\x9b"):
                    self.assertNotIn(char, said)
                self.assertEqual(said.count("\n"), 1, said)


if __name__ == "__main__":
    unittest.main()
