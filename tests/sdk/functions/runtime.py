"""A client of Lambda's Runtime API with nothing but the standard library: python3 runtime.py FILE.FUNCTION"""
import http.client
import importlib
import json
import os
import pathlib
import sys
import traceback

api = http.client.HTTPConnection(os.environ["AWS_LAMBDA_RUNTIME_API"])


def call(method, path, body=None):
    api.request(method, "/2018-06-01/runtime" + path, body, {"Content-Type": "application/json"})
    response = api.getresponse()
    return response.headers, response.read()


sys.path.insert(0, str(pathlib.Path(__file__).parent))
module, _, name = os.environ.get("_HANDLER", sys.argv[-1]).rpartition(".")
handler = getattr(importlib.import_module(module), name)
while True:
    headers, event = call("GET", "/invocation/next")
    request = headers["Lambda-Runtime-Aws-Request-Id"]
    try:
        result = json.dumps(handler(json.loads(event), headers))
    except Exception as error:
        traceback.print_exc()
        described = {"errorType": type(error).__name__, "errorMessage": str(error)}
        call("POST", f"/invocation/{request}/error", json.dumps(described))
    else:
        call("POST", f"/invocation/{request}/response", result)
