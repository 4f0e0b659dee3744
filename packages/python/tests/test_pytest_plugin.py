from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from conftest import DIED_KILLED, KILLED, is_gone_within, is_there

USES = "def test_one(mayfly): mayfly.clock.freeze()"


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments, timeout=300)


def test_each_test_has_its_own_world_on_the_runs_server(pytester):
    pytester.makepyfile(
        """
        seen = []

        def check(mayfly, mayfly_session, mayfly_server):
            seen.append((mayfly.account, mayfly_session.account, mayfly_server.pid))
            mayfly.create_table("carts")

        def test_one(mayfly, mayfly_session, mayfly_server):
            check(mayfly, mayfly_session, mayfly_server)
            mayfly_session.create_table("shared")

        def test_two(mayfly, mayfly_session, mayfly_server):
            check(mayfly, mayfly_session, mayfly_server)
            assert mayfly_session.dynamodb.list_tables()["TableNames"] == ["shared"]

        def test_three():
            (mine, shared, pid), (mine2, shared2, pid2) = seen
            assert mine != mine2 and shared == shared2 and pid == pid2 and shared not in (mine, mine2)
        """
    )
    run(pytester).assert_outcomes(passed=3)


def test_a_run_without_the_fixtures_starts_no_server_and_loads_no_sdk(pytester):
    pytester.makepyfile(
        """
        import sys, threading

        def test_one():
            assert "boto3" not in sys.modules
            assert not [thread for thread in threading.enumerate() if thread.name.startswith("mayfly")]
        """
    )
    run(pytester).assert_outcomes(passed=1)


def test_the_server_exits_when_the_run_ends(pytester):
    pytester.makepyfile("def test_one(mayfly_server): open('pid', 'w').write(str(mayfly_server.pid))")
    run(pytester).assert_outcomes(passed=1)
    assert not is_there(int((pytester.path / "pid").read_text()))


def test_the_server_exits_when_the_run_is_killed(pytester):
    pytester.makepyfile("def test_one(mayfly_server): print('pid', mayfly_server.pid, flush=True); input()")
    command = [sys.executable, "-m", "pytest", "-s", "-q", "-p", "no:cacheprovider"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=pytester.path) as child:
        for line in child.stdout:
            if line.startswith("pid "):
                break
        pid = int(line.split()[1])
        assert is_there(pid)
        child.kill()
    assert is_gone_within(pid, 2)


def test_each_xdist_process_has_its_own_server(pytester):
    pytester.makepyfile(
        """
        import pathlib, pytest

        @pytest.mark.parametrize("n", range(20))
        def test_one(mayfly, n):
            mayfly.clock.freeze(f"{2031 + n}-01-01T00:00:00Z")
            mayfly.create_table("carts", ttl="ttl")
            mayfly.resource.Table("carts").put_item(Item={"id": "1", "ttl": mayfly.clock.epoch_seconds(60)})
            assert mayfly.clock.advance(minutes=2).expired == 1
            assert mayfly.clock.now().year == 2031 + n
            pathlib.Path(f"pid-{mayfly.server.pid}").touch()
        """
    )
    run(pytester, "-n", "4").assert_outcomes(passed=20)
    pids = [int(path.name[4:]) for path in pytester.path.glob("pid-*")]
    assert 2 <= len(pids) <= 4
    assert not [pid for pid in pids if is_there(pid)]


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_a_failed_test_shows_the_servers_log_during_the_test(pytester, arguments):
    pytester.makepyfile(
        """
        def expire(mayfly, hours):
            mayfly.clock.freeze("2031-01-01T00:00:00Z")
            mayfly.create_table("carts", ttl="ttl")
            mayfly.clock.advance(hours=hours)

        def test_one(mayfly):
            expire(mayfly, 1)

        def test_two(mayfly):
            expire(mayfly, 2)
            assert False

        def test_three():
            assert False
        """
    )
    pytester.makeini("[pytest]\nmayfly_args = --log-level debug")
    result = run(pytester, *arguments)
    result.assert_outcomes(passed=1, failed=2)
    output = result.stdout.str()
    assert len(re.findall("-+ Mayfly's log -+", output)) == 1
    (log,) = re.findall("-+ Mayfly's log -+\n(.*?)\n(?:_|=|-)", output, re.DOTALL)
    assert "CreateTable" in log


def test_a_dead_server_is_reported_and_the_next_test_gets_a_new_one(pytester):
    pytester.makepyfile(
        """
        import os

        def test_one(mayfly):
            os.kill(mayfly.server.pid, 9)
            mayfly.dynamodb.list_tables()

        def test_two(mayfly, mayfly_server):
            mayfly.create_table("carts")
            assert mayfly.dynamodb.list_tables()["TableNames"] == ["carts"]
            assert mayfly_server.ended is None
        """
    )
    result = run(pytester)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [
            f"*EndedError: Mayfly's server {DIED_KILLED} before it answered ListTables. Its log*",
            f"the server died ({KILLED})",
        ]
    )


def test_an_error_is_shown_at_the_line_of_the_test_that_caused_it(pytester):
    pytester.makepyfile(
        """
        def test_one(mayfly):
            mayfly.create_table("carts", ttl="ttl")
            mayfly.ttl("tables").status()
        """
    )
    result = run(pytester)
    result.assert_outcomes(failed=1)
    assert "_connection.py" not in result.stdout.str()
    result.stdout.fnmatch_lines([">       mayfly.ttl*", "E       mayfly.errors.ControlError: There is no table 'tables'*"])


# Handlers

FAILS = """
import pytest
from mayfly import HandlerError

@pytest.fixture
def carts(mayfly):
    mayfly.create_table("carts", ttl="ttl")
    return mayfly.resource.Table("carts")

def remind(event):
    total = len(event["Records"])
    assert total == 2
"""


@pytest.mark.parametrize("settings", ["", ", MaximumRetryAttempts=0", ", MaximumRetryAttempts=2"])
def test_a_failing_handler_fails_its_test_at_the_settle(pytester, settings):
    pytester.makepyfile(
        FAILS
        + f"""
def test_one(mayfly, carts):
    mayfly.function("reminder", remind)
    mayfly.trigger("carts", "reminder"{settings})
    carts.put_item(Item={{"id": "1"}})
    mayfly.clock.advance(1, settle=True)
"""
    )
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">*assert total == 2",
            "E*assert 1 == 2",
            "The above exception was the direct cause of the following exception:",
            ">*mayfly.clock.advance(1, settle=True)",
            "E*HandlerError: Function reminder * table carts: *1 record*. Its last error was AssertionError: assert 1 == 2. "
            "If the test expects this, register the function with may_fail=True.",
            "mayfly: function reminder failed:",
            "Traceback (most recent call last):",
            "*in remind",
        ]
    )
    assert "_functions.py" not in result.stdout.str()


def test_without_a_settle_a_failing_handler_fails_its_test_at_the_end_of_the_test(pytester):
    pytester.makepyfile(
        FAILS
        + """
def test_one(mayfly):
    mayfly.function("reminder", remind)
    mayfly.client("lambda").invoke(FunctionName="reminder", Payload=b'{"Records": []}')

def test_two(mayfly):
    mayfly.function("reminder", lambda event: pytest.fail("never"))
    mayfly.client("lambda").invoke(FunctionName="reminder", Payload=b"{}")

def test_three(mayfly_session):
    mayfly_session.function("reminder", remind)
    mayfly_session.client("lambda").invoke(FunctionName="reminder", Payload=b'{"Records": []}')

def test_four(mayfly, mayfly_session):
    mayfly.function("reminder", remind, may_fail=True)
    mayfly.client("lambda").invoke(FunctionName="reminder", Payload=b'{"Records": []}')
    (failure,) = mayfly.handler_failures()
    assert str(failure) == "reminder: AssertionError: assert 0 == 2"
"""
    )
    result = run(pytester)
    result.assert_outcomes(passed=4, errors=3)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at teardown of test_one*",
            "E*HandlerError: Function reminder failed 1 time. Its last error was AssertionError: assert 0 == 2. If *",
            "*ERROR at teardown of test_two*",
            "E*HandlerError: Function reminder failed 1 time. Its last error was Failed: never. If *",
            "*ERROR at teardown of test_three*",
            "E*HandlerError: Function reminder failed 1 time. Its last error was AssertionError: assert 0 == 2. If *",
        ]
    )
    assert "the server died" not in result.stdout.str()


def test_a_handlers_failure_is_raised_only_once(pytester):
    pytester.makepyfile(
        FAILS
        + """
def test_one(mayfly, carts):
    mayfly.function("reminder", remind)
    mayfly.trigger("carts", "reminder")
    carts.put_item(Item={"id": "1"})
    with pytest.raises(HandlerError) as error:
        mayfly.settle()
    assert not error.value.advanced.settled
    assert error.value.advanced.unfinished[0]["retrying"]["attempts"] == 3
    assert [each.function for each in error.value.failures] == ["reminder"] * 3
    while len(mayfly.handler_failures()) < 4:  # until the next retry has failed
        pass
"""
    )
    run(pytester).assert_outcomes(passed=1)


def test_a_failed_test_lists_items_whose_ttl_can_never_fire(pytester):
    pytester.makepyfile(
        """
        def test_one(mayfly):
            mayfly.create_table("carts", ttl="ttl")
            mayfly.resource.Table("carts").put_item(Item={"id": "1", "ttl": "1795590184"})
            advanced = mayfly.clock.advance(days=365 * 10)
            assert advanced.never == {"carts": {"string": 1}}
            assert mayfly.ttl("carts").status().never == {"string": 1}
            assert advanced.expired == 1

        def test_two(mayfly):
            mayfly.create_table("carts", ttl="ttl")
            mayfly.wait_for("carts", {"id": "1"}, timeout=0.01)
        """
    )
    result = run(pytester)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*Mayfly's TTL warnings*",
            'carts {"id": "1"}: ttl is a string ("1795590184"), so it never expires; use a Number.',
        ]
    )
    assert result.stdout.str().count("Mayfly's TTL warnings") == 1


def test_a_failed_start_is_reported_for_each_test_without_a_traceback(pytester):
    pytester.makepyfile(USES + "\ndef test_two(mayfly): pass")
    nowhere = os.path.abspath("/nowhere/mayfly")
    result = run(pytester, "--mayfly-binary", nowhere)
    result.assert_outcomes(errors=2)
    assert result.stdout.str().count(f"\nmayfly: cannot run {nowhere} on ") == 2
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize("how", ["option", "environment", "configuration"])
def test_a_run_can_use_an_existing_server(pytester, monkeypatch, mayfly_server, how):
    pytester.makepyfile(f"def test_one(mayfly): assert (mayfly.url, mayfly.server.pid) == ({mayfly_server.url!r}, None)")
    if how == "configuration":
        pytester.makeini(f"[pytest]\nmayfly_url = {mayfly_server.url}")
    if how == "environment":
        monkeypatch.setenv("MAYFLY_URL", mayfly_server.url)
        pytester.makeini("[pytest]\nmayfly_url = http://127.0.0.1:1")
    run(pytester, *(["--mayfly-url", mayfly_server.url] if how == "option" else [])).assert_outcomes(passed=1)
    assert mayfly_server.ended is None


def test_a_binary_on_the_command_line_overrides_all_other_settings(pytester, monkeypatch):
    from mayfly._binary import find_binary

    binary = find_binary().path
    pytester.makepyfile("def test_one(mayfly): assert mayfly.server.pid")
    pytester.makeini("[pytest]\nmayfly_url = http://127.0.0.1:1\nmayfly_binary = /nowhere")
    run(pytester, "--mayfly-binary", binary).assert_outcomes(passed=1)
    monkeypatch.setenv("MAYFLY_URL", "http://127.0.0.1:1")
    run(pytester, "--mayfly-binary", binary).assert_outcomes(passed=1)
    monkeypatch.delenv("MAYFLY_URL")
    monkeypatch.setenv("MAYFLY_BINARY", binary)
    run(pytester).assert_outcomes(passed=1)


def test_the_configuration_sets_the_servers_binary_and_arguments(pytester):
    from mayfly._binary import find_binary

    pytester.makepyfile("def test_one(mayfly): assert mayfly.clock.now().year == 2031")
    pytester.makeini(
        f"[pytest]\nmayfly_binary = {find_binary().path}\nmayfly_args = --clock frozen --now 2031-01-01T00:00:00Z"
    )
    run(pytester).assert_outcomes(passed=1)


def test_mayfly_follow_clock_makes_the_programs_clock_follow_the_worlds_clock(pytester):
    pytester.makepyfile(
        """
        import time

        def test_one(mayfly):
            mayfly.clock.freeze("2031-01-01T00:00:00Z")
            assert time.time() == 1924992000

        def test_two():
            assert time.time() < 1924992000
        """
    )
    pytester.makeini("[pytest]\nmayfly_follow_clock = true")
    run(pytester).assert_outcomes(passed=2)


def test_a_run_leaves_no_resource_open(pytester):
    pytester.makepyfile(
        """
        import asyncio, gc, threading
        from mayfly.aio import AsyncWorld

        def test_one(mayfly):
            mayfly.create_table("carts")
            mayfly.resource.Table("carts").put_item(Item={"id": "1"})
            assert mayfly.streams.list_streams()["Streams"]
            mayfly.function("one", lambda event: None)
            mayfly.trigger("carts", "one")
            mayfly.clock.advance(1, settle=True)
            thread = threading.Thread(target=mayfly.clock.now)
            thread.start()
            thread.join()

        def test_two(mayfly):
            async def steps():
                async with AsyncWorld.of(mayfly) as world:
                    await world.create_table("carts")
                    await (await world.dynamodb()).list_tables()

            asyncio.run(steps())
            gc.collect()

        def test_three():
            gc.collect()
        """
    )
    result = run(pytester, "-W", "error::ResourceWarning", "-W", "error::pytest.PytestUnraisableExceptionWarning")
    result.assert_outcomes(passed=3)
    assert "ResourceWarning" not in result.stdout.str() + result.stderr.str()


def test_pytests_help_lists_the_plugins_options(pytester):
    output = run(pytester, "--help").stdout.str()
    for word in ("--mayfly-url=URL", "--mayfly-binary=FILE", "mayfly_args (args)", "mayfly_follow_clock (bool)"):
        assert word in output
