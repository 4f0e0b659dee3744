"""Tests the wheel that `package build` built and `package test` installed, and wheels for all platforms.

MAYFLY_PACKAGE_WHEEL is the installed wheel's path. MAYFLY_PACKAGE_WHEELS is a directory in which `package` has built a wheel
for each platform, from a program that consists of little more than its headers. MAYFLY_PACKAGE_WHEELS_AGAIN has one of them,
built again.
"""

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
from packaging.tags import Tag
from packaging.utils import parse_wheel_filename

import mayfly
from mayfly._binary import BUNDLED, NAME
from mayfly._platform import SUPPORTED, Platform, platform_of, this_platform

TAGS = {
    Platform("Linux", "x86_64"): {"manylinux2014_x86_64", "musllinux_1_2_x86_64"},
    Platform("Linux", "arm64"): {"manylinux2014_aarch64", "musllinux_1_2_aarch64"},
    Platform("macOS", "arm64"): {"macosx_12_0_arm64"},
    Platform("macOS", "x86_64"): {"macosx_12_0_x86_64"},
    Platform("Windows", "x86_64"): {"win_amd64"},
}
HERE = this_platform()
#: PyPI's users download a wheel for each run in CI.
WHEEL_BYTES_MAX = 8 * 1024 * 1024


def path_in(variable: str) -> Path:
    value = os.environ.get(variable)
    assert value, f"{variable} is not set: run the tests with `package test`"
    return Path(value)


@pytest.fixture
def wheel() -> Path:
    return path_in("MAYFLY_PACKAGE_WHEEL")


@pytest.fixture
def wheels() -> dict[Platform, Path]:
    """The wheels for all platforms."""
    paths = list(path_in("MAYFLY_PACKAGE_WHEELS").iterdir())
    found = {each: path for each in TAGS for path in paths if tags_of(path) == TAGS[each]}
    assert sorted(found.values()) == sorted(paths)
    return found


def tags_of(wheel: Path) -> set[str]:
    return {each.platform for each in parse_wheel_filename(wheel.name)[3]}


def program_name(platform: Platform) -> str:
    return "mayfly/bin/mayfly.exe" if platform.system == "Windows" else "mayfly/bin/mayfly"


def pip_downloads(wheels: Path, into: Path, platform: str, python: str = "312") -> list[str]:
    """The names of the wheels that pip selects for a platform."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-index", "--find-links", str(wheels), "--no-deps"]
    for_platform = ["--platform", platform, "--python-version", python, "--only-binary", ":all:"]
    subprocess.run([*pip, *for_platform, "--dest", str(into), "mayfly-dynamodb"], check=False)
    return [path.name for path in into.glob("*.whl")]


@pytest.mark.skipif(HERE.system != "Linux", reason="auditwheel is for Linux")
def test_auditwheel_agrees_with_the_wheels_tag(wheel):
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    said = " ".join(shown.split())
    (found,) = re.findall(r'consistent with the following platform tag: "manylinux_2_(\d+)_\w+"', said)
    assert int(found) <= 17  # manylinux2014 stands for glibc 2.17
    assert "requires no external shared libraries" in said


def check_contents(wheel: Path, platform: Platform) -> None:
    """Checks the tags, the names and the permissions in a wheel for the platform."""
    tags = TAGS[platform]
    assert parse_wheel_filename(wheel.name)[3] == {Tag("py3", "none", each) for each in tags}
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/WHEEL")]
        metadata_lines = archive.read(name).decode().splitlines()
        record = archive.read(name.replace("/WHEEL", "/RECORD")).decode()
        names = archive.namelist()
        program = archive.getinfo(program_name(platform))
    assert {line for line in metadata_lines if line.startswith("Tag: ")} == {f"Tag: py3-none-{each}" for each in tags}
    assert "Root-Is-Purelib: false" in metadata_lines
    assert f"{name},sha256=" in record
    assert re.search(rf"^{re.escape(program.filename)},sha256=[\w-]+,{program.file_size}$", record, re.MULTILINE)
    assert stat.S_IMODE(program.external_attr >> 16) == 0o755
    assert [name for name in names if name.startswith("mayfly/bin/")] == [program.filename]
    assert "mayfly/py.typed" in names
    assert [name for name in names if name.endswith("/LICENSE")]
    assert not [name for name in names if not name.startswith("mayfly/") and ".dist-info/" not in name]


def test_the_wheel_contains_only_the_package_with_its_program_its_type_marker_and_its_license(wheel):
    check_contents(wheel, HERE)


def test_the_wheel_is_small(wheel):
    assert wheel.stat().st_size < WHEEL_BYTES_MAX


def test_every_supported_platform_has_a_wheel(wheels):
    assert set(wheels) == set(TAGS) == SUPPORTED


@pytest.mark.parametrize("platform", TAGS, ids=str)
def test_the_wheel_for_a_platform_contains_only_that_platforms_program(wheels, tmp_path, platform):
    check_contents(wheels[platform], platform)
    with zipfile.ZipFile(wheels[platform]) as archive:
        assert platform_of(archive.extract(program_name(platform), tmp_path)) == platform


def test_each_wheel_in_the_output_directory_contains_the_program_that_its_tags_name(wheel, tmp_path):
    paths = list(wheel.parent.glob(f"mayfly_dynamodb-{metadata.version('mayfly-dynamodb')}-*.whl"))
    assert wheel in paths
    for path in paths:
        (platform,) = [each for each, tags in TAGS.items() if tags == tags_of(path)]
        check_contents(path, platform)
        with zipfile.ZipFile(path) as archive:
            assert platform_of(archive.extract(program_name(platform), tmp_path / path.name)) == platform


def test_a_wheel_that_is_built_again_has_the_same_bytes(wheels):
    (again,) = path_in("MAYFLY_PACKAGE_WHEELS_AGAIN").iterdir()
    first = wheels[Platform("Windows", "x86_64")]
    assert (again.name, again.read_bytes()) == (first.name, first.read_bytes())


@pytest.mark.parametrize(
    ("system", "platform"),
    [
        ("manylinux2014_x86_64", Platform("Linux", "x86_64")),
        ("musllinux_1_2_x86_64", Platform("Linux", "x86_64")),
        ("manylinux2014_aarch64", Platform("Linux", "arm64")),
        ("musllinux_1_2_aarch64", Platform("Linux", "arm64")),
        ("macosx_12_0_arm64", Platform("macOS", "arm64")),
        ("macosx_15_0_arm64", Platform("macOS", "arm64")),
        ("macosx_12_0_x86_64", Platform("macOS", "x86_64")),
        ("macosx_15_0_x86_64", Platform("macOS", "x86_64")),
        ("win_amd64", Platform("Windows", "x86_64")),
        ("macosx_11_0_arm64", None),
        ("win32", None),
        ("win_arm64", None),
        ("linux_riscv64", None),
    ],
)
def test_pip_selects_the_wheel_of_the_platform(wheels, tmp_path, system, platform):
    expected = [] if platform is None else [wheels[platform].name]
    assert pip_downloads(path_in("MAYFLY_PACKAGE_WHEELS"), tmp_path, system) == expected


@pytest.mark.parametrize("python", ["39", "314"])
def test_pip_selects_the_wheel_for_every_supported_python(wheel, tmp_path, python):
    for system in TAGS[HERE]:
        assert pip_downloads(wheel.parent, tmp_path / system, system, python) == [wheel.name]


def test_the_installed_package_comes_from_the_wheel(wheel):
    assert Path(mayfly.__file__).parent == BUNDLED.parent.parent
    assert wheel.name.startswith(f"mayfly_dynamodb-{metadata.version('mayfly-dynamodb')}-")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(f"mayfly/bin/{NAME}") == BUNDLED.read_bytes()


def test_the_program_and_the_package_have_the_same_version(wheel):
    said = subprocess.run([BUNDLED, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert said == f"mayfly {metadata.version('mayfly-dynamodb')}\n"


def test_the_package_has_no_required_dependencies():
    assert all("extra ==" in requirement for requirement in metadata.requires("mayfly-dynamodb"))
