"""Writes the results of a run as plots, and as the tables between the markers of bench/README.md.

    write(kept, place, readme)      writes place/plots/*.svg, and place/README.md with the tables of this run

Tables are Markdown. In place of a missing figure, a table shows the reason why the figure is missing.
"""

import json

import bars
from bars import figure

BEGIN, END = "<!-- results -->", "<!-- /results -->"
PROGRAM_TITLES = {
    "in_process": "In process, compared with RocksDB alone",
    "ttl": "TTL",
    "snapshots": "Snapshots",
    "history": "Points in time",
    "streams": "A stream of a million items",
}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] + ["---:"] * (len(head) - 1)) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


class Notes:
    """Sentences that do not fit into the cells of a table. Each sentence is printed once, below the table."""

    def __init__(self):
        self.known = []

    def cell(self, text):
        text = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
        if text not in self.known:
            self.known.append(text)
        return f"{text.split(':')[0].split(',')[0][:9]} [{self.known.index(text) + 1}]"

    def text(self):
        return "\n".join(f"{number}. {text}" for number, text in enumerate(self.known, 1))


def servers_of(rows):
    return list(dict.fromkeys(row["server"] for row in rows))


def about(part):
    machine = part["machine"]
    lines = [
        f"Commit {part['commit']}, {part['date']}; {machine['processors']}, {machine['memory']}, {machine['system']}, "
        f"Linux {machine['kernel']}, {machine['compiler']}; initial load average {part['load_average']:.1f}."
    ]
    if "versions" in part:
        lines.append(", ".join(f"{name} {version}" for name, version in part["versions"].items()) + ".")
        lines += [f"{name}: {why}." for name, why in part["skipped"].items()]
    return "\n".join(lines)


def requests_tables(part):
    rows = part["rows"]
    servers = servers_of(rows)
    by_place = {(row["path"], row["connections"], row["server"]): row for row in rows}
    paths = list(dict.fromkeys(row["path"] for row in rows))
    notes = Notes()
    texts = []

    def cell(row, name):
        if row is None:
            return ""
        if "refused" in row:
            return notes.cell(row["refused"])
        if name == "requests_per_second":
            return f"{figure(row[name])} ± {row['spread'] * 50:.0f} %"
        return figure(row[name])

    for connections in sorted({row["connections"] for row in rows}):
        for name, title in (
            ("requests_per_second", "requests per second, median ± half the range of the turns"),
            ("cpu_us", "the server's CPU per request, µs"),
            ("p50_us", "latency, p50, µs"),
            ("p99_us", "latency, p99, µs"),
        ):
            of_paths = [[path, *(cell(by_place.get((path, connections, server)), name) for server in servers)]
                        for path in paths]  # fmt: skip
            plural = "connection" if connections == 1 else "connections"
            texts.append(f"{connections} {plural}: {title}\n\n{table(['', *servers], of_paths)}")
    return "\n\n".join([*texts, notes.text()])


def threads_table(part):
    rows = []
    for row in part["rows"]:
        plural = "thread serves" if row["threads"] == 1 else "threads serve"
        name = f"{row['path']}, {row['threads']} {plural} connections"
        rows.append([name, *(figure(row["cpu_us"][kind]) for kind in ("median", "least", "most"))])
    return table(["Mayfly's CPU per request, µs", "median", "min", "max"], rows)


def start_table(part):
    notes = Notes()
    rows = []
    for row in part["rows"]:
        name = f"{row['server']}, {'on disk' if row['on_disk'] else 'in memory'}"
        if "refused" in row:
            rows.append([name, notes.cell(row["refused"]), "", ""])
        else:
            rows.append([name, *(figure(row["ms"][kind]) for kind in ("median", "least", "most"))])
    return table(["exec to the first answered ListTables, ms", "median", "min", "max"], rows) + "\n\n" + notes.text()


def memory_table(part):
    notes = Notes()
    steps = sorted({step for row in part["rows"] for step in row if step.isdigit()}, key=int)
    head = ["MB, resident · private"]
    head += ["idle" if step == "0" else f"{int(step):,} items of 200 B" for step in steps]
    rows = []
    for row in part["rows"]:
        cells = [
            f"{figure(row[step]['resident'])} · {figure(row[step]['private'])}" if step in row
            else notes.cell(row["refused"]) if "refused" in row else ""
            for step in steps
        ]  # fmt: skip
        rows.append([row["server"], *cells])
    return table(head, rows) + "\n\n" + notes.text()


def suite_table(part):
    notes = Notes()
    rows = []
    for row in part["rows"]:
        way = "one at a time" if row["at_a_time"] == 1 else f"{row['at_a_time']} at a time"
        name = f"{row['server']}, {way}"
        if "refused" in row:
            rows.append([name, notes.cell(row["refused"]), "", "", ""])
        else:
            seconds = [figure(row["seconds"][kind]) for kind in ("median", "least", "most")]
            rows.append([name, *seconds, figure(row["cpu_seconds"]["median"])])
    head = [f"a suite of {part['tests']} tests, s", "median", "min", "max", "the server's CPU"]
    return table(head, rows) + "\n\n" + notes.text()


def expiry_table(part):
    notes = Notes()
    rows = []
    for row in part["rows"]:
        if "lag_ms" in row:
            lags = [figure(row["lag_ms"][kind]) for kind in ("p50", "p99", "most")]
            rows.append([row["server"], f"{row['removed']} of {row['items']}", *lags])
        else:
            rows.append([row["server"], notes.cell(row["refused"]), "", "", ""])
    return table(["from TTL to GetRecords, ms", "deleted", "p50", "p99", "max"], rows) + "\n\n" + notes.text()


PARTS = {
    "requests": ("Requests", requests_tables),
    "threads": ("More than one thread", threads_table),
    "start": ("Cold start", start_table),
    "memory": ("Memory", memory_table),
    "suite": ("A suite of tests", suite_table),
    "expiry": ("Expiry", expiry_table),
}


def section(name, part):
    if name in PARTS:
        title, make = PARTS[name]
        text = make(part)
    else:
        title = PROGRAM_TITLES[name]
        text = f"```\n{part['text']}\n```" if "text" in part else part["refused"]
    return f"## {title}\n\n{about(part)}\n\n{text}".strip()


def tables(kept, plots=()):
    """Returns the text between README.md's markers."""
    pictures = [f"![{title}](plots/{file})" for file, title in plots]
    sections = [section(name, kept["parts"][name]) for name in (*PARTS, *PROGRAM_TITLES) if name in kept["parts"]]
    return "\n\n".join([*pictures, *sections])


def between_markers(text, middle):
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the text lacks the markers {BEGIN} and {END}")
    return f"{before}{begin}\n{middle}\n{end}{after}"


PLOTTED_CONNECTIONS = 16  # the tables also show the other numbers of connections


def plots(kept, place):
    """Writes the plots. Returns the file name and title of each."""
    place.mkdir(parents=True, exist_ok=True)
    made = []

    def draw(file, title, unit, labels, groups):
        (place / file).write_text(bars.svg(title, unit, labels, groups))
        made.append((file, title))

    parts = kept["parts"]
    if "requests" in parts:
        rows = [row for row in parts["requests"]["rows"] if row["connections"] == PLOTTED_CONNECTIONS]
        labels = list(dict.fromkeys(row["path"] for row in rows))
        for name, title, unit in (
            ("requests_per_second", "Requests per second, 16 connections", "requests/s, more is better"),
            ("cpu_us", "CPU per request, 16 connections", "the server's µs, less is better"),
        ):
            found = {(row["server"], row["path"]): row.get(name) for row in rows}
            groups = {server: [found.get((server, label)) for label in labels] for server in servers_of(rows)}
            draw(f"{name}.svg", title, unit, labels, groups)
    if "start" in parts:
        rows = parts["start"]["rows"]
        labels = ["in memory", "on disk"]
        found = {(row["server"], row["on_disk"]): row.get("ms", {}).get("median") for row in rows}
        groups = {server: [found.get((server, on_disk)) for on_disk in (False, True)] for server in servers_of(rows)}
        draw("start.svg", "Cold start", "ms from exec to the first response, less is better", labels, groups)
    if "memory" in parts:
        rows = parts["memory"]["rows"]
        steps = sorted({step for row in rows for step in row if step.isdigit()}, key=int)
        labels = ["idle" if step == "0" else f"{int(step):,} items" for step in steps]
        groups = {row["server"]: [row.get(step, {}).get("resident") for step in steps] for row in rows}
        draw("memory.svg", "Memory", "MB resident, less is better", labels, groups)
    if "suite" in parts:
        rows = parts["suite"]["rows"]
        ways = sorted({row["at_a_time"] for row in rows})
        labels = ["one at a time" if way == 1 else f"{way} at a time" for way in ways]
        found = {(row["server"], row["at_a_time"]): row.get("seconds", {}).get("median") for row in rows}
        groups = {server: [found.get((server, way)) for way in ways] for server in servers_of(rows)}
        draw("suite.svg", "A suite of 50 tests", "seconds, less is better", labels, groups)
    return made


# Members that no table or plot shows.
LEFT_OUT = {"turns", "best_requests_per_second", "item", "wrong"}


def summary(kept):
    """Returns `kept` without the individual turns, and with seven digits of each figure."""
    if isinstance(kept, dict):
        return {name: summary(value) for name, value in kept.items() if name not in LEFT_OUT}
    if isinstance(kept, list):
        return [summary(value) for value in kept]
    return float(f"{kept:.7g}") if isinstance(kept, float) else kept


def to_json(kept):
    """Returns JSON with a line for each row, so that one changed figure changes one line."""
    parts = []
    for name, part in kept["parts"].items():
        members = []
        for member, value in part.items():
            text = json.dumps(value, ensure_ascii=False)
            if member == "rows":
                text = "[\n   " + ",\n   ".join(json.dumps(row, ensure_ascii=False) for row in value) + "]"
            members.append(f"{json.dumps(member)}: {text}")
        parts.append(f" {json.dumps(name)}: {{\n  " + ",\n  ".join(members) + "}")
    return '{"parts": {\n' + ",\n".join(parts) + "}}\n"


def write(kept, place, readme):
    made = plots(kept, place / "plots")
    text = between_markers(readme.read_text(), tables(kept, made))
    (place / "README.md").write_text(text)
