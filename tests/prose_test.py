#!/usr/bin/env python3
"""Finds sentences that read like translated English: tests/prose_test.py [FILE...]

It checks documents, help texts, comments, docstrings, test names and Mayfly's own messages. AWS's messages, recorded answers and
code are not prose. docs/style.md describes how text should read. A sentence that is right although a rule matches it belongs in
tests/prose_exceptions.txt: the file, a colon and a part of the sentence. An exception that is no longer needed is an error.
"""
import ast
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXCEPTIONS = ROOT / "tests/prose_exceptions.txt"
SKIPPED = re.compile(
    r"LICENSE$|packages/notices/texts/|bench/results/|tests/(scripts|fuzz/corpus|sdk/older_directory)/|tests/http/aws_|tests/prose_|tests/spelling"
    r"|.*(package-lock\.json|pnpm-lock\.yaml|go\.sum|Cargo\.lock)$"
)
# The rooms that contain Mayfly's own messages. The other rooms of compat contain the messages of AWS.
MESSAGES = re.compile(r"(cli|http|embed|engine|compat/(control|mcp|outbound))/.*\.(cc|h)$")

VERB = r"(?:is|are|was|were|has|have|had|can|may|does|do|comes?|goes|stands?|gives?|takes?|makes?|asks?|waits?|wants?|needs?|reads?|writes?|sends?|follows|fell|falls)"
RULES = [
    ("name the subject instead of 'who'", rf"(?:^|[;:(] ?|\b(?:of|to|by|and|for|as|but|than) )[Ww]ho(?:ever)? {VERB}\b(?!.*\?)"),
    ("begin with the subject instead of 'what'", rf"^(?:(?:Of|On) |To |By |For )?What {VERB}\b(?!.*\?)"),
    ("say 'nullopt if', 'missing' or 'unknown' instead of 'that there is'", r"\bthat there (?:is|are|was|were)\b"),
    (
        "say 'is not a', 'malformed' or 'missing' instead of 'is no'",
        r"(?<![Tt]here )\b(?:is|are|was|were|be) no(?:ne)?\b(?! (?:longer|more than|less than|fewer than|need|reason|way|different|better|worse|matter)\b)",
    ),
    ("say 'no longer'", r"\bno more(?=[.,;:)]|$)|\bany more(?=[.,;:)]|$)"),
    ("say 'also'", r", too[,.;]|, neither[.;,]|\bneither[.;]"),
    ("say 'next to', 'in addition to' or 'below'", r"\b(?:beside|beneath)\b"),
    ("state the limit: 'at most N'", r"\b(?:so|as) (?:many|much) as (?:may|can)\b|\b(?:may|are|with|for|by|of) so (?:many|much)\b|\bas (?:they|it|many|much) as? ?may\b"),
    ("use a plainer verb", r"\b(?:brings?|brought) about\b|\bshall\b|\breckon|\bstands? (?:in|there|beside|for itself)\b"),
    ("name the client, caller or user", r"\b(?:nobody|somebody|whoever)\b"),
    ("begin with the subject", r"^Of [a-z]"),
    ("say 'its own X'", r"\bof (?:ours|theirs|(?:its|their|your|my) own(?=[.,;:)]|$| (?:and|but|so|in|for)\b))"),
    ("write 'forever'", r"\bfor ever\b"),
]
RULES = [(advice, re.compile(pattern)) for advice, pattern in RULES]


def sentences(text):
    return [s for s in re.split(r"(?<=[.;:!?])\s+", re.sub(r"\s+", " ", text).strip()) if len(s.split()) > 2]


def blocks_of_comments(text, mark):
    """The text of each run of comment lines, and of each comment after code."""
    block, found = [], []
    for line in text.splitlines() + [""]:
        alone = re.match(rf"\s*{mark}(?!!\S)[/!]?\s?(.*)$", line)
        if alone:
            block.append(alone[1])
            continue
        found.append("\n".join(block))
        block = []
        after = re.search(rf"\s{mark} (.*)$", line)
        if after:
            found.append(after[1])
    # An indented line is an example, and an item of a list is not part of the sentence before it.
    return [part for text in found for part in re.split(r"\n\s*\n|\n(?=\s*[-*] )|\n {2,}.*", text)]


NAMES_OF_TESTS = re.compile(
    r'''(?:TEST_CASE|SECTION|\bt\.Run|\b(?:test|it|describe)(?:\.\w+)?)\(\s*["'`]([^"'`]+)["'`]|'''
    r"#\[(?:tokio::)?test\b[^]]*\]\s*(?:async )?fn (\w+)|@Test\s+(?:public |fun )*void (\w+)|^func Test(\w+)|^\s*(?:async )?def test_(\w+)",
    re.M,
)


def names_of_tests(text):
    """The names of tests, as words: test_a_read_waits and aReadWaits both become "a read waits"."""
    for groups in NAMES_OF_TESTS.findall(text):
        name = next(filter(None, groups), "")
        yield name if " " in name else re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", name).lower()


def prose(path, text):
    """The sentences of a file, each with its kind."""
    if path.endswith(".md"):
        text = re.sub(r"^ {4}.*$", "", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), flags=re.M)
        text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "X", text))
        text = re.sub(r"^\s*([-*|#]|\d+\.)", "\n\n", text, flags=re.M).replace("|", "\n\n")
        return [("text", s) for part in text.split("\n\n") for s in sentences(part)]
    if path.startswith("cli/options/") and path.endswith("_help.txt"):
        return [("help", s) for line in text.splitlines() for s in sentences(line)]
    found = []
    if re.search(r"\.(h|cc|c|js|mjs|ts|tsx|go|rs|java|kt|css)$", path):
        found += [("comment", s) for part in blocks_of_comments(text, "//") for s in sentences(part)]
        if not path.endswith((".h", ".cc")):
            found += [("comment", s) for part in re.findall(r"^\s*/\*(.*?)\*/", text, re.S | re.M)
                      for s in sentences(re.sub(r"^\s*\*", "", part, flags=re.M))]
        found += [("test name", name) for name in names_of_tests(text)]
        if MESSAGES.match(path):
            # Adjacent literals are one message.
            joined = re.sub(r'"\s*\n\s*"', "", text)
            found += [("message", s) for m in re.findall(r'"((?:[^"\\\n]|\\.)*)"', joined) for s in sentences(m)]
    elif path.endswith(".py"):
        found += [("comment", s) for part in blocks_of_comments(text, "#") for s in sentences(part)]
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                found += [("docstring", s) for s in sentences(ast.get_docstring(node) or "")]
        found += [("test name", name) for name in names_of_tests(text)]
    elif re.search(r"\.(sh|cmake|toml|yml|yaml)$|(^|/)(CMakeLists|[a-z]+)\.txt$|^(script|\.ci)/|packages/[a-z-]+/package$", path):
        found += [("comment", s) for part in blocks_of_comments(text, "#") for s in sentences(part)]
    return found


def main():
    listed = sys.argv[1:] or subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    exceptions = {line for line in EXCEPTIONS.read_text().splitlines() if line and not line.startswith("#")}
    used, wrong, total = set(), 0, 0
    for path in filter(None, listed):
        file = ROOT / path
        if SKIPPED.match(path) or not file.is_file() or file.is_symlink():
            continue
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            continue
        for kind, sentence in prose(path, text):
            total += 1
            for advice, pattern in RULES:
                if not pattern.search(sentence):
                    continue
                excused = {line for line in exceptions if path == line.split(": ", 1)[0] and line.split(": ", 1)[1] in sentence}
                used |= excused
                if not excused:
                    print(f"{path}: {kind}: {advice}: {sentence[:200]}")
                    wrong += 1
    if not sys.argv[1:]:
        for line in sorted(exceptions - used):
            print(f"{EXCEPTIONS.name}: no sentence needs this exception: {line}")
            wrong += 1
    print(f"prose: {total} sentences, {wrong} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
