"""What differs between platforms. Tests pretend to be on another platform where the package takes the platform as an
argument; what only the platform itself can show is tested there, and skipped elsewhere."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import WINDOWS, copied_program
from programs import ELF_ARM64, ELF_X86_64, MACH_O_ARM64, MACH_O_X86_64, PE_ARM64, PE_X86_64, elf, mach_o, pe

from mayfly import BinaryError, LibraryError, Server, StartError, _binary, _launch
from mayfly._binary import NAME, Binary, find_binary, reachable
from mayfly._launch import launch, refusal
from mayfly._platform import SUPPORTED, Platform, platform_of, this_platform
from mayfly._process import hint, how_it_ended
from mayfly.errors import MayflyError

HERE = this_platform()
MAC = Platform("macOS", "arm64")
FOREIGN = elf(ELF_X86_64) if HERE.system == "macOS" else mach_o(MACH_O_ARM64)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("program", "platform"),
    [
        (elf(ELF_X86_64), "Linux x86_64"),
        (elf(ELF_ARM64), "Linux arm64"),
        (mach_o(MACH_O_X86_64), "macOS x86_64"),
        (mach_o(MACH_O_ARM64), "macOS arm64"),
        (pe(PE_X86_64), "Windows x86_64"),
        (pe(PE_ARM64), "Windows arm64"),
    ],
)
def test_a_programs_header_tells_its_platform(tmp_path, program, platform):
    assert str(platform_of(str(written(tmp_path / "program", program)))) == platform


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"#!/bin/sh\n",
        elf(ELF_X86_64)[:63],
        elf(40),
        b"\x7fELF\x01\x01" + bytes(60),
        mach_o(12),
        pe(PE_X86_64)[:130],
        b"MZ" + bytes(100),
        b"MZ" + b"\xff" * 100,
    ],
)
def test_a_file_that_is_not_a_program_has_no_platform(tmp_path, content):
    assert platform_of(str(written(tmp_path / "program", content))) is None
    assert platform_of(str(tmp_path / "none")) is None


@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [
        ("Linux", "aarch64", "Linux arm64"),
        ("Darwin", "arm64", "macOS arm64"),
        ("Windows", "AMD64", "Windows x86_64"),
        ("Windows", "ARM64", "Windows arm64"),
        ("FreeBSD", "amd64", "FreeBSD x86_64"),
    ],
)
def test_a_platform_has_the_same_name_for_its_python_and_its_programs(monkeypatch, system, machine, expected):
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert str(this_platform()) == expected


def test_the_packages_own_program_is_for_this_platform():
    assert HERE in SUPPORTED
    assert platform_of(find_binary().path) == HERE


def test_a_program_for_another_platform_is_rejected(tmp_path):
    foreign = written(tmp_path / "foreign.exe", FOREIGN)
    with pytest.raises(BinaryError) as error:
        Server(foreign)
    assert str(error.value) == (
        f"cannot run {foreign} on {HERE} (the program is for {platform_of(str(foreign))}): correct binary, or remove it to "
        "use the package's own program"
    )


def test_a_package_that_was_installed_for_another_platform_says_how_to_install_it_here(tmp_path, monkeypatch):
    monkeypatch.setattr(_binary, "BUNDLED", written(tmp_path / NAME, FOREIGN))
    with pytest.raises(BinaryError) as error:
        Server()
    assert str(error.value) == (
        f"cannot run {tmp_path / NAME} on {HERE} (the program is for {platform_of(str(tmp_path / NAME))}): install the wheel "
        f"for {HERE} on this machine (pip install --force-reinstall mayfly-dynamodb)"
    )


def test_a_platform_without_a_program_is_named_with_what_to_do(monkeypatch):
    monkeypatch.setattr(_binary, "_recorded", lambda: None)
    assert str(_binary.not_found(Platform("FreeBSD", "amd64"))) == (
        "mayfly-dynamodb has no program for FreeBSD amd64: build mayfly from source, and put it on PATH or set "
        "MAYFLY_BINARY to its path; or run Mayfly on another system, for example in a container, and set MAYFLY_URL to its "
        "URL"
    )
    assert str(_binary.not_found(MAC)).startswith(
        "no mayfly program found: install the mayfly-dynamodb wheel for macOS arm64, put mayfly on PATH, "
    )


def test_a_program_that_something_removed_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(_binary, "BUNDLED", tmp_path / NAME)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BinaryError) as error:
        Server()
    assert str(error.value) == (
        f"cannot run {tmp_path / NAME} on {HERE} (the file is missing, although pip installed it): if a virus scanner "
        "removed it, allow the file there; then run pip install --force-reinstall mayfly-dynamodb"
    )


@pytest.mark.parametrize("kept", [0, 100, 0.5])
def test_a_truncated_program_in_the_package_is_reported(tmp_path, monkeypatch, kept):
    whole = Path(find_binary().path).read_bytes()
    part = whole[: int(len(whole) * kept) if isinstance(kept, float) else kept]
    monkeypatch.setattr(_binary, "BUNDLED", written(tmp_path / NAME, part))
    with pytest.raises(BinaryError) as error:
        Server()
    assert str(error.value) == (
        f"cannot run {tmp_path / NAME} on {HERE} (the file is damaged: its size is {len(part)} bytes instead of "
        f"{len(whole)}): run pip install --force-reinstall mayfly-dynamodb"
    )


def test_an_overwritten_program_in_the_package_is_reported(tmp_path, monkeypatch):
    size = os.path.getsize(find_binary().path)
    monkeypatch.setattr(_binary, "BUNDLED", written(tmp_path / NAME, bytes(size)))
    with pytest.raises(BinaryError, match=r"\(the file is damaged: its SHA-256 is not the one in the wheel\): run pip"):
        Server()


def test_an_intact_program_is_not_called_damaged(tmp_path, monkeypatch):
    assert _binary.damage(find_binary()) is None
    assert _binary.damage(Binary(str(written(tmp_path / "another", b"")), "MAYFLY_BINARY")) is None
    with pytest.raises(StartError, match="unknown option '--nonsense'"):
        Server(args=["--nonsense"])


@pytest.mark.skipif(WINDOWS, reason="Windows has no permission to execute files")
def test_a_program_that_lost_its_permission_gets_it_back(tmp_path, monkeypatch):
    copy = copied_program(tmp_path)
    copy.chmod(0o644)
    monkeypatch.setattr(_binary, "BUNDLED", copy)
    with Server() as server:
        assert server.pid
    assert copy.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("directory", ["with spaces & a 'quote'", "äöü-日本-🦟", "/".join(["long-" + "x" * 45] * 8)])
def test_the_programs_path_can_have_spaces_other_letters_and_any_length(tmp_path, monkeypatch, directory):
    place = Path(reachable(str(tmp_path / directory)))
    copied_program(place)
    path = str(tmp_path / directory / NAME)
    with Server(path) as server:
        assert server.pid
    monkeypatch.setenv("MAYFLY_BINARY", path)
    done = subprocess.run([sys.executable, "-m", "mayfly", "--version"], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.startswith("mayfly ")
    shutil.rmtree(place)


def test_long_paths_on_windows_get_a_prefix():
    long = "x" * 300
    assert reachable("C:\\short\\mayfly.exe", windows=True) == "C:\\short\\mayfly.exe"
    assert reachable(f"C:\\{long}/mayfly.exe", windows=True) == f"\\\\?\\C:\\{long}\\mayfly.exe"
    assert reachable(f"\\\\server\\share\\{long}", windows=True) == f"\\\\?\\UNC\\server\\share\\{long}"
    assert reachable(f"\\\\?\\C:\\{long}", windows=True) == f"\\\\?\\C:\\{long}"
    assert reachable(f"/{long}", windows=False) == f"/{long}"


def test_a_world_works_without_a_home_directory_and_without_a_temporary_directory(tmp_path):
    program = """
from mayfly import Server
with Server() as server, server.world() as world:
    world.create_table("carts")
    world.function("one", lambda event: None)
    print(world.dynamodb.list_tables()["TableNames"])
"""
    gone = {"HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"}
    nowhere = {name: str(tmp_path / "none") for name in ("TMPDIR", "TEMP", "TMP")}
    environment = {name: value for name, value in os.environ.items() if name.upper() not in gone} | nowhere
    for home in ({}, {"HOME": str(tmp_path / "none"), "USERPROFILE": str(tmp_path / "none")}):
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True, env=environment | home
        )
        assert done.stdout == "['carts']\n"


@pytest.mark.skipif(HERE.system == "macOS", reason="macOS starts programs that are open for writing")
def test_a_start_waits_until_another_program_closes_the_file(tmp_path):
    copy = copied_program(tmp_path)
    close = held_open(copy)
    timer = threading.Timer(0.4, close)
    timer.start()
    with Server(copy) as server:
        assert server.pid
        assert not timer.is_alive()


@pytest.mark.skipif(HERE.system == "macOS", reason="macOS starts programs that are open for writing")
def test_a_file_that_stays_open_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(_launch, "TRIES_MAX", 3)
    copy = copied_program(tmp_path)
    close = held_open(copy)
    try:
        with pytest.raises(BinaryError) as error:
            Server(copy)
    finally:
        close()
    said = str(error.value)
    reason, advice = re.fullmatch(re.escape(f"cannot run {copy} on {HERE}") + r" \((.*?)\): (.*)", said).groups()
    if WINDOWS:
        assert reason.endswith(", Windows error 32")
        assert advice.startswith("another program, perhaps a virus scanner, uses the file: ")
    else:
        assert reason == "Text file busy"
        assert advice.startswith("another process is writing the file: try again when it has finished, or set binary to a")


def held_open(path: Path):
    """Opens the file so that no program can be started from it. Returns the function that closes it."""
    if not WINDOWS:
        return path.open("r+b").close
    import ctypes

    kernel = ctypes.WinDLL("kernel32")
    kernel.CreateFileW.restype = ctypes.c_void_p
    read, shared_with_nobody, existing = 0x80000000, 0, 3
    file = ctypes.c_void_p(kernel.CreateFileW(str(path), read, shared_with_nobody, None, existing, 0, None))
    assert file.value not in (None, ctypes.c_void_p(-1).value)
    return lambda: kernel.CloseHandle(file)


def windows_error(number: int) -> OSError:
    error = OSError(errno.EACCES, "The system says no.")
    error.winerror = number
    return error


@pytest.mark.parametrize("number", [5, 32, 33])
def test_a_start_that_a_virus_scanner_delays_is_tried_again(monkeypatch, number):
    monkeypatch.setattr(_launch, "PAUSE_SECONDS", 0)
    failures = [windows_error(number)] * (_launch.TRIES_MAX - 1)

    def start(path: str) -> str:
        if failures:
            raise failures.pop()
        return path

    assert launch(Binary("a program", None), start) == "a program"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            windows_error(32),
            "(The system says no, Windows error 32): another program, perhaps a virus scanner, uses the file: try again when "
            "it has finished, exclude the file from its scans, or set MAYFLY_BINARY to a copy in another directory",
        ),
        (
            windows_error(5),
            "(The system says no, Windows error 5): a virus scanner or a policy may forbid it: allow the file there, check "
            "the file's permissions, or set MAYFLY_BINARY to a copy in another directory",
        ),
        (
            windows_error(225),
            "(The system says no, Windows error 225): the virus scanner blocks the file: allow the file there, or set "
            "MAYFLY_URL to the URL of a running server",
        ),
        (
            windows_error(193),
            "(The system says no, Windows error 193): use a mayfly that was built for this platform",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied"),
            "(Permission denied): the file system may forbid programs (noexec): set MAYFLY_BINARY to a copy in another "
            "directory",
        ),
    ],
)
def test_the_reason_for_a_refused_start_says_what_to_do(tmp_path, error, sentence):
    if WINDOWS and not hasattr(error, "winerror"):
        pytest.skip("an error of another system")
    path = str(tmp_path / "mayfly")
    assert str(refusal(Binary(path, None), error, Platform("Windows", "x86_64"))) == (
        f"cannot run {path} on Windows x86_64 {sentence}"
    )


def test_a_refused_start_is_tried_for_a_limited_time(monkeypatch):
    monkeypatch.setattr(_launch, "PAUSE_SECONDS", 0)
    starts = []

    def start(path: str) -> None:
        starts.append(path)
        raise windows_error(32)

    with pytest.raises(BinaryError):
        launch(Binary("a program", None), start)
    assert len(starts) == _launch.TRIES_MAX


def test_windows_exit_statuses_are_explained():
    assert how_it_ended(0) == "exit status 0"
    assert how_it_ended(1) == "exit status 1"
    assert how_it_ended(0xC0000005) == "exit status 0xC0000005, access violation"
    assert how_it_ended(0xC0000999) == "exit status 0xC0000999"


def test_macos_kills_at_the_start_are_explained():
    assert hint("killed by SIGKILL", "/x y/mayfly", MAC) == (
        "; macOS kills a program whose signature is invalid, and one that a browser downloaded: run codesign --verify "
        "'/x y/mayfly', or xattr -d com.apple.quarantine '/x y/mayfly'"
    )
    assert hint("exit status 1", "/x", MAC) == hint("killed by SIGKILL", "/x", Platform("Linux", "arm64")) == ""


def test_this_packages_script_is_recognized_in_a_windows_program(tmp_path):
    script = written(tmp_path / "script", pe(PE_X86_64) + b"PK#!python\nfrom mayfly.__main__ import main")
    assert _binary._is_our_script(str(script))
    assert not _binary._is_our_script(str(written(tmp_path / "other", pe(PE_X86_64))))
    assert not _binary._is_our_script(find_binary().path)


@pytest.mark.skipif(HERE.system == "Linux", reason="Linux has the in-process library")
def test_an_in_process_server_is_rejected_where_no_library_exists(monkeypatch):
    monkeypatch.delenv("MAYFLY_LIBRARY", raising=False)
    with pytest.raises(LibraryError, match=f"^mayfly-dynamodb-inprocess has no library for {HERE}: start a separate process"):
        Server(in_process=True)


def test_errors_of_other_platforms_are_mayfly_errors():
    error = BinaryError("/x", None, "why", "do this", MAC)
    assert isinstance(error, MayflyError)
    assert str(error) == "cannot run /x on macOS arm64 (why): do this"
