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
    """mayfly.Clock with awaitable methods; see there for their documentation.

    Take care with `follow`: freezegun, and time-machine before version 3, also move the clock of the event loop. Its
    time-outs can then fire early, and sleeps may never end."""

    def __init__(self, world: AsyncWorld) -> None:
        self._world = world
        self._following = Following()

    async def now(self) -> datetime.datetime:
        return (await self.read()).now

    async def epoch_seconds(self, in_: Duration = 0) -> int:
        """The clock's time plus `in_` as the value of a TTL attribute: whole seconds since 1970."""
        span = datetime.timedelta(seconds=seconds_of(in_))
        return int((await self.now() + span).timestamp())

    async def read(self) -> Reading:
        return await self._world.run(clock.read())

    async def freeze(self, at: Optional[Instant] = None, *, follow: bool = False) -> datetime.datetime:
        return await self._moved(clock.put(mode="frozen", now=at), follow)

    async def set(self, to: Instant, *, follow: bool = False) -> datetime.datetime:
        return await self._moved(clock.put(now=to), follow)

    async def real(self) -> datetime.datetime:
        return await self._moved(clock.put(mode="real"), False)

    async def run(self) -> datetime.datetime:
        return await self._moved(clock.put(mode="offset"), False)

    async def rate(self, times: float) -> datetime.datetime:
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
        span = clock.span_of(by, days, hours, minutes, seconds)
        return await self._advanced(clock.advance_by(span, settle, age_streams), follow)

    async def advance_to(
        self, to: Instant, *, settle: Settle = False, age_streams: bool = False, follow: bool = False
    ) -> Advanced:
        return await self._advanced(clock.advance_to(to, settle, age_streams), follow)

    async def advance_to_next_expiry(
        self, *, settle: Settle = False, age_streams: bool = False, follow: bool = False
    ) -> Advanced:
        return await self._advanced(clock.advance_to_next_expiry(settle, age_streams), follow)

    async def follow(self) -> None:
        self._following.begin()
        try:
            await self.moved()
        except BaseException:
            self._following.end()
            raise

    def unfollow(self) -> None:
        self._following.end()

    async def moved(self) -> None:
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
