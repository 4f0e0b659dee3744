"""Runs the tutorial, docs/tutorial/python.md. Each block of Python becomes the file that the block's first line names."""

from __future__ import annotations

import re
from pathlib import Path

TUTORIAL = (Path(__file__).parent.parent / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TUTORIAL, re.MULTILINE | re.DOTALL)


def test_the_tutorials_last_command_runs_all_tests_and_they_pass(pytester):
    assert {language for language, _ in BLOCKS} == {"python", "sh"}
    for text in (text for language, text in BLOCKS if language == "python"):
        (name,) = re.findall(r"\A# (\w+\.py)\n", text)
        (pytester.path / name).write_text(text, encoding="utf-8")
    *_, command = (text for language, text in BLOCKS if language == "sh")
    assert command == "pytest -n 4\n"
    result = pytester.runpytest_subprocess("-n", "4", "-p", "no:cacheprovider", timeout=300)
    result.assert_outcomes(passed=15)
    assert "All 15 tests pass" in TUTORIAL
