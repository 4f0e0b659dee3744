"""Which program is started: the one that is named, the one by MAYFLY_BINARY, the package's own, or the one on PATH."""

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
    named_by: Optional[str]  # None: it was found


def find_binary(named: Optional[StrPath] = None, named_by: str = "binary") -> Binary:
    """Raises a BinaryError if there is none, or if one is named and is not there: nothing else is taken then."""
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
        raise BinaryError(path, named_by, "there is no such file")
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        raise BinaryError(path, named_by, "it is not a file that may be run")
    return Binary(path, named_by)


def _on_path() -> Optional[str]:
    for directory in os.get_exec_path():
        # An empty or relative one depends on the working directory, which may hold another program.
        if not os.path.isabs(directory):
            continue
        path = os.path.join(directory, "mayfly")
        if os.path.isfile(path) and os.access(path, os.X_OK) and not _is_our_script(path):
            return path
    return None


def _is_our_script(path: str) -> bool:
    """This package's own console script, which looks for the program itself, and would find itself for ever."""
    with open(path, "rb") as file:
        start = file.read(2048)
    return start.startswith(b"#!") and b"mayfly.__main__" in start
