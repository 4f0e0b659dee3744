"""Tests the Model Context Protocol message by message, on standard input and over HTTP."""

import http.client
import json
import os
import signal
import subprocess
import unittest

from mayfly_server import MayflyServer, binary

MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
CARTS = {
    "TableName": "carts",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
TTL = {"TableName": "carts", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}}


def setUpModule():
    global server
    server = MayflyServer.for_module()


def call(number, tool, **arguments):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def converse(messages, *arguments):
    """Runs `mayfly mcp` with these lines as input. Returns the responses by message id, all responses, and the finished
    process."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAYFLY_", "AWS_"))}
    done = subprocess.run(
        [binary(), "mcp", "--log-level", "error", *arguments],
        input="".join((m if isinstance(m, str) else json.dumps(m)) + "\n" for m in messages),
        capture_output=True, text=True, timeout=120, env=environment,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {a["id"]: a for a in answers if not isinstance(a, list) and a["id"] is not None}, answers, done


def post(message, query="", method="POST", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    sent.update({name.replace("_", "-"): value for name, value in headers.items() if value is not None})
    body = message if isinstance(message, str) else json.dumps(message)
    try:
        connection.request(method, "/_mayfly/mcp" + query, body, sent)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None
    finally:
        connection.close()


def modern(method, named=None, **parameters):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**parameters, "_meta": META}}
    return post(message, MCP_Protocol_Version=MODERN, Mcp_Method=method, Mcp_Name=named)


STORY = [
    call(1, "set_clock", mode="frozen", now="2031-01-01T00:00:00Z"),
    call(2, "create_table", **CARTS),
    call(3, "update_time_to_live", **TTL),
    call(4, "put_item", TableName="carts", plain=True, Item={"id": "late", "ttl": 1924992060000}),
    call(5, "put_item", TableName="carts", Item={"id": {"S": "short"}, "ttl": {"N": "1924992060"}}),
    call(6, "advance_clock", seconds=3600),
    call(7, "explain_expiry", table="carts", key={"id": {"S": "late"}}),
    call(8, "scan", TableName="carts", plain=True),
]


class StandardInput(unittest.TestCase):
    def expect_story(self, answers):
        self.assertEqual(answers[6]["result"]["structuredContent"]["tables"], {"carts": 1})
        self.assertEqual(answers[7]["result"]["structuredContent"]["reason"], "milliseconds")
        self.assertEqual(answers[8]["result"]["structuredContent"]["Items"], [{"id": "late", "ttl": 1924992060000}])

    def test_the_tools_can_advance_a_frozen_clock_and_explain_why_an_item_still_exists(self):
        answers, every, done = converse(STORY, "--in-memory")
        self.expect_story(answers)
        self.assertEqual(len(every), len(STORY), "only messages may be on standard output")
        self.assertEqual(done.returncode, 0)

    def test_the_tools_work_on_a_running_server(self):
        answers, _, _ = converse(STORY, "--url", f"http://127.0.0.1:{server.port}", "--account", "000000000017")
        self.expect_story(answers)

    def test_an_unreachable_server_is_a_tool_error(self):
        answers, _, _ = converse([call(1, "list_tables")], "--url", "http://127.0.0.1:1")
        self.assertTrue(answers[1]["result"]["isError"])
        self.assertIn("cannot connect to 127.0.0.1:1", answers[1]["result"]["content"][0]["text"])

    def test_malformed_messages_get_json_rpc_errors_and_later_ones_are_answered(self):
        answers, every, _ = converse(
            ["nonsense", "[]", "7", '{"jsonrpc":"1.0","id":1,"method":"ping"}',
             {"jsonrpc": "2.0", "id": 2, "method": "none"}, {"jsonrpc": "2.0", "id": 3, "method": "tools/call"},
             call(4, "no_tool"), {"jsonrpc": "2.0", "id": 5, "method": "ping"},
             {"jsonrpc": "2.0", "method": "notifications/unheard_of"}],
            "--in-memory",
        )
        self.assertEqual([a.get("error", {}).get("code") for a in every],
                         [-32700, -32600, -32600, -32600, -32601, -32602, -32602, None])
        self.assertEqual(answers[5]["result"], {})

    def test_the_read_only_option_hides_and_rejects_tools_that_change_something(self):
        answers, _, _ = converse(
            [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, call(2, "put_item", TableName="carts", Item={}),
             call(3, "operation", operation="DeleteTable", request={"TableName": "carts"}),
             call(4, "execute_statement", Statement="DELETE FROM carts WHERE id='1'"), call(5, "list_tables")],
            "--in-memory", "--read-only",
        )
        tools = answers[1]["result"]["tools"]
        self.assertTrue(all(tool["annotations"]["readOnlyHint"] for tool in tools))
        self.assertNotIn("put_item", [tool["name"] for tool in tools])
        self.assertEqual(answers[2]["error"]["code"], -32602)
        self.assertIn("read-only", answers[3]["result"]["content"][0]["text"])
        self.assertIn("read-only", answers[4]["result"]["content"][0]["text"])
        self.assertFalse(answers[5]["result"]["isError"])

    def test_revision_2025_03_26_accepts_batches_of_up_to_100_messages(self):
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}}
        batch = json.dumps([{"jsonrpc": "2.0", "id": 2, "method": "ping"}, call(3, "list_tables")])
        ping = {"jsonrpc": "2.0", "id": 4, "method": "ping"}
        _, every, _ = converse([hello, batch, json.dumps([ping] * 100), json.dumps([ping] * 101)], "--in-memory")
        self.assertEqual([a["id"] for a in every[1]], [2, 3])
        self.assertEqual(len(every[2]), 100)
        self.assertEqual(every[3]["error"]["message"], "Invalid request: the batch has more than 100 messages")

    def test_a_line_of_more_than_16_mb_is_rejected_and_the_next_one_is_answered(self):
        long = call(1, "list_tables", more="x" * (16 * 1024 * 1024))
        whole = call(2, "explain_error", error="x" * (15 * 1024 * 1024))
        _, every, _ = converse([long, whole, {"jsonrpc": "2.0", "id": 3, "method": "ping"}], "--in-memory")
        self.assertEqual(every[0]["error"], {"code": -32600, "message": "Invalid request: longer than 16 MB"})
        answers = {answer["id"]: answer for answer in every[1:]}  # a ping can be answered before a slower tool call
        self.assertEqual(sorted(answers), [2, 3])
        self.assertLess(len(json.dumps(answers[2])), 1024 * 1024)

    def test_calls_that_wait_are_limited_in_number_and_end_when_the_input_ends(self):
        # Each message is handled for at most a quarter of a second before the next one can start.
        waiting = [self.await_(number) for number in range(10, 75)]
        answers, every, done = converse([call(1, "create_table", **CARTS), *waiting], "--in-memory")
        refused = {"code": -32603, "message": "Too many requests are waiting; the limit is 64"}
        self.assertEqual(answers.pop(74)["error"], refused)
        for number in range(10, 74):
            self.assertTrue(answers[number]["result"]["isError"], answers[number])
        self.assertEqual((len(every), done.returncode), (66, 0))


    def await_(self, number):
        return call(number, "await_change", table="carts", key={"id": {"S": "1"}}, timeout_seconds=60)

    def test_a_signal_ends_the_process_as_the_end_of_its_input_does(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            command = [binary(), "mcp", "--in-memory", "--log-level", "error"]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                for message in (call(1, "create_table", **CARTS), self.await_(2)):
                    process.stdin.write(json.dumps(message) + "\n")
                process.stdin.flush()
                self.assertEqual(json.loads(process.stdout.readline())["id"], 1)
                process.send_signal(number)
                self.assertTrue(json.loads(process.stdout.readline())["result"]["isError"])
                self.assertEqual(process.wait(), 0)


class OverHttp(unittest.TestCase):
    def test_the_current_protocol_revision_works(self):
        status, answer = modern("server/discover")
        self.assertEqual((status, answer["result"]["supportedVersions"]), (200, [MODERN]))
        status, answer = modern("tools/call", "show_clock", name="show_clock", arguments={})
        self.assertEqual((status, answer["result"]["resultType"], answer["result"]["isError"]), (200, "complete", False))
        self.assertEqual(modern("tools/call", "scan", name="show_clock")[1]["error"]["code"], -32020)
        self.assertEqual(modern("ping")[0], 404)
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        self.assertEqual(post(message, MCP_Protocol_Version=MODERN, Mcp_Method="tools/list")[0], 400)
        status, answer = post(message, MCP_Protocol_Version="1900-01-01")
        self.assertEqual((status, answer["error"]["code"]), (400, -32022))

    def test_the_previous_protocol_revision_works(self):
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": LEGACY}}
        self.assertEqual(post(hello)[1]["result"]["protocolVersion"], LEGACY)
        self.assertEqual(post({"jsonrpc": "2.0", "method": "notifications/initialized"}), (202, None))
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        self.assertEqual(post(ping, MCP_Protocol_Version=LEGACY), (200, {"jsonrpc": "2.0", "id": 2, "result": {}}))
        self.assertEqual(post("[" + json.dumps(ping) + "]", MCP_Protocol_Version=LEGACY)[0], 400)

    def test_the_access_rules_of_other_paths_also_apply_to_mcp(self):
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        self.assertEqual(post(ping, Origin="http://evil.example")[0], 403)
        self.assertEqual(post(ping, Host="evil.example")[0], 403)
        self.assertEqual(post(ping, Content_Type="text/plain")[0], 415)
        self.assertEqual(post(ping, Accept="text/html")[0], 406)
        self.assertEqual(post("", method="GET")[0], 405)
        self.assertEqual(post("", method="DELETE")[0], 405)

    def test_the_url_can_name_the_account_and_forbid_changes(self):
        post(call(1, "create_table", **CARTS), "?account=000000000018")
        _, answer = post(call(2, "list_tables"), "?account=000000000018&read-only=true")
        self.assertEqual(answer["result"]["structuredContent"], {"TableNames": ["carts"]})
        _, answer = post(call(3, "delete_table", TableName="carts"), "?account=000000000018&read-only=true")
        self.assertEqual(answer["error"]["code"], -32602)
        self.assertEqual(post(call(4, "list_tables"), "?account=x")[0], 400)


if __name__ == "__main__":
    unittest.main()
