"""Both engines beside each other: machine code with an empty cache, and calls, of every row that is compiled.

``python -m benchmarks.engines [NAME ...]`` prints a table; names choose among the rows, ``loop-*`` all that
begin so. With ``cold`` for a name it is the first calls in new processes with an empty cache, imports and
all, of every cold row. Rows for which an engine makes no machine code are left out: they compare nothing.
"""

from __future__ import annotations

import gc
import math
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import funcgrad as fg
from benchmarks.contenders import arrays_of
from benchmarks.harness import ContenderError, Fresh, disagreement_of
from benchmarks.model import Workload
from benchmarks.worker import Sampler, first_line, mean_seconds, self_reported
from benchmarks.workloads import WORKLOADS, cold, find
from funcgrad.compile.engines.binary import Binary
from funcgrad.compile.runtime import binaries

ENGINES = ("direct", "numba")
SAMPLE, WARM_UP = 0.001, 0.2
"""Seconds of a sample, shorter than what a busy machine lets a process run; and of calls before the first."""
TURN = 10
"""Samples at a time."""
ROUNDS, MOST_ROUNDS, BUDGET = 10, 200, 10.0
"""Turns of each engine; the seconds after which a row is left as it is."""
NEAR, OFTEN = 1.02, 5
"""The shortest sample is no accident when so many were as short, as nearly as that."""
PATIENCE = 90.0
"""Seconds for a first call."""
WITHIN = 1.1
"""What a call by Numba may take of one by the direct engine."""


class Made(NamedTuple):
    """What a process answers when a row's call is built and warm."""

    results: list[Any] | None
    shortest: float
    """Seconds of a call."""
    kernels: int
    """How many sources became machine code."""
    building: float
    """Seconds by the clock: the processor's would leave out what a process for long compilations does."""


class Ratios(NamedTuple):
    """What a call by Numba takes of one by the direct engine: by the clock, and of the processors' time."""

    clock: float
    work: float


class EngineProcess:
    """A process in which one engine compiles, with a cache of its own; a context manager."""

    def __init__(self, engine: str, directory: str) -> None:
        os.environ["FUNCGRAD_ENGINE"] = engine
        os.environ["FUNCGRAD_CACHE_DIR"] = directory
        spawn = multiprocessing.get_context("spawn")
        self.connection, theirs = spawn.Pipe()
        self.process = spawn.Process(target=serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def __enter__(self) -> EngineProcess:
        return self

    def __exit__(self, *raised: object) -> None:
        self.connection.close()
        self.process.join(timeout=10)
        if self.process.is_alive():
            self.process.terminate()

    def ask(self, *request: Any) -> Any:
        """The answer; raises ContenderError with the process's complaint."""
        self.connection.send(request)
        succeeded, answer = self.connection.recv()
        if not succeeded:
            raise ContenderError(answer)
        return answer


def serve(connection: Connection) -> None:
    """Answer ``(row,)`` with what is made for it, ``(row, calls)`` with samples of its call."""
    spent = seconds_of_machine_code()
    sampler: Sampler | None = None
    while True:
        try:
            name, *calls = connection.recv()
        except (EOFError, OSError):
            return
        try:
            if sampler is not None and calls:
                gc.collect()
                sampler(1)
                answer: Any = [sampled(sampler, *calls) for _ in range(TURN)]
            else:
                spent.clear()
                sampler, results = made_for(find(name))
                answer = Made(results, sampler.warmed(WARM_UP), len(spent), sum(spent))
        except Exception as error:  # noqa: BLE001 - whatever fails in a row is said in its place
            connection.send((False, first_line(error)))
        else:
            connection.send((True, answer))


def sampled(sampler: Sampler, calls: int) -> tuple[float, float]:
    """Seconds of a call by the clock, and of the processors, which a busy machine makes no longer."""
    start = time.process_time()
    seconds = sampler(calls)
    return seconds, (time.process_time() - start) / calls


def made_for(workload: Workload) -> tuple[Sampler, list[Any] | None]:
    """What times a row's call, and the results of the first one."""
    call = workload.contenders[0].build(fg, np, workload.inputs(np))
    results = call()
    if workload.self_timed:
        return Sampler(call, self_reported), None
    return Sampler(call, mean_seconds), arrays_of(np, results)


def seconds_of_machine_code() -> list[float]:
    """A list of the seconds of each source that becomes machine code from now on."""
    spent: list[float] = []
    build = binaries.built

    def timed(source: str, functions: tuple[str, ...], flags: frozenset[str]) -> Binary:
        start = time.perf_counter()
        found = build(source, functions, flags)
        spent.append(time.perf_counter() - start)
        return found

    binaries.built = timed
    return spent


def compiled_rows(names: Sequence[str]) -> list[Workload]:
    """The rows of many calls, and those of which the table has first calls alone."""
    only_cold = {f"cold-empty-{name.replace('_', '-')}" for name in cold.UNROLLED}
    rows = [w for w in WORKLOADS if w.measure == "warm" or w.name in only_cold]
    return [w for w in rows if not names or any(fnmatch(w.name, name) for name in names)]


def best_of_both(
    processes: Mapping[str, EngineProcess], name: str, seconds: float
) -> dict[str, tuple[float, float]]:
    """The shortest times of a call by each engine, in turns, until each has met its own several times."""
    samples: dict[str, list[tuple[float, float]]] = {engine: [] for engine in processes}
    calls = max(1, int(SAMPLE / seconds))
    start = time.perf_counter()
    for k in range(MOST_ROUNDS):
        for engine in list(processes) if k % 2 == 0 else reversed(list(processes)):
            samples[engine] += processes[engine].ask(name, calls)
        enough = k >= ROUNDS - 1 and all(is_met([s for s, _ in taken]) for taken in samples.values())
        if enough or time.perf_counter() - start > BUDGET:
            break
    return {
        engine: (min(s for s, _ in taken), min(work for _, work in taken))
        for engine, taken in samples.items()
    }


def is_met(samples: Sequence[float]) -> bool:
    """Whether the shortest sample is no accident."""
    return sum(s <= NEAR * min(samples) for s in samples) >= OFTEN


def compare(workload: Workload, processes: Mapping[str, EngineProcess]) -> Ratios | None:
    """Measure and print a row; its ratios, None where nothing was compared."""
    name = workload.name
    try:
        made: dict[str, Made] = {engine: process.ask(name) for engine, process in processes.items()}
        if not all(one.kernels for one in made.values()):
            return None
        different = disagreement_of({engine: one.results for engine, one in made.items()}, workload.rtol)
        if different:
            raise ContenderError(different)
        best = best_of_both(processes, name, min(one.shortest for one in made.values()))
    except ContenderError as error:
        print(f"| {name} | {error} |", flush=True)
        return Ratios(math.nan, math.nan)
    ratios = Ratios(*[by_numba / direct for direct, by_numba in zip(*best.values(), strict=True)])
    building = " | ".join([f"{1e3 * made[engine].building:.0f} ms" for engine in ENGINES])
    calls = " | ".join([f"{1e6 * best[engine][0]:.2f} µs" for engine in ENGINES])
    print(f"| {name} | {building} | {calls} | {ratios.clock:.2f} | {ratios.work:.2f} |", flush=True)
    return ratios


def calls_of_both(rows: Sequence[Workload]) -> None:
    """Measure and print rows, and which of them are not as they should be."""
    print("| row | machine code, direct | by Numba | a call, direct | by Numba | ratio | of the processors |")
    print("|---|---|---|---|---|---|---|")
    with (
        tempfile.TemporaryDirectory() as directory,
        EngineProcess("direct", f"{directory}/direct") as direct,
        EngineProcess("numba", f"{directory}/numba") as by_numba,
    ):
        ratios = {w.name: compare(w, {"direct": direct, "numba": by_numba}) for w in rows}
    compared = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    found = {name: ratio for name, ratio in compared.items() if not math.isnan(ratio.clock)}
    print(f"\nnothing compiled: {', '.join([n for n in ratios if n not in compared]) or 'no row'}")
    print(f"failed: {', '.join([n for n in compared if n not in found]) or 'no row'}")
    slow = [name for name, ratio in found.items() if ratio.clock > WITHIN]
    waited = [name for name in slow if found[name].work <= WITHIN]
    print(f"beyond {WITHIN}: {', '.join([n for n in slow if n not in waited]) or 'no row'}")
    print(f"beyond {WITHIN} by the clock, with no more work: {', '.join(waited) or 'no row'}")
    if found:
        mean = np.exp(np.mean(np.log([ratio.clock for ratio in found.values()])))
        print(f"geometric mean of {len(found)} ratios: {mean:.3f}")


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
    else:
        calls_of_both(compiled_rows(names))


if __name__ == "__main__":
    main(sys.argv[1:])
