"""Tests a running Mayfly with hostile servers behind --s3-endpoint, --function and --kinesis-endpoint. No matter what
they send, Mayfly's memory stays limited, the job or call fails with one message, and SIGTERM ends the server."""

import gzip
import json
import pathlib
import socket
import struct
import tempfile
import time
import unittest

from hostile_test import CHUNKED, Endpoint, whole
from mayfly_server import MayflyServer, eventually, is_instrumented, key_schema

TABLE = {
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": key_schema("id"),
}
MEGABYTES_MAX = 1000 if is_instrumented() else 200
SECONDS_MAX = 60  # for operations that normally take well under a second; allows for a busy machine
LINE = b'{"Item":{"id":{"S":"1"}}}\n'


def endless_extension(_):
    yield CHUNKED + b"5;a="
    while True:
        yield b"x" * (1 << 20)


def endless_trailers(_):
    yield CHUNKED + b"0\r\n"
    while True:
        yield b"a: b\r\n" * 100_000


def endless_header(_):
    yield b"HTTP/1.1 200 OK\r\n"
    while True:
        yield b"a: b\r\n" * 100_000


def endless_body(_):
    yield CHUNKED
    while True:
        yield b"100000\r\n" + b" " * (1 << 20) + b"\r\n"


def interim_answers(_):
    while True:
        yield b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 1000


HOSTILE = {
    "an endless chunk extension": endless_extension,
    "endless trailers": endless_trailers,
    "an endless header": endless_header,
    "an endless body": endless_body,
    "endless interim answers": interim_answers,
    "a false length": lambda _: [b"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n{}", b""],
    "a negative length": lambda _: [b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"],
    "two lengths": lambda _: [b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}"],
    "a switch of protocols": lambda _: [b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"],
    "a redirect": lambda _: [whole(b"", "302 Found", "Location: http://127.0.0.1:1/\r\n")],
    "bytes that are not HTTP": lambda _: [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 100],
    "odd bytes in headers": lambda _: [
        b"HTTP/1.1 500 \xff\xfe\r\nX-Amz-Function-Error: \xff\xfe\x80\r\nx-amz-request-id: \xff\r\nContent-Length: 0\r\n\r\n"
    ],
}


class Resetting(Endpoint):
    """Resets each connection after receiving a request."""

    def answer_all(self, connection):
        self.take(connection)
        self.asked.set()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


def megabytes(server):
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


class Servers(unittest.TestCase):
    def serve(self, *options):
        log = tempfile.TemporaryFile()
        self.addCleanup(log.close)
        server = MayflyServer(*options, log=log, log_level="debug")
        self.addCleanup(server.kill)
        server.log = log
        return server

    def check_end(self, server):
        """Checks that the server used little memory, logged only printable lines, and exits promptly."""
        self.assertLess(megabytes(server), MEGABYTES_MAX)
        server.stop()
        server.log.seek(0)
        logged = server.log.read()
        self.assertFalse([line for line in logged.split(b"\n") if any(byte < 32 or byte > 126 for byte in line)], logged[-2000:])
        server.kill = lambda: None


class Buckets(Servers):
    def job(self, server, **request):
        dynamodb = server.client("dynamodb")
        arn = dynamodb.import_table(
            S3BucketSource={"S3Bucket": "in", "S3KeyPrefix": ""},
            TableCreationParameters={"TableName": "carts", **TABLE},
            **{"InputFormat": "DYNAMODB_JSON", **request},
        )["ImportTableDescription"]["ImportArn"]

        def ended():
            shown = dynamodb.describe_import(ImportArn=arn)["ImportTableDescription"]
            return shown if shown["ImportStatus"] != "IN_PROGRESS" else None

        return eventually(ended, SECONDS_MAX)

    def fails(self, answer, *reasons, endpoint=Endpoint, **request):
        server = self.serve("--s3-endpoint", endpoint(self, answer).url)
        shown = self.job(server, **request)
        said = shown.get("FailureMessage", "")
        self.assertEqual(shown["ImportStatus"], "FAILED")
        self.assertLess(len(said), 2000)
        self.assertTrue(said.isprintable(), said)
        self.assertTrue(not reasons or any(reason in said for reason in reasons), said)
        self.check_end(server)
        return shown

    def test_every_hostile_response_from_a_bucket_takes_little_memory_and_time(self):
        for name, answer in HOSTILE.items():
            with self.subTest(name):
                self.fails(answer)
        with self.subTest("a reset"):
            self.fails(None, endpoint=Resetting)

    def test_a_hostile_listing_fails_the_import(self):
        listings = {
            "a million objects": "<Contents/>" * 1_000_000,
            "deep elements": "<a>" * 1_000_000,
            "a million names": "".join(f"<a{i}/>" for i in range(1_000_000)),
            "keys that lead out": "<Contents><Key>../../etc/passwd</Key><Size>5</Size></Contents>",
            "control characters": "<Contents><Key>a\x00b</Key><Size>5</Size></Contents>",
        }
        for name, inside in listings.items():
            with self.subTest(name):
                self.fails(lambda _: [whole(f"<ListBucketResult>{inside}</ListBucketResult>".encode())])
        attributes = "".join(f' a{i}=""' for i in range(1_000_000))
        entities = '<!DOCTYPE a [<!ENTITY b "xxxxxxxxxx"><!ENTITY c "' + "&b;" * 1000 + '">]><a>&c;</a>'
        for name, answer in {"a million attributes": f"<a{attributes}/>", "entities": entities}.items():
            with self.subTest(name):
                self.fails(lambda _: [whole(answer.encode())], "without a valid listing")

    def test_an_endless_listing_fails_the_import(self):
        def page(token, keys=()):
            objects = "".join(f"<Contents><Key>{key}</Key><Size>0</Size></Contents>" for key in keys)
            more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>"
            return [whole(f"<ListBucketResult>{more}{objects}</ListBucketResult>".encode())]

        self.fails(lambda _: page("again"), "the same continuation token twice")
        self.fails(lambda number: page(f"t{number}"), "more than 1000 pages without an object")
        self.fails(lambda number: page(f"t{number}", [f"{number}/"]), "more than 1000 pages without an object")

    def object(self, content, status="200 OK", headers=""):
        """Returns the responses of a bucket with one object."""
        listing = f"<ListBucketResult><Contents><Key>a</Key><Size>{len(content)}</Size></Contents></ListBucketResult>"
        return lambda number: [whole(listing.encode())] if number == 1 else [whole(content, status, headers)]

    def test_a_hostile_object_fails_the_import(self):
        bomb = gzip.compress(b"\n" * (1 << 26)) + gzip.compress(b"{")
        self.fails(self.object(bomb), InputCompressionType="GZIP")
        self.fails(self.object(b"{" + b"x" * 10_000_000))
        self.fails(self.object(LINE[:1], "206 Partial Content", f"Content-Range: bytes 0-0/{1 << 60}\r\n"), "a range other than the requested one")
        # The data before the trailing bytes is imported. The trailing bytes count as one bad record.
        shown = self.fails(self.object(gzip.compress(LINE) + b"trailing"), InputCompressionType="GZIP")
        self.assertEqual((shown["ImportedItemCount"], shown["ErrorCount"]), (1, 1))

    def test_a_response_that_trickles_in_does_not_delay_the_exit(self):
        def drip(_):
            yield CHUNKED
            while True:
                yield b"1\r\n \r\n"
                time.sleep(0.01)

        endpoint = Endpoint(self, drip)
        server = self.serve("--s3-endpoint", endpoint.url)
        server.client("dynamodb").import_table(
            S3BucketSource={"S3Bucket": "in"},
            TableCreationParameters={"TableName": "carts", **TABLE},
            InputFormat="DYNAMODB_JSON",
        )
        self.assertTrue(endpoint.asked.wait(SECONDS_MAX))
        self.check_end(server)


ANSWERS = {
    "deep JSON": lambda _: [whole(b"[" * 5_000_000)],
    "a million values": lambda _: [whole(b"[" + b"1," * 2_500_000 + b"1]")],
    "a million failures": lambda _: [whole(b'{"batchItemFailures":[' + b"{}," * 1_500_000 + b"{}]}")],
    "a state of 5 MB": lambda _: [whole(b'{"state":{"a":"' + b"x" * 5_000_000 + b'"}}')],
    "an escape sequence": lambda _: [whole({"errorType": "\x1b[31m\n", "errorMessage": "\x1b]0;x\x07\r\n" * 1000})],
    "text that is not UTF-8": lambda _: [whole(b'{"errorType":"\xff","errorMessage":"\xfe"}')],
    "an empty answer": lambda _: [whole(b"", "204 No Content")],
}


class Functions(Servers):
    def with_mapping(self, url, *options):
        server = self.serve("--function", f"told={url}", *options)
        dynamodb = server.client("dynamodb")
        dynamodb.create_table(
            TableName="carts", **TABLE, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
        )
        stream = dynamodb.describe_table(TableName="carts")["Table"]["LatestStreamArn"]
        server.client("lambda").create_event_source_mapping(
            FunctionName="told",
            EventSourceArn=stream,
            StartingPosition="TRIM_HORIZON",
            MaximumRetryAttempts=0,
            FunctionResponseTypes=["ReportBatchItemFailures"],
        )
        dynamodb.put_item(TableName="carts", Item={"id": {"S": "1"}})
        return server

    def test_every_hostile_response_from_a_function_takes_little_memory_and_time(self):
        for name, answer in {**HOSTILE, **ANSWERS}.items():
            with self.subTest(name):
                endpoint = Endpoint(self, answer)
                server = self.with_mapping(endpoint.url)
                self.assertTrue(endpoint.asked.wait(SECONDS_MAX))
                eventually(lambda: server.control("GET", "triggers")["triggers"][0]["last_result"] not in ("", "No records processed"), SECONDS_MAX)
                self.assertTrue(json.dumps(server.control("GET", "triggers")).isprintable())
                self.assertEqual(server.client("dynamodb").get_item(TableName="carts", Key={"id": {"S": "1"}})["Item"]["id"]["S"], "1")
                self.check_end(server)

    def test_a_direct_invocation_returns_a_printable_error_header(self):
        endpoint = Endpoint(self, HOSTILE["odd bytes in headers"])
        server = self.serve("--function", f"told={endpoint.url}")
        answered = server.client("lambda").invoke(FunctionName="told", Payload=b"{}")
        self.assertEqual(answered["FunctionError"], "???")
        self.check_end(server)

    def test_functions_that_do_not_respond_do_not_delay_the_exit(self):
        endpoint = Endpoint(self, lambda _: [b""])
        server = self.with_mapping(endpoint.url)
        self.assertTrue(endpoint.asked.wait(SECONDS_MAX))
        self.check_end(server)


class Kinesis(Servers):
    def test_every_hostile_response_from_kinesis_takes_little_memory_and_does_not_delay_the_exit(self):
        records = {"Records": [{"ErrorCode": "\x1b[31m", "ErrorMessage": "x" * 1000}] * 100_000}
        more = {"a million records": lambda _: [whole(b'{"Records":[' + b"{}," * 1_500_000 + b"{}]}")], "errors": lambda _: [whole(records)]}
        for name, answer in {**HOSTILE, **ANSWERS, **more}.items():
            with self.subTest(name):
                endpoint = Endpoint(self, answer)
                server = self.serve("--kinesis-endpoint", endpoint.url)
                dynamodb = server.client("dynamodb")
                dynamodb.create_table(TableName="carts", **TABLE)
                dynamodb.enable_kinesis_streaming_destination(
                    TableName="carts", StreamArn="arn:aws:kinesis:us-east-1:000000000000:stream/changes"
                )
                dynamodb.put_item(TableName="carts", Item={"id": {"S": "1"}})
                self.assertTrue(endpoint.asked.wait(SECONDS_MAX))
                # The next request arrives after the response has been processed. That request repeats the records or sends
                # the next records.
                dynamodb.put_item(TableName="carts", Item={"id": {"S": "2"}})
                eventually(lambda: endpoint.requests > 1, SECONDS_MAX)
                self.check_end(server)


if __name__ == "__main__":
    unittest.main()
