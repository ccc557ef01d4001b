"""Shows what was measured: a table for the terminal, a Markdown file, and JSON with every sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from benchmarks.model import OURS, Missing, Row, Statistic, Timing, Verdict, Workload, duration

COLUMNS = ("torch", "autograd", "jax", "jax.jit", "numpy")
"""The order of the columns after funcgrad's; other contenders follow in the order they are met."""

REACHED = {True: "yes", False: "NO", None: "–"}

LEGEND = """\
Times are the best of several samples. In parentheses: the contender's time over funcgrad's, so above 1 means
that funcgrad is faster. Targets compare {statistics}. `jax` is without `jit`; `jax.jit` compiles the whole
call: where funcgrad does not compile, it is shown for information and is no candidate for "best peer"."""


@dataclass(frozen=True, slots=True)
class Report:
    """One run."""

    date: str
    note: str
    quick: bool
    machine: Mapping[str, str]
    versions: Mapping[str, str]
    revision: str
    load: tuple[str, str]
    """The load average before and after."""
    seconds: float
    rows: tuple[Row, ...]

    def as_text(self) -> str:
        """The table for a terminal."""
        grid = text_grid(self.rows)
        widths = [max(len(line[k]) for line in grid) for k in range(len(grid[0]))]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in grid
        ]
        lines.insert(1, "  ".join("-" * w for w in widths))
        return "\n".join([*self.heading(), "", *lines, "", *remarks(self.rows), self.summary()])

    def as_markdown(self) -> str:
        """The page for ``benchmarks/results``."""
        parts = [
            "# Benchmarks",
            *[f"- {line}" for line in self.heading()],
            fill(LEGEND.format(statistics=statistics_of(self.rows)), 110),
            markdown_table(target_grid(self.rows)),
            "## Medians",
            "The same samples by their medians. Where the two tables differ much, the machine was not quiet.",
            markdown_table(time_grid(self.rows, "median")),
        ]
        found = remarks(self.rows)
        if found:
            parts += ["## Remarks", "\n".join(f"- {line}" for line in found)]
        head = "\n".join(parts[1 : 1 + len(self.heading())])
        rest = parts[1 + len(self.heading()) :]
        return "\n\n".join([parts[0], head, *rest, self.summary()]) + "\n"

    def as_json(self) -> dict[str, Any]:
        """Everything, down to the samples in seconds."""
        return {
            "format": 1,
            "date": self.date,
            "note": self.note,
            "quick": self.quick,
            "machine": dict(self.machine),
            "versions": dict(self.versions),
            "revision": self.revision,
            "load": list(self.load),
            "seconds": round(self.seconds, 1),
            "workloads": [row_as_json(row) for row in self.rows],
        }

    def heading(self) -> list[str]:
        """When, what and on which machine."""
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        machine = ", ".join(f"{key} {value}" for key, value in self.machine.items())
        load = f"load average {self.load[0]} before, {self.load[1]} after"
        lines = [
            f"{self.date}, revision {self.revision}",
            versions,
            machine,
            f"{self.seconds:.0f} s in all, {load}",
        ]
        if self.quick:
            lines.append("quick: too few samples to judge by")
        return [*lines, self.note] if self.note else lines

    def summary(self) -> str:
        """How many targets are reached."""
        verdicts = [verdict for row in self.rows for verdict in row.verdicts]
        judged = [verdict for verdict in verdicts if verdict.reached is not None]
        reached = sum(verdict.reached is True for verdict in judged)
        left = len(verdicts) - len(judged)
        return f"{reached} of {len(judged)} targets reached" + (f", {left} not measured" if left else "")


def statistics_of(rows: Sequence[Row]) -> str:
    """Which statistic the targets are about, in words."""
    by_median = [
        f"`{row.workload.name}`" for row in rows if row.verdicts and row.workload.statistic == "median"
    ]
    return "best times" + (f", and medians for {', '.join(by_median)}" if by_median else "")


# -- tables ---------------------------------------------------------------------------------------------


def columns_of(rows: Sequence[Row]) -> list[str]:
    """The contenders besides funcgrad that have a timing or a failure somewhere."""
    seen = dict.fromkeys(name for row in rows for name in row.entries if name != OURS)
    ordered = [name for name in COLUMNS if name in seen] + [name for name in seen if name not in COLUMNS]
    return [
        name
        for name in ordered
        if any(isinstance(e := row.entries.get(name), Timing) or (e is not None and e.failed) for row in rows)
    ]


def cell(row: Row, name: str, statistic: Statistic) -> str:
    """A contender's time and ratio; a dash where it did not run."""
    entry = row.entries.get(name)
    if not isinstance(entry, Timing):
        if entry is None or not entry.failed:
            return "–"
        return "unsupported" if entry.reason.startswith("unsupported") else "failed"
    ratio = row.ratio(name, statistic)
    time = duration(entry.seconds(statistic))
    return time if ratio is None or name == OURS else f"{time} ({ratio:.3g}×)"


def best_peer_cell(row: Row, statistic: Statistic) -> str:
    """The fastest peer and its ratio."""
    name = row.best_peer(statistic)
    ratio = None if name is None else row.ratio(name, statistic)
    return "–" if ratio is None else f"{name} {ratio:.3g}×"


def time_grid(rows: Sequence[Row], statistic: Statistic) -> list[list[str]]:
    """Workload, funcgrad, every contender, best peer."""
    names = [OURS, *columns_of(rows)]
    grid = [["workload", *names, "best peer"]]
    for row in rows:
        cells = [cell(row, name, statistic) for name in names]
        grid.append([row.workload.name, *cells, best_peer_cell(row, statistic)])
    return grid


def target_grid(rows: Sequence[Row]) -> list[list[str]]:
    """The whole table: titles, best times, targets; several targets of a workload share its row."""
    grid = time_grid(rows, "best")
    grid[0] += ["target", "measured", "reached"]
    for line, row in zip(grid[1:], rows, strict=True):
        line[0] = f"`{row.workload.name}`<br>{row.workload.title}"
        line += ["<br>".join(column) for column in verdict_columns(row.verdicts)]
    return grid


def text_grid(rows: Sequence[Row]) -> list[list[str]]:
    """The table for a terminal: several targets of a workload stand on lines of their own."""
    best = time_grid(rows, "best")
    grid = [[*best[0], "target", "measured", "reached"]]
    for line, row in zip(best[1:], rows, strict=True):
        targets = list(zip(*verdict_columns(row.verdicts), strict=True)) or [("", "", "")]
        grid.append([*line, *targets[0]])
        grid += [[*([""] * len(line)), *target] for target in targets[1:]]
    return grid


def verdict_columns(verdicts: Sequence[Verdict]) -> tuple[list[str], list[str], list[str]]:
    """Targets, what was measured, and whether they are reached."""
    return (
        [verdict.text for verdict in verdicts],
        [verdict.measured for verdict in verdicts],
        [REACHED[verdict.reached] for verdict in verdicts],
    )


def markdown_table(grid: Sequence[Sequence[str]]) -> str:
    """The grid as Markdown; its first line is the header."""
    lines = ["| " + " | ".join(line) + " |" for line in grid]
    lines.insert(1, "|---" + "|--:" * (len(grid[0]) - 1) + "|")
    return "\n".join(lines)


def remarks(rows: Sequence[Row]) -> list[str]:
    """Why cells are empty, which settings were chosen, and where results disagree."""
    found = []
    for row in rows:
        if row.disagreement:
            found.append(f"{row.workload.name}: NOT TIMED, results disagree: {row.disagreement}")
        for name, entry in row.entries.items():
            if isinstance(entry, Missing) and (entry.failed or name in row.workload.left_out):
                found.append(f"{row.workload.name}: {name}: {entry.reason}")
    return [*found, *chosen_settings(rows), *absent_libraries(rows)]


def chosen_settings(rows: Sequence[Row]) -> list[str]:
    """The settings that were fastest, with the workloads that each was chosen for."""
    chosen: dict[str, list[str]] = {}
    for row in rows:
        for name, entry in row.entries.items():
            if isinstance(entry, Timing) and entry.setting:
                chosen.setdefault(f"{name} was fastest with {entry.setting}", []).append(row.workload.name)
    return [f"{choice}: {', '.join(names)}" for choice, names in chosen.items()]


def absent_libraries(rows: Sequence[Row]) -> list[str]:
    """Peers that are skipped everywhere, by name."""
    libraries = {c.library: c.name for row in rows for c in row.workload.contenders}
    reasons = {}
    for row in rows:
        for contender in row.workload.contenders:
            entry = row.entries.get(contender.name)
            if isinstance(entry, Missing) and entry.reason in ("not installed", "not asked for"):
                reasons[contender.library] = entry.reason
    return [f"{library}: {reasons[library]}" for library in libraries if library in reasons]


# -- JSON -----------------------------------------------------------------------------------------------


def row_as_json(row: Row) -> dict[str, Any]:
    """One workload with every sample."""
    workload = row.workload
    return {
        **workload_as_json(workload),
        "disagreement": row.disagreement,
        "contenders": {name: entry_as_json(row, name) for name in row.entries},
        "targets": [
            {"target": verdict.text, "measured": verdict.measured, "reached": verdict.reached}
            for verdict in row.verdicts
        ],
    }


def workload_as_json(workload: Workload) -> dict[str, Any]:
    """What was measured, and how."""
    return {
        "name": workload.name,
        "title": workload.title,
        "measure": workload.measure,
        "spans": list(workload.spans) if workload.measure == "first call" else [],
        "operations": workload.operations,
        "statistic": workload.statistic,
    }


def entry_as_json(row: Row, name: str) -> dict[str, Any]:
    """One contender: seconds, and ratios to funcgrad."""
    entry = row.entries[name]
    if isinstance(entry, Missing):
        return {"missing": entry.reason, "failed": entry.failed}
    return {
        "best": entry.best,
        "median": entry.median,
        "ratio_best": row.ratio(name, "best"),
        "ratio_median": row.ratio(name, "median"),
        "calls": entry.calls,
        "setting": entry.setting,
        "samples": list(entry.samples),
    }
