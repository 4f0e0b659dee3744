"""A Mayfly in this very process: no program is started, and what is asked of it goes by function calls where it can.

Its endpoint is for AWS's SDKs, for processes that are forked from this one, and for calls that may wait: a call of C's cannot
be interrupted by Ctrl-C, or be given up after some time.
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

# An await, a settle, the end of jobs.
_WAITS = re.compile(rb'/(await|settle)$|"settle"')
_SIGNED_FOR = re.compile(r"Credential=(\d{12})/\d+/([^/]+)/dynamodb/")


class InProcess:
    """Returns when its endpoint answers (`url`). May be used by all threads."""

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
        """ "closed", or None."""
        return "closed" if self._closed else None

    def end(self) -> None:
        """A second call, or one in a process that was forked from this one, does nothing."""
        if os.getpid() == self._owner:
            self._closed = True
            self.library.close(self._handle)

    def exchange(
        self, method: str, path: str, body: Optional[bytes], headers: Mapping[str, str]
    ) -> Optional[tuple[int, bytes]]:
        """The status and the answer; None: this one has to go over HTTP."""
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
        if status == NO_ANSWER:  # the operation may have run: it must not run again over HTTP
            raise UnansweredError(f"{self.url} has not answered: {text.decode()}")
        if status < 0:
            # Arguments that HTTP refuses in words of its own, or a fork that os.getpid does not show.
            return None
        return status, text

    def _may_wait(self, method: str, path: str, body: bytes) -> bool:
        if path == "/_mayfly/failpoints" and method == "PUT":
            self._failpoints = True
        if self._failpoints and method != "GET":  # what moves time stops there
            return True
        return _WAITS.search(path.encode().partition(b"?")[0]) is not None or _WAITS.search(body) is not None


def options_of(arguments: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of `mayfly serve` as mayfly_c.h has them: the store's, and the endpoint's."""
    store: dict[str, Any] = {}
    endpoint: dict[str, Any] = {}
    words = list(arguments)
    while words:
        word = words.pop(0)
        name, equals, value = word[2:].partition("=")
        if not word.startswith("--") or not name:
            raise StartError(f"Mayfly cannot start in this process: {word!r} is no option of `mayfly serve`", None)
        options = endpoint if name in _OF_THE_ENDPOINT else store
        if name in _FLAGS and not equals:
            options[name] = True
            continue
        if not equals:
            if not words:
                raise StartError(f"Mayfly cannot start in this process: the option {word} wants a value", None)
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
    sentence = said.decode("utf-8", "replace") or f"the library says {result}"
    if result == FORKED:
        sentence += "; a child can be given world.environment or server.url, or be spawned instead of forked"
    elif sentence.startswith("unknown option"):
        sentence += ": what is for a program of its own needs in_process=False"
    return StartError(f"Mayfly cannot start in this process: {sentence}", None)
