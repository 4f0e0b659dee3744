#!/usr/bin/env python3
"""Installs released packages as a user would, and uses them: install_test.py --dist DIST [archive] [python] [npm]

It runs on Linux, macOS and Windows, and needs only Python, Node.js and their registries. The workflow runs it on a real machine of
each platform. It takes the packages for this machine from DIST, whose files must match DIST/SHA256SUMS, and never looks for Mayfly
in a registry. The packages' own suites, which `suite` runs, test much more.
"""

import argparse
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
import venv
import zipfile

WINDOWS = os.name == "nt"
start_seconds_max = 30
command_seconds_max = 900


def fail(message):
    sys.exit(f"install_test: {message}")


def this_platform():
    system = {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}.get(platform.system(), platform.system())
    machine = {"amd64": "x86_64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine().lower())
    return f"{system}-{machine}"


def run(*arguments, directory=None, environment=None):
    shown = " ".join(map(str, arguments))
    print(f"install_test: {shown}", flush=True)
    # On Windows npm is a batch file, which needs its whole path.
    program = shutil.which(str(arguments[0])) or arguments[0]
    unset = {"MAYFLY_URL", "MAYFLY_BINARY"}
    clean = {name: value for name, value in os.environ.items() if name not in unset and not name.startswith("AWS_")}
    done = subprocess.run(
        [program, *map(str, arguments[1:])],
        cwd=directory,
        env={**clean, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=command_seconds_max,
        check=False,
    )
    if done.returncode:
        print(done.stdout[-20000:])
        fail(f"{shown} failed with status {done.returncode}")
    return done.stdout


def version_of(dist):
    """The version of the release archives in DIST."""
    found = {re.fullmatch(r"mayfly-(\d+\.\d+\.\d+)-linux-x86_64\.tar\.gz", path.name) for path in dist.iterdir()} - {None}
    if len(found) != 1:
        fail(f"{dist} must contain one release archive for linux-x86_64")
    return found.pop()[1]


def verified(dist, name):
    """The path of a file of DIST whose hash is the one in SHA256SUMS."""
    listed = dict(reversed(line.split("  ", 1)) for line in (dist / "SHA256SUMS").read_text().splitlines())
    path = dist / name
    if not path.is_file():
        fail(f"{path} is missing")
    if hashlib.sha256(path.read_bytes()).hexdigest() != listed.get(name):
        fail(f"{path} does not have the hash in SHA256SUMS")
    return path


def unpack(dist, directory):
    """Unpacks this platform's release archive and returns the path of the program."""
    version, system = version_of(dist), this_platform()
    name = f"mayfly-{version}-{system}"
    path = verified(dist, f"{name}.zip" if WINDOWS else f"{name}.tar.gz")
    if WINDOWS:
        with zipfile.ZipFile(path) as archive:
            if any(".." in inside.split("/") or inside.startswith("/") or ":" in inside for inside in archive.namelist()):
                fail(f"{path} contains an unsafe name")
            archive.extractall(directory)
    else:
        with tarfile.open(path) as archive:
            if hasattr(tarfile, "data_filter"):
                archive.extractall(directory, filter="data")
            else:
                fail("Python 3.9.17, 3.10.12, 3.11.4 or later is needed to unpack archives safely")
    return directory / name / ("mayfly.exe" if WINDOWS else "bin/mayfly")


class Server:
    """A server of the unpacked program, until the end of the `with` statement."""

    def __init__(self, program, directory, *options):
        self.ports = directory / "port"
        self.ports.unlink(missing_ok=True)
        self.log = open(directory / "log", "wb")
        self.process = subprocess.Popen(
            [program, "serve", "--port", "0", "--port-file", self.ports, "--exit-with-parent", *options],
            stdout=self.log,
            stderr=self.log,
            stdin=subprocess.DEVNULL,
        )

    def __enter__(self):
        deadline = time.monotonic() + start_seconds_max
        while not (self.ports.is_file() and self.ports.read_text().strip()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                fail(f"the server does not start: {pathlib.Path(self.log.name).read_text(errors='replace')}")
            time.sleep(0.05)
        self.url = f"http://127.0.0.1:{self.ports.read_text().strip()}"
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(start_seconds_max)
        self.log.close()

    def call(self, operation, **members):
        request = urllib.request.Request(
            self.url,
            data=json.dumps(members).encode(),
            headers={
                "Content-Type": "application/x-amz-json-1.0",
                "X-Amz-Target": f"DynamoDB_20120810.{operation}",
                "X-Amz-Date": "20260101T000000Z",
                "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=start_seconds_max) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            fail(f"{operation} gets {error.code}: {error.read(1000).decode(errors='replace')}")


TABLE = {
    "TableName": "carts",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
}


def archive(dist, work):
    """The archive's program keeps data in a directory whose name has a space and an umlaut, over a restart."""
    program = unpack(dist, work)
    told = run(program, "--version").strip()
    if told != f"mayfly {version_of(dist)}":
        fail(f"the program prints '{told}' for --version")
    data = work / "data in ä"
    with Server(program, work, "--data", data) as server:
        run(program, "health", "--url", server.url)
        server.call("CreateTable", **TABLE)
        server.call("PutItem", TableName="carts", Item={"id": {"S": "é"}})
    with Server(program, work, "--data", data) as server:
        items = server.call("Scan", TableName="carts")["Items"]
        if items != [{"id": {"S": "é"}}]:
            fail(f"after a restart, the table contains {items}")
    run(program, "verify", "--data", data)


PYTHON_TEST = """
def test_a_cart_is_gone_after_two_days(mayfly):
    mayfly.create_table("carts", key="id", ttl="ttl")
    mayfly.clock.freeze()
    mayfly.dynamodb.put_item(TableName="carts", Item={"id": {"S": "1"}, "ttl": {"N": str(mayfly.clock.epoch_seconds(48 * 3600))}})
    assert mayfly.clock.advance(hours=48, seconds=1).tables == {"carts": 1}
"""


def python(dist, work):
    """pip chooses this platform's wheel, and a test with the fixture passes."""
    for wheel in dist.glob("mayfly_dynamodb-*.whl"):
        verified(dist, wheel.name)
    environment = work / "environment"
    venv.create(environment, with_pip=True)
    interpreter = environment / ("Scripts/python.exe" if WINDOWS else "bin/python")
    pip = [interpreter, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run(*pip, "--no-index", "--no-deps", "--find-links", dist, f"mayfly-dynamodb=={version_of(dist)}")
    run(*pip, "pytest", "boto3")
    (work / "carts_test.py").write_text(PYTHON_TEST)
    told = run(interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", "carts_test.py", directory=work)
    if "1 passed" not in told:
        fail(f"pytest did not run the test: {told}")


NODE_TEST = """
import assert from "node:assert";
import { test } from "node:test";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { openWorld } from "mayfly-dynamodb/node-test";

test("a cart is gone after two days", async (t) => {
  const world = await openWorld(t);
  await world.createTable("carts", { key: "id", ttl: "ttl" });
  const ttl = await world.clock.epochSeconds("24h");
  await world.documents.send(new PutCommand({ TableName: "carts", Item: { id: "1", ttl } }));
  assert.equal((await world.clock.advance("48h")).expired, 1);
});
"""
NODE_PLATFORMS = {
    "linux-x86_64": "linux-x64",
    "linux-arm64": "linux-arm64",
    "macos-arm64": "darwin-arm64",
    "macos-x86_64": "darwin-x64",
    "windows-x86_64": "win32-x64",
}


def npm(dist, work):
    """npm installs the main package with this platform's package, and a test for node:test passes."""
    version = version_of(dist)
    tarballs = [
        verified(dist, f"mayfly-dynamodb-{part}{version}.tgz") for part in ("", NODE_PLATFORMS[this_platform()] + "-")
    ]
    (work / "package.json").write_text('{"private": true}')
    quiet = ["--no-audit", "--no-fund", "--ignore-scripts"]
    run(
        "npm",
        "install",
        *quiet,
        *tarballs,
        "@aws-sdk/client-dynamodb",
        "@aws-sdk/client-dynamodb-streams",
        "@aws-sdk/lib-dynamodb",
        directory=work,
    )
    (work / "carts.test.mjs").write_text(NODE_TEST)
    told = run("node", "--test", "--test-reporter=tap", "carts.test.mjs", directory=work)
    if not re.search(r"^# pass 1$", told, re.MULTILINE):
        fail(f"node did not run the test: {told}")


PACKAGES = {"archive": archive, "python": python, "npm": npm}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=pathlib.Path, required=True)
    parser.add_argument(
        "--unpack", type=pathlib.Path, metavar="DIRECTORY", help="only unpack the program, and print its path"
    )
    parser.add_argument("package", nargs="*", help=" ".join(PACKAGES))
    given = parser.parse_args()
    dist = given.dist.resolve()
    unknown = set(given.package) - set(PACKAGES)
    if unknown:
        fail(f"unknown package '{unknown.pop()}'; choose from: {' '.join(PACKAGES)}")
    if given.unpack:
        given.unpack.mkdir(parents=True, exist_ok=True)
        print(unpack(dist, given.unpack.resolve()).as_posix())
        return
    for name in given.package or PACKAGES:
        with (
            tempfile.TemporaryDirectory(prefix="mayfly-", ignore_cleanup_errors=True)
            if sys.version_info >= (3, 10)
            else tempfile.TemporaryDirectory() as work
        ):
            PACKAGES[name](dist, pathlib.Path(work).resolve())
        print(f"install_test: {name}: passed on {this_platform()}", flush=True)


if __name__ == "__main__":
    main()
