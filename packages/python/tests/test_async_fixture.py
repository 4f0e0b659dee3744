from __future__ import annotations

import pytest

TEST = """
import pytest
from mayfly import HandlerError
from mayfly.aio import AsyncWorld

async def failing(event):
    assert len(event["Records"]) == 2

MARKS
async def test_one(mayfly, mayfly_async):
    await mayfly_async.create_table("carts", ttl="ttl")
    began = await mayfly_async.clock.freeze()
    client = await mayfly_async.dynamodb()
    ttl = {"N": str(await mayfly_async.clock.epoch_seconds(60))}
    await client.put_item(TableName="carts", Item={"id": {"S": "1"}, "ttl": ttl})
    assert (await mayfly_async.clock.advance(120)).expired == 1
    assert (await mayfly_async.wait_for("carts", {"id": "1"}, "REMOVE", since=began)).by == "service"
    assert mayfly.dynamodb.list_tables()["TableNames"] == ["carts"]

MARKS
async def test_two(mayfly_async):
    assert await mayfly_async.execute("ListTables") == {"TableNames": []}
    await mayfly_async.create_table("carts")
    await mayfly_async.function("reminder", failing)
    await mayfly_async.trigger("carts", "reminder", MaximumRetryAttempts=0)
    await mayfly_async.execute("PutItem", TableName="carts", Item={"id": {"S": "1"}})
    with pytest.raises(HandlerError, match="^Function reminder failed on table carts: Mayfly gave up 1 record") as error:
        await mayfly_async.settle()
    assert isinstance(error.value.__cause__, AssertionError)

MARKS
async def test_three(mayfly_async):
    await mayfly_async.function("reminder", failing)
    client = await mayfly_async.client("lambda")
    await client.invoke(FunctionName="reminder", Payload=b'{"Records": []}')
    await client.close()
"""


def run(pytester: pytest.Pytester, text: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(text)
    warnings = ("-W", "error::ResourceWarning", "-W", "error::pytest.PytestUnraisableExceptionWarning")
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *warnings, *arguments, timeout=300)


@pytest.mark.parametrize(
    ("marks", "arguments"),
    [
        ("@pytest.mark.asyncio", ()),
        ("@pytest.mark.asyncio", ("-p", "no:anyio")),
        ("@pytest.mark.asyncio(loop_scope='session')", ()),
        ("", ("-o", "asyncio_mode=auto")),
        ("@pytest.mark.anyio\n@pytest.mark.parametrize('anyio_backend', ['asyncio'])", ()),
        ("@pytest.mark.anyio\n@pytest.mark.parametrize('anyio_backend', ['asyncio'])", ("-p", "no:asyncio")),
        ("@pytest.mark.anyio\n@pytest.mark.parametrize('anyio_backend', [('asyncio', {'debug': True})])", ()),
    ],
)
def test_an_async_test_gets_an_async_world(pytester, marks, arguments):
    result = run(pytester, TEST.replace("MARKS", marks), *arguments)
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at teardown of test_three*",
            "E*HandlerError: Function reminder failed 1 time. Its last error was AssertionError: assert 0 == 2. If *",
        ]
    )


def test_without_an_async_plugin_the_error_says_what_to_install(pytester):
    result = run(pytester, "def test_one(mayfly_async): pass", "-p", "no:asyncio", "-p", "no:anyio")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["mayfly_async needs pytest-asyncio 0.24 or later, or anyio: pip install pytest-asyncio"])


def test_mayfly_async_rejects_any_anyio_backend_but_asyncio(pytester):
    text = """
import pytest

@pytest.fixture
def anyio_backend():
    return "trio"

@pytest.mark.anyio
async def test_one(mayfly_async):
    pass
"""
    result = run(pytester, text)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["mayfly_async needs asyncio, but this test runs on trio: use the asyncio backend"])
