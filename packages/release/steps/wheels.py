"""The wheels for PyPI: their metadata, their tags and one wheel for each platform."""

import base64
import csv
import email.parser
import hashlib
import io
import re

from .files import LICENSE, PLATFORMS, Failure, command, megabytes, programs_in, read_archive
from .tools import tool

NEEDS = "trusted publishers for mayfly-dynamodb and mayfly-dynamodb-inprocess on PyPI, with the environment pypi"
COMMAND = "script/package --platforms python python-inprocess"
wheel_bytes_max = 8_000_000
# pip installs a wheel only on the platforms that the tags in the wheel's name list. These are the tags for each platform.
TAGS = {
    "linux-x86_64": (r"manylinux\w+_x86_64", r"musllinux\w+_x86_64"),
    "linux-arm64": (r"manylinux\w+_aarch64", r"musllinux\w+_aarch64"),
    "macos-arm64": (r"macosx_\d+_\d+_(arm64|universal2)",),
    "macos-x86_64": (r"macosx_\d+_\d+_(x86_64|universal2)",),
    "windows-x86_64": (r"win_amd64",),
}


def one(wheel, files, ending):
    """The only file of a wheel's .dist-info directory with this name."""
    found = [file for name, file in files.items() if re.fullmatch(rf"[^/]+\.dist-info/{ending}", name)]
    if len(found) != 1:
        raise Failure(f"{wheel.name} must contain one {ending}.")
    return found[0].data


def check_record(wheel, files):
    """RECORD lists every file with its hash."""
    listed = {}
    for row in csv.reader(io.StringIO(one(wheel, files, "RECORD").decode())):
        listed[row[0]] = row[1]
    for name, file in files.items():
        wanted = listed.pop(name, None)
        if name.endswith(".dist-info/RECORD"):
            continue
        digest = base64.urlsafe_b64encode(hashlib.sha256(file.data).digest()).rstrip(b"=").decode()
        if wanted != f"sha256={digest}":
            raise Failure(f"{wheel.name}: RECORD has no hash or another hash for {name}.")
    if listed:
        raise Failure(f"{wheel.name}: RECORD lists files that are missing: {', '.join(sorted(listed)[:5])}.")


def check(release):
    wheels = release.files("*.whl", COMMAND)
    facts, missing, total = [], dict.fromkeys(PLATFORMS), 0
    for wheel in wheels:
        size = wheel.stat().st_size
        total += size
        if size > wheel_bytes_max:
            raise Failure(f"{wheel.name} has {megabytes(size)}, and the limit is {megabytes(wheel_bytes_max)}.")
        files = read_archive(wheel)
        metadata = email.parser.BytesParser().parsebytes(one(wheel, files, "METADATA"))
        if metadata["Version"] != release.version:
            raise Failure(f"{wheel.name} has version {metadata['Version']}, not {release.version}: run `{COMMAND}`.")
        if (metadata["License-Expression"] or metadata["License"]) != LICENSE or not metadata["Requires-Python"]:
            raise Failure(f"{wheel.name} must declare the license {LICENSE} and the versions of Python that it needs.")
        check_record(wheel, files)
        if metadata["Name"] != "mayfly-dynamodb":
            continue
        programs = programs_in(files)
        tags = wheel.stem.split("-")[-1].split(".")
        for platform, (name, _) in programs.items():
            for tag in TAGS[platform]:
                if not any(re.fullmatch(tag, ours) for ours in tags):
                    raise Failure(f"{wheel.name} has the program for {platform}, but no tag of the form {tag}.")
            if not platform.startswith("windows") and not files[name].mode & 0o100:
                raise Failure(f"{wheel.name}: {name} is not executable.")
            missing.pop(platform, None)
    if missing:
        raise Failure(f"No wheel has the program for {', '.join(missing)}: run `{COMMAND}`.")
    command([tool("twine"), "--no-color", "check", "--strict", *wheels])
    command([tool("check-wheel-contents"), *wheels])
    facts.append(f"{len(wheels)} wheels, {megabytes(total)}: one for each platform; every RECORD matches")
    facts.append("twine check --strict and check-wheel-contents report nothing")
    return facts
