#!/usr/bin/env python3
"""Checks rules for GitHub's workflows that actionlint does not check: tests/workflows_test.py [FILE...]

- An action is pinned to a commit (40 hexadecimal digits), and a comment names its version. All files use the same commit of an
  action.
- No shell command contains an expression: a value reaches a command through an environment variable, so that it cannot be
  code.
- A workflow begins with few permissions: `permissions: {}`, or only `contents: read`. A job of release.yml lists its
  permissions.
- A job has a time limit, unless it calls another workflow.
- A checkout does not leave the token for later steps.
- A job that uses a secret or asks for an identity (`id-token: write`) has an environment, and a secret is only a step's
  environment variable.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def indent(line):
    return len(line) - len(line.lstrip(" "))


def block(lines, start, least):
    """The numbers of the lines after `start` that are indented by at least `least`, up to the first one that is not."""
    for number in range(start + 1, len(lines)):
        if lines[number].strip() and indent(lines[number]) < least:
            return
        yield number


def commands(lines):
    """The number and the text of each line of a `run`."""
    for number, line in enumerate(lines):
        found = re.match(r"(\s*(?:- )?)run:\s*(.*)$", line)
        if not found:
            continue
        if found[2]:  # `defaults: run:` has no text
            yield number, found[2]
            for inside in block(lines, number, len(found[1]) + 1):
                yield inside, lines[inside]


def jobs(lines):
    """The name of each job, the number of its line, and the numbers of the lines in it."""
    starts = [number for number, line in enumerate(lines) if line.rstrip() == "jobs:"]
    for number in block(lines, starts[0], 1) if starts else ():
        found = re.match(r"  ([\w-]+):\s*(#.*)?$", lines[number])
        if found:
            yield found[1], number, list(block(lines, number, 3))


def findings(path, text, pins):
    """Yields the number of a line and what is wrong there. `pins` remembers the commit of each action."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        found = re.match(r"\s*(?:- )?uses:\s*([^\s#]+)\s*(#\s*v\d[\w.]*.*)?", line)
        if not found:
            continue
        if found[1].startswith("./"):
            continue
        action, _, commit = found[1].strip("\"'").partition("@")
        if not re.fullmatch(r"[0-9a-f]{40}", commit):
            yield number, f"pin {action} to a commit of 40 hexadecimal digits, got '{commit}'"
        elif not found[2]:
            yield number, f"name the version of {action} in a comment, such as '# v1.2.3'"
        elif pins.setdefault(action, commit) != commit:
            yield number, f"use the same commit of {action} as the other workflows, {pins[action]}"
        if action == "actions/checkout":
            step = list(block(lines, number, indent(line) + 1))
            if not any(re.match(r"\s*persist-credentials: false\b", lines[inside]) for inside in step):
                yield number, "add `persist-credentials: false` to this checkout"
    for number, line in commands(lines):
        if "${{" in line:
            yield number, "a command must not contain an expression: set an environment variable to it"
    if any(line.startswith("runs:") for line in lines):  # the description of an action, not a workflow
        return
    top = [number for number, line in enumerate(lines) if line.startswith("permissions:")]
    if not top:
        yield 0, "add `permissions: {}` above the jobs"
    elif lines[top[0]].split("#")[0].strip() != "permissions: {}":
        granted = {lines[number].split("#")[0].strip() for number in block(lines, top[0], 1)} - {""}
        if path.name == "release.yml" or granted != {"contents: read"}:
            yield top[0], "the workflow's own permissions must be {}"
    for name, start, inside in jobs(lines):
        body = [lines[number] for number in inside]

        def has(pattern, body=body):
            return any(re.match(pattern, line) for line in body)

        if not has(r"    timeout-minutes: \d+") and not has(r"    uses: "):
            yield start, f"job {name} needs timeout-minutes"
        if path.name == "release.yml" and not has(r"    permissions:"):
            yield start, f"job {name} needs permissions"
        secret = any("secrets." in line for line in body)
        if (secret or has(r"      id-token: write")) and not has(r"    environment: "):
            yield start, f"job {name} needs an environment"
        for number in inside:
            if "secrets." in lines[number] and not re.fullmatch(
                r"          [A-Z_]+: \$\{\{ secrets\.[A-Z_]+ \}\}", lines[number]
            ):
                yield number, "a secret can only be an environment variable of a step"
            if re.match(r"\s*secrets: inherit", lines[number]):
                yield number, "pass no secrets to another workflow"


def check(paths):
    wrong, pins = [], {}
    for path in paths:
        for number, problem in findings(path, path.read_text(), pins):
            wrong.append(f"{path}:{number + 1}: {problem}")
    return wrong


def workflows(root):
    found = sorted([*root.glob(".github/workflows/*.yml"), *root.glob(".github/workflows/*.yaml")])
    return found + [path for path in (root / "action.yml", root / "action.yaml") if path.is_file()]


GOOD = """name: x
on: push
permissions: {}
jobs:
  one:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    environment: place
    permissions:
      id-token: write
    steps:
      - uses: actions/checkout@0123456789012345678901234567890123456789 # v1.2.3
        with:
          persist-credentials: false
      - run: echo "$NAME"
        env:
          NAME: ${{ secrets.NAME }}
"""
BAD = [
    ("@0123456789012345678901234567890123456789 # v1.2.3", "@v1.2.3", "pin actions/checkout"),
    ("@0123456789012345678901234567890123456789 # v1.2.3", "@0123456 # v1.2.3", "pin actions/checkout"),
    (" # v1.2.3", "", "name the version"),
    ("          persist-credentials: false", "          fetch-depth: 0", "persist-credentials"),
    ('"$NAME"', '"${{ github.ref }}"', "a command must not contain an expression"),
    (
        'run: echo "$NAME"',
        "run: |\n          echo\n          echo ${{ github.ref }}",
        "a command must not contain an expression",
    ),
    ('"$NAME"', 'x\n          ${{ github.ref }}', "a command must not contain an expression"),
    ("permissions: {}", "permissions: write-all", "own permissions must be {}"),
    ("permissions: {}\n", "", "add `permissions: {}`"),
    ("    timeout-minutes: 5\n", "", "needs timeout-minutes"),
    ("    environment: place\n", "", "needs an environment"),
    ("NAME: ${{ secrets.NAME }}", "NAME: x${{ secrets.NAME }}", "a secret can only be"),
]


def self_test():
    """The rules find what they should. Otherwise an error in this file would hide errors in workflows."""
    wrong = []
    for path in (pathlib.Path("release.yml"), pathlib.Path("action.yml")):
        wrong += [f"{__file__}: a correct workflow is rejected: {problem}" for _, problem in findings(path, GOOD, {})]
        for old, new, message in BAD:
            assert old in GOOD, old
            if not any(message in problem for _, problem in findings(path, GOOD.replace(old, new, 1), {})):
                wrong.append(f"{__file__}: not found: {message} in {path} with {new!r}")
    return wrong


def main():
    paths = [pathlib.Path(name) for name in sys.argv[1:]] or workflows(ROOT)
    if not paths:
        sys.exit(f"{__file__}: no workflows found")
    wrong = self_test() + check(paths)
    for line in wrong:
        print(line)
    print(f"workflows: {len(paths)} files, {len(wrong)} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
