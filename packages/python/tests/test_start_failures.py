"""A failed start raises an error whose message says what to do."""

from __future__ import annotations

import http.server
import json
import os
import pickle
import re
import socket
import subprocess
import sys
import threading

import pytest
from conftest import KILLED, WINDOWS, copied_program

from mayfly import (
    BinaryError,
    ControlError,
    EndedError,
    HandlerError,
    MayflyError,
    MissingExtraError,
    Server,
    StartError,
    UrlError,
    VersionError,
    WaitError,
    _binary,
    _instance,
)
from mayfly._platform import this_platform

HERE = this_platform()
#: Long enough to start Python, which takes longer on Windows.
SHORT = 5 if WINDOWS else 0.7


def test_a_missing_program_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(_binary, "BUNDLED", tmp_path / "none")
    monkeypatch.setattr(_binary, "_recorded", lambda: None)  # as in a checkout that is not installed
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BinaryError) as error:
        Server()
    assert str(error.value) == (
        f"no mayfly program found: install the mayfly-dynamodb wheel for {HERE}, put mayfly on PATH, set MAYFLY_BINARY to "
        "its path, or set MAYFLY_URL to the URL of a running server"
    )


def test_empty_and_relative_entries_of_path_are_skipped(tmp_path, monkeypatch):
    program = copied_program(tmp_path / "bin")
    copied_program(tmp_path)
    monkeypatch.setattr(_binary, "BUNDLED", tmp_path / "none")
    monkeypatch.delenv("MAYFLY_BINARY", raising=False)
    monkeypatch.chdir(tmp_path)
    for path in ("", ":", ".", "bin", "bin:", "./bin::../x"):
        monkeypatch.setenv("PATH", path.replace(":", os.pathsep))
        with pytest.raises(BinaryError):
            _binary.find_binary()
    monkeypatch.setenv("PATH", f":bin:{program.parent}".replace(":bin:", os.pathsep + "bin" + os.pathsep))
    assert _binary.find_binary().path == str(program)


def test_a_missing_program_at_a_configured_path_is_reported(tmp_path, monkeypatch):
    missing = tmp_path / "missing"
    sentence = (
        f"cannot run {missing} on {HERE} (no such file): correct MAYFLY_BINARY, or remove it to use the package's own program"
    )
    monkeypatch.setenv("MAYFLY_BINARY", str(missing))
    with pytest.raises(BinaryError) as error:
        Server()
    assert str(error.value) == sentence
    with pytest.raises(BinaryError) as error:
        Server(missing)
    assert str(error.value) == sentence.replace("MAYFLY_BINARY", "binary")


def test_a_file_that_is_not_executable_is_rejected(tmp_path):
    (tmp_path / "text").write_text("")
    # Windows has no permission to execute files, and looks at what a file contains.
    with pytest.raises(BinaryError, match="Windows error 193" if WINDOWS else r"\(not an executable file\)"):
        Server(tmp_path / "text")
    with pytest.raises(BinaryError, match=r"\(not an executable file\)"):
        Server(tmp_path)


def test_a_file_that_is_not_a_program_is_rejected(tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"\x7fELF" + bytes(60))
    other.chmod(0o755)
    with pytest.raises(BinaryError) as error:
        Server(other)
    reason = re.escape(f"cannot run {other} on {HERE} (") + r"(Exec format error|.*, Windows error 193)\): correct binary, "
    assert re.match(reason, str(error.value))


def test_a_server_that_prints_no_address_in_time_is_killed(program):
    slow = program("import sys, time; print('I am slow', file=sys.stderr, flush=True); time.sleep(60)")
    with pytest.raises(StartError) as error:
        Server(slow, start_timeout=SHORT)
    assert str(error.value) == (
        f"the server {slow} did not answer within {SHORT:g} s; to wait longer, raise start_timeout. Its log:\n    I am slow"
    )
    assert (error.value.log, error.value.exit_status) == ("I am slow", None)


def test_a_server_that_listens_but_does_not_answer_in_time_is_reported(program):
    deaf = program(
        "import socket, time; s = socket.create_server(('127.0.0.1', 0))\n"
        "print('mayfly listening on http://127.0.0.1:%d' % s.getsockname()[1], flush=True); time.sleep(60)"
    )
    with pytest.raises(StartError, match=r"but did not answer \(timed out\); to wait longer, raise start_timeout\."):
        Server(deaf, start_timeout=SHORT)


def test_a_server_that_exits_before_it_answers_is_reported_with_its_log(program):
    dies = program("import sys; sys.exit('no memory left')")
    with pytest.raises(StartError) as error:
        Server(dies)
    assert str(error.value) == (
        f"the server {dies} ended before it answered (exit status 1). Its log:\n    no memory left"
    )
    assert (error.value.log, error.value.exit_status) == ("no memory left", 1)


def test_a_server_that_exits_without_output_is_reported(program):
    with pytest.raises(StartError, match=rf"\({KILLED}\)\. Its log is empty\.$"):
        Server(program("import os; os.kill(os.getpid(), 9)"))


def test_a_port_in_use_is_reported():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with pytest.raises(StartError, match=f"exit status [0-9]+\\)\\. Its log:\n.*{port}"):
            Server(args=["--port", port])


def test_an_unknown_option_is_reported():
    with pytest.raises(StartError, match="unknown option '--nonsense'"):
        Server(args=["--nonsense"])


def test_a_program_other_than_mayfly_is_reported(program):
    echo = program("import sys, time; print(*sys.argv[1:], flush=True); time.sleep(60)")
    with pytest.raises(StartError, match=r"printed 'serve --exit-with-parent.*' instead of .*: is it mayfly\?"):
        Server(echo)


OTHER_VERSION = """
import http.server
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'{"status":"ok","version":"9.8.7"}')
server = http.server.HTTPServer(("127.0.0.1", 0), Health)
print("mayfly listening on http://127.0.0.1:%d" % server.server_address[1], flush=True)
server.serve_forever()
"""


def test_a_server_of_another_release_is_rejected(program, monkeypatch):
    monkeypatch.setattr(_instance, "package_version", lambda: "0.1.0")
    other = program(OTHER_VERSION)
    with pytest.raises(VersionError) as error:
        Server(other)
    assert str(error.value) == (
        f"mayfly-dynamodb 0.1.0 cannot use the server {other}, which is version 9.8.7: use a 0.1 server (MAYFLY_BINARY, "
        "MAYFLY_URL), or install mayfly-dynamodb 9.8.7"
    )


@pytest.fixture
def answering():
    """An HTTP server that responds with `Said.status` and `Said.text`."""

    class Said(http.server.BaseHTTPRequestHandler):
        status, text = 200, b""

        def do_GET(self):
            self.send_response(Said.status)
            self.send_header("Content-Length", str(len(Said.text)))
            self.end_headers()
            self.wfile.write(Said.text)

        def log_message(self, format, *values):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Said) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        Said.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield Said
        server.shutdown()


@pytest.mark.parametrize(
    ("status", "text", "reason"),
    [
        (404, "<p>nothing</p>", "the response, with HTTP status 404, is not from Mayfly"),
        (200, "[]", "the response, with HTTP status 200, is not from Mayfly"),
        (503, json.dumps({"status": "out of order", "version": "0.1.0"}), "its health status is 'out of order'"),
    ],
)
def test_a_url_where_another_program_answers_is_rejected(answering, status, text, reason):
    answering.status, answering.text = status, text.encode()
    with pytest.raises(UrlError) as error:
        Server(url=answering.url)
    assert str(error.value) == (
        f"no Mayfly server answers at {answering.url} ({reason}): start one there, or remove the URL (MAYFLY_URL) to let the "
        "package start a server"
    )


def test_a_url_where_no_server_listens_is_rejected(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("MAYFLY_URL", url)
    with pytest.raises(UrlError, match=f"^no Mayfly server answers at {url} .*([Cc]onnection refused|actively refused)"):
        Server()


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://localhost", "http://", "http://localhost:port"])
def test_a_malformed_url_is_rejected(url):
    with pytest.raises(UrlError, match="^no Mayfly server answers at "):
        Server(url=url)


def test_a_missing_sdk_is_reported():
    program = """
import asyncio, sys
sys.modules["boto3"] = sys.modules["aiobotocore"] = sys.modules["aiobotocore.config"] = None
from mayfly import Server, MissingExtraError
from mayfly.aio import AsyncWorld
with Server() as server, server.world() as world:
    world.clock.freeze()
    for client in (lambda: world.dynamodb, lambda: asyncio.run(AsyncWorld.of(world).dynamodb())):
        try:
            client()
        except MissingExtraError as error:
            print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == (
        "this client needs boto3, which is not installed: pip install 'mayfly-dynamodb[boto3]' (or boto3)\n"
        "this client needs aiobotocore, which is not installed: pip install 'mayfly-dynamodb[aio]' (or aiobotocore)\n"
    )


@pytest.mark.parametrize("kind", [BinaryError, StartError, UrlError, VersionError])
def test_every_error_is_a_mayfly_error(kind):
    assert issubclass(kind, MayflyError)


@pytest.mark.parametrize(
    "error",
    [
        BinaryError("/x", "MAYFLY_BINARY", "why"),
        StartError("a sentence", "a log", 3),
        VersionError("0.1.0", "0.2.0", "/x"),
        UrlError("http://x", "why"),
        ControlError("Conflict", "No.", 409, {}),
        EndedError("exit status 3", "a log", "PutItem"),
        HandlerError("A sentence."),
        WaitError("Nothing happened."),
        MissingExtraError("boto3", "boto3"),
    ],
)
def test_errors_can_be_pickled(error):
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))
