"""The program's own clock, moved together with a world's: by time-machine if that is installed, else by freezegun.

`datetime.now()`, `time.time()` and what is made of them then say what the world's clock says, in the whole process, so it
follows one world at a time.
"""

from __future__ import annotations

import datetime
import threading
from typing import Any, Optional, Protocol

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
        # "mayfly": this package's own waiting goes by real time.
        self._freezer = self._module.freeze_time(to, tick=ticks, ignore=["mayfly"])
        self._factory = self._freezer.start()
        self._ticks = ticks

    def stop(self) -> None:
        if self._freezer is not None:
            self._freezer.stop()
            self._freezer = None


class Following:
    """That the program's clock goes by one world's. Begins with `begin`, ends with `end`; both may be called twice."""

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
                "the program's clock cannot follow one that runs at a rate: freeze the world's clock, or let it run"
            )
        self._mover.move(to, ticks=mode != "frozen")

    def end(self) -> None:
        if self._mover is not None:
            self._mover.stop()
            self._mover = None
            _give_back(self)


_lock = threading.Lock()
_followed: Optional[Following] = None


def _take(following: Following) -> None:
    global _followed
    with _lock:
        if _followed is not None:
            raise FollowError(
                "the program's clock follows another world already, and there is one for all of the process: end that by "
                "its clock.unfollow() first"
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
            "to have the program's clock follow the world's, install time-machine or freezegun: pip install time-machine"
        ) from None
    return _Freezegun(freezegun)
