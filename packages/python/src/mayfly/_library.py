"""Calls the functions of mayfly_c.h in libmayfly.so.0 through ctypes. Other Python threads run during a call."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

from .errors import LibraryError, MayflyError

NAME = "libmayfly.so.0"

CLOSED, FORKED, NO_ANSWER = -2, -5, -6

_Bytes = Optional[bytes]
_CheckHandler = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p)

# A check handler. It is called with the expression, the file in Mayfly's source, and the line.
CheckHandler = Callable[[str, str, int], object]


def find_library() -> Library:
    """Loads the library from MAYFLY_LIBRARY, the package mayfly-dynamodb-inprocess, or the system's library path. Raises a
    LibraryError if it is not found or cannot be loaded. If the library that MAYFLY_LIBRARY names cannot be loaded, no other
    library is tried."""
    named = os.environ.get("MAYFLY_LIBRARY")
    if named:
        return _loaded(os.path.abspath(os.path.expanduser(named)), "MAYFLY_LIBRARY")
    packaged = _packaged()
    if packaged is not None:
        return _loaded(packaged, None)
    try:
        return _loaded(NAME, None)
    except LibraryError as error:
        raise LibraryError() from error


def _packaged() -> Optional[str]:
    found = importlib.util.find_spec("mayfly_inprocess")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / NAME
    return str(path) if path.is_file() else None


@functools.cache
def _loaded(path: str, named_by: Optional[str]) -> Library:
    try:
        return Library(path)
    except (OSError, AttributeError) as error:  # an AttributeError means that the library lacks a function
        raise LibraryError(path, named_by, str(error)) from error


class Library:
    """The loaded library. A negative result of a call is an error code of mayfly_c.h, and the returned text is then the
    error's message."""

    def __init__(self, path: str) -> None:
        self.path = path
        library = ctypes.CDLL(path)
        text, size, handle = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p
        out = [ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(size)]
        self._version = _function(library.mayfly_version, text, [])
        self._open = _function(library.mayfly_open, ctypes.c_int, [text, size, ctypes.POINTER(handle), *out])
        whose = [handle, text, text]
        self._execute = _function(library.mayfly_execute, ctypes.c_int, [*whose, text, text, size, *out])
        self._control = _function(library.mayfly_control, ctypes.c_int, [*whose, text, text, text, size, *out])
        self._serve = _function(library.mayfly_serve, ctypes.c_int, [handle, text, size, *out])
        self._close = _function(library.mayfly_close, ctypes.c_int, [handle])
        self._free = _function(library.mayfly_free, None, [ctypes.c_void_p])
        self._set_check_handler = _function(library.mayfly_set_check_handler, ctypes.c_int, [_CheckHandler, ctypes.c_void_p])
        self.check_handler = _CheckHandler()  # kept alive, because the library can call it at any time

    def version(self) -> str:
        version: bytes = self._version()
        return version.decode()

    def open(self, options: bytes) -> tuple[int, bytes, Optional[int]]:
        """The result, the text, and the handle, which is None after an error."""
        handle = ctypes.c_void_p()
        result, said = self._call(self._open, options, len(options), ctypes.byref(handle))
        return result, said, handle.value

    def execute(self, handle: int, account: _Bytes, region: _Bytes, operation: bytes, body: bytes) -> tuple[int, bytes]:
        return self._call(self._execute, handle, account, region, operation, body, len(body))

    def control(
        self, handle: int, account: _Bytes, region: _Bytes, method: bytes, path: bytes, body: bytes
    ) -> tuple[int, bytes]:
        return self._call(self._control, handle, account, region, method, path, body, len(body))

    def serve(self, handle: int, options: bytes) -> tuple[int, bytes]:
        return self._call(self._serve, handle, options, len(options))

    def close(self, handle: int) -> int:
        result: int = self._close(handle)
        return result

    def set_check_handler(self, handler: Optional[CheckHandler]) -> None:
        if handler is None:
            called = _CheckHandler()
        else:
            called = _CheckHandler(lambda expression, file, line, _: handler(expression.decode(), file.decode(), line))
        result = self._set_check_handler(called, None)
        if result == FORKED:
            raise MayflyError("cannot set the check handler in a process that was forked after Mayfly was opened in it")
        if result != 0:
            raise MemoryError
        self.check_handler = called

    def _call(self, function: Any, *arguments: Any) -> tuple[int, bytes]:
        answer, size = ctypes.c_void_p(), ctypes.c_size_t()
        result = function(*arguments, ctypes.byref(answer), ctypes.byref(size))
        if not answer:
            return result, b""
        try:
            return result, ctypes.string_at(answer, size.value)
        finally:
            self._free(answer)


def _function(function: Any, result: Any, arguments: list[Any]) -> Any:
    function.restype, function.argtypes = result, arguments
    return function


def set_check_handler(handler: Optional[CheckHandler]) -> None:
    """Sets the function that the in-process library calls when one of its checks fails, which is a bug in Mayfly.

    handler: called with the expression, the file in Mayfly's source, and the line. The process aborts when the
        handler returns or raises an exception. None, the default: the library writes a line to stderr instead.

    The handler applies only to `Server(in_process=True)`. A separate server process writes to its log. Raises a LibraryError
    if the library is not installed, and a MayflyError in a process that was forked after the library was used."""
    find_library().set_check_handler(handler)
