from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any, Optional, TypedDict, Union

from .._instant import Duration, Instant, instant_of, instant_text, optional_instant, seconds_of
from .._literals import ClockMode, EventName
from ._call import Call, control

#: Whether an advance waits for functions: False, True (for at most 30 seconds), or a time limit in seconds.
Settle = Union[bool, float]


@dataclass(frozen=True)
class Reading:
    """A clock's time and mode."""

    now: datetime.datetime
    mode: ClockMode


class FunctionError(TypedDict, total=False):
    """How a function call failed. Members that do not apply are missing."""

    status: int  #: the HTTP status
    error: str  #: the error that an on-failure destination receives: "Unhandled"
    type: str  #: the response's errorType
    message: str  #: the response's errorMessage, or why there was no response


class Retrying(TypedDict):
    """A batch that failed and will be retried."""

    attempts: int
    records: int
    error: FunctionError


class _Unfinished(TypedDict):
    UUID: str
    FunctionArn: str
    EventSourceArn: str
    LastProcessingResult: str
    function: str
    table: str


class Unfinished(_Unfinished, total=False):
    """An event source mapping that has records to deliver. `retrying` is present if the mapping's function fails.
    `registered` is present, and False, if the function is not registered."""

    retrying: Retrying
    registered: bool


class GivenUpRecord(TypedDict):
    """A record of a batch that was given up."""

    sequence_number: str
    event: EventName
    key: dict[str, Any]  #: the item's key in DynamoDB JSON


class _GivenUp(TypedDict):
    UUID: str
    function: str
    table: str
    stream: str
    condition: str
    attempts: int
    records: list[GivenUpRecord]
    left_out: int


class GivenUp(_GivenUp, total=False):
    """A batch that was given up. `condition` is Lambda's name for the reason: RetryAttemptsExhausted or RecordAgeExceeded.
    `left_out` counts the records that `records` omits. `error` is missing if the function was never called."""

    error: FunctionError
    destination: str


@dataclass(frozen=True)
class Advanced:
    """The result of an advance of the clock."""

    now: datetime.datetime
    expired: int  #: how many items expired
    tables: dict[str, int]  #: expired items by table; tables without any are omitted
    next_expiry: Optional[datetime.datetime]  #: None if no item will expire
    message: Optional[str] = None  #: why the clock did not move; None if it moved
    settled: Optional[bool] = None  #: with settle: whether every record reached its function
    unfinished: tuple[Unfinished, ...] = ()  #: with settle: the mappings that still have records to deliver, and why
    given_up: tuple[GivenUp, ...] = ()  #: with settle: the batches given up since the last settle
    given_up_left_out: int = 0  #: how many batches `given_up` omits
    #: The number of items whose TTL can never fire, by table and reason: {"carts": {"milliseconds": 3, "string": 1}}
    never: dict[str, dict[str, int]] = field(default_factory=dict)
    #: The number of items, by table, that were written since the last advance with a TTL that had already passed
    born_expired: dict[str, int] = field(default_factory=dict)


def read() -> Call[Reading]:
    return control("GET", "/clock", None, _reading)


def put(
    *, mode: Optional[str] = None, now: Optional[Instant] = None, rate: Optional[float] = None
) -> Call[datetime.datetime]:
    """Sets the clock's mode, time and rate. A setting whose argument is None stays unchanged."""
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


def delivery() -> Call[Advanced]:
    """Waits up to two seconds until functions have processed the records written so far, without moving the clock."""
    return advance_by(0, 2, False)


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
        given_up=tuple(answer.get("given_up", ())),
        given_up_left_out=answer.get("given_up_left_out", 0),
        never=answer.get("never", {}),
        born_expired=answer.get("born_expired", {}),
    )
