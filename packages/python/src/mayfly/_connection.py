"""HTTP to a server over persistent connections. Proxy settings are ignored."""

from __future__ import annotations

import http.client
import os
from collections.abc import Mapping
from typing import Optional
from urllib.parse import urlsplit

from ._fork import Lock

#: Time limit for a call. An advance can delete a million items, and an await can take ten minutes.
CALL_SECONDS_MAX = 700.0

# Errors on an idle connection that the server has closed. The server has not seen the request, so the request can be sent
# again.
_CLOSED_MEANWHILE = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError, ConnectionAbortedError)


class Connections:
    """A pool of connections, one for each concurrent call. Thread-safe, and can be used after a fork."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise OSError("expected a URL such as http://127.0.0.1:8000")
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._lock = Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._process = os.getpid()

    def exchange(
        self,
        method: str,
        path: str,
        body: Optional[bytes],
        headers: Mapping[str, str],
        timeout_seconds: float = CALL_SECONDS_MAX,
    ) -> tuple[int, bytes]:
        """The status and the body of the response. Raises OSError or http.client.HTTPException if there is no response."""
        kept = self._take()
        if kept is not None:
            try:
                return self._ask(kept, method, path, body, headers, timeout_seconds)
            except _CLOSED_MEANWHILE:
                pass
        return self._ask(self._open(timeout_seconds), method, path, body, headers, timeout_seconds)

    def close(self) -> None:
        """Closes the idle connections."""
        while True:
            connection = self._take()
            if connection is None:
                return
            connection.close()

    def _take(self) -> Optional[http.client.HTTPConnection]:
        with self._lock:
            if self._process != os.getpid():  # a forked process must not use its parent's connections
                self._idle, self._process = [], os.getpid()
            return self._idle.pop() if self._idle else None

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
        try:
            if connection.sock is not None:
                connection.sock.settimeout(timeout_seconds)
            connection.request(method, self._prefix + path, body, dict(headers))
            answer = connection.getresponse()
            status, text = answer.status, answer.read()
        except BaseException:  # also after Ctrl-C: the next response on this connection would belong to this request
            connection.close()
            raise
        with self._lock:
            self._idle.append(connection)
        return status, text
