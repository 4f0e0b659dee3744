"""A table's time to live: when expired items are deleted, and why an item still exists."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._calls import ttl
from .._calls.ttl import Explanation, TtlStatus, Upcoming
from .._instant import Duration
from ..errors import hides_frames

if TYPE_CHECKING:
    from ._world import AsyncWorld

__tracebackhide__ = hides_frames

AWS_LEAST = datetime.timedelta(minutes=10)
AWS_MOST = datetime.timedelta(minutes=28)


class AsyncTtl:
    """A table's time to live. Calls raise a ControlError if the table does not exist."""

    def __init__(self, world: AsyncWorld, table: str) -> None:
        self._world, self._table = world, table

    async def status(self) -> TtlStatus:
        """The table's TTL attribute, mode and counters."""
        return await self._world.run(ttl.status(self._table))

    async def exact(self) -> None:
        """Sets the mode to exact, the default: items are deleted at the instant at which their TTL passes."""
        await self._world.run(ttl.mode(self._table, {"mode": "exact"}))

    async def aws(self, least: Duration = AWS_LEAST, most: Duration = AWS_MOST, *, seed: int = 1) -> None:
        """Sets the mode to aws: items are deleted late, as on AWS. The delays are between `least` and `most`, in whole
        seconds, and depend only on `seed`."""
        await self._world.run(ttl.late(self._table, least, most, seed))

    async def manual(self) -> None:
        """Sets the mode to manual: items are deleted only by `sweep`."""
        await self._world.run(ttl.mode(self._table, {"mode": "manual"}))

    async def sweep(self) -> int:
        """Deletes all expired items now, in every mode. Returns how many it deleted."""
        return await self._world.run(ttl.sweep(self._table))

    async def upcoming(self, limit: int = 10) -> list[Upcoming]:
        """The next items that will expire, soonest first. `limit` is 1 to 10,000."""
        return await self._world.run(ttl.upcoming(self._table, limit))

    async def explain(self, key: Mapping[str, Any]) -> Explanation:
        """Explains why the item with this key, {"id": "1"}, still exists, or why it does not."""
        return await self._world.run(ttl.explain(self._table, key))
