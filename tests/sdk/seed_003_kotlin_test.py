"""Runs the fourth seed's Kotlin function unchanged, from the plans of its Terraform code (abandoned_carts/).

A cart that its customer does not touch for 48 hours expires. The table's stream passes its old image to the function, which
posts the cart to the marketing suite. FUNCTIONS_BUILD names a directory that keeps the jar for the next run.
"""

import datetime
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from mayfly_server import MayflyServer

PROJECT = pathlib.Path(__file__).parent / "abandoned_carts"
CART, LAMBDA = PROJECT / "cart/plan.json", PROJECT / "lambda/plan.json"
TABLE, FUNCTION = "cartapplication_cartactivity", "my-abandoned-cart-function"
CLIENT = "com.amazonaws:aws-lambda-java-runtime-interface-client:2.10.1"


def maven(*arguments):
    subprocess.run(["mvn", "-B", "-ntp", "-q", *arguments], cwd=PROJECT, check=True)


def setUpModule():
    global build
    build = os.environ.get("FUNCTIONS_BUILD")
    if not build:
        directory = tempfile.TemporaryDirectory()
        unittest.addModuleCleanup(directory.cleanup)
        build = directory.name
    build = pathlib.Path(build, "abandoned_carts")
    maven(f"-Dbuild={build / 'target'}", "package")
    # Mayfly finds Java's client of the Runtime API in the local repository.
    maven("org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get", f"-Dartifact={CLIENT}")


class MarketingSuite(http.server.ThreadingHTTPServer):
    """Records what the function posts."""

    daemon_threads = True

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.server.posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *words):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.posted = []
        threading.Thread(target=self.serve_forever).start()

    def stop(self):
        self.shutdown()
        self.server_close()

    def take(self):
        """Returns what was posted since the last call, ordered by customer."""
        posted, self.posted = self.posted, []
        return sorted(posted, key=lambda cart: cart["customeruid"])


class KotlinTest(unittest.TestCase):
    def serve(self, plan):
        self.marketing = MarketingSuite()
        self.addCleanup(self.marketing.stop)
        before = os.getcwd()
        os.chdir(build)  # the plan names the jar relative to the directory in which Terraform ran
        try:
            self.server = MayflyServer("--functions", "--schema", str(CART), "--schema", str(plan), "--function-env",
                                       f"MARKETING_URL=http://127.0.0.1:{self.marketing.server_port}/")
        finally:
            os.chdir(before)
        self.addCleanup(self.server.stop)
        self.carts = self.server.resource().Table(TABLE)

    def put_carts(self, *customers):
        """Puts a cart for each customer, as the cart application does. Returns what the marketing suite must receive."""
        now = datetime.datetime.fromisoformat(self.server.control("GET", "clock")["now"].replace("Z", "+00:00"))
        expires = int(now.timestamp()) + 48 * 3600
        expected = []
        for customer in customers:
            self.carts.put_item(Item={"cartid": f"cart of {customer}", "customerid": customer,
                                      "productids": {"piano", "stool"}, "ttl": expires})
            expected.append({"uid": "", "skus": ["piano", "stool"], "customeruid": customer, "ttl": expires})
        return expected

    def advance(self):
        began = time.monotonic()
        advanced = self.server.control("POST", "clock/advance", {"hours": 48, "settle": "triggers"})
        self.assertTrue(advanced["settled"], advanced)
        return (time.monotonic() - began) * 1000

    def posted(self):
        return [{**cart, "skus": sorted(cart["skus"])} for cart in self.marketing.take()]

    def test_each_abandoned_cart_is_posted_once_and_a_deleted_cart_is_not(self):
        self.serve(LAMBDA)
        expected = self.put_carts("ada", "nina", "oscar")
        self.put_carts("zoe")
        self.carts.delete_item(Key={"cartid": "cart of zoe"})  # she has placed an order
        cold_ms = self.advance()
        self.assertEqual(self.posted(), expected)
        self.advance()
        self.assertEqual(self.posted(), [])
        expected = self.put_carts("bert", "carl")
        warm_ms = self.advance()
        self.assertEqual(self.posted(), expected)
        print(f"advance with settle: {cold_ms:.0f} ms with the start of the JVM, then {warm_ms:.1f} ms", file=sys.stderr)

    def test_a_cart_without_a_customer_or_products_is_filtered_out(self):
        self.serve(LAMBDA)
        expected = self.put_carts("ada")
        expires = expected[0]["ttl"]
        self.carts.put_item(Item={"cartid": "anonymous", "productids": {"piano"}, "ttl": expires})
        self.carts.put_item(Item={"cartid": "empty", "customerid": "zoe", "ttl": expires})
        self.advance()
        self.assertEqual(self.posted(), expected)

    def test_the_filter_that_the_page_prints_delivers_nothing(self):
        # The page's filter requires an empty principalId, but on AWS the principal of an expired item is
        # dynamodb.amazonaws.com ("DynamoDB Streams and Time to Live" in the developer guide).
        plan = LAMBDA.read_text()
        principal = r'\"principalId\":[\"dynamodb.amazonaws.com\"]'
        self.assertIn(principal, plan)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as printed:
            printed.write(plan.replace(principal, r'\"principalId\":[\"\"]'))
            printed.flush()
            self.serve(printed.name)
        self.put_carts("ada", "nina")
        self.advance()
        self.assertEqual(self.posted(), [])
        self.assertEqual(self.carts.scan()["Items"], [])


if __name__ == "__main__":
    unittest.main()
