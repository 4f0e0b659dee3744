from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Optional

from .._binary import StrPath
from .._instance import Instance
from .._server import START_TIMEOUT_SECONDS, Server
from ..errors import hides_frames
from ._connection import ask
from ._world import AsyncWorld

__tracebackhide__ = hides_frames


class AsyncServer:
    """mayfly.Server for asyncio, with the same arguments and errors. `async with AsyncServer(…) as server` starts and ends
    the server. Calls to a server in this process also use HTTP, so that they can be canceled and do not block the event
    loop."""

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
        self._start = lambda: Server(
            binary, url=url, in_process=in_process, args=args, region=region, start_timeout=start_timeout
        )
        self._server: Optional[Server] = None

    @classmethod
    def of(cls, server: Server) -> AsyncServer:
        """An AsyncServer for an existing Server. The caller remains responsible for closing the Server."""
        this = cls()
        this._server = server
        return this

    @property
    def server(self) -> Server:
        """The synchronous Server. Raises a RuntimeError before the start."""
        if self._server is None:
            raise RuntimeError("the server is not started: use `async with AsyncServer() as server`, or await start()")
        return self._server

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def version(self) -> str:
        return self.server.version

    @property
    def region(self) -> str:
        return self.server.region

    def log(self, since: int = 0) -> str:
        return self.server.log(since)

    def log_position(self) -> int:
        return self.server.log_position()

    def instance(self) -> Instance:
        return self.server.instance()

    def world(self) -> AsyncWorld:
        """A new world with an unused account. If the server has died, a new server is started first."""
        return AsyncWorld(self)

    async def start(self) -> AsyncServer:
        """Starts the server if it has not been started, and returns when it answers."""
        if self._server is None:
            self._server = await asyncio.to_thread(self._start)
        return self

    async def close(self) -> None:
        """Ends the server. See Server.close."""
        if self._server is not None:
            await asyncio.to_thread(self._server.close)

    async def __aenter__(self) -> AsyncServer:
        return await self.start()

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    async def exchange(
        self, method: str, path: str, body: Optional[bytes] = None, headers: Optional[Mapping[str, str]] = None
    ) -> tuple[int, bytes]:
        """Sends any HTTP request. Returns the status and the body of the response. Raises EndedError or UnansweredError if
        there is no response."""
        return await ask(self.server.instance(), method, path, body, headers or {})
