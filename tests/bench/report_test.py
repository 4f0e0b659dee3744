"""Tests the tables and plots that script/bench makes from its figures."""

import json
import pathlib
import sys
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import bars  # noqa: E402
import bench_requests  # noqa: E402
import measures  # noqa: E402
import peers  # noqa: E402
import results  # noqa: E402

ABOUT = {
    "commit": "0123456789",
    "date": "2026-11-01 12:00 UTC",
    "machine": {
        "processors": "2 x Processor",
        "memory": "8 GiB",
        "system": "Debian",
        "kernel": "6.1",
        "compiler": "GCC",
    },
    "load_average": 0.25,
    "versions": {"Mayfly": "1", "dynoxide": "3"},
    "skipped": {"moto": "skipped, python3 is not installed"},
}


def turn(rate):
    return {"requests_per_second": rate, "p50_us": 10, "p99_us": 20, "cpu_us": 7.25, "wrong": 0}


class Report(unittest.TestCase):
    maxDiff = None

    def test_a_table_shows_the_median_and_the_range_of_the_figures_of_all_turns(self):
        row = {"path": "GetItem", "item": "1 KB", "connections": 16, "server": "Mayfly"}
        row |= measures.summary([turn(90_000), turn(110_000), turn(100_000)])
        text = results.requests_tables({**ABOUT, "rows": [row]})
        self.assertTrue(
            text.startswith(
                "16 connections: requests per second, median ± half the range of the turns\n\n"
                "|  | Mayfly |\n|---|---:|\n| GetItem | 100,000 ± 10 % |\n\n"
                "16 connections: the server's CPU per request, µs\n\n"
                "|  | Mayfly |\n|---|---:|\n| GetItem | 7.25 |\n\n"
            ),
            text,
        )

    def test_the_reason_for_a_missing_figure_is_printed_once_below_the_table(self):
        same = {"refused": "refused: status 500: <no>"}
        rows = [{"server": server, "on_disk": False, **same} for server in ("moto", "ministack")]
        self.assertEqual(
            results.start_table({"rows": rows}),
            "| exec to the first answered ListTables, ms | median | min | max |\n|---|---:|---:|---:|\n"
            "| moto, in memory | refused [1] |  |  |\n| ministack, in memory | refused [1] |  |  |\n\n"
            "1. refused: status 500: &lt;no>",
        )

    def test_a_section_names_the_commit_the_machine_the_versions_and_the_skipped_servers(self):
        rows = [{"server": "Mayfly", "0": {"resident": 4.25, "private": 0.5}, "10000": {"resident": 1234.5, "private": 12}}]
        self.assertEqual(
            results.section("memory", {**ABOUT, "rows": rows}),
            "## Memory\n\n"
            "Commit 0123456789, 2026-11-01 12:00 UTC; 2 x Processor, 8 GiB, Debian, Linux 6.1, GCC; initial load "
            "average 0.2.\nMayfly 1, dynoxide 3.\nmoto: skipped, python3 is not installed.\n\n"
            "| MB, resident · private | idle | 10,000 items of 200 B |\n|---|---:|---:|\n"
            "| Mayfly | 4.25 · 0.5 | 1,234 · 12 |",
        )

    def test_only_the_text_between_the_markers_is_replaced(self):
        text = "before\n<!-- results -->\nold\n<!-- /results -->\nafter\n"
        self.assertEqual(
            results.between_markers(text, "new"), "before\n<!-- results -->\nnew\n<!-- /results -->\nafter\n"
        )
        with self.assertRaises(ValueError):
            results.between_markers("before\nafter\n", "new")

    def test_the_readme_shows_the_results(self):
        file = BENCH / "results.json"
        kept = json.loads(file.read_text()) if file.exists() else {"parts": {}}
        plots = [(path.name, "") for path in sorted((BENCH / "plots").glob("*.svg"))]
        readme = (BENCH / "README.md").read_text()
        self.assertIn(results.tables(kept), readme)
        for name, _ in plots:
            self.assertIn(f"(plots/{name})", readme)

    def test_a_summary_has_a_line_for_each_row_and_only_figures_that_the_tables_show(self):
        rows = [{"server": "Mayfly", "ms": {"median": 1.23456789, "turns": [1, 2]}}, {"server": "moto", "refused": "no"}]
        summary = results.summary({"parts": {"start": {**ABOUT, "rows": rows}}})
        self.assertEqual(summary["parts"]["start"]["rows"][0], {"server": "Mayfly", "ms": {"median": 1.234568}})
        text = results.to_json(summary)
        self.assertEqual(json.loads(text), summary)
        self.assertIn('\n   {"server": "moto", "refused": "no"}]', text)

    def test_a_plot_has_a_bar_for_each_figure_and_no_bar_for_a_missing_figure(self):
        text = bars.svg("Start", "ms", ["in memory", "on <disk>"], {"Mayfly": [10, 100], "moto": [1000, None]})
        self.assertEqual(text.count('height="8"'), 3)
        self.assertIn("on &lt;disk&gt;", text)
        self.assertIn('<rect x="240" y="46" width="1" height="8"', text)
        self.assertIn('<rect x="240" y="55" width="560" height="8"', text)

    def test_every_peer_has_a_pinned_version(self):
        self.assertEqual(set(peers.PINS), set(peers.KNOWN))
        for pin in peers.PINS.values():
            self.assertRegex(pin["version"], r"^\d+(\.\d+)+$")

    def test_each_response_is_checked(self):
        for name, path in bench_requests.PATHS.items():
            for body, checks in path.requests:
                self.assertTrue(checks, f"{name}: {json.dumps(body)[:100]}")


if __name__ == "__main__":
    unittest.main()
