#!/usr/bin/env python3
"""`script/release --dry-run` passes with made packages of all platforms, and with the real tools of the registries.

It needs pip, npm, cargo and Go with their registries, and skopeo, GnuPG, Ruby and git. Nothing is published.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

import made_release  # noqa: E402


class DryRunTest(unittest.TestCase):
    def test_every_step_passes_with_complete_packages(self):
        with tempfile.TemporaryDirectory(prefix="mayfly-dry-run-") as work:
            dist = made_release.make(pathlib.Path(work) / "dist")
            done = subprocess.run(
                [ROOT / "script/release", "--dry-run", "--dist", dist], capture_output=True, text=True, check=False
            )
            print(done.stdout, done.stderr, file=sys.stderr)
            self.assertEqual(done.returncode, 0)
            self.assertIn("14 of 14 steps passed", done.stdout)
            self.assertTrue((dist / "SHA256SUMS").is_file())


if __name__ == "__main__":
    unittest.main()
