"""A world: an account with tables, streams and a clock that no other world sees."""

from __future__ import annotations

import contextlib
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
from .._functions import Function, LocalFunctions
from .._handlers import HandlerFailure, HandlerFailures
from .._instant import Duration, Instant, seconds_of
from .._literals import ChangedBy, EventName, StreamView
from .._record import Record
from ..errors import ControlError, HandlerError, MayflyError, WaitError, hides_frames
from ._aws import AsyncAwsClients
from ._clock import AsyncClock
from ._ttl import AsyncTtl
from ._waiting import apart, exchange, handler_of, sleep

if TYPE_CHECKING:
    from .._world import World  # asyncio only
    from ._server import AsyncServer

__tracebackhide__ = hides_frames

T = TypeVar("T")

POLL_SECONDS = 0.001


class AsyncWorld(AsyncAwsClients):
    """A separate account: tables, streams and a clock that no other world sees. A new world is empty, and its clock shows the
    host's time.

    account: opens an existing account, such as the account of a world in another process. None: a new, unused account.

    Keys are plain values, {"id": "1"}, or DynamoDB JSON, {"id": {"S": "1"}}. A call that the server refuses raises a
    ControlError. After the server has died, every call raises an EndedError.

    asyncio: each AsyncWorld belongs to one event loop."""

    def __init__(self, server: AsyncServer, account: Optional[str] = None) -> None:
        super().__init__()
        self._server = server
        self._instance = server.instance()
        self._account = new_account() if account is None else account
        self._born_at = server.log_position()
        self._clock = AsyncClock(self)
        self._share(HandlerFailures())
        self._registered: set[str] = set()
        self._is_shared = False  # whether another object owns the world and is responsible for closing it

    def _share(self, failures: HandlerFailures) -> None:
        self._failures = failures
        self._local = LocalFunctions(failures)

    # --- asyncio only

    @classmethod
    def of(cls, world: World) -> AsyncWorld:
        """An AsyncWorld for an existing World. Closing the AsyncWorld removes the functions that were registered through it,
        and leaves the world otherwise unchanged. If a handler failed and no settle has raised the failure, closing the World
        raises the failure."""
        from ._server import AsyncServer

        made = cls(AsyncServer.of(world.server), world.account)
        made._instance = world._instance
        made._share(world._failures)
        made._is_shared = True
        return made

    # --- properties

    @property
    def server(self) -> AsyncServer:
        """The server that hosts this world."""
        return self._server

    @property
    def url(self) -> str:
        """The server's URL, without a trailing slash."""
        return self._instance.url

    @property
    def account(self) -> str:
        """The account, twelve digits. A client with this access key id uses this world."""
        return self._account

    @property
    def region(self) -> str:
        """The region for which clients sign."""
        return self._server.region

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which a child process uses this world:
        subprocess.run(…, env={**os.environ, **world.environment})."""
        return environment_of(self.url, self.account, self.region)

    @property
    def clock(self) -> AsyncClock:
        """The world's clock."""
        return self._clock

    def log(self) -> str:
        """The server's log since this world was created, including lines about other worlds. "" if this process did not start
        the server."""
        return self._server.log(self._born_at)

    async def execute(self, operation: str, **parameters: Any) -> Any:
        """Runs a DynamoDB operation without an SDK: execute("GetItem", TableName="carts", Key={"id": {"S": "1"}}). Items in
        parameters and in the result are DynamoDB JSON."""
        return await self.run(executed(operation, parameters))

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
        """Creates a table and returns its description, as CreateTable does.

        key, sort: the partition key and the sort key. Each is the name of a string attribute, or a name and a type,
            ("year", "N").
        ttl: the attribute that holds the time to live. None: TTL is disabled.
        stream: True (NEW_AND_OLD_IMAGES), False, or one of KEYS_ONLY, NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES.
        indexes: secondary indexes: [Index("by_owner", key="owner")].
        more: other members of CreateTable: Tags=[…].

        Raises ValueError or TypeError for invalid arguments before it sends a request, for example if an attribute has two
        types or an argument is misspelled."""
        enable_ttl = None if ttl is None else tables.enable_ttl(name, ttl)
        description = await self.run(tables.create(name, key, sort, stream, indexes, more))
        if enable_ttl is not None:
            await self.run(enable_ttl)
        return description

    def ttl(self, table: str) -> AsyncTtl:
        """An object for the table's time to live, with methods for status, mode and sweeps. This call sends no request."""
        return AsyncTtl(self, table)

    async def explain(self, table: str, key: Mapping[str, Any]) -> Explanation:
        """Explains why an item still exists, or why it does not."""
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
        """Waits until the item changes, and returns the change's stream record. Use this method instead of sleeping.

        event: INSERT, MODIFY or REMOVE. None: any of them.
        by: who made the change: "user", or "service" for TTL. None: either.
        since: also accept earlier changes, from this time on, by the world's clock. None: only changes after the call.
        timeout: real time, at most ten minutes.

        Raises a WaitError, which is a TimeoutError, after the timeout. The error lists the item's other changes. If the
        item's TTL can never fire, the error says why."""
        return await self.run(waiting.wait_for(table, key, event, by, since, timeout))

    # --- snapshots

    async def snapshot(self) -> AsyncSnapshot:
        """Saves the state of the world: tables, items, indexes, pending expiries, streams and clock."""
        return AsyncSnapshot(self, await self.run(snapshots.take()))

    async def restore(self, snapshot: Union[AsyncSnapshot, str]) -> None:
        """Restores the state that the snapshot saved, including the clock."""
        await self.run(snapshots.restore(_id(snapshot)))
        await self._clock.moved()

    async def delete_snapshot(self, snapshot: Union[AsyncSnapshot, str]) -> None:
        """Deletes a snapshot and frees its memory."""
        await self.run(snapshots.delete(_id(snapshot)))

    async def snapshots(self) -> list[AsyncSnapshot]:
        """The world's existing snapshots."""
        return [AsyncSnapshot(self, id) for id in await self.run(snapshots.kept())]

    async def reset(self) -> None:
        """Deletes all tables, streams, snapshots, event source mappings and faults, and resets the clock. Registered
        functions remain."""
        await self.run(snapshots.reset())
        await self._clock.moved()

    # --- faults and failpoints

    async def faults(self, *rules: Fault) -> None:
        """Replaces all fault rules with these. If several rules match an operation, their latencies add up, but
        at most one other fault applies: the fault of the first rule whose count and probability allow it."""
        await self.run(faults.put(rules))

    async def clear_faults(self) -> None:
        """Removes all fault rules."""
        await self.run(faults.clear())

    async def fault_counts(self) -> list[FaultCount]:
        """For each rule, the number of operations that it matched and the number that it was applied to."""
        return await self.run(faults.counts())

    async def failpoint(self, table: str, key: Mapping[str, Any]) -> AsyncFailpoint:
        """Arms a failpoint for the item with this key."""
        await self.run(failpoints.arm(table, key))
        return AsyncFailpoint(self, table, key)

    async def release_failpoints(self) -> None:
        """Releases all failpoints of this world."""
        await self.run(failpoints.release_all())

    # --- functions

    async def function(
        self, name: str, function: Union[Function, str], *, timeout: Optional[Duration] = None, may_fail: bool = False
    ) -> None:
        """Registers the function that event source mappings and Lambda's Invoke call by this name: a handler in this
        process, (event, context) or (event), or the http:// URL of a function that runs elsewhere.

        Each invocation of a handler runs in a separate thread. The handler is served on the loopback interface until the
        world is closed, so a server in a container cannot reach it.

        timeout: the time limit of an invocation. None: a minute.
        may_fail: the test expects failures. Otherwise an exception in the handler is printed to stderr, and the next
            `settle`, or `close` at the end of the test, raises it as a HandlerError.

        asyncio: a coroutine function runs in the event loop of this call."""
        self._failures.declare(name, may_fail)
        url = function if isinstance(function, str) else self._local.serve(name, handler_of(function))
        self._registered.add(name)
        await self.run(functions.put(name, url, timeout))

    async def remove_function(self, name: str) -> None:
        """Removes the registration of a function."""
        await self.run(functions.delete(name))

    async def functions(self) -> list[RegisteredFunction]:
        """The functions that are registered in this world."""
        return await self.run(functions.registered())

    async def trigger(self, table: str, function: str, **settings: Any) -> str:
        """Creates an event source mapping that calls a function with the records of a table's stream, starting with the
        oldest record. The settings are members of Lambda's CreateEventSourceMapping: BatchSize=10, FilterCriteria=…. Returns
        the mapping's UUID. Raises a MayflyError if the table has no stream."""
        stream = await self.run(functions.stream_of(table))
        return await self.run(functions.create_mapping(stream, function, settings))

    async def settle(self, timeout: Optional[Duration] = None) -> Advanced:
        """Waits until every record of the world's streams has reached its functions, without moving the clock.

        This method returns early if only functions registered with may_fail=True keep failing; the result's `settled` is then
        False. If any other function fails, this method raises a HandlerError that names the function, the function's last
        error, and the records that were not delivered.

        timeout: real time. None: 30 seconds. The result's `unfinished` lists the mappings that still have records at that
            time."""
        return await self._clock.advance(0, settle=True if timeout is None else seconds_of(timeout))

    def handler_failures(self) -> list[HandlerFailure]:
        """The latest exceptions of handlers in this process, oldest first, at most 100. They include failures of functions
        that may fail, and failures that were already raised."""
        return self._failures.kept()

    # --- other calls

    async def control(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Any:
        """Makes any call to the control API for this world: control("GET", "/jobs"). `path` is the part after /_mayfly. The
        result is the response's JSON."""
        return await self.run(generic(method, path, body))

    async def run(self, call: Call[T]) -> T:
        status, text = await exchange(
            self._instance, call.method, call.path, call.sent_body(), call.headers(self.account, self.region)
        )
        return call.result(status, text)

    async def close(self) -> None:
        """Delivers the remaining records to functions, for at most two seconds. It then frees the world's memory in the
        server, stops the world's handlers, and restores the program's clock if it followed the world's clock. Raises a
        HandlerError if a handler failed and no settle has raised the failure yet."""
        error = await self._close()
        if error is not None:
            raise error

    async def _close(self) -> Optional[HandlerError]:
        await self._deliver()
        error = None if self._is_shared else self._failures.close()  # before the reset, which makes calls in flight fail
        self._clock.unfollow()
        if not self._is_shared:
            with contextlib.suppress(MayflyError):
                await self.run(snapshots.reset())
        for name in self._registered:  # a reset does not remove registrations
            with contextlib.suppress(MayflyError):
                await self.remove_function(name)
        self._registered.clear()
        await apart(self._local.close)
        await self._close_clients()
        return error

    async def _deliver(self) -> None:
        """Lets functions process the records written so far, so that a failing handler fails before its test ends."""
        if self._registered:
            with contextlib.suppress(MayflyError):
                await self.run(delivery())

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
    """A saved state of a world: tables, items, indexes, pending expiries, streams and clock. A snapshot copies no data."""

    def __init__(self, world: AsyncWorld, id: str) -> None:
        self._world, self.id = world, id

    async def restore(self) -> None:
        """Restores this state of the world. It can be restored any number of times."""
        await self._world.restore(self)

    async def delete(self) -> None:
        """Deletes this snapshot and frees its memory."""
        await self._world.delete_snapshot(self)

    def __repr__(self) -> str:
        return f"<mayfly.aio.AsyncSnapshot {self.id} of {self._world.account}>"


class AsyncFailpoint:
    """Stops the expiry of an item just before its deletion. Until the failpoint is released, the item stays an ordinary item,
    and an advance of the world's clock blocks at the failpoint, so run the advance in another task. Leaving an `async with`
    block releases the failpoint."""

    def __init__(self, world: AsyncWorld, table: str, key: Mapping[str, Any]) -> None:
        self._world, self._table, self._key = world, table, dict(key)

    async def wait_reached(self, timeout: float = 5.0) -> None:
        """Waits until the item's expiry has reached the failpoint. Raises a WaitError after `timeout` real seconds, and a
        MayflyError if the failpoint no longer exists."""
        for _ in range(max(1, int(timeout / POLL_SECONDS))):
            if await self._world.run(failpoints.is_reached(self._table, self._key, self._world.region)):
                return
            await sleep(POLL_SECONDS)
        raise WaitError(f"The expiry of {self._key} in {self._table} did not reach the failpoint within {timeout:g} s.")

    async def release(self) -> None:
        """Lets the expiry continue. The item is re-checked and stays if it was renewed."""
        await self._world.run(failpoints.release(self._table, self._key))

    async def __aenter__(self) -> AsyncFailpoint:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            await self.release()
        except ControlError as refused:
            if refused.status != 404:  # already released
                raise


def _id(snapshot: Union[AsyncSnapshot, str]) -> str:
    return snapshot if isinstance(snapshot, str) else snapshot.id
