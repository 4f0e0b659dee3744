"""Each platform has a release archive with its program, and its checksum matches."""

import os
import re
import stat

from .files import PLATFORMS, Failure, command, megabytes, only_directory, platform_of, read_archive, scratch, sha256

COMMAND = "script/package --platforms binary"
TEXTS = ("LICENSE", "NOTICES")  # the license of Mayfly and those of the libraries in the program


def program_name(platform):
    """The path of the program in the directory of the archive."""
    return "mayfly.exe" if platform.startswith("windows") else "bin/mayfly"


def tree_of(release, platform):
    """The files of a platform's archive, with names relative to its directory."""
    archive = release.file(release.archive(platform).name, COMMAND)
    files = read_archive(archive)
    top, wanted = only_directory(archive, files), f"mayfly-{release.version}-{platform}"
    if top != wanted:
        raise Failure(f"{archive.name} must contain the directory {wanted}, but it contains {top}.")
    return {name[len(top) + 1 :]: file for name, file in files.items()}


def program_of(release, platform):
    """The program in a platform's archive."""
    name, tree = program_name(platform), tree_of(release, platform)
    if name not in tree:
        raise Failure(f"{release.archive(platform).name} does not contain {name}: run `{COMMAND}`.")
    return tree[name]


def this_machine():
    system, machine = os.uname().sysname, {"aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    return {"Linux": "linux", "Darwin": "macos"}.get(system, system) + "-" + machine


def check_checksum(path):
    """Checks FILE.sha256, which has the form that sha256sum writes."""
    beside = path.with_name(path.name + ".sha256")
    if not beside.is_file():
        raise Failure(f"{beside.name} is missing: run `{COMMAND}`.")
    found = re.fullmatch(r"([0-9a-f]{64})  (\S+)\n?", beside.read_text())
    if not found or found[2] != path.name:
        raise Failure(f"{beside.name} must have one line with a SHA-256 hash and the name {path.name}.")
    if found[1] != sha256(path):
        raise Failure(f"{path.name} does not have the hash in {beside.name}: run `{COMMAND}`.")


def check(release):
    facts = []
    for platform in PLATFORMS:
        archive = release.file(release.archive(platform).name, COMMAND)
        check_checksum(archive)
        tree = tree_of(release, platform)
        program = program_of(release, platform)
        found = platform_of(program.data)
        if found != platform:
            raise Failure(f"The program in {archive.name} is for {found or 'no known platform'}.")
        if not platform.startswith("windows") and not program.mode & stat.S_IXUSR:
            raise Failure(f"The program in {archive.name} is not executable.")
        for text in TEXTS:
            if not any(name.rsplit("/", 1)[-1] in (text, f"{text}.txt") for name in tree):
                raise Failure(f"{archive.name} does not contain {text}: run `{COMMAND}`.")
        said = "not run, because this machine has another platform"
        if platform == this_machine():
            with scratch() as directory:
                path = os.path.join(directory, "mayfly")
                with open(path, "wb") as file:
                    file.write(program.data)
                os.chmod(path, 0o755)
                printed = command([path, "--version"]).strip()
            if printed != f"mayfly {release.version}":
                raise Failure(
                    f"The program in {archive.name} prints '{printed}' for --version, not 'mayfly {release.version}'."
                )
            said = f"prints '{printed}'"
        facts.append(f"{archive.name}: {megabytes(archive.stat().st_size)}; its program: {said}")
    return facts
