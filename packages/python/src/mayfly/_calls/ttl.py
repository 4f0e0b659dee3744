from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional
from urllib.parse import quote

from .._instant import Duration, optional_instant, seconds_of
from .._items import Item, from_dynamodb, to_dynamodb
from .._literals import ExplainReason, TtlMode, TtlStatusName
from ._call import Call, control, nothing


@dataclass(frozen=True)
class TtlStatus:
    """The state of a table's time to live."""

    status: TtlStatusName
    attribute: Optional[str]  #: None while TTL is disabled
    mode: TtlMode
    pending: int  #: items that will expire
    due: int  #: pending items whose TTL has passed
    next_due: Optional[datetime.datetime]  #: None if no item will expire
    expired: int  #: items that expired and were deleted since the server started
    born_expired: int  #: expired items whose TTL had passed when they were written
    raw: dict[str, Any]  #: the whole response: lag_ms, windows, …
    never: dict[str, int] = field(default_factory=dict)  #: items whose TTL can never fire, by reason: {"string": 1}


@dataclass(frozen=True)
class Suspect:
    """An item whose TTL can never fire, or had passed when the item was written."""

    table: str
    key: Item
    message: str


@dataclass(frozen=True)
class Upcoming:
    """An item that will expire."""

    key: Item
    due: Optional[datetime.datetime]
    expires_at: Optional[datetime.datetime]  #: None in the mode manual: the next sweep deletes the item


@dataclass(frozen=True)
class Explanation:
    """Why an item still exists, or why it does not. `message` gives the reason in a sentence."""

    reason: ExplainReason
    message: str
    expires_at: Optional[datetime.datetime]  #: None: the item is never deleted, or only by a sweep


def status(table: str) -> Call[TtlStatus]:
    return control("GET", _path(table), None, _status)


def mode(table: str, body: Mapping[str, Any]) -> Call[None]:
    return control("PUT", _path(table), body, nothing)


def late(table: str, least: Duration, most: Duration, seed: int) -> Call[None]:
    delay = [int(seconds_of(least)), int(seconds_of(most))]
    return mode(table, {"mode": "aws", "delay_seconds": delay, "seed": seed})


def suspects() -> Call[list[Suspect]]:
    """The latest suspects of all tables, at most ten for each table."""
    return control("GET", "/ttl", None, _suspects)


def sweep(table: str) -> Call[int]:
    return control("POST", _path(table, "/sweep"), {}, lambda answer: int(answer["expired"]))


def upcoming(table: str, limit: int) -> Call[list[Upcoming]]:
    return control("GET", _path(table, f"/upcoming?limit={int(limit)}"), None, _upcoming)


def explain(table: str, key: Mapping[str, Any]) -> Call[Explanation]:
    return control("POST", _path(table, "/explain"), {"key": to_dynamodb(key)}, _explanation)


def _path(table: str, rest: str = "") -> str:
    return f"/ttl/{quote(table, safe='')}{rest}"


def _status(answer: Any) -> TtlStatus:
    return TtlStatus(
        status=answer["status"],
        attribute=answer.get("attribute"),
        mode=answer["mode"],
        pending=answer["pending"],
        due=answer["due"],
        next_due=optional_instant(answer.get("next_due")),
        expired=answer["expired"],
        born_expired=answer["born_expired"],
        raw=answer,
        never=answer.get("never", {}),
    )


def _suspects(answer: Any) -> list[Suspect]:
    return [
        Suspect(table, from_dynamodb(each["key"]), each["message"])
        for table, shown in answer["tables"].items()
        for each in shown.get("suspects", ())
    ]


def _upcoming(answer: Any) -> list[Upcoming]:
    return [
        Upcoming(from_dynamodb(item["key"]), optional_instant(item.get("due")), optional_instant(item.get("expires_at")))
        for item in answer["items"]
    ]


def _explanation(answer: Any) -> Explanation:
    return Explanation(answer["reason"], answer["message"], optional_instant(answer["expires_at"]))
