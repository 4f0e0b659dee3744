"""Tests a server with TLS, using boto3, the AWS CLI, Python's own client and Mayfly's commands."""

import datetime
import http.client
import ipaddress
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

from botocore.config import Config
from botocore.exceptions import ConnectionClosedError, SSLError
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from mayfly_server import MayflyServer, binary, eventually, key_schema


def make_certificate(directory):
    """Creates a self-signed certificate for this machine. Returns the paths of the certificate and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mayfly's tests")])
    now = datetime.datetime.utcnow()
    addresses = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        .sign(key, hashes.SHA256())
    )
    cert_file, key_file = pathlib.Path(directory) / "cert.pem", pathlib.Path(directory) / "key.pem"
    cert_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return str(cert_file), str(key_file)


def setUpModule():
    global server, cert, log
    directory = tempfile.TemporaryDirectory(prefix="mayfly-test-")
    unittest.addModuleCleanup(directory.cleanup)
    cert, key = make_certificate(directory.name)
    log = pathlib.Path(directory.name) / "log"
    with open(log, "w") as said:
        server = MayflyServer("--tls-cert", cert, "--tls-key", key, "--threads", "2", log=said)
    unittest.addModuleCleanup(server.stop)


def mayfly(*arguments, **environment):
    return subprocess.run(
        [binary(), *arguments],
        env={"PATH": os.environ["PATH"], **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )


def connection():
    return http.client.HTTPSConnection(
        "127.0.0.1", server.port, timeout=30, context=ssl.create_default_context(cafile=cert)
    )


class TlsTest(unittest.TestCase):
    def test_boto3_connects_only_if_it_trusts_the_certificate(self):
        dynamodb = server.client("dynamodb", verify=cert)
        dynamodb.create_table(
            TableName="carts",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=key_schema("id"),
            BillingMode="PAY_PER_REQUEST",
        )
        for number in range(8):
            item = {"id": {"S": str(number)}, "text": {"S": "x" * 390_000}}
            dynamodb.put_item(TableName="carts", Item=item)
        self.assertEqual(dynamodb.scan(TableName="carts", Select="COUNT")["Count"], 3)  # a page has at most one megabyte
        answer = dynamodb.batch_get_item(
            RequestItems={"carts": {"Keys": [{"id": {"S": str(number)}} for number in range(8)]}}
        )
        self.assertEqual({len(item["text"]["S"]) for item in answer["Responses"]["carts"]}, {390_000})
        with self.assertRaises(SSLError):
            server.client("dynamodb").list_tables()

    def test_a_connection_that_a_fault_drops_is_closed_at_once(self):
        def control(method, path, body=None):
            client = connection()
            headers = {"Content-Type": "application/json", "X-Mayfly-Account": "000000000077"}
            client.request(method, "/_mayfly" + path, body, headers)
            answer = client.getresponse().read().decode()
            client.close()
            return answer

        def open_connections():
            return int(re.search(r"^mayfly_connections (\d+)$", control("GET", "/metrics"), re.MULTILINE).group(1))

        control("PUT", "/faults", json.dumps({"rules": [{"fault": "connection_closed"}]}))
        before = open_connections()
        client = server.client("dynamodb", access_key="000000000077", verify=cert, config=Config(retries={"total_max_attempts": 1}))
        for _ in range(20):
            with self.assertRaises(ConnectionClosedError):
                client.list_tables()
        control("DELETE", "/faults", "{}")
        deadline = time.monotonic() + 30  # a stalled connection is closed only after a minute
        while open_connections() > before and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertLessEqual(open_connections(), before)

    def test_the_aws_cli_connects_if_it_trusts_the_certificate(self):
        limits = server.aws("dynamodb", "describe-limits", AWS_CA_BUNDLE=cert)
        self.assertIn("AccountMaxReadCapacityUnits", limits)

    def test_the_commands_trust_only_the_given_certificates(self):
        done = mayfly("clock", "show", "--json", "--url", server.url, "--ca-file", cert)
        self.assertEqual(json.loads(done.stdout)["mode"], "real", done.stderr)
        done = mayfly("clock", "show", MAYFLY_URL=server.url, MAYFLY_CA_FILE=cert)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = mayfly("clock", "show", "--url", server.url)
        self.assertEqual(
            (done.returncode, done.stderr),
            (
                1,
                f"mayfly: the TLS handshake with 127.0.0.1:{server.port} failed: self-signed certificate. "
                "Name a certificate to trust with --ca-file.\n",
            ),
        )
        done = mayfly("clock", "show", "--url", server.url.replace("127.0.0.1", "localhost"), SSL_CERT_FILE=cert)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_connection_serves_many_requests_and_the_servers_own_origin_is_https(self):
        asking = connection()
        for headers, status in (
            ({}, 200),
            ({"Origin": server.url}, 200),
            ({"Origin": server.url.replace("https", "http")}, 403),
            ({"Sec-Fetch-Site": "cross-site"}, 403),
            ({"Host": "evil.example"}, 403),
            ({"Connection": "close"}, 200),
        ):
            with self.subTest(headers):
                asking.request("GET", "/", headers=headers)
                answer = asking.getresponse()
                self.assertEqual(answer.status, status)
                answer.read()
        # The connection ends with TLS's close notification, not abruptly.
        whole = ssl.create_default_context(cafile=cert)
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as plain:
            with whole.wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=False) as secure:
                secure.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                said = b""
                while piece := secure.recv(65536):
                    said += piece
        self.assertIn(b"healthy", said)

    def test_a_body_that_is_too_large_gets_a_response(self):
        asking = connection()
        asking.putrequest("POST", "/")
        asking.putheader("Content-Length", str(17 * 1024 * 1024))
        asking.endheaders()
        answer = asking.getresponse()
        self.assertEqual(answer.status, 413)
        asking.close()

    def test_a_plain_http_connection_is_closed_and_the_log_says_why(self):
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            said = b""
            try:
                while piece := plain.recv(65536):
                    said += piece
            except ConnectionResetError:
                pass
        self.assertNotIn(b"HTTP/", said)
        line = "warning closed a connection whose client used plain HTTP instead of TLS; the client's URL must begin with https://"
        eventually(lambda: line in log.read_text())

    def test_unusable_certificate_and_key_files_are_reported_in_one_sentence(self):
        for arguments, sentence in (
            (["--tls-cert", cert], "TLS needs a certificate and its key, but there is no key (--tls-key)"),
            (
                ["--tls-cert", "/nowhere", "--tls-key", cert],
                "cannot use the TLS certificate /nowhere: No such file or directory",
            ),
            (["--require-signature"], "--require-signature needs keys: name a file of keys with --keys, or set "),
            (["--require-signature", "--keys", "/nowhere"], "cannot use the keys in /nowhere: No such file or directory"),
            (["--keys", cert], f"the keys in {cert} have no effect without --require-signature"),
            (["--require-signature", "--keys", cert], f"cannot use the keys in {cert}: line 1 is not a setting"),
        ):
            with self.subTest(arguments):
                done = mayfly("serve", "--port", "0", *arguments)
                self.assertEqual(done.returncode, 1)
                self.assertTrue(done.stderr.startswith("mayfly: " + sentence), done.stderr)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
