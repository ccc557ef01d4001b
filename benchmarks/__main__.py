"""``python -m benchmarks``: measure, print one table, and keep the results of a complete run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from benchmarks.compare import changes, printed
from benchmarks.harness import FULL, QUICK, Workers, measured
from benchmarks.libraries import BESIDE_SCIPY, PEERS, is_installed
from benchmarks.machine import load, machine, revision, versions
from benchmarks.model import OURS, Entries, Timing, Workload
from benchmarks.report import Report
from benchmarks.workloads import WORKLOADS

RESULTS = Path(__file__).parent / "results"

PARTIAL = "partial"
"""The name under which the rows of a run are kept until it is done."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks", description="Time funcgrad beside its peers.")
    made.add_argument("--list", action="store_true", help="name the workloads and stop")
    made.add_argument(
        "--only", nargs="+", metavar="NAME", help="these workloads; a * at the end matches more"
    )
    made.add_argument(
        "--peers",
        nargs="*",
        metavar="PEER",
        default=(*PEERS, *BESIDE_SCIPY),
        help="these peers; none without a name",
    )
    made.add_argument(
        "--quick", action="store_true", help="few samples, no slow workloads: does it run at all?"
    )
    made.add_argument("--json", action="store_true", help="print JSON instead of the table")
    made.add_argument(
        "--compare",
        metavar="REVISION",
        help="measure funcgrad alone, here and at that revision in turns, and say what moved beyond noise",
    )
    made.add_argument("--note", default="", help="a sentence to keep with the results")
    made.add_argument(
        "--save",
        metavar="NAME",
        help="write results/NAME.json and .md; a complete run is written to latest without being asked",
    )
    return made


def selected(only: Sequence[str] | None, quick: bool) -> tuple[Workload, ...]:
    """The workloads asked for; raises SystemExit for a name that no workload has."""
    if only is None:
        return tuple(w for w in WORKLOADS if w.in_quick or not quick)
    found = {w.name: w for name in only for w in WORKLOADS if matches(w.name, name)}
    unknown = [name for name in only if not any(matches(w.name, name) for w in WORKLOADS)]
    if unknown:
        raise SystemExit(f"no workload is called {', '.join(unknown)}; see python -m benchmarks --list")
    return tuple(w for w in WORKLOADS if w.name in found)


def matches(name: str, pattern: str) -> bool:
    """Whether the name is the pattern, or begins with it up to its ``*``."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def reports_of(
    workloads: Sequence[Workload], peers: Sequence[str], quick: bool, note: str
) -> Iterator[Report]:
    """Measure the workloads; after each, a report of all so far. Progress goes to standard error."""
    start, before, effort = perf_counter(), load(), QUICK if quick else FULL
    report = Report(
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        note=note,
        quick=quick,
        machine=machine(),
        versions=versions(),
        revision=revision(),
        load=(before, before),
        seconds=0.0,
        rows=(),
    )
    entries: dict[str, Entries] = {}
    with Workers(effort.patience) as workers:
        for workload in workloads:
            began = perf_counter()
            row = measured(workload, workers, effort, frozenset(peers), entries)
            entries[workload.name] = row.entries
            seconds = perf_counter() - start
            report = replace(report, rows=(*report.rows, row), load=(before, load()), seconds=seconds)
            print(f"{workload.name}: {perf_counter() - began:.1f} s", file=sys.stderr)
            yield report


def files_of(name: str) -> tuple[Path, Path]:
    """Where results of that name are kept."""
    return RESULTS / f"{name}.json", RESULTS / f"{name}.md"


def save(report: Report, name: str) -> None:
    """Write the results."""
    RESULTS.mkdir(exist_ok=True)
    data, page = files_of(name)
    data.write_text(json.dumps(report.as_json(), indent=1) + "\n", encoding="utf-8")
    page.write_text(report.as_markdown(), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; the exit status is 1 if contenders disagree about a result, or funcgrad has none.

    Comparing revisions it is 1 if something became slower.
    """
    options = parser().parse_args(arguments)
    if options.list:
        for workload in WORKLOADS:
            print(f"{workload.name:20} {workload.title}")
        return 0
    workloads = selected(options.only, options.quick)
    if options.compare:
        effort = QUICK if options.quick else FULL
        return printed(changes(workloads, options.compare, effort), options.compare)
    complete = not options.only and not options.quick and set(PEERS) <= set(options.peers)
    name = options.save or ("latest" if complete and all(map(is_installed, PEERS)) else "")
    for report in reports_of(workloads, options.peers, options.quick, options.note):
        if name:
            save(report, PARTIAL)
    print(json.dumps(report.as_json(), indent=1) if options.json else report.as_text())
    if name:
        save(report, name)
        for path in files_of(PARTIAL):
            path.unlink()
        print("wrote", *[path.name for path in files_of(name)], "to benchmarks/results", file=sys.stderr)
    return int(any(row.disagreement or not isinstance(row.entries[OURS], Timing) for row in report.rows))


if __name__ == "__main__":
    raise SystemExit(main())
