from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from .._instant import Duration, Instant, instant_text, seconds_of
from .._items import to_dynamodb
from .._literals import ChangedBy, EventName
from .._record import Record
from ..errors import ControlError, WaitError
from ._call import Call, control


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
    return control("POST", "/await", body, lambda answer: Record.of(answer["record"]), _refused)


def _refused(error: ControlError) -> Exception:
    if error.status != 408:
        return error
    return WaitError(error.message, [Record.of(raw) for raw in (error.body or {}).get("records", ())])
