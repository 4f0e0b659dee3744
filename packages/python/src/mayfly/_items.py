"""Converts items between plain values and DynamoDB JSON:

    to_dynamodb({"id": "1", "ttl": 7}) == {"id": {"S": "1"}, "ttl": {"N": "7"}}
    from_dynamodb({"id": {"S": "1"}})  == {"id": "1"}

The types are those of boto3 resources: str, int, Decimal, bytes, bool, None, list, dict, and sets.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

Item = dict[str, Any]

_TYPES = frozenset(("S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"))


def to_dynamodb(item: Mapping[str, Any]) -> Item:
    """Attributes that are already DynamoDB JSON, {"S": "1"}, stay unchanged. Raises TypeError for a value that DynamoDB
    cannot store."""
    return {name: value if _is_attribute(value) else _attribute(value) for name, value in item.items()}


def from_dynamodb(item: Mapping[str, Any]) -> Item:
    """Numbers become Decimals."""
    return {name: _value(attribute) for name, attribute in item.items()}


def _is_attribute(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _TYPES


def _attribute(value: Any) -> Item:
    if value is None:
        return {"NULL": True}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, (int, float, Decimal)):
        return {"N": str(value)}
    if isinstance(value, (bytes, bytearray)):
        return {"B": _base64(value)}
    if isinstance(getattr(value, "value", None), bytes):  # boto3's Binary
        return {"B": _base64(value.value)}
    if isinstance(value, Mapping):
        return {"M": {name: _attribute(inner) for name, inner in value.items()}}
    if isinstance(value, (list, tuple)):
        return {"L": [_attribute(inner) for inner in value]}
    if isinstance(value, (set, frozenset)) and value:
        members = [_attribute(inner) for inner in value]
        kinds = {kind for member in members for kind in member}
        if len(kinds) == 1 and kinds <= {"S", "N", "B"}:
            kind = kinds.pop()
            return {kind + "S": [member[kind] for member in members]}
    raise TypeError(
        f"DynamoDB cannot store {value!r}: use str, numbers, bytes, bool, None, list, dict, or sets of str, numbers or "
        "bytes"
    )


def _value(attribute: Mapping[str, Any]) -> Any:
    ((kind, value),) = attribute.items()
    if kind == "N":
        return Decimal(value)
    if kind == "B":
        return base64.b64decode(value)
    if kind == "NULL":
        return None
    if kind == "M":
        return from_dynamodb(value)
    if kind == "L":
        return [_value(inner) for inner in value]
    if kind == "SS":
        return set(value)
    if kind == "NS":
        return {Decimal(inner) for inner in value}
    if kind == "BS":
        return {base64.b64decode(inner) for inner in value}
    return value  # S or BOOL


def _base64(value: bytes | bytearray) -> str:
    return base64.b64encode(value).decode("ascii")
