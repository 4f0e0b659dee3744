#!/usr/bin/env python3
"""Writes the synchronous modules of the package from those of mayfly.aio: python3 sync.py [--check]

--check changes nothing. It fails if a synchronous module does not match its source.

The rules: `async` and `await` are removed, and so is `Async` in names. A section `# --- asyncio only`, a line that ends with
`# asyncio only`, and a last paragraph `asyncio: …` of a docstring are omitted. `_aws.py` and `_waiting.py` exist in both forms
and contain all other differences between the two forms.
"""

import pathlib
import re
import sys

PACKAGE = pathlib.Path(__file__).resolve().parent / "src" / "mayfly"
MODULES = ("_clock.py", "_ttl.py", "_world.py")
RULES = [
    (r"    # --- asyncio only\n.*?(?=    # --- )", ""),
    (r".*# asyncio only\n", ""),
    (r"\n\n +asyncio: [^\"]*\"\"\"", '"""'),
    (r"\bfrom \.\.(?=[_a-z])", "from ."),
    (r"\bmayfly\.aio\.", "mayfly."),
    (r"\bin another task\b", "in another thread"),
    (r"\b[Aa]n `async with`", "a `with`"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\basync ", ""),
    (r"\bawait ", ""),
    (r"\(self\.read\(\)\)\.", "self.read()."),
    (r"\b__a(enter|exit)__", r"__\1__"),
]


def synchronous(module):
    text = (PACKAGE / "aio" / module).read_text(encoding="utf-8")
    for pattern, replacement in RULES:
        text = re.sub(pattern, replacement, text, flags=re.S if "asyncio only\\n.*" in pattern else 0)
    return f"# Written by sync.py from aio/{module}. Change that file.\n" + text


def main():
    differing = [module for module in MODULES if (PACKAGE / module).read_text(encoding="utf-8") != synchronous(module)]
    if sys.argv[1:] == ["--check"]:
        for module in differing:
            print(f"sync.py: src/mayfly/{module} does not match aio/{module}: run packages/python/sync.py", file=sys.stderr)
        return 1 if differing else 0
    for module in differing:
        (PACKAGE / module).write_text(synchronous(module), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
