from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, Optional, Union

from .._instant import Duration, Instant, instant_of, instant_text, optional_instant, seconds_of
from ._call import Call, control

#: Whether an advance waits for functions: no, for at most 30 seconds, or for at most so many.
Settle = Union[bool, float]


@dataclass(frozen=True)
class Reading:
    """What a clock says. `mode` is real, frozen, offset or rate."""

    now: datetime.datetime
    mode: str


@dataclass(frozen=True)
class Advanced:
    """What an advance of the clock brought about."""

    now: datetime.datetime
    expired: int  #: how many items
    tables: dict[str, int]  #: how many of each table; without those that lost none
    next_expiry: Optional[datetime.datetime]  #: None: nothing is going to expire
    message: Optional[str] = None  #: why the clock stayed where it was, if it did
    settled: Optional[bool] = None  #: with settle: everything in the streams has reached its functions
    unfinished: tuple[dict[str, Any], ...] = ()  #: with settle: the mappings that are not done, and why


def read() -> Call[Reading]:
    return control("GET", "/clock", None, _reading)


def put(
    *, mode: Optional[str] = None, now: Optional[Instant] = None, rate: Optional[float] = None
) -> Call[datetime.datetime]:
    """Members that are left out stay as they are."""
    body: dict[str, Any] = {}
    if mode is not None:
        body["mode"] = mode
    if now is not None:
        body["now"] = instant_text(now)
    if rate is not None:
        body["rate"] = rate
    return control("PUT", "/clock", body, lambda answer: instant_of(answer["now"]))


def advance_by(span: Duration, settle: Settle, age_streams: bool) -> Call[Advanced]:
    return _advance({"seconds": seconds_of(span)}, settle, age_streams)


def advance_to(to: Instant, settle: Settle, age_streams: bool) -> Call[Advanced]:
    return _advance({"to": instant_text(to)}, settle, age_streams)


def advance_to_next_expiry(settle: Settle, age_streams: bool) -> Call[Advanced]:
    return _advance({"to": "next-expiry"}, settle, age_streams)


def span_of(by: Optional[Duration], days: float, hours: float, minutes: float, seconds: float) -> datetime.timedelta:
    span = datetime.timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    return span if by is None else span + datetime.timedelta(seconds=seconds_of(by))


def _advance(body: dict[str, Any], settle: Settle, age_streams: bool) -> Call[Advanced]:
    if settle is not False:
        body["settle"] = "triggers"
        if settle is not True:
            body["settle_seconds"] = settle
    if age_streams:
        body["age_streams"] = True
    return control("POST", "/clock/advance", body, _advanced)


def _reading(answer: Any) -> Reading:
    return Reading(instant_of(answer["now"]), answer["mode"])


def _advanced(answer: Any) -> Advanced:
    return Advanced(
        now=instant_of(answer["now"]),
        expired=answer["expired"],
        tables=answer["tables"],
        next_expiry=optional_instant(answer["next_expiry"]),
        message=answer.get("message"),
        settled=answer.get("settled"),
        unfinished=tuple(answer.get("unfinished", ())),
    )
