from __future__ import annotations

from typing import Any
from urllib.parse import quote

from ._call import Call, control, nothing


def take() -> Call[str]:
    return control("POST", "/snapshots", {}, lambda answer: str(answer["id"]))


def restore(id: str) -> Call[None]:
    return control("POST", _path(id) + "/restore", {}, nothing)


def delete(id: str) -> Call[None]:
    return control("DELETE", _path(id), {}, nothing)


def kept() -> Call[list[str]]:
    return control("GET", "/snapshots", None, lambda answer: [str(each["id"]) for each in answer["snapshots"]])


def reset() -> Call[Any]:
    return control("POST", "/reset", {}, nothing)


def _path(id: str) -> str:
    return "/snapshots/" + quote(id, safe="")
