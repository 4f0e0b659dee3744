"""Whatever is wrong with the server's start is one sentence, and what to do is in it."""

from __future__ import annotations

import http.server
import json
import pickle
import platform
import socket
import subprocess
import sys
import threading

import pytest

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

HERE = f"{platform.system()} {platform.machine()}"


def test_no_program(tmp_path, monkeypatch):
    monkeypatch.setattr(_binary, "BUNDLED", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BinaryError) as error:
        Server()
    assert str(error.value) == (
        f"there is no mayfly to start: install the wheel of mayfly-dynamodb that was built for {HERE}, or put the program on "
        "PATH, or name it by MAYFLY_BINARY, or name a server that runs by MAYFLY_URL"
    )


def test_empty_and_relative_parts_of_path_are_passed_over(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "mayfly"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "mayfly").symlink_to(program)
    monkeypatch.setattr(_binary, "BUNDLED", tmp_path / "none")
    monkeypatch.delenv("MAYFLY_BINARY", raising=False)
    monkeypatch.chdir(tmp_path)
    for path in ("", ":", ".", "bin", "bin:", "./bin::../x"):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(BinaryError):
            _binary.find_binary()
    monkeypatch.setenv("PATH", f":bin:{program.parent}")
    assert _binary.find_binary().path == str(program)


def test_a_named_program_that_is_missing(tmp_path, monkeypatch):
    missing = tmp_path / "missing"
    sentence = (
        f"MAYFLY_BINARY names {missing}, which cannot be started on {HERE} (there is no such file): name another, or none to "
        "take the one that comes with the package"
    )
    monkeypatch.setenv("MAYFLY_BINARY", str(missing))
    with pytest.raises(BinaryError) as error:
        Server()
    assert str(error.value) == sentence
    with pytest.raises(BinaryError) as error:
        Server(missing)
    assert str(error.value) == sentence.replace("MAYFLY_BINARY", "binary")


def test_a_named_program_that_may_not_be_run(tmp_path):
    (tmp_path / "text").write_text("")
    with pytest.raises(BinaryError, match="it is not a file that may be run"):
        Server(tmp_path / "text")
    with pytest.raises(BinaryError, match="it is not a file that may be run"):
        Server(tmp_path)


def test_a_program_of_another_platform(tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"\x7fELF" + bytes(60))
    other.chmod(0o755)
    with pytest.raises(BinaryError) as error:
        Server(other)
    assert str(error.value).startswith(f"binary names {other}, which cannot be started on {HERE} (Exec format error): ")


def test_a_server_that_does_not_answer_in_time(program):
    slow = program("import sys, time; print('I am slow', file=sys.stderr, flush=True); time.sleep(60)")
    with pytest.raises(StartError) as error:
        Server(slow, start_timeout=0.7)
    assert str(error.value) == (
        f"the server {slow} does not answer after 0.7 s: see its log, or allow more by start_timeout\n    I am slow"
    )
    assert (error.value.log, error.value.exit_status) == ("I am slow", None)


def test_a_server_that_listens_and_does_not_answer_in_time(program):
    deaf = program(
        "import socket, time; s = socket.create_server(('127.0.0.1', 0))\n"
        "print('mayfly listening on http://127.0.0.1:%d' % s.getsockname()[1], flush=True); time.sleep(60)"
    )
    with pytest.raises(StartError, match=r"and does not answer \(timed out\): see its log, or allow more by start_timeout"):
        Server(deaf, start_timeout=0.7)


def test_a_server_that_ends_before_it_answers(program):
    dies = program("import sys; sys.exit('no memory left')")
    with pytest.raises(StartError) as error:
        Server(dies)
    assert str(error.value) == (
        f"the server {dies} ended before it answered (exit status 1): its log says why\n    no memory left"
    )
    assert (error.value.log, error.value.exit_status) == ("no memory left", 1)


def test_a_server_that_ends_without_a_word(program):
    with pytest.raises(StartError, match=r"\(killed by SIGKILL\): its log says why; it logged nothing$"):
        Server(program("import os; os.kill(os.getpid(), 9)"))


def test_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with pytest.raises(StartError, match=f"exit status [0-9]+\\): its log says why\n.*{port}"):
            Server(args=["--port", port])


def test_an_option_that_there_is_not():
    with pytest.raises(StartError, match="unknown option '--nonsense'"):
        Server(args=["--nonsense"])


def test_a_program_that_is_another():
    with pytest.raises(StartError, match=r"/echo says 'serve --exit-with-parent.*' where .*: is it mayfly\?|ended before"):
        Server("/bin/echo")


OTHER_VERSION = """
import http.server
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'{"status":"ok","version":"9.8.7"}')
server = http.server.HTTPServer(("127.0.0.1", 0), Health)
print("mayfly listening on http://127.0.0.1:%d" % server.server_address[1], flush=True)
server.serve_forever()
"""


def test_a_server_of_another_release(program, monkeypatch):
    monkeypatch.setattr(_instance, "package_version", lambda: "0.1.0")
    other = program(OTHER_VERSION)
    with pytest.raises(VersionError) as error:
        Server(other)
    assert str(error.value) == (
        f"this package is mayfly-dynamodb 0.1.0, but the server {other} is 9.8.7: take a server of 0.1 (MAYFLY_BINARY, "
        "MAYFLY_URL), or install mayfly-dynamodb 9.8.7"
    )


@pytest.fixture
def answering():
    """A server that answers `said.status` and `said.text`."""

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
        (404, "<p>nothing</p>", "what answers there with the status 404 is no Mayfly"),
        (200, "[]", "what answers there with the status 200 is no Mayfly"),
        (503, json.dumps({"status": "out of order", "version": "0.1.0"}), "it says that it is out of order"),
    ],
)
def test_an_address_where_another_answers(answering, status, text, reason):
    answering.status, answering.text = status, text.encode()
    with pytest.raises(UrlError) as error:
        Server(url=answering.url)
    assert str(error.value) == (
        f"no Mayfly answers at {answering.url} ({reason}): start it there, or name no URL (MAYFLY_URL) to have one started"
    )


def test_an_address_where_nobody_answers(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("MAYFLY_URL", url)
    with pytest.raises(UrlError, match=f"^no Mayfly answers at {url} .*Connection refused"):
        Server()


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://localhost", "http://", "http://localhost:port"])
def test_an_address_that_is_none(url):
    with pytest.raises(UrlError, match="^no Mayfly answers at "):
        Server(url=url)


def test_boto3_is_missing_or_aiobotocore():
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
        "boto3 is not installed, and this client needs it: pip install 'mayfly-dynamodb[boto3]' (or boto3)\n"
        "aiobotocore is not installed, and this client needs it: pip install 'mayfly-dynamodb[aio]' (or aiobotocore)\n"
    )


@pytest.mark.parametrize("kind", [BinaryError, StartError, UrlError, VersionError])
def test_each_is_a_mayfly_error(kind):
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
def test_an_error_can_come_from_another_process(error):
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))
