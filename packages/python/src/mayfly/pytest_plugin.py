"""pytest's fixtures: `mayfly`, a World for the test; `mayfly_session`, one for the run; `mayfly_server`, where they are.

Each process of pytest-xdist has a server of its own, which starts in some milliseconds. When a test that has a world fails,
what the server logged meanwhile is in its report.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from typing import Any, Optional

import pytest

from ._server import Server
from ._world import World
from .errors import MayflyError

_FIXTURES = frozenset(("mayfly", "mayfly_session", "mayfly_server"))


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mayfly", "DynamoDB for tests")
    group.addoption("--mayfly-url", metavar="URL", help="use the server that runs there; none is started, and none ended")
    group.addoption("--mayfly-binary", metavar="FILE", help="start this mayfly")
    group.addoption(
        "--mayfly-in-process",
        action="store_true",
        help="start none: have it in pytest's own process, by mayfly-dynamodb-inprocess",
    )
    parser.addini("mayfly_url", "a server to use, where neither --mayfly-url nor MAYFLY_URL names one")
    parser.addini("mayfly_binary", "the mayfly to start, where neither --mayfly-binary nor MAYFLY_BINARY names one")
    parser.addini(
        "mayfly_in_process",
        "have it in pytest's own process, where neither an option nor the environment names another",
        type="bool",
        default=False,
    )
    parser.addini("mayfly_args", "more arguments of `mayfly serve`", type="args", default=[])
    parser.addini(
        "mayfly_follow_clock",
        "have the program's clock follow that of the fixture `mayfly`, by time-machine or freezegun",
        type="bool",
        default=False,
    )


@pytest.fixture(scope="session")
def mayfly_server(pytestconfig: pytest.Config) -> Iterator[Server]:
    """The server of this run, or of this process of pytest-xdist; or the one that --mayfly-url or MAYFLY_URL names."""
    server = pytestconfig.stash[_SERVER] = _started(pytestconfig)
    yield server
    server.close()


@pytest.fixture(scope="session")
def mayfly_session(mayfly_server: Server) -> Iterator[World]:
    """A world that all tests of the run, or of this process of pytest-xdist, share."""
    with mayfly_server.world() as world:
        yield world


@pytest.fixture
def mayfly(mayfly_server: Server, pytestconfig: pytest.Config) -> Iterator[World]:
    """A world of the test's own: empty, with a clock of its own, and gone when the test has ended."""
    with mayfly_server.world() as world:
        if pytestconfig.getini("mayfly_follow_clock"):
            world.clock.follow()
        yield world


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("mayfly_in_process") and (config.getoption("mayfly_url") or config.getoption("mayfly_binary")):
        raise pytest.UsageError("--mayfly-in-process goes with neither --mayfly-url nor --mayfly-binary")


def _started(config: pytest.Config) -> Server:
    arguments = config.getini("mayfly_args")
    try:
        if _is_in_process(config):
            return Server(in_process=True, args=arguments)
        return Server(_named(config, "binary"), url=_named(config, "url"), args=arguments)
    except MayflyError as error:
        pytest.fail(f"mayfly: {error}", pytrace=False)  # the sentence says it all


def _is_in_process(config: pytest.Config) -> bool:
    """The command line says so, or the configuration, if nothing that goes before that names a server."""
    if config.getoption("mayfly_in_process"):
        return True
    named = config.getoption("mayfly_url") or config.getoption("mayfly_binary")
    named = named or os.environ.get("MAYFLY_URL") or os.environ.get("MAYFLY_BINARY")
    return not named and bool(config.getini("mayfly_in_process"))


def _named(config: pytest.Config, what: str) -> Optional[str]:
    """The command line's, else the configuration's if the environment says nothing of its own (which Server looks at)."""
    named: Optional[str] = config.getoption(f"mayfly_{what}")
    if named or os.environ.get("MAYFLY_URL") or os.environ.get("MAYFLY_BINARY"):
        return named
    if what == "url" and config.getoption("mayfly_binary"):
        return None
    return str(config.getini(f"mayfly_{what}")) or None


_SERVER = pytest.StashKey[Server]()
_LOG_BEGINS = pytest.StashKey[int]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    server = item.config.stash.get(_SERVER, None)
    item.stash[_LOG_BEGINS] = 0 if server is None else server.log_position()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    server = item.config.stash.get(_SERVER, None)
    if not report.failed or server is None or _FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
        return
    log = server.log(item.stash.get(_LOG_BEGINS, 0))
    if server.ended is not None:
        log = f"{log}\nthe server has ended ({server.ended})".lstrip()
    if log:
        report.sections.append(("Mayfly's log", log))
