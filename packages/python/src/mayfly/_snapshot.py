from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import hides_frames

if TYPE_CHECKING:
    from ._world import World


__tracebackhide__ = hides_frames


class Snapshot:
    """A saved state of a world: tables, items, indexes, pending expiries, streams and clock. Taking one copies no data."""

    def __init__(self, world: World, id: str) -> None:
        self._world, self.id = world, id

    def restore(self) -> None:
        """Restores this state of the world. Can be called any number of times."""
        self._world.restore(self)

    def delete(self) -> None:
        """Deletes this snapshot and frees its memory."""
        self._world.delete_snapshot(self)

    def __repr__(self) -> str:
        return f"<mayfly.Snapshot {self.id} of {self._world.account}>"
