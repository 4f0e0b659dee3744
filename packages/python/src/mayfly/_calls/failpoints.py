from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._items import from_dynamodb, to_dynamodb
from ..errors import MayflyError
from ._call import Call, control, nothing


def arm(table: str, key: Mapping[str, Any]) -> Call[None]:
    return control("PUT", "/failpoints", _point(table, key), nothing)


def release(table: str, key: Mapping[str, Any]) -> Call[None]:
    return control("DELETE", "/failpoints", _point(table, key), nothing)


def release_all() -> Call[None]:
    return control("DELETE", "/failpoints", {}, nothing)


def is_reached(table: str, key: Mapping[str, Any], region: str) -> Call[bool]:
    """Whether an expiry has reached the failpoint. Raises a MayflyError if the failpoint does not exist."""
    wanted = from_dynamodb(to_dynamodb(key))

    def read(answer: Any) -> bool:
        for point in answer["failpoints"]:
            here = point["table"] == table and point.get("region", region) == region
            if here and from_dynamodb(point["key"]) == wanted:
                return bool(point["state"] == "waiting")
        raise MayflyError(f"no failpoint is armed for {dict(key)} in {table}: it was released, or the table was deleted")

    return control("GET", "/failpoints", None, read)


def _point(table: str, key: Mapping[str, Any]) -> dict[str, Any]:
    return {"table": table, "key": to_dynamodb(key)}
