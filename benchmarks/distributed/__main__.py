"""``python -m benchmarks.distributed``: overhead, a large fit, scaling; writes results/distributed.md."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.distributed import logistic, model, overhead, scaling
from benchmarks.machine import load, machine, revision, versions

RESULTS = Path(__file__).parents[1] / "results"
PARTS = ("overhead", "logistic", "scaling", "simulated")


def overhead_rows(found: dict[str, dict[str, Any]]) -> list[str]:
    """The table of overheads."""
    lines = [
        "## Overhead of a step",
        "",
        "Two shards on two workers, 10⁴ parameters; what a step takes beyond the busiest worker's shard.",
        "",
        "| engine | best | median | to reach | shard | bytes out | bytes back |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in found.items():
        if "missing" in row:
            lines.append(f"| {name} | not here: {row['missing']} | | | | | |")
            continue
        lines.append(
            f"| {name} | {row['best']:.3g} ms | {row['median']:.3g} ms | {overhead.TARGETS[name]:g} ms | "
            f"{row['shard']:.3g} ms | {row['bytes out']} | {row['bytes back']} |"
        )
    return lines


def logistic_rows(found: dict[str, dict[str, float]]) -> list[str]:
    """The table of the large fit."""
    two = found["two workers"]["seconds"]
    lines = [
        "## Logistic regression, 10⁷ × 20 in 8 shards, on Dask",
        "",
        "Value and gradient; best of several that took turns. A pool of processes of this machine costs next",
        "to nothing beside the shards: what two of them gain is what there is to be gained.",
        "",
        "| | step | over two workers | the busiest worker's shards | beside them |",
        "|---|---|---|---|---|",
    ]
    for name, row in found.items():
        parts = [f"{row[part] * 1e3:.1f} ms" if part in row else "" for part in ("shards", "beside")]
        lines.append(
            f"| {name} | {row['seconds'] * 1e3:.1f} ms | {row['seconds'] / two:.2f} | {' | '.join(parts)} |"
        )
    return lines


def scaling_rows(found: dict[str, Any]) -> list[str]:
    """The table of the model and the measurements."""
    costs = found["costs"]
    lines = [
        "## One step on Dask, measured and modelled",
        "",
        "Shards sleep, so that eight workers have work on any number of cores. The model knows what steps",
        "without work cost on two workers: "
        + ", ".join(
            [
                f"{costs['fixed'] * 1e3:.1f} ms a step",
                f"{costs['task'] * 1e3:.2f} ms a task",
                f"{costs['latency'] * 1e3:.2f} ms a message",
                f"{costs['bandwidth'] / 1e6:.0f} MB a second.",
            ]
        ),
        "",
        "| workers | shards | a shard | parameters | measured | model | measured / model |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found["steps"]:
        ratio = row["measured"] / row["model"]
        lines.append(
            f"| {row['workers']} | {row['shards']} | {row['seconds'] * 1e3:.0f} ms | {row['parameters']} | "
            f"{row['measured'] * 1e3:.0f} ms | {row['model'] * 1e3:.0f} ms | {ratio:.2f} |"
        )
    return lines


def simulated_rows(found: list[dict[str, float]]) -> list[str]:
    """The table of the simulation."""
    lines = [
        "## Simulated",
        "",
        "Shards of half a second, four to a worker, stragglers of 20 %, ten gigabits a second between them.",
        "",
        "| shards | workers | bytes each way | work / workers | driver sums | tree of sums | MPI |",
        "|---|---|---|---|---|---|---|",
    ]
    return lines + [
        f"| {row['shards']} | {row['workers']} | {row['bytes']:.0f} | {row['work']:.2f} s | "
        f"{row['driver']:.2f} s | {row['tree']:.2f} s | {row['mpi']:.2f} s |"
        for row in found
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for; other parts of the results stay as they are."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distributed")
    parser.add_argument("parts", nargs="*", default=PARTS, help=f"some of {', '.join(PARTS)}; all by default")
    options = parser.parse_args(arguments)
    path = RESULTS / "distributed.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    before = load()
    found["machine"], found["versions"], found["revision"] = machine(), versions(), revision()
    measure = {
        "overhead": overhead.measured,
        "logistic": logistic.measured,
        "scaling": scaling.measured,
        "simulated": model.simulated,
    }
    for part in options.parts:
        found[part] = measure[part]()
    found["load"] = [before, load()]
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    shown = {
        "overhead": overhead_rows,
        "logistic": logistic_rows,
        "scaling": scaling_rows,
        "simulated": simulated_rows,
    }
    lines = [
        "# fg.distribute, measured",
        "",
        f"Load before and after: {found['load']}; {found['machine']}",
        "",
    ]
    for part in PARTS:
        if part in found:
            lines += [*shown[part](found[part]), ""]
    text = "\n".join(lines)
    (RESULTS / "distributed.md").write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
