"""Has libmayfly.so.0 beside it, which `mayfly.Server(in_process=True)` loads. There is nothing here to call."""

from pathlib import Path

LIBRARY = Path(__file__).parent / "libmayfly.so.0"
