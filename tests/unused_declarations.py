#!/usr/bin/env python3
"""Lists the names that headers declare but that neither the product nor a test uses.

A name is used if it occurs outside its declarations and definitions. Comments and strings do not count. Names that
libraries call (Beast's on_..._impl, is_transparent, value_type) and names for users (include/) are not checked.
"""
import collections
import pathlib
import re
import sys

FLOORS = ["engine", "compat", "http", "cli", "embed"]
CALLED_BY_LIBRARIES = re.compile(r"on_\w+_impl|is_transparent|value_type")
FUNCTION = re.compile(
    r"^[ ]*(?!return|if|for|while|switch|else|throw|case|TRY|CHECK)[A-Za-z_\[][^\n;=(]*?[ &*>](\w+)\(", re.M)
TYPE_OR_CONSTANT = re.compile(
    r"\b(?:constexpr|const|struct|class|enum class|using)\s[^\n;(]*?\b(\w+)\s*(?:=|\{|;|final)")
DEFINITION = re.compile(r"^[A-Za-z_][^\n;=(]*?(?:\w+::)*(~?\w+)\(", re.M)


def code(path):
    text = re.sub(r"//[^\n]*", "", path.read_text())
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def main():
    spelled, declared, header = collections.Counter(), collections.Counter(), {}
    root = pathlib.Path(__file__).resolve().parent.parent
    for folder in FLOORS + ["tests", "bench", "include"]:
        for path in sorted((root / folder).rglob("*.*")):
            if path.suffix not in (".h", ".cc"):
                continue
            text = code(path)
            spelled.update(re.findall(r"\b[A-Za-z_]\w*\b", text))
            if folder not in FLOORS:
                continue
            if path.suffix == ".cc":
                declared.update(DEFINITION.findall(text))
                continue
            for name in FUNCTION.findall(text) + TYPE_OR_CONSTANT.findall(text):
                if re.match(r"[A-Za-z_]", name) and not CALLED_BY_LIBRARIES.fullmatch(name):
                    declared[name] += 1
                    header.setdefault(name, path.relative_to(root))
    unused = [(path, name) for name, path in header.items() if spelled[name] <= declared[name]]
    for path, name in sorted(unused):
        print(f"broken: {path} declares {name}, which is never used")
    return 1 if unused else 0


sys.exit(main())
