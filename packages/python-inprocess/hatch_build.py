"""Puts the library into the wheel, as mayfly_inprocess/libmayfly.so.0. Its tag says that it is for a machine and any Python 3;
auditwheel then says for which glibc.

MAYFLY_PACKAGE_LIBRARY is the library, MAYFLY_PACKAGE_PLATFORM what it was linked on (linux_x86_64): `package` sets both.
"""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LibraryInWheel(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # a checkout finds the library by MAYFLY_LIBRARY
        build_data["force_include"][_needed("MAYFLY_PACKAGE_LIBRARY")] = "mayfly_inprocess/libmayfly.so.0"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_needed('MAYFLY_PACKAGE_PLATFORM')}"


def _needed(variable: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise SystemExit(f"{variable} is not set: build by `package build OUT_DIR LIBRARY VERSION`")
    return value
