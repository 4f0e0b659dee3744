"""Functions that send requests, sleep and call handlers without an event loop. mayfly.aio has its own version of each."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Callable, Optional

from ._functions import Function
from ._instance import Instance
from .errors import hides_frames

__tracebackhide__ = hides_frames


def exchange(
    instance: Instance, method: str, path: str, body: Optional[bytes], headers: Mapping[str, str]
) -> tuple[int, bytes]:
    """The status and the body of the response. Raises EndedError or UnansweredError if there is no response."""
    return instance.exchange(method, path, body, headers)


def sleep(seconds: float) -> None:
    threading.Event().wait(seconds)  # not time.sleep(), which a test may have replaced


def apart(work: Callable[[], None]) -> None:
    """Runs work that can block."""
    work()


def handler_of(function: Function) -> Function:
    return function
