"""Puts the program into the wheel, as mayfly/bin/mayfly or mayfly/bin/mayfly.exe, and tags the wheel for the program's
platforms.

`package` sets MAYFLY_PACKAGE_BINARY to the program's path and MAYFLY_PACKAGE_PLATFORM to the platforms on which the
program runs, for example manylinux2014_x86_64.musllinux_1_2_x86_64. The wheel works with any Python 3, so its tag is
py3-none-<platforms>.
"""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramInWheel(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # an editable install does not contain the program: it runs the program at MAYFLY_BINARY or on PATH
        program = _needed("MAYFLY_PACKAGE_BINARY", "the path of the program for the wheel")
        platforms = _needed("MAYFLY_PACKAGE_PLATFORM", "the platforms on which it runs, such as manylinux2014_x86_64")
        if not os.access(program, os.X_OK):
            raise SystemExit(f"MAYFLY_PACKAGE_BINARY must be an executable file, got {program}")
        build_data["force_include"][program] = f"mayfly/bin/mayfly{'.exe' if platforms.startswith('win') else ''}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platforms}"


def _needed(variable: str, what: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise SystemExit(f"{variable} is not set: run `package build OUT_DIR BINARY VERSION`, or set it to {what}")
    return value
