"""Tests MCP with its official Python SDK, on both transports, with the current protocol revision and the previous one."""

import asyncio
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

SERVER = os.environ["MAYFLY_SERVER"]


async def story(client):
    """Freezes the clock, writes an item and advances the clock; then asks why the item still exists."""
    tools = (await client.list_tools()).tools
    assert len(tools) > 40 and all(tool.annotations is not None for tool in tools)

    async def call(name, **arguments):
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result
        return result.structured_content

    await call("reset_account")
    await call("set_clock", mode="frozen", now="2031-01-01T00:00:00Z")
    await call("create_table", TableName="carts", BillingMode="PAY_PER_REQUEST",
               AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
               KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}])
    await call("update_time_to_live", TableName="carts",
               TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    await call("put_item", TableName="carts", plain=True, Item={"id": "1", "ttl": 1924992060000})
    assert (await call("advance_clock", seconds=86400))["expired"] == 0
    explained = await call("explain_expiry", table="carts", key={"id": {"S": "1"}})
    assert explained["reason"] == "milliseconds", explained

    failed = await client.call_tool("get_item", {"TableName": "nothing", "Key": {"id": {"S": "1"}}})
    assert failed.is_error and failed.content[0].text == "ResourceNotFoundException: Requested resource not found"
    resources = (await client.list_resources()).resources
    assert "mayfly://000000000000/us-east-1/tables/carts" in [str(one.uri) for one in resources]
    page = await client.read_resource("mayfly://docs/control")
    assert page.contents[0].text.startswith("# The control API")
    await client.list_resource_templates()


class PythonSdk(unittest.TestCase):
    def told_by(self, server, mode):
        async def run():
            async with Client(server, mode=mode) as client:
                await story(client)

        asyncio.run(asyncio.wait_for(run(), 60))

    def test_the_sdk_works_over_standard_input_and_output(self):
        for mode in ("2026-07-28", "legacy", "auto"):
            with self.subTest(mode):
                self.told_by(stdio_client(StdioServerParameters(command=SERVER, args=["mcp", "--in-memory"])), mode)

    def test_the_sdk_works_over_http(self):
        with tempfile.TemporaryDirectory() as directory:
            port = pathlib.Path(directory) / "port"
            process = subprocess.Popen([SERVER, "serve", "--port", "0", "--port-file", port], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            try:
                while not port.exists() and process.poll() is None:
                    time.sleep(0.05)
                for mode in ("2026-07-28", "legacy", "auto"):
                    with self.subTest(mode):
                        self.told_by(f"http://127.0.0.1:{port.read_text().strip()}/_mayfly/mcp", mode)
            finally:
                process.terminate()
                process.wait()


if __name__ == "__main__":
    unittest.main()
