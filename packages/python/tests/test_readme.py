"""Runs every example of the README: tests with pytest, programs with Python, configuration as pytest.ini."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
TESTS = [text for language, text in EXAMPLES if language == "python" and re.search("^(async )?def test_", text, re.MULTILINE)]
PROGRAMS = [text for language, text in EXAMPLES if language == "python" and text not in TESTS]


def test_the_readme_has_examples_of_each_kind():
    assert (len(TESTS), len(PROGRAMS)) == (9, 2)
    assert {language for language, _ in EXAMPLES} == {"python", "sh", "ini"}


def test_the_first_example_in_the_readme_needs_no_imports():
    assert "import" not in TESTS[0]


def test_the_example_tests_in_the_readme_pass(pytester):
    pytester.makepyfile(**{f"test_example_{number}": text for number, text in enumerate(TESTS)})
    pytester.runpytest_subprocess("-p", "no:cacheprovider", timeout=300).assert_outcomes(passed=len(TESTS))


def test_the_example_configuration_in_the_readme_is_valid(pytester):
    (configuration,) = [text for language, text in EXAMPLES if language == "ini"]
    (pytester.path / "pytest.ini").write_text(configuration, encoding="utf-8")
    pytester.makepyfile("def test_one(mayfly): assert mayfly.clock._following")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--strict-config", timeout=300)
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(("program", "output"), list(zip(PROGRAMS, ["2031-01-01 01:00:00+00:00\n", "INSERT by user\n"])))
def test_the_example_programs_in_the_readme_print_the_expected_output(program, output):
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    assert done.stdout == output


def test_the_readme_names_every_error():
    from mayfly import errors

    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, errors.MayflyError) and name not in ("UnansweredError", "FollowError"):
            assert f"`{name}" in README
