from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

import pytest

from mayfly import Server
from mayfly._binary import NAME, find_binary

WINDOWS = os.name == "nt"
# How a server ends: on Windows, a killed process has the exit status that its killer chose, and `close` kills the server.
KILLED = "exit status 9" if WINDOWS else "killed by SIGKILL"
DIED_KILLED = "ended with exit status 9" if WINDOWS else "was killed by SIGKILL"
CLOSED = "closed" if WINDOWS else "exit status 0"

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
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes environment variables that the developer may have set. On Windows, makes child processes write UTF-8, which
    pytester expects."""
    for name in ("MAYFLY_URL", "MAYFLY_BINARY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Returns a function that creates an executable Python program, which a test starts instead of mayfly."""

    def make(text: str) -> Path:
        if WINDOWS:
            from distlib.scripts import ScriptMaker

            source = tmp_path / "source"
            source.mkdir()
            (source / "not-mayfly.py").write_text(f"#!python\n{text}", encoding="utf-8")
            (path,) = ScriptMaker(str(source), str(tmp_path)).make("not-mayfly.py")
            return Path(path)
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


def copied_program(directory: Path) -> Path:
    """A copy of the program in a directory, which is created."""
    directory.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy2(find_binary().path, directory / NAME))


def kill(pid: int) -> None:
    os.kill(pid, 9)  # Windows has no signal.SIGKILL, but kills for this number too


def is_there(pid: int) -> bool:
    """Whether the process is running. A zombie does not count as running."""
    if WINDOWS:
        import ctypes

        synchronize, timed_out = 0x00100000, 0x102
        process = ctypes.windll.kernel32.OpenProcess(synchronize, False, pid)
        running = process != 0 and ctypes.windll.kernel32.WaitForSingleObject(process, 0) == timed_out
        ctypes.windll.kernel32.CloseHandle(process)
        return running
    if Path("/proc/self/stat").exists():
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except (ProcessLookupError, FileNotFoundError):
            return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], stdout=subprocess.PIPE, text=True).stdout.strip()
    return state != "" and not state.startswith("Z")


def is_gone_within(pid: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not is_there(pid):
            return True
        time.sleep(0.005)
    with contextlib.suppress(OSError):
        kill(pid)  # do not leave the process behind
    return False
