"""Writes the software bill of materials: a CycloneDX 1.6 document with every program of a version and the components in it.

The same programs and components give the same bytes. Its serial number is derived from its content, and its time is the
commit's.
"""
import dataclasses
import hashlib
import json
import pathlib
import urllib.parse
import uuid

from linked import Unknown

REPOSITORY = "https://github.com/mayfly-dynamodb/mayfly"


def quoted(text):
    return urllib.parse.quote(text, safe=":")


def purl(component):
    """The package URL (https://github.com/package-url/purl-spec) of a component's source."""
    if component.bundled:
        return component.entry["purl"].format(version=quoted(component.version))
    return f"pkg:deb/{component.origin}/{quoted(component.source)}@{quoted(component.version)}?arch=source"


def described(component):
    """A component as CycloneDX describes it."""
    described = {
        "type": "library",
        "bom-ref": purl(component),
        "name": component.name,
        "version": component.version,
        "licenses": [{"expression": component.licensed(), "acknowledgement": "concluded"}],
        "purl": purl(component),
        "externalReferences": [{"type": "website", "url": component.entry["url"]}],
    }
    if component.bundled:
        described["properties"] = [{"name": "mayfly:bundled-with", "value": component.bundled}]
    else:
        described["supplier"] = {"name": component.origin.capitalize()}
    return described


@dataclasses.dataclass
class Program:
    platform: str
    name: str  # in packages
    path: pathlib.Path  # the file, as packages contain it
    components: list  # as described() returns them


def program(own, version):
    """A program or library as CycloneDX describes it."""
    content = own.path.read_bytes()
    return {
        "type": "library" if own.name.startswith("lib") else "application",
        "bom-ref": f"program:{own.platform}/{own.name}",
        "name": own.name,
        "version": version,
        "description": f"{own.name} for {own.platform}",
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()},
                   {"alg": "SHA-512", "content": hashlib.sha512(content).hexdigest()}],
        "licenses": [{"expression": "Apache-2.0", "acknowledgement": "declared"}],
        "properties": [{"name": "mayfly:platform", "value": own.platform},
                       {"name": "mayfly:bytes", "value": str(len(content))}],
    }


def bill(version, time, programs):
    """The document, as text.

    version: Mayfly's version; time: the commit's time, or None."""
    main = f"pkg:github/mayfly-dynamodb/mayfly@v{version}"
    components, dependencies = {}, {main: []}
    for each in programs:
        own, parts = program(each, version), each.components
        if own["bom-ref"] in components:
            raise Unknown(f"two programs are called {own['bom-ref']}")
        components[own["bom-ref"]] = own
        dependencies[main].append(own["bom-ref"])
        dependencies[own["bom-ref"]] = [part["bom-ref"] for part in parts]
        for part in parts:
            if components.setdefault(part["bom-ref"], part) != part:
                raise Unknown(f"{part['bom-ref']} is described in two ways: write the notices of all programs again")
            dependencies.setdefault(part["bom-ref"], [])
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": main,
                "name": "mayfly",
                "version": version,
                "description": "DynamoDB for tests, with exact TTL",
                "licenses": [{"expression": "Apache-2.0", "acknowledgement": "declared"}],
                "purl": main,
                "externalReferences": [{"type": "vcs", "url": REPOSITORY}],
            },
            "supplier": {"name": "Mayfly", "url": [REPOSITORY]},
            "tools": {"components": [{"type": "application", "name": "script/notices", "version": version}]},
            "lifecycles": [{"phase": "build"}],
        },
        "components": [components[name] for name in sorted(components)],
        "dependencies": [{"ref": name, "dependsOn": sorted(dependencies[name])} for name in sorted(dependencies)],
        # Nothing else is linked.
        "compositions": [{"aggregate": "complete", "dependencies": sorted(dependencies)}],
    }
    if time is not None:
        document["metadata"]["timestamp"] = time
    content = json.dumps(document, sort_keys=True).encode()
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, hashlib.sha256(content).hexdigest())}"
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
