"""Puts the program into the wheel, as mayfly/bin/mayfly, and tags the wheel for the program's platform.

MAYFLY_PACKAGE_BINARY is the program, MAYFLY_PACKAGE_PLATFORM what it runs on (manylinux2014_x86_64): `package` sets both.
Any Python 3 will do, so the tag is py3-none-<platform>.
"""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramInWheel(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # a checkout finds the program by MAYFLY_BINARY or PATH
        program = _needed("MAYFLY_PACKAGE_BINARY", "the mayfly to put into the wheel")
        platform = _needed("MAYFLY_PACKAGE_PLATFORM", "the platform that it runs on, such as manylinux2014_x86_64")
        if not os.access(program, os.X_OK):
            raise SystemExit(f"MAYFLY_PACKAGE_BINARY names {program}, which is no file that may be run")
        build_data["force_include"][program] = "mayfly/bin/mayfly"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"


def _needed(variable: str, what: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise SystemExit(f"{variable} is not set: it names {what}; build by `package build OUT_DIR BINARY VERSION`")
    return value
