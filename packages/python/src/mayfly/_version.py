"""The package's version, and the check that a server is from the same release."""

from __future__ import annotations

import functools

from .errors import VersionError

#: The version of a checkout that is not installed. A package with this version accepts every server.
UNRELEASED = "0.0.0"


@functools.cache
def package_version() -> str:
    from importlib import metadata  # imported here, because the import takes milliseconds

    try:
        return metadata.version("mayfly-dynamodb")
    except metadata.PackageNotFoundError:
        return UNRELEASED


def check_version(package: str, server: str, where: str) -> None:
    """Raises a VersionError unless the package and the server have the same major and minor version. `where` names the
    server in the message."""
    if package != UNRELEASED and package.split(".")[:2] != server.split(".")[:2]:
        raise VersionError(package, server, where)
