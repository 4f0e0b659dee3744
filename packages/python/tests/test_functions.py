from __future__ import annotations

import json
import sys
import threading

import pytest

from mayfly import HandlerError, MayflyError, Server, World
from mayfly._handlers import FAILURES_MAX


@pytest.fixture
def carts(mayfly):
    mayfly.clock.freeze("2031-01-01T00:00:00Z")
    mayfly.create_table("carts", key="id", ttl="ttl")
    return mayfly.resource.Table("carts")


def test_a_function_receives_the_event_and_a_context(mayfly, carts):
    calls = []
    mayfly.function("one", lambda event, context: calls.append((event, context)))
    assert len(mayfly.trigger("carts", "one", BatchSize=10)) == 36
    carts.put_item(Item={"id": "1"})
    advanced = mayfly.clock.advance(1, settle=True)
    assert (advanced.settled, advanced.unfinished) == (True, ())
    ((event, context),) = calls
    assert event["Records"][0]["dynamodb"]["Keys"] == {"id": {"S": "1"}}
    assert context.function_name == "one"


@pytest.mark.parametrize("name", ["takes_an_event", "takes_more_that_has_defaults"])
def test_a_function_can_take_only_the_event(mayfly, name):
    def takes_an_event(event):
        return event["n"] + 1

    def takes_more_that_has_defaults(event, table="carts"):
        return event["n"] + 1 if table == "carts" else None

    mayfly.function("add", locals()[name])
    answer = mayfly.client("lambda").invoke(FunctionName="add", Payload=b'{"n": 1}')
    assert json.load(answer["Payload"]) == 2


def test_an_exception_in_a_handler_fails_the_invocation(mayfly, carts):
    tries = []

    def fails_twice(event):
        tries.append(len(event["Records"]))
        if len(tries) < 3:
            raise ValueError("not yet")

    mayfly.function("fails", fails_twice, may_fail=True)
    mayfly.trigger("carts", "fails", MaximumRetryAttempts=5)
    carts.put_item(Item={"id": "1"})
    assert mayfly.clock.advance(1, settle=True).settled
    assert tries == [1, 1, 1]


def test_a_failed_invocation_returns_the_exceptions_type_and_message(mayfly):
    def fails(event):
        raise ValueError("no")

    mayfly.function("fails", fails, may_fail=True)
    answer = mayfly.client("lambda").invoke(FunctionName="fails", Payload=b"{}")
    assert answer["FunctionError"] == "Unhandled"
    assert json.load(answer["Payload"]) == {"errorType": "ValueError", "errorMessage": "no"}


def test_a_result_that_is_not_json_fails_the_invocation(mayfly):
    mayfly.function("odd", lambda event: object(), may_fail=True)
    answer = mayfly.client("lambda").invoke(FunctionName="odd", Payload=b"{}")
    assert json.load(answer["Payload"]) == {
        "errorType": "TypeError",
        "errorMessage": "the result of function 'odd' has type object and cannot be encoded as JSON: "
        "Object of type object is not JSON serializable",
    }


def test_invocations_of_a_function_run_concurrently(mayfly):
    together = threading.Barrier(2)
    mayfly.function("meet", lambda event: together.wait(10))
    invoke = mayfly.client("lambda").invoke
    threads = [threading.Thread(target=invoke, kwargs={"FunctionName": "meet", "Payload": b"{}"}) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not together.broken


def test_functions_are_listed_and_removed(mayfly):
    mayfly.function("elsewhere", "http://127.0.0.1:9/x", timeout=3)
    registered = {function.name: function for function in mayfly.functions()}
    assert registered["elsewhere"].timeout_seconds == 3
    mayfly.remove_function("elsewhere")
    assert "elsewhere" not in {function.name for function in mayfly.functions()}


def test_a_trigger_needs_a_stream(mayfly):
    mayfly.create_table("carts", stream=False)
    with pytest.raises(MayflyError) as error:
        mayfly.trigger("carts", "one")
    assert str(error.value) == "the table 'carts' has no stream: create it with stream=True"


def fails(event):
    raise ValueError("no")


def test_a_settle_does_not_raise_failures_of_a_function_that_may_fail(mayfly, carts, capfd):
    mayfly.function("fails", fails, may_fail=True)
    mayfly.trigger("carts", "fails", MaximumRetryAttempts=1)
    carts.put_item(Item={"id": "1"})
    settled = mayfly.settle()
    assert settled.settled is False
    (given_up,) = settled.given_up
    assert (given_up["function"], given_up["table"], given_up["attempts"]) == ("fails", "carts", 2)
    assert given_up["condition"] == "RetryAttemptsExhausted"
    assert (given_up["error"]["type"], given_up["error"]["message"]) == ("ValueError", "no")
    assert given_up["records"][0]["key"] == {"id": {"S": "1"}}
    assert [str(each) for each in mayfly.handler_failures()] == ["fails: ValueError: no"] * 2
    assert mayfly.handler_failures()[0].event["Records"][0]["eventName"] == "INSERT"
    assert "ValueError" not in capfd.readouterr().err
    assert mayfly.settle().settled is True


def test_a_settle_raises_a_failure_of_a_function_at_a_url(mayfly, carts):
    mayfly.function("elsewhere", "http://127.0.0.1:9/x")
    mayfly.trigger("carts", "elsewhere", MaximumRetryAttempts=1)
    carts.put_item(Item={"id": "1"})
    with pytest.raises(HandlerError) as error:
        mayfly.settle()
    assert str(error.value) == (
        "Function elsewhere failed on table carts: Mayfly gave up 1 record after 2 attempts (RetryAttemptsExhausted). Its "
        "last error was http://127.0.0.1:9/x failed: Connection refused. If the test expects this, register the function "
        "with may_fail=True."
    )
    assert (error.value.failures, error.value.__cause__) == ((), None)
    assert error.value.advanced.given_up[0]["function"] == "elsewhere"


def test_a_settle_does_not_wait_for_a_function_that_keeps_failing(mayfly, carts):
    mayfly.function("fails", fails)
    mayfly.trigger("carts", "fails")
    carts.put_item(Item={"id": "1"})
    with pytest.raises(HandlerError) as error:
        mayfly.clock.advance(hours=1, settle=600)
    assert str(error.value) == (
        "Function fails keeps failing on table carts: 3 attempts for 1 record so far. Its last error was ValueError: no. If "
        "the test expects this, register the function with may_fail=True."
    )
    assert [type(each.error) for each in error.value.failures] == [ValueError] * 3


def test_a_handler_error_names_every_failed_function(mayfly):
    mayfly.function("one", fails)
    mayfly.function("two", lambda event: event["none"])
    for name in ("one", "two", "two"):
        mayfly.client("lambda").invoke(FunctionName=name, Payload=b"{}")
    with pytest.raises(HandlerError) as error:
        mayfly.settle()
    assert str(error.value) == (
        "Function one failed 1 time. Its last error was ValueError: no. Function two failed 2 times. Its last error was "
        "KeyError: 'none'. If the test expects this, register these functions with may_fail=True."
    )
    assert isinstance(error.value.__cause__, ValueError)
    assert mayfly.settle().settled


def test_registering_a_function_again_resets_may_fail(mayfly):
    mayfly.function("one", fails, may_fail=True)
    mayfly.client("lambda").invoke(FunctionName="one", Payload=b"{}")
    assert mayfly.settle().settled
    mayfly.function("one", fails)
    mayfly.client("lambda").invoke(FunctionName="one", Payload=b"{}")
    with pytest.raises(HandlerError, match="^Function one failed 1 time"):
        mayfly.settle()


def test_pytest_fail_and_sys_exit_in_a_handler_fail_the_invocation(mayfly):
    for name, handler in (("skips", lambda event: pytest.fail("here")), ("exits", lambda event: sys.exit(3))):
        mayfly.function(name, handler)
        answer = mayfly.client("lambda").invoke(FunctionName=name, Payload=b"{}")
        assert answer["FunctionError"] == "Unhandled"
    with pytest.raises(HandlerError, match="was Failed: here.*was SystemExit: 3"):
        mayfly.settle()


def test_a_settle_raises_an_error_if_a_triggers_function_is_not_registered(mayfly, carts):
    mayfly.function("reminder", lambda event: None)
    mayfly.trigger("carts", "remindr")
    assert mayfly.settle().settled  # there are no records yet
    carts.put_item(Item={"id": "1"})
    with pytest.raises(HandlerError) as error:
        mayfly.settle()
    assert str(error.value) == (
        "Function remindr is not registered, but a trigger of table carts has records for it. Register the function, or "
        "correct the trigger's function name."
    )
    mayfly.function("remindr", lambda event: None)
    assert mayfly.settle().settled


RUNTIME = """
import json, os, urllib.request
api = f"http://{os.environ['AWS_LAMBDA_RUNTIME_API']}/2018-06-01/runtime/invocation"
while True:
    with urllib.request.urlopen(f"{api}/next") as answer:
        request, event = answer.headers["Lambda-Runtime-Aws-Request-Id"], json.load(answer)
    keys = [record["dynamodb"]["Keys"]["id"]["S"] for record in event["Records"]]
    with open(os.environ["SEEN"], "a") as seen:
        seen.write(f"{os.environ['AWS_ACCESS_KEY_ID']} {keys}\\n")
    urllib.request.urlopen(f"{api}/{request}/response", b"null")
"""


def test_a_function_that_the_server_runs_receives_the_records_of_each_world(tmp_path):
    program, seen = tmp_path / "bootstrap.py", tmp_path / "seen"
    program.write_text(RUNTIME)
    words = " ".join(f"'{word}'" for word in (sys.executable, str(program)))
    with Server(args=["--function", f"reminder=exec:{words}", "--function-env", f"SEEN={seen}"]) as server:
        for _ in range(2):
            with server.world() as world:
                world.create_table("carts", key="id")
                world.trigger("carts", "reminder")
                world.resource.Table("carts").put_item(Item={"id": "1"})
                assert world.settle().settled
                assert f"{world.account} ['1']" in seen.read_text().splitlines()


def test_closing_a_world_delivers_the_remaining_records(mayfly_server):
    world = mayfly_server.world()
    world.create_table("carts", key="id")
    world.function("one", fails)
    world.trigger("carts", "one", MaximumBatchingWindowInSeconds=300, MaximumRetryAttempts=0)
    world.resource.Table("carts").put_item(Item={"id": "1"})
    with pytest.raises(HandlerError, match="^Function one failed 1 time"):
        world.close()


def test_closing_a_world_raises_failures_that_no_settle_has_raised(mayfly_server):
    world = mayfly_server.world()
    world.function("one", fails)
    world.client("lambda").invoke(FunctionName="one", Payload=b"{}")
    with pytest.raises(HandlerError, match="^Function one failed 1 time"):
        world.close()
    world.close()
    again = World(mayfly_server, world.account)
    assert again.functions() == []
    failing = mayfly_server.world()
    failing.function("one", fails)
    failing.client("lambda").invoke(FunctionName="one", Payload=b"{}")
    with pytest.raises(KeyError), failing:
        raise KeyError("the test's own")


def test_a_world_keeps_a_limited_number_of_handler_failures(mayfly):
    mayfly.function("one", fails)
    invoke = mayfly.client("lambda").invoke
    for _ in range(FAILURES_MAX + 5):
        invoke(FunctionName="one", Payload=b"{}")
    assert len(mayfly.handler_failures()) == FAILURES_MAX
    with pytest.raises(HandlerError, match=f"^Function one failed {FAILURES_MAX} times"):
        mayfly.settle()


def test_a_handler_error_shortens_long_error_messages(mayfly):
    def verbose(event):
        raise ValueError("\x1b[31mone\t" + "x" * 10_000 + "\n  two")

    mayfly.function("one", verbose)
    mayfly.client("lambda").invoke(FunctionName="one", Payload=b"{}")
    with pytest.raises(HandlerError) as error:
        mayfly.settle()
    assert "was ValueError: [31monexxx" in str(error.value)
    assert len(str(error.value)) < 500
