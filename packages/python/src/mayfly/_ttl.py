# Written by sync.py from aio/_ttl.py. Change that file.
"""A table's time to live: when expired items are deleted, and why an item still exists."""

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
    """A table's time to live. Calls raise a ControlError if the table does not exist."""

    def __init__(self, world: World, table: str) -> None:
        self._world, self._table = world, table

    def status(self) -> TtlStatus:
        """The table's TTL attribute, mode and counters."""
        return self._world.run(ttl.status(self._table))

    def exact(self) -> None:
        """Sets the mode to exact, the default: items are deleted at the instant at which their TTL passes."""
        self._world.run(ttl.mode(self._table, {"mode": "exact"}))

    def aws(self, least: Duration = AWS_LEAST, most: Duration = AWS_MOST, *, seed: int = 1) -> None:
        """Sets the mode to aws: items are deleted late, as on AWS. The delays are between `least` and `most`, in whole
        seconds, and depend only on `seed`."""
        self._world.run(ttl.late(self._table, least, most, seed))

    def manual(self) -> None:
        """Sets the mode to manual: items are deleted only by `sweep`."""
        self._world.run(ttl.mode(self._table, {"mode": "manual"}))

    def sweep(self) -> int:
        """Deletes all expired items now, in every mode. Returns how many it deleted."""
        return self._world.run(ttl.sweep(self._table))

    def upcoming(self, limit: int = 10) -> list[Upcoming]:
        """The next items that will expire, soonest first. `limit` is 1 to 10,000."""
        return self._world.run(ttl.upcoming(self._table, limit))

    def explain(self, key: Mapping[str, Any]) -> Explanation:
        """Explains why the item with this key, {"id": "1"}, still exists, or why it does not."""
        return self._world.run(ttl.explain(self._table, key))
