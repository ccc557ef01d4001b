"""Both engines beside each other: compile time with an empty cache, and run time, of every compiled problem.

``python -m benchmarks.engines [NAME ...]`` prints a table; names of problems choose among them. With ``cold``
for a name it is the first calls in new processes with an empty cache, imports included, of every cold row.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import funcgrad as fg
from benchmarks.harness import Fresh
from benchmarks.problems import PROBLEMS, Problem
from benchmarks.workloads import cold
from funcgrad.compile.runtime import binaries

ENGINES = ("direct", "numba")
ROUNDS, SECONDS = 15, 0.3
PATIENCE = 90.0
"""Seconds for a first call."""


def compiled_by(engine: str, problem: Problem, inputs: Any) -> tuple[Callable[[], Any], float]:
    """A call of the compiled gradient, and the seconds by the clock that its machine code took.

    The processor's seconds would leave out what a process for long compilations does.
    """
    fg.config.engine(engine)
    spent = [0.0]
    build = binaries.built

    def timed(*args: Any) -> Any:
        start = time.perf_counter()
        found = build(*args)
        spent[0] += time.perf_counter() - start
        return found

    binaries.built = timed
    try:
        function = fg.jit(fg.value_and_grad(lambda *args: problem.function(np, *args)))
        function(*inputs)
    finally:
        binaries.built = build
    return lambda: function(*inputs), spent[0]


def best_of_both(calls: list[Callable[[], Any]]) -> list[float]:
    """The shortest time of a call of each, in turns."""
    best = [float("inf")] * len(calls)
    counts = []
    for call in calls:
        start = time.perf_counter()
        call()
        counts.append(max(1, int(SECONDS / ROUNDS / max(time.perf_counter() - start, 1e-7))))
    for _ in range(ROUNDS):
        for k, (call, count) in enumerate(zip(calls, counts, strict=True)):
            start = time.perf_counter()
            for _ in range(count):
                call()
            best[k] = min(best[k], (time.perf_counter() - start) / count)
    return best


def first_calls() -> None:
    """Measure and print the cold rows: the shorter of two first calls of each engine, in turns."""
    print("| problem | first call, direct | by Numba |")
    print("|---|---|---|")
    for workload in [w for w in cold.WORKLOADS if w.cache == "empty"]:
        best = dict.fromkeys(ENGINES, float("inf"))
        with tempfile.TemporaryDirectory() as directory:
            fresh = Fresh(workload, PATIENCE, Path(directory))
            for engine in ENGINES * 2:
                os.environ["FUNCGRAD_ENGINE"] = engine
                best[engine] = min(best[engine], fresh.first_call(workload.contenders[0])[0])
        del os.environ["FUNCGRAD_ENGINE"]
        print(f"| {workload.name} | {' | '.join([f'{s:.2f} s' for s in best.values()])} |", flush=True)


def main(names: list[str]) -> None:
    """Measure and print."""
    if names == ["cold"]:
        first_calls()
        return
    ratios = []
    print("| problem | machine code, direct | by Numba | a call, direct | by Numba | ratio |")
    print("|---|---|---|---|---|---|")
    for name, problem in PROBLEMS.items():
        if names and name not in names:
            continue
        inputs = problem.inputs(np)
        with tempfile.TemporaryDirectory() as directory:
            os.environ["FUNCGRAD_CACHE_DIR"] = directory
            made = [compiled_by(engine, problem, inputs) for engine in ENGINES]
        direct, by_numba = best_of_both([call for call, _ in made])
        ratios.append(by_numba / direct)
        building = " | ".join([f"{1e3 * seconds:.0f} ms" for _, seconds in made])
        calls = f"{1e6 * direct:.2f} µs | {1e6 * by_numba:.2f} µs | {ratios[-1]:.2f}"
        print(f"| {name} | {building} | {calls} |", flush=True)
    print(f"\ngeometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
