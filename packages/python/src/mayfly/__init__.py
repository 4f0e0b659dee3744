"""DynamoDB for tests. Each test has its own world: tables, streams, and a clock that the test moves.

    from mayfly import Server

    with Server() as server, server.world() as world:
        world.clock.freeze()
        world.create_table("carts", key="id", ttl="ttl")
        world.resource.Table("carts").put_item(Item={"id": "1", "ttl": world.clock.epoch_seconds(3600)})
        assert world.clock.advance(hours=2).tables == {"carts": 1}

With pytest, the fixture `mayfly` is such a world. `mayfly.aio` has the same API for asyncio.
"""

from ._calls.clock import Advanced, FunctionError, GivenUp, Reading, Unfinished
from ._calls.faults import Fault, FaultCount
from ._calls.functions import RegisteredFunction
from ._calls.tables import Index
from ._calls.ttl import Explanation, TtlStatus, Upcoming
from ._clock import Clock
from ._functions import LambdaContext
from ._handlers import HandlerFailure
from ._library import set_check_handler
from ._record import Record
from ._server import Server
from ._ttl import Ttl
from ._world import Failpoint, Snapshot, World
from .errors import (
    BinaryError,
    ControlError,
    EndedError,
    FollowError,
    HandlerError,
    LibraryError,
    MayflyError,
    MissingExtraError,
    StartError,
    UnansweredError,
    UrlError,
    VersionError,
    WaitError,
)

__all__ = [
    "Advanced",
    "BinaryError",
    "Clock",
    "ControlError",
    "EndedError",
    "Explanation",
    "Failpoint",
    "Fault",
    "FaultCount",
    "FollowError",
    "FunctionError",
    "GivenUp",
    "HandlerError",
    "HandlerFailure",
    "Index",
    "LambdaContext",
    "LibraryError",
    "MayflyError",
    "MissingExtraError",
    "Reading",
    "Record",
    "RegisteredFunction",
    "Server",
    "Snapshot",
    "StartError",
    "Ttl",
    "TtlStatus",
    "UnansweredError",
    "Unfinished",
    "Upcoming",
    "UrlError",
    "VersionError",
    "WaitError",
    "World",
    "set_check_handler",
]
