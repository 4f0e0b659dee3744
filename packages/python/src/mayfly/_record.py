"""A stream record, as functions and `wait_for` receive it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from ._items import Item, from_dynamodb
from ._literals import ChangedBy, EventName


@dataclass(frozen=True)
class Record:
    """A change to an item. Keys and images are plain values, {"id": "1"}. An image that the record lacks is None."""

    event: EventName
    by: ChangedBy  #: "user", or "service" if TTL deleted the item
    keys: Item
    new_image: Optional[Item]
    old_image: Optional[Item]
    sequence_number: str
    raw: dict[str, Any]  #: the whole record, in DynamoDB JSON

    @staticmethod
    def of(raw: dict[str, Any]) -> Record:
        """Converts a record from a Lambda event, a GetRecords response or the response to an await."""
        change = raw["dynamodb"]
        return Record(
            event=raw["eventName"],
            by="service" if raw.get("userIdentity") else "user",
            keys=from_dynamodb(change.get("Keys", {})),
            new_image=_image(change.get("NewImage")),
            old_image=_image(change.get("OldImage")),
            sequence_number=change.get("SequenceNumber", ""),
            raw=raw,
        )

    def __str__(self) -> str:
        return f"{self.event} by {self.by}"


def _image(raw: Optional[dict[str, Any]]) -> Optional[Item]:
    return None if raw is None else from_dynamodb(raw)
