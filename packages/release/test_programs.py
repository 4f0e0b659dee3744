#!/usr/bin/env python3
"""Builds Mayfly's test programs for a platform on Linux, and runs them on a machine of that platform.

  test_programs.py build PLATFORM ARCHIVE   builds the program and the test programs of the checkout, and packs them into ARCHIVE
  test_programs.py run PLATFORM ARCHIVE     unpacks ARCHIVE into DIRECTORY and runs every test program there

The test programs contain the absolute path of their checkout, below which they find golden scripts and the program. Therefore the
checkout must be in DIRECTORY, which is /opt/mayfly, and ARCHIVE is unpacked there. On Windows, that is a directory of the current
drive.

`run` was tried on Linux on x86-64. It has never been run on arm64, macOS or Windows.
"""

import pathlib
import subprocess
import sys
import tarfile
import time

DIRECTORY = pathlib.Path("/opt/mayfly")
ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYERS = ("os", "engine", "compat", "http", "embed", "cli")
PROGRAMS = tuple(f"{layer}_tests" for layer in LAYERS)
# What script/build needs to build for a platform, and the directory of the build.
BUILDS = {
    "linux-x86_64": ([], "release"),
    "linux-arm64": (["--arm64"], "arm64"),
    "macos-arm64": (["--platform", "macos-arm64"], "macos-arm64"),
    "macos-x86_64": (["--platform", "macos-x86_64"], "macos-x86_64"),
    "windows-x86_64": (["--platform", "windows-x86_64"], "windows-x86_64"),
}
# Files that the test programs read.
DATA = ("tests/scripts", "tests/http/aws_signing_test_suite.txt")
program_seconds_max = 3600


def fail(message):
    sys.exit(f"test_programs: {message}")


def files_of(platform):
    """The program and the test programs, relative to the checkout."""
    build, ending = f"build/{BUILDS[platform][1]}", ".exe" if platform.startswith("windows") else ""
    return [f"{build}/mayfly{ending}", *(f"{build}/tests/{name}{ending}" for name in PROGRAMS)]


def build(platform, archive):
    if ROOT != DIRECTORY.resolve():
        fail(f"the checkout must be in {DIRECTORY}, but it is in {ROOT}")
    subprocess.run(["script/bootstrap", "test"], cwd=ROOT, check=True)
    subprocess.run(["script/build", *BUILDS[platform][0]], cwd=ROOT, check=True)
    subprocess.run(["script/build", *BUILDS[platform][0], *PROGRAMS], cwd=ROOT, check=True)
    with tarfile.open(archive, "w:gz", compresslevel=1) as packed:
        for name in [*files_of(platform), *DATA]:
            if not (ROOT / name).exists():
                fail(f"{name} does not exist after the build")
            packed.add(ROOT / name, name)
    print(f"test_programs: {archive} has {archive.stat().st_size / 1e6:.0f} MB")


def run(platform, archive):
    directory = DIRECTORY.absolute()  # on Windows, with the current drive
    with tarfile.open(archive) as packed:
        packed.extractall(directory, filter="data")
    server, *programs = [directory / name for name in files_of(platform)]
    print(subprocess.run([server, "--version"], check=True, capture_output=True, text=True).stdout.strip(), flush=True)
    failed = []
    for program in programs:
        print(f"test_programs: {program.name}", flush=True)
        began = time.monotonic()
        try:
            if platform.startswith("windows"):
                status = run_on_windows(program)
            else:
                status = subprocess.run(
                    [program], cwd=program.parent, stdin=subprocess.DEVNULL, timeout=program_seconds_max, check=False
                ).returncode
        except subprocess.TimeoutExpired:
            status = f"none within {program_seconds_max} seconds"
        print(f"test_programs: {program.name}: status {status} after {time.monotonic() - began:.0f} s", flush=True)
        if status != 0:
            failed.append(program.name)
    if failed:
        fail(f"failed on {platform}: {' '.join(failed)}")
    print(f"test_programs: {len(programs)} test programs passed on {platform}")


def run_on_windows(program):
    """Runs a test program with tests/windows/run.py, which knows the tests that cannot pass on Windows. Returns 0 if no other failed."""
    sys.path.insert(0, str(ROOT / "tests/windows"))
    import run as windows

    layer = program.name.removesuffix("_tests.exe")
    results = windows.run([], str(program), windows.names_of([], str(program)))
    known = {name for its_layer, name in windows.known_failures() if its_layer == layer}
    failed = {name for name, passed in results.items() if not passed}
    for name in sorted(failed - known):
        print(f"test_programs: {layer}: {name} failed", flush=True)
    for name in sorted((known & set(results)) - failed):
        print(f"test_programs: {layer}: {name} is in known_failures.txt but passed here", flush=True)
    print(f"test_programs: {layer}: {len(results) - len(failed)} of {len(results)} tests passed", flush=True)
    return 1 if not results or failed - known else 0


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("build", "run") or sys.argv[2] not in BUILDS:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    {"build": build, "run": run}[sys.argv[1]](sys.argv[2], pathlib.Path(sys.argv[3]))


if __name__ == "__main__":
    main()
