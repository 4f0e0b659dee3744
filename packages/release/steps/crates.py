"""The crates for crates.io: the main crate, and a crate with the program for each platform."""

import json
import os
import pathlib
import re
import tomllib
import urllib.error
import urllib.request

from .files import (
    LICENSE,
    PLATFORMS,
    REPOSITORY,
    Failure,
    command,
    megabytes,
    need,
    only_directory,
    programs_in,
    read_archive,
    scratch,
    unpack,
)

NEEDS = "trusted publishers for every crate on crates.io, with the environment crates-io; the first version of a crate needs a person's token"
COMMAND = "script/package --platforms rust"
INSTALL_CARGO = "install Rust 1.94.1 or later with rustup"
MAIN = "mayfly-dynamodb"
crate_bytes_max = 10 * 1024 * 1024  # crates.io rejects larger crates


def crates(release):
    """The crates with their manifests and files."""
    found = []
    for path in release.files("*.crate", COMMAND):
        files = read_archive(path)
        top = only_directory(path, files)
        manifest = f"{top}/Cargo.toml"
        if manifest not in files:
            raise Failure(f"{path.name} contains no {manifest}.")
        try:
            package = tomllib.loads(files[manifest].data.decode())
        except ValueError as error:
            raise Failure(f"{path.name}: Cargo.toml cannot be read: {error}.") from error
        found.append((path, package, files))
    return found


def check_manifest(release, path, manifest):
    package = manifest.get("package") or {}
    if package.get("version") != release.version:
        raise Failure(f"{path.name} has version {package.get('version')}, not {release.version}: run `{COMMAND}`.")
    if path.name != f"{package.get('name')}-{release.version}.crate":
        raise Failure(f"{path.name} is the crate {package.get('name')}.")
    if package.get("publish") not in (None, True):
        raise Failure(f"{path.name}: Cargo.toml forbids publishing with its line `publish`: remove the line.")
    if package.get("license") != LICENSE or not package.get("description"):
        raise Failure(f"{path.name}: Cargo.toml needs a description and the license {LICENSE}.")
    if f"github.com/{REPOSITORY}" not in str(package.get("repository")):
        raise Failure(f"{path.name}: Cargo.toml must name the repository {REPOSITORY}.")
    return package["name"]


def workspace(found, directory):
    """Unpacks the crates as one workspace, so that Cargo finds crates that are not published yet."""
    for path, _, _ in found:
        unpack(path, pathlib.Path(directory))
    members = [path.name.removesuffix(".crate") for path, _, _ in found]
    (pathlib.Path(directory) / "Cargo.toml").write_text(f'[workspace]\nresolver = "3"\nmembers = {json.dumps(members)}\n')


def cargo_version():
    need("cargo", INSTALL_CARGO)
    found = re.match(r"cargo (\d+)\.(\d+)", command(["cargo", "--version"]))
    if not found or (int(found[1]), int(found[2])) < (1, 90):
        raise Failure(f"Publishing several crates needs Cargo 1.90 or later: {INSTALL_CARGO}.")


def check(release):
    cargo_version()
    found = crates(release)
    missing, names = dict.fromkeys(PLATFORMS), []
    for path, manifest, files in found:
        names.append(check_manifest(release, path, manifest))
        size = path.stat().st_size
        if size > crate_bytes_max:
            raise Failure(f"{path.name} has {megabytes(size)}, and crates.io accepts {megabytes(crate_bytes_max)}.")
        for platform in programs_in(files):
            missing.pop(platform, None)
    if MAIN not in names:
        raise Failure(f"The crate {MAIN} is missing: run `{COMMAND}`.")
    if missing:
        raise Failure(f"No crate has the program for {', '.join(missing)}: run `{COMMAND}`.")
    with scratch() as directory:
        workspace(found, directory)
        for path, manifest, files in found:
            name = manifest["package"]["name"]
            listed = set(
                command(["cargo", "package", "--list", "--allow-dirty", "--package", name], cwd=directory).split("\n")
            )
            ours = {inside.split("/", 1)[1] for inside in files}
            lost = sorted(ours - listed)
            if lost:
                raise Failure(
                    f"Cargo would leave files of {path.name} out of the published crate: {', '.join(lost[:5])}: add them "
                    "to `include` in Cargo.toml."
                )
        # The crates' tests compile them, so they are not compiled here again.
        command(["cargo", "publish", "--workspace", "--dry-run", "--no-verify", "--allow-dirty"], cwd=directory)
        packed = sorted(pathlib.Path(directory).glob("target/package/*.crate"))
        for path in packed:
            if path.stat().st_size > crate_bytes_max:
                raise Failure(
                    f"Cargo packs {path.name} with {megabytes(path.stat().st_size)}, and crates.io accepts "
                    f"{megabytes(crate_bytes_max)}."
                )
    return [
        f"{len(found)} crates of at most {megabytes(crate_bytes_max)}: {', '.join(names)}",
        "cargo publish --dry-run accepts them together",
    ]


def published(name, version, index="https://index.crates.io"):
    """Whether crates.io has this version."""
    place = {1: "1/", 2: "2/", 3: f"3/{name[0]}/"}.get(len(name), f"{name[:2]}/{name[2:4]}/")
    try:
        with urllib.request.urlopen(f"{index}/{place}{name}", timeout=60) as response:
            lines = response.read(16 << 20).decode().splitlines()
    except urllib.error.HTTPError as error:
        if error.code in (404, 410, 451):
            return False
        raise Failure(f"The index of crates.io answered {error.code} for {name}.") from None
    except OSError as error:
        raise Failure(f"The index of crates.io cannot be reached: {error}.") from None
    return any(json.loads(line)["vers"] == version for line in lines)


def publish(release):
    """Publishes the crates in the order of their dependencies. Crates that are already published are left out."""
    cargo_version()
    if not os.environ.get("CARGO_REGISTRY_TOKEN"):
        raise Failure(
            "The environment variable CARGO_REGISTRY_TOKEN is not set: the workflow gets it from "
            "rust-lang/crates-io-auth-action."
        )
    found = crates(release)
    for path, manifest, _ in found:
        check_manifest(release, path, manifest)
    there = {path.name for path, manifest, _ in found if published(manifest["package"]["name"], release.version)}
    facts = [
        f"{name} is already published; its content was not compared, because Cargo packs it again" for name in sorted(there)
    ]
    if len(there) == len(found):
        return facts
    with scratch() as directory:
        workspace(found, directory)
        excluded = [
            option for name in sorted(there) for option in ("--exclude", name.removesuffix(f"-{release.version}.crate"))
        ]
        command(
            ["cargo", "publish", "--workspace", "--no-verify", "--allow-dirty", *excluded],
            cwd=directory,
            hidden=[os.environ["CARGO_REGISTRY_TOKEN"]],
        )
    return [*facts, *(f"published {path.name}" for path, _, _ in found if path.name not in there)]
