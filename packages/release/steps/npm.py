"""The npm packages: a main package and one package for each platform."""

import base64
import hashlib
import json
import os

from .files import (
    LICENSE,
    PLATFORMS,
    REPOSITORY,
    Failure,
    command,
    json_of,
    megabytes,
    need,
    programs_in,
    read_archive,
    scratch,
)

NEEDS = "trusted publishers for every package on npm, with the environment npm; the first version of a package needs a person's login"
COMMAND = "script/package --platforms javascript"
INSTALL_NPM = "install Node.js 24, which has npm 11"
MAIN = "mayfly-dynamodb"
# What npm compares with process.platform and process.arch.
SYSTEMS = {
    "linux-x86_64": ("linux", "x64"),
    "linux-arm64": ("linux", "arm64"),
    "macos-arm64": ("darwin", "arm64"),
    "macos-x86_64": ("darwin", "x64"),
    "windows-x86_64": ("win32", "x64"),
}


def packages(release):
    """The tarballs with their package.json, the main package last: users can install it only after the others exist."""
    found = []
    for path in release.files("*.tgz", COMMAND):
        files = read_archive(path)
        if "package/package.json" not in files:
            raise Failure(f"{path.name} contains no package/package.json.")
        found.append((path, json_of(f"{path.name}: package.json", files["package/package.json"].data), files))
    found.sort(key=lambda package: package[1].get("name") == MAIN)
    if found[-1][1].get("name") != MAIN:
        raise Failure(f"No tarball is the package {MAIN}: run `{COMMAND}`.")
    return found


def integrity(path):
    return "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


def check_description(release, path, description):
    if description.get("version") != release.version:
        raise Failure(f"{path.name} has version {description.get('version')}, not {release.version}: run `{COMMAND}`.")
    if description.get("license") != LICENSE:
        raise Failure(f"{path.name}: package.json must have the license {LICENSE}.")
    repository = description.get("repository") or {}
    url = repository if isinstance(repository, str) else repository.get("url", "")
    if f"github.com/{REPOSITORY}" not in url:
        raise Failure(f"{path.name}: package.json must name the repository {REPOSITORY}, or npm rejects the provenance.")
    scripts = {"preinstall", "install", "postinstall", "prepare"} & set(description.get("scripts") or {})
    if scripts:
        raise Failure(f"{path.name} runs a script when it is installed: {', '.join(sorted(scripts))}.")


def check(release):
    need("npm", INSTALL_NPM)
    found = packages(release)
    missing, names = dict.fromkeys(PLATFORMS), set()
    for path, description, files in found:
        check_description(release, path, description)
        for platform, (name, _) in programs_in(files).items():
            system = tuple((description.get(member) or ["any"])[0] for member in ("os", "cpu"))
            if system != SYSTEMS[platform]:
                raise Failure(f"{path.name} has the program for {platform}, but its os and cpu are {' and '.join(system)}.")
            if not platform.startswith("windows") and not files[name].mode & 0o100:
                raise Failure(f"{path.name}: {name} is not executable.")
            missing.pop(platform, None)
            names.add(description["name"])
    if missing:
        raise Failure(f"No npm package has the program for {', '.join(missing)}: run `{COMMAND}`.")
    optional = found[-1][1].get("optionalDependencies") or {}
    if set(optional) != names or set(optional.values()) != {release.version}:
        raise Failure(
            f"optionalDependencies of {MAIN} must be {', '.join(sorted(names))} in version {release.version}, got "
            f"{json.dumps(optional)}."
        )
    for path, description, _ in found:
        told = json_of("The output of npm publish", publish_one(path, "--dry-run"))
        if description["name"] not in told and told.get("name") != description["name"]:
            raise Failure(f"`npm publish --dry-run {path.name}` does not name {description['name']}.")
    total = sum(path.stat().st_size for path, _, _ in found)
    return [
        f"{len(found)} packages, {megabytes(total)}: {', '.join(description['name'] for _, description, _ in found)}",
        "npm publish --dry-run accepts each of them",
    ]


def publish_one(path, *options):
    # In an empty directory and with no configuration of the user, npm sees only the tarball.
    with scratch() as directory:
        return command(["npm", "publish", path.resolve(), "--json", "--access", "public", *options], cwd=directory)


def published(name, version):
    """The integrity of a version in the registry, or None."""
    try:
        told = command(["npm", "view", f"{name}@{version}", "dist.integrity", "--json"])
    except Failure as failure:
        if "E404" in str(failure):
            return None
        raise
    return json.loads(told) if told.strip() else None


def publish(release):
    """Publishes what is not published yet, so that a failed job can be run again."""
    need("npm", INSTALL_NPM)
    if not os.environ.get("ACTIONS_ID_TOKEN_REQUEST_URL"):
        raise Failure("npm's trusted publishing needs a job of GitHub Actions with the permission id-token: write.")
    facts = []
    for path, description, _ in packages(release):
        name = f"{description['name']}@{release.version}"
        exists = published(description["name"], release.version)
        if exists is None:
            publish_one(path, "--provenance")
            facts.append(f"published {name}")
        elif exists == integrity(path):
            facts.append(f"{name} is already published with the same content")
        else:
            raise Failure(f"{name} is already published with other content: release a new version.")
    return facts
