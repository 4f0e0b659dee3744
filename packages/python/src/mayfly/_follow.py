"""Makes the program's clock follow a world's clock, with time-machine if it is installed, and otherwise with freezegun.

`datetime.now()` and `time.time()` then show the world's time in the whole process, so the program's clock can follow only
one world at a time.
"""

from __future__ import annotations

import datetime
from typing import Any, Optional, Protocol

from ._fork import Lock
from .errors import FollowError


class Mover(Protocol):
    def move(self, to: datetime.datetime, ticks: bool) -> None: ...

    def stop(self) -> None: ...


class _TimeMachine:
    def __init__(self, module: Any) -> None:
        self._module = module
        self._travel: Any = None
        self._traveller: Any = None

    def move(self, to: datetime.datetime, ticks: bool) -> None:
        if self._travel is None:
            self._travel = self._module.travel(to, tick=ticks)
            self._traveller = self._travel.start()
        else:
            self._traveller.move_to(to, tick=ticks)

    def stop(self) -> None:
        if self._travel is not None:
            self._travel.stop()
            self._travel = None


class _Freezegun:
    def __init__(self, module: Any) -> None:
        self._module = module
        self._freezer: Any = None
        self._factory: Any = None
        self._ticks = False

    def move(self, to: datetime.datetime, ticks: bool) -> None:
        to = to.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        if self._freezer is not None and ticks == self._ticks:
            self._factory.move_to(to)
            return
        self.stop()
        # This package's own waits use real time.
        self._freezer = self._module.freeze_time(to, tick=ticks, ignore=["mayfly"])
        self._factory = self._freezer.start()
        self._ticks = ticks

    def stop(self) -> None:
        if self._freezer is not None:
            self._freezer.stop()
            self._freezer = None


class Following:
    """Makes the program's clock follow one world's clock from `begin` to `end`. Both methods are idempotent."""

    def __init__(self) -> None:
        self._mover: Optional[Mover] = None

    def __bool__(self) -> bool:
        return self._mover is not None

    def begin(self) -> None:
        if self._mover is None:
            mover = _mover()
            _take(self)
            self._mover = mover

    def move(self, to: datetime.datetime, mode: str) -> None:
        if self._mover is None:
            return
        if mode == "rate":
            raise FollowError(
                "the program's clock cannot follow a clock that runs at a rate: freeze the world's clock, or call its run()"
            )
        self._mover.move(to, ticks=mode != "frozen")

    def end(self) -> None:
        if self._mover is not None:
            self._mover.stop()
            self._mover = None
            _give_back(self)


_lock = Lock()
_followed: Optional[Following] = None


def _take(following: Following) -> None:
    global _followed
    with _lock:
        if _followed is not None:
            raise FollowError(
                "the program's clock already follows another world, and can follow only one: call that world's "
                "clock.unfollow() first"
            )
        _followed = following


def _give_back(following: Following) -> None:
    global _followed
    with _lock:
        if _followed is following:
            _followed = None


def _mover() -> Mover:
    try:
        import time_machine
    except ImportError:
        pass
    else:
        return _TimeMachine(time_machine)
    try:
        import freezegun
    except ImportError:
        raise FollowError(
            "following the world's clock requires time-machine or freezegun: pip install time-machine"
        ) from None
    return _Freezegun(freezegun)
