"""Makes files that have the headers of programs for other platforms, but no code. `programs.py DIR` writes one for each
platform that has a wheel, and its notices: DIR/macos-arm64/mayfly, DIR/macos-arm64/mayfly.notices, ..."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from pathlib import Path

ELF_X86_64, ELF_ARM64 = 62, 183
MACH_O_X86_64, MACH_O_ARM64 = 0x01000007, 0x0100000C
PE_X86_64, PE_ARM64 = 0x8664, 0xAA64


def elf(machine: int, segments: Sequence[int] = (1,)) -> bytes:
    """`segments` are the types of program headers: 1 is a segment to load, 3 names a loader."""
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, len(segments), 64, 0, 0)
    return header + b"".join(struct.pack("<I52x", each) for each in segments)


def mach_o(
    machine: int,
    macos: tuple[int, int] = (12, 0),
    libraries: Sequence[str] = ("/usr/lib/libSystem.B.dylib",),
    is_signed: bool = True,
) -> bytes:
    commands = [struct.pack("<6I", 0x32, 24, 1, macos[0] << 16 | macos[1] << 8, 15 << 16, 0)]
    for library in libraries:
        name = library.encode().ljust(len(library) // 8 * 8 + 8, b"\0")
        commands.append(struct.pack("<6I", 0xC, 24 + len(name), 24, 2, 1 << 16, 1 << 16) + name)
    if is_signed:
        commands.append(struct.pack("<4I", 0x1D, 16, 4096, 64))
    content = b"".join(commands)
    return struct.pack("<8I", 0xFEEDFACF, machine, 0, 2, len(commands), len(content), 0x85, 0) + content


def pe(machine: int, libraries: Sequence[str] = ("KERNEL32.dll", "WS2_32.dll")) -> bytes:
    """The only section is at the same place in memory as in the file."""
    begin, imports = 128, 512
    names = imports + 20 * (len(libraries) + 1)
    table, texts = b"", b""
    for library in libraries:
        table += struct.pack("<5I", 0, 0, 0, names + len(texts), 0)
        texts += library.encode() + b"\0"
    section = table + bytes(20) + texts
    program = b"MZ".ljust(60, b"\0") + struct.pack("<I", begin)
    program = program.ljust(begin, b"\0") + b"PE\0\0" + struct.pack("<2H12x2H", machine, 1, 240, 0x22)
    directories = [(0, 0), (imports, len(section)), *[(0, 0)] * 14]
    program += struct.pack("<H", 0x20B).ljust(112, b"\0") + b"".join(struct.pack("<2I", *each) for each in directories)
    program += b".rdata\0\0" + struct.pack("<4I16x", len(section), imports, len(section), imports)
    return program.ljust(imports, b"\0") + section


PROGRAMS = {
    "linux-x86_64/mayfly": elf(ELF_X86_64),
    "linux-arm64/mayfly": elf(ELF_ARM64),
    "macos-arm64/mayfly": mach_o(MACH_O_ARM64),
    "macos-x86_64/mayfly": mach_o(MACH_O_X86_64),
    "windows-x86_64/mayfly.exe": pe(PE_X86_64),
}


def main(directory: str) -> None:
    for name, program in PROGRAMS.items():
        path = Path(directory) / name
        path.parent.mkdir(parents=True)
        path.write_bytes(program)
        path.chmod(0o755)
        Path(f"{path}.notices").write_text(f"notices of {name}\n")


if __name__ == "__main__":
    main(sys.argv[1])
