"""DynamoDB for tests: each test has a world of its own, with its own tables, streams and a clock that it moves.

    from mayfly import Server

    with Server() as server, server.world() as world:
        world.clock.freeze()
        world.create_table("carts", key="id", ttl="ttl")
        world.resource.Table("carts").put_item(Item={"id": "1", "ttl": world.clock.epoch_seconds(3600)})
        assert world.clock.advance(hours=2).tables == {"carts": 1}

With pytest there is a fixture, `mayfly`, that is such a world. `mayfly.aio` is the same for asyncio.
"""

from ._calls.clock import Advanced, Reading
from ._calls.faults import Fault, FaultCount
from ._calls.functions import RegisteredFunction
from ._calls.ttl import Explanation, TtlStatus, Upcoming
from ._clock import Clock
from ._failpoint import Failpoint
from ._functions import LambdaContext
from ._record import Record
from ._server import Server
from ._snapshot import Snapshot
from ._ttl import Ttl
from ._world import World
from .errors import (
    BinaryError,
    ControlError,
    EndedError,
    FollowError,
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
    "Upcoming",
    "UrlError",
    "VersionError",
    "WaitError",
    "World",
]
