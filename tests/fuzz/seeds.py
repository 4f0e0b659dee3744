#!/usr/bin/env python3
"""Makes fuzzing inputs from the golden scripts and from the expressions, items and tokens in their requests.

    seeds.py DIRECTORY          writes DIRECTORY/TARGET/… for each fuzz target
"""
import hashlib
import json
import pathlib
import re
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent / "scripts"
STREAMS = ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
# Operations that have their own MCP tool.
TOOLS = ("BatchGetItem", "BatchWriteItem", "CreateTable", "DeleteItem", "DeleteTable", "DescribeStream", "DescribeTable", "GetItem",
         "ListStreams", "ListTables", "PutItem", "Query", "Scan", "TransactGetItems", "TransactWriteItems", "UpdateItem", "UpdateTable",
         "UpdateTimeToLive")
REQUESTS_MAX = 5  # per input; a fuzzer makes faster progress with short inputs


class Seeds:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def add(self, target, text):
        content = text.encode()
        path = self.folder / target / hashlib.sha256(content).hexdigest()[:16]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def steps_of(script):
    """Returns the steps of a golden script, each a kind (one of > < = @) and its text."""
    steps = []
    for line in script.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if line[0] in "><=@":
            steps.append([line[0], line[1:].strip()])
        elif steps:
            steps[-1][1] += " " + line.strip()
    return steps


def names_of(steps):
    """Maps the script's variables to the response members that they capture: {"arn": "LatestStreamArn"}."""
    names = {}
    for kind, text in steps:
        if kind == "<":
            for member, variable in re.findall(r'"(\w+)":"\$(\w+)"', text):
                names.setdefault(variable, member)
    return names


def add_script(seeds, script):
    steps = steps_of(script)
    names = names_of(steps)
    lines = []
    for kind, text in steps:
        if kind == ">" or (kind == "@" and text.startswith("advance")):
            lines.append(kind + " " + re.sub(r'"\$(\w+)"', lambda found: '"$' + names.get(found[1], found[1]) + '"', text))
    tables = [line for line in lines if line.startswith("> CreateTable")][:2]
    for first in range(0, len(lines), REQUESTS_MAX):
        part = lines[first:first + REQUESTS_MAX]
        seeds.add("requests", "\n".join((tables if first else []) + part) + "\n")
    for line in lines:
        operation, _, body = line[2:].partition(" ")
        if line.startswith("> ") and body:
            add_request(seeds, operation, body)
    add_messages(seeds, [line[2:].partition(" ") for line in lines if line.startswith("> ")])


def add_messages(seeds, requests):
    """Adds a script's first requests as MCP messages. They call the operation's own tool or the generic `operation` tool."""
    messages = []
    for number, (operation, _, body) in enumerate(requests[:REQUESTS_MAX]):
        try:
            request = json.loads(body or "{}")
        except (ValueError, RecursionError):
            continue
        tool = re.sub(r"(?<!^)(?=[A-Z])", "_", operation).lower()
        called = {"name": "operation", "arguments": {"operation": operation, "request": request}}
        if operation in TOOLS:
            called = {"name": tool, "arguments": request}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": called}
        messages.append(json.dumps(message, ensure_ascii=False, separators=(",", ":")))
    if messages:
        seeds.add("mcp", "\n" + "\n".join(messages) + "\n")


def add_request(seeds, operation, body):
    seeds.add("json", body)
    service = "DynamoDBStreams_20120810" if operation in STREAMS else "DynamoDB_20120810"
    # The first two bytes seed the random splitting of the request into pieces.
    seeds.add("http_pieces", "\0\1POST / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nContent-Type: application/x-amz-json-1.0\r\n"
              f"X-Amz-Target: {service}.{operation}\r\nX-Amz-Date: 20240101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 "
              "Credential=000000000042/20240101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, "
              f"Signature=0\r\nContent-Length: {len(body.encode())}\r\n\r\n{body}")
    try:
        walk(seeds, json.loads(body))
    except (ValueError, RecursionError):
        pass  # golden scripts also send malformed JSON


def walk(seeds, value):
    for child in value if isinstance(value, list) else []:
        walk(seeds, child)
    for name, child in value.items() if isinstance(value, dict) else []:
        if name.endswith("Expression") and isinstance(child, str):
            seeds.add("expressions", "\1" + child)
        elif name == "Statement" and isinstance(child, str):
            seeds.add("statements", child)
        elif name in ("Item", "Key") and isinstance(child, dict):
            line = json.dumps(child, ensure_ascii=False)
            seeds.add("stored_bytes", f"\n{line}\n{line}")
        elif name.endswith(("Arn", "Token", "Iterator", "TableName")) and isinstance(child, str):
            seeds.add("tokens", child)
        walk(seeds, child)


def add_signing_suite(seeds):
    """Adds the requests of AWS's published signing test suite, which are in one file."""
    text = (SCRIPTS.parent / "http" / "aws_signing_test_suite.txt").read_text()
    for request in re.findall(r"^(?:GET|POST) .*?(?=\n\n)", text, re.M | re.S):
        seeds.add("signatures", request.replace(" HTTP/1.1\n", "\n") + "\n\n")


def main(folder):
    seeds = Seeds(folder)
    for script in sorted(SCRIPTS.rglob("*.txt")):
        add_script(seeds, script)
    add_signing_suite(seeds)


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(sys.argv[1])
