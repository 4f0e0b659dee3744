"""A test's own function: an HTTP endpoint that runs on its own thread and responds like Lambda's runtime.

    function = FunctionServer(lambda event: {"ok": True})
    server = MayflyServer("--function", f"reminder={function.url}")
    function.calls                      # the requests received: .event, .headers, .path
    function.stop()

A handler that raises an exception makes the function fail: the response has status 200, errorMessage and errorType.
"""

import http.server
import json
import threading
from collections import namedtuple

Call = namedtuple("Call", "event headers path")


class FunctionServer:
    def __init__(self, handler=lambda event: None):
        self.calls = []
        self.handler = handler
        function = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                event = json.loads(body)
                function.calls.append(Call(event, dict(self.headers), self.path))
                try:
                    answer = function.handler(event)
                except Exception as error:  # pylint: disable=broad-except
                    answer = {"errorMessage": str(error), "errorType": type(error).__name__}
                answer = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                try:
                    self.end_headers()
                    self.wfile.write(answer)
                except BrokenPipeError:
                    pass  # the caller has disconnected

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/2015-03-31/functions/function/invocations"

    @property
    def records(self):
        return [record for call in self.calls for record in call.event.get("Records", [])]

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
