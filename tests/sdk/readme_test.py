"""Runs the examples of README.md, docs/any_sdk.md and docs/commands.md in order, each page against a fresh server."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from mayfly_server import MayflyServer, binary

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(document, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL)


class Readme(unittest.TestCase):
    def test_the_readmes_example_prints_the_output_that_the_readme_shows(self):
        """Uses the Python package's sources; the package's own tests use the installed package."""
        (program,), (printed,) = blocks("README.md", "python"), blocks("README.md", "text")
        environment = {name: value for name, value in os.environ.items() if name != "MAYFLY_URL"}
        environment |= {"PYTHONPATH": str(ROOT / "packages/python/src"), "MAYFLY_BINARY": os.path.abspath(binary())}
        done = subprocess.run([sys.executable, "-B", "-c", program], env=environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", printed))

    def shell(self, server):
        """Returns a function that runs a command with `mayfly` on its PATH and the server's URL in MAYFLY_URL. The function
        returns the command's output; the command must succeed and print no errors."""
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        os.symlink(os.path.abspath(binary()), f"{directory.name}/mayfly")
        environment = {
            **os.environ,
            "PATH": f"{directory.name}:{os.environ['PATH']}",
            "MAYFLY_URL": server.url,
            "AWS_PAGER": "",
            "HOME": directory.name,
        }

        def run(*command):
            done = subprocess.run(command, env=environment, cwd=directory.name, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), command[-1])
            return done.stdout

        return run

    def test_the_examples_for_the_commands_run_in_order(self):
        runtime = pathlib.Path(__file__).parent / "functions/runtime.py"
        server = MayflyServer("--function", f"reminder=exec:/usr/bin/python3 -B {runtime} carts.list_tables")
        self.addCleanup(server.stop)
        said = self.shell(server)("bash", "-ec", "".join(blocks("docs/commands.md", "sh")))
        self.assertIn("\nNo items in visits.\n", said)
        self.assertIn("\nPut user=ann at=7 into events.\n", said)

    def test_the_examples_for_any_sdk_run_in_order(self):
        server = MayflyServer()
        self.addCleanup(server.stop)
        run = self.shell(server)
        here = lambda block: block.replace("http://127.0.0.1:8000", server.url)
        exports, commands = (here(block) for block in blocks("docs/any_sdk.md", "sh"))
        (program,) = (here(block) for block in blocks("docs/any_sdk.md", "python"))
        run(sys.executable, "-c", program)
        said = run("bash", "-ec", exports + commands)
        self.assertRegex(said, r"\nreason +not_due\n")
        # After three days the item is gone; after the restore it is back.
        self.assertRegex(said, r"(?s)\nNo items in carts\.\n.*\nid +1\nttl +\d+ \(.*Z\)\n$")


if __name__ == "__main__":
    unittest.main()
