"""Serves handlers in this process over HTTP, on the loopback interface, for event source mappings and Lambda's Invoke."""

from __future__ import annotations

import http.server
import inspect
import json
import os
import socketserver
import sys
import threading
import uuid
from dataclasses import dataclass, field
from typing import Any, Callable, Optional
from urllib.parse import quote, unquote

from ._fork import Lock
from ._handlers import HandlerFailures

#: A Lambda handler with the parameters (event, context), or a function that takes only the event. Its result is encoded as
#: JSON. An exception fails the invocation. It also fails the test, unless the function was registered with may_fail=True.
Function = Callable[..., Any]


@dataclass(frozen=True)
class LambdaContext:
    """Lambda's context object, with only the members that apply to a handler in this process."""

    function_name: str
    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))


class LocalFunctions:
    """The HTTP server of a world's handlers. It starts at the first call to `serve` and ends at `close`. A forked process has
    neither its parent's handlers nor its parent's server, and starts its own."""

    def __init__(self, failures: HandlerFailures) -> None:
        self._failures = failures
        self._lock = Lock()
        self._functions: dict[str, Function] = {}
        self._server: Optional[http.server.ThreadingHTTPServer] = None
        self._owner = os.getpid()

    def serve(self, name: str, function: Function) -> str:
        """Adds or replaces a handler. Returns its URL."""
        with self._lock:
            self._leave_to_parent()
            self._functions[name] = function
            if self._server is None:
                self._server = _listen(self._functions, self._failures)
            return f"http://127.0.0.1:{self._server.server_address[1]}/{quote(name, safe='')}"

    def close(self) -> None:
        with self._lock:
            self._leave_to_parent()
            self._functions.clear()
            if self._server is not None:
                self._server.shutdown()
                self._server.server_close()
                self._server = None

    def _leave_to_parent(self) -> None:
        if self._owner == os.getpid():
            return
        self._owner, self._functions = os.getpid(), {}
        if self._server is not None:
            self._server.server_close()
            self._server = None


def takes_context(function: Function) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [each for each in parameters if each.kind in positional and each.default is inspect.Parameter.empty]
    return len(needed) >= 2 or any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters)


class _Http(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # so that a handler that hangs does not keep the test from ending
    allow_reuse_address = os.name != "nt"  # Windows would allow another program to take over the port

    def server_bind(self) -> None:
        # HTTPServer.server_bind also looks up the host's name, which takes seconds on some Macs.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A ConnectionError only means that the Mayfly server closed the connection, after a time-out or because it ended.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _listen(functions: dict[str, Function], failures: HandlerFailures) -> http.server.ThreadingHTTPServer:
    class Answer(_Answer):
        pass

    Answer.functions, Answer.failures = functions, failures
    server = _Http(("127.0.0.1", 0), Answer)
    # The poll interval is short, because `shutdown` waits for the next poll.
    threading.Thread(target=server.serve_forever, args=(0.005,), name="mayfly functions", daemon=True).start()
    return server


class _Answer(http.server.BaseHTTPRequestHandler):
    """Responds as Lambda's runtime does: with the result, or with an error's type and message."""

    protocol_version = "HTTP/1.1"
    functions: dict[str, Function]
    failures: HandlerFailures

    def do_POST(self) -> None:
        payload = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        name = unquote(self.path[1:])
        function = self.functions.get(name)
        if function is None:
            self._send(404, {"errorType": "NotFound", "errorMessage": f"no function {name!r} is registered"}, True)
            return
        event = None
        try:
            event = json.loads(payload) if payload else None
            result = function(event, LambdaContext(name)) if takes_context(function) else function(event)
            text = _encoded(name, result)
        except BaseException as error:  # includes the exceptions of pytest.fail() and sys.exit()
            self.failures.add(name, event, error)
            self._send(200, {"errorType": type(error).__name__, "errorMessage": str(error)}, True)
        else:
            self._send_text(200, text, False)

    def _send(self, status: int, body: Any, failed: bool) -> None:
        self._send_text(status, json.dumps(body), failed)

    def _send_text(self, status: int, text: str, failed: bool) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if failed:
            self.send_header("X-Amz-Function-Error", "Unhandled")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *values: Any) -> None:
        pass


def _encoded(name: str, result: Any) -> str:
    try:
        return json.dumps(result)
    except (TypeError, ValueError) as error:
        kind = type(result).__name__
        raise TypeError(f"the result of function {name!r} has type {kind} and cannot be encoded as JSON: {error}") from None
