from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional

from ._calls import failpoints
from .errors import ControlError, WaitError, hides_frames

if TYPE_CHECKING:
    from ._world import World

__tracebackhide__ = hides_frames

POLL_SECONDS = 0.001


class Failpoint:
    """Stops an item's expiry between the instant at which it is due and its deletion. Until it is released the item is an
    ordinary one, and an advance of the world's clock waits there: it is another thread's. `with` releases it."""

    def __init__(self, world: World, table: str, key: Mapping[str, Any]) -> None:
        self._world, self._table, self._key = world, table, dict(key)

    def wait_reached(self, timeout: float = 5.0) -> None:
        """Returns when the item's expiry has come to the point; a WaitError if that takes longer, in real seconds."""
        pause = threading.Event()  # not time.monotonic(), which a test may have frozen
        for _ in range(max(1, int(timeout / POLL_SECONDS))):
            if self._world.run(failpoints.is_reached(self._table, self._key, self._world.region)):
                return
            pause.wait(POLL_SECONDS)
        raise WaitError(f"Nothing has reached the failpoint at {self._key} of {self._table} within {timeout:g} s.")

    def release(self) -> None:
        """Lets the expiry go on: the item is looked at again, and stays if it was renewed."""
        self._world.run(failpoints.release(self._table, self._key))

    def __enter__(self) -> Failpoint:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            self.release()
        except ControlError as refused:
            if refused.status != 404:  # it was released before
                raise
