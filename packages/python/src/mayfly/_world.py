"""An account of its own: tables, streams and a clock that no other world sees."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union

from . import _boto
from ._account import environment_of, new_account
from ._calls import Call, executed, failpoints, faults, functions, generic, snapshots, tables, waiting
from ._calls.clock import Advanced, delivery
from ._calls.faults import Fault, FaultCount
from ._calls.functions import RegisteredFunction
from ._calls.tables import Index, KeyAttribute
from ._calls.ttl import Explanation
from ._clock import Clock
from ._failpoint import Failpoint
from ._functions import Function, LocalFunctions
from ._handlers import HandlerFailure, HandlerFailures
from ._instant import Duration, Instant, seconds_of
from ._literals import ChangedBy, EventName, StreamView
from ._record import Record
from ._snapshot import Snapshot
from ._ttl import Ttl
from .errors import HandlerError, MayflyError, hides_frames

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient, DynamoDBServiceResource
    from types_boto3_dynamodbstreams import DynamoDBStreamsClient

    from ._server import Server

__tracebackhide__ = hides_frames

T = TypeVar("T")


class World:
    """Begins empty, and its clock begins with the host's time. `account` opens an existing account, such as a world of
    another process; without it the world gets an account that nobody has used.

    Keys are plain values, {"id": "1"}, or DynamoDB's JSON, {"id": {"S": "1"}}. A call that the server refuses raises a
    ControlError, and every call raises an EndedError once the server has died."""

    def __init__(self, server: Server, account: Optional[str] = None) -> None:
        self._server = server
        self._instance = server.instance()
        self._account = new_account() if account is None else account
        self._born_at = server.log_position()
        self._clock = Clock(self)
        self._failures = HandlerFailures()
        self._local = LocalFunctions(self._failures)
        self._functions_registered = False
        self._made: dict[str, Any] = {}  # clients and resources, by what they are

    # --- what it is

    @property
    def server(self) -> Server:
        return self._server

    @property
    def url(self) -> str:
        """The server's, without a slash at the end."""
        return self._instance.url

    @property
    def account(self) -> str:
        """Twelve digits: the access key id that signs for the world."""
        return self._account

    @property
    def region(self) -> str:
        return self._server.region

    @property
    def environment(self) -> dict[str, str]:
        """What a child process needs to be in this world: subprocess.run(…, env={**os.environ, **world.environment})."""
        return environment_of(self.url, self.account, self.region)

    @property
    def clock(self) -> Clock:
        return self._clock

    def log(self) -> str:
        """What the server has logged since the world was made, of all worlds; "" if it was not started here."""
        return self._server.log(self._born_at)

    # --- AWS's SDK

    @property
    def dynamodb(self) -> DynamoDBClient:
        """boto3's client for DynamoDB."""
        return self._once("client", "dynamodb")

    @property
    def streams(self) -> DynamoDBStreamsClient:
        """boto3's client for DynamoDB Streams."""
        return self._once("client", "dynamodbstreams")

    @property
    def resource(self) -> DynamoDBServiceResource:
        """boto3's resource for DynamoDB: world.resource.Table("carts")."""
        return self._once("resource", "dynamodb")

    def client(self, service: str, **options: Any) -> Any:
        """A further client, of "lambda" say, or with a `config` of yours; the options are those of boto3's client()."""
        return _boto.client(service, self._instance, self.account, self.region, **options)

    def execute(self, operation: str, **parameters: Any) -> Any:
        """An operation of DynamoDB without an SDK: execute("GetItem", TableName="carts", Key={"id": {"S": "1"}}). Items are
        DynamoDB's JSON, as the answer's are."""
        return self.run(executed(operation, parameters))

    def _once(self, kind: str, service: str) -> Any:
        made = self._made.get(kind + service)
        if made is None:
            make = _boto.client if kind == "client" else _boto.resource
            made = self._made[kind + service] = make(service, self._instance, self.account, self.region)
        return made

    # --- tables

    def create_table(
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
        """Creates a table, and returns its description as CreateTable does.

        key, sort: the partition key and the sort key: a name, if it is a string, or a name and type, ("year", "N").
        ttl: the attribute that holds the time to live.
        stream: True is NEW_AND_OLD_IMAGES; or False, or one of KEYS_ONLY, NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES.
        indexes: secondary indexes: [Index("by_owner", key="owner")].
        more: further members of CreateTable: Tags=[…].

        Raises ValueError or TypeError, before any request, for arguments that cannot be right: an attribute with two types, a
        misspelled argument."""
        enable_ttl = None if ttl is None else tables.enable_ttl(name, ttl)
        description = self.run(tables.create(name, key, sort, stream, indexes, more))
        if enable_ttl is not None:
            self.run(enable_ttl)
        return description

    def ttl(self, table: str) -> Ttl:
        return Ttl(self, table)

    def explain(self, table: str, key: Mapping[str, Any]) -> Explanation:
        """Why an item is still there, or is not."""
        return self.ttl(table).explain(key)

    def wait_for(
        self,
        table: str,
        key: Mapping[str, Any],
        event: Optional[EventName] = None,
        *,
        by: Optional[ChangedBy] = None,
        since: Optional[Instant] = None,
        timeout: Duration = 5,
    ) -> Record:
        """Waits until the item changes, and returns the change's record. No test needs to sleep.

        event: INSERT, MODIFY or REMOVE; None: any of them.
        by: "user", or "service", which is TTL; None: either.
        since: also accept changes that the table's stream has from this time of the world's clock on. None: only changes
            after the call.
        timeout: real time, at most ten minutes. Then a WaitError, which is a TimeoutError, says what did happen to the item,
            and why it does not expire, if its TTL cannot fire."""
        return self.run(waiting.wait_for(table, key, event, by, since, timeout))

    # --- snapshots

    def snapshot(self) -> Snapshot:
        """Keeps the world as it is."""
        return Snapshot(self, self.run(snapshots.take()))

    def restore(self, snapshot: Union[Snapshot, str]) -> None:
        """Makes the world what it was, clock and all."""
        self.run(snapshots.restore(_id(snapshot)))
        self._clock.moved()

    def delete_snapshot(self, snapshot: Union[Snapshot, str]) -> None:
        self.run(snapshots.delete(_id(snapshot)))

    def snapshots(self) -> list[Snapshot]:
        """Those that are kept."""
        return [Snapshot(self, id) for id in self.run(snapshots.kept())]

    def reset(self) -> None:
        """Leaves nothing: no tables, streams, snapshots, mappings, faults; the clock as it begins. Functions stay."""
        self.run(snapshots.reset())
        self._clock.moved()

    # --- what goes wrong

    def faults(self, *rules: Fault) -> None:
        """Has operations fail by these rules and no others. The first that fits strikes; latencies add up."""
        self.run(faults.put(rules))

    def clear_faults(self) -> None:
        self.run(faults.clear())

    def fault_counts(self) -> list[FaultCount]:
        """How often each rule was asked and struck."""
        return self.run(faults.counts())

    def failpoint(self, table: str, key: Mapping[str, Any]) -> Failpoint:
        """Arms one for the item with that key."""
        self.run(failpoints.arm(table, key))
        return Failpoint(self, table, key)

    def release_failpoints(self) -> None:
        """All of the world."""
        self.run(failpoints.release_all())

    # --- functions

    def function(
        self, name: str, function: Union[Function, str], *, timeout: Optional[Duration] = None, may_fail: bool = False
    ) -> None:
        """Registers the function that event source mappings and Lambda's Invoke call by that name: a handler of this process,
        (event, context) or (event), or the http:// URL of a function that runs elsewhere.

        A handler of this process runs in a thread of its own. It is served on the loopback interface until the world is
        closed, so a server in a container cannot reach it.

        timeout: how long an invocation may take; None: a minute.
        may_fail: the test expects failures. Otherwise an exception in the handler is printed to stderr, and raised as a
            HandlerError by the next `settle`, or by `close` at the end of the test."""
        self._failures.declare(name, may_fail)
        url = function if isinstance(function, str) else self._local.serve(name, function)
        self._functions_registered = True
        self.run(functions.put(name, url, timeout))

    def remove_function(self, name: str) -> None:
        self.run(functions.delete(name))

    def functions(self) -> list[RegisteredFunction]:
        return self.run(functions.registered())

    def trigger(self, table: str, function: str, **settings: Any) -> str:
        """Makes a table's stream call a function, beginning with the stream's oldest record. The settings are those of
        Lambda's CreateEventSourceMapping: BatchSize=10, FilterCriteria=…. Returns the mapping's UUID."""
        return self.run(functions.create_mapping(self.run(functions.stream_of(table)), function, settings))

    def settle(self, timeout: Optional[Duration] = None) -> Advanced:
        """Waits until every record of the world's streams has reached its functions, without moving the clock.

        It returns early when only functions that are declared with may_fail=True keep failing; the result's `settled` is
        false then. Any other function that fails is raised as a HandlerError, which names the function, its last error, and
        what was not delivered.

        timeout: real time; None: 30 seconds. The result's `unfinished` says what is not done by then."""
        return self._clock.advance(0, settle=True if timeout is None else seconds_of(timeout))

    def handler_failures(self) -> list[HandlerFailure]:
        """The latest exceptions of handlers of this process, oldest first, at most 100: also those of functions that may
        fail, and those that were raised."""
        return self._failures.kept()

    # --- all else

    def control(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Any:
        """Makes any call of the control API for this world: control("GET", "/jobs"). `path` is what follows /_mayfly; the
        result is the response's JSON."""
        return self.run(generic(method, path, body))

    def run(self, call: Call[T]) -> T:
        status, text = self._instance.exchange(
            call.method, call.path, call.sent_body(), call.headers(self.account, self.region)
        )
        return call.result(status, text)

    def close(self) -> None:
        """Delivers what is left to functions, for at most two seconds. Then frees the world's memory in the server, stops its
        handlers and, if the program's clock followed, sets that right. Raises a HandlerError if a handler failed and no
        settle has raised that yet."""
        error = self._close()
        if error is not None:
            raise error

    def _close(self) -> Optional[HandlerError]:
        self._deliver()
        error = self._failures.close()  # before the reset, which makes calls fail that are under way
        self._clock.unfollow()
        with contextlib.suppress(MayflyError):
            self.run(snapshots.reset())
            if self._functions_registered:  # a reset leaves them
                for function in self.functions():
                    self.remove_function(function.name)
        self._local.close()
        for made in self._made.values():
            client = made.meta.client if hasattr(made, "Table") else made
            client.close()
        self._made.clear()
        return error

    def _deliver(self) -> None:
        """Lets functions process what was written, so that a test does not end before its handlers have failed."""
        if self._functions_registered:
            with contextlib.suppress(MayflyError):
                self.run(delivery())

    def __enter__(self) -> World:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        failed = self._close()
        if failed is not None and error is None:
            raise failed

    def __repr__(self) -> str:
        return f"<mayfly.World {self.account} at {self.url}>"


def _id(snapshot: Union[Snapshot, str]) -> str:
    return snapshot if isinstance(snapshot, str) else snapshot.id
