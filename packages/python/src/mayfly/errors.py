"""The package's errors. All are `MayflyError`s, and their messages say what to do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

from ._platform import SUPPORTED, Platform, this_platform
from ._record import Record

if TYPE_CHECKING:
    from ._calls.clock import Advanced
    from ._handlers import HandlerFailure


class MayflyError(Exception):
    """The base class of the package's errors. They can be pickled, because pytest-xdist sends them between processes."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (type(self), self.args, self.__dict__.copy()))


def _again(kind: type[MayflyError], arguments: tuple[Any, ...], members: dict[str, Any]) -> MayflyError:
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(members)
    return error


class BinaryError(MayflyError):
    """The mayfly program was not found, or cannot run here. `path` is None if no path was given and no program was found."""

    def __init__(
        self,
        path: Optional[str] = None,
        named_by: Optional[str] = None,
        reason: str = "",
        advice: str = "",
        here: Optional[Platform] = None,
    ) -> None:
        self.path, self.named_by, self.reason = path, named_by, reason
        here = here or this_platform()
        if path is None and here not in SUPPORTED:
            sentence = (
                f"mayfly-dynamodb has no program for {here}: build mayfly from source, and put it on PATH or set "
                "MAYFLY_BINARY to its path; or run Mayfly on another system, for example in a container, and set MAYFLY_URL "
                "to its URL"
            )
        elif path is None:
            sentence = (
                f"no mayfly program found: install the mayfly-dynamodb wheel for {here}, put mayfly on PATH, set "
                "MAYFLY_BINARY to its path, or set MAYFLY_URL to the URL of a running server"
            )
        elif advice:
            sentence = f"cannot run {path} on {here} ({reason}): {advice}"
        elif named_by is None:
            sentence = f"cannot run {path} on {here} ({reason}): use a mayfly that was built for this platform"
        else:
            sentence = (
                f"cannot run {path} on {here} ({reason}): correct {named_by}, or remove it to use the package's own "
                "program"
            )
        super().__init__(sentence)


class LibraryError(MayflyError):
    """The library for an in-process server was not found, or cannot be loaded here. `path` is None if no library was
    found."""

    def __init__(self, path: Optional[str] = None, named_by: Optional[str] = None, reason: str = "") -> None:
        self.path, self.named_by, self.reason = path, named_by, reason
        here = this_platform()
        if path is None and here.system != "Linux":
            sentence = (
                f"mayfly-dynamodb-inprocess has no library for {here}: start a separate process (in_process=False), or build "
                "the library from source and set MAYFLY_LIBRARY to its path"
            )
        elif path is None:
            sentence = (
                f"libmayfly.so.0 not found: install the mayfly-dynamodb-inprocess wheel for {here}, set MAYFLY_LIBRARY "
                "to the library's path, or start a separate process (in_process=False)"
            )
        elif named_by is None:
            sentence = (
                f"cannot load {path} on {here} ({reason}): use a mayfly-dynamodb-inprocess that was built for this "
                "platform"
            )
        else:
            sentence = f"cannot load {path} on {here} ({reason}): correct {named_by}, or remove it"
        super().__init__(sentence)


class StartError(MayflyError):
    """The server could not start, or did not answer in time. `log` has the last lines of the server's log. `exit_status` is
    None unless a server process exited before it answered."""

    def __init__(self, sentence: str, log: Optional[str], exit_status: Optional[int] = None) -> None:
        self.log, self.exit_status = log or "", exit_status
        super().__init__(sentence if log is None else f"{sentence}. {_log_text(log)}")


class VersionError(MayflyError):
    """The server and this package are from different releases."""

    def __init__(self, package: str, server: str, where: str) -> None:
        self.package, self.server, self.where = package, server, where
        release = ".".join(package.split(".")[:2])
        super().__init__(
            f"mayfly-dynamodb {package} cannot use the server {where}, which is version {server}: use a {release} server "
            f"(MAYFLY_BINARY, MAYFLY_URL), or install mayfly-dynamodb {server}"
        )


class UrlError(MayflyError):
    """No Mayfly server answers at the URL from the argument `url`, --mayfly-url or MAYFLY_URL."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, reason
        super().__init__(
            f"no Mayfly server answers at {url} ({reason}): start one there, or remove the URL (MAYFLY_URL) to let the "
            "package start a server"
        )


class EndedError(MayflyError):
    """The server died during a call, or was closed before the call. `how` is "exit status 1", "killed by SIGKILL" or,
    for a server in this process and for a closed server on Windows, "closed". `log` has the last lines of a dead server's
    log. A dead server's worlds are lost; the next new world gets a new server."""

    def __init__(self, how: str, log: Optional[str], request: str) -> None:
        self.how, self.log, self.request = how, log or "", request
        if log is None:
            super().__init__(f"Mayfly's server was closed before {request}.")
            return
        died = f"was {how}" if how.startswith("killed") else f"ended with {how}"
        super().__init__(f"Mayfly's server {died} before it answered {request}. {_log_text(log)}")


class UnansweredError(MayflyError):
    """A call got no response: the connection broke, or no server listens at the URL."""


class ControlError(MayflyError):
    """The server refused a call. `type` is the error's type ("Conflict", "ValidationException", …), `message` is its message,
    `status` is the HTTP status, and `body` is the response's JSON."""

    def __init__(self, type: str, message: str, status: int, body: Any = None) -> None:
        self.type, self.message, self.status, self.body = type, message, status, body
        super().__init__(f"{message} ({type}, HTTP status {status})")

    @staticmethod
    def of(status: int, text: bytes) -> ControlError:
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return ControlError("", text.decode("utf-8", "replace").strip(), status)
        kind = str(body.get("__type") or body.get("Type") or "").rpartition("#")[2]
        return ControlError(kind, str(body.get("message") or body.get("Message") or ""), status, body)


class WaitError(MayflyError, TimeoutError):
    """The expected change did not happen in time. `records` are the other changes to the item, oldest first."""

    def __init__(self, message: str, records: Sequence[Record] = ()) -> None:
        self.message, self.records = message, list(records)
        happened = ", ".join(map(str, records))
        super().__init__(f"{message} Other changes to the item: {happened}." if happened else message)


class HandlerError(MayflyError):
    """A function that was not registered with may_fail=True failed, or a settle found a trigger with records for an
    unregistered function. `failures` are the exceptions that the test's own handlers raised; the first one is also
    `__cause__`. `advanced` is the result of the settle that found the failure, or None if closing the world found it."""

    def __init__(self, message: str, failures: Sequence[HandlerFailure] = (), advanced: Optional[Advanced] = None) -> None:
        self.failures, self.advanced = tuple(failures), advanced
        super().__init__(message)
        if failures:
            self.__cause__ = failures[0].error

    def __reduce__(self) -> tuple[Any, ...]:  # `failures` are omitted, because the test's own exceptions may not be picklable
        return (HandlerError, (str(self), (), self.advanced))


class FollowError(MayflyError):
    """The program's clock cannot follow a world's clock."""


class MissingExtraError(MayflyError, ImportError):
    """A client needs boto3 or aiobotocore, which is not installed."""

    def __init__(self, module: str, extra: str) -> None:
        self.module, self.extra = module, extra
        super().__init__(
            f"this client needs {module}, which is not installed: pip install 'mayfly-dynamodb[{extra}]' (or {module})"
        )


def hides_frames(raised: Any) -> bool:
    """The value of __tracebackhide__ in this package's modules. It makes pytest show this package's errors at the line of
    the test that caused them."""
    return isinstance(raised.value, MayflyError)


def _log_text(log: str) -> str:
    lines = log.splitlines()
    if not lines:
        return "Its log is empty."
    return "Its log:\n    " + "\n    ".join(lines)
