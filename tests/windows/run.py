#!/usr/bin/python3
"""Runs the test programs for Windows with Wine, and compares the failures with the known ones.

    tests/windows/run.py WINE BUILD LAYER...    BUILD has tests/LAYER_tests.exe

known_failures.txt lists each test that fails under Wine or on Windows, with the reason. A test that fails without being
listed fails the run. So does a listed test that passes, unless its reason begins with "sometimes". At least 95 % of the
tests of each layer must pass, or 90 % of those of os, because Wine lacks some functions that they test.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PASSING_MIN = {"os": 0.90}
PASSING_MIN_OF_OTHERS = 0.95
# Tests that run a shell (posix), and tests that other tests start as their own process.
EXCLUDED = "~[posix]~[.]"
LISTING_SECONDS_MAX = 300
# A program that writes no output for this long is stopped.
SILENT_SECONDS_MAX = 180


def known_failures():
    """Returns {(layer, test): reason}."""
    known = {}
    for line in (HERE / "known_failures.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            layer, test, reason = re.fullmatch(r"(\w+): (.+?) \| (.+)", line).groups()
            known[layer, test] = reason
    return known


def names_of(wine, program):
    """Returns the names of the tests that a program would run."""
    listed = subprocess.run([*wine, program, EXCLUDED, "--list-test-names-only"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, timeout=LISTING_SECONDS_MAX)
    return [line for line in listed.stdout.splitlines() if line]


def run_while_it_writes(command, output):
    """Runs a command that writes to an open file. Stops it when the file has not grown for SILENT_SECONDS_MAX."""
    process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
    size, grew = -1, time.monotonic()
    while process.poll() is None:
        time.sleep(0.2)
        now = os.fstat(output.fileno()).st_size
        if now != size:
            size, grew = now, time.monotonic()
        elif time.monotonic() - grew > SILENT_SECONDS_MAX:
            process.kill()
            process.wait()


def run(wine, program, names):
    """Runs tests and returns {test: whether it passed}.

    A test that ends the program, or does not end, counts as failed. The tests after it run in a new process.
    """
    results = {}
    while len(results) < len(names):
        left = [name for name in names if name not in results]
        with tempfile.TemporaryDirectory() as directory:
            chosen = pathlib.Path(directory, "names.txt")
            # In Catch2's filters, a comma means "or".
            chosen.write_text("".join(re.sub(r"([\\,\[\]])", r"\\\1", name) + "\n" for name in left))
            with open(pathlib.Path(directory, "results.xml"), "w+") as output:
                # Catch2 takes words that begin with a slash for options on Windows. Wine's drive Z is the root directory.
                path = f"Z:{chosen}" if str(chosen).startswith("/") else str(chosen)
                run_while_it_writes([*wine, program, "--input-file", path, "--reporter", "xml"], output)
                output.seek(0)
                text = output.read()
        before = len(results)
        for part in re.split(r"<TestCase ", text)[1:]:
            name = re.match(r'name="([^"]*)"', part).group(1)
            for escape, character in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&")):
                name = name.replace(escape, character)
            results[name] = bool(re.search(r'<OverallResult success="true"', part))
        if len(results) == before:
            results[left[0]] = False
    return results


def main():
    wine, build, layers = sys.argv[1].split(), pathlib.Path(sys.argv[2]), sys.argv[3:]
    known = known_failures()
    problems = []
    for layer in layers:
        program = str(build / "tests" / f"{layer}_tests.exe")
        names = names_of(wine, program)
        if not names:
            problems.append(f"{layer}_tests.exe lists no tests")
            continue
        results = run(wine, program, names)
        failed = [name for name, passed in results.items() if not passed]
        for name in failed:
            if (layer, name) not in known:
                problems.append(f"{layer}: {name} failed")
        for (known_layer, name), reason in known.items():
            if known_layer == layer and not reason.startswith("sometimes") and name not in failed:
                problems.append(f"{layer}: {name} is in known_failures.txt but did not fail")
        least = PASSING_MIN.get(layer, PASSING_MIN_OF_OTHERS)
        if len(failed) > (1 - least) * len(results):
            problems.append(f"{layer}: fewer than {least:.0%} of the tests passed")
        print(f"{layer}: {len(results) - len(failed)} of {len(results)} tests passed", flush=True)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
