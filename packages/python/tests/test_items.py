from __future__ import annotations

from decimal import Decimal

import pytest
from boto3.dynamodb.types import Binary, TypeDeserializer, TypeSerializer

from mayfly._items import from_dynamodb, to_dynamodb

VALUES = ["text", 7, Decimal("1.5"), True, None, ["a", {"b": 1}], {"c": [1, None]}, {"a"}, {1, 2}]


@pytest.mark.parametrize("value", VALUES)
def test_values_convert_to_and_from_dynamodb_json_as_in_boto3(value):
    assert to_dynamodb({"x": value})["x"].keys() == TypeSerializer().serialize(value).keys()
    assert from_dynamodb(to_dynamodb({"x": value})) == {"x": value}
    assert from_dynamodb(to_dynamodb({"x": value}))["x"] == TypeDeserializer().deserialize(TypeSerializer().serialize(value))


def test_bytes_are_base64_in_dynamodb_json():
    assert to_dynamodb({"x": b"\x00\xff"}) == to_dynamodb({"x": Binary(b"\x00\xff")}) == {"x": {"B": "AP8="}}
    assert from_dynamodb({"x": {"B": "AP8="}, "y": {"BS": ["AP8="]}}) == {"x": b"\x00\xff", "y": {b"\x00\xff"}}


def test_values_that_are_already_dynamodb_json_stay_unchanged():
    assert to_dynamodb({"id": {"S": "1"}, "n": {"N": "1"}}) == {"id": {"S": "1"}, "n": {"N": "1"}}


@pytest.mark.parametrize("value", [object(), set(), {1, "a"}, {(1,)}])
def test_a_value_that_dynamodb_cannot_store_is_rejected(value):
    with pytest.raises(TypeError, match="^DynamoDB cannot store .*: use str, numbers, "):
        to_dynamodb({"x": value})
