from __future__ import annotations

from decimal import Decimal

import pytest
from boto3.dynamodb.types import Binary, TypeDeserializer, TypeSerializer

from mayfly._items import from_dynamodb, to_dynamodb

VALUES = ["text", 7, Decimal("1.5"), True, None, ["a", {"b": 1}], {"c": [1, None]}, {"a"}, {1, 2}]


@pytest.mark.parametrize("value", VALUES)
def test_values_are_as_boto3_has_them(value):
    assert to_dynamodb({"x": value})["x"].keys() == TypeSerializer().serialize(value).keys()
    assert from_dynamodb(to_dynamodb({"x": value})) == {"x": value}
    assert from_dynamodb(to_dynamodb({"x": value}))["x"] == TypeDeserializer().deserialize(TypeSerializer().serialize(value))


def test_bytes_are_base64():
    assert to_dynamodb({"x": b"\x00\xff"}) == to_dynamodb({"x": Binary(b"\x00\xff")}) == {"x": {"B": "AP8="}}
    assert from_dynamodb({"x": {"B": "AP8="}, "y": {"BS": ["AP8="]}}) == {"x": b"\x00\xff", "y": {b"\x00\xff"}}


def test_dynamodbs_json_stays_as_it_is():
    assert to_dynamodb({"id": {"S": "1"}, "n": {"N": "1"}}) == {"id": {"S": "1"}, "n": {"N": "1"}}


@pytest.mark.parametrize("value", [object(), set(), {1, "a"}, {(1,)}])
def test_what_dynamodb_cannot_hold_is_refused(value):
    with pytest.raises(TypeError, match="is nothing that DynamoDB can hold: it takes str, numbers, "):
        to_dynamodb({"x": value})
