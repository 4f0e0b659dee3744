"""The last lines of a server's log. Thread-safe.

A reader first empties the server's pipe, so it sees every line that the server wrote before the server's last response.
"""

from __future__ import annotations

import codecs
import collections
import os
from typing import Optional

from ._fork import Lock
from ._pipe import LogPipe

LINES_MAX = 1000
#: How many lines an error shows.
LAST_LINES = 20
#: One call to `_look` reads at most 4 MB from the pipe, so that a server that keeps writing does not block a reader.
_PIECES_MAX = 64


class ServerLog:
    def __init__(self) -> None:
        self._lock = Lock()
        self._lines: collections.deque[str] = collections.deque(maxlen=LINES_MAX)
        self._count = 0
        self._pipe: Optional[LogPipe] = None
        self._owner = os.getpid()  # a forked process must not read from the pipe
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""  # the last line while it is incomplete

    def follow(self, pipe: LogPipe) -> None:
        """Reads a pipe until its end, closes it, and returns. Requires: the previous pipe has ended."""
        with self._lock:
            self._pipe = pipe
        while self._look():
            pipe.wait()
        pipe.close()

    def add(self, line: str) -> None:
        with self._lock:
            self._keep(line)

    def position(self) -> int:
        """The position of the next line, for `since`."""
        self._look()
        with self._lock:
            return self._count

    def since(self, position: int = 0) -> str:
        """The lines from the given position on that are still kept, separated by newlines."""
        self._look()
        with self._lock:
            wanted = min(self._count - position, len(self._lines))
            return "\n".join(list(self._lines)[len(self._lines) - wanted :])

    def last(self) -> str:
        """The last LAST_LINES lines, separated by newlines."""
        self._look()
        with self._lock:
            return "\n".join(list(self._lines)[-LAST_LINES:])

    def _look(self) -> bool:
        """Reads the pipe's contents without blocking. False if there is no pipe, or if the pipe has ended."""
        if os.getpid() != self._owner:
            return False
        with self._lock:
            for _ in range(_PIECES_MAX):
                if self._pipe is None:
                    return False
                piece = self._pipe.read()
                if piece is None:
                    return True
                if not piece:
                    self._pipe = None
                *lines, self._begun = (self._begun + self._decoder.decode(piece, not piece)).split("\n")
                if not piece and self._begun:
                    lines.append(self._begun)
                    self._begun = ""
                for line in lines:
                    self._keep(line.removesuffix("\r"))
        return True

    def _keep(self, line: str) -> None:
        self._lines.append(line)
        self._count += 1
