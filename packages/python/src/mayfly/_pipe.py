"""The pipe to which a server writes its log. Reads do not block, so that a reader can empty the pipe at any time."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Optional

_PIECE_BYTES = 65536

if sys.platform == "win32":
    import _winapi
    import msvcrt
    import secrets

    _FIRST_INSTANCE, _REJECT_REMOTE_CLIENTS = 0x00080000, 0x00000008

    class LogPipe:
        """Uses overlapped reads, which Windows has only for named pipes. With an anonymous pipe, even PeekNamedPipe would
        block while `wait` waits."""

        def __init__(self) -> None:
            name = rf"\\.\pipe\mayfly-{os.getpid()}-{secrets.token_hex(16)}"
            self._read_end = _winapi.CreateNamedPipe(
                name,
                _winapi.PIPE_ACCESS_INBOUND | _winapi.FILE_FLAG_OVERLAPPED | _FIRST_INSTANCE,
                _winapi.PIPE_WAIT | _REJECT_REMOTE_CLIENTS,
                1,
                0,
                _PIECE_BYTES,
                _winapi.NMPWAIT_WAIT_FOREVER,
                _winapi.NULL,
            )
            write_end = _winapi.CreateFile(
                name, _winapi.GENERIC_WRITE, 0, _winapi.NULL, _winapi.OPEN_EXISTING, 0, _winapi.NULL
            )
            _winapi.ConnectNamedPipe(self._read_end, overlapped=True).GetOverlappedResult(True)
            self._write_end: Optional[int] = msvcrt.open_osfhandle(write_end, 0)

        def read(self) -> Optional[bytes]:
            """Up to 64 KiB. None if the pipe is empty, b"" if it has ended. Requires: no other thread is in this method."""
            try:
                available = int(_winapi.PeekNamedPipe(self._read_end)[0])
                if available == 0:
                    return None
                reading, _ = _winapi.ReadFile(self._read_end, min(available, _PIECE_BYTES), overlapped=True)
                reading.GetOverlappedResult(True)
                return bytes(reading.getbuffer() or b"")
            except BrokenPipeError:
                return b""

        def wait(self) -> None:
            """Returns when `read` would not return None. Can return earlier."""
            # A read of no bytes ends when the pipe has content, and leaves the content in the pipe. Rejected: a read of many
            # bytes, because Windows hands its result over some time after the server's write.
            with contextlib.suppress(BrokenPipeError):
                waiting, _ = _winapi.ReadFile(self._read_end, 0, overlapped=True)
                waiting.GetOverlappedResult(True)

        def write_end(self) -> int:
            """The file descriptor for the server."""
            assert self._write_end is not None
            return self._write_end

        def close_write_end(self) -> None:
            # Forget the descriptor first: the reader calls `close` as soon as the pipe has ended.
            write_end, self._write_end = self._write_end, None
            if write_end is not None:
                os.close(write_end)

        def close(self) -> None:
            self.close_write_end()
            _winapi.CloseHandle(self._read_end)

else:
    import selectors

    class LogPipe:
        def __init__(self) -> None:
            self._read_end, write_end = os.pipe()
            self._write_end: Optional[int] = write_end
            os.set_blocking(self._read_end, False)
            self._selector = selectors.DefaultSelector()
            self._selector.register(self._read_end, selectors.EVENT_READ)

        def read(self) -> Optional[bytes]:
            """Up to 64 KiB. None if the pipe is empty, b"" if it has ended. Requires: no other thread is in this method."""
            try:
                return os.read(self._read_end, _PIECE_BYTES)
            except BlockingIOError:
                return None

        def wait(self) -> None:
            """Returns when `read` would not return None. Can return earlier."""
            self._selector.select()

        def write_end(self) -> int:
            """The file descriptor for the server."""
            assert self._write_end is not None
            return self._write_end

        def close_write_end(self) -> None:
            # Forget the descriptor first: the reader calls `close` as soon as the pipe has ended.
            write_end, self._write_end = self._write_end, None
            if write_end is not None:
                os.close(write_end)

        def close(self) -> None:
            self.close_write_end()
            self._selector.close()
            os.close(self._read_end)
