from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._calls import ttl
from .._calls.ttl import Explanation, TtlStatus, Upcoming
from .._instant import Duration
from .._ttl import AWS_LEAST, AWS_MOST
from ..errors import hides_frames

if TYPE_CHECKING:
    from ._world import AsyncWorld


__tracebackhide__ = hides_frames


class AsyncTtl:
    """mayfly.Ttl with awaitable methods; see there for their documentation."""

    def __init__(self, world: AsyncWorld, table: str) -> None:
        self._world, self._table = world, table

    async def status(self) -> TtlStatus:
        return await self._world.run(ttl.status(self._table))

    async def exact(self) -> None:
        await self._world.run(ttl.mode(self._table, {"mode": "exact"}))

    async def aws(self, least: Duration = AWS_LEAST, most: Duration = AWS_MOST, *, seed: int = 1) -> None:
        await self._world.run(ttl.late(self._table, least, most, seed))

    async def manual(self) -> None:
        await self._world.run(ttl.mode(self._table, {"mode": "manual"}))

    async def sweep(self) -> int:
        return await self._world.run(ttl.sweep(self._table))

    async def upcoming(self, limit: int = 10) -> list[Upcoming]:
        return await self._world.run(ttl.upcoming(self._table, limit))

    async def explain(self, key: Mapping[str, Any]) -> Explanation:
        return await self._world.run(ttl.explain(self._table, key))
