"""Tests the wheel that `package build` built and `package test` installed. MAYFLY_PACKAGE_WHEEL is the wheel's path."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

WHEEL = os.environ.get("MAYFLY_PACKAGE_WHEEL")


@pytest.fixture
def wheel() -> Path:
    assert WHEEL, "MAYFLY_PACKAGE_WHEEL is not set: run the tests with `package test`"
    return Path(WHEEL)


def test_the_wheels_tag_is_the_tag_that_auditwheel_determines(wheel):
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    (found,) = re.findall(r'following platform tag: "(manylinux_2_\d+_\w+)"', " ".join(shown.split()))
    assert found in wheel.name
    assert wheel.name.split("-")[2:4] == ["py3", "none"]


def test_the_wheel_contains_only_the_package_with_its_library_and_its_license(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert [name for name in names if name.endswith("/LICENSE")]
    assert {name for name in names if ".dist-info/" not in name and not name.endswith("/")} == {
        "mayfly_inprocess/__init__.py",
        "mayfly_inprocess/py.typed",
        "mayfly_inprocess/libmayfly.so.0",
    }


def test_the_loaded_library_is_the_library_in_the_wheel(wheel):
    from mayfly._library import find_library

    from mayfly_inprocess import LIBRARY

    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("mayfly_inprocess/libmayfly.so.0") == LIBRARY.read_bytes()
    library = find_library()
    assert library.path == str(LIBRARY)
    assert library.version() == metadata.version("mayfly-dynamodb-inprocess") == metadata.version("mayfly-dynamodb")
