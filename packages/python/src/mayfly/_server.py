"""A Mayfly server: one that is started here, one in this process, or one that runs already.

with Server() as server, server.world() as world:
    world.clock.freeze("2031-01-01T00:00:00Z")
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Optional

from ._binary import StrPath, find_binary
from ._instance import Instance
from ._log import ServerLog
from ._process import ServerProcess
from .errors import hides_frames

if TYPE_CHECKING:
    from ._world import World

__tracebackhide__ = hides_frames

START_TIMEOUT_SECONDS = 10.0


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

    If a server that was started here dies, its worlds are lost: their calls raise EndedError. The next call of `world`
    starts the server again.

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
        self._binary, self._args, self._start_timeout = binary, tuple(args), start_timeout
        self._log = ServerLog()
        self._lock = threading.Lock()
        self._closed = False
        self._end = weakref.finalize(self, _nothing)
        if in_process and (url is not None or binary is not None):
            raise ValueError("a server in this process has neither a binary nor a url: leave those, or in_process, out")
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
        """http://127.0.0.1:41234, without a slash at the end."""
        return self._instance.url

    @property
    def version(self) -> str:
        """The server's own."""
        return self._instance.version

    @property
    def pid(self) -> Optional[int]:
        """The server's process, or None if it was not started here, or is in this one."""
        return None if self._instance.process is None else self._instance.process.pid

    @property
    def ended(self) -> Optional[str]:
        """How it ended, "exit status 1" or "killed by SIGKILL", or "closed" if it was in this process; None if it is there,
        or was not started here."""
        return self._instance.ended()

    @property
    def has_died(self) -> bool:
        """Whether it was started here and has ended without `close`."""
        return not self._closed and self._instance.process is not None and self.ended is not None

    def log(self, since: int = 0) -> str:
        """The last thousand lines that it logged, or those from `log_position` on; "" if it was not started here, or is in
        this process, whose stderr has them."""
        return self._log.since(since)

    def log_position(self) -> int:
        """Where the log's next line will be."""
        return self._log.position()

    def instance(self) -> Instance:
        """The running server; a fresh one if the last one died. Raises what the constructor raises."""
        with self._lock:
            process = self._instance.process
            if process is not None and self.has_died:
                process.last_log()  # the rest of it is read before the next one logs
                self._log.add(f"(the server died, {self.ended}; what follows is from a fresh one)")
                self._instance.close()
                self._start()
            return self._instance

    def world(self) -> World:
        """A new one: an account that nobody has used. If the server has died, a fresh one is started first, which raises
        what the constructor raises; otherwise this asks the server nothing."""
        from ._world import World

        return World(self)

    def close(self) -> None:
        """Ends it, if it was started here: asks it to, and kills it if that takes more than five seconds."""
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
        """The status and the answer of any HTTP request. Raises EndedError or UnansweredError if there is none."""
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
