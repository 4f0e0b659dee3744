"""Contains libmayfly.so.0, which `mayfly.Server(in_process=True)` loads. This package has no functions."""

from pathlib import Path

LIBRARY = Path(__file__).parent / "libmayfly.so.0"
