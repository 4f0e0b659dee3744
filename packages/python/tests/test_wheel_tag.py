"""Tests wheel_tag.py, which rejects programs that would not work on all systems that the wheel's tag promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from programs import ELF_ARM64, ELF_X86_64, MACH_O_ARM64, MACH_O_X86_64, PE_X86_64, elf, mach_o, pe

SCRIPT = Path(__file__).parent.parent / "wheel_tag.py"


def tag(tmp_path: Path, program: bytes, platform: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "program"
    path.write_bytes(program)
    return subprocess.run([sys.executable, SCRIPT, path, platform], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("program", "platform", "expected"),
    [
        (elf(ELF_X86_64), "linux-x86_64", "manylinux2014_x86_64.musllinux_1_2_x86_64"),
        (elf(ELF_ARM64), "linux-arm64", "manylinux2014_aarch64.musllinux_1_2_aarch64"),
        (mach_o(MACH_O_ARM64), "macos-arm64", "macosx_12_0_arm64"),
        (mach_o(MACH_O_ARM64, macos=(11, 3)), "macos-arm64", "macosx_12_0_arm64"),
        (mach_o(MACH_O_X86_64, is_signed=False), "macos-x86_64", "macosx_12_0_x86_64"),
        (pe(PE_X86_64), "windows-x86_64", "win_amd64"),
        (pe(PE_X86_64, libraries=()), "windows-x86_64", "win_amd64"),
    ],
)
def test_a_program_that_works_everywhere_gets_its_tag(tmp_path, program, platform, expected):
    done = tag(tmp_path, program, platform)
    assert (done.stdout, done.stderr) == (f"{expected}\n", "")


@pytest.mark.parametrize(
    ("program", "platform", "reason"),
    [
        (elf(ELF_X86_64, segments=(6, 3, 1)), "linux-x86_64", "is not statically linked: use the release's program"),
        (elf(ELF_X86_64)[:70], "linux-x86_64", "is too short for its headers"),
        (
            mach_o(MACH_O_ARM64, macos=(13, 1)),
            "macos-arm64",
            "is built for macOS 13.1, but the wheel is for macOS 12.0 and later",
        ),
        (
            mach_o(MACH_O_ARM64, libraries=("/usr/lib/libSystem.B.dylib", "/opt/homebrew/lib/libzstd.1.dylib")),
            "macos-arm64",
            "needs /opt/homebrew/lib/libzstd.1.dylib, which is not part of macOS",
        ),
        (mach_o(MACH_O_X86_64, libraries=("@rpath/libc++.1.dylib",)), "macos-x86_64", "needs @rpath/libc++.1.dylib, which"),
        (mach_o(MACH_O_ARM64, is_signed=False), "macos-arm64", "is not signed, and Macs with arm64 refuse to run it"),
        (mach_o(MACH_O_X86_64)[:60], "macos-x86_64", "is too short for its headers"),
        (pe(PE_X86_64, libraries=("KERNEL32.dll", "libstdc++-6.dll")), "windows-x86_64", "needs libstdc++-6.dll, which"),
        (pe(PE_X86_64, libraries=("VCRUNTIME140.dll",)), "windows-x86_64", "needs VCRUNTIME140.dll, which"),
        (pe(PE_X86_64)[:200], "windows-x86_64", "is too short for its headers"),
    ],
)
def test_a_program_that_does_not_work_everywhere_is_rejected(tmp_path, program, platform, reason):
    done = tag(tmp_path, program, platform)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"package: {tmp_path / 'program'} {reason}")
