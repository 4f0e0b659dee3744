"""Functions that send requests, sleep and call handlers in an event loop. The synchronous package has its own version of
each."""

from __future__ import annotations

import asyncio
import inspect
import time
from typing import Any, Callable

from .._functions import Function, LambdaContext, takes_context
from ..errors import hides_frames
from ._connection import ask as exchange

__all__ = ["apart", "exchange", "handler_of", "sleep"]

__tracebackhide__ = hides_frames


async def sleep(seconds: float) -> None:
    await asyncio.to_thread(time.sleep, seconds)  # not asyncio.sleep(), because a test may move the clock of the event loop


async def apart(work: Callable[[], None]) -> None:
    """Runs work that can block, in another thread."""
    await asyncio.to_thread(work)


def handler_of(function: Function) -> Function:
    """Returns a synchronous handler. If `function` is a coroutine function, it runs in the current event loop, and the
    returned handler waits for its result."""
    if not inspect.iscoroutinefunction(function):
        return function
    loop = asyncio.get_running_loop()

    def call(event: Any, context: LambdaContext) -> Any:
        coroutine = function(event, context) if takes_context(function) else function(event)
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

    return call
