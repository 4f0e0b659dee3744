from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional
from urllib.parse import quote

from .._instant import Duration, seconds_of
from ..errors import MayflyError
from ._call import Call, control, nothing, operation


@dataclass(frozen=True)
class RegisteredFunction:
    """A function that is registered with the server."""

    name: str
    url: str
    timeout_seconds: float


def put(name: str, url: str, timeout: Optional[Duration]) -> Call[None]:
    body: dict[str, Any] = {"url": url}
    if timeout is not None:
        body["timeout_seconds"] = seconds_of(timeout)
    return control("PUT", _path(name), body, nothing)


def delete(name: str) -> Call[None]:
    return control("DELETE", _path(name), {}, nothing)


def registered() -> Call[list[RegisteredFunction]]:
    return control("GET", "/functions", None, lambda answer: [RegisteredFunction(**each) for each in answer["functions"]])


def stream_of(table: str) -> Call[str]:
    """The ARN of a table's stream, from DescribeTable. Raises a MayflyError if the table has no stream."""

    def read(answer: Any) -> str:
        arn = answer["Table"].get("LatestStreamArn")
        if arn is None:
            raise MayflyError(f"the table {table!r} has no stream: create it with stream=True")
        return str(arn)

    return operation("DescribeTable", {"TableName": table}, read)


def create_mapping(stream: str, function: str, settings: Mapping[str, Any]) -> Call[str]:
    """Lambda's CreateEventSourceMapping. The result is the mapping's UUID."""
    body = {"EventSourceArn": stream, "FunctionName": function, "StartingPosition": "TRIM_HORIZON", **settings}
    path = "/2015-03-31/event-source-mappings/"
    return Call("POST", path, body, lambda answer: str(answer["UUID"]), service="lambda")


def _path(name: str) -> str:
    return "/functions/" + quote(name, safe="")
