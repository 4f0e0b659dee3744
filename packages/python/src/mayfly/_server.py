"""A Mayfly server: a new process, a server in this process, or an existing server.

with Server() as server, server.world() as world:
    world.clock.freeze("2031-01-01T00:00:00Z")
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Optional

from ._binary import StrPath, find_binary
from ._fork import Lock
from ._instance import Instance
from ._log import ServerLog
from ._process import ServerProcess
from .errors import hides_frames

if TYPE_CHECKING:
    from ._world import World

__tracebackhide__ = hides_frames

START_TIMEOUT_SECONDS = 10.0


class Server:
    """Starts a server. The constructor returns when the server answers. The server exits when `close` is called or when this
    process exits, even if this process is killed.

    binary: the program to start. None: MAYFLY_BINARY, the package's own program, or `mayfly` on PATH.
    url: use the existing server at this URL, and leave it running. None: MAYFLY_URL, unless `binary` or `in_process` is
        given.
    in_process: run the server in this process, with the library of mayfly-dynamodb-inprocess. Its log goes to this
        process's stderr. Cannot be combined with `binary` or `url`.
    args: additional arguments of `mayfly serve`, such as ["--stream-shards", "4"].
    region: the region for which clients sign.
    start_timeout: time limit for the start, in seconds.

    If a server that was started here dies, its worlds are lost, and their calls raise EndedError. The next call to `world`
    starts a new server.

    Raises BinaryError, LibraryError, StartError, UrlError or VersionError. Each message says what to do.
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
        self._binary, self._args, self._start_timeout = binary, tuple(args), start_timeout
        self._log = ServerLog()
        self._lock = Lock()
        self._closed = False
        self._end = weakref.finalize(self, _nothing)
        if in_process and (url is not None or binary is not None):
            raise ValueError("in_process cannot be combined with binary or url: omit either one")
        if url is None and binary is None and not in_process:
            url = os.environ.get("MAYFLY_URL")
        if in_process:
            from ._in_process import InProcess

            library = InProcess(args)
            self._end = weakref.finalize(self, library.end)
            self._instance = Instance(library.url, in_process=library)
            self._connect()
        elif url:
            self._instance = Instance(url.rstrip("/"))
            self._connect()
        else:
            self._start()

    @property
    def url(self) -> str:
        """The server's URL, without a trailing slash: http://127.0.0.1:41234."""
        return self._instance.url

    @property
    def version(self) -> str:
        """The server's version."""
        return self._instance.version

    @property
    def pid(self) -> Optional[int]:
        """The id of the server's process. None if the server was not started here, or runs in this process."""
        return None if self._instance.process is None else self._instance.process.pid

    @property
    def ended(self) -> Optional[str]:
        """How the server ended: "exit status 1", "killed by SIGKILL", or "closed" if it ran in this process or was closed on
        Windows. None if the server runs, or was not started here."""
        return self._instance.ended()

    @property
    def has_died(self) -> bool:
        """Whether the server was started here and has ended without `close`."""
        return not self._closed and self._instance.process is not None and self.ended is not None

    def log(self, since: int = 0) -> str:
        """The server's log from the position `since` on, at most the last thousand lines. "" if the server was not started
        here, or runs in this process, where its log goes to stderr."""
        return self._log.since(since)

    def log_position(self) -> int:
        """The position of the log's next line, for `log`."""
        return self._log.position()

    def instance(self) -> Instance:
        """The current instance, or a new one if the server died. Raises the same errors as the constructor."""
        with self._lock:
            process = self._instance.process
            if process is not None and self.has_died:
                process.last_log()  # reads the rest of the old server's log before the new server writes
                self._log.add(f"(the server died, {self.ended}; the following lines are from a new server)")
                self._instance.close()
                self._start()
            return self._instance

    def world(self) -> World:
        """A new world with an unused account. If the server has died, a new server is started first, which can raise the
        same errors as the constructor. Otherwise, no request is sent."""
        from ._world import World

        return World(self)

    def close(self) -> None:
        """Terminates the server if it was started here, and kills it if it still runs after five seconds. On Windows, which
        has no SIGTERM, kills it at once; the server keeps all writes that it has acknowledged. An existing server keeps
        running."""
        self._closed = True
        self._instance.close()
        self._end()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<mayfly.Server {self.url}>"

    def exchange(
        self, method: str, path: str, body: Optional[bytes] = None, headers: Optional[Mapping[str, str]] = None
    ) -> tuple[int, bytes]:
        """Sends any HTTP request. Returns the status and the body of the response. Raises EndedError or UnansweredError if
        there is no response."""
        return self._instance.exchange(method, path, body, headers or {})

    def _start(self) -> None:
        process = ServerProcess(find_binary(self._binary), self._args, self._start_timeout, self._log)
        self._end = weakref.finalize(self, process.end)
        self._instance = Instance(process.url, process)
        self._connect()

    def _connect(self) -> None:
        try:
            self._instance.connect(self._start_timeout)
        except BaseException:
            self._instance.close()
            self._end()
            raise


def _nothing() -> None:
    pass
