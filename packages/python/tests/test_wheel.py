"""The wheel as `package build` made it. These tests are of the wheel that is installed, so they want to know its file."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import mayfly
from mayfly._binary import BUNDLED

WHEEL = os.environ.get("MAYFLY_PACKAGE_WHEEL")


@pytest.fixture
def wheel() -> Path:
    assert WHEEL, "MAYFLY_PACKAGE_WHEEL is not set: run the tests by `package test`"
    return Path(WHEEL)


def test_its_tag_is_one_that_auditwheel_agrees_to(wheel):
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    said = " ".join(shown.split())
    (found,) = re.findall(r'consistent with the following platform tag: "manylinux_2_(\d+)_\w+"', said)
    assert int(found) <= 17  # manylinux2014 is glibc 2.17
    assert "requires no external shared libraries" in said
    assert wheel.name.split("-")[2:4] == ["py3", "none"]


def test_it_has_the_program_the_types_the_licence_and_no_more(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        program = archive.getinfo("mayfly/bin/mayfly")
    assert stat.S_IMODE(program.external_attr >> 16) == 0o755
    assert "mayfly/py.typed" in names
    assert [name for name in names if name.endswith("/LICENSE")]
    assert not [name for name in names if not name.startswith("mayfly/") and ".dist-info/" not in name]


def test_it_is_what_is_installed(wheel):
    assert Path(mayfly.__file__).parent == BUNDLED.parent.parent
    assert wheel.name.startswith(f"mayfly_dynamodb-{metadata.version('mayfly-dynamodb')}-")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("mayfly/bin/mayfly") == BUNDLED.read_bytes()


def test_the_programs_version_is_the_packages(wheel):
    said = subprocess.run([BUNDLED, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert said == f"mayfly {metadata.version('mayfly-dynamodb')}\n"


def test_it_depends_on_nothing_without_an_extra():
    assert all("extra ==" in requirement for requirement in metadata.requires("mayfly-dynamodb"))
