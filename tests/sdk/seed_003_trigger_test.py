"""Processes abandoned shopping carts end to end: TTL deletes a cart, and the table's stream passes the old image to a
function.

boto3 creates the table and the event source mapping, as Terraform would. The filter passes only the service's deletions of
carts that have a customer and products. If the function fails, the batch is retried and finally sent to the mapping's
destination.
"""

import json
import time
import unittest
import urllib.request

from function_server import FunctionServer
from mayfly_server import MayflyServer, key_schema, stream

CART_SECONDS = 6 * 3600  # a cart counts as abandoned after this time

FILTER = {
    "userIdentity": {"type": ["Service"], "principalId": ["dynamodb.amazonaws.com"]},
    "dynamodb": {
        "OldImage": {
            "productids": {"SS": [{"exists": True}]},
            "customerid": {"S": [{"exists": True}]},
        }
    },
}


def create_carts(server):
    table = server.create_table("carts", {"cartid": "S"}, key_schema("cartid"), ttl="ttl", StreamSpecification=stream())
    return server.client("dynamodb"), table.latest_stream_arn


def control(server, method, path, body):
    """Makes a control call and returns its response."""
    request = urllib.request.Request(
        f"{server.url}/_mayfly{path}",
        method=method,
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def advance(server, seconds):
    """Advances the clock. Returns once all expired items are deleted and their records are delivered or given up."""
    return control(server, "POST", "/clock/advance", {"seconds": seconds, "settle": "triggers"})


def put_cart(dynamodb, cart_id, ttl, customer=True):
    item = {"cartid": {"S": cart_id}, "ttl": {"N": str(ttl)}, "productids": {"SS": ["piano", "stool"]}}
    if customer:
        item["customerid"] = {"S": "nina"}
    dynamodb.put_item(TableName="carts", Item=item)
    return item


def create_mapping(server, arn, function, **settings):
    client = server.client("lambda")
    created = client.create_event_source_mapping(
        EventSourceArn=arn,
        FunctionName=function,
        StartingPosition="TRIM_HORIZON",
        FilterCriteria={"Filters": [{"Pattern": json.dumps(FILTER)}]},
        **settings,
    )
    assert created["State"] == "Creating", created
    assert client.get_event_source_mapping(UUID=created["UUID"])["State"] == "Enabled"
    return client, created["UUID"]


class AbandonedCartTriggerTest(unittest.TestCase):
    def setUp(self):
        self.function = FunctionServer()
        self.addCleanup(self.function.stop)
        self.destination = FunctionServer()
        self.addCleanup(self.destination.stop)
        self.server = MayflyServer("--function", f"reminder={self.function.url}")
        self.addCleanup(self.server.stop)

    def test_only_abandoned_carts_reach_the_function_once_each(self):
        dynamodb, arn = create_carts(self.server)
        client, uuid = create_mapping(
            self.server, arn, "reminder", MaximumRetryAttempts=1, BisectBatchOnFunctionError=True
        )
        ttl = int(time.time()) + CART_SECONDS
        abandoned = {f"abandoned-{i}": put_cart(dynamodb, f"abandoned-{i}", ttl) for i in range(60)}
        for i in range(20):
            put_cart(dynamodb, f"ordered-{i}", ttl)
            dynamodb.delete_item(TableName="carts", Key={"cartid": {"S": f"ordered-{i}"}})
        for i in range(20):
            put_cart(dynamodb, f"anonymous-{i}", ttl, customer=False)

        answer = advance(self.server, CART_SECONDS - 3600)
        self.assertEqual((answer["expired"], answer["settled"], len(self.function.calls)), (0, True, 0))
        answer = advance(self.server, 2 * 3600)
        self.assertEqual((answer["expired"], answer["settled"], answer["unfinished"]), (80, True, []))
        records = self.function.records
        self.assertEqual(
            sorted(record["dynamodb"]["Keys"]["cartid"]["S"] for record in records), sorted(abandoned)
        )
        for record in records:
            change = record["dynamodb"]
            old = dict(change["OldImage"], productids={"SS": sorted(change["OldImage"]["productids"]["SS"])})
            self.assertEqual(old, abandoned[change["Keys"]["cartid"]["S"]])
            self.assertNotIn("NewImage", change)
            self.assertEqual(change["StreamViewType"], "NEW_AND_OLD_IMAGES")
            self.assertRegex(change["SequenceNumber"], r"^\d{21,40}$")
            self.assertEqual(
                {name: value for name, value in record.items() if name not in ("dynamodb", "eventID")},
                {
                    "eventName": "REMOVE",
                    "eventVersion": "1.1",
                    "eventSource": "aws:dynamodb",
                    "awsRegion": "us-east-1",
                    "eventSourceARN": arn,
                    "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
                },
            )
        for call in self.function.calls:
            self.assertEqual(list(call.event), ["Records"])
            self.assertLessEqual(len(call.event["Records"]), 100)
            self.assertNotIn("Transfer-Encoding", call.headers)
            self.assertEqual(call.path, "/2015-03-31/functions/function/invocations")
        self.assertEqual(client.get_event_source_mapping(UUID=uuid)["LastProcessingResult"], "OK")

    def test_a_failing_batch_is_retried_and_then_sent_to_the_destination(self):
        def fail(_event):
            raise ValueError("no marketing today")

        self.function.handler = fail
        dynamodb, arn = create_carts(self.server)
        client, uuid = create_mapping(
            self.server,
            arn,
            "reminder",
            MaximumRetryAttempts=2,
            DestinationConfig={"OnFailure": {"Destination": self.destination.url}},
        )
        put_cart(dynamodb, "one", int(time.time()) + CART_SECONDS)
        answer = advance(self.server, CART_SECONDS + 1)
        self.assertEqual((answer["expired"], answer["settled"], answer["unfinished"]), (1, False, []))
        self.assertEqual(
            [(one["function"], one["attempts"], one["destination"]) for one in answer["given_up"]],
            [("reminder", 3, self.destination.url)],
        )
        self.assertEqual(len(self.function.calls), 3)
        self.assertEqual(len({json.dumps(call.event) for call in self.function.calls}), 1)
        [failed] = [call.event for call in self.destination.calls]
        [record] = self.function.calls[0].event["Records"]
        number = record["dynamodb"]["SequenceNumber"]
        info = failed["DDBStreamBatchInfo"]
        self.assertEqual(
            (failed["requestContext"]["condition"], failed["requestContext"]["approximateInvokeCount"]),
            ("RetryAttemptsExhausted", 3),
        )
        self.assertEqual(
            failed["requestContext"]["functionArn"], "arn:aws:lambda:us-east-1:000000000000:function:reminder"
        )
        self.assertEqual(
            failed["responseContext"], {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"}
        )
        self.assertEqual(
            (info["startSequenceNumber"], info["endSequenceNumber"], info["batchSize"], info["streamArn"]),
            (number, number, 1, arn),
        )
        self.assertEqual(failed["version"], "1.0")
        self.assertEqual(
            client.get_event_source_mapping(UUID=uuid)["LastProcessingResult"], "PROBLEM: Function call failed"
        )

    def test_a_function_can_be_registered_later_and_can_call_the_server(self):
        """A function can use the table while its mapping waits for the function and the call that advances the clock waits
        for the mapping."""
        dynamodb, arn = create_carts(self.server)
        create_mapping(self.server, arn, "later")
        put_cart(dynamodb, "one", int(time.time()) + CART_SECONDS)
        answer = advance(self.server, CART_SECONDS + 1)
        self.assertEqual(
            [(one["FunctionArn"], one["LastProcessingResult"]) for one in answer["unfinished"]],
            [("arn:aws:lambda:us-east-1:000000000000:function:later", "PROBLEM: Function not found")],
        )

        def remember(event):
            for record in event["Records"]:
                cart = record["dynamodb"]["Keys"]["cartid"]["S"]
                dynamodb.put_item(TableName="carts", Item={"cartid": {"S": f"reminded-{cart}"}})

        self.function.handler = remember
        control(self.server, "PUT", "/functions/later", {"url": self.function.url})
        self.assertTrue(advance(self.server, 1)["settled"])
        carts = dynamodb.scan(TableName="carts")["Items"]
        self.assertEqual([cart["cartid"]["S"] for cart in carts], ["reminded-one"])
        answer = self.server.client("lambda").invoke(FunctionName="later", Payload=json.dumps({"Records": []}))
        self.assertEqual((answer["StatusCode"], answer["ExecutedVersion"], json.load(answer["Payload"])), (200, "$LATEST", None))

    def test_a_restored_snapshot_keeps_its_triggers_and_a_reset_removes_them(self):
        dynamodb, arn = create_carts(self.server)
        client, _ = create_mapping(self.server, arn, "reminder")
        snapshot = control(self.server, "POST", "/snapshots", {})["id"]
        ttl = int(time.time()) + CART_SECONDS
        put_cart(dynamodb, "undone", ttl)
        control(self.server, "POST", f"/snapshots/{snapshot}/restore", {})
        put_cart(dynamodb, "kept", ttl)
        self.assertEqual(advance(self.server, CART_SECONDS + 60)["settled"], True)
        carts = [record["dynamodb"]["Keys"]["cartid"]["S"] for record in self.function.records]
        self.assertEqual(carts, ["kept"])
        control(self.server, "POST", "/reset", {})
        self.assertEqual(client.list_event_source_mappings()["EventSourceMappings"], [])


if __name__ == "__main__":
    unittest.main()
