"""A server in this process. It starts no program, and most calls to it are function calls.

AWS SDKs, forked processes and calls that can block use its endpoint. Blocking calls use it because Ctrl-C and time-outs
cannot interrupt a C function.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from ._library import CLOSED, FORKED, NO_ANSWER, find_library
from .errors import EndedError, StartError, UnansweredError

_FLAGS = frozenset(("fsync", "shared-regions", "exact-recovery", "no-control", "require-signature"))
_REPEATED = frozenset(("function", "bucket", "allowed-host", "cors-origin", "ttl-delay-seconds"))
_OF_THE_ENDPOINT = frozenset(
    (
        *("host", "port", "threads", "no-control", "allowed-host", "cors-origin", "require-signature", "keys"),
        *("tls-cert", "tls-key", "connections-max", "request-seconds-max", "request-bytes-max", "unread-bytes-max"),
        "waiting-max",
    )
)

# Matches calls that can block: waits for a change or for jobs, and settles.
_WAITS = re.compile(rb'/(await|settle)$|"settle"')
_SIGNED_FOR = re.compile(r"Credential=(\d{12})/\d+/([^/]+)/dynamodb/")


class InProcess:
    """A server in this process. The constructor returns when the server answers at `url`. Thread-safe.

    Raises LibraryError or StartError."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.library = find_library()
        store, endpoint = options_of(arguments)
        store.setdefault("accounts-max", 1_000_000)
        self._owner = os.getpid()
        self._failpoints = False
        result, said, handle = self.library.open(json.dumps(store).encode())
        if handle is None:
            raise _not_started(result, said)
        self._handle = handle
        self._closed = False
        result, said = self.library.serve(handle, json.dumps(endpoint).encode())
        if result != 0:
            self.end()
            raise _not_started(result, said)
        self.url = str(json.loads(said)["url"])

    def ended(self) -> Optional[str]:
        """ "closed", or None if the server runs."""
        return "closed" if self._closed else None

    def end(self) -> None:
        """Closes the server. A second call, or a call in a forked process, does nothing."""
        if os.getpid() == self._owner:
            self._closed = True
            self.library.close(self._handle)

    def exchange(
        self, method: str, path: str, body: Optional[bytes], headers: Mapping[str, str]
    ) -> Optional[tuple[int, bytes]]:
        """The status and the body of the response. None: the caller must send this request over HTTP."""
        if os.getpid() != self._owner:
            return None
        content = body or b""
        if path.startswith("/_mayfly/"):
            if self._may_wait(method, path, content):
                return None
            status, text = self.library.control(
                self._handle,
                _encoded(headers.get("X-Mayfly-Account")),
                _encoded(headers.get("X-Mayfly-Region")),
                method.encode(),
                path.encode(),
                content,
            )
        else:
            signed_for = _SIGNED_FOR.search(headers.get("Authorization", ""))
            target = headers.get("X-Amz-Target")
            if target is None or signed_for is None:
                return None
            account, region = signed_for.groups()
            operation = target.rpartition(".")[2]
            status, text = self.library.execute(self._handle, account.encode(), region.encode(), operation.encode(), content)
        if status == CLOSED:
            raise EndedError("closed", None, f"{method} {path}")
        if status == NO_ANSWER:  # the operation may have run, so it must not run again over HTTP
            raise UnansweredError(f"{self.url} did not answer: {text.decode()}")
        if status < 0:
            # Let the caller use HTTP. Either the arguments are invalid, and the endpoint responds with its own errors for
            # them, or this process was forked and os.getpid did not reveal that.
            return None
        return status, text

    def _may_wait(self, method: str, path: str, body: bytes) -> bool:
        if path == "/_mayfly/failpoints" and method == "PUT":
            self._failpoints = True
        if self._failpoints and method != "GET":  # a call that moves the clock can block at a failpoint
            return True
        return _WAITS.search(path.encode().partition(b"?")[0]) is not None or _WAITS.search(body) is not None


def options_of(arguments: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Converts arguments of `mayfly serve` to the options of mayfly_open and mayfly_serve (mayfly_c.h). Raises StartError
    for invalid arguments."""
    store: dict[str, Any] = {}
    endpoint: dict[str, Any] = {}
    words = list(arguments)
    while words:
        word = words.pop(0)
        name, equals, value = word[2:].partition("=")
        if not word.startswith("--") or not name:
            raise StartError(f"Mayfly cannot start in this process: {word!r} is not an option of `mayfly serve`", None)
        options = endpoint if name in _OF_THE_ENDPOINT else store
        if name in _FLAGS and not equals:
            options[name] = True
            continue
        if not equals:
            if not words:
                raise StartError(f"Mayfly cannot start in this process: the option {word} requires a value", None)
            value = words.pop(0)
        if name in _REPEATED:
            options.setdefault(name, []).extend(_typed(each) for each in value.split(","))
        else:
            options[name] = _typed(value)
    return store, endpoint


def _typed(value: str) -> Any:
    return int(value) if re.fullmatch(r"-?\d{1,18}", value) else value


def _encoded(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else text.encode()


def _not_started(result: int, said: bytes) -> StartError:
    sentence = said.decode("utf-8", "replace") or f"the library returned {result}"
    if result == FORKED:
        sentence += "; pass world.environment or server.url to the child process, or spawn it instead of forking"
    elif sentence.startswith("unknown option"):
        sentence += ": options of a separate process need in_process=False"
    return StartError(f"Mayfly cannot start in this process: {sentence}", None)
