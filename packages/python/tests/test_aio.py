from __future__ import annotations

import asyncio
import datetime
import functools
import json
import os
import socket
from datetime import timezone

import pytest
from conftest import DIED_KILLED, ENVIRONMENT_THAT_MISLEADS, is_there, kill

from mayfly import BinaryError, ControlError, EndedError, Fault, MayflyError, Server, WaitError
from mayfly.aio import AsyncServer, AsyncWorld

Y2031 = datetime.datetime(2031, 1, 1, tzinfo=timezone.utc)


def awaited(test):
    """Runs a coroutine test in a new event loop."""

    @functools.wraps(test)
    def run(*args, **kwargs):
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), 60))

    return run


@awaited
async def test_an_async_server_starts_and_ends():
    async with AsyncServer() as server:
        pid = server.server.pid
        assert is_there(pid)
        assert server.version.count(".") == 2
    assert not is_there(pid)
    assert "keeps everything in memory" in server.log()  # the log is complete after the server's end


def test_using_an_async_server_before_its_start_raises_an_error():
    with pytest.raises(RuntimeError, match="^the server is not started: use `async with "):
        AsyncServer().world()


@awaited
async def test_starting_an_async_server_without_a_program_raises_an_error(tmp_path):
    with pytest.raises(BinaryError):
        await AsyncServer(tmp_path / "none").start()


@awaited
async def test_an_expiry_can_be_awaited(mayfly_server):
    async with AsyncServer.of(mayfly_server).world() as world:
        assert await world.clock.freeze(Y2031) == Y2031
        await world.create_table("carts", ttl="ttl")
        dynamodb = await world.dynamodb()
        assert dynamodb is await world.dynamodb()
        ttl = {"N": str(await world.clock.epoch_seconds(60))}
        await dynamodb.put_item(TableName="carts", Item={"id": {"S": "1"}, "ttl": ttl})
        assert (await world.explain("carts", {"id": "1"})).reason == "not_due"
        waiting = asyncio.create_task(world.wait_for("carts", {"id": "1"}, "REMOVE", since=Y2031))
        assert (await world.clock.advance(minutes=2)).tables == {"carts": 1}
        assert (await waiting).by == "service"
        assert len((await (await world.streams()).list_streams())["Streams"]) == 1
    assert mayfly_server.ended is None


@awaited
async def test_many_waits_run_at_once_and_one_can_be_canceled(mayfly):
    async with AsyncWorld.of(mayfly) as world:
        await world.create_table("carts")
        waiting = [asyncio.create_task(world.wait_for("carts", {"id": str(i)}, timeout=60)) for i in range(60)]
        waiting[0].cancel()
        client = await world.dynamodb()
        while not all(task.done() for task in waiting):  # a wait misses changes that happen before its request arrives
            for i in range(1, 60):
                if not waiting[i].done():
                    await client.put_item(TableName="carts", Item={"id": {"S": str(i)}, "n": {"N": str(os.urandom(1)[0])}})
        assert waiting[0].cancelled()
        assert {(await task).keys["id"] for task in waiting[1:]} == {str(i) for i in range(1, 60)}


@awaited
async def test_closing_an_async_world_that_shares_a_world_leaves_the_world_unchanged(mayfly):
    async with AsyncWorld.of(mayfly) as world:
        await world.clock.freeze(Y2031)
        await world.create_table("carts")
        assert (world.account, world.environment, world.region) == (mayfly.account, mayfly.environment, "us-east-1")
    assert mayfly.clock.now() == Y2031
    assert mayfly.dynamodb.list_tables()["TableNames"] == ["carts"]


@awaited
async def test_closing_a_world_deletes_its_tables_and_functions(mayfly_server):
    async with AsyncServer.of(mayfly_server).world() as world:
        await world.create_table("carts")
        await world.function("one", "http://127.0.0.1:1/")
    again = AsyncWorld(AsyncServer.of(mayfly_server), world.account)
    assert await again.functions() == []
    assert (await (await again.dynamodb()).list_tables())["TableNames"] == []
    await again.close()


@awaited
async def test_clients_ignore_the_users_aws_configuration(mayfly, monkeypatch):
    for name, value in ENVIRONMENT_THAT_MISLEADS.items():
        monkeypatch.setenv(name, value)
    async with AsyncWorld.of(mayfly) as world:
        assert (await (await world.dynamodb()).list_tables())["TableNames"] == []


@awaited
async def test_functions_can_be_coroutines(mayfly):
    calls = []

    async def one(event, context):
        await asyncio.sleep(0)
        calls.append(context.function_name)

    async with AsyncWorld.of(mayfly) as world:
        await world.create_table("carts")
        await world.function("one", one)
        await world.function("two", lambda event: calls.append("two"))
        await world.trigger("carts", "one")
        await world.trigger("carts", "two")
        await (await world.dynamodb()).put_item(TableName="carts", Item={"id": {"S": "1"}})
        assert (await world.clock.advance(1, settle=True)).settled
        assert sorted(calls) == ["one", "two"]
        client = await world.client("lambda")
        answer = await client.invoke(FunctionName="two", Payload=b"{}")
        assert json.loads(await answer["Payload"].read()) is None
        await client.close()


@awaited
async def test_an_async_world_has_snapshots_ttl_modes_faults_and_clock_modes(mayfly):
    async with AsyncWorld.of(mayfly) as world:
        await world.clock.freeze(Y2031)
        await world.create_table("carts", ttl="ttl")
        client = await world.dynamodb()
        await client.put_item(TableName="carts", Item={"id": {"S": "1"}, "ttl": {"N": "1924992060"}})
        snapshot = await world.snapshot()
        assert (await world.clock.advance_to_next_expiry()).expired == 1
        await snapshot.restore()
        assert await world.clock.now() == Y2031
        assert [each.id for each in await world.snapshots()] == [snapshot.id]
        await snapshot.delete()

        await world.ttl("carts").manual()
        assert (await world.clock.advance_to("2031-01-02T00:00:00Z")).expired == 0
        assert (await world.ttl("carts").status()).due == 1
        assert [each.key for each in await world.ttl("carts").upcoming()] == [{"id": "1"}]
        assert await world.ttl("carts").sweep() == 1
        await world.ttl("carts").aws(seed=2)
        await world.ttl("carts").exact()

        await world.faults(Fault("internal_server_error", operation="ListTables", count=1))
        await client.list_tables()
        assert (await world.fault_counts())[0].struck == 1
        await world.clear_faults()
        assert await world.control("GET", "/jobs") == {"jobs": []}
        await world.clock.rate(2)
        await world.clock.run()
        await world.reset()
        await world.clock.real()
        await world.clock.set(Y2031)


@awaited
async def test_a_failpoint_can_be_awaited(mayfly):
    async with AsyncWorld.of(mayfly) as world:
        await world.clock.freeze(Y2031)
        await world.create_table("carts", ttl="ttl")
        client = await world.dynamodb()
        await client.put_item(TableName="carts", Item={"id": {"S": "1"}, "ttl": {"N": "1924992060"}})
        async with await world.failpoint("carts", {"id": "1"}) as point:
            with pytest.raises(WaitError):
                await point.wait_reached(0.01)
            advanced = asyncio.create_task(world.clock.advance(hours=1))
            await point.wait_reached()
            await client.put_item(TableName="carts", Item={"id": {"S": "1"}})
        assert (await advanced).expired == 0
        await world.release_failpoints()


def test_the_programs_clock_follows_the_clock_of_an_async_world(mayfly):
    async def steps():
        async with AsyncWorld.of(mayfly) as world:
            await world.clock.freeze(Y2031, follow=True)
            await world.clock.advance(hours=1)
            assert datetime.datetime.now(timezone.utc) == Y2031 + datetime.timedelta(hours=1)
            world.clock.unfollow()
            assert datetime.datetime.now(timezone.utc) < Y2031

    asyncio.run(steps())  # no time-out applies, because the event loop's clock may move too


@awaited
async def test_an_async_world_raises_the_same_errors_as_a_synchronous_world(mayfly):
    async with AsyncWorld.of(mayfly) as world:
        with pytest.raises(ControlError, match="There is no table 'none'"):
            await world.ttl("none").status()
        await world.create_table("carts")
        with pytest.raises(WaitError):
            await world.wait_for("carts", {"id": "1"}, timeout=0.01)
        with pytest.raises(TypeError, match="^ttl must be the name of an attribute, got 5\\.$"):
            await world.create_table("others", ttl=5)
        with pytest.raises(TypeError, match="^A time span must be a timedelta or a number of seconds, got '1h'\\."):
            await world.clock.epoch_seconds("1h")
        assert (await world.execute("ListTables"))["TableNames"] == ["carts"]


@awaited
async def test_the_error_of_a_call_to_a_dead_server_says_how_the_server_died():
    async with AsyncServer() as server, server.world() as world:
        kill(server.server.pid)
        client = await world.dynamodb()
        with pytest.raises(
            EndedError, match=f"^Mayfly's server {DIED_KILLED} before it answered GET /_mayfly/clock\\."
        ):
            await world.clock.now()
        with pytest.raises(EndedError, match=f"^Mayfly's server {DIED_KILLED} before it answered ListTables\\."):
            await client.list_tables()
        async with server.world() as fresh:
            assert await fresh.execute("ListTables") == {"TableNames": []}


@awaited
async def test_an_async_server_reports_a_url_where_no_server_answers():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(MayflyError, match=f"^no Mayfly server answers at http://127.0.0.1:{port} "):
        async with AsyncServer(url=f"http://127.0.0.1:{port}"):
            pass


def test_an_async_server_can_wrap_a_synchronous_one():
    with Server() as server:
        assert AsyncServer.of(server).url == server.url
