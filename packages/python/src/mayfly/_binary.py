"""Finds the program to start: the first one of the caller's path, the path in MAYFLY_BINARY, the package's own program, and
`mayfly` on PATH."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Union

from ._platform import Platform
from .errors import BinaryError

StrPath = Union[str, "os.PathLike[str]"]

NAME = "mayfly.exe" if os.name == "nt" else "mayfly"
BUNDLED = Path(__file__).parent / "bin" / NAME
REINSTALL = "pip install --force-reinstall mayfly-dynamodb"
#: Windows' functions accept longer paths only with the prefix of `reachable`. 12 of the 260 characters are reserved.
_WINDOWS_PATH_MAX = 248
#: Scripts that pip and uv write on Windows are small programs. The server is far larger.
_SCRIPT_BYTES_MAX = 2_000_000


@dataclass(frozen=True)
class Binary:
    path: str
    named_by: Optional[str]  # the option or variable that gave the path; None if the package found the program

    @property
    def is_bundled(self) -> bool:
        return self.named_by is None and self.path == str(BUNDLED)


def find_binary(named: Optional[StrPath] = None, named_by: str = "binary") -> Binary:
    """Raises a BinaryError if no program is found. If the program that the caller or MAYFLY_BINARY names does not exist, no
    other program is tried."""
    if named:
        return _named(os.fspath(named), named_by)
    by_environment = os.environ.get("MAYFLY_BINARY")
    if by_environment:
        return _named(by_environment, "MAYFLY_BINARY")
    if os.path.isfile(reachable(str(BUNDLED))):
        _make_executable()
        return Binary(str(BUNDLED), None)
    on_path = _on_path()
    if on_path is None:
        raise not_found()
    return Binary(on_path, None)


def not_found(here: Optional[Platform] = None) -> BinaryError:
    """The error if the package has no program and none is on PATH."""
    if _recorded() is not None:
        return BinaryError(
            str(BUNDLED),
            reason="the file is missing, although pip installed it",
            advice=f"if a virus scanner removed it, allow the file there; then run {REINSTALL}",
        )
    return BinaryError(here=here)


def damage(binary: Binary) -> Optional[BinaryError]:
    """The error if the package's own program is not the one that pip installed: a full disk or a failing one can have
    shortened or changed it. None if the program is intact, or is not the package's own."""
    recorded = _recorded() if binary.is_bundled else None
    if recorded is None:
        return None
    size, sha256 = recorded
    try:
        found = os.path.getsize(reachable(binary.path))
        if found != size:
            reason = f"the file is damaged: its size is {found} bytes instead of {size}"
        elif _sha256(binary.path) != sha256:
            reason = "the file is damaged: its SHA-256 is not the one in the wheel"
        else:
            return None
    except OSError as error:
        reason = f"the file cannot be read: {error.strerror or error}"
    return BinaryError(binary.path, reason=reason, advice=f"run {REINSTALL}")


def reachable(path: str, windows: bool = os.name == "nt") -> str:
    """The path in the form that Windows' functions need for long paths. On other systems, the path itself."""
    if not windows or len(path) < _WINDOWS_PATH_MAX or path.startswith("\\\\?\\"):
        return path
    path = path.replace("/", "\\")
    return "\\\\?\\UNC" + path[1:] if path.startswith("\\\\") else "\\\\?\\" + path


def _named(path: str, named_by: str) -> Binary:
    path = os.path.abspath(os.path.expanduser(path))
    if os.name == "nt" and not os.path.exists(reachable(path)) and os.path.isfile(reachable(path + ".exe")):
        path += ".exe"
    if not os.path.exists(reachable(path)):
        raise BinaryError(path, named_by, "no such file")
    if not _is_executable(path):
        raise BinaryError(path, named_by, "not an executable file")
    return Binary(path, named_by)


def _is_executable(path: str) -> bool:
    return os.path.isfile(reachable(path)) and os.access(reachable(path), os.X_OK)


def _make_executable() -> None:
    """Some tools that unpack wheels drop the permission to execute files."""
    path = str(BUNDLED)
    if os.access(reachable(path), os.X_OK):
        return
    try:
        os.chmod(path, stat.S_IMODE(os.stat(path).st_mode) | 0o111)
    except OSError as error:
        raise BinaryError(
            path,
            reason="not an executable file",
            advice=f"run chmod +x {path}, or set MAYFLY_BINARY to an executable copy",
        ) from error


def _on_path() -> Optional[str]:
    for directory in os.get_exec_path():
        directory = directory.strip('"') if os.name == "nt" else directory
        # Skip empty and relative entries: they depend on the working directory, which may contain another program named
        # mayfly.
        if not os.path.isabs(directory):
            continue
        path = os.path.join(directory, NAME)
        try:
            if _is_executable(path) and not _is_our_script(path):
                return path
        except OSError:  # such as a file that this user can execute, but not read
            continue
    return None


def _is_our_script(path: str) -> bool:
    """Whether the file is this package's console script, which calls `find_binary` and would run itself forever. On Windows,
    the script is at the end of a small program."""
    with open(reachable(path), "rb") as file:
        start = file.read(2048)
        if start.startswith(b"MZ") and os.path.getsize(reachable(path)) <= _SCRIPT_BYTES_MAX:
            return b"mayfly.__main__" in start + file.read(_SCRIPT_BYTES_MAX)
    return start.startswith(b"#!") and b"mayfly.__main__" in start


def _recorded() -> Optional[tuple[int, str]]:
    """The size and the SHA-256 of the package's program, from the list of installed files. None if the list does not name the
    program."""
    from importlib import metadata  # imported here, because the import takes milliseconds

    try:
        files = metadata.distribution("mayfly-dynamodb").files or ()
    except metadata.PackageNotFoundError:
        return None
    for each in files:
        if each.parts == ("mayfly", "bin", NAME) and each.size is not None and each.hash is not None:
            return (each.size, each.hash.value) if each.hash.mode == "sha256" else None
    return None


def _sha256(path: str) -> str:
    """In the form that the list of installed files has."""
    digest = hashlib.sha256()
    with open(reachable(path), "rb") as file:
        for piece in iter(lambda: file.read(1 << 20), b""):
            digest.update(piece)
    return base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
