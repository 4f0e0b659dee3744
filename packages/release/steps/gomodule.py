"""The Go module, as the module proxy serves it: the main module, and modules with the program for each platform."""

import os
import pathlib
import re

from . import repository
from .files import (
    PLATFORMS,
    ROOT,
    Failure,
    command,
    json_of,
    megabytes,
    need,
    programs_in,
    read_archive,
    scratch,
)

NEEDS = "the repository mayfly-dynamodb/mayfly-go, and its deploy key as the secret DEPLOY_KEY of the environment go"
COMMAND = "script/package --platforms go"
REPOSITORY = "mayfly-dynamodb/mayfly-go"
MAIN = f"github.com/{REPOSITORY}"
INSTALL_GO = "install Go 1.24 or later"


def modules(release):
    """The modules in dist/go, which is laid out as a module proxy: (archive, module, subdirectory of the repository, files).

    The main module comes first.
    """
    base, found = release.dist / "go", []
    for path in sorted(base.glob(f"**/@v/v{release.version}.zip")):
        module = path.parent.parent.relative_to(base).as_posix()
        if module != MAIN and not module.startswith(f"{MAIN}/"):
            raise Failure(f"{release.dist.name}/go contains the module {module}, which is not in the repository {REPOSITORY}.")
        top, files = f"{module}@v{release.version}/", {}
        for name, file in read_archive(path).items():
            if not name.startswith(top):
                raise Failure(f"The archive of {module} contains {name}, which is not in {top}.")
            files[name[len(top) :]] = file
        described = re.search(r"^module\s+(\S+)\s*$", files["go.mod"].data.decode() if "go.mod" in files else "", re.MULTILINE)
        if not described or described[1] != module:
            raise Failure(f"The archive of {module} has no go.mod for this module.")
        found.append((path, module, module.removeprefix(MAIN).lstrip("/"), files))
    found.sort(key=lambda module: module[2])
    if not found or found[0][1] != MAIN:
        raise Failure(f"{release.dist.name}/go does not contain {MAIN} v{release.version}: run `{COMMAND}`.")
    return found


def tag_of(subdirectory, version):
    """Go finds the version of a module in a subdirectory by a tag that begins with the subdirectory."""
    return f"{subdirectory}/v{version}" if subdirectory else f"v{version}"


def lay_out(found, clone):
    """Replaces the files of the repository with those of the modules."""
    repository.empty(clone)
    for _, module, subdirectory, files in found:
        for name, file in files.items():
            target = clone / subdirectory / name
            if target.exists():
                raise Failure(f"{module} contains {name}, which another module contains as well.")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.data)


def message(release):
    return f"Mayfly {release.version}"


def check(release):
    need("go", INSTALL_GO)
    need("git", "apt-get install git")
    found = modules(release)
    missing, facts = dict.fromkeys(PLATFORMS), []
    with scratch() as directory:
        work = pathlib.Path(directory)
        program = work / "gozip"
        command(
            ["go", "build", "-o", program, "."], cwd=ROOT / "packages/release/gozip", environment={"GOFLAGS": "-mod=readonly"}
        )
        remote = repository.trial(work)
        tags = [tag_of(subdirectory, release.version) for _, _, subdirectory, _ in found]
        repository.commit(remote, lambda clone: lay_out(found, clone), message(release), tags)
        again = repository.commit(remote, lambda clone: lay_out(found, clone), message(release), tags)
        if "already exist" not in again:
            raise Failure(f"A second attempt to publish the Go module must change nothing, but it reports: {again}.")
        hashes = {}
        for path, module, _, files in found:
            for platform in programs_in(files):
                missing.pop(platform, None)
            told = json_of("The output of gozip", command([program, module, f"v{release.version}", path]))
            hashes[module] = told["hash"]
            facts.append(
                f"{module}: {told['files']} files, {megabytes(told['bytes'])} as a zip archive (limit "
                f"{megabytes(told['max'])})"
            )
        check_sums(release, found[0][3], hashes)
        # Go downloads the modules from the repository, as the module proxy would.
        cache = {
            "GOPATH": str(work / "gopath"),
            "GOMODCACHE": str(work / "modules"),
            "GOFLAGS": "-modcacherw",
            "GOPROXY": "direct",
            "GONOSUMDB": "*",
            "GOSUMDB": "off",
            "GIT_CONFIG_GLOBAL": str(work / "gitconfig"),
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_ALLOW_PROTOCOL": "file",
        }
        (work / "gitconfig").write_text(f'[url "file://{remote}"]\n\tinsteadOf = https://{MAIN}\n[safe]\n\tdirectory = *\n')
        for module, wanted in hashes.items():
            told = json_of(
                "The output of go mod download",
                command(["go", "mod", "download", "-json", f"{module}@v{release.version}"], cwd=work, environment=cache),
            )
            if told.get("Sum") != wanted:
                raise Failure(f"Go downloads {module} from the repository with the hash {told.get('Sum')}, not {wanted}.")
    if missing:
        raise Failure(f"No Go module has the program for {', '.join(missing)}: run `{COMMAND}`.")
    return [*facts, f"Go downloads {len(found)} modules from a repository with the tags {', '.join(tags)}"]


def check_sums(release, files, hashes):
    """If go.mod needs the modules of this repository, their versions and hashes must be those that are published."""
    described = files["go.mod"].data.decode()
    for module, needed in re.findall(rf"^\s*(?:require\s+)?({re.escape(MAIN)}/\S+)\s+(\S+)", described, re.MULTILINE):
        if module not in hashes or needed != f"v{release.version}":
            raise Failure(f"go.mod of {MAIN} needs {module} {needed}, which is not a part of this release.")
    if re.search(rf"^\s*(replace\s+)?{re.escape(MAIN)}\S*(\s+v\S+)?\s+=>", described, re.MULTILINE):
        raise Failure(f"go.mod of {MAIN} replaces a module: users would not get the replacement.")
    sums = files["go.sum"].data.decode() if "go.sum" in files else ""
    for module, needed, listed in re.findall(rf"^({re.escape(MAIN)}\S*) (v[^/\s]+) (h1:\S+)$", sums, re.MULTILINE):
        if hashes.get(module) != listed:
            raise Failure(
                f"go.sum of {MAIN} lists {module} {needed} with the hash {listed}, but it has {hashes.get(module)}."
            )


def publish(release):
    found = modules(release)
    tags = [tag_of(subdirectory, release.version) for _, _, subdirectory, _ in found]
    return [
        repository.commit(
            repository.address(REPOSITORY),
            lambda clone: lay_out(found, clone),
            message(release),
            tags,
            repository.deploy_key(),
        )
    ]
