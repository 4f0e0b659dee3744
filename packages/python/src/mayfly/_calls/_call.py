from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Generic, Optional, TypeVar

from ..errors import ControlError, hides_frames

__tracebackhide__ = hides_frames

T = TypeVar("T")


def _as_it_is(error: ControlError) -> Exception:
    return error


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request and the functions that read its response. `path` is appended to the server's URL. `read` converts the
    response's JSON to the result, and `refused` converts a ControlError to the error to raise."""

    method: str
    path: str
    body: Optional[Mapping[str, Any]]
    read: Callable[[Any], T]
    refused: Callable[[ControlError], Exception] = _as_it_is
    service: Optional[str] = None  # the AWS service, dynamodb or lambda; None: the control API
    target: Optional[str] = None  # the name of the DynamoDB operation

    def headers(self, account: str, region: str) -> dict[str, str]:
        if self.service is None:
            return {"Content-Type": "application/json", "X-Mayfly-Account": account, "X-Mayfly-Region": region}
        # The access key id selects the account. The server checks the rest of the header only with --require-signature.
        key = f"Credential={account}/20260101/{region}/{self.service}/aws4_request"
        headers = {
            "Content-Type": "application/json" if self.target is None else "application/x-amz-json-1.0",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": f"AWS4-HMAC-SHA256 {key}, SignedHeaders=host, Signature={'0' * 64}",
        }
        if self.target is not None:
            headers["X-Amz-Target"] = "DynamoDB_20120810." + self.target
        return headers

    def sent_body(self) -> Optional[bytes]:
        return None if self.body is None else json.dumps(self.body).encode()

    def result(self, status: int, text: bytes) -> T:
        if status >= 300:
            raise self.refused(ControlError.of(status, text))
        return self.read(json.loads(text) if text else None)


def control(
    method: str,
    path: str,
    body: Optional[Mapping[str, Any]],
    read: Callable[[Any], T],
    refused: Callable[[ControlError], Exception] = _as_it_is,
) -> Call[T]:
    return Call(method, "/_mayfly" + path, body, read, refused)


def operation(target: str, body: Mapping[str, Any], read: Callable[[Any], T]) -> Call[T]:
    """A DynamoDB operation."""
    return Call("POST", "/", body, read, service="dynamodb", target=target)


def executed(name: str, parameters: Mapping[str, Any]) -> Call[Any]:
    """Any DynamoDB operation. The result is the whole response."""
    return operation(name, parameters, lambda answer: answer)


def nothing(answer: Any) -> None:
    return None


def generic(method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Call[Any]:
    """Any call to the control API: generic("GET", "/jobs"). Calls that change something need a body."""
    return control(method, "/" + path.lstrip("/"), body, lambda answer: answer)
