from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Optional

from .._binary import StrPath
from .._server import START_TIMEOUT_SECONDS, Server
from ..errors import hides_frames
from ._connection import ask
from ._world import AsyncWorld

__tracebackhide__ = hides_frames


class AsyncServer:
    """`async with AsyncServer(…) as server` starts it and ends it. Its arguments and errors are those of mayfly.Server.
    A server in this process is also asked over HTTP, so that calls can be cancelled and do not block the event loop."""

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
        """The same server, which stays the caller's to close."""
        this = cls()
        this._server = server
        return this

    @property
    def server(self) -> Server:
        """The server itself. Raises a RuntimeError before the start."""
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

    def world(self) -> AsyncWorld:
        """A new one: an account that nobody has used. If the server has died, a fresh one is started first."""
        return AsyncWorld(self)

    async def start(self) -> AsyncServer:
        if self._server is None:
            self._server = await asyncio.to_thread(self._start)
        return self

    async def close(self) -> None:
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
        """The status and the answer of any HTTP request. Raises EndedError or UnansweredError if there is none."""
        return await ask(self.server.instance(), method, path, body, headers or {})
