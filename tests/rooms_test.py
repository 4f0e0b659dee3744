#!/usr/bin/env python3
"""Checks how the layers are divided into rooms (folders).

- A room includes only the rooms that its layer's table allows.
- No module (a header and its source) includes itself through other modules.
- No room has more than 30 source files.
- No two files of a room use the same private name, because they can be compiled together (cmake/rooms.cmake).
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES_MAX = 30
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def upwards(*rooms):
    """A table in which each room may include the rooms before it."""
    return {room: set(rooms[:place]) for place, room in enumerate(rooms)}


WIRE = {"wire", "json"}

# Files directly in a layer's folder connect its rooms, and may include all of them.
ROOMS = {
    "os": upwards("posix", "windows"),
    "engine": upwards("base", "values", "schema", "storage", "time", "tables", "items", "background", "verify"),
    "http": upwards("base", "requests", "access", "outbound", "functions", "endpoints", "connections"),
    "cli": upwards(
        "base", "aws", "schemas", "deployment", "views", "calls", "sweep", "anonymize", "table_files", "functions", "transfer",
        "options"
    ),
    "compat": {
        "json": set(),
        "wire": {"json"},
        "syntax": WIRE,
        "expression": {"syntax", *WIRE},
        "settings": WIRE,
        "tables": {"settings", *WIRE},
        "items": {"expression", "syntax", "tables", "settings", *WIRE},
        "streams": {"tables", *WIRE},
        "partiql": {"items", "expression", "syntax", "tables", "settings", *WIRE},
        "outbound": {"json"},
        "buckets": {"outbound", *WIRE},
        "data_files": WIRE,
        "jobs": {"buckets", "outbound", *WIRE},
        "backups": {"tables", "settings", *WIRE},
        "exports": {"backups", "jobs", "data_files", "buckets", "items", "expression", "syntax", "tables", "outbound", *WIRE},
        "imports": {"jobs", "buckets", "data_files", "items", "expression", "tables", "outbound", *WIRE},
        "lambda": {"streams", "outbound", *WIRE},
        "triggers": {"lambda", "streams", "tables", "outbound", *WIRE},
        "kinesis": {"items", "streams", "outbound", *WIRE},
    },
}
# The highest rooms: `control` builds on `calls`; operations, control calls and tools may use every room.
ROOMS["compat"]["calls"] = {"items", "tables", *WIRE}
ROOMS["compat"] |= {room: {*ROOMS["compat"], "operations", "control", "mcp"} for room in ("operations", "control", "mcp")}


def sources(root, layer):
    return sorted(str(path.relative_to(root)) for path in (root / layer).rglob("*") if path.suffix in (".h", ".cc"))


def includes(root, path):
    return INCLUDE.findall((root / path).read_text(encoding="utf-8"))


def module(path):
    return path.rsplit(".", 1)[0]


def forbidden(root, layer, rooms):
    """Yields a message for each #include line that is not allowed in its room."""
    for path in sources(root, layer):
        _, *folders, _ = path.split("/")
        if not folders:
            continue
        room = folders[0]
        if room not in rooms:
            yield f"{path}: the room {layer}/{room} is not in tests/rooms_test.py"
            continue
        for included in includes(root, path):
            parts = included.split("/")
            if parts[0] == layer and len(parts) > 2 and parts[1] != room and parts[1] not in rooms[room]:
                yield f"{path} includes {included}, but {layer}/{room} may not include {layer}/{parts[1]}"


def cycles(root, layer):
    """Sets of modules that include each other, found as strongly connected components (Tarjan's algorithm)."""
    graph = collections.defaultdict(set)
    for path in sources(root, layer):
        graph[module(path)] |= {module(other) for other in includes(root, path) if other.startswith(layer + "/")}
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other == node:
                continue
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            component = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(graph):
        if node not in number:
            visit(node)
    for component in found:
        yield "these modules include each other: " + ", ".join(component)


def crowded(root, layer):
    counts = collections.Counter(path.rsplit("/", 1)[0] for path in sources(root, layer))
    for folder, count in sorted(counts.items()):
        if count > FILES_MAX:
            yield f"{folder} has {count} source files; the limit is {FILES_MAX}"


# Matches a type, an alias, a constant or a function that begins at the start of a line.
PRIVATE = re.compile(
    r"^(?:(?:struct|class|enum class) (\w+)\b(?!.*;\s*$)"
    r"|using (\w+) = (.*);"
    r"|(?:inline |static )*const(?:expr|init)? [\w:<>, *&]+? \*?(?:const )?(\w+)(?:\[\w*\])?\s*(?:=|\{)"
    r"|(?!return|using|template|static_assert|friend)(?:constexpr |inline )*[\w:][\w:<>,*& ]*? \*?&?(\w+)\()",
    re.MULTILINE,
)


def private_names(text):
    """The names in a file's anonymous namespaces. Yields (alias, the type that it stands for) for an alias, because several
    files may define the same alias, and (name, "") for any other name."""
    for body in re.findall(r"^namespace \{\n(.*?)^\}  // namespace$", text, re.DOTALL | re.MULTILINE):
        for kind, alias, meaning, constant, function in PRIVATE.findall(body):
            yield kind or constant or function or alias, meaning


def clashes(root, layer):
    """Names that two files of a room use for different things. Skips operations and schema readers, which are compiled alone.
    """
    rooms = collections.defaultdict(lambda: collections.defaultdict(set))
    for path in sources(root, layer):
        room = path.rsplit("/", 1)[0]
        if not path.endswith(".cc") or room.startswith("compat/operations/") or room == "cli/schemas":
            continue
        for name, meaning in private_names((root / path).read_text(encoding="utf-8")):
            rooms[room][name].add((path, meaning))
    for names in rooms.values():
        for name, uses in sorted(names.items()):
            paths = sorted({path for path, _ in uses})
            meanings = {meaning for _, meaning in uses}
            if len(paths) > 1 and (len(meanings) > 1 or "" in meanings):
                yield f"{name} is a private name of {' and of '.join(paths)}"


def problems(root):
    for layer in (*ROOMS, *(f"tests/{layer}" for layer in ROOMS)):
        yield from clashes(root, layer)
    for layer, rooms in ROOMS.items():
        yield from forbidden(root, layer, rooms)
        yield from cycles(root, layer)
        yield from crowded(root, layer)


def main():
    sys.setrecursionlimit(10_000)
    found = list(problems(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT))
    for problem in found:
        print(f"broken: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
