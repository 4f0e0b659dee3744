"""Implements script/bench: runs the measurements and stores the results. See bench/README.md.

    script/bench                              everything, in about forty minutes; writes bench/results.json, plots, README.md
    script/bench --parts requests,start       only these parts; the results of the other parts stay
    script/bench --quick                      a trial run whose figures are noise; writes only build/bench/quick
    script/bench --report                     measures nothing; writes plots and README.md from bench/results.json
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

import measures
import peers
import results

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILT = ROOT / "build" / "bench"
PROGRAMS = ("in_process", "ttl", "snapshots", "history", "streams")


class Progress:
    """Prints progress to standard error: one line that is overwritten on a terminal, otherwise a line for each step."""

    def __init__(self):
        self.began = time.monotonic()
        self.terminal = sys.stderr.isatty()

    def __call__(self, text):
        passed = int(time.monotonic() - self.began)
        line = f"{passed // 60:3}:{passed % 60:02}  {text}"
        print(f"\r\033[K{line[:110]}" if self.terminal else line, end="" if self.terminal else "\n", file=sys.stderr,
              flush=True)  # fmt: skip

    def end(self):
        if self.terminal:
            print(file=sys.stderr)


def words(*command):
    try:
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return (said.stdout + said.stderr).strip()


def first_line(*command):
    return (words(*command).splitlines() or ["none"])[0]


def machine():
    cpu = [line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
           if line.startswith("model name")]  # fmt: skip
    memory_kb = int(pathlib.Path("/proc/meminfo").read_text().split()[1])
    system = pathlib.Path("/etc/os-release").read_text()
    (name,) = (line.partition("=")[2].strip('"') for line in system.splitlines() if line.startswith("PRETTY_NAME="))
    return {
        "processors": f"{os.cpu_count()} x {cpu[0] if cpu else platform.machine()}",
        "memory": f"{memory_kb / 1024 / 1024:.0f} GiB",
        "system": name,
        "kernel": platform.release(),
        "compiler": first_line("c++", "--version"),
        "java": first_line("java", "-version"),
        "node": first_line("node", "--version"),
        "rust": first_line("rustc", "--version"),
        "python": first_line("python3", "--version"),
    }


def commit():
    changed = words("git", "status", "--porcelain", "--untracked-files=no", "--", ":!bench/results.json", ":!bench/plots",
                    ":!bench/README.md")  # fmt: skip
    return words("git", "rev-parse", "--short=10", "HEAD") + (" and changes" if changed else "")


def names(allowed):
    def read(text):
        asked = [name.strip() for name in text.split(",") if name.strip()]
        if unknown := set(asked) - set(allowed):
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(allowed)}")
        return asked

    return read


def options():
    all_parts = [*measures.PARTS, *PROGRAMS]
    parser = argparse.ArgumentParser(prog="script/bench", description="Measures Mayfly, its peers and its ceilings.")
    parser.add_argument("--quick", action="store_true", help="a trial run of a few minutes whose figures are noise")
    parser.add_argument("--large", action="store_true", help="also measure millions of items; takes twice as long")
    parser.add_argument("--peers", type=names(peers.KNOWN), default=list(peers.KNOWN), metavar="A,B",
                        help=f"choose from: {', '.join(peers.KNOWN)}")  # fmt: skip
    parser.add_argument("--no-peers", action="store_const", dest="peers", const=[], help="only Mayfly and its ceilings")
    parser.add_argument("--parts", type=names(all_parts), default=all_parts, metavar="A,B",
                        help=f"choose from: {', '.join(all_parts)}")  # fmt: skip
    parser.add_argument("--report", action="store_true", help="measure nothing; write plots and tables from results.json")
    return parser.parse_args()


def program(name, large):
    """Runs one of the C++ programs and returns what it prints."""
    command = [BUILT / "bench" / f"bench_{name}", *(["--large"] if large and name == "ttl" else [])]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        return {"refused": f"exited with status {ended.returncode}: {ended.stderr.strip()[-300:]}"}
    return {"text": ended.stdout.strip("\n")}


def measure(asked, progress, kept):
    executable = pathlib.Path(os.environ.get("MAYFLY_SERVER") or BUILT / "mayfly")
    generator = pathlib.Path(os.environ.get("BENCH_GENERATOR") or BUILT / "bench" / "bench_generator")
    body_file = BUILT / "fixed-answer.json"
    body_file.write_text('{"TableNames":[]}')
    found, skipped = {}, {}
    if set(asked.parts) & set(measures.PARTS):
        found, skipped = peers.fetch(asked.peers, progress)
    skipped |= {name: "skipped, not selected" for name in peers.KNOWN if name not in asked.peers}
    servers = {
        "Mayfly": peers.mayfly(executable, first_line(str(executable), "--version")),
        measures.FIXED_ANSWER: peers.fixed_answer(generator, body_file),
        **found,
    }
    bench = measures.Bench(servers, generator, body_file, asked.quick, asked.large, progress)
    for part in asked.parts:
        progress(part)
        about = {
            "commit": commit(),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "machine": machine(),
            "load_average": os.getloadavg()[0],
        }
        if part in measures.PARTS:
            about |= {"versions": {name: server.version for name, server in servers.items()}, "skipped": skipped}
            found_out = measures.PARTS[part](bench)
        else:
            found_out = program(part, asked.large)
        kept["parts"][part] = {**about, **found_out}
        yield kept


def main():
    asked = options()
    place = BUILT / "quick" if asked.quick else ROOT / "bench"
    place.mkdir(parents=True, exist_ok=True)
    file = place / "results.json"
    kept = json.loads(file.read_text()) if file.exists() else {"parts": {}}
    progress = Progress()
    if not asked.report:
        # Written after each part, so that an interrupted run loses only the current part.
        for kept in measure(asked, progress, kept):
            (BUILT / "results.json").write_text(json.dumps(kept, indent=1) + "\n")
            file.write_text(results.to_json(results.summary(kept)))
    progress("plots and tables")
    results.write(kept, place, ROOT / "bench" / "README.md")
    progress.end()


if __name__ == "__main__":
    main()
