from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import traceback
import urllib.request
from pathlib import Path

import pytest
from conftest import CLOSED, DIED_KILLED, KILLED, WINDOWS, await_log, copied_program, is_gone_within, is_there, kill

from mayfly import BinaryError, EndedError, Server, UnansweredError, _fork, _version
from mayfly._binary import NAME


def test_a_server_exits_at_the_end_of_its_with_block():
    with Server() as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert server.version.count(".") == 2
        assert server.ended is None
        pid = server.pid
    assert not is_there(pid)
    assert server.ended == CLOSED


def test_a_second_close_of_a_server_does_nothing():
    server = Server()
    server.close()
    server.close()
    assert server.ended == CLOSED


def test_a_server_exits_after_its_server_object_is_garbage_collected():
    server = Server()
    pid = server.pid
    del server
    assert is_gone_within(pid, 5)


def test_a_servers_arguments_are_passed_to_the_program():
    with Server(args=["--clock", "frozen", "--now", "2031-01-01T00:00:00Z"]) as server, server.world() as world:
        assert world.clock.now().year == 2031


def test_a_servers_arguments_override_the_packages_own_options(mayfly_server):
    with Server(args=["--port=0", "--accounts-max", "1"]) as server, server.world() as world:
        world.clock.freeze()


def test_an_existing_server_is_used_and_keeps_running(mayfly_server):
    with Server(url=mayfly_server.url + "/") as other, other.world() as world:
        assert (other.url, other.pid, other.log()) == (mayfly_server.url, None, "")
        world.clock.freeze()
    assert mayfly_server.ended is None


def test_mayfly_url_selects_an_existing_server(mayfly_server, monkeypatch):
    monkeypatch.setenv("MAYFLY_URL", mayfly_server.url)
    with Server() as server:
        assert server.pid is None
    with Server(mayfly_binary()) as server:  # the argument overrides MAYFLY_URL
        assert server.pid is not None


def mayfly_binary() -> Path:
    from mayfly._binary import find_binary

    return Path(find_binary().path)


def test_mayfly_binary_selects_the_program(tmp_path, monkeypatch):
    link = tmp_path / "elsewhere.exe"
    if WINDOWS:  # where only some users can create links
        shutil.copy2(mayfly_binary(), link)
    else:
        link.symlink_to(mayfly_binary())
    monkeypatch.setenv("MAYFLY_BINARY", str(link))
    assert mayfly_binary() == link
    with Server() as server:
        assert server.pid is not None


def test_the_search_on_path_skips_this_packages_own_script(tmp_path, monkeypatch):
    from mayfly import _binary

    copy = copied_program(tmp_path)
    monkeypatch.setattr(_binary, "BUNDLED", tmp_path / "none")
    monkeypatch.setenv("PATH", os.pathsep.join([sysconfig.get_path("scripts"), str(tmp_path)]))
    assert _binary.find_binary().path == str(copy)


def test_a_server_exits_after_its_parent_process_exits_without_closing_it():
    program = "from mayfly import Server; server = Server(); print(server.pid, flush=True)"
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True, timeout=30)
    assert is_gone_within(int(done.stdout), 2)


def test_a_server_exits_after_its_parent_process_is_killed():
    program = "from mayfly import Server; server = Server(); print(server.pid, flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        pid = int(child.stdout.readline())
        assert is_there(pid)
        child.kill()
    assert is_gone_within(pid, 2)


def invoke(world, name):
    return json.loads(world.client("lambda").invoke(FunctionName=name, Payload=b"1")["Payload"].read())


def in_a_forked_process(run):
    """Calls `run` in a forked process. Fails unless it returns True within 30 seconds."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)
        right = False
        try:
            right = run()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


NEEDS_FORK = pytest.mark.skipif(WINDOWS, reason="Windows cannot fork a process")


@NEEDS_FORK
def test_a_forked_process_uses_its_own_connections_and_does_not_end_the_server(mayfly_server):
    with mayfly_server.world() as world:
        now = world.clock.freeze()

        def use():
            right = world.clock.now() == now and mayfly_server.world().clock.read().mode == "real"
            mayfly_server.close()
            return right

        in_a_forked_process(use)
        assert world.clock.now() == now


@NEEDS_FORK
def test_a_forked_process_does_not_wait_for_locks_that_threads_of_its_parent_held(mayfly_server):
    with mayfly_server.world() as world:
        now = world.clock.freeze()
        world.execute("ListTables")
        world.dynamodb.list_tables()
        held, forked = threading.Barrier(2), threading.Event()

        def hold():
            with contextlib.ExitStack() as stack:
                for lock in list(_fork._locks):
                    stack.enter_context(lock)
                held.wait(30)
                forked.wait(30)

        def use():
            with mayfly_server.world() as other:
                other.function("one", lambda event: event + 1)
                assert other.client("dynamodb").list_tables()["TableNames"] == []
                assert invoke(other, "one") == 2
            return world.clock.now() == now and "keeps everything" not in other.log()

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(30)
        try:
            in_a_forked_process(use)
        finally:
            forked.set()
            thread.join()
        assert world.clock.now() == now


@NEEDS_FORK
def test_a_forked_process_does_not_end_the_handlers_of_its_parent(mayfly):
    mayfly.function("one", lambda event: event + 1)

    def use():
        mayfly.function("two", lambda event: event + 2)
        return invoke(mayfly, "two") == 3

    in_a_forked_process(use)
    in_a_forked_process(lambda: mayfly.close() is None)
    mayfly.function("one", lambda event: event + 4)
    assert invoke(mayfly, "one") == 5


def test_the_package_uses_only_locks_that_are_released_in_a_forked_process():
    others = re.compile(r"(RLock|Condition|Semaphore|Queue)\(|threading\.Lock|from threading import")
    modules = [path.read_text() for path in Path(_fork.__file__).parent.rglob("*.py") if path != Path(_fork.__file__)]
    assert len(modules) > 30
    for text in modules:
        assert not others.search(text)


def test_threads_can_share_a_world(mayfly):
    now = mayfly.clock.freeze()
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(mayfly.clock.now())) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [now] * 20


def test_the_error_of_a_call_to_a_dead_server_says_how_the_server_died_and_includes_its_log():
    with Server() as server, server.world() as world:
        world.clock.freeze()
        world.dynamodb.list_tables()
        await_log(server, "keeps everything in memory")
        kill(server.pid)
        for call, name in (
            (world.clock.now, "GET /_mayfly/clock"),
            (lambda: world.execute("ListTables"), "ListTables"),
            (lambda: world.dynamodb.list_tables(), "ListTables"),
            (lambda: world.resource.Table("carts").put_item(Item={"id": "1"}), "PutItem"),
        ):
            with pytest.raises(EndedError) as ended:
                call()
            message = str(ended.value)
            assert message.startswith(f"Mayfly's server {DIED_KILLED} before it answered {name}. Its log:\n    "), message
            assert "keeps everything in memory" in ended.value.log


def test_after_a_server_dies_a_new_world_gets_a_new_server():
    with Server() as server:
        lost = server.world()
        lost.create_table("carts")
        dead = server.pid
        kill(dead)
        with pytest.raises(EndedError):
            lost.execute("ListTables")
        with server.world() as world:
            assert server.pid != dead
            assert server.ended is None
            assert world.execute("ListTables") == {"TableNames": []}
            await_log(server, f"(the server died, {KILLED}; the following lines are from a new server)\n")
            with pytest.raises(EndedError, match=r"before it answered ListTables\. Its log:(?!.*new server)"):
                lost.execute("ListTables")
        lost.close()
        fresh = server.pid
    assert not is_there(fresh)


def test_a_closed_server_is_not_restarted():
    server = Server()
    world = server.world()
    server.close()
    with pytest.raises(EndedError, match=r"^Mayfly's server was closed before GET /_mayfly/clock\.$"):
        world.clock.now()
    with pytest.raises(EndedError):
        server.world().clock.now()
    assert server.ended == CLOSED


def test_a_failed_restart_is_reported(tmp_path):
    program = copied_program(tmp_path)
    with Server(program) as server, server.world() as world:
        kill(server.pid)
        with pytest.raises(EndedError):
            world.clock.now()
        program.unlink()
        with pytest.raises(BinaryError, match=r"\(no such file\)"):
            server.world()


def test_the_error_of_a_call_to_a_dead_external_server_names_the_servers_url():
    with Server() as server, Server(url=server.url) as other, other.world() as world:
        world.clock.freeze()
        server.close()
        with pytest.raises(UnansweredError, match=f"^{server.url} did not answer .*: is the server running\\?$"):
            world.clock.now()


def test_a_connection_that_the_server_closed_is_replaced(mayfly):
    mayfly.clock.freeze()
    mayfly._instance.connections._idle[-1].sock.shutdown(2)
    assert mayfly.clock.read().mode == "frozen"


def test_versions_with_the_same_major_and_minor_number_are_compatible():
    _version.check_version("0.3.1", "0.3.7", "x")
    _version.check_version(_version.UNRELEASED, "0.3.7", "x")


@pytest.mark.parametrize("start", [["mayfly"], [sys.executable, "-m", "mayfly"]])
def test_the_command_mayfly_runs_the_program(start, mayfly_server):
    if start == ["mayfly"]:
        start = [os.path.join(sysconfig.get_path("scripts"), NAME)]
    version = subprocess.run([*start, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert version == f"mayfly {mayfly_server.version}\n"
    assert subprocess.run([*start, "serve", "--nonsense"], stderr=subprocess.DEVNULL).returncode == 2


def test_a_server_that_the_command_mayfly_runs_ends_when_the_command_is_killed():
    command = [sys.executable, "-m", "mayfly", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        url = child.stdout.readline().rpartition(" ")[2].strip()
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{url}/_mayfly/health") as answer:
            assert answer.status == 200
        child.kill()
        assert child.stdout.read() == ""  # the server, which also has the pipe, ends
    with pytest.raises(OSError):
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5)


def test_closing_a_server_leaves_no_resource_open():
    program = """
import gc, threading
from mayfly import Server

def use():
    with Server() as server, server.world() as world:
        threads = [threading.Thread(target=world.clock.now) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

use()
gc.collect()
"""
    done = subprocess.run([sys.executable, "-W", "always", "-c", program], stderr=subprocess.PIPE, text=True, check=True)
    assert done.stderr == ""
