"""Validates the OpenAPI document, and lets Schemathesis call the control API as the document describes it.

Every response must have a described status, content type and members, and no status may be 5xx. Schemathesis also sends requests
that the document forbids, which must be rejected.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

from openapi_spec_validator import OpenAPIV31SpecValidator

SCHEMATHESIS = pathlib.Path(sys.executable).parent / "schemathesis"
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


class SchemathesisTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        port_file = self.directory / "port"
        self.server = subprocess.Popen([os.environ["MAYFLY_SERVER"], "serve", "--port", "0", "--port-file", port_file,
                                        "--clock", "frozen", "--log-level", "warning"])
        self.addCleanup(self.stop)
        while not port_file.exists():
            self.assertIsNone(self.server.poll())
            time.sleep(0.01)
        self.url = f"http://127.0.0.1:{port_file.read_text().strip()}"

    def stop(self):
        self.server.terminate()
        self.assertEqual(self.server.wait(60), 0)

    def test_the_openapi_document_is_valid(self):
        with urllib.request.urlopen(self.url + "/_mayfly/openapi.json", timeout=60) as answer:
            OpenAPIV31SpecValidator(json.load(answer)).validate()

    def test_every_response_matches_the_openapi_document(self):
        for words in (["table", "create", "carts", "--ttl", "ttl"], ["item", "put", "carts", "id=1", "ttl=+1h"]):
            subprocess.run([os.environ["MAYFLY_SERVER"], *words, "--url", self.url], check=True, stdout=subprocess.DEVNULL)
        config = self.directory / "schemathesis.toml"
        config.write_text('[parameters]\n"path.table" = "carts"\n')  # a random name would not name an existing table
        result = subprocess.run(
            [SCHEMATHESIS, "--config-file", config, "run", self.url + "/_mayfly/openapi.json", "--checks", CHECKS, "--phases", "examples,coverage,fuzzing",
             "--max-examples", "20", "--seed", "1", "--request-timeout", "60", "--exclude-operation-id", "follow_events",
             "--suppress-health-check", "all", "--continue-on-failure"],
            cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "NO_COLOR": "1"},
        )
        self.assertEqual(result.returncode, 0, result.stdout[-20000:])


if __name__ == "__main__":
    unittest.main()
