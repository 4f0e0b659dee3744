"""A world's clock. TTL, creation times and the age of stream records follow it. The program's own clock, `datetime.now()`,
follows it only if a test requests that."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Optional, TypeVar

from .._calls import Call, clock
from .._calls.clock import Advanced, Reading, Settle
from .._follow import Following
from .._instant import Duration, Instant, seconds_of
from ..errors import hides_frames

if TYPE_CHECKING:
    from ._world import AsyncWorld

__tracebackhide__ = hides_frames

T = TypeVar("T")


class AsyncClock:
    """A world's clock: real, frozen, offset, or running at a rate.

    Arguments that are times are aware datetimes, epoch seconds, or text such as "2031-01-01T00:00:00Z". Returned times are
    datetimes in UTC, to the millisecond. Spans are timedeltas or seconds.

    While the world has tables, moving the clock back raises a ControlError of type Conflict. With follow=True, the
    program's own clock moves along from then on: see `follow`. An advance with `settle` raises a HandlerError if a function
    that was not registered with may_fail=True fails: see `AsyncWorld.settle`.

    asyncio: take care with `follow`. freezegun, and time-machine before version 3, also move the clock of the event loop.
    The loop's time-outs can then fire early, and sleeps may never end."""

    def __init__(self, world: AsyncWorld) -> None:
        self._world = world
        self._following = Following()

    async def now(self) -> datetime.datetime:
        """The clock's time."""
        return (await self.read()).now

    async def epoch_seconds(self, in_: Duration = 0) -> int:
        """The clock's time plus `in_` as the value of a TTL attribute: whole seconds since 1970."""
        span = datetime.timedelta(seconds=seconds_of(in_))
        return int((await self.now() + span).timestamp())

    async def read(self) -> Reading:
        """The clock's time and mode: real, frozen, offset or rate."""
        return await self._world.run(clock.read())

    async def freeze(self, at: Optional[Instant] = None, *, follow: bool = False) -> datetime.datetime:
        """Stops the clock at its current time or at the given one. Returns the time at which it stopped."""
        return await self._moved(clock.put(mode="frozen", now=at), follow)

    async def set(self, to: Instant, *, follow: bool = False) -> datetime.datetime:
        """Moves the clock to a time and deletes the items that expire by then. A frozen clock stays frozen; otherwise the
        clock keeps running. Returns the new time."""
        return await self._moved(clock.put(now=to), follow)

    async def real(self) -> datetime.datetime:
        """Resets the clock to the host's time. Raises a ControlError of type Conflict if the clock is ahead of that time and
        the world has tables."""
        return await self._moved(clock.put(mode="real"), False)

    async def run(self) -> datetime.datetime:
        """Lets the clock run from its current time at normal speed."""
        return await self._moved(clock.put(mode="offset"), False)

    async def rate(self, times: float) -> datetime.datetime:
        """Lets the clock run from its current time, `times` times as fast as the host's clock. Raises a FollowError if the
        program's clock follows this clock."""
        if self._following:
            self._following.move(await self.now(), "rate")
        return await self._moved(clock.put(mode="rate", rate=times), False)

    async def advance(
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
        """Moves the clock forward, through every instant at which an item expires: advance(hours=48), advance(timedelta(2)).
        When the call returns, expired items are gone from tables and indexes, and their stream records can be read.

        settle: True also waits as `AsyncWorld.settle` does, for at most 30 seconds of real time; a number sets another limit.
        age_streams: also age stream records and iterators by the same amount of time, so that records older than 24
            hours are trimmed."""
        span = clock.span_of(by, days, hours, minutes, seconds)
        return await self._advanced(clock.advance_by(span, settle, age_streams), follow)

    async def advance_to(self, to: Instant, *, settle: Settle = False, age_streams: bool = False, follow: bool = False) -> Advanced:
        """Like `advance`, but to a given time. Raises a ControlError of type Conflict if the clock is past that time."""
        return await self._advanced(clock.advance_to(to, settle, age_streams), follow)

    async def advance_to_next_expiry(self, *, settle: Settle = False, age_streams: bool = False, follow: bool = False) -> Advanced:
        """Like `advance`, but to the next instant at which an item expires. If no item will expire, the clock stays where it
        is, and the result's `message` says so."""
        return await self._advanced(clock.advance_to_next_expiry(settle, age_streams), follow)

    async def follow(self) -> None:
        """Makes the program's clock, `datetime.now()` and `time.time()`, show this clock's time until `unfollow` or the end
        of the world. Raises a FollowError if neither time-machine nor freezegun is installed, or if the program's clock
        already follows another world."""
        self._following.begin()
        try:
            await self.moved()
        except BaseException:
            self._following.end()
            raise

    def unfollow(self) -> None:
        """Resets the program's clock to the host's time."""
        self._following.end()

    async def moved(self) -> None:
        """Sets the program's clock to this clock's time, if the program's clock follows this clock. Call this method after
        moving the world's clock by other means, such as `AsyncWorld.control`."""
        if self._following:
            reading = await self.read()
            self._following.move(reading.now, reading.mode)

    async def _advanced(self, call: Call[Advanced], follow: bool) -> Advanced:
        advanced = await self._moved(call, follow)
        if advanced.settled is not None:
            self._world._failures.check(advanced)
        return advanced

    async def _moved(self, call: Call[T], follow: bool) -> T:
        result = await self._world.run(call)
        if follow and not self._following:
            await self.follow()
        else:
            await self.moved()
        return result
