"""Tests features that Debian's botocore of 2022 cannot send, with requests over plain HTTP."""

import http.client
import json
import unittest

from mayfly_server import ACCESS_KEY, REGION, MayflyServer

# Signatures are not checked; the server reads only the account and the region from the credential.
AUTHORIZATION = (
    f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/20240101/{REGION}/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64
)


def setUpModule():
    global server
    server = MayflyServer.for_module()


def call(operation, request):
    """Returns the response's status and body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request(
            "POST",
            "/",
            json.dumps(request),
            {
                "Content-Type": "application/x-amz-json-1.0",
                "X-Amz-Date": "20240101T000000Z",
                "X-Amz-Target": f"DynamoDB_20120810.{operation}",
                "Authorization": AUTHORIZATION,
            },
        )
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def create(name, **members):
    status, answer = call(
        "CreateTable",
        {
            "TableName": name,
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
            **members,
        },
    )
    assert status == 200, answer
    return answer["TableDescription"]


def describe(name):
    return call("DescribeTable", {"TableName": name})[1]["Table"]


class RawHttpTest(unittest.TestCase):
    def test_a_table_can_be_deleted_only_after_its_protection_is_disabled(self):
        self.assertTrue(create("protected", DeletionProtectionEnabled=True)["DeletionProtectionEnabled"])
        status, answer = call("DeleteTable", {"TableName": "protected"})
        self.assertEqual(status, 400)
        self.assertEqual(answer["__type"], "com.amazon.coral.validate#ValidationException")
        self.assertIn("Resource cannot be deleted as it is currently protected against deletion", answer["message"])
        self.assertTrue(describe("protected")["DeletionProtectionEnabled"])
        status, _ = call("UpdateTable", {"TableName": "protected", "DeletionProtectionEnabled": False})
        self.assertEqual(status, 200)
        self.assertFalse(describe("protected")["DeletionProtectionEnabled"])
        self.assertEqual(call("DeleteTable", {"TableName": "protected"})[0], 200)

    def test_a_failed_condition_returns_the_item_on_request(self):
        create("conditions")
        item = {"id": {"S": "a"}, "n": {"N": "1"}}
        self.assertEqual(call("PutItem", {"TableName": "conditions", "Item": item}), (200, {}))
        condition = {
            "TableName": "conditions",
            "ConditionExpression": "n = :n",
            "ExpressionAttributeValues": {":n": {"N": "2"}},
        }
        kind = {"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"}
        failed = {**kind, "message": "The conditional request failed"}
        failed_with_item = {**failed, "Item": item}
        requests = {
            "PutItem": {"Item": {"id": {"S": "a"}}},
            "DeleteItem": {"Key": {"id": {"S": "a"}}},
            "UpdateItem": {"Key": {"id": {"S": "a"}}, "UpdateExpression": "REMOVE n"},
        }
        for operation, request in requests.items():
            with self.subTest(operation):
                request = {**condition, **request}
                self.assertEqual(call(operation, request), (400, failed))
                request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
                self.assertEqual(call(operation, request), (400, failed_with_item))
        # The item does not exist, so the response contains no item.
        request = {**condition, "Key": {"id": {"S": "b"}}, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
        self.assertEqual(call("DeleteItem", request), (400, failed))

    def test_on_demand_and_warm_throughput_are_stored_and_described(self):
        create(
            "throughput",
            OnDemandThroughput={"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20},
            WarmThroughput={"ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 5000},
        )
        table = describe("throughput")
        self.assertEqual(table["OnDemandThroughput"], {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20})
        self.assertEqual(table["WarmThroughput"]["ReadUnitsPerSecond"], 13000)
        self.assertEqual(table["WarmThroughput"]["WriteUnitsPerSecond"], 5000)
        self.assertEqual(table["WarmThroughput"]["Status"], "ACTIVE")
        status, _ = call(
            "UpdateTable",
            {
                "TableName": "throughput",
                "OnDemandThroughput": {"MaxReadRequestUnits": 11, "MaxWriteRequestUnits": -1},
            },
        )
        self.assertEqual(status, 200)
        self.assertEqual(describe("throughput")["OnDemandThroughput"]["MaxReadRequestUnits"], 11)

    def test_an_index_with_several_partition_attributes_is_queried_by_all_of_them(self):
        create(
            "orders",
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("id", "country", "city", "day", "hour")
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "by_place",
                    "KeySchema": [
                        {"AttributeName": "country", "KeyType": "HASH"},
                        {"AttributeName": "city", "KeyType": "HASH"},
                        {"AttributeName": "day", "KeyType": "RANGE"},
                        {"AttributeName": "hour", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ],
        )
        for number, city in enumerate(("Ghent", "Ghent", "Bruges")):
            attributes = {"id": f"o{number}", "country": "BE", "city": city, "day": "2024-01-01", "hour": f"0{number}"}
            item = {name: {"S": value} for name, value in attributes.items()}
            self.assertEqual(call("PutItem", {"TableName": "orders", "Item": item}), (200, {}))
        status, answer = call(
            "Query",
            {
                "TableName": "orders",
                "IndexName": "by_place",
                "KeyConditionExpression": "country = :c AND city = :t AND #d = :d AND #h >= :h",
                "ExpressionAttributeNames": {"#d": "day", "#h": "hour"},
                "ExpressionAttributeValues": {
                    ":c": {"S": "BE"},
                    ":t": {"S": "Ghent"},
                    ":d": {"S": "2024-01-01"},
                    ":h": {"S": "00"},
                },
            },
        )
        self.assertEqual(status, 200, answer)
        self.assertEqual([item["id"]["S"] for item in answer["Items"]], ["o0", "o1"])

    def test_a_tables_arn_is_accepted_in_place_of_its_name(self):
        arn = create("by-arn")["TableArn"]
        self.assertEqual(call("PutItem", {"TableName": arn, "Item": {"id": {"S": "a"}}}), (200, {}))
        answer = call("GetItem", {"TableName": "by-arn", "Key": {"id": {"S": "a"}}})
        self.assertEqual(answer, (200, {"Item": {"id": {"S": "a"}}}))

    def test_an_unknown_operation_is_rejected(self):
        self.assertEqual(
            call("InventTable", {}), (400, {"__type": "com.amazon.coral.service#UnknownOperationException"})
        )


if __name__ == "__main__":
    unittest.main()
