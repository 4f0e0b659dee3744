"""pytest fixtures:

- `mayfly`, a World for the test, and `mayfly_async`, the same world for asyncio
- `mayfly_session`, a World for the whole run
- `mayfly_server`, the Server that hosts these worlds. Each pytest-xdist process has its own server.

A test fails if one of its handlers raised an exception, unless the function was registered with may_fail=True. The report
of a failed test shows the server's log during the test, and the items whose TTL can never fire.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import AsyncIterator, Generator, Iterator
from typing import TYPE_CHECKING, Any, Callable, Optional

import pytest

from ._calls import ttl
from ._server import Server
from ._world import World
from .errors import MayflyError, hides_frames

if TYPE_CHECKING:
    from .aio import AsyncWorld

__tracebackhide__ = hides_frames

_FIXTURES = frozenset(("mayfly", "mayfly_async", "mayfly_session", "mayfly_server"))
#: How long a failed test's report waits for the server, in real seconds.
REPORT_SECONDS_MAX = 5.0


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mayfly", "DynamoDB for tests")
    group.addoption("--mayfly-url", metavar="URL", help="use the existing server at this URL, and leave it running")
    group.addoption("--mayfly-binary", metavar="FILE", help="start this program instead of the package's own")
    group.addoption(
        "--mayfly-in-process",
        action="store_true",
        help="run the server in pytest's process (requires mayfly-dynamodb-inprocess)",
    )
    parser.addini("mayfly_url", "URL of an existing server; --mayfly-url and MAYFLY_URL override it")
    parser.addini("mayfly_binary", "program to start; --mayfly-binary and MAYFLY_BINARY override it")
    parser.addini(
        "mayfly_in_process",
        "run the server in pytest's process, unless an option or a variable specifies a URL or a program",
        type="bool",
        default=False,
    )
    parser.addini("mayfly_args", "additional arguments of `mayfly serve`", type="args", default=[])
    parser.addini(
        "mayfly_follow_clock",
        "make the program's clock follow the world's in tests that use `mayfly` (requires time-machine or freezegun)",
        type="bool",
        default=False,
    )


@pytest.fixture(scope="session")
def mayfly_server(pytestconfig: pytest.Config) -> Iterator[Server]:
    """The server of this run or of this pytest-xdist process, or the existing server at --mayfly-url or MAYFLY_URL. If the
    server dies, the next test's world gets a new server."""
    server = pytestconfig.stash[_SERVER] = _started(pytestconfig)
    yield server
    server.close()


@pytest.fixture(scope="session")
def mayfly_session(mayfly_server: Server) -> Iterator[World]:
    """A world that all tests of the run, or of this pytest-xdist process, share."""
    with _new_world(mayfly_server) as world:
        yield world


@pytest.fixture
def mayfly(mayfly_server: Server, pytestconfig: pytest.Config) -> Iterator[World]:
    """The test's own world. It begins empty, has its own clock, and is closed when the test ends. The test then fails with a
    HandlerError if a handler failed and no settle has raised the failure."""
    with _new_world(mayfly_server) as world:
        if pytestconfig.getini("mayfly_follow_clock"):
            world.clock.follow()
        yield world


@pytest.fixture
def mayfly_async(mayfly: World, request: pytest.FixtureRequest) -> AsyncWorld:
    """The world of the fixture `mayfly`, for asyncio. Requires pytest-asyncio 0.24 or later, or anyio."""
    if "anyio_backend" in request.fixturenames:
        backend = request.getfixturevalue("anyio_backend")
        name = backend if isinstance(backend, str) else backend[0]
        if name != "asyncio":
            pytest.fail(f"mayfly_async needs asyncio, but this test runs on {name}: use the asyncio backend", pytrace=False)
        by_anyio: AsyncWorld = request.getfixturevalue("_mayfly_async_by_anyio")
        return by_anyio
    fixture_name = request.config.stash.get(_ASYNCIO, None)
    if fixture_name is None:
        pytest.fail("mayfly_async needs pytest-asyncio 0.24 or later, or anyio: pip install pytest-asyncio", pytrace=False)
    by_asyncio: AsyncWorld = request.getfixturevalue(fixture_name(request))
    return by_asyncio


@pytest.fixture
async def _mayfly_async_by_anyio(mayfly: World) -> AsyncIterator[AsyncWorld]:
    from .aio import AsyncWorld  # imported here, because asyncio loads slowly and few runs need it

    async with AsyncWorld.of(mayfly) as world:
        yield world


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("mayfly_in_process") and (config.getoption("mayfly_url") or config.getoption("mayfly_binary")):
        raise pytest.UsageError("--mayfly-in-process cannot be combined with --mayfly-url or --mayfly-binary")
    if config.pluginmanager.hasplugin("asyncio"):
        with contextlib.suppress(ImportError, TypeError):  # the plugin is not pytest-asyncio, or is older than 0.24
            from . import _pytest_asyncio

            config.pluginmanager.register(_pytest_asyncio, "mayfly_asyncio")
            config.stash[_ASYNCIO] = _pytest_asyncio.fixture_name


def _new_world(server: Server) -> World:
    try:
        return server.world()
    except MayflyError as error:  # the server died in an earlier test and cannot be restarted
        pytest.fail(f"mayfly: {error}", pytrace=False)


def _started(config: pytest.Config) -> Server:
    arguments = config.getini("mayfly_args")
    try:
        if _is_in_process(config):
            return Server(in_process=True, args=arguments)
        return Server(_named(config, "binary"), url=_named(config, "url"), args=arguments)
    except MayflyError as error:
        pytest.fail(f"mayfly: {error}", pytrace=False)  # a traceback would add nothing to the message


def _is_in_process(config: pytest.Config) -> bool:
    """Whether to run the server in this process. The command line or the configuration can request that; a URL or a program
    from the command line or the environment overrides the configuration."""
    if config.getoption("mayfly_in_process"):
        return True
    named = config.getoption("mayfly_url") or config.getoption("mayfly_binary")
    named = named or os.environ.get("MAYFLY_URL") or os.environ.get("MAYFLY_BINARY")
    return not named and bool(config.getini("mayfly_in_process"))


def _named(config: pytest.Config, what: str) -> Optional[str]:
    """The value from the command line or, without one, from the configuration. None if an environment variable, which Server
    reads itself, overrides the configuration."""
    named: Optional[str] = config.getoption(f"mayfly_{what}")
    if named or os.environ.get("MAYFLY_URL") or os.environ.get("MAYFLY_BINARY"):
        return named
    if what == "url" and config.getoption("mayfly_binary"):
        return None
    return str(config.getini(f"mayfly_{what}")) or None


_SERVER = pytest.StashKey[Server]()
_ASYNCIO = pytest.StashKey[Callable[[pytest.FixtureRequest], str]]()
_LOG_BEGINS = pytest.StashKey[int]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    server = item.config.stash.get(_SERVER, None)
    item.stash[_LOG_BEGINS] = 0 if server is None else server.log_position()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Fails the current test if a handler of the shared world failed during that test."""
    world = (getattr(item, "funcargs", None) or {}).get("mayfly_session")
    if not isinstance(world, World):
        return
    world._deliver()
    error = world._failures.take()
    if error is not None:
        raise error


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    server = item.config.stash.get(_SERVER, None)
    if not report.failed or server is None or _FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
        return
    log = server.log(item.stash.get(_LOG_BEGINS, 0))
    if server.has_died:
        log = f"{log}\nthe server died ({server.ended})".lstrip()
    if log:
        report.sections.append(("Mayfly's log", log))
    worlds = {each.account: each for each in (getattr(item, "funcargs", None) or {}).values() if isinstance(each, World)}
    warnings = [line for world in worlds.values() for line in _ttl_warnings(world)]
    if warnings:
        report.sections.append(("Mayfly's TTL warnings", "\n".join(warnings)))


def _ttl_warnings(world: World) -> list[str]:
    """A line for each item whose TTL can never fire, or had passed when the item was written. Empty if the server does not
    answer."""
    call = ttl.suspects()
    headers = call.headers(world.account, world.region)
    try:
        answer = world._instance.exchange(call.method, call.path, call.sent_body(), headers, REPORT_SECONDS_MAX)
        return [f"{each.table} {json.dumps(each.key, default=str)}: {each.message}" for each in call.result(*answer)]
    except MayflyError:
        return []
