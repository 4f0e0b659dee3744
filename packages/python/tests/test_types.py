"""Checks the package, and programs that use it, with mypy --strict."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mayfly

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def mypy(*arguments: str) -> str:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--no-error-summary", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=900).stdout


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_the_package_passes_mypy_strict(tmp_path, system):
    # mypy checks a copy, because it does not report errors in installed packages, and because it treats everything in
    # the directory that contains the package as sources.
    copy = shutil.copytree(Path(mayfly.__file__).parent, tmp_path / "mayfly")
    assert mypy("--platform", system, "--config-file", str(PYPROJECT), str(copy)) == ""


RIGHT = """
from mayfly import Advanced, Fault, HandlerError, Index, Record, World
from mayfly.aio import AsyncWorld

def use(mayfly: World) -> Advanced:
    mayfly.create_table("carts", key="id", sort=("at", "N"), stream="KEYS_ONLY", Tags=[],
                        indexes=[Index("by_owner", key="owner", projection=["name"]), Index("by_n", sort="n", local=True)])
    mayfly.faults(Fault("throttle", exception="ThrottlingException"))
    mayfly.function("one", lambda event: None, may_fail=True)
    record: Record = mayfly.wait_for("carts", {"id": "1"}, "REMOVE", by="service")
    if record.event == "INSERT" or mayfly.clock.read().mode == "frozen" or mayfly.ttl("carts").status().mode == "aws":
        print(mayfly.explain("carts", {"id": "1"}).reason == "milliseconds")
    settled = mayfly.settle()
    print(settled.given_up[0]["error"]["type"], settled.unfinished[0]["retrying"]["attempts"], settled.never["carts"])
    return settled

async def await_it(world: AsyncWorld) -> Advanced:
    await world.wait_for("carts", {"id": "1"}, "MODIFY", by="user")
    return await world.settle(timeout=3)
"""


def test_a_correct_program_passes_mypy_strict(tmp_path):
    program = tmp_path / "right.py"
    program.write_text(RIGHT, encoding="utf-8")
    assert mypy(str(program)) == ""


WRONG = {
    'Fault("throtle")': "arg-type",
    'Fault("throttle", exception="Throttling")': "arg-type",
    'world.wait_for("carts", {}, "DELETE")': "arg-type",
    'world.wait_for("carts", {}, by="ttl")': "arg-type",
    'world.create_table("carts", stream="NEW")': "arg-type",
    'world.create_table("carts", key=("id", "X"))': "arg-type",
    'Index("by_at", key="at", projection="KEYS")': "arg-type",
    'world.clock.read().mode == "stopped"': "comparison-overlap",
    'world.ttl("carts").status().mode == "late"': "comparison-overlap",
    'record.event == "DELETE"': "comparison-overlap",
    'record.by == "ttl"': "comparison-overlap",
    'world.explain("carts", {}).reason == "string"': "comparison-overlap",
    'world.settle().given_up[0]["reason"]': "typeddict-item",
}


def test_mypy_reports_misspelled_names(tmp_path):
    program = tmp_path / "wrong.py"
    header = "from mayfly import Fault, Index, Record, World\ndef use(world: World, record: Record) -> None:\n"
    program.write_text(header + "".join(f"    print({line})\n" for line in WRONG))
    said = re.findall(r"wrong\.py:(\d+): error: .*\[([\w-]+)\]$", mypy(str(program)), re.MULTILINE)
    assert said == [(str(number), code) for number, code in enumerate(WRONG.values(), start=3)]


@pytest.mark.parametrize("name", ["py.typed"])
def test_the_package_is_marked_as_typed(name):
    assert (Path(mayfly.__file__).parent / name).is_file()
