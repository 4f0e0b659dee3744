"""Controls time as a test suite would, with boto3 and the control API.

Each test has its own world: an account, named by twelve digits, with its own tables, streams and clock.
"""

import itertools
import json
import threading
import unittest
import urllib.error
import urllib.request

from mayfly_server import MayflyServer, StreamReader, eventually, index, is_expiry, key_schema, stream

NEW_YEAR_2031 = 1_924_992_000
HOUR = 3600
accounts = (f"{number:012}" for number in itertools.count(1))


def setUpModule():
    global server
    server = MayflyServer.for_module()


class World:
    """One account, with a boto3 client and methods that make control calls."""

    def __init__(self):
        self.account = next(accounts)
        self.dynamodb = server.client("dynamodb", access_key=self.account)

    def call(self, method, path, body=None):
        """Makes a control call and returns (status, response)."""
        request = urllib.request.Request(
            server.url + "/_mayfly" + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "X-Mayfly-Account": self.account},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, json.load(refusal)

    def ok(self, method, path, body=None):
        status, answer = self.call(method, path, body)
        assert status == 200, (status, answer)
        return answer

    def freeze(self, now="2031-01-01T00:00:00Z"):
        return self.ok("PUT", "/clock", {"mode": "frozen", "now": now})

    def advance(self, **body):
        return self.ok("POST", "/clock/advance", body)

    def create_carts(self):
        self.dynamodb.create_table(
            TableName="carts",
            AttributeDefinitions=[
                {"AttributeName": "id", "AttributeType": "S"},
                {"AttributeName": "owner", "AttributeType": "S"},
            ],
            KeySchema=key_schema("id"),
            GlobalSecondaryIndexes=[index("by_owner", "owner")],
            BillingMode="PAY_PER_REQUEST",
            StreamSpecification=stream("OLD_IMAGE"),
        )
        self.dynamodb.update_time_to_live(
            TableName="carts", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"}
        )

    def put(self, id, ttl=None, **attributes):
        item = {"id": {"S": id}, "owner": {"S": "nina"}, **attributes}
        if ttl is not None:
            item["ttl"] = {"N": str(ttl)}
        self.dynamodb.put_item(TableName="carts", Item=item)

    def ids(self, **request):
        return sorted(item["id"]["S"] for item in self.dynamodb.scan(TableName="carts", **request)["Items"])


class ClockTest(unittest.TestCase):
    def test_an_advance_of_48_hours_deletes_exactly_the_expired_items_in_order_of_expiry(self):
        world, other = World(), World()
        world.freeze()
        world.create_carts()
        hours = [47, 3, 48, 25, 0, 49, 12]  # 48: due one millisecond after the advance ends
        for hour in hours:
            world.put(str(hour), NEW_YEAR_2031 + hour * HOUR)
        world.put("stays")
        reader = StreamReader(server, "carts", access_key=world.account)
        other_before = other.ok("GET", "/clock")

        answer = world.advance(seconds=48 * HOUR)

        gone = sorted(hour for hour in hours if hour < 48)
        self.assertEqual(answer["now"], "2031-01-03T00:00:00Z")
        self.assertEqual(answer["expired"], len(gone))
        self.assertEqual(answer["tables"], {"carts": len(gone)})
        self.assertEqual(answer["next_expiry"], "2031-01-03T00:00:00.001Z")
        self.assertEqual(world.ids(), ["48", "49", "stays"])
        self.assertEqual(world.ids(IndexName="by_owner"), ["48", "49", "stays"])
        removed = reader.removed()
        self.assertTrue(all(is_expiry(record) for record in removed))
        self.assertEqual([record["dynamodb"]["Keys"]["id"]["S"] for record in removed], [str(hour) for hour in gone])
        self.assertEqual(
            [record["dynamodb"]["ApproximateCreationDateTime"].timestamp() for record in removed],
            [NEW_YEAR_2031 + hour * HOUR for hour in gone],
        )
        self.assertEqual(other_before["mode"], "real")
        other_after = other.ok("GET", "/clock")
        self.assertEqual(other_after["mode"], "real")
        self.assertEqual(other_after["now"][:4], other_before["now"][:4])

    def test_advancing_to_next_expiry_moves_the_clock_from_one_expiry_to_the_next(self):
        world = World()
        world.freeze()
        world.create_carts()
        world.put("a", NEW_YEAR_2031 + 60)
        world.put("b", NEW_YEAR_2031 + 60)
        world.put("c", NEW_YEAR_2031 + 120)
        first = world.advance(to="next-expiry")
        self.assertEqual((first["now"], first["expired"]), ("2031-01-01T00:01:00.001Z", 2))
        second = world.advance(to="next-expiry")
        self.assertEqual((second["now"], second["expired"], second["next_expiry"]), ("2031-01-01T00:02:00.001Z", 1, None))
        nothing = world.advance(to="next-expiry")
        self.assertEqual((nothing["now"], nothing["expired"]), ("2031-01-01T00:02:00.001Z", 0))
        self.assertEqual(nothing["message"], "No item is going to expire, so the clock did not move.")

    def test_the_clock_can_go_back_only_while_the_account_has_no_tables(self):
        world = World()
        world.freeze("2031-01-01T00:00:00Z")
        world.freeze("2020-01-01T00:00:00Z")
        world.create_carts()
        created = world.dynamodb.describe_table(TableName="carts")["Table"]["CreationDateTime"]
        self.assertEqual(created.year, 2020)
        status, answer = world.call("PUT", "/clock", {"now": "2019-01-01T00:00:00Z"})
        self.assertEqual((status, answer["__type"]), (409, "mayfly#Conflict"))


class RaceTest(unittest.TestCase):
    def test_an_item_renewed_at_a_failpoint_survives(self):
        world = World()
        world.freeze()
        world.create_carts()
        world.put("renewed", NEW_YEAR_2031 + 60)
        world.put("abandoned", NEW_YEAR_2031 + 60)
        point = {"table": "carts", "key": {"id": {"S": "renewed"}}}
        world.ok("PUT", "/failpoints", point)
        answers = []
        advancing = threading.Thread(target=lambda: answers.append(world.advance(seconds=HOUR)))
        advancing.start()
        eventually(lambda: [each for each in world.ok("GET", "/failpoints")["failpoints"] if each["state"] == "waiting"])
        world.put("renewed", NEW_YEAR_2031 + 2 * HOUR)
        world.ok("DELETE", "/failpoints", point)
        advancing.join()
        self.assertEqual(answers[0]["expired"], 1)
        self.assertEqual(world.ids(), ["renewed"])


class ModeTest(unittest.TestCase):
    def test_in_aws_mode_an_item_is_readable_until_its_seeded_delay_has_passed(self):
        world = World()
        world.freeze()
        world.create_carts()
        world.ok("PUT", "/ttl/carts", {"mode": "aws", "delay_seconds": [600, 1680], "seed": 7})
        world.put("1", NEW_YEAR_2031 + 60)
        self.assertEqual(world.advance(seconds=60 + 599)["expired"], 0)
        self.assertEqual(world.ids(), ["1"])
        explanation = world.ok("POST", "/ttl/carts/explain", {"key": {"id": {"S": "1"}}})
        self.assertEqual(explanation["reason"], "delayed")
        self.assertEqual(world.advance(to="next-expiry")["now"], explanation["expires_at"])
        self.assertEqual(world.ids(), [])

    def test_in_manual_mode_expired_items_stay_until_a_sweep(self):
        world = World()
        world.freeze()
        world.create_carts()
        world.ok("PUT", "/ttl/carts", {"mode": "manual"})
        world.put("1", NEW_YEAR_2031 + 60)
        self.assertEqual(world.advance(seconds=HOUR)["expired"], 0)
        self.assertEqual(world.ok("GET", "/ttl")["tables"]["carts"]["due"], 1)
        self.assertEqual(world.ok("POST", "/ttl/carts/sweep"), {"expired": 1})


class SnapshotTest(unittest.TestCase):
    def test_a_snapshot_restores_deleted_items_with_their_pending_expiries(self):
        world = World()
        world.freeze()
        world.create_carts()
        world.put("1", NEW_YEAR_2031 + 60)
        world.put("2")
        arn = world.dynamodb.describe_table(TableName="carts")["Table"]["LatestStreamArn"]
        snapshot = world.ok("POST", "/snapshots")["id"]
        world.advance(seconds=HOUR)
        world.dynamodb.delete_table(TableName="carts")
        self.assertEqual(world.ok("POST", f"/snapshots/{snapshot}/restore"), {"now": "2031-01-01T00:00:00Z"})
        self.assertEqual(world.ids(IndexName="by_owner"), ["1", "2"])
        self.assertEqual(world.dynamodb.describe_table(TableName="carts")["Table"]["LatestStreamArn"], arn)
        self.assertEqual(world.advance(seconds=HOUR)["expired"], 1)
        world.ok("DELETE", f"/snapshots/{snapshot}")
        world.ok("POST", "/reset")
        self.assertEqual(world.dynamodb.list_tables()["TableNames"], [])


class AwaitTest(unittest.TestCase):
    def test_an_await_returns_the_record_of_an_expiry(self):
        world = World()
        world.create_carts()
        since = world.ok("GET", "/clock")["now"]
        world.put("1", 1_700_000_000)  # already expired: it is deleted immediately
        record = world.ok(
            "POST",
            "/await",
            {"table": "carts", "key": {"id": {"S": "1"}}, "event": "REMOVE", "by": "service", "since": since},
        )["record"]
        self.assertEqual(record["eventName"], "REMOVE")
        self.assertEqual(record["userIdentity"], {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"})
        self.assertEqual(record["dynamodb"]["OldImage"]["ttl"], {"N": "1700000000"})

    def test_an_await_that_times_out_lists_other_changes(self):
        world = World()
        world.create_carts()
        since = world.ok("GET", "/clock")["now"]
        world.put("1")
        status, answer = world.call(
            "POST",
            "/await",
            {"table": "carts", "key": {"id": {"S": "1"}}, "event": "REMOVE", "since": since, "timeout_seconds": 0},
        )
        self.assertEqual((status, answer["__type"]), (408, "mayfly#TimedOut"))
        self.assertEqual([record["eventName"] for record in answer["records"]], ["INSERT"])


class ExplainTest(unittest.TestCase):
    def test_explain_returns_the_reason_why_an_item_has_or_has_not_expired(self):
        world = World()
        world.freeze()
        world.create_carts()
        world.put("no_attribute")
        world.put("not_due", NEW_YEAR_2031 + 1)
        world.put("milliseconds", NEW_YEAR_2031 * 1000)
        world.put("too_old", NEW_YEAR_2031 - 6 * 365 * 24 * HOUR)
        world.dynamodb.put_item(TableName="carts", Item={"id": {"S": "not_a_number"}, "ttl": {"S": "1924992000"}})

        def explain(id):
            return world.ok("POST", "/ttl/carts/explain", {"key": {"id": {"S": id}}})

        for reason in ("no_attribute", "milliseconds", "too_old", "not_a_number"):
            with self.subTest(reason=reason):
                answer = explain(reason)
                self.assertEqual((answer["reason"], answer["expires_at"]), (reason, None))
                self.assertGreater(len(answer["message"]), 20)
        self.assertEqual(explain("missing")["reason"], "no_item")
        answer = explain("not_due")
        self.assertEqual((answer["reason"], answer["expires_at"]), ("not_due", "2031-01-01T00:00:01.001Z"))
        world.dynamodb.update_time_to_live(
            TableName="carts", TimeToLiveSpecification={"Enabled": False, "AttributeName": "ttl"}
        )
        self.assertEqual(explain("not_due")["reason"], "ttl_disabled")


class FaultTest(unittest.TestCase):
    def test_a_fault_raises_the_sdks_exception(self):
        world = World()
        world.create_carts()
        exceptions = world.dynamodb.exceptions
        for rule, expected in (
            ({"fault": "throttle"}, exceptions.ProvisionedThroughputExceededException),
            ({"fault": "throttle", "exception": "RequestLimitExceeded"}, exceptions.RequestLimitExceeded),
            ({"fault": "internal_server_error"}, exceptions.InternalServerError),
            ({"fault": "transaction_conflict"}, exceptions.TransactionConflictException),
        ):
            with self.subTest(rule=rule):
                world.ok("PUT", "/faults", {"rules": [{"operation": "PutItem", "count": 1, **rule}]})
                with self.assertRaises(expected):
                    world.put("1")
                world.put("1")


if __name__ == "__main__":
    unittest.main()
