"""SHA256SUMS has the hash of every file in dist/, and all files belong to this version."""

import re

from .files import Failure, sha256

NAME = "SHA256SUMS"
COMMAND = "script/release --dry-run checksums"
attested_files_max = 1024


def files_of(release):
    """All files of dist/, except hidden ones (the packages' build directories) and SHA256SUMS itself. No file is a link."""
    found = []
    for path in sorted(release.dist.rglob("*")):
        name = path.relative_to(release.dist).as_posix()
        if any(part.startswith(".") for part in name.split("/")) or name == NAME:
            continue
        if path.is_symlink():
            raise Failure(f"{release.dist.name}/{name} is a link: remove it.")
        if path.is_file():
            if not re.fullmatch(r"[\w.+@!/-]+", name, re.ASCII):
                raise Failure(f"{release.dist.name}/{name} has a name that a release cannot have: remove the file.")
            found.append((name, path))
    return found


def check(release):
    found = files_of(release)
    if not found:
        raise Failure(f"{release.dist.name}/ is empty: run `script/package --platforms`.")
    for name, _ in found:
        versions = set(re.findall(r"(?<![\d.])\d+\.\d+\.\d+(?![\d.]*\d)", name.rsplit("/", 1)[-1]))
        if versions and release.version not in versions:
            raise Failure(
                f"{release.dist.name}/{name} is a file of another version: remove {release.dist.name}/ and run "
                "`script/package --platforms`."
            )
    (release.dist / NAME).write_text("".join(f"{sha256(path)}  {name}\n" for name, path in found))
    verify(release)
    if len(found) >= attested_files_max:
        raise Failure(
            f"{release.dist.name}/ has {len(found)} files, and GitHub attests at most {attested_files_max} at once."
        )
    return [f"wrote {release.dist.name}/{NAME} with {len(found)} files"]


def verify(release, expected=None):
    """Fails if a file of dist/ is missing, was added or was changed after SHA256SUMS was written.

    `expected` is the hash of SHA256SUMS itself, which a job gets from the job that wrote the file.
    """
    actual = sha256(release.file(NAME, COMMAND))
    if expected is not None and actual != expected:
        raise Failure(f"{release.dist.name}/{NAME} has the hash {actual}, not {expected}: it was changed after the dry run.")
    listed = {}
    for line in release.file(NAME, COMMAND).read_text().splitlines():
        match = re.fullmatch(r"([0-9a-f]{64})  (\S+)", line)
        if not match:
            raise Failure(f"{NAME} has the malformed line {line!r}.")
        listed[match[2]] = match[1]
    found = dict(files_of(release))
    for name in sorted(listed.keys() ^ found.keys()):
        raise Failure(
            f"{release.dist.name}/{name} is {'missing' if name in listed else f'not listed in {NAME}'}: run `{COMMAND}`."
        )
    for name, path in found.items():
        if sha256(path) != listed[name]:
            raise Failure(f"{release.dist.name}/{name} was changed after {NAME} was written: run `{COMMAND}`.")
