"""The last lines that a server has logged. Any thread may read them.

A reader first takes over what is in the server's pipe, so that it sees every line that the server wrote before it answered.
"""

from __future__ import annotations

import codecs
import collections
import os
import selectors
import threading
from typing import IO, Optional

LINES_MAX = 1000
#: As many as an error shows.
LAST_LINES = 20
#: What one look takes from a pipe at most: 4 MB, so that a server that keeps writing holds up nobody.
_PIECE_BYTES, _PIECES_MAX = 65536, 64


class ServerLog:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: collections.deque[str] = collections.deque(maxlen=LINES_MAX)
        self._count = 0
        self._pipe: Optional[IO[bytes]] = None
        self._owner = os.getpid()  # a process that was forked from it must not empty its pipe
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""  # the line that has no end yet

    def follow(self, pipe: IO[bytes]) -> None:
        """Keeps the lines of a pipe, and returns when it has ended. The pipe before it has ended."""
        os.set_blocking(pipe.fileno(), False)
        with pipe, selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            with self._lock:
                self._pipe = pipe
            while self._look():
                selector.select()

    def add(self, line: str) -> None:
        with self._lock:
            self._keep(line)

    def position(self) -> int:
        """Where the next line will be, for `since`."""
        self._look()
        with self._lock:
            return self._count

    def since(self, position: int = 0) -> str:
        """The lines from that position on, as far as they are kept, with a newline between them."""
        self._look()
        with self._lock:
            wanted = min(self._count - position, len(self._lines))
            return "\n".join(list(self._lines)[len(self._lines) - wanted :])

    def last(self) -> str:
        self._look()
        with self._lock:
            return "\n".join(list(self._lines)[-LAST_LINES:])

    def _look(self) -> bool:
        """Takes over what is in the pipe. False if there is no pipe, or it has ended."""
        if os.getpid() != self._owner:
            return False
        with self._lock:
            for _ in range(_PIECES_MAX):
                if self._pipe is None:
                    return False
                try:
                    piece = os.read(self._pipe.fileno(), _PIECE_BYTES)
                except BlockingIOError:
                    return True
                if not piece:
                    self._pipe = None
                *lines, self._begun = (self._begun + self._decoder.decode(piece, not piece)).split("\n")
                if not piece and self._begun:
                    lines.append(self._begun)
                    self._begun = ""
                for line in lines:
                    self._keep(line)
        return True

    def _keep(self, line: str) -> None:
        self._lines.append(line)
        self._count += 1
