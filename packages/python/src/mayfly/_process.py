"""A `mayfly serve` process that this process started.

The server is started with --exit-with-parent, so it exits when this process exits for any reason.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from typing import IO, Optional

from ._binary import Binary
from ._log import ServerLog
from .errors import BinaryError, StartError

LISTENING = "mayfly listening on "
END_SECONDS_MAX = 5.0


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
        try:
            self._child = subprocess.Popen(
                [binary.path, *_command(arguments)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # so that Ctrl-C reaches only the tests, which then end the server
            )
        except OSError as error:
            raise BinaryError(binary.path, binary.named_by, error.strerror or str(error)) from error
        assert self._child.stdout is not None
        assert self._child.stderr is not None
        self._readers = [
            threading.Thread(target=self._read_output, args=(self._child.stdout,), name="mayfly output", daemon=True),
            threading.Thread(target=self.log.follow, args=(self._child.stderr,), name="mayfly log", daemon=True),
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
        """How the server ended: "exit status 1" or "killed by SIGKILL". None if the server runs. Also None in a forked
        process, which cannot know whether the server runs."""
        if os.getpid() != self._owner:
            return None
        try:
            status = self._child.wait(wait_seconds) if wait_seconds else self._child.poll()
        except subprocess.TimeoutExpired:
            return None
        return None if status is None else _how(status)

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
        """Terminates the server, and kills it if it still runs after five seconds. A second call, or a call in a forked
        process, does nothing."""
        if os.getpid() != self._owner:
            return
        if self._child.poll() is None:
            self.was_closed = True
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
        if how is not None:
            raise StartError(
                f"the server {self.binary.path} ended before it answered ({how})",
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


def _how(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"
