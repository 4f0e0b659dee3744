"""Puts the library into the wheel, as mayfly_inprocess/libmayfly.so.0. Tags the wheel for this machine and any Python 3.
auditwheel later adds the glibc version to the tag.

`package` sets MAYFLY_PACKAGE_LIBRARY to the library's path and MAYFLY_PACKAGE_PLATFORM to the library's platform, for
example linux_x86_64.
"""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LibraryInWheel(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # an editable install does not contain the library: it loads the library at MAYFLY_LIBRARY
        build_data["force_include"][_needed("MAYFLY_PACKAGE_LIBRARY")] = "mayfly_inprocess/libmayfly.so.0"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_needed('MAYFLY_PACKAGE_PLATFORM')}"


def _needed(variable: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise SystemExit(f"{variable} is not set: run `package build OUT_DIR LIBRARY VERSION`")
    return value
