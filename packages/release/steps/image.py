"""The container image: one image for Linux on x86-64 and on arm64."""

import gzip
import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

from .files import Failure, Release, command, json_of, megabytes, need, read_archive, scratch, unpacked_bytes_max

NEEDS = "the permission packages: write, which the workflow's own token has in the environment ghcr"
COMMAND = "script/package --platforms image"
IMAGE = "ghcr.io/mayfly-dynamodb/mayfly"
INSTALL_SKOPEO = "apt-get install skopeo"
PLATFORMS = {"amd64": "linux-x86_64", "arm64": "linux-arm64"}
LIST = "application/vnd.docker.distribution.manifest.list.v2+json"


def skopeo(*arguments, environment=None, hidden=()):
    return command(["skopeo", "--insecure-policy", *arguments], environment=environment, hidden=hidden)


def plain(path, target):
    """Decompresses an image's archive, because not every version of skopeo can read compressed archives. Returns its transport."""
    left = unpacked_bytes_max
    try:
        with gzip.open(path) as packed, open(target, "wb") as file:
            while block := packed.read(1 << 20):
                left -= len(block)
                if left < 0:
                    raise Failure(f"{path.name} has more than {megabytes(unpacked_bytes_max)} of content.")
                file.write(block)
    except (OSError, EOFError) as error:
        raise Failure(f"{path.name} cannot be read: {error}.") from error
    names = read_archive(pathlib.Path(target))
    return "oci-archive" if "oci-layout" in names else "docker-archive"


def check_config(release, path, config):
    ours = config.get("config") or {}
    labels = ours.get("Labels") or {}
    if labels.get("org.opencontainers.image.version") != release.version:
        raise Failure(
            f"{path.name} has the version {labels.get('org.opencontainers.image.version')}, not {release.version}: run "
            f"`{COMMAND}`."
        )
    if ours.get("User") in (None, "", "root", "0", "0:0"):
        raise Failure(f"{path.name} runs as root.")
    if not (ours.get("Healthcheck") or {}).get("Test"):
        raise Failure(f"{path.name} has no health check: the image must have Docker's format.")
    if ours.get("Entrypoint") != ["/usr/bin/mayfly"]:
        raise Failure(f"{path.name} has the entry point {ours.get('Entrypoint')}, not /usr/bin/mayfly.")


def lay_out(release: Release, work: pathlib.Path):
    """Writes the images as one manifest list into a directory that skopeo can copy. Returns the directory and facts about it."""
    layout = work / "layout"
    layout.mkdir()
    entries, facts = [], []
    for path in release.files(f"mayfly-{release.version}-image-*.tar.gz", COMMAND):
        one = work / path.name
        transport = plain(path, work / "image.tar")
        skopeo("copy", "--quiet", "--format", "v2s2", f"{transport}:{work / 'image.tar'}", f"dir:{one}")
        manifest = (one / "manifest.json").read_bytes()
        described = json_of(path.name, manifest)
        config = json_of(path.name, (one / described["config"]["digest"].removeprefix("sha256:")).read_bytes())
        architecture = config.get("architecture")
        if config.get("os") != "linux" or architecture not in PLATFORMS:
            raise Failure(f"{path.name} is for {config.get('os')} on {architecture}.")
        if any(entry["platform"]["architecture"] == architecture for entry in entries):
            raise Failure(f"Two images are for {architecture}: remove one of them.")
        check_config(release, path, config)
        digest = hashlib.sha256(manifest).hexdigest()
        for blob in one.iterdir():
            if blob.name not in ("manifest.json", "version"):
                shutil.copy(blob, layout / blob.name)
        (layout / f"{digest}.manifest.json").write_bytes(manifest)
        entries.append(
            {
                "mediaType": described["mediaType"],
                "size": len(manifest),
                "digest": f"sha256:{digest}",
                "platform": {"architecture": architecture, "os": "linux"},
            }
        )
        facts.append(f"{path.name}: linux/{architecture}, {megabytes(path.stat().st_size)}")
    missing = set(PLATFORMS) - {entry["platform"]["architecture"] for entry in entries}
    if missing:
        raise Failure(f"No image is for {', '.join(sorted(missing))}: run `{COMMAND}`.")
    (layout / "version").write_text("Directory Transport Version: 1.1\n")
    (layout / "manifest.json").write_text(json.dumps({"schemaVersion": 2, "mediaType": LIST, "manifests": entries}))
    return layout, facts


def push(layout, targets, *options, environment=None, hidden=()):
    """Copies the manifest list to each target, and returns its digest there."""
    digests = set()
    for target in targets:
        with scratch() as directory:
            file = pathlib.Path(directory) / "digest"
            skopeo(
                "copy",
                "--quiet",
                "--all",
                "--digestfile",
                file,
                *options,
                f"dir:{layout}",
                f"docker://{target}",
                environment=environment,
                hidden=hidden,
            )
            digests.add(file.read_text().strip())
    if len(digests) != 1:
        raise Failure(f"The tags of the image have different digests: {', '.join(sorted(digests))}.")
    return digests.pop()


class TrialRegistry:
    """A registry on this machine's loopback interface, for a dry run."""

    def __init__(self, directory):
        with socket.socket() as chosen:
            chosen.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{chosen.getsockname()[1]}"
        config = pathlib.Path(directory) / "registry.yml"
        config.write_text(
            f"version: 0.1\nlog: {{level: error}}\nstorage: "
            f"{{filesystem: {{rootdirectory: {directory}/registry}}}}\nhttp: {{addr: {self.address}}}\n"
        )
        self.log = open(pathlib.Path(directory) / "registry.log", "wb")
        self.process = subprocess.Popen(
            ["docker-registry", "serve", config], stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL
        )

    def __enter__(self):
        deadline = time.monotonic() + 30
        while True:
            try:
                urllib.request.urlopen(f"http://{self.address}/v2/", timeout=5).close()
                return self.address
            except OSError as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.__exit__()
                    raise Failure(f"The trial registry does not start: {error}.") from error
                time.sleep(0.1)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()


def check(release):
    need("skopeo", INSTALL_SKOPEO)
    with scratch() as directory:
        work = pathlib.Path(directory)
        layout, facts = lay_out(release, work)
        if shutil.which("docker-registry") is None:
            return [
                *facts,
                "not checked: a push to a registry on this machine, because docker-registry is not installed (apt-get "
                "install docker-registry)",
            ]
        with TrialRegistry(work) as registry:
            names = [f"{registry}/mayfly:{tag}" for tag in tags_of(release.version)]
            digest = push(layout, names, "--dest-tls-verify=false")
            raw = skopeo("inspect", "--raw", "--tls-verify=false", f"docker://{registry}/mayfly@{digest}")
            there = {entry["platform"]["architecture"] for entry in json_of("The registry's manifest", raw)["manifests"]}
            if there != set(PLATFORMS):
                raise Failure(f"The registry has images for {', '.join(sorted(there))}.")
            for architecture in PLATFORMS:
                config = skopeo(
                    "inspect",
                    "--config",
                    "--raw",
                    "--tls-verify=false",
                    "--override-os=linux",
                    f"--override-arch={architecture}",
                    f"docker://{registry}/mayfly@{digest}",
                )
                check_config(
                    release,
                    pathlib.Path(f"The image for {architecture} in the registry"),
                    json_of("The image's configuration", config),
                )
    return [
        *facts,
        f"a registry on this machine accepted the image for both architectures, with the tags "
        f"{', '.join(tags_of(release.version))}",
    ]


def tags_of(version):
    return [version, version.rsplit(".", 1)[0], "latest"]


def publish(release):
    need("skopeo", INSTALL_SKOPEO)
    user, token = os.environ.get("GITHUB_ACTOR", ""), os.environ.get("GH_TOKEN", "")
    if not user or not token:
        raise Failure(
            "GITHUB_ACTOR and GH_TOKEN must be set: this step pushes the image with the token of a job in GitHub Actions."
        )
    with scratch() as directory:
        work = pathlib.Path(directory)
        layout, facts = lay_out(release, work)
        login = work / "auth.json"
        login.touch(mode=0o600)
        command(
            ["skopeo", "login", "--authfile", login, "--username", user, "--password-stdin", IMAGE.split("/")[0]],
            input=token,
            hidden=[token],
        )
        digest = push(layout, [f"{IMAGE}:{tag}" for tag in tags_of(release.version)], "--authfile", login, hidden=[token])
    if output := os.environ.get("GITHUB_OUTPUT"):
        with open(output, "a", encoding="utf-8") as file:
            file.write(f"digest={digest}\n")
    return [*facts, f"pushed {IMAGE}@{digest} with the tags {', '.join(tags_of(release.version))}"]
