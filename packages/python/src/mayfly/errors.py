"""What can go wrong, each in a sentence that says what to do. All are `MayflyError`s."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from typing import Any, Optional

from ._record import Record


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
    """The server has ended while it was needed. `how`: "exit status 1", "killed by SIGKILL"; "closed", of one in this
    process, which has no log of its own."""

    def __init__(self, how: str, log: Optional[str]) -> None:
        self.how, self.log = how, log or ""
        why = "" if log is None else f": its log may say why{indented(log)}"
        super().__init__(f"the server has ended ({how}){why}")


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


class FollowError(MayflyError):
    """The program's clock cannot move with a world's."""


class MissingExtraError(MayflyError, ImportError):
    """A client was asked for, and AWS's SDK is not installed."""

    def __init__(self, module: str, extra: str) -> None:
        self.module, self.extra = module, extra
        super().__init__(
            f"{module} is not installed, and this client needs it: pip install 'mayfly-dynamodb[{extra}]' (or {module})"
        )


def indented(log: str) -> str:
    """A log as it stands behind a sentence."""
    lines = log.splitlines()
    if not lines:
        return "; it logged nothing"
    return "\n    " + "\n    ".join(lines)
