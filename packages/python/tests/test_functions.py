from __future__ import annotations

import json
import threading

import pytest

from mayfly import MayflyError


@pytest.fixture
def carts(mayfly):
    mayfly.clock.freeze("2031-01-01T00:00:00Z")
    mayfly.create_table("carts", key="id", ttl="ttl")
    return mayfly.resource.Table("carts")


def test_a_function_gets_the_event_and_its_context(mayfly, carts):
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
def test_a_function_may_take_the_event_alone(mayfly, name):
    def takes_an_event(event):
        return event["n"] + 1

    def takes_more_that_has_defaults(event, table="carts"):
        return event["n"] + 1 if table == "carts" else None

    mayfly.function("add", locals()[name])
    answer = mayfly.client("lambda").invoke(FunctionName="add", Payload=b'{"n": 1}')
    assert json.load(answer["Payload"]) == 2


def test_what_a_function_raises_fails_the_invocation(mayfly, carts):
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


def test_an_error_has_its_type_and_message(mayfly):
    def fails(event):
        raise ValueError("no")

    mayfly.function("fails", fails, may_fail=True)
    answer = mayfly.client("lambda").invoke(FunctionName="fails", Payload=b"{}")
    assert answer["FunctionError"] == "Unhandled"
    assert json.load(answer["Payload"]) == {"errorType": "ValueError", "errorMessage": "no"}


def test_what_cannot_be_json_fails_the_invocation(mayfly):
    mayfly.function("odd", lambda event: object(), may_fail=True)
    answer = mayfly.client("lambda").invoke(FunctionName="odd", Payload=b"{}")
    assert json.load(answer["Payload"]) == {
        "errorType": "TypeError",
        "errorMessage": "the function 'odd' returned a object that cannot be encoded as JSON: "
        "Object of type object is not JSON serializable",
    }


def test_calls_run_at_once(mayfly):
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


def test_a_table_without_a_stream_triggers_nothing(mayfly):
    mayfly.create_table("carts", stream=False)
    with pytest.raises(MayflyError) as error:
        mayfly.trigger("carts", "one")
    assert str(error.value) == "the table 'carts' has no stream: create it with stream=True"
