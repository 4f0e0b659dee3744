"""Prints the platform tag of a wheel that contains a program: python3 wheel_tag.py PROGRAM PLATFORM

PLATFORM is the program's platform, such as macos-arm64. A tag promises on which systems the program works. This script
rejects a program that would break the promise:

- Linux: a program with a loader, because it needs a certain version of glibc or musl.
- macOS: a program for a newer macOS than MACOS, one that needs libraries which macOS does not have, and one for arm64 that is
  not signed, because macOS refuses to run it.
- Windows: a program that needs a compiler's libraries, which Windows does not have.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

TAGS = {
    "linux-x86_64": "manylinux2014_x86_64.musllinux_1_2_x86_64",
    "linux-arm64": "manylinux2014_aarch64.musllinux_1_2_aarch64",
    "macos-arm64": "macosx_12_0_arm64",
    "macos-x86_64": "macosx_12_0_x86_64",
    "windows-x86_64": "win_amd64",
}
MACOS = (12, 0)
COMPILERS_DLLS = ("lib", "msvcp", "vcruntime")  # the beginnings of their names

ELF_LOADER = 3
MACH_O_DYLIBS = (0xC, 0x80000018, 0x8000001F)  # LC_LOAD_DYLIB, LC_LOAD_WEAK_DYLIB, LC_REEXPORT_DYLIB
MACH_O_SIGNATURE, MACH_O_BUILD_VERSION, MACH_O_VERSION_MIN = 0x1D, 0x32, 0x24
PE_IMPORTS, PE_DELAYED_IMPORTS = 1, 13


def check_linux(program: bytes, platform: str) -> None:
    (offset,) = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    if any(struct.unpack_from("<I52x", program, offset + size * i)[0] == ELF_LOADER for i in range(count)):
        raise ValueError("is not statically linked: use the release's program")


def check_macos(program: bytes, platform: str) -> None:
    (count,) = struct.unpack_from("<I", program, 16)
    at, signed, needed_macos = 32, False, None
    for _ in range(count):
        command, size = struct.unpack_from("<II", program, at)
        if size < 8:
            raise ValueError("has a malformed load command")
        if command in MACH_O_DYLIBS:
            name = _text(program, at + struct.unpack_from("<I", program, at + 8)[0])
            if not name.startswith(("/usr/lib/", "/System/Library/")):
                raise ValueError(f"needs {name}, which is not part of macOS")
        elif command == MACH_O_SIGNATURE:
            signed = True
        elif command in (MACH_O_BUILD_VERSION, MACH_O_VERSION_MIN):
            (version,) = struct.unpack_from("<I", program, at + (12 if command == MACH_O_BUILD_VERSION else 8))
            needed_macos = (version >> 16, version >> 8 & 0xFF)
        at += size
    if needed_macos is None or needed_macos > MACOS:
        found = "any macOS" if needed_macos is None else f"macOS {needed_macos[0]}.{needed_macos[1]}"
        raise ValueError(f"is built for {found}, but the wheel is for macOS {MACOS[0]}.{MACOS[1]} and later")
    if platform == "macos-arm64" and not signed:
        raise ValueError("is not signed, and Macs with arm64 refuse to run it: sign it after stripping it")


def check_windows(program: bytes, platform: str) -> None:
    (header,) = struct.unpack_from("<I", program, 60)
    (sections,) = struct.unpack_from("<H", program, header + 6)
    (optional_size,) = struct.unpack_from("<H", program, header + 20)
    directories = header + 24 + 112
    section_table = [struct.unpack_from("<4I", program, header + 24 + optional_size + 40 * i + 8) for i in range(sections)]

    def position(address: int) -> int:
        for virtual_size, begin, size, at in section_table:
            if begin <= address < begin + max(virtual_size, size):
                return at + address - begin
        raise ValueError("has a malformed import table")

    for directory, entry_size, name_at in ((PE_IMPORTS, 20, 12), (PE_DELAYED_IMPORTS, 32, 4)):
        (address,) = struct.unpack_from("<I", program, directories + 8 * directory)
        at = position(address) if address else None
        while at is not None and any(program[at : at + entry_size]):
            name = _text(program, position(struct.unpack_from("<I", program, at + name_at)[0]))
            if name.lower().startswith(COMPILERS_DLLS):
                raise ValueError(f"needs {name}, which is not part of Windows: link it statically")
            at += entry_size


def _text(program: bytes, at: int) -> str:
    return program[at : program.index(b"\0", at)].decode("utf-8", "replace")


CHECKS = {"linux": check_linux, "macos": check_macos, "windows": check_windows}


def main(path: str, platform: str) -> None:
    try:
        CHECKS[platform.partition("-")[0]](Path(path).read_bytes(), platform)
    except struct.error:
        sys.exit(f"package: {path} is too short for its headers")
    except ValueError as error:
        sys.exit(f"package: {path} {error}")
    print(TAGS[platform])


if __name__ == "__main__":
    main(*sys.argv[1:])
