"""mayfly.World for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union

from .._account import environment_of, new_account
from .._calls import Call, executed, failpoints, faults, functions, generic, snapshots, tables, waiting
from .._calls.clock import Advanced, delivery
from .._calls.faults import Fault, FaultCount
from .._calls.functions import RegisteredFunction
from .._calls.tables import Index, KeyAttribute
from .._calls.ttl import Explanation
from .._failpoint import POLL_SECONDS
from .._functions import Function, LambdaContext, LocalFunctions, takes_context
from .._handlers import HandlerFailure, HandlerFailures
from .._instant import Duration, Instant, seconds_of
from .._literals import ChangedBy, EventName, StreamView
from .._record import Record
from .._world import World
from ..errors import ControlError, HandlerError, MayflyError, WaitError, hides_frames
from . import _clients
from ._clock import AsyncClock
from ._connection import ask
from ._ttl import AsyncTtl

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb import DynamoDBClient
    from types_aiobotocore_dynamodbstreams import DynamoDBStreamsClient

    from ._server import AsyncServer

__tracebackhide__ = hides_frames

T = TypeVar("T")


class AsyncWorld:
    """mayfly.World with awaitable methods; see there for their documentation. Each AsyncWorld belongs to one event loop."""

    def __init__(self, server: AsyncServer, account: Optional[str] = None) -> None:
        self._server = server
        self._instance = server.server.instance()
        self._account = new_account() if account is None else account
        self._born_at = server.server.log_position()
        self._clock = AsyncClock(self)
        self._share(HandlerFailures())
        self._registered: set[str] = set()
        self._clients: dict[str, Any] = {}
        self._is_own = account is None  # `close` resets only its own account
        self._is_shared = False  # with a World, which then raises the handlers' failures

    @classmethod
    def of(cls, world: World) -> AsyncWorld:
        """An AsyncWorld for an existing World. Closing it removes the functions that were registered through it, and leaves
        the world otherwise unchanged. If a handler failed and no settle has raised the failure, closing the World raises
        it."""
        from ._server import AsyncServer

        made = cls(AsyncServer.of(world.server), world.account)
        made._instance = world._instance
        made._share(world._failures)
        made._is_shared = True
        return made

    def _share(self, failures: HandlerFailures) -> None:
        self._failures = failures
        self._local = LocalFunctions(failures)

    # --- properties

    @property
    def server(self) -> AsyncServer:
        return self._server

    @property
    def url(self) -> str:
        return self._instance.url

    @property
    def account(self) -> str:
        return self._account

    @property
    def region(self) -> str:
        return self._server.region

    @property
    def environment(self) -> dict[str, str]:
        return environment_of(self.url, self.account, self.region)

    @property
    def clock(self) -> AsyncClock:
        return self._clock

    def log(self) -> str:
        return self._server.log(self._born_at)

    # --- AWS SDK

    async def dynamodb(self) -> DynamoDBClient:
        """The aiobotocore client for DynamoDB. Each call returns the same client, which the world closes. Raises
        MissingExtraError if aiobotocore is not installed."""
        return await self._once("dynamodb")

    async def streams(self) -> DynamoDBStreamsClient:
        """The aiobotocore client for DynamoDB Streams."""
        return await self._once("dynamodbstreams")

    async def client(self, service: str, **options: Any) -> Any:
        """A new open client for this world, for example for "lambda". Close it with `await client.close()`. The options are
        those of aiobotocore's create_client()."""
        return await _clients.client(service, self._instance, self.account, self.region, **options)

    async def execute(self, operation: str, **parameters: Any) -> Any:
        return await self.run(executed(operation, parameters))

    async def _once(self, service: str) -> Any:
        made = self._clients.get(service)
        if made is None:
            made = await self.client(service)
            kept = self._clients.setdefault(service, made)
            if kept is not made:  # another task was first
                await made.close()
            made = kept
        return made

    # --- tables

    async def create_table(
        self,
        name: str,
        *,
        key: KeyAttribute = "id",
        sort: Optional[KeyAttribute] = None,
        ttl: Optional[str] = None,
        stream: Union[bool, StreamView] = True,
        indexes: Sequence[Index] = (),
        **more: Any,
    ) -> dict[str, Any]:
        enable_ttl = None if ttl is None else tables.enable_ttl(name, ttl)
        description = await self.run(tables.create(name, key, sort, stream, indexes, more))
        if enable_ttl is not None:
            await self.run(enable_ttl)
        return description

    def ttl(self, table: str) -> AsyncTtl:
        return AsyncTtl(self, table)

    async def explain(self, table: str, key: Mapping[str, Any]) -> Explanation:
        return await self.ttl(table).explain(key)

    async def wait_for(
        self,
        table: str,
        key: Mapping[str, Any],
        event: Optional[EventName] = None,
        *,
        by: Optional[ChangedBy] = None,
        since: Optional[Instant] = None,
        timeout: Duration = 5,
    ) -> Record:
        return await self.run(waiting.wait_for(table, key, event, by, since, timeout))

    # --- snapshots

    async def snapshot(self) -> AsyncSnapshot:
        return AsyncSnapshot(self, await self.run(snapshots.take()))

    async def restore(self, snapshot: Union[AsyncSnapshot, str]) -> None:
        await self.run(snapshots.restore(_id(snapshot)))
        await self._clock.moved()

    async def delete_snapshot(self, snapshot: Union[AsyncSnapshot, str]) -> None:
        await self.run(snapshots.delete(_id(snapshot)))

    async def snapshots(self) -> list[AsyncSnapshot]:
        return [AsyncSnapshot(self, id) for id in await self.run(snapshots.kept())]

    async def reset(self) -> None:
        await self.run(snapshots.reset())
        await self._clock.moved()

    # --- faults and failpoints

    async def faults(self, *rules: Fault) -> None:
        await self.run(faults.put(rules))

    async def clear_faults(self) -> None:
        await self.run(faults.clear())

    async def fault_counts(self) -> list[FaultCount]:
        return await self.run(faults.counts())

    async def failpoint(self, table: str, key: Mapping[str, Any]) -> AsyncFailpoint:
        await self.run(failpoints.arm(table, key))
        return AsyncFailpoint(self, table, key)

    async def release_failpoints(self) -> None:
        await self.run(failpoints.release_all())

    # --- functions

    async def function(
        self, name: str, function: Union[Function, str], *, timeout: Optional[Duration] = None, may_fail: bool = False
    ) -> None:
        """Like World.function. A coroutine function runs in the event loop of this call. Each invocation of another handler
        runs in a separate thread."""
        self._failures.declare(name, may_fail)
        if not isinstance(function, str) and inspect.iscoroutinefunction(function):
            function = _in_loop(function, asyncio.get_running_loop())
        url = function if isinstance(function, str) else self._local.serve(name, function)
        self._registered.add(name)
        await self.run(functions.put(name, url, timeout))

    async def remove_function(self, name: str) -> None:
        await self.run(functions.delete(name))

    async def functions(self) -> list[RegisteredFunction]:
        return await self.run(functions.registered())

    async def trigger(self, table: str, function: str, **settings: Any) -> str:
        stream = await self.run(functions.stream_of(table))
        return await self.run(functions.create_mapping(stream, function, settings))

    async def settle(self, timeout: Optional[Duration] = None) -> Advanced:
        return await self._clock.advance(0, settle=True if timeout is None else seconds_of(timeout))

    def handler_failures(self) -> list[HandlerFailure]:
        return self._failures.kept()

    # --- other calls

    async def control(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Any:
        return await self.run(generic(method, path, body))

    async def run(self, call: Call[T]) -> T:
        status, text = await ask(
            self._instance, call.method, call.path, call.sent_body(), call.headers(self.account, self.region)
        )
        return call.result(status, text)

    async def close(self) -> None:
        error = await self._close()
        if error is not None:
            raise error

    async def _close(self) -> Optional[HandlerError]:
        if self._registered:
            with contextlib.suppress(MayflyError):
                await self.run(delivery())
        error = None if self._is_shared else self._failures.close()
        self._clock.unfollow()
        with contextlib.suppress(MayflyError):
            if self._is_own:
                await self.run(snapshots.reset())
        for name in self._registered:
            with contextlib.suppress(MayflyError):
                await self.remove_function(name)
        self._registered.clear()
        await asyncio.to_thread(self._local.close)
        for client in self._clients.values():
            await client.close()
        self._clients.clear()
        return error

    async def __aenter__(self) -> AsyncWorld:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        failed = await self._close()
        if failed is not None and error is None:
            raise failed

    def __repr__(self) -> str:
        return f"<mayfly.aio.AsyncWorld {self.account} at {self.url}>"


class AsyncSnapshot:
    """mayfly.Snapshot with awaitable methods."""

    def __init__(self, world: AsyncWorld, id: str) -> None:
        self._world, self.id = world, id

    async def restore(self) -> None:
        await self._world.restore(self)

    async def delete(self) -> None:
        await self._world.delete_snapshot(self)


class AsyncFailpoint:
    """mayfly.Failpoint with awaitable methods: `async with await world.failpoint(…) as point`. Run the advance in another
    task."""

    def __init__(self, world: AsyncWorld, table: str, key: Mapping[str, Any]) -> None:
        self._world, self._table, self._key = world, table, dict(key)

    async def wait_reached(self, timeout: float = 5.0) -> None:
        for _ in range(max(1, int(timeout / POLL_SECONDS))):
            if await self._world.run(failpoints.is_reached(self._table, self._key, self._world.region)):
                return
            await asyncio.to_thread(time.sleep, POLL_SECONDS)  # not asyncio.sleep: see AsyncClock
        raise WaitError(f"The expiry of {self._key} in {self._table} did not reach the failpoint within {timeout:g} s.")

    async def release(self) -> None:
        await self._world.run(failpoints.release(self._table, self._key))

    async def __aenter__(self) -> AsyncFailpoint:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            await self.release()
        except ControlError as refused:
            if refused.status != 404:
                raise


def _in_loop(function: Function, loop: asyncio.AbstractEventLoop) -> Function:
    """A synchronous handler that runs the coroutine function in the loop and waits for its result."""

    def call(event: Any, context: LambdaContext) -> Any:
        coroutine = function(event, context) if takes_context(function) else function(event)
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

    return call


def _id(snapshot: Union[AsyncSnapshot, str]) -> str:
    return snapshot if isinstance(snapshot, str) else snapshot.id
