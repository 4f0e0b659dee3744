"""A Mayfly that answers: one that is started here, one in this process, or one that ran already.

with Server() as server, server.world() as world:
    world.clock.freeze("2031-01-01T00:00:00Z")
"""

from __future__ import annotations

import http.client
import json
import os
import weakref
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Optional

from ._binary import StrPath, find_binary
from ._connection import Connections
from ._process import ServerProcess
from ._version import check_version, package_version
from .errors import EndedError, StartError, UnansweredError, UrlError

if TYPE_CHECKING:
    from ._in_process import InProcess
    from ._world import World

START_TIMEOUT_SECONDS = 10.0
# A connection breaks a moment before its process is known to have ended.
END_NOTICED_SECONDS = 0.2


class Server:
    """Starts a server, and returns when it answers. It ends with `close`, and at the latest with this process, also if that
    is killed.

    binary: the program to start, instead of MAYFLY_BINARY, the package's own, or `mayfly` on PATH.
    url: a server that runs already, instead of MAYFLY_URL. None is started then, and none ended. A `binary` that is given
        goes before MAYFLY_URL.
    in_process: have it in this process, by the library of mayfly-dynamodb-inprocess, instead of starting any. It goes
        before MAYFLY_URL, too. Its log goes to this process's stderr.
    args: more arguments of `mayfly serve`, such as ["--stream-shards", "4"].
    region: the region that clients sign for.
    start_timeout: how many seconds the start may take.

    Raises BinaryError, LibraryError, StartError, UrlError or VersionError, each with a sentence that says what to do.
    """

    def __init__(
        self,
        binary: Optional[StrPath] = None,
        *,
        url: Optional[str] = None,
        in_process: bool = False,
        args: Sequence[str] = (),
        region: str = "us-east-1",
        start_timeout: float = START_TIMEOUT_SECONDS,
    ) -> None:
        self.region = region
        self._process: Optional[ServerProcess] = None
        self._in_process: Optional[InProcess] = None
        self._connections: Optional[Connections] = None
        self._end = weakref.finalize(self, _nothing)
        if in_process and (url is not None or binary is not None):
            raise ValueError("a server in this process has neither a binary nor a url: leave those, or in_process, out")
        if url is None and binary is None and not in_process:
            url = os.environ.get("MAYFLY_URL")
        if in_process:
            from ._in_process import InProcess

            self._in_process = InProcess(args)
            self._end = weakref.finalize(self, self._in_process.end)
            self._url, where = self._in_process.url, self._in_process.library.path
        elif url:
            self._url = where = url.rstrip("/")
        else:
            self._process = ServerProcess(find_binary(binary), args, start_timeout)
            self._end = weakref.finalize(self, self._process.end)
            self._url, where = self._process.url, self._process.binary.path
        try:
            self._version = self._connect(start_timeout)
            check_version(package_version(), self._version, where)
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        """http://127.0.0.1:41234, without a slash at the end."""
        return self._url

    @property
    def version(self) -> str:
        """The server's own."""
        return self._version

    @property
    def pid(self) -> Optional[int]:
        """The server's process, or None if it was not started here, or is in this one."""
        return None if self._process is None else self._process.pid

    @property
    def ended(self) -> Optional[str]:
        """How it ended, "exit status 1" or "killed by SIGKILL", or "closed" if it was in this process; None if it is there,
        or was not started here."""
        if self._in_process is not None:
            return self._in_process.ended()
        return None if self._process is None else self._process.ended()

    def log(self, since: int = 0) -> str:
        """The last thousand lines that it logged, or those from `log_position` on; "" if it was not started here, or is in
        this process, whose stderr has them."""
        return "" if self._process is None else self._process.log.since(since)

    def log_position(self) -> int:
        """Where the log's next line will be."""
        return 0 if self._process is None else self._process.log.position()

    def world(self) -> World:
        """A new one: an account that nobody has used. The server is asked nothing, so this cannot fail."""
        from ._world import World

        return World(self)

    def close(self) -> None:
        """Ends it, if it was started here: asks it to, and kills it if that takes more than five seconds."""
        if self._connections is not None:
            self._connections.close()
        self._end()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<mayfly.Server {self._url}>"

    def exchange(
        self, method: str, path: str, body: Optional[bytes] = None, headers: Optional[Mapping[str, str]] = None
    ) -> tuple[int, bytes]:
        """The status and the answer of any HTTP request. Raises EndedError or UnansweredError if there is none."""
        if self._in_process is not None:
            answered = self._in_process.exchange(method, path, body, headers or {})
            if answered is not None:
                return answered
        assert self._connections is not None
        try:
            return self._connections.exchange(method, path, body, headers or {})
        except (OSError, http.client.HTTPException) as error:
            raise self.why_not(error) from error

    def why_not(self, error: Exception) -> EndedError | UnansweredError:
        """What to say of a call that had no answer."""
        if self._process is not None:
            how = self._process.ended(wait_seconds=END_NOTICED_SECONDS)
            if how is not None:
                return EndedError(how, self._process.last_log())
        if self._in_process is not None and self._in_process.ended() is not None:
            return EndedError("closed", None)
        return UnansweredError(f"{self._url} has not answered ({error}): does the server run?")

    def _connect(self, timeout_seconds: float) -> str:
        """The server's version. It listens before it says so: one question is enough."""
        try:
            self._connections = Connections(self._url)
            status, text = self._connections.exchange("GET", "/_mayfly/health", None, {}, timeout_seconds)
            return _version_of(status, text)
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
            if self._process is None:
                raise UrlError(self._url, reason) from error
            how = self._process.ended(wait_seconds=END_NOTICED_SECONDS)
            raise StartError(
                f"the server {self._process.binary.path} says that it listens on {self._url} and does not answer "
                f"({how or reason}): see its log, or allow more by start_timeout",
                self._process.last_log(),
            ) from error


def _version_of(status: int, health: bytes) -> str:
    try:
        said = json.loads(health)
        version = str(said["version"])
    except (ValueError, KeyError, TypeError):
        raise OSError(f"what answers there with the status {status} is no Mayfly") from None
    if status != 200:
        raise OSError(f"it says that it is {said.get('status')}")
    return version


def _nothing() -> None:
    pass
