"""Tests web pages in a real browser, Debian's chromium: hostile pages can neither read nor change anything, and allowed
pages can do both.

Every page runs the same script, `browser_page.js`, which tells a server in this test what the page could read. The test then
asks Mayfly whether anything was changed.
"""

import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

from mayfly_server import MayflyServer, eventually, key_schema

PAGE_SECONDS_MAX = 90
SCRIPT = pathlib.Path(__file__).with_name("browser_page.js").read_text()


class Pages:
    """A web server that serves one page for every path and receives the page's report."""

    def __init__(self):
        pages = self
        self.report = None

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, body, content_type):
                self.send_response(200)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.answer(pages.html.encode(), "text/html; charset=utf-8")

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/report":
                    pages.report = json.loads(body)
                self.answer(b"{}", "application/json")

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.port = self._server.server_address[1]

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class Rebinder:
    """Simulates DNS rebinding: a name that first resolves to the attacker's server and then to Mayfly. Serves one page, then
    forwards all bytes to Mayfly.

    The browser treats both servers as one origin, as with a rebound name. Mayfly receives the browser's requests byte for
    byte.
    """

    def __init__(self, html, mayfly_port):
        self._html, self._mayfly_port = html.encode(), mayfly_port
        self.forwarded = b""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                browser, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(browser,), daemon=True).start()

    def _talk(self, browser):
        with browser:
            first = browser.recv(65536)
            if first.startswith(b"GET /page "):
                head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(self._html)}\r\nConnection: close\r\n\r\n"
                browser.sendall(head.encode() + self._html)
                return
            with socket.create_connection(("127.0.0.1", self._mayfly_port)) as mayfly:
                back = threading.Thread(target=self._copy, args=(mayfly, browser), daemon=True)
                back.start()
                while first:
                    self.forwarded += first
                    mayfly.sendall(first)
                    first = browser.recv(65536)

    @staticmethod
    def _copy(source, sink):
        try:
            while piece := source.recv(65536):
                sink.sendall(piece)
        except OSError:
            pass

    def close(self):
        self._listener.close()


class BrowserTest(unittest.TestCase):
    def setUp(self):
        self.pages = Pages()
        self.addCleanup(self.pages.close)

    def serve(self, *arguments):
        self.server = MayflyServer(*arguments)
        self.addCleanup(self.server.stop)
        table = self.server.create_table("secrets", {"id": "S"}, key_schema("id"))
        table.put_item(Item={"id": "1", "text": "the secret"})

    def state(self):
        """Returns everything that a page could have changed."""
        dynamodb, functions = self.server.client("dynamodb"), self.server.client("lambda")
        return {
            "tables": dynamodb.list_tables()["TableNames"],
            "items": dynamodb.scan(TableName="secrets")["Items"],
            "mappings": functions.list_event_source_mappings()["EventSourceMappings"],
            "clock": self.server.control("GET", "clock")["mode"],
            "faults": self.server.control("GET", "faults"),
            "ttl": self.server.control("GET", "ttl"),
        }

    def html(self, mayfly):
        settings = json.dumps({"mayfly": mayfly, "report": f"http://127.0.0.1:{self.pages.port}/report"})
        return f"<!doctype html><body><script>const settings = {settings};\n{SCRIPT}</script>"

    def browse(self, url):
        """Opens `url` and returns the page's report."""
        profile = tempfile.mkdtemp(prefix="mayfly-browser-")
        browser = subprocess.Popen(
            [
                *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
                *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"),
                *("--disable-extensions", "--disable-default-apps", "--no-proxy-server"),
                # Public names that resolve to this machine. Nothing is sent to their real servers.
                "--host-resolver-rules=MAP *.example 127.0.0.1, EXCLUDE localhost",
                *(f"--user-data-dir={profile}", url),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return eventually(lambda: self.pages.report, PAGE_SECONDS_MAX)
        finally:
            os.killpg(browser.pid, signal.SIGKILL)
            browser.wait()
            shutil.rmtree(profile, ignore_errors=True)

    def check_nothing_happened(self, before, report):
        self.assertEqual(self.state(), before)
        self.assertGreater(len(report["tried"]), 20)
        self.assertEqual(report["read"], {})
        self.assertEqual(self.server.control("GET", "clock")["mode"], "real")

    def test_a_page_from_another_site_cannot_read_or_change_data(self):
        self.serve()
        before = self.state()
        self.pages.html = self.html(self.server.url)
        self.check_nothing_happened(before, self.browse(f"http://evil.example:{self.pages.port}/"))

    def test_a_page_from_another_port_of_localhost_cannot_read_or_change_data(self):
        self.serve()
        before = self.state()
        self.pages.html = self.html(f"http://localhost:{self.server.port}")
        self.check_nothing_happened(before, self.browse(f"http://localhost:{self.pages.port}/"))

    def test_a_page_that_reaches_the_server_under_the_pages_host_name_cannot_read_or_change_data(self):
        self.serve()
        before = self.state()
        self.pages.html = self.html(f"http://evil.example:{self.server.port}")
        self.check_nothing_happened(before, self.browse(f"http://evil.example:{self.pages.port}/"))

    def test_a_page_that_rebinds_its_host_name_cannot_read_or_change_data(self):
        self.serve()
        before = self.state()
        rebinder = Rebinder(self.html(""), self.server.port)
        self.addCleanup(rebinder.close)
        self.check_nothing_happened(before, self.browse(f"http://evil.example:{rebinder.port}/page"))
        # The requests did reach Mayfly, and they came from the page's own origin.
        self.assertIn(f"Host: evil.example:{rebinder.port}\r\n".encode(), rebinder.forwarded)
        self.assertIn(b"x-amz-target: DynamoDB_20120810.Scan\r\n", rebinder.forwarded.lower().replace(b"dynamodb_20120810.scan", b"DynamoDB_20120810.Scan"))

    def test_a_page_from_an_allowed_origin_can_read_and_write(self):
        self.serve("--cors-origin", f"http://localhost:{self.pages.port}")
        self.pages.html = self.html(self.server.url)
        report = self.browse(f"http://localhost:{self.pages.port}/")
        self.assertIn("the secret", report["read"]["scan"])
        self.assertIn('"mode"', report["read"]["clock"])
        self.assertIn("healthy", report["read"]["GET /"])
        self.assertEqual(json.loads(report["read"]["create a table"])["TableDescription"]["TableName"], "theirs")
        state = self.state()
        self.assertIn("theirs", state["tables"])
        # A sandboxed frame's origin is not allowed, and a form cannot send a trusted content type.
        self.assertEqual([name for name in report["read"] if "sandboxed" in name], [])
        self.assertEqual(state["mappings"], [])
        # A page of another origin is still rejected.
        self.pages.report = None
        report = self.browse(f"http://evil.example:{self.pages.port}/")
        self.assertEqual(report["read"], {})


if __name__ == "__main__":
    unittest.main()
