"""Mayfly for asyncio: the same API with awaitable methods.

    from mayfly.aio import AsyncServer

    async with AsyncServer() as server, server.world() as world:
        await world.clock.freeze()
        await world.create_table("carts", key="id", ttl="ttl")
        dynamodb = await world.dynamodb()
        await dynamodb.put_item(TableName="carts", Item={"id": {"S": "1"}})
        record = await world.wait_for("carts", {"id": "1"}, "INSERT", since=await world.clock.now())

Clients are aiobotocore clients. In a test that uses the fixture `mayfly`, `AsyncWorld.of(mayfly)` is the same world.
"""

from ._clock import AsyncClock
from ._server import AsyncServer
from ._ttl import AsyncTtl
from ._world import AsyncFailpoint, AsyncSnapshot, AsyncWorld

__all__ = ["AsyncClock", "AsyncFailpoint", "AsyncServer", "AsyncSnapshot", "AsyncTtl", "AsyncWorld"]
