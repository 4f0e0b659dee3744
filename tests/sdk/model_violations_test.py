"""Checks that everything the API model forbids is rejected, at every depth of every supported operation.

The model comes from the installed botocore. One run of this test uses Debian's botocore. Another run, which has the label
`registries`, uses the newest botocore. From each operation's input the test derives every single violation: a value of a
wrong JSON type for each member, list element and map value; strings and numbers that are below their minimum, are above
their maximum, do not match their pattern or are not in their enum; lists and maps that are too short or too long; required
members that are missing or null. The rest of each request satisfies the model, but usually does not fit the table.

A wrong type must get a SerializationException, and a broken constraint must get a ValidationException. No request may succeed
or get an internal error.
"""

import http.client
import json
import unittest

import botocore.loaders

from mayfly_server import MayflyServer
from raw_http_test import AUTHORIZATION

WRONG_TYPES = {
    "string": [1, True, [], {}],
    "integer": ["x", True, [], {}],
    "long": ["x", True, [], {}],
    "double": ["x", True, [], {}],
    "boolean": ["x", 1, [], {}],
    "timestamp": ["x", True, [], {}],
    "blob": [1, True, [], {}, "#"],
    "list": ["x", 1, True, {}],
    "map": ["x", 1, True, []],
    "structure": ["x", 1, True, []],
}
TABLE_ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/violations"
VALID_MEMBERS = {
    "TableName": "violations",
    "ResourceArn": TABLE_ARN,
    "TableArn": TABLE_ARN,
    "StreamArn": TABLE_ARN + "/stream/2024-01-01T00:00:00.000",
    "BackupArn": TABLE_ARN + "/backup/01700000000000-00000000",
}
# AWS returns AccessDeniedException for anything that does not look like an ARN, before other checks.
ARN_REFUSED = {"TagResource", "UntagResource", "ListTagsOfResource"}
# Older models forbid what AWS now allows: key schemas with up to eight attributes in global indexes.
ALLOWED_SINCE = {".GlobalSecondaryIndexUpdates[].Create.KeySchema"}


# For operations that AWS's newest front end parses (compat/wire/strict_reader.h), a missing member is a
# SerializationException.
READ_STRICTLY = {"SearchVectors"}


class Model:
    """Generates violations for one service's operations."""

    def __init__(self, service):
        self.model = botocore.loaders.Loader().load_service_model(service, "service-2")
        self.target_prefix = self.model["metadata"]["targetPrefix"]
        self.operations = self.model["operations"]

    def shape(self, name):
        return self.model["shapes"][name]

    def valid(self, name, member=None):
        """Returns a small value that satisfies the shape."""
        shape = self.shape(name)
        kind = shape["type"]
        if member in VALID_MEMBERS:
            return VALID_MEMBERS[member]
        if name == "AttributeValue":
            return {"S": "a"}
        if kind == "string":
            return shape["enum"][0] if "enum" in shape else "a" * min(max(3, shape.get("min", 1)), shape.get("max", 3))
        if kind in ("integer", "long"):
            return max(1, shape.get("min", 1))
        if kind == "list":
            return [self.valid(shape["member"]["shape"]) for _ in range(max(1, shape.get("min", 1)))]
        if kind == "map":
            return {"key": self.valid(shape["value"]["shape"])}
        if kind == "structure":
            return {each: self.valid(shape["members"][each]["shape"], each) for each in shape.get("required", [])}
        return {"double": 1.5, "boolean": True, "timestamp": 1700000000, "blob": "YQ=="}[kind]

    def violations(self, name, wrap=lambda value: value, path="", outer=(), member=None):
        """Yields (path, kind of violation, request) for everything that the shape and its nested shapes forbid. Recursive
        shapes are entered twice."""
        if outer.count(name) == 2:
            return
        outer += (name,)
        shape = self.shape(name)
        kind = shape["type"]
        for value in WRONG_TYPES[kind]:
            yield path, "type", wrap(value)
        for value in self.out_of_bounds(name, member):
            yield path, "constraint", wrap(value)
        below = []
        if kind == "list":
            below = [("[]", shape["member"]["shape"], lambda value: wrap([value]), None)]
        elif kind == "map":
            below = [("{}", shape["value"]["shape"], lambda value: wrap({"key": value}), None)]
        elif kind == "structure":
            others = {} if name == "AttributeValue" else self.valid(name)
            for required in shape.get("required", []):
                rest = {each: value for each, value in others.items() if each != required}
                missing = "missing member" if path == "" else "constraint"
                yield f"{path}.{required}", missing, wrap(rest)
                yield f"{path}.{required}", missing, wrap({**rest, required: None})
            for each, described in shape["members"].items():
                below.append((f".{each}", described["shape"], lambda value, each=each: wrap({**others, each: value}), each))
        for step, inner, inner_wrap, inner_member in below:
            yield from self.violations(inner, inner_wrap, path + step, outer, inner_member)

    def out_of_bounds(self, name, member):
        shape = self.shape(name)
        kind = shape["type"]
        low, high = shape.get("min"), shape.get("max")
        if kind in ("integer", "long"):
            yield from ([] if low is None else [low - 1]) + ([] if high is None else [high + 1])
        elif kind == "string" and "enum" in shape:
            yield "NONE_OF_THEM"
        elif kind == "string":
            yield from ([self.valid(name, member)[: low - 1]] if low else []) + (["a" * (high + 1)] if high else [])
            # The patterns use Java's syntax. All of them exclude control characters, except one that excludes only dollar signs.
            yield from (["$$$" if "^\\$" in shape["pattern"] else "\x01\x01\x01"] if "pattern" in shape else [])
        elif kind == "list":
            element = self.valid(shape["member"]["shape"])
            yield from ([[element] * (low - 1)] if low else []) + ([[element] * (high + 1)] if high else [])
        elif kind == "map":
            value = self.valid(shape["value"]["shape"])
            key = self.shape(shape["key"]["shape"])
            yield from ([{}] if low else []) + ([{f"key{i}": value for i in range(high + 1)}] if high else [])
            yield from ([{"a" * (key["max"] + 1): value}] if key.get("max") else [])
            yield from ([{"\x01\x01\x01": value}] if key.get("pattern") else [])


class ModelViolationsTest(unittest.TestCase):
    def setUp(self):
        self.server = MayflyServer()
        self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)

    def tearDown(self):
        self.connection.close()
        self.server.stop()

    def error_of(self, target, request):
        """Returns the response's status and its error type without the namespace."""
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Date": "20240101T000000Z",
            "X-Amz-Target": target,
            "Authorization": AUTHORIZATION,
        }
        self.connection.request("POST", "/", json.dumps(request), headers)
        response = self.connection.getresponse()
        answer = json.loads(response.read() or "{}")
        if response.status == 200 and "Responses" in answer:  # each statement of a batch has its own error
            errors = [each.get("Error", {}).get("Code") for each in answer["Responses"]]
            return response.status, errors[0] if errors else None
        return response.status, answer.get("__type", "").split("#")[-1]

    def test_every_request_that_the_model_forbids_gets_the_right_kind_of_error(self):
        counts = {"type": 0, "constraint": 0, "missing member": 0}
        operations = 0
        for model in (Model("dynamodb"), Model("dynamodbstreams")):
            for operation, described in model.operations.items():
                target = f"{model.target_prefix}.{operation}"
                if "input" not in described or self.error_of(target, {})[1] == "UnknownOperationException":
                    continue
                operations += 1
                for path, what, request in model.violations(described["input"]["shape"]):
                    counts[what] += 1
                    status, error = self.error_of(target, request)
                    strictly = what == "missing member" and operation in READ_STRICTLY
                    expected = (
                        {"SerializationException"}
                        if what == "type" or strictly
                        else {"ValidationException", "ValidationError"}
                    )
                    if operation in ARN_REFUSED and path == ".ResourceArn":
                        expected.add("AccessDeniedException")
                    if path in ALLOWED_SINCE:
                        expected.add("ResourceNotFoundException")
                    if error not in expected:
                        with self.subTest(operation=operation, path=path, what=what, request=request):
                            self.fail(f"{status} {error}")
        # With the 29 operations in Debian's botocore of 2022, the counts exceed these minimums. A newer botocore has more
        # operations.
        self.assertGreaterEqual(operations, 25)
        self.assertGreater(counts["type"], 4000)
        self.assertGreater(counts["constraint"], 500)
        print(operations, "operations reject", counts, flush=True)


if __name__ == "__main__":
    unittest.main()
