"""Installs and starts the peers: other servers with DynamoDB's API, with which Mayfly is compared.

    peers, skipped = fetch(("dynoxide", "moto"), progress)
    peers["moto"].command(port, directory=None)     # the command, or None if the peer cannot store tables in a directory

The versions of the peers are pinned in bench/peers.json. The package registries' own clients install the peers under
build/peers, with this machine's configuration. A peer that cannot be installed is skipped, and the reason is reported.
"""

import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys
import typing

ROOT = pathlib.Path(__file__).resolve().parents[1]
PINS = json.loads((ROOT / "bench" / "peers.json").read_text())
INSTALLED = ROOT / "build" / "peers"
INSTALL_SECONDS_MAX = 1800

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>mayfly</groupId><artifactId>peers</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>{0}</groupId><artifactId>{1}</artifactId><version>{2}</version>
  </dependency></dependencies>
</project>
"""


@dataclasses.dataclass
class Server:
    name: str
    version: str
    # A function of a port and a directory for the server's tables (None: the tables are in memory). Returns the command's
    # words, or None if the server cannot store tables in a directory.
    command: typing.Callable
    environment: typing.Callable = lambda port: {}
    start_seconds_max: int = 60


class Missing(Exception):
    """Raised with the reason why a peer cannot be installed."""


def run(place, *command):
    with open(place / "install.log", "a") as log:
        try:
            subprocess.run(
                command, cwd=place, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True,
                timeout=INSTALL_SECONDS_MAX,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Missing(f"{command[0]} did not finish within {INSTALL_SECONDS_MAX // 60} minutes") from None
        except (subprocess.CalledProcessError, OSError) as error:
            last = (place / "install.log").read_text(errors="replace").strip().splitlines()[-1:]
            raise Missing(f"{pathlib.Path(command[0]).name} failed: {''.join(last) or error}") from None


def needs(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Missing(f"{tool} is not installed")


def install_dynoxide(place, pin):
    needs("cargo")
    run(place, "cargo", "install", "--locked", "--root", str(place), "--version", pin["version"], pin["package"])


def install_dynamodb_local(place, pin):
    needs("java", "mvn")
    (place / "pom.xml").write_text(POM.format(*pin["package"].split(":"), pin["version"]))
    run(place, "mvn", "-B", "-ntp", "dependency:copy-dependencies", f"-DoutputDirectory={place / 'jars'}")


def install_dynalite(place, pin):
    needs("node", "npm")
    run(place, "npm", "install", "--prefix", str(place), "--no-audit", "--no-fund",
        f"{pin['package']}@{pin['version']}")  # fmt: skip


def install_from_pypi(place, pin):
    run(place, sys.executable, "-m", "venv", str(place))
    run(place, str(place / "bin" / "pip"), "install", "--quiet", f"{pin['package']}=={pin['version']}")


def dynoxide(place):
    def command(port, directory):
        storage = ("--db-path", f"{directory}/tables.db") if directory else ()
        return [f"{place}/bin/dynoxide", "serve", "--port", str(port), *storage]

    return {"command": command}


def dynamodb_local(place):
    def command(port, directory):
        storage = ("-dbPath", str(directory)) if directory else ("-inMemory",)
        return [
            *("java", f"-Dsqlite4java.library.path={place}/jars", "-cp", f"{place}/jars/*"),
            *("software.amazon.dynamodb.services.local.main.ServerRunner", "-sharedDb", "-port", str(port), *storage),
        ]

    return {"command": command}


def dynalite(place):
    def command(port, directory):
        storage = ("--path", str(directory)) if directory else ()
        # Makes table changes immediate, as in Mayfly.
        quick = [word for change in ("create", "delete", "update") for word in (f"--{change}TableMs", "0")]
        return ["node", f"{place}/node_modules/dynalite/cli.js", "--host", "127.0.0.1", "--port", str(port),
                *quick, *storage]  # fmt: skip

    return {"command": command}


def moto(place):
    def command(port, directory):
        return None if directory else [f"{place}/bin/moto_server", "-H", "127.0.0.1", "-p", str(port)]

    return {"command": command}


def ministack(place):
    def command(port, directory):
        return None if directory else [f"{place}/bin/ministack"]

    # Makes MiniStack start only its DynamoDB services and log only warnings and errors.
    return {
        "command": command,
        "environment": lambda port: {"GATEWAY_PORT": str(port), "SERVICES": "dynamodb,dynamodbstreams",
                                     "LOG_LEVEL": "WARNING"},
    }  # fmt: skip


KNOWN = {
    "dynoxide": (install_dynoxide, dynoxide),
    "DynamoDB Local": (install_dynamodb_local, dynamodb_local),
    "dynalite": (install_dynalite, dynalite),
    "moto": (install_from_pypi, moto),
    "ministack": (install_from_pypi, ministack),
}


def fetch(names, progress):
    """Installs peers by name. Returns the installed peers, and the reason why each other peer could not be installed."""
    peers, skipped = {}, {}
    for name in names:
        install, start = KNOWN[name]
        pin = PINS[name]
        place = INSTALLED / name.replace(" ", "-")
        stamp = place / "installed"
        wanted = json.dumps(pin, sort_keys=True)
        try:
            if not stamp.exists() or stamp.read_text() != wanted:
                progress(f"fetching {name} {pin['version']}")
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir(parents=True)
                install(place, pin)
                stamp.write_text(wanted)
            peers[name] = Server(name, pin["version"], **start(place))
        except Missing as missing:
            skipped[name] = f"skipped, {missing}"
            progress(f"{name} is {skipped[name]}")
    return peers, skipped


def mayfly(executable, version):
    def command(port, directory):
        storage = ("--data", str(directory)) if directory else ()
        return [str(executable), "serve", "--log-level", "warning", "--port", str(port), *storage]

    return Server("Mayfly", version, command)


def fixed_answer(generator, body_file):
    def command(port, directory):
        return None if directory else [str(generator), "fixed-answer", str(port), str(body_file)]

    return Server("fixed answer", f"Boost {boost_version()}", command)


def boost_version():
    header = pathlib.Path("/usr/include/boost/version.hpp")
    if not header.exists():
        return "of unknown version"
    (line,) = (line for line in header.read_text().splitlines() if line.startswith("#define BOOST_LIB_VERSION"))
    return line.split('"')[1].replace("_", ".")
