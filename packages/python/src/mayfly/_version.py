"""The package's version, and which servers fit it."""

from __future__ import annotations

import functools

from .errors import VersionError

#: What a checkout's is, that was never installed. It fits every server.
UNRELEASED = "0.0.0"


@functools.cache
def package_version() -> str:
    from importlib import metadata  # here: it takes milliseconds, and most uses of the package need it once

    try:
        return metadata.version("mayfly-dynamodb")
    except metadata.PackageNotFoundError:
        return UNRELEASED


def check_version(package: str, server: str, where: str) -> None:
    """Raises a VersionError unless both are of one release: the same major and minor number."""
    if package != UNRELEASED and package.split(".")[:2] != server.split(".")[:2]:
        raise VersionError(package, server, where)
