"""The Scoop manifest for Windows, with the hash of the release archive."""

import json
import re

from . import archives, repository
from .files import HOMEPAGE, LICENSE, Failure, scratch, sha256

NEEDS = "the repository mayfly-dynamodb/scoop-bucket, and its deploy key as the secret DEPLOY_KEY of the environment scoop"
REPOSITORY = "mayfly-dynamodb/scoop-bucket"
PLATFORM = "windows-x86_64"


def manifest(release):
    archive = release.archive(PLATFORM)
    archives.program_of(release, PLATFORM)

    def of_version(version):
        return {
            "url": f"{HOMEPAGE}/releases/download/v{version}/mayfly-{version}-{PLATFORM}.zip",
            "extract_dir": f"mayfly-{version}-{PLATFORM}",
        }

    ours = of_version(release.version)
    described = {
        "version": release.version,
        "description": "DynamoDB for tests, with exact TTL, streams and a clock that tests control",
        "homepage": HOMEPAGE,
        "license": LICENSE,
        "architecture": {"64bit": {"url": ours["url"], "hash": sha256(archive), "extract_dir": ours["extract_dir"]}},
        "bin": archives.program_name(PLATFORM),
        "checkver": {"github": HOMEPAGE},
        # Scoop's own tool for updates uses this part.
        "autoupdate": {"architecture": {"64bit": {**of_version("$version"), "hash": {"url": "$url.sha256"}}}},
    }
    return json.dumps(described, indent=4) + "\n"


def check(release):
    text = manifest(release)
    target = release.dist / "mayfly.json"
    target.write_text(text)
    described = json.loads(text)
    ours = described["architecture"]["64bit"]
    archive = release.archive(PLATFORM)
    if (
        ours["url"] != f"{release.download}/{archive.name}"
        or ours["hash"] != sha256(archive)
        or not re.fullmatch(r"[0-9a-f]{64}", ours["hash"])
    ):
        raise Failure(f"The manifest does not name {archive.name} and its hash.")
    updated = json.dumps(described["autoupdate"]).replace("$version", release.version)
    if ours["url"] not in updated or ours["extract_dir"] not in updated:
        raise Failure("The manifest's autoupdate has another URL or directory than this version.")
    with scratch() as directory:
        remote = repository.trial(directory)
        repository.commit(remote, writer(text), message(release))
        if "nothing" not in repository.commit(remote, writer(text), message(release)):
            raise Failure("A second commit of the same manifest must change nothing.")
    return [
        f"wrote {release.dist.name}/mayfly.json, which names {archive.name}, its hash and the program in it",
        "not checked: an installation with Scoop, which needs Windows (the workflow tries it)",
    ]


def writer(text):
    def write(clone):
        (clone / "bucket").mkdir(exist_ok=True)
        (clone / "bucket/mayfly.json").write_text(text)

    return write


def message(release):
    return f"mayfly: Update to version {release.version}"


def publish(release):
    text = release.file("mayfly.json", "script/release --dry-run scoop").read_text()
    if text != manifest(release):
        raise Failure("dist/mayfly.json does not match the archive: run `script/release --dry-run scoop`.")
    return [repository.commit(repository.address(REPOSITORY), writer(text), message(release), key=repository.deploy_key())]
