"""HTTP to a server: a connection of its own for each thread, kept open. No proxy stands between a test and its server."""

from __future__ import annotations

import http.client
import os
import threading
from collections.abc import Mapping
from typing import Optional
from urllib.parse import urlsplit

#: What a call may take, beyond what it says itself that it waits for: an advance may delete a million items.
CALL_SECONDS_MAX = 700.0


class Connections:
    """May be used by all threads, and in processes that are forked."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise OSError("it is no address such as http://127.0.0.1:8000")
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._of_thread = threading.local()

    def exchange(
        self,
        method: str,
        path: str,
        body: Optional[bytes],
        headers: Mapping[str, str],
        timeout_seconds: float = CALL_SECONDS_MAX,
    ) -> tuple[int, bytes]:
        """The status and the whole answer. Raises OSError or http.client.HTTPException if there is none."""
        kept = self._kept()
        if kept is not None:
            try:
                return self._ask(kept, method, path, body, headers, timeout_seconds)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.close()  # it was closed while nobody used it: the request has not been looked at
        connection = self._open(timeout_seconds)
        try:
            answer = self._ask(connection, method, path, body, headers, timeout_seconds)
        except BaseException:
            connection.close()
            raise
        self._of_thread.connection, self._of_thread.process = connection, os.getpid()
        return answer

    def close(self) -> None:
        """Of this thread."""
        connection = self._kept()
        if connection is not None:
            self._of_thread.connection = None
            connection.close()

    def _kept(self) -> Optional[http.client.HTTPConnection]:
        if getattr(self._of_thread, "process", None) != os.getpid():
            return None  # a forked process must not speak on its parent's
        connection: Optional[http.client.HTTPConnection] = self._of_thread.connection
        return connection

    def _open(self, timeout_seconds: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        return kind(self._host, self._port, timeout=timeout_seconds)

    def _ask(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: Optional[bytes],
        headers: Mapping[str, str],
        timeout_seconds: float,
    ) -> tuple[int, bytes]:
        if connection.sock is not None:
            connection.sock.settimeout(timeout_seconds)
        try:
            connection.request(method, self._prefix + path, body, dict(headers))
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            raise
        except BaseException:  # a time-out, Ctrl-C: what the connection says next would be the answer to this
            self.close()
            connection.close()
            raise
