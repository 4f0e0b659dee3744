"""Platforms: the one that this process runs on, and the one that a program was built for."""

from __future__ import annotations

import platform
import struct
from dataclasses import dataclass
from typing import Optional

_SYSTEMS = {"Darwin": "macOS"}
# Keys are in lower case. Windows names the machines AMD64 and ARM64.
_MACHINES = {"amd64": "x86_64", "x64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
_ELF_MACHINES = {62: "x86_64", 183: "arm64"}
_MACH_O_MACHINES = {0x01000007: "x86_64", 0x0100000C: "arm64"}
_PE_MACHINES = {0x8664: "x86_64", 0xAA64: "arm64"}


@dataclass(frozen=True)
class Platform:
    system: str  #: "Linux", "macOS" or "Windows"; other systems have the name that Python gives them
    machine: str  #: "x86_64" or "arm64"; other processors have the name that Python gives them

    def __str__(self) -> str:
        return f"{self.system} {self.machine}"


#: The platforms that have a wheel.
SUPPORTED = frozenset(
    (
        Platform("Linux", "x86_64"),
        Platform("Linux", "arm64"),
        Platform("macOS", "arm64"),
        Platform("macOS", "x86_64"),
        Platform("Windows", "x86_64"),
    )
)


def this_platform() -> Platform:
    system, machine = platform.system(), platform.machine()
    return Platform(_SYSTEMS.get(system, system), _MACHINES.get(machine.lower(), machine))


def platform_of(path: str) -> Optional[Platform]:
    """The platform of a program, according to its header. None if the file cannot be read, or is not a 64-bit program for
    Linux, macOS or Windows."""
    try:
        with open(path, "rb") as file:
            header = file.read(64)
            if len(header) < 64:
                return None
            if header.startswith(b"MZ"):  # the number at offset 60 is the offset of the PE header
                file.seek(struct.unpack_from("<I", header, 60)[0])
                signature, number = struct.unpack("<4sH", file.read(6).ljust(6, b"\0"))
                return _platform("Windows", _PE_MACHINES, number) if signature == b"PE\0\0" else None
    except OSError:
        return None
    if header.startswith(b"\x7fELF\x02\x01"):
        return _platform("Linux", _ELF_MACHINES, *struct.unpack_from("<H", header, 18))
    if header.startswith(b"\xcf\xfa\xed\xfe"):
        return _platform("macOS", _MACH_O_MACHINES, *struct.unpack_from("<I", header, 4))
    return None


def _platform(system: str, machines: dict[int, str], number: int) -> Optional[Platform]:
    machine = machines.get(number)
    return None if machine is None else Platform(system, machine)
