"""A `mayfly serve` process that this process started.

The server is started with --exit-with-parent, so it exits when this process exits for any reason. Windows has no SIGTERM, so
there the server is killed at the end. That is safe, because a server never loses writes that it has acknowledged.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO, Optional

from ._binary import Binary, damage
from ._launch import launch
from ._log import ServerLog
from ._pipe import LogPipe
from ._platform import Platform, this_platform
from .errors import StartError

LISTENING = "mayfly listening on "
END_SECONDS_MAX = 5.0

# In a separate session, or on Windows without a console, the server does not receive Ctrl-C. The tests get Ctrl-C, and then
# end the server.
if sys.platform == "win32":
    _CREATION_FLAGS = subprocess.CREATE_NO_WINDOW
else:
    _CREATION_FLAGS = 0

#: What the exit statuses of programs that Windows has ended mean.
_WINDOWS_STATUSES = {
    0xC0000005: "access violation",
    0xC000001D: "illegal instruction",
    0xC00000FD: "stack overflow",
    0xC0000135: "a DLL is missing",
    0xC000013A: "ended by Ctrl-C",
    0xC0000409: "aborted",
}


class ServerProcess:
    """Starts the server. The constructor returns when the server has announced its address, `url`, and accepts requests.

    Raises BinaryError or StartError."""

    def __init__(self, binary: Binary, arguments: Sequence[str], timeout_seconds: float, log: ServerLog) -> None:
        self.binary = binary
        self.log = log
        self.was_closed = False  # whether `end` was called
        self.url = ""
        self._owner = os.getpid()
        self._announced = threading.Event()  # set when the first line has been read or the output has ended
        self._first_line = ""
        self._last_log: Optional[str] = None
        self._was_killed = False  # whether `end` killed it, on Windows
        pipe = LogPipe()
        try:
            self._child = launch(
                binary,
                lambda path: subprocess.Popen(
                    [binary.path, *_command(arguments)],
                    executable=path,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=pipe.write_end(),
                    start_new_session=True,
                    creationflags=_CREATION_FLAGS,
                ),
            )
        except BaseException:
            pipe.close()
            raise
        pipe.close_write_end()
        assert self._child.stdout is not None
        self._readers = [
            threading.Thread(target=self._read_output, args=(self._child.stdout,), name="mayfly output", daemon=True),
            threading.Thread(target=self.log.follow, args=(pipe,), name="mayfly log", daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        try:
            self._await_url(timeout_seconds)
        except BaseException:
            self.end()
            raise

    @property
    def pid(self) -> int:
        return self._child.pid

    def ended(self, wait_seconds: float = 0) -> Optional[str]:
        """How the server ended: "exit status 1" or "killed by SIGKILL", or "closed" if `end` killed it on Windows. None if
        the server runs. Also None in a forked process, which cannot know whether the server runs."""
        if os.getpid() != self._owner:
            return None
        try:
            status = self._child.wait(wait_seconds) if wait_seconds else self._child.poll()
        except subprocess.TimeoutExpired:
            return None
        if status is None:
            return None
        return "closed" if self._was_killed else how_it_ended(status)

    def last_log(self) -> str:
        """The last lines of the log. After the process has ended, they are complete, and do not include lines of a later
        process."""
        if self._child.poll() is None:
            return self.log.last()
        if self._last_log is None:
            self._readers[1].join(1)
            self._last_log = self.log.last()
        return self._last_log

    def end(self) -> None:
        """Terminates the server, and kills it if it still runs after five seconds. Kills it at once on Windows. A second
        call, or a call in a forked process, does nothing."""
        if os.getpid() != self._owner:
            return
        if self._child.poll() is None:
            self.was_closed = True
            self._was_killed = os.name == "nt"
            self._child.terminate()
            try:
                self._child.wait(END_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
        for reader in self._readers:
            reader.join(1)

    def _await_url(self, timeout_seconds: float) -> None:
        # The limit is not a deadline in time.monotonic(), because a test may have frozen that clock.
        if not self._announced.wait(timeout_seconds):
            self._child.kill()
            self._child.wait()
            raise StartError(
                f"the server {self.binary.path} did not answer within {timeout_seconds:g} s; to wait longer, raise "
                "start_timeout",
                self.last_log(),
            )
        if self._first_line.startswith(LISTENING):
            self.url = self._first_line[len(LISTENING) :].strip()
            return
        how = self.ended(wait_seconds=1)
        # A server that cannot start says why. A damaged program says nothing.
        damaged = None if self.last_log() else damage(self.binary)
        if damaged is not None:
            raise damaged
        if how is not None:
            raise StartError(
                f"the server {self.binary.path} ended before it answered ({how}){hint(how, self.binary.path)}",
                self.last_log(),
                self._child.returncode,
            )
        raise StartError(
            f"{self.binary.path} printed {self._first_line!r} instead of the address it listens on: is it mayfly?",
            self.last_log(),
        )

    def _read_output(self, output: IO[bytes]) -> None:
        with output:
            self._first_line = output.readline().decode("utf-8", "replace").rstrip("\r\n")
            self._announced.set()
            for _ in output:  # discard the rest, so that the server never blocks on a full pipe
                pass


def _command(arguments: Sequence[str]) -> list[str]:
    """The arguments with this package's defaults. An option can be given only once, so the caller's options replace the
    defaults."""
    command = ["serve", "--exit-with-parent"]
    for option, value in (("--port", "0"), ("--accounts-max", "1000000")):
        if not any(argument == option or argument.startswith(option + "=") for argument in arguments):
            command += [option, value]
    return command + list(arguments)


def hint(how: str, path: str, here: Optional[Platform] = None) -> str:
    """Why macOS kills a program at its start, and what to do. "" for other ends and other systems."""
    if how != "killed by SIGKILL" or (here or this_platform()).system != "macOS":
        return ""
    return (
        "; macOS kills a program whose signature is invalid, and one that a browser downloaded: run "
        f"codesign --verify '{path}', or xattr -d com.apple.quarantine '{path}'"
    )


def how_it_ended(status: int) -> str:
    """The meaning of a status that subprocess returned: "exit status 1", "killed by SIGKILL"."""
    if status >= 0x80000000:  # Windows uses such numbers for exceptions
        meaning = _WINDOWS_STATUSES.get(status)
        return f"exit status 0x{status:08X}" + (f", {meaning}" if meaning else "")
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"
