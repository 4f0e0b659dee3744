"""An account of its own: tables, streams and a clock that no other world sees."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union

from . import _boto
from ._account import environment_of, new_account
from ._calls import Call, executed, failpoints, faults, functions, generic, snapshots, tables, waiting
from ._calls.faults import Fault, FaultCount
from ._calls.functions import RegisteredFunction
from ._calls.tables import KeyAttribute
from ._calls.ttl import Explanation
from ._clock import Clock
from ._failpoint import Failpoint
from ._functions import Function, LocalFunctions
from ._instant import Duration, Instant
from ._record import Record
from ._snapshot import Snapshot
from ._ttl import Ttl
from .errors import MayflyError

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient, DynamoDBServiceResource
    from types_boto3_dynamodbstreams import DynamoDBStreamsClient

    from ._server import Server

T = TypeVar("T")


class World:
    """Begins empty, and its clock begins with the host's time. `account` is one that is known already, a world of another
    process say; left out, it is one that nobody has used.

    Keys are plain values, {"id": "1"}, or DynamoDB's JSON, {"id": {"S": "1"}}. What the server refuses is a ControlError."""

    def __init__(self, server: Server, account: Optional[str] = None) -> None:
        self._server = server
        self._account = new_account() if account is None else account
        self._born_at = server.log_position()
        self._clock = Clock(self)
        self._local = LocalFunctions()
        self._functions_registered = False
        self._made: dict[str, Any] = {}  # clients and resources, by what they are

    # --- what it is

    @property
    def server(self) -> Server:
        return self._server

    @property
    def url(self) -> str:
        """The server's, without a slash at the end."""
        return self._server.url

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
        return _boto.client(service, self.url, self.account, self.region, **options)

    def execute(self, operation: str, **parameters: Any) -> Any:
        """An operation of DynamoDB without an SDK: execute("GetItem", TableName="carts", Key={"id": {"S": "1"}}). Items are
        DynamoDB's JSON, as the answer's are."""
        return self.run(executed(operation, parameters))

    def _once(self, kind: str, service: str) -> Any:
        made = self._made.get(kind + service)
        if made is None:
            make = _boto.client if kind == "client" else _boto.resource
            made = self._made[kind + service] = make(service, self.url, self.account, self.region)
        return made

    # --- tables

    def create_table(
        self,
        table: str,
        *,
        key: KeyAttribute = "id",
        sort: Optional[KeyAttribute] = None,
        ttl: Optional[str] = None,
        stream: bool = True,
    ) -> None:
        """The shortest way to a table. `key` and `sort` are names, of strings, or ("year", "N"); `ttl` is the attribute that
        says when an item expires. All else takes `dynamodb.create_table`."""
        self.run(tables.create(table, key, sort, stream))
        if ttl is not None:
            self.run(tables.enable_ttl(table, ttl))

    def ttl(self, table: str) -> Ttl:
        return Ttl(self, table)

    def explain(self, table: str, key: Mapping[str, Any]) -> Explanation:
        """Why an item is still there, or is not."""
        return self.ttl(table).explain(key)

    def wait_for(
        self,
        table: str,
        key: Mapping[str, Any],
        event: Optional[str] = None,
        *,
        by: Optional[str] = None,
        since: Optional[Instant] = None,
        timeout: Duration = 5,
    ) -> Record:
        """Returns when the item changes as told, so that no test sleeps: the change's record.

        event: INSERT, MODIFY or REMOVE; by: "user" or "service", which is TTL; left out, any will do.
        since: also the changes that the table's stream has from that time of the world's clock on. Left out: those from the
            call on.
        timeout: real time, at most ten minutes; then a WaitError, a TimeoutError, says what did happen."""
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

    def function(self, name: str, function: Union[Function, str], *, timeout: Optional[Duration] = None) -> None:
        """Registers what event source mappings and Lambda's Invoke call by that name: a function of this process, as Lambda's
        handlers are, (event, context), or of the event alone; or the http:// URL of one that runs elsewhere.

        A function of this process runs in a thread of its own, and is served on the loopback interface until the world is
        closed: a server in a container cannot reach it. An invocation may take `timeout`, a minute if nothing is said."""
        url = function if isinstance(function, str) else self._local.serve(name, function)
        self._functions_registered = True
        self.run(functions.put(name, url, timeout))

    def remove_function(self, name: str) -> None:
        self.run(functions.delete(name))

    def functions(self) -> list[RegisteredFunction]:
        return self.run(functions.registered())

    def trigger(self, table: str, function: str, **settings: Any) -> str:
        """Has a table's stream call a function, from its oldest record on. The settings are those of Lambda's
        CreateEventSourceMapping: BatchSize=10, FilterCriteria=…; returns the mapping's UUID."""
        return self.run(functions.create_mapping(self.run(functions.stream_of(table)), function, settings))

    # --- all else

    def control(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Any:
        """Any call of the control API, about this world: control("GET", "/jobs"). `path` is what stands behind /_mayfly;
        the result is the answer's JSON."""
        return self.run(generic(method, path, body))

    def run(self, call: Call[T]) -> T:
        status, text = self._server.exchange(
            call.method, call.path, call.sent_body(), call.headers(self.account, self.region)
        )
        return call.result(status, text)

    def close(self) -> None:
        """Gives the server the world's memory back, ends its functions and, if it followed, sets the program's clock right.
        What fails is of no consequence: the world cannot be met again."""
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

    def __enter__(self) -> World:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<mayfly.World {self.account} at {self.url}>"


def _id(snapshot: Union[Snapshot, str]) -> str:
    return snapshot if isinstance(snapshot, str) else snapshot.id
