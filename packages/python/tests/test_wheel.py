"""Tests the wheel that `package build` built and `package test` installed. MAYFLY_PACKAGE_WHEEL is the wheel's path."""

from __future__ import annotations

import os
import platform
import re
import stat
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.tags import Tag
from packaging.utils import parse_wheel_filename

import mayfly
from mayfly._binary import BUNDLED

WHEEL = os.environ.get("MAYFLY_PACKAGE_WHEEL")


@pytest.fixture
def wheel() -> Path:
    assert WHEEL, "MAYFLY_PACKAGE_WHEEL is not set: run the tests with `package test`"
    return Path(WHEEL)


def test_auditwheel_agrees_with_the_wheels_tag(wheel):
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    said = " ".join(shown.split())
    (found,) = re.findall(r'consistent with the following platform tag: "manylinux_2_(\d+)_\w+"', said)
    assert int(found) <= 17  # manylinux2014 stands for glibc 2.17
    assert "requires no external shared libraries" in said


def test_the_wheel_is_tagged_for_glibc_and_musl(wheel):
    _, _, _, tags = parse_wheel_filename(wheel.name)
    machine = platform.machine()
    platforms = {f"manylinux2014_{machine}", f"musllinux_1_2_{machine}"}
    assert tags == {Tag("py3", "none", each) for each in platforms}
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/WHEEL")]
        metadata_lines = archive.read(name).decode().splitlines()
        record = archive.read(name.replace("/WHEEL", "/RECORD")).decode()
    assert {line for line in metadata_lines if line.startswith("Tag: ")} == {f"Tag: py3-none-{each}" for each in platforms}
    assert "Root-Is-Purelib: false" in metadata_lines
    assert f"{name},sha256=" in record
    assert "mayfly/bin/mayfly,sha256=" in record


@pytest.mark.parametrize("system", ["manylinux2014", "musllinux_1_2"])
@pytest.mark.parametrize("python", ["39", "314"])
def test_pip_selects_the_wheel_on_glibc_and_musl(wheel, tmp_path, system, python):
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-index", "--find-links", str(wheel.parent), "--no-deps"]
    for_system = ["--platform", f"{system}_{platform.machine()}", "--python-version", python, "--only-binary", ":all:"]
    subprocess.run([*pip, *for_system, "--dest", str(tmp_path), "mayfly-dynamodb"], check=True)
    assert [path.name for path in tmp_path.iterdir()] == [wheel.name]


def test_the_wheel_contains_only_the_package_with_its_program_its_type_marker_and_its_license(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        program = archive.getinfo("mayfly/bin/mayfly")
    assert stat.S_IMODE(program.external_attr >> 16) == 0o755
    assert "mayfly/py.typed" in names
    assert [name for name in names if name.endswith("/LICENSE")]
    assert not [name for name in names if not name.startswith("mayfly/") and ".dist-info/" not in name]


def test_the_installed_package_comes_from_the_wheel(wheel):
    assert Path(mayfly.__file__).parent == BUNDLED.parent.parent
    assert wheel.name.startswith(f"mayfly_dynamodb-{metadata.version('mayfly-dynamodb')}-")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("mayfly/bin/mayfly") == BUNDLED.read_bytes()


def test_the_program_and_the_package_have_the_same_version(wheel):
    said = subprocess.run([BUNDLED, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert said == f"mayfly {metadata.version('mayfly-dynamodb')}\n"


def test_the_package_has_no_required_dependencies():
    assert all("extra ==" in requirement for requirement in metadata.requires("mayfly-dynamodb"))
