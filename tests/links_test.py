#!/usr/bin/env python3
"""Checks the links of the Markdown pages.

- Every relative link leads to a file or directory of the tree, and every #anchor leads to a heading of the linked page.
- Every page below docs/ is linked from another page, so that a reader can find it.

Headings get the anchors that GitHub gives them.
"""
import collections
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["*.md", "docs/**/*.md", "bench/*.md", "packages/*/*.md"]

FENCE = re.compile(r"^ {0,3}(```+|~~~+).*?^ {0,3}\1[`~]* *$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
HEADING = re.compile(r"^ {0,3}#{1,6} +(.*?)(?: +#+)? *$", re.MULTILINE)
LINK = re.compile(r"\]\(<?([^()\s<>]+)>?(?: +\"[^\"]*\")?\)|^ {0,3}\[[^\]]+\]: +(\S+)|\b(?:href|src)=\"([^\"]+)\"", re.MULTILINE)
ANCHOR = re.compile(r"<a +(?:id|name)=\"([^\"]+)\"")


def without(pattern, text):
    """Removes the text that `pattern` matches, except line breaks, so that line numbers stay correct."""
    return pattern.sub(lambda found: re.sub(r"[^\n]", "", found[0]), text)


def anchor_of(heading):
    """"Limits of `serve`, in [bytes](x.md)" -> "limits-of-serve-in-bytes"."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"(?<![\w`])[*_]+(?=\S)([^*_`]+)(?<=\S)[*_]+(?![\w`])", r"\1", text)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors_of(text):
    text = without(COMMENT, without(FENCE, text))
    anchors, times = set(ANCHOR.findall(text)), collections.Counter()
    for heading in HEADING.findall(text):
        anchor = anchor_of(heading)
        anchors.add(f"{anchor}-{times[anchor]}" if times[anchor] else anchor)
        times[anchor] += 1
    return anchors


def links_of(text):
    """Yields (line, target) for each link outside code and comments."""
    text = without(CODE, without(COMMENT, without(FENCE, text)))
    for found in LINK.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, next(filter(None, found.groups()))


def broken_links(root):
    pages = {path.resolve(): path.read_text() for pattern in PAGES for path in sorted(root.glob(pattern))}
    anchors = {path: anchors_of(text) for path, text in pages.items()}
    linked = set()
    for page, text in sorted(pages.items()):
        for line, target in links_of(text):
            address = urllib.parse.urlsplit(target)
            if address.scheme or address.netloc:
                continue
            path = (page.parent / urllib.parse.unquote(address.path)).resolve() if address.path else page
            here = f"{page.relative_to(root)}:{line}: {target}"
            if not path.exists():
                yield f"{here}: no such file"
                continue
            if path != page:
                linked.add(path)
            if address.fragment and path in anchors and urllib.parse.unquote(address.fragment) not in anchors[path]:
                yield f"{here}: {path.relative_to(root)} has no such heading"
    for page in sorted(pages):
        if root / "docs" in page.parents and page not in linked:
            yield f"{page.relative_to(root)}: no other page links to it"


def main():
    broken = list(broken_links(ROOT))
    for line in broken:
        print(f"broken: {line}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
