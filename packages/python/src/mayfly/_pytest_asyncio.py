"""The fixture `mayfly_async` for pytest-asyncio. `pytest_plugin` registers this module if pytest-asyncio is installed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from ._world import World
from .aio import AsyncWorld

_fixture: Any = pytest_asyncio.fixture  # typed as Any, because mypy may run without pytest-asyncio


async def _world(mayfly: World) -> AsyncIterator[AsyncWorld]:
    async with AsyncWorld.of(mayfly) as world:
        yield world


# One fixture for each scope that a test's event loop can have, because a client must be closed in the loop that opened it.
# pytest-asyncio before 0.24 raises a TypeError here.
_mayfly_async_function = _fixture(loop_scope="function", name="_mayfly_async_function")(_world)
_mayfly_async_class = _fixture(loop_scope="class", name="_mayfly_async_class")(_world)
_mayfly_async_module = _fixture(loop_scope="module", name="_mayfly_async_module")(_world)
_mayfly_async_package = _fixture(loop_scope="package", name="_mayfly_async_package")(_world)
_mayfly_async_session = _fixture(loop_scope="session", name="_mayfly_async_session")(_world)


def fixture_name(request: pytest.FixtureRequest) -> str:
    """The name of the fixture for the requesting test's event loop."""
    marker = request.node.get_closest_marker("asyncio")
    scope = None if marker is None else marker.kwargs.get("loop_scope") or marker.kwargs.get("scope")
    if scope is None:
        try:
            scope = request.config.getini("asyncio_default_test_loop_scope")
        except (KeyError, ValueError):  # this release of pytest-asyncio does not have the option
            scope = None
    return f"_mayfly_async_{scope or 'function'}"
