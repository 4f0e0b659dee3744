"""Runs the mayfly program, for example `mayfly serve` or `python -m mayfly clock advance 48h`. The program replaces this
process."""

from __future__ import annotations

import os
import sys

from ._binary import find_binary
from .errors import BinaryError


def main() -> None:
    try:
        binary = find_binary()
        try:
            os.execv(binary.path, ["mayfly", *sys.argv[1:]])
        except OSError as error:
            raise BinaryError(binary.path, binary.named_by, error.strerror or str(error)) from error
    except BinaryError as error:
        sys.exit(f"mayfly: {error}")


if __name__ == "__main__":
    main()
