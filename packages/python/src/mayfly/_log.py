"""The last lines that a server has logged, whoever reads them meanwhile."""

from __future__ import annotations

import collections
import threading

LINES_MAX = 1000
#: As many as an error shows.
LAST_LINES = 20


class ServerLog:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: collections.deque[str] = collections.deque(maxlen=LINES_MAX)
        self._count = 0

    def add(self, line: str) -> None:
        with self._lock:
            self._lines.append(line)
            self._count += 1

    def position(self) -> int:
        """Where the next line will be, for `since`."""
        with self._lock:
            return self._count

    def since(self, position: int = 0) -> str:
        """The lines from that position on, as far as they are kept, with a newline between them."""
        with self._lock:
            wanted = min(self._count - position, len(self._lines))
            return "\n".join(list(self._lines)[len(self._lines) - wanted :])

    def last(self) -> str:
        with self._lock:
            return "\n".join(list(self._lines)[-LAST_LINES:])
