from __future__ import annotations

import json
import os
import subprocess
import sys
from decimal import Decimal

import pytest
from conftest import ENVIRONMENT_THAT_MISLEADS, await_log

from mayfly import ControlError, Fault, MayflyError, Server, WaitError, World


@pytest.fixture
def carts(mayfly):
    """A table in a world with a frozen clock."""
    mayfly.clock.freeze("2031-01-01T00:00:00Z")
    mayfly.create_table("carts", key="id", ttl="ttl")
    return mayfly.resource.Table("carts")


def test_an_account_is_twelve_digits_and_does_not_start_with_0(mayfly_server):
    accounts = [mayfly_server.world().account for _ in range(200)]
    assert len(set(accounts)) == 200
    assert all(len(account) == 12 and account.isdigit() and account[0] != "0" for account in accounts)


def test_worlds_have_separate_tables_and_clocks(mayfly_server):
    with mayfly_server.world() as one, mayfly_server.world() as other:
        one.clock.freeze("2031-01-01T00:00:00Z")
        one.create_table("carts")
        assert one.dynamodb.list_tables()["TableNames"] == ["carts"]
        assert other.dynamodb.list_tables()["TableNames"] == []
        assert other.clock.read().mode == "real"


def test_closing_a_world_deletes_its_tables_and_functions(mayfly_server):
    with mayfly_server.world() as world:
        world.create_table("carts")
        world.function("one", "http://127.0.0.1:1/")
        account = world.account
    with World(mayfly_server, account) as again:
        assert again.dynamodb.list_tables()["TableNames"] == []
        assert again.functions() == []


def test_clients_ignore_the_users_aws_configuration(mayfly_server, monkeypatch, tmp_path):
    for name, value in ENVIRONMENT_THAT_MISLEADS.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "config").write_text("[default]\nregion = mars-north-1\n[broken")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    with mayfly_server.world() as world:
        for client in (world.dynamodb, world.streams, world.resource.meta.client, world.client("lambda")):
            assert client.meta.region_name == "us-east-1"
            assert client.meta.endpoint_url == world.url
        world.create_table("carts")
        assert world.dynamodb.list_tables()["TableNames"] == ["carts"]
        assert len(world.streams.list_streams(TableName="carts")["Streams"]) == 1


def test_a_world_creates_each_client_only_once(mayfly):
    assert mayfly.dynamodb is mayfly.dynamodb
    assert mayfly.resource is mayfly.resource


def test_a_client_uses_the_callers_config(mayfly):
    from botocore.config import Config

    client = mayfly.client("dynamodb", config=Config(retries={"total_max_attempts": 1}))
    mayfly.faults(Fault("internal_server_error"))
    with pytest.raises(client.exceptions.InternalServerError):
        client.list_tables()
    assert mayfly.fault_counts()[0].struck == 1


def test_a_child_process_uses_the_world_through_environment_variables(mayfly):
    mayfly.create_table("carts")
    program = "import boto3, os; print(boto3.client('dynamodb').list_tables()['TableNames'], os.environ['MAYFLY_ACCOUNT'])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **mayfly.environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert done.stdout == f"['carts'] {mayfly.account}\n"


def test_a_table_can_have_a_sort_key_and_no_stream(mayfly):
    mayfly.create_table("measures", key="place", sort=("at", "N"), stream=False)
    table = mayfly.dynamodb.describe_table(TableName="measures")["Table"]
    assert [key["AttributeName"] for key in table["KeySchema"]] == ["place", "at"]
    assert {"AttributeName": "at", "AttributeType": "N"} in table["AttributeDefinitions"]
    assert "LatestStreamArn" not in table


def test_wait_for_returns_the_record_of_a_change(mayfly, carts):
    began = mayfly.clock.now()
    carts.put_item(Item={"id": "1", "n": 7, "ttl": mayfly.clock.epoch_seconds(60)})
    inserted = mayfly.wait_for("carts", {"id": "1"}, since=began)
    assert (inserted.event, inserted.by, inserted.old_image) == ("INSERT", "user", None)
    assert inserted.new_image["n"] == Decimal(7)
    mayfly.clock.advance(minutes=2)
    removed = mayfly.wait_for("carts", {"id": {"S": "1"}}, "REMOVE", by="service", since=began)
    assert removed.keys == {"id": "1"}
    assert removed.raw["userIdentity"]["PrincipalId" if "PrincipalId" in removed.raw["userIdentity"] else "principalId"] == (
        "dynamodb.amazonaws.com"
    )
    assert int(removed.sequence_number) > int(inserted.sequence_number)


def test_a_wait_that_times_out_lists_the_items_other_changes(mayfly, carts):
    began = mayfly.clock.now()
    carts.put_item(Item={"id": "1"})
    with pytest.raises(WaitError) as error:
        mayfly.wait_for("carts", {"id": "1"}, "REMOVE", since=began, timeout=0.05)
    assert [record.event for record in error.value.records] == ["INSERT"]
    assert str(error.value).endswith(" Other changes to the item: INSERT by user.")
    assert isinstance(error.value, TimeoutError)


def test_the_error_of_a_wait_that_times_out_suggests_the_since_argument(mayfly, carts):
    carts.put_item(Item={"id": "1"})
    with pytest.raises(WaitError) as error:
        mayfly.wait_for("carts", {"id": "1"}, "INSERT", timeout=0.05)
    assert str(error.value).endswith(" Only changes after the call count; to accept earlier ones, pass since=….")


def test_a_control_error_has_a_type_a_message_and_a_status(mayfly):
    with pytest.raises(ControlError) as error:
        mayfly.wait_for("none", {"id": "1"})
    assert (error.value.type, error.value.status) == ("NotFound", 404)
    message = f"There is no table 'none' in account {mayfly.account}, region us-east-1."
    assert error.value.message == message
    assert str(error.value) == f"{message} (NotFound, HTTP status 404)"


def test_a_snapshot_restores_the_worlds_items_and_clock(mayfly, carts):
    carts.put_item(Item={"id": "1", "ttl": mayfly.clock.epoch_seconds(60)})
    snapshot = mayfly.snapshot()
    for _ in range(2):
        assert mayfly.clock.advance(hours=1).expired == 1
        snapshot.restore()
        assert carts.get_item(Key={"id": "1"})["Item"]
        assert mayfly.clock.now().hour == 0
    assert [each.id for each in mayfly.snapshots()] == [snapshot.id]
    snapshot.delete()
    assert mayfly.snapshots() == []
    with pytest.raises(ControlError):
        mayfly.restore(snapshot.id)


def test_a_reset_deletes_tables_and_resets_the_clock(mayfly, carts):
    mayfly.reset()
    assert mayfly.dynamodb.list_tables()["TableNames"] == []
    assert mayfly.clock.read().mode == "real"


def test_a_fault_rule_makes_operations_fail_and_counts_the_operations(mayfly, carts):
    mayfly.faults(Fault("throttle", operation="PutItem", table="carts", count=2))
    carts.put_item(Item={"id": "1"})  # succeeds, because the SDK retries
    (counted,) = mayfly.fault_counts()
    assert (counted.rule.fault, counted.rule.count, counted.struck) == ("throttle", 2, 2)
    mayfly.clear_faults()
    assert mayfly.fault_counts() == []


def test_a_retry_fails_its_condition_if_only_the_response_to_the_first_attempt_was_lost(mayfly, carts):
    mayfly.faults(Fault("connection_closed", operation="PutItem", applied=True, count=1))
    with pytest.raises(mayfly.dynamodb.exceptions.ConditionalCheckFailedException):
        carts.put_item(Item={"id": "lock"}, ConditionExpression="attribute_not_exists(id)")
    (counted,) = mayfly.fault_counts()
    assert (counted.rule.applied, counted.struck) == (True, 1)


def test_a_tables_ttl_mode_can_be_aws_manual_or_exact(mayfly, carts):
    ttl = mayfly.ttl("carts")
    due = mayfly.clock.epoch_seconds(60)
    ttl.aws(600, 1680, seed=3)
    carts.put_item(Item={"id": "1", "ttl": due})
    assert mayfly.clock.advance(minutes=5).expired == 0
    assert mayfly.explain("carts", {"id": "1"}).reason == "delayed"
    assert mayfly.clock.advance(minutes=30).expired == 1

    ttl.manual()
    carts.put_item(Item={"id": "2", "ttl": due})
    assert (ttl.status().mode, ttl.status().due) == ("manual", 1)
    (upcoming,) = ttl.upcoming()
    assert (upcoming.key, upcoming.expires_at) == ({"id": "2"}, None)
    assert ttl.sweep() == 1

    ttl.exact()
    carts.put_item(Item={"id": "3", "ttl": due})
    assert ttl.explain({"id": "3"}).reason == "born_expired"


def test_an_item_renewed_at_a_failpoint_survives(mayfly, carts):
    from concurrent.futures import ThreadPoolExecutor

    carts.put_item(Item={"id": "1", "ttl": mayfly.clock.epoch_seconds(60)})
    with ThreadPoolExecutor() as threads, mayfly.failpoint("carts", {"id": "1"}) as point:
        message = r"^The expiry of {'id': '1'} in carts did not reach the failpoint within 0.01 s.$"
        with pytest.raises(WaitError, match=message):
            point.wait_reached(0.01)
        advanced = threads.submit(mayfly.clock.advance, minutes=2)
        point.wait_reached()
        carts.put_item(Item={"id": "1", "ttl": mayfly.clock.epoch_seconds(3600)})
        mayfly.release_failpoints()
        assert advanced.result(30).expired == 0
        with pytest.raises(MayflyError, match="it was released, or the table was deleted"):
            point.wait_reached()
    assert carts.get_item(Key={"id": "1"})["Item"]


def test_the_method_control_can_make_any_call_to_the_control_api(mayfly, carts):
    assert mayfly.control("GET", "/jobs") == mayfly.control("GET", "jobs") == {"jobs": []}
    shards = mayfly.control("POST", "/streams/carts/split", {})["shards"]
    assert len(shards) == 3


def test_the_world_of_another_process_can_be_opened_by_its_account(mayfly):
    mayfly.create_table("carts")
    with Server(url=mayfly.url) as server:
        assert World(server, mayfly.account).dynamodb.list_tables()["TableNames"] == ["carts"]


def test_a_worlds_log_begins_when_the_world_is_created(mayfly_server):
    await_log(mayfly_server, "keeps everything in memory")
    with mayfly_server.world() as world:
        world.clock.freeze("2031-01-01T00:00:00Z")
        world.create_table("carts", ttl="ttl")
        world.clock.advance(hours=1)
        assert "keeps everything in memory" not in world.log()


def test_the_repr_of_a_world_has_its_account_and_url(mayfly):
    assert repr(mayfly) == f"<mayfly.World {mayfly.account} at {mayfly.url}>"
    assert json.dumps(mayfly.environment)
