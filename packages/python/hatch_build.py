"""Puts the program into the wheel, as mayfly/bin/mayfly, and tags the wheel for the program's platforms.

`package` sets MAYFLY_PACKAGE_BINARY, the program, and MAYFLY_PACKAGE_PLATFORM, the platforms that it runs on:
manylinux2014_x86_64.musllinux_1_2_x86_64. The wheel works with any Python 3, so its tag is py3-none-<platforms>.
"""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramInWheel(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # a checkout finds the program by MAYFLY_BINARY or PATH
        program = _needed("MAYFLY_PACKAGE_BINARY", "the mayfly to put into the wheel")
        platforms = _needed("MAYFLY_PACKAGE_PLATFORM", "the platforms that it runs on, such as manylinux2014_x86_64")
        if not os.access(program, os.X_OK):
            raise SystemExit(f"MAYFLY_PACKAGE_BINARY names {program}, which is no file that may be run")
        build_data["force_include"][program] = "mayfly/bin/mayfly"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platforms}"


def _needed(variable: str, what: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise SystemExit(f"{variable} is not set: it names {what}; build by `package build OUT_DIR BINARY VERSION`")
    return value
