"""Compares the OpenAPI document with the list of calls and with docs/calls.md.

    openapi_test.py --write    writes docs/calls.md
"""

import json
import pathlib
import sys
import unittest
import urllib.request

from mayfly_server import MayflyServer

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "calls.md"
TYPES = {"integer": "whole number", "object": "object", "array": "array", "boolean": "true or false"}


def get(server, path):
    with urllib.request.urlopen(server.url + path, timeout=60) as answer:
        return json.load(answer)


def type_of(schema):
    """Describes a schema in words: "whole number, 1 to 100"."""
    kind = schema.get("type", "any value")
    nullable = isinstance(kind, list)
    kind = kind[0] if nullable else kind
    words = "time" if schema.get("format") == "date-time" else TYPES.get(kind, kind)
    if "enum" in schema:
        words = ", ".join(f"`{name}`" for name in schema["enum"])
    if kind == "array" and "properties" in schema.get("items", {}):
        words = "array of objects"
    limits = schema if kind != "array" else schema.get("items", {})
    if "maximum" in limits:
        words += f", {limits['minimum']:,} to {limits['maximum']:,}"
    if "maxLength" in schema:
        words += f", at most {schema['maxLength']:,} bytes"
    if "maxItems" in schema and "minItems" not in schema:
        words += f", at most {schema['maxItems']}"
    return words + (" or null" if nullable else "")


def rows(schema, prefix=""):
    """Returns a table row for each member, including the members of its objects."""
    for name, member in schema.get("properties", {}).items():
        required = name in schema.get("required", [])
        yield prefix + name, type_of(member), required, member.get("default"), member.get("description", "")
        inner = member.get("items", member) if member.get("type") == "array" else member
        yield from rows(inner, prefix + name + ("[]." if member.get("type") == "array" else "."))
        more = member.get("additionalProperties")
        if isinstance(more, dict) and "properties" in more:
            yield from rows(more, prefix + name + ".*.")


def table(title, lines):
    return [f"| {title} | type | |", "|---|---|---|", *lines, ""]


def line(name, words, about, required=False, default=None):
    extra = "required" if required else "" if default is None else f"default: `{json.dumps(default)}`"
    return f"| `{name}` | {words} | {about}{f' ({extra})' if extra else ''} |"


def page(document):
    text = [
        "# Reference: control calls",
        "",
        "<!-- Written by tests/sdk/openapi_test.py --write from the descriptions in compat/control. Change them there. -->",
        "",
        "[The control API](control.md) explains these calls with examples. `GET /_mayfly/openapi.json` returns the same",
        "descriptions for programs, in OpenAPI 3.1.",
        "",
    ]
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            text += [f"## {method.upper()} {path}", "", call["summary"] + ".", ""]
            given = [line(p["name"], type_of(p["schema"]), p["description"], p["required"], p["schema"].get("default"))
                     for p in call["parameters"] if p.get("in") == "query"]
            if given:
                text += table("query", given)
            if "requestBody" in call:
                schema = call["requestBody"]["content"]["application/json"]["schema"]
                members = [line(name, words, about, required, default)
                           for name, words, required, default, about in rows(schema)]
                if members:
                    text += table("member", members)
            for media, content in call["responses"]["200"]["content"].items():
                answer = [line(name, words, about) for name, words, _, _, about in rows(content["schema"])]
                if answer:
                    text += table("response", answer)
                elif media != "application/json":
                    text += [f"The response is `{media}`.", ""]
    return "\n".join(text)


class OpenApiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = MayflyServer.for_module()
        cls.document = get(cls.server, "/_mayfly/openapi.json")

    def test_the_openapi_document_has_every_call_that_the_server_lists(self):
        described = {f"{method.upper()} {path}": call["summary"]
                     for path, methods in self.document["paths"].items() for method, call in methods.items()}
        self.assertEqual(described, get(self.server, "/_mayfly/")["calls"])

    def test_references_in_the_openapi_document_resolve_and_operations_have_unique_ids(self):
        names = []
        for methods in self.document["paths"].values():
            for call in methods.values():
                names.append(call["operationId"])
                self.assertIn("200", call["responses"])
                for one in [*call["parameters"], *call["responses"].values()]:
                    if "$ref" in one:
                        place = self.document
                        for step in one["$ref"].removeprefix("#/").split("/"):
                            place = place[step]
        self.assertEqual(len(names), len(set(names)))

    def test_the_reference_page_is_up_to_date(self):
        self.assertEqual(PAGE.read_text(), page(self.document), "update it with tests/sdk/openapi_test.py --write")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        started = MayflyServer()
        try:
            PAGE.write_text(page(get(started, "/_mayfly/openapi.json")))
        finally:
            started.stop()
    else:
        unittest.main()
