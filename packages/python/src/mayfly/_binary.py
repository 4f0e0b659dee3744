"""Finds the program to start: the first one of the caller's path, the path in MAYFLY_BINARY, the package's own program, and
`mayfly` on PATH."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Union

from .errors import BinaryError

StrPath = Union[str, "os.PathLike[str]"]

BUNDLED = Path(__file__).parent / "bin" / "mayfly"


@dataclass(frozen=True)
class Binary:
    path: str
    named_by: Optional[str]  # the option or variable that gave the path; None if the package found the program


def find_binary(named: Optional[StrPath] = None, named_by: str = "binary") -> Binary:
    """Raises a BinaryError if no program is found. If the program that the caller or MAYFLY_BINARY names does not exist, no
    other program is tried."""
    if named:
        return _named(os.fspath(named), named_by)
    by_environment = os.environ.get("MAYFLY_BINARY")
    if by_environment:
        return _named(by_environment, "MAYFLY_BINARY")
    if BUNDLED.is_file():
        return Binary(str(BUNDLED), None)
    on_path = _on_path()
    if on_path is None:
        raise BinaryError()
    return Binary(on_path, None)


def _named(path: str, named_by: str) -> Binary:
    path = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(path):
        raise BinaryError(path, named_by, "no such file")
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        raise BinaryError(path, named_by, "not an executable file")
    return Binary(path, named_by)


def _on_path() -> Optional[str]:
    for directory in os.get_exec_path():
        # Skip empty and relative entries: they depend on the working directory, which may contain another program named
        # mayfly.
        if not os.path.isabs(directory):
            continue
        path = os.path.join(directory, "mayfly")
        if os.path.isfile(path) and os.access(path, os.X_OK) and not _is_our_script(path):
            return path
    return None


def _is_our_script(path: str) -> bool:
    """Whether the file is this package's console script, which calls `find_binary` and would run itself forever."""
    with open(path, "rb") as file:
        start = file.read(2048)
    return start.startswith(b"#!") and b"mayfly.__main__" in start
