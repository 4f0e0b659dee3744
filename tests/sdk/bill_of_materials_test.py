"""Validates the bill of materials of a build against CycloneDX's JSON schema, and its licenses and package URLs.

MAYFLY_BUILD names a build directory with the program. Needs cyclonedx_requirements.txt."""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
import unittest

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from license_expression import get_spdx_licensing
from packageurl import PackageURL

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLATFORM = f"linux-{'arm64' if platform.machine() == 'aarch64' else platform.machine()}"


class BillOfMaterials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as directory:
            program = f"{directory}/mayfly"
            shutil.copyfile(f"{os.environ['MAYFLY_BUILD']}/mayfly", program)
            notices = ROOT / "script/notices"
            subprocess.run([notices, "--build", os.environ["MAYFLY_BUILD"], PLATFORM, program], check=True,
                           stdout=subprocess.DEVNULL)
            subprocess.run([notices, "--sbom", directory, program], check=True, stdout=subprocess.DEVNULL)
            [path] = pathlib.Path(directory).glob("*.cdx.json")
            cls.text = path.read_text()
        cls.bill = json.loads(cls.text)

    def test_the_document_matches_the_schema(self):
        self.assertIsNone(JsonStrictValidator(SchemaVersion.V1_6).validate_str(self.text))

    def test_the_validator_rejects_an_unknown_member(self):
        self.bill["metadata"]["component"]["unknown"] = 1
        self.addCleanup(self.bill["metadata"]["component"].pop, "unknown")
        self.assertIsNotNone(JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(self.bill)))

    def test_each_license_is_an_spdx_expression(self):
        for component in self.bill["components"]:
            [license] = component["licenses"]
            self.assertEqual([], get_spdx_licensing().validate(license["expression"]).errors, component["name"])

    def test_each_library_has_a_package_url(self):
        libraries = [component for component in self.bill["components"] if component["type"] == "library"]
        self.assertGreater(len(libraries), 10)
        for component in libraries:
            url = PackageURL.from_string(component["purl"])
            self.assertEqual(component["version"], url.version)
            self.assertEqual(component["purl"], url.to_string())

    def test_each_reference_names_a_component(self):
        known = {component["bom-ref"] for component in [*self.bill["components"], self.bill["metadata"]["component"]]}
        self.assertEqual(known, {entry["ref"] for entry in self.bill["dependencies"]})
        for entry in self.bill["dependencies"]:
            self.assertLessEqual(set(entry["dependsOn"]), known)


if __name__ == "__main__":
    unittest.main()
