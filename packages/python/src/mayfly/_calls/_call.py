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
    """`path` is what stands behind the server's URL, `read` makes the result of the answer's JSON, and `refused` the error
    to raise of a refusal."""

    method: str
    path: str
    body: Optional[Mapping[str, Any]]
    read: Callable[[Any], T]
    refused: Callable[[ControlError], Exception] = _as_it_is
    service: Optional[str] = None  # of AWS's: dynamodb or lambda; None: the control API
    target: Optional[str] = None  # of DynamoDB's operations

    def headers(self, account: str, region: str) -> dict[str, str]:
        if self.service is None:
            return {"Content-Type": "application/json", "X-Mayfly-Account": account, "X-Mayfly-Region": region}
        # The account is known by the key's id alone. Nobody checks the rest, unless the server requires signatures.
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
    """One of DynamoDB's."""
    return Call("POST", "/", body, read, service="dynamodb", target=target)


def executed(name: str, parameters: Mapping[str, Any]) -> Call[Any]:
    """Any of DynamoDB's, with all of its answer."""
    return operation(name, parameters, lambda answer: answer)


def nothing(answer: Any) -> None:
    return None


def generic(method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Call[Any]:
    """Any call: generic("GET", "/jobs"). What changes something has a body."""
    return control(method, "/" + path.lstrip("/"), body, lambda answer: answer)
