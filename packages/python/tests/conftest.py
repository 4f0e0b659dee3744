from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import Callable

import pytest

from mayfly import Server

pytest_plugins = ["pytester"]

ENVIRONMENT_THAT_MISLEADS = {
    "AWS_PROFILE": "no-such-profile",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
    "AWS_ACCESS_KEY_ID": "000000000001",
    "AWS_REGION": "mars-north-1",
    "AWS_DEFAULT_REGION": "mars-north-1",
    "HTTP_PROXY": "http://127.0.0.1:1",
    "http_proxy": "http://127.0.0.1:1",
}


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes environment variables that the developer may have set."""
    for name in ("MAYFLY_URL", "MAYFLY_BINARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Returns a function that creates an executable Python program, which a test starts instead of mayfly."""

    def make(text: str) -> Path:
        path = tmp_path / "not-mayfly"
        path.write_text(f"#!{sys.executable}\n{text}")
        path.chmod(0o755)
        return path

    return make


def await_log(server: Server, text: str, seconds: float = 10) -> None:
    """Waits until the server's log contains `text`. The server can answer before its last start-up lines are read."""
    end = time.monotonic() + seconds
    while text not in server.log():
        assert time.monotonic() < end, server.log()
        time.sleep(0.005)


def is_there(pid: int) -> bool:
    """Whether the process is running. A zombie does not count as running."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def is_gone_within(pid: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not is_there(pid):
            return True
        time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 9)  # do not leave the process behind
    return False
