from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from mayfly import ControlError, EndedError, Fault, LibraryError, Server, StartError, UnansweredError, World, _library, set_check_handler
from mayfly._in_process import options_of
from mayfly.aio import AsyncServer


@pytest.fixture
def server():
    with Server(in_process=True) as server:
        yield server


def python(program: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-W", "always", "-c", program], capture_output=True, text=True, timeout=60, **options)


def children() -> list[str]:
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return file.read().split()


def test_items_expire_and_no_process_is_started(server):
    before = children()
    with Server(in_process=True) as other, other.world() as world:
        world.clock.freeze("2031-01-01T00:00:00Z")
        world.create_table("carts", key="id", ttl="ttl")
        world.resource.Table("carts").put_item(Item={"id": "1", "ttl": world.clock.epoch_seconds(3600)})
        assert world.execute("GetItem", TableName="carts", Key={"id": {"S": "1"}})["Item"]["id"] == {"S": "1"}
        assert world.clock.advance(hours=2).tables == {"carts": 1}
        assert world.execute("GetItem", TableName="carts", Key={"id": {"S": "1"}}) == {}
        assert (other.pid, other.ended, other.log()) == (None, None, "")
        assert other.version.count(".") == 2
        assert other.url != server.url
    assert children() == before


def test_only_calls_that_can_block_use_a_socket(server, monkeypatch):
    world = World(server)
    asked = []
    connections = server.instance().connections
    exchange = connections.exchange
    monkeypatch.setattr(connections, "exchange", lambda *call: (asked.append(call[1]), exchange(*call))[1])
    world.clock.freeze()
    world.create_table("carts", key="id", ttl="ttl")
    world.execute("PutItem", TableName="carts", Item={"id": {"S": "1"}})
    world.clock.advance(1)
    world.ttl("carts").sweep()
    world.snapshot().restore()
    with pytest.raises(ControlError, match="There is no table"):
        world.ttl("tables").status()
    assert asked == []
    world.wait_for("carts", {"id": "1"}, "INSERT", since=0)
    world.clock.advance(1, settle=True)
    assert asked == ["/_mayfly/await", "/_mayfly/clock/advance"]
    # Once a failpoint is armed, a call that moves the clock can block.
    with world.failpoint("carts", {"id": "1"}):
        world.clock.advance(1)
    assert asked.count("/_mayfly/clock/advance") == 2


def test_calls_through_the_c_functions_use_the_worlds_account_and_region():
    with Server(in_process=True, region="eu-west-1") as server, server.world() as one, server.world() as other:
        one.create_table("carts")
        assert other.execute("ListTables") == {"TableNames": []}
        assert one.dynamodb.list_tables()["TableNames"] == one.execute("ListTables")["TableNames"] == ["carts"]
        arn = one.execute("DescribeTable", TableName="carts")["Table"]["TableArn"]
        assert arn == f"arn:aws:dynamodb:eu-west-1:{one.account}:table/carts"


def test_an_operation_runs_once_if_a_fault_drops_its_response(server):
    with server.world() as world:
        world.create_table("carts")
        world.faults(Fault("connection_closed", operation="UpdateItem", applied=True, count=1))
        update = {
            "TableName": "carts",
            "Key": {"id": {"S": "1"}},
            "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        with pytest.raises(UnansweredError, match="a fault closed the connection"):
            world.execute("UpdateItem", **update)
        assert world.execute("Scan", TableName="carts")["Items"] == [{"id": {"S": "1"}, "n": {"N": "1"}}]


def test_nul_and_non_ascii_text_is_stored_unchanged(server):
    with server.world() as world:
        world.create_table("carts")
        item = {"id": {"S": "\0 ä \U0001f5fb"}, "b": {"B": "AAE="}}
        world.execute("PutItem", TableName="carts", Item=item)
        assert world.execute("Scan", TableName="carts")["Items"] == [item]


def test_an_in_process_server_accepts_arguments_of_mayfly_serve():
    arguments = ["--clock=frozen", "--now", "2031-01-01T00:00:00Z", "--stream-shards", "2", "--exact-recovery", "--port=0"]
    with Server(in_process=True, args=arguments) as server, server.world() as world:
        assert world.clock.now().year == 2031
        world.create_table("carts")
        assert len(world.control("GET", "/streams/carts/shards")["shards"]) == 2
    assert options_of(["--bucket", "a=/x,b=/y", "--bucket=c=/z", "--no-control", "--ttl-delay-seconds", "1,2", "--threads", "2"]) == (
        {"bucket": ["a=/x", "b=/y", "c=/z"], "ttl-delay-seconds": [1, 2]},
        {"no-control": True, "threads": 2},
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--schema", "tables.json"], "unknown option 'schema': options of a separate process need in_process=False"),
        (["--clock", "stopped"], "the option clock must be real, frozen, offset or rate=60"),
        (["--data", "/proc/nowhere"], ".*"),
        (["--port"], "the option --port requires a value"),
        (["port"], "'port' is not an option of `mayfly serve`"),
    ],
)
def test_an_in_process_server_reports_invalid_arguments(arguments, sentence):
    with pytest.raises(StartError, match=f"^Mayfly cannot start in this process: {sentence}$"):
        Server(in_process=True, args=arguments)


def test_an_in_process_server_reports_a_port_in_use(server):
    port = server.url.rpartition(":")[2]
    with pytest.raises(StartError, match=f"cannot listen on 127.0.0.1:{port}: the port is taken$"):
        Server(in_process=True, args=["--port", port])


def test_in_process_cannot_be_combined_with_binary_or_url_and_overrides_the_environment(monkeypatch):
    with pytest.raises(ValueError, match="^in_process cannot be combined with binary or url"):
        Server("mayfly", in_process=True)
    with pytest.raises(ValueError, match="^in_process cannot be combined with binary or url"):
        Server(url="http://127.0.0.1:1", in_process=True)
    monkeypatch.setenv("MAYFLY_URL", "http://127.0.0.1:1")
    with Server(in_process=True) as server:
        assert server.version


def test_a_missing_library_is_reported(monkeypatch, tmp_path):
    monkeypatch.delenv("MAYFLY_LIBRARY", raising=False)
    monkeypatch.setattr(_library, "_packaged", lambda: None)
    monkeypatch.setattr(_library, "NAME", "libmayfly-there-is-none.so.0")
    with pytest.raises(LibraryError, match="^libmayfly.so.0 not found: install the mayfly-dynamodb-inprocess wheel for "):
        Server(in_process=True)
    text = tmp_path / "libmayfly.so.0"
    text.write_text("no library")
    for path in (text, tmp_path / "none"):
        monkeypatch.setenv("MAYFLY_LIBRARY", str(path))
        with pytest.raises(LibraryError, match=f"^cannot load {path} on Linux .*: correct MAYFLY_LIBRARY, or remove it$"):
            Server(in_process=True)


def test_calls_to_a_closed_server_raise_an_error_and_a_second_close_does_nothing():
    server = Server(in_process=True)
    world = server.world()
    world.clock.freeze()
    port = int(server.url.rpartition(":")[2])
    server.close()
    server.close()
    assert server.ended == "closed"
    with pytest.raises(EndedError, match=r"^Mayfly's server was closed before GET /_mayfly/clock\.$"):
        world.clock.now()
    with pytest.raises(EndedError, match=r"^Mayfly's server was closed before POST /_mayfly/await\.$"):
        world.wait_for("carts", {"id": "1"})
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_closing_a_server_ends_its_blocked_calls():
    server = Server(in_process=True)
    world = server.world()
    world.create_table("carts")
    ends = []

    def wait():
        try:
            world.wait_for("carts", {"id": "1"}, timeout=600)
        except Exception as error:
            ends.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while 'mayfly_requests_waiting{kind="awaits"} 1' not in server.exchange("GET", "/_mayfly/metrics")[1].decode():
        time.sleep(0.001)
    server.close()
    waiting.join(30)
    assert not waiting.is_alive()
    assert isinstance(ends[0], (ControlError, EndedError))


def test_a_garbage_collected_server_is_closed():
    server = Server(in_process=True)
    port = int(server.url.rpartition(":")[2])
    del server
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_threads_can_share_a_world(server):
    with server.world() as world:
        now = world.clock.freeze()
        world.create_table("carts")
        seen = []

        def use(number):
            for i in range(50):
                world.execute("PutItem", TableName="carts", Item={"id": {"S": f"{number}-{i}"}})
            seen.append(world.clock.now())

        threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [now] * 8
        assert world.execute("Scan", TableName="carts", Select="COUNT")["Count"] == 400


def test_a_forked_process_uses_http_and_does_not_end_the_server(server):
    with server.world() as world:
        now = world.clock.freeze()
        world.create_table("carts")
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                right = world.clock.now() == now and world.dynamodb.list_tables()["TableNames"] == ["carts"]
                right = right and world.execute("ListTables") == {"TableNames": ["carts"]}
                try:
                    Server(in_process=True)
                except StartError as error:
                    right = right and "before fork()" in str(error)
                    status = 0 if right else 1
                server.close()
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert world.clock.now() == now


def test_a_process_that_was_forked_from_a_servers_process_can_exit(server):
    """C's exit() runs destructors, and the destructor of RocksDB's timer would wait for a thread that exists only in the
    parent process."""
    program = """
import os, sys
from mayfly import Server
server = Server(in_process=True)
pid = os.fork()
if pid == 0:
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), server.world().execute("ListTables"))
"""
    done = python(program)
    assert (done.stdout, done.returncode) == ("7 {'TableNames': []}\n", 0)


def _tables(url: str) -> str:
    with Server(url=url) as server, server.world() as world:
        world.create_table("carts")
        return world.execute("ListTables")["TableNames"][0]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing_workers_can_use_the_endpoint(server, method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(_tables, [server.url] * 4) == ["carts"] * 4


@pytest.mark.parametrize("end", ["", "import sys; sys.exit(3)", "raise SystemExit(3)", "import os; os._exit(3)", "1 / 0"])
def test_the_interpreter_can_exit_while_a_call_is_blocked(end):
    program = f"""
import threading
from mayfly import Server
server = Server(in_process=True)
world = server.world()
world.create_table("carts")
threading.Thread(target=lambda: world.wait_for("carts", {{"id": "1"}}, timeout=600), daemon=True).start()
{end}
"""
    done = python(program)
    assert done.returncode == {"": 0, "1 / 0": 1}.get(end, 3)


def test_sigkill_sigterm_and_sigint_end_a_process_with_a_server():
    program = "import sys; from mayfly import Server; s = Server(in_process=True); print(s.url, flush=True); sys.stdin.read()"
    for signal_number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        with subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as child:
            assert child.stdout.readline().startswith("http://127.0.0.1:")
            child.send_signal(signal_number)
            assert child.wait(30) == -signal_number


def test_a_signal_handler_can_interrupt_a_wait():
    program = """
import signal
from mayfly import Server
server = Server(in_process=True)
world = server.world()
world.create_table("carts")
signal.setitimer(signal.ITIMER_REAL, 0.3)
def interrupt(*_): raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
try:
    world.wait_for("carts", {"id": "1"}, timeout=600)
except KeyboardInterrupt:
    print("interrupted", world.execute("ListTables")["TableNames"])
"""
    assert python(program).stdout == "interrupted ['carts']\n"


def test_two_servers_in_a_process_are_separate(server):
    with Server(in_process=True) as other:
        world = World(server, "000000000042")
        world.create_table("carts")
        assert World(other, "000000000042").execute("ListTables") == {"TableNames": []}
        world.close()


def test_an_async_server_can_run_in_the_tests_process():
    async def steps():
        async with AsyncServer(in_process=True) as server, server.world() as world:
            await world.create_table("carts", ttl="ttl")
            began = await world.clock.freeze()
            ttl = {"N": str(await world.clock.epoch_seconds(60))}
            await (await world.dynamodb()).put_item(TableName="carts", Item={"id": {"S": "1"}, "ttl": ttl})
            waiting = asyncio.create_task(world.wait_for("carts", {"id": "1"}, "REMOVE", timeout=600))
            await world.clock.advance(120)
            record = await world.wait_for("carts", {"id": "1"}, "REMOVE", since=began)
            waiting.cancel()
            return record.old_image["id"], await world.execute("Scan", TableName="carts", Select="COUNT")

    removed, scanned = asyncio.run(steps())
    assert (removed, scanned["Count"]) == ("1", 0)


# --- pytest

USES = """
import os, pathlib, pytest

@pytest.mark.parametrize("n", range(8))
def test_one(mayfly, n):
    mayfly.clock.freeze(f"{2031 + n}-01-01T00:00:00Z")
    mayfly.create_table("carts", ttl="ttl")
    mayfly.resource.Table("carts").put_item(Item={"id": "1", "ttl": mayfly.clock.epoch_seconds(60)})
    assert mayfly.clock.advance(minutes=2).expired == 1
    assert mayfly.server.pid is None and mayfly.server.ended is None
    pathlib.Path(f"in-{os.getpid()}").touch()
"""


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize("how", ["option", "configuration"])
def test_pytest_can_run_the_server_inside_the_pytest_process(pytester, how, workers):
    pytester.makepyfile(USES)
    if how == "configuration":
        pytester.makeini("[pytest]\nmayfly_in_process = true\nmayfly_args = --stream-shards 2")
    options = ["--mayfly-in-process"] if how == "option" else []
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-n", workers, *options, timeout=60)
    result.assert_outcomes(passed=8)
    assert len(list(pytester.path.glob("in-*"))) == max(int(workers), 1)


def test_a_url_from_an_option_or_variable_overrides_mayfly_in_process_in_the_configuration(pytester, monkeypatch, server):
    pytester.makepyfile(f"def test_one(mayfly): assert mayfly.url == {server.url!r}")
    pytester.makeini("[pytest]\nmayfly_in_process = true")
    options = ("-p", "no:cacheprovider")
    pytester.runpytest_subprocess(*options, "--mayfly-url", server.url, timeout=60).assert_outcomes(passed=1)
    monkeypatch.setenv("MAYFLY_URL", server.url)
    pytester.runpytest_subprocess(*options, timeout=60).assert_outcomes(passed=1)
    result = pytester.runpytest_subprocess(*options, "--mayfly-in-process", "--mayfly-url", server.url, timeout=60)
    assert "--mayfly-in-process cannot be combined with --mayfly-url or --mayfly-binary" in result.stderr.str()


def test_a_check_handler_receives_the_expression_the_file_and_the_line_until_it_is_removed():
    told = []
    library = _library.find_library()
    set_check_handler(lambda *about: told.append(about))
    library.check_handler(b"a == b", b"engine/some.cc", 7, None)  # calls the handler as the library does
    assert told == [("a == b", "engine/some.cc", 7)]
    set_check_handler(None)
    assert not library.check_handler
