"""Python programs that check packages. pip installs them once into build/, in the versions and with the hashes of requirements.txt."""

import pathlib
import shutil
import sys

from .files import ROOT, command, sha256

REQUIREMENTS = pathlib.Path(__file__).resolve().parent.parent / "requirements.txt"
DIRECTORY = ROOT / "build/release-tools"


def tool(name):
    """The path of a program."""
    wanted = f"{sha256(REQUIREMENTS)} {sys.version}"
    mark = DIRECTORY / "installed"
    if not mark.is_file() or mark.read_text() != wanted:
        shutil.rmtree(DIRECTORY, ignore_errors=True)
        command([sys.executable, "-m", "venv", DIRECTORY])
        pip = [DIRECTORY / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        command([*pip, "--require-hashes", "--only-binary", ":all:", "--requirement", REQUIREMENTS])
        mark.write_text(wanted)
    return DIRECTORY / "bin" / name
