"""Runs the mayfly program, for example `mayfly serve` or `python -m mayfly clock advance 48h`. The program replaces this
process. On Windows, which cannot replace a process, this process waits for the program."""

from __future__ import annotations

import os
import sys

from ._binary import Binary, find_binary
from ._launch import launch
from .errors import BinaryError


def main() -> None:
    try:
        _run(find_binary(), ["mayfly", *sys.argv[1:]])
    except BinaryError as error:
        sys.exit(f"mayfly: {error}")


if sys.platform == "win32":

    def _run(binary: Binary, command: list[str]) -> None:
        import signal
        import subprocess

        from ._job import end_with_this_process

        child = launch(binary, lambda path: subprocess.Popen(command, executable=path))
        end_with_this_process(child.pid)
        # The console sends Ctrl-C and Ctrl-Break to the program too, which ends in an orderly way.
        for number in (signal.SIGINT, signal.SIGBREAK):
            signal.signal(number, signal.SIG_IGN)
        status = child.wait()
        sys.exit(status if status < 2**31 else status - 2**32)  # sys.exit accepts only signed numbers

else:

    def _run(binary: Binary, command: list[str]) -> None:
        launch(binary, lambda path: os.execv(path, command))


if __name__ == "__main__":
    main()
