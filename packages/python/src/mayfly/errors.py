"""What can go wrong, each in a sentence that says what to do. All are `MayflyError`s."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

from ._record import Record

if TYPE_CHECKING:
    from ._calls.clock import Advanced
    from ._handlers import HandlerFailure


class MayflyError(Exception):
    """The base of all errors of this package. They can be pickled: pytest-xdist's processes hand them over."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (type(self), self.args, self.__dict__.copy()))


def _again(kind: type[MayflyError], arguments: tuple[Any, ...], members: dict[str, Any]) -> MayflyError:
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(members)
    return error


class BinaryError(MayflyError):
    """There is no program to start, or it cannot be run here. `path` is None if none was named and none found."""

    def __init__(self, path: Optional[str] = None, named_by: Optional[str] = None, reason: str = "") -> None:
        self.path, self.named_by, self.reason = path, named_by, reason
        here = f"{platform.system()} {platform.machine()}"
        if path is None:
            sentence = (
                f"there is no mayfly to start: install the wheel of mayfly-dynamodb that was built for {here}, or put "
                "the program on PATH, or name it by MAYFLY_BINARY, or name a server that runs by MAYFLY_URL"
            )
        elif named_by is None:
            sentence = f"{path} cannot be started on {here} ({reason}): take the mayfly that was built for it"
        else:
            sentence = (
                f"{named_by} names {path}, which cannot be started on {here} ({reason}): name another, or none to take "
                "the one that comes with the package"
            )
        super().__init__(sentence)


class LibraryError(MayflyError):
    """There is no library to have Mayfly in this process by, or it cannot be loaded here. `path` is None if none was
    found."""

    def __init__(self, path: Optional[str] = None, named_by: Optional[str] = None, reason: str = "") -> None:
        self.path, self.named_by, self.reason = path, named_by, reason
        here = f"{platform.system()} {platform.machine()}"
        if path is None:
            sentence = (
                "there is no libmayfly.so.0 to load: install the wheel of mayfly-dynamodb-inprocess that was built for "
                f"{here}, or name the library by MAYFLY_LIBRARY, or have a process of its own started (in_process=False)"
            )
        elif named_by is None:
            sentence = (
                f"{path} cannot be loaded on {here} ({reason}): take the mayfly-dynamodb-inprocess that was built for it"
            )
        else:
            sentence = f"{named_by} names {path}, which cannot be loaded on {here} ({reason}): name another, or none"
        super().__init__(sentence)


class StartError(MayflyError):
    """The server was started and did not come to answer. `log` is the end of what it logged, `exit_status` how it ended:
    None if it had not, and was killed when time was up, or was to be in this process."""

    def __init__(self, sentence: str, log: Optional[str], exit_status: Optional[int] = None) -> None:
        self.log, self.exit_status = log or "", exit_status
        super().__init__(sentence if log is None else sentence + indented(log))


class VersionError(MayflyError):
    """The server is of another release than this package."""

    def __init__(self, package: str, server: str, where: str) -> None:
        self.package, self.server, self.where = package, server, where
        release = ".".join(package.split(".")[:2])
        super().__init__(
            f"this package is mayfly-dynamodb {package}, but the server {where} is {server}: take a server of {release} "
            f"(MAYFLY_BINARY, MAYFLY_URL), or install mayfly-dynamodb {server}"
        )


class UrlError(MayflyError):
    """No Mayfly answers at the address that `url`, --mayfly-url or MAYFLY_URL names."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, reason
        super().__init__(
            f"no Mayfly answers at {url} ({reason}): start it there, or name no URL (MAYFLY_URL) to have one started"
        )


class EndedError(MayflyError):
    """The server died before it answered a call, or was closed before it. `how` is "exit status 1", "killed by SIGKILL" or,
    for a server in this process, "closed". `log` is the end of what a server that died logged. A dead server's worlds are
    lost; a new world gets a fresh server."""

    def __init__(self, how: str, log: Optional[str], request: str) -> None:
        self.how, self.log, self.request = how, log or "", request
        if log is None:
            super().__init__(f"Mayfly's server was closed before {request}.")
            return
        died = f"was {how}" if how.startswith("killed") else f"ended with {how}"
        its_log = f"Its log:{indented(log)}" if log else "Its log is empty."
        super().__init__(f"Mayfly's server {died} before it answered {request}. {its_log}")


class UnansweredError(MayflyError):
    """A call had no answer: the server's connection broke, or nobody listens there."""


class ControlError(MayflyError):
    """A call that the server refused: `type` ("Conflict", "ValidationException", …), `message`, `status` of HTTP, and the
    answer's `body`."""

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
    """What was waited for did not happen in time. `records` are what did happen to the item, oldest first."""

    def __init__(self, message: str, records: Sequence[Record] = ()) -> None:
        self.message, self.records = message, list(records)
        happened = ", ".join(map(str, records))
        super().__init__(f"{message} What happened: {happened}." if happened else message)


class HandlerError(MayflyError):
    """A function failed, and the test did not declare it with may_fail=True; or a settle found a trigger that has records
    for a function that nobody registered. `failures` are the exceptions that the test's own handlers raised, the first of
    which is also `__cause__`. `advanced` is the answer of the settle that found the failure; None if the world was closed
    without one."""

    def __init__(self, message: str, failures: Sequence[HandlerFailure] = (), advanced: Optional[Advanced] = None) -> None:
        self.failures, self.advanced = tuple(failures), advanced
        super().__init__(message)
        if failures:
            self.__cause__ = failures[0].error

    def __reduce__(self) -> tuple[Any, ...]:  # a test's own exceptions may refuse to be pickled
        return (HandlerError, (str(self), (), self.advanced))


class FollowError(MayflyError):
    """The program's clock cannot move with a world's."""


class MissingExtraError(MayflyError, ImportError):
    """A client was asked for, and AWS's SDK is not installed."""

    def __init__(self, module: str, extra: str) -> None:
        self.module, self.extra = module, extra
        super().__init__(
            f"{module} is not installed, and this client needs it: pip install 'mayfly-dynamodb[{extra}]' (or {module})"
        )


def hides_frames(raised: Any) -> bool:
    """For __tracebackhide__ of this package's modules: pytest shows an error of this package at the test's own line."""
    return isinstance(raised.value, MayflyError)


def indented(log: str) -> str:
    """A log, to be appended to a sentence."""
    lines = log.splitlines()
    if not lines:
        return "; it logged nothing"
    return "\n    " + "\n    ".join(lines)
