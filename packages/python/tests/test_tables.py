from __future__ import annotations

import asyncio

import pytest

from mayfly import Index, World
from mayfly.aio import AsyncWorld

INDEXES = [
    Index("by_owner", key="owner", sort=("at", "N"), projection=["name", "size"]),
    Index("by_kind", key=("kind", "B"), projection="KEYS_ONLY"),
    Index("by_size", sort=("size", "N"), local=True),
]


def check(table: dict) -> None:
    assert [key["AttributeName"] for key in table["KeySchema"]] == ["place", "at"]
    types = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    assert types == {"place": "S", "at": "N", "owner": "S", "kind": "B", "size": "N"}
    owner, kind = sorted(table["GlobalSecondaryIndexes"], key=lambda each: each["IndexName"], reverse=True)
    assert [(each["AttributeName"], each["KeyType"]) for each in owner["KeySchema"]] == [("owner", "HASH"), ("at", "RANGE")]
    assert owner["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["name", "size"]}
    assert kind["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    (local,) = table["LocalSecondaryIndexes"]
    assert [each["AttributeName"] for each in local["KeySchema"]] == ["place", "size"]
    assert local["Projection"] == {"ProjectionType": "ALL"}
    assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


def test_a_table_has_the_requested_keys_indexes_stream_and_ttl(mayfly):
    created = mayfly.create_table("things", key="place", sort=("at", "N"), ttl="until", stream="KEYS_ONLY", indexes=INDEXES)
    check(created)
    check(mayfly.dynamodb.describe_table(TableName="things")["Table"])
    assert mayfly.ttl("things").status().attribute == "until"


def test_an_async_world_creates_the_same_table(mayfly):
    async def steps():
        async with AsyncWorld.of(mayfly) as world:
            check(await world.create_table("things", key="place", sort=("at", "N"), stream="KEYS_ONLY", indexes=INDEXES))

    asyncio.run(steps())


def test_a_stream_is_enabled_by_default(mayfly):
    assert mayfly.create_table("carts")["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    assert "StreamSpecification" not in mayfly.create_table("others", stream=False)


def test_further_members_of_create_table_are_merged_into_the_request(mayfly):
    table = mayfly.create_table(
        "carts",
        indexes=[Index("by_owner", key="owner")],
        Tags=[{"Key": "team", "Value": "shop"}],
        DeletionProtectionEnabled=True,
        AttributeDefinitions=[
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "at", "AttributeType": "N"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by_time",
                "KeySchema": [{"AttributeName": "at", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    assert {each["IndexName"] for each in table["GlobalSecondaryIndexes"]} == {"by_owner", "by_time"}
    assert len(table["AttributeDefinitions"]) == 3
    assert table["DeletionProtectionEnabled"]
    assert mayfly.dynamodb.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"] == [{"Key": "team", "Value": "shop"}]
    provisioned = mayfly.create_table("others", ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 6})
    assert provisioned["ProvisionedThroughput"]["WriteCapacityUnits"] == 6
    mayfly.dynamodb.update_table(TableName="carts", DeletionProtectionEnabled=False)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (
            {"sort": ("at", "N"), "indexes": [Index("by_time", key="at")]},
            ValueError,
            """The attribute 'at' has the type "N" in the table 'carts' and "S" in the index 'by_time'. Give it one type """
            """everywhere; a name alone has the type "S", and ('at', "N") makes it a number.""",
        ),
        (
            {"key": ("id", "X")},
            ValueError,
            """The type of 'id' in the table 'carts' must be "S", "N" or "B", got 'X'.""",
        ),
        (
            {"stream": "NEW"},
            ValueError,
            "stream must be True, False or one of KEYS_ONLY, NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, got 'NEW'.",
        ),
        (
            {"strem": False},
            TypeError,
            "create_table() got an unexpected argument 'strem'. Further arguments are members of CreateTable, such as "
            "Tags=[…].",
        ),
        (
            {"key": ("id", "N", "S")},
            TypeError,
            'A key attribute of the table \'carts\' must be a name, or a name and a type such as ("year", "N"), got '
            "('id', 'N', 'S').",
        ),
        (
            {"sort": 5},
            TypeError,
            'A key attribute of the table \'carts\' must be a name, or a name and a type such as ("year", "N"), got 5.',
        ),
        ({"ttl": 5}, TypeError, "ttl must be the name of an attribute, got 5."),
        ({"ttl": ""}, ValueError, "ttl must be the name of an attribute, got ''."),
        (
            {"indexes": ["owner"]},
            TypeError,
            'indexes must be a list such as [Index("by_owner", key="owner")], got \'owner\' in it.',
        ),
        (
            {"indexes": Index("by_owner", key="owner")},
            TypeError,
            'indexes must be a list such as [Index("by_owner", key="owner")], got one index: put it into [ ].',
        ),
    ],
)
def test_create_table_rejects_invalid_arguments_before_any_request(mayfly, monkeypatch, arguments, kind, message):
    monkeypatch.setattr(World, "run", lambda *_: pytest.fail("a request was sent"))
    with pytest.raises(kind) as error:
        mayfly.create_table("carts", **arguments)
    monkeypatch.undo()
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "The global index 'by_at' needs a partition key: add key=…, or local=True."),
        ({"local": True}, "The local index 'by_at' needs a sort key: add sort=…."),
        (
            {"local": True, "sort": "at", "key": "id"},
            "The local index 'by_at' has the table's partition key: remove key='id'.",
        ),
        (
            {"key": "at", "projection": "INCLUDE"},
            "The projection of the index 'by_at' must be \"ALL\", \"KEYS_ONLY\" or a list of attribute names, got 'INCLUDE'.",
        ),
        (
            {"key": "at", "projection": []},
            'The projection of the index \'by_at\' must be "ALL", "KEYS_ONLY" or a list of attribute names, got [].',
        ),
    ],
)
def test_an_invalid_index_is_rejected(arguments, message):
    with pytest.raises(ValueError) as error:
        Index("by_at", **arguments)
    assert str(error.value) == message
