#!/usr/bin/env python3
"""Checks a program for macOS without a Mac: what the system's loader and its signature check would reject.

    check_macos.py PROGRAM [LIBSYSTEM_TBD]

PROGRAM must be an executable for macOS 12 or later that needs only libSystem, whose segments are aligned to pages, and whose
ad-hoc signature matches its contents (on x86-64 a signature is optional). With LIBSYSTEM_TBD, the list of symbols that Zig
brings, each symbol that the program imports must be in libSystem.
"""
import hashlib
import re
import struct
import sys

CPU_X86_64, CPU_ARM64 = 0x01000007, 0x0100000C
PAGE_BYTES = {CPU_X86_64: 0x1000, CPU_ARM64: 0x4000}
MACOS = 1
OLDEST = (12, 0)
LIBRARIES = {"/usr/lib/libSystem.B.dylib"}
# Numbers of <mach-o/loader.h>.
MH_EXECUTE, MH_PIE = 2, 0x200000
LC_SYMTAB, LC_LOAD_DYLIB, LC_SEGMENT_64, LC_CODE_SIGNATURE, LC_BUILD_VERSION = 0x2, 0xC, 0x19, 0x1D, 0x32
OTHER_LOADS = {0x80000018: "a weak library", 0x8000001F: "a re-exported library", 0x20: "a lazy library"}
# Numbers of <Kernel/kern/cs_blobs.h>.
SUPERBLOB, CODE_DIRECTORY, ADHOC, SHA256 = 0xFADE0CC0, 0xFADE0C02, 0x2, 2


class Wrong(Exception):
    """The program would not run."""


def text_at(data, offset):
    return data[offset:data.index(b"\0", offset)].decode()


def commands_of(data):
    """Yields (command, offset, size) of each load command."""
    magic, _, _, kind, count, size, flags = struct.unpack_from("<IiIIIII", data, 0)
    if magic != 0xFEEDFACF or kind != MH_EXECUTE or not flags & MH_PIE:
        raise Wrong("it is not a position-independent 64-bit Mach-O executable")
    offset = 32
    for _ in range(count):
        command, command_bytes = struct.unpack_from("<II", data, offset)
        yield command, offset, command_bytes
        offset += command_bytes
    if offset != 32 + size:
        raise Wrong("the sizes of its load commands do not add up")


def check_segments(data, segments, page_bytes):
    names = [name for name, *_ in segments]
    if names[0] != "__PAGEZERO" or names[-1] != "__LINKEDIT":
        raise Wrong(f"its segments are {', '.join(names)}")
    end = 0
    for name, address, _, offset, size in segments:
        if address % page_bytes or offset % page_bytes:
            raise Wrong(f"its segment {name} does not begin at a page")
        if size and offset < end:
            raise Wrong(f"its segment {name} overlaps the segment before it")
        end = max(end, offset + size)
    if end != len(data):
        raise Wrong(f"its segments end at byte {end} of {len(data)}")


def check_signature(data, offset, size):
    """Compares the hash of each page with the signature's."""
    if offset + size != len(data):
        raise Wrong("its signature is not at its end")
    magic, _, count = struct.unpack_from(">III", data, offset)
    if magic != SUPERBLOB:
        raise Wrong("its signature has an unknown form")
    directories = 0
    for number in range(count):
        _, blob = struct.unpack_from(">II", data, offset + 12 + 8 * number)
        begin = offset + blob
        magic, _, _, flags, hashes, _, _, pages, limit = struct.unpack_from(">IIIIIIIII", data, begin)
        if magic != CODE_DIRECTORY:
            continue
        directories += 1
        hash_bytes, hash_kind, _, page_shift = struct.unpack_from(">BBBB", data, begin + 36)
        if not flags & ADHOC or hash_kind != SHA256:
            raise Wrong("its signature is not an ad-hoc signature with SHA-256")
        if limit != offset:
            raise Wrong(f"its signature covers {limit} bytes of the {offset} before it")
        page = 1 << page_shift
        if pages != -(-limit // page):
            raise Wrong("its signature has the wrong number of pages")
        for index in range(pages):
            expected = data[begin + hashes + index * hash_bytes:][:hash_bytes]
            if hashlib.sha256(data[index * page:min((index + 1) * page, limit)]).digest() != expected:
                raise Wrong(f"its signature does not match page {index}")
    if directories == 0:
        raise Wrong("its signature has no code directory")


def imports_of(data, symtab):
    """Returns the names of the symbols that the loader must find."""
    offset, count, strings, _ = struct.unpack_from("<IIII", data, symtab + 8)
    names = set()
    for number in range(count):
        name, kind, section, _, _ = struct.unpack_from("<IBBHQ", data, offset + 16 * number)
        if kind & 0x0E == 0 and kind & 0x01 and section == 0:  # undefined and external
            names.add(text_at(data, strings + name))
    return names


def check(path, stubs=None):
    """Raises Wrong if the program would not run. Returns its facts as a line of text."""
    with open(path, "rb") as file:
        data = file.read()
    processor = struct.unpack_from("<I", data, 4)[0]
    if processor not in PAGE_BYTES:
        raise Wrong("it is not for x86-64 or arm64")
    segments, libraries, version, signature, symtab = [], [], None, None, None
    for command, offset, _ in commands_of(data):
        if command == LC_SEGMENT_64:
            name = data[offset + 8:offset + 24].rstrip(b"\0").decode()
            segments.append((name, *struct.unpack_from("<QQQQ", data, offset + 24)))
        elif command == LC_LOAD_DYLIB:
            libraries.append(text_at(data, offset + struct.unpack_from("<I", data, offset + 8)[0]))
        elif command in OTHER_LOADS:
            raise Wrong(f"it loads {OTHER_LOADS[command]}")
        elif command == LC_BUILD_VERSION:
            platform, oldest = struct.unpack_from("<II", data, offset + 8)
            version = (platform, (oldest >> 16, oldest >> 8 & 0xFF))
        elif command == LC_CODE_SIGNATURE:
            signature = struct.unpack_from("<II", data, offset + 8)
        elif command == LC_SYMTAB:
            symtab = offset
    check_segments(data, segments, PAGE_BYTES[processor])
    if set(libraries) != LIBRARIES:
        raise Wrong(f"it needs the libraries {', '.join(libraries) or 'of no system'}")
    if version is None or version[0] != MACOS or version[1] > OLDEST:
        raise Wrong(f"it needs a version of macOS later than {OLDEST[0]}.{OLDEST[1]}, or another system")
    if signature:
        check_signature(data, *signature)
    elif processor == CPU_ARM64:
        raise Wrong("it has no signature, which macOS requires on arm64")
    imports = imports_of(data, symtab)
    if stubs:
        with open(stubs, encoding="utf-8") as file:
            known = set(re.findall(r"[\w$.]+", file.read()))
        missing = sorted(name for name in imports if name not in known)
        if missing:
            raise Wrong(f"libSystem lacks {', '.join(missing)}")
    return (f"{path}: {'arm64' if processor == CPU_ARM64 else 'x86-64'}, macOS {version[1][0]}.{version[1][1]} or later, "
            f"{len(imports)} symbols of libSystem, {'signed' if signature else 'not signed'}")


def main():
    try:
        print(check(*sys.argv[1:]))
    except Wrong as wrong:
        sys.exit(f"{sys.argv[1]} would not run on macOS: {wrong}")


if __name__ == "__main__":
    main()
