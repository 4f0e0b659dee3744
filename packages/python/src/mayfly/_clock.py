"""A world's clock: TTL, creation times and the age of stream records go by it. The program's own, `datetime.now()`, goes on
as ever, unless it is told to follow."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Optional, TypeVar

from ._calls import Call, clock
from ._calls.clock import Advanced, Reading, Settle
from ._follow import Following
from ._instant import Duration, Instant, seconds_of
from .errors import hides_frames

if TYPE_CHECKING:
    from ._world import World

__tracebackhide__ = hides_frames

T = TypeVar("T")


class Clock:
    """Times are aware datetimes, epoch seconds, or text such as "2031-01-01T00:00:00Z"; those that are returned are
    datetimes in UTC, to the millisecond. Spans are timedeltas or seconds.

    A move into the past is refused with a ControlError, a Conflict, while the world has tables. With follow=True the
    program's own clock moves too, from then on: see `follow`. An advance with `settle` raises a HandlerError if a function
    fails, unless it was declared with may_fail=True: see `World.settle`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._following = Following()

    def now(self) -> datetime.datetime:
        return self.read().now

    def epoch_seconds(self, in_: Duration = 0) -> int:
        """The clock's time plus `in_`, as a TTL attribute holds it: whole seconds since 1970."""
        span = datetime.timedelta(seconds=seconds_of(in_))
        return int((self.now() + span).timestamp())

    def read(self) -> Reading:
        """The time and the mode: real, frozen, offset or rate."""
        return self._world.run(clock.read())

    def freeze(self, at: Optional[Instant] = None, *, follow: bool = False) -> datetime.datetime:
        """Lets it stand still, now or at that time; returns when."""
        return self._moved(clock.put(mode="frozen", now=at), follow)

    def set(self, to: Instant, *, follow: bool = False) -> datetime.datetime:
        """Moves it, frozen or running as it is; what falls due on the way is deleted."""
        return self._moved(clock.put(now=to), follow)

    def real(self) -> datetime.datetime:
        """Lets it be the host's. A Conflict if it is ahead of that and the world has tables."""
        return self._moved(clock.put(mode="real"), False)

    def run(self) -> datetime.datetime:
        """Lets it go on, as fast as the host's, from where it is."""
        return self._moved(clock.put(mode="offset"), False)

    def rate(self, times: float) -> datetime.datetime:
        """Lets it run so many times as fast as the host's, from where it is."""
        if self._following:
            self._following.move(self.now(), "rate")
        return self._moved(clock.put(mode="rate", rate=times), False)

    def advance(
        self,
        by: Optional[Duration] = None,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        settle: Settle = False,
        age_streams: bool = False,
        follow: bool = False,
    ) -> Advanced:
        """Moves it forward, through every instant at which something expires: advance(hours=48), advance(timedelta(2)).
        When it returns, what fell due is deleted, gone from indexes, and readable in streams.

        settle: also wait, as `World.settle` does, for at most 30 seconds of real time, or that many.
        age_streams: have stream records and iterators age by the jump, so that 24 hours later a record is trimmed."""
        span = clock.span_of(by, days, hours, minutes, seconds)
        return self._advanced(clock.advance_by(span, settle, age_streams), follow)

    def advance_to(self, to: Instant, *, settle: Settle = False, age_streams: bool = False, follow: bool = False) -> Advanced:
        """`advance` to a time; a Conflict if it has passed."""
        return self._advanced(clock.advance_to(to, settle, age_streams), follow)

    def advance_to_next_expiry(self, *, settle: Settle = False, age_streams: bool = False, follow: bool = False) -> Advanced:
        """`advance` to the next instant at which something expires. If nothing is going to, it stays where it is, and
        `message` says so."""
        return self._advanced(clock.advance_to_next_expiry(settle, age_streams), follow)

    def follow(self) -> None:
        """Has the program's own clock, `datetime.now()` and `time.time()`, say what this one says, until `unfollow` or the
        world's end. It takes time-machine or freezegun to be installed, and one world at a time; else a FollowError."""
        self._following.begin()
        try:
            self.moved()
        except BaseException:
            self._following.end()
            raise

    def unfollow(self) -> None:
        """The program's clock is the host's again."""
        self._following.end()

    def moved(self) -> None:
        """Has the program's clock, if it follows, say what this one says by now: for who moves the world's by other means."""
        if self._following:
            reading = self.read()
            self._following.move(reading.now, reading.mode)

    def _advanced(self, call: Call[Advanced], follow: bool) -> Advanced:
        advanced = self._moved(call, follow)
        if advanced.settled is not None:
            self._world._failures.check(advanced)
        return advanced

    def _moved(self, call: Call[T], follow: bool) -> T:
        result = self._world.run(call)
        if follow and not self._following:
            self.follow()
        else:
            self.moved()
        return result
