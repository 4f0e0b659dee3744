"""Converts between times of the control API, "2031-01-01T00:00:00.001Z", and Python's aware datetimes in UTC."""

from __future__ import annotations

import datetime
from typing import Optional, Union

#: A time: an aware datetime, epoch seconds, or text in the control API's format.
Instant = Union[datetime.datetime, int, float, str]
#: A span of time: a timedelta, or seconds.
Duration = Union[datetime.timedelta, int, float]


def instant_text(at: Instant) -> str:
    """Raises ValueError if a datetime has no time zone."""
    if isinstance(at, str):
        return at
    if isinstance(at, (int, float)):
        at = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=at)
    if at.tzinfo is None:
        raise ValueError(f"{at!r} has no time zone: add tzinfo=timezone.utc.")
    # isoformat() alone would print microseconds and "+00:00". The server's clocks count milliseconds, and the server writes
    # "Z".
    return at.astimezone(datetime.timezone.utc).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def instant_of(text: str) -> datetime.datetime:
    whole, _, fraction = text.rstrip("Z").partition(".")
    # Python 3.9 and 3.10 cannot read "Z", or fractions that do not have exactly three or six digits.
    return datetime.datetime.fromisoformat(f"{whole}.{fraction or '0':0<6.6}+00:00").astimezone(datetime.timezone.utc)


def optional_instant(text: Optional[str]) -> Optional[datetime.datetime]:
    return None if text is None else instant_of(text)


def seconds_of(span: Duration) -> float:
    """Raises TypeError if the span is neither a timedelta nor a number of seconds."""
    if isinstance(span, datetime.timedelta):
        return span.total_seconds()
    if isinstance(span, (int, float)):
        return span
    raise TypeError(
        f"A time span must be a timedelta or a number of seconds, got {span!r}. Pass timedelta(hours=48), for example."
    )
