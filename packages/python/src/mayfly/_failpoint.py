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
    """Stops the expiry of an item just before its deletion. Until the failpoint is released, the item is an ordinary item,
    and an advance of the world's clock blocks there, so run the advance in another thread. Leaving a `with` block releases
    the failpoint."""

    def __init__(self, world: World, table: str, key: Mapping[str, Any]) -> None:
        self._world, self._table, self._key = world, table, dict(key)

    def wait_reached(self, timeout: float = 5.0) -> None:
        """Waits until the item's expiry has reached the failpoint. Raises a WaitError after `timeout` real seconds, and a
        MayflyError if the failpoint no longer exists."""
        pause = threading.Event()  # not time.monotonic(), which a test may have frozen
        for _ in range(max(1, int(timeout / POLL_SECONDS))):
            if self._world.run(failpoints.is_reached(self._table, self._key, self._world.region)):
                return
            pause.wait(POLL_SECONDS)
        raise WaitError(f"The expiry of {self._key} in {self._table} did not reach the failpoint within {timeout:g} s.")

    def release(self) -> None:
        """Lets the expiry continue. The item is re-checked and stays if it was renewed."""
        self._world.run(failpoints.release(self._table, self._key))

    def __enter__(self) -> Failpoint:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            self.release()
        except ControlError as refused:
            if refused.status != 404:  # already released
                raise
