"""The list of components (SBOM) is valid CycloneDX and describes this version."""

from . import archives
from .files import PLATFORMS, Failure, command, json_of, sha256
from .tools import tool

COMMAND = "script/package --platforms"


def check(release):
    path = release.file(f"mayfly-{release.version}.cdx.json", COMMAND)
    bom = json_of(path.name, path.read_bytes())
    if not isinstance(bom, dict) or bom.get("bomFormat") != "CycloneDX" or not isinstance(bom.get("specVersion"), str):
        raise Failure(f"{path.name} is not a CycloneDX document: run `{COMMAND}`.")
    described = (bom.get("metadata") or {}).get("component") or {}
    if described.get("name") != "mayfly" or described.get("version") != release.version:
        raise Failure(
            f"{path.name} describes {described.get('name')} {described.get('version')}, not mayfly {release.version}: "
            f"run `{COMMAND}`."
        )
    components = bom.get("components") or []
    if not components:
        raise Failure(f"{path.name} lists no components.")
    for component in components:
        for member in ("name", "version", "licenses"):
            if not component.get(member):
                raise Failure(f"{path.name}: component {component.get('name') or '?'} has no {member}.")
    check_programs(release, path, components)
    # The validator has the schemas of CycloneDX and uses no network.
    command([tool("python"), "-c", VALIDATE, path, bom["specVersion"]])
    return [
        f"{path.name}: CycloneDX {bom['specVersion']}, {len(components)} components, each with a version and a license, "
        "among them the program of each archive"
    ]


def check_programs(release, path, components):
    """The components that are programs have the hashes of the programs in the release archives."""
    listed = {}
    for component in components:
        properties = {entry.get("name"): entry.get("value") for entry in component.get("properties") or []}
        hashes = {entry.get("alg"): entry.get("content") for entry in component.get("hashes") or []}
        if component.get("type") == "application" and "mayfly:platform" in properties:
            listed[properties["mayfly:platform"]] = hashes.get("SHA-256")
    for platform in PLATFORMS:
        if platform not in listed:
            raise Failure(f"{path.name} does not list the program for {platform}: run `{COMMAND}`.")
        if listed[platform] != sha256(archives.program_of(release, platform).data):
            raise Failure(
                f"{path.name} lists another program for {platform} than {release.archive(platform).name} contains: run "
                f"`{COMMAND}`."
            )


VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
version = SchemaVersion.from_version(sys.argv[2])
wrong = JsonStrictValidator(version).validate_str(open(sys.argv[1], encoding="utf-8").read())
sys.exit(f"not valid CycloneDX {sys.argv[2]}: {str(wrong)[:2000]}" if wrong else 0)
"""
