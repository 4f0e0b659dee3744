"""A table's time to live: when what is due is deleted, and why an item is not."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._calls import ttl
from ._calls.ttl import Explanation, TtlStatus, Upcoming
from ._instant import Duration
from .errors import hides_frames

if TYPE_CHECKING:
    from ._world import World

__tracebackhide__ = hides_frames

AWS_LEAST = datetime.timedelta(minutes=10)
AWS_MOST = datetime.timedelta(minutes=28)


class Ttl:
    def __init__(self, world: World, table: str) -> None:
        self._world, self._table = world, table

    def status(self) -> TtlStatus:
        return self._world.run(ttl.status(self._table))

    def exact(self) -> None:
        """Items are deleted at the instant at which they are due, as a table begins."""
        self._world.run(ttl.mode(self._table, {"mode": "exact"}))

    def aws(self, least: Duration = AWS_LEAST, most: Duration = AWS_MOST, *, seed: int = 1) -> None:
        """Items are deleted late, as on AWS, by a delay between the two, in whole seconds, that comes from the seed alone."""
        self._world.run(ttl.late(self._table, least, most, seed))

    def manual(self) -> None:
        """Items are deleted by `sweep` alone."""
        self._world.run(ttl.mode(self._table, {"mode": "manual"}))

    def sweep(self) -> int:
        """Deletes what is due now, in every mode; how many items that were."""
        return self._world.run(ttl.sweep(self._table))

    def upcoming(self, limit: int = 10) -> list[Upcoming]:
        """The next items that will expire, soonest first; `limit` is 1 to 10,000."""
        return self._world.run(ttl.upcoming(self._table, limit))

    def explain(self, key: Mapping[str, Any]) -> Explanation:
        """Why the item with that key, {"id": "1"}, is still there, or is not."""
        return self._world.run(ttl.explain(self._table, key))
