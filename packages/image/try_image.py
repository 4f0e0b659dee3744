"""Runs an unpacked image with runc, as a container engine would, and tests it: try_image.py IMAGE_DIR BUNDLE_DIR

IMAGE_DIR is an unpacked docker archive, and BUNDLE_DIR/rootfs contains its layers. The container uses the host's network,
and its server listens on a free port of the loopback interface. Everything else follows the image's configuration.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

import boto3

image, bundle = (pathlib.Path(argument) for argument in sys.argv[1:])
manifest = json.loads((image / "manifest.json").read_text())[0]
config = json.loads((image / manifest["Config"]).read_text())["config"]
runc = ["runc", "--root", str(bundle / "runc")]


def runtime_config(arguments):
    """Returns the config.json of the OCI runtime specification, as a container engine derives it from the image."""
    uid, gid = (int(number) for number in config["User"].split(":"))
    namespaces = [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")]
    made = {
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": uid, "gid": gid},
            "args": config["Entrypoint"] + arguments,
            "env": [*config["Env"], "MAYFLY_HOST=127.0.0.1"],
            "cwd": config["WorkingDir"],
            "capabilities": {},
            "noNewPrivileges": True,
        },
        "root": {"path": "rootfs", "readonly": False},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
        ],
        "linux": {"namespaces": namespaces},
    }
    if os.getuid() != 0:
        namespaces.append({"type": "user"})
        made["process"]["user"] = {"uid": 0, "gid": 0}
        made["linux"]["uidMappings"] = [{"containerID": 0, "hostID": os.getuid(), "size": 1}]
        made["linux"]["gidMappings"] = [{"containerID": 0, "hostID": os.getgid(), "size": 1}]
    return made


class Container:
    def __init__(self, arguments):
        self.name = f"mayfly-{uuid.uuid4()}"
        (bundle / "config.json").write_text(json.dumps(runtime_config(arguments)))
        self.process = subprocess.Popen(
            [*runc, "run", "--bundle", str(bundle), self.name],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.said = []
        while not (self.said and self.said[-1].startswith("mayfly listening on ")):
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"try_image: the container ended with {self.process.wait()}")
            self.said.append(line.rstrip("\n"))
        self.url = re.match("mayfly listening on (.*)", self.said[-1]).group(1)

    def execute(self, *arguments):
        return subprocess.run([*runc, "exec", self.name, *arguments], capture_output=True, text=True, timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([*runc, "kill", self.name, "TERM"], check=True)
        assert self.process.wait(20) == 0, "the container did not end cleanly"


def write_and_read(url):
    dynamodb = boto3.client(
        "dynamodb", endpoint_url=url, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
    )
    dynamodb.create_table(
        TableName="carts",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
    )
    dynamodb.put_item(TableName="carts", Item={"id": {"S": "1"}})
    assert dynamodb.scan(TableName="carts")["Count"] == 1


with Container(["serve", "--port", "0"]) as container:
    write_and_read(container.url)
    # Runs the image's health check with the port of this server.
    check = config["Healthcheck"]["Test"]
    assert check[0] in ("CMD", "CMD-SHELL") and "/usr/bin/mayfly health" in " ".join(check), check
    health = container.execute("/usr/bin/mayfly", "health", "--url", container.url)
    assert health.returncode == 0 and health.stdout.split()[:2] == ["status", "ok"], health
    assert container.execute("/usr/bin/mayfly", "health", "--url", "http://127.0.0.1:1").returncode == 1

with Container(["serve", "--port", "0", "--data", "/data"]) as container:
    write_and_read(container.url)

# Users run DynamoDB Local's image with its default command, with arguments from a compose file, or with a compose file that
# runs java. Mayfly's image accepts all three.
LOCAL = ["-jar", "DynamoDBLocal.jar", "-sharedDb", "-dbPath", "./data", "-port", "0"]
for arguments in (LOCAL, ["-jar", "DynamoDBLocal.jar", "-inMemory", "-port", "0"]):
    with Container(arguments) as container:
        assert container.said[0] == "Initializing DynamoDB Local with the following configuration:", container.said
        write_and_read(container.url)
entrypoint = config["Entrypoint"]
config["Entrypoint"] = ["/usr/bin/java"]
with Container(["-Djava.library.path=./DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar", "-port", "0"]) as container:
    write_and_read(container.url)
config["Entrypoint"] = entrypoint
print(f"try_image: {manifest['RepoTags'][0]} runs as {config['User']}, is healthy, and can replace DynamoDB Local")
