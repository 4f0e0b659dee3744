"""Starts the program. A BinaryError explains why the system refuses to start it, and what to do."""

from __future__ import annotations

import errno
import threading
from typing import Callable, Optional, TypeVar

from ._binary import REINSTALL, Binary, damage, reachable
from ._platform import Platform, platform_of, this_platform
from .errors import BinaryError

T = TypeVar("T")

#: How often and how long to wait for another program to close the file, for example for a virus scanner that examines a new
#: file.
TRIES_MAX = 20
PAUSE_SECONDS = 0.1

_WINDOWS_ACCESS_DENIED, _WINDOWS_IN_USE, _WINDOWS_VIRUS = 5, (32, 33), (225, 226)


def launch(binary: Binary, start: Callable[[str], T]) -> T:
    """The result of `start`, which is called with the program's path and raises an OSError if the system refuses to start the
    program. Tries again for two seconds while another program uses the file."""
    tries = 0
    while True:
        try:
            return start(reachable(binary.path))
        except OSError as error:
            tries += 1
            if tries >= TRIES_MAX or not _can_pass(error):
                raise refusal(binary, error) from error
        # A test may have replaced time.sleep. An event's time limit is always in real time.
        threading.Event().wait(PAUSE_SECONDS)


def refusal(binary: Binary, error: OSError, here: Optional[Platform] = None) -> BinaryError:
    """The error for a program that the system refused to start."""
    here = here or this_platform()
    built_for = platform_of(reachable(binary.path))
    if built_for is not None and built_for != here:
        reason = f"the program is for {built_for}"
        return BinaryError(binary.path, binary.named_by, reason, _wrong_platform(binary, here), here)
    return damage(binary) or BinaryError(binary.path, binary.named_by, _text(error), _advice(binary, error), here)


def _wrong_platform(binary: Binary, here: Platform) -> str:
    return f"install the wheel for {here} on this machine ({REINSTALL})" if binary.is_bundled else ""


def _can_pass(error: OSError) -> bool:
    return error.errno == errno.ETXTBSY or _windows_number(error) in (_WINDOWS_ACCESS_DENIED, *_WINDOWS_IN_USE)


def _advice(binary: Binary, error: OSError) -> str:
    """What to do, or "" for the usual advice."""
    copy = f"set {binary.named_by or 'MAYFLY_BINARY'} to a copy in another directory"
    number = _windows_number(error)
    if number in _WINDOWS_IN_USE:
        return (
            "another program, perhaps a virus scanner, uses the file: try again when it has finished, exclude the file from "
            f"its scans, or {copy}"
        )
    if number == _WINDOWS_ACCESS_DENIED:
        return f"a virus scanner or a policy may forbid it: allow the file there, check the file's permissions, or {copy}"
    if number in _WINDOWS_VIRUS:
        return "the virus scanner blocks the file: allow the file there, or set MAYFLY_URL to the URL of a running server"
    if number is not None:
        return ""
    if error.errno == errno.ETXTBSY:
        return f"another process is writing the file: try again when it has finished, or {copy}"
    if error.errno == errno.EACCES:
        return f"the file system may forbid programs (noexec): {copy}"
    return ""


def _text(error: OSError) -> str:
    number = _windows_number(error)
    text = (error.strerror or str(error)).strip().rstrip(".")
    return text if number is None else f"{text}, Windows error {number}"


def _windows_number(error: OSError) -> Optional[int]:
    number: Optional[int] = getattr(error, "winerror", None)
    return number
