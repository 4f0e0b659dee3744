from __future__ import annotations

from typing import Any, Optional, Union

from ._call import Call, nothing, operation

#: An attribute of a key: its name, which is a string then, or its name and type, ("year", "N").
KeyAttribute = Union[str, tuple[str, str]]


def create(table: str, key: KeyAttribute, sort: Optional[KeyAttribute], stream: bool) -> Call[None]:
    attributes = [_attribute(each) for each in (key, sort) if each is not None]
    body: dict[str, Any] = {
        "TableName": table,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": type} for name, type in attributes],
        "KeySchema": [{"AttributeName": name, "KeyType": kind} for (name, _), kind in zip(attributes, ("HASH", "RANGE"))],
    }
    if stream:
        body["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    return operation("CreateTable", body, nothing)


def enable_ttl(table: str, attribute: str) -> Call[None]:
    specification = {"Enabled": True, "AttributeName": attribute}
    return operation("UpdateTimeToLive", {"TableName": table, "TimeToLiveSpecification": specification}, nothing)


def _attribute(each: KeyAttribute) -> tuple[str, str]:
    return (each, "S") if isinstance(each, str) else each
