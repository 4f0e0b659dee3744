"""One run of a server, from its start to its end. After a server dies, a new instance replaces the old one. Existing
worlds keep the old instance."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Optional

from ._connection import CALL_SECONDS_MAX, Connections
from ._process import ServerProcess
from ._version import check_version, package_version
from .errors import EndedError, StartError, UnansweredError, UrlError, hides_frames

if TYPE_CHECKING:
    from ._in_process import InProcess

__tracebackhide__ = hides_frames

# How long to wait for a process to end after a connection to it broke. The connection breaks shortly before the end can be
# observed.
END_NOTICED_SECONDS = 0.2


class Instance:
    """A server in a `process` that this process started, a server in this process (`in_process`) or, if both arguments are
    None, an existing server at `url`. Thread-safe."""

    def __init__(self, url: str, process: Optional[ServerProcess] = None, in_process: Optional[InProcess] = None) -> None:
        self.url = url
        self.process = process
        self.in_process = in_process
        self.connections: Optional[Connections] = None
        self.version = ""

    def connect(self, timeout_seconds: float) -> None:
        """Asks the server for its version. Raises UrlError, StartError or VersionError."""
        try:
            self.connections = Connections(self.url)
            status, text = self.connections.exchange("GET", "/_mayfly/health", None, {}, timeout_seconds)
            self.version = _version_of(status, text)
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
            if self.process is None:
                raise UrlError(self.url, reason) from error
            how = self.process.ended(wait_seconds=END_NOTICED_SECONDS)
            raise StartError(
                f"the server {self.process.binary.path} listens on {self.url} but did not answer ({how or reason}); to wait "
                "longer, raise start_timeout",
                self.process.last_log(),
            ) from error
        check_version(package_version(), self.version, self._where())

    def exchange(
        self,
        method: str,
        path: str,
        body: Optional[bytes],
        headers: Mapping[str, str],
        timeout_seconds: float = CALL_SECONDS_MAX,
    ) -> tuple[int, bytes]:
        """The status and the body of the response. Raises EndedError or UnansweredError if there is no response."""
        if self.in_process is not None:
            answered = self.in_process.exchange(method, path, body, headers)
            if answered is not None:
                return answered
        assert self.connections is not None
        try:
            return self.connections.exchange(method, path, body, headers, timeout_seconds)
        except (OSError, http.client.HTTPException) as error:
            raise self.why_not(error, request_name(method, path, headers)) from None

    def ended(self) -> Optional[str]:
        """How the server ended: "exit status 1", "killed by SIGKILL", or "closed" for a server in this process or a closed
        server on Windows. None if the server runs, or was not started here."""
        if self.in_process is not None:
            return self.in_process.ended()
        return None if self.process is None else self.process.ended()

    def death(self, request: str) -> Optional[EndedError]:
        """The error for a request that failed because the server has ended; None if the server runs, or was not started here.
        Waits for at most 0.2 seconds."""
        if self.process is not None:
            how = self.process.ended(wait_seconds=END_NOTICED_SECONDS)
            if how is not None:
                return EndedError(how, None if self.process.was_closed else self.process.last_log(), request)
        if self.in_process is not None and self.in_process.ended() is not None:
            return EndedError("closed", None, request)
        return None

    def why_not(self, error: Exception, request: str) -> EndedError | UnansweredError:
        """The error for a request that got no response."""
        return self.death(request) or UnansweredError(f"{self.url} did not answer ({error}): is the server running?")

    def close(self) -> None:
        """Closes the connections. To end the server, call `end` of its process or library."""
        if self.connections is not None:
            self.connections.close()

    def _where(self) -> str:
        if self.in_process is not None:
            return self.in_process.library.path
        return self.url if self.process is None else self.process.binary.path


def request_name(method: str, path: str, headers: Mapping[str, str]) -> str:
    """The name of a request in messages: "PutItem", "GET /_mayfly/clock"."""
    target = headers.get("X-Amz-Target")
    return f"{method} {path.partition('?')[0]}" if target is None else target.rpartition(".")[2]


def _version_of(status: int, health: bytes) -> str:
    try:
        said = json.loads(health)
        version = str(said["version"])
    except (ValueError, KeyError, TypeError):
        raise OSError(f"the response, with HTTP status {status}, is not from Mayfly") from None
    if status != 200:
        raise OSError(f"its health status is {said.get('status')!r}")
    return version
