from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from .._instant import Duration, Instant, instant_text, seconds_of
from .._items import to_dynamodb
from .._literals import ChangedBy, EventName
from .._record import Record
from ..errors import ControlError, WaitError
from ._call import Call, control

_SINCE = "Only changes after the call count; to accept earlier ones, pass since=…."


def wait_for(
    table: str,
    key: Mapping[str, Any],
    event: Optional[EventName],
    by: Optional[ChangedBy],
    since: Optional[Instant],
    timeout: Duration,
) -> Call[Record]:
    body: dict[str, Any] = {
        "table": table,
        "key": to_dynamodb(key),
        "timeout_seconds": seconds_of(timeout),
    }
    if event is not None:
        body["event"] = event
    if by is not None:
        body["by"] = by
    if since is not None:
        body["since"] = instant_text(since)

    def refused(error: ControlError) -> Exception:
        if error.status != 408:
            return error
        message = error.message if since is not None else f"{error.message} {_SINCE}"
        return WaitError(message, [Record.of(raw) for raw in (error.body or {}).get("records", ())])

    return control("POST", "/await", body, lambda answer: Record.of(answer["record"]), refused)
