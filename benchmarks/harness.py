"""Measures a workload: checks that the contenders agree, then goes round them, sample by sample.

Warm calls run in one long-lived process per library (`worker`), first calls and imports in new processes
(`fresh`). Going round means that a slow moment of the machine meets every contender. Knows no workload.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from benchmarks.libraries import ENVIRONMENT, is_installed
from benchmarks.model import OURS, Contender, Entries, Entry, Missing, Row, Timing, Workload
from benchmarks.worker import Prepared, serve

ROOT = Path(__file__).parents[1]

Sample = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much time to spend on a number."""

    rounds: int
    """Samples of each contender of a warm workload."""
    fresh_rounds: int
    """New processes for each contender that a target is about, after one that counts only if this is 0."""
    sample: float
    """Seconds of a warm sample."""
    warm_up: float
    """Seconds of calls before the first sample."""
    budget: float
    """Seconds for one contender of one workload; slow ones get fewer samples, but at least `fewest`."""
    fewest: int
    patience: float
    """Seconds after which a contender that does not answer is given up: compilers may take for ever."""


FULL = Effort(rounds=15, fresh_rounds=7, sample=0.02, warm_up=0.3, budget=3.0, fewest=3, patience=90.0)
QUICK = Effort(rounds=3, fresh_rounds=0, sample=0.003, warm_up=0.01, budget=0.5, fewest=1, patience=90.0)


class ContenderError(Exception):
    """A contender could not be built or run; its message is one line."""


class Workers:
    """The warm processes, one for each contender's name, started when first asked for; a context manager."""

    def __init__(self, patience: float, package: str = "") -> None:
        self._patience = patience
        self._package = package
        """The directory of the package that is measured; this checkout's where it is empty."""
        self._spawn = multiprocessing.get_context("spawn")
        self._running: dict[str, tuple[Any, Any]] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process, connection in self._running.values():
            connection.close()
            process.join(timeout=10)
            if process.is_alive():
                process.terminate()
        self._running.clear()

    def ask(self, contender: Contender, *request: Any) -> Any:
        """The worker's answer; raises ContenderError with its complaint, or when patience ends."""
        connection = self._connection(contender)
        try:
            connection.send(request)
            if not connection.poll(self._patience):
                process, _ = self._running.pop(contender.name)
                process.terminate()
                raise ContenderError(f"no answer after {self._patience:.0f} s")
            succeeded, answer = connection.recv()
        except (EOFError, OSError):
            process, _ = self._running.pop(contender.name)
            process.join()
            raise ContenderError(f"its process ended with status {process.exitcode}") from None
        if not succeeded:
            raise ContenderError(answer)
        return answer

    def clear(self) -> None:
        """Let every process forget its calls."""
        for _, connection in self._running.values():
            connection.send(("clear",))
            connection.recv()

    def _connection(self, contender: Contender) -> Any:
        if contender.name not in self._running:
            ours, theirs = self._spawn.Pipe()
            process = self._spawn.Process(
                target=serve, args=(theirs, contender.library, self._package), daemon=True
            )
            process.start()
            theirs.close()
            self._running[contender.name] = (process, ours)
        return self._running[contender.name][1]


def measured(
    workload: Workload, workers: Workers, effort: Effort, peers: frozenset[str], before: Mapping[str, Entries]
) -> Row:
    """The workload's row. Of the peers, `peers` take part; `before` holds earlier entries."""
    missing, present = split_contenders(workload, peers)
    if workload.measure == "warm":
        entries, disagreement = warm_entries(workload, present, workers, effort)
    else:
        entries, disagreement = fresh_entries(workload, present, effort)
    ordered = {c.name: (missing | entries)[c.name] for c in workload.contenders}
    ordered |= {name: Missing(reason) for name, reason in workload.left_out.items()}
    verdicts = tuple(target.judged(ordered, workload.statistic, before) for target in workload.targets)
    return Row(workload, ordered, verdicts, disagreement)


def split_contenders(
    workload: Workload, peers: frozenset[str]
) -> tuple[dict[str, Entry], tuple[Contender, ...]]:
    """The contenders that cannot take part, with the reason, and those that can."""
    missing: dict[str, Entry] = {}
    present = []
    for contender in workload.contenders:
        if contender.library not in peers | {OURS, "numpy"}:
            missing[contender.name] = Missing("not asked for")
        elif not is_installed(contender.library):
            missing[contender.name] = Missing("not installed")
        else:
            present.append(contender)
    return missing, tuple(present)


# -- warm calls -----------------------------------------------------------------------------------------


def warm_entries(
    workload: Workload, present: Sequence[Contender], workers: Workers, effort: Effort
) -> tuple[dict[str, Entry], str]:
    """Entries of many calls in processes that stay, and how results differ if they do."""
    entries: dict[str, Entry] = {}
    prepared: dict[str, Prepared] = {}
    by_name = {c.name: c for c in present}
    warm_up = effort.warm_up if effort is QUICK else max(effort.warm_up, workload.warm_up)
    for name, contender in by_name.items():
        try:
            prepared[name] = workers.ask(contender, "prepare", workload.name, name, warm_up)
        except ContenderError as error:
            entries[name] = Missing(str(error), failed=True)
    results = {name: p.results for name, p in prepared.items() if by_name[name].compared}
    disagreement = disagreement_of(results, workload.rtol)
    if not disagreement:
        calls = {name: max(1, int(effort.sample / p.seconds)) for name, p in prepared.items()}
        rounds = {
            name: affordable(workload.rounds or effort.rounds, p.seconds * calls[name], effort)
            for name, p in prepared.items()
        }

        def sampler_of(name: str) -> Sample:
            return lambda: workers.ask(by_name[name], "sample", name, calls[name]) / workload.operations

        samples, failures = interleaved({name: sampler_of(name) for name in prepared}, rounds)
        entries |= failures
        entries |= {
            name: Timing(tuple(taken), calls[name], prepared[name].setting) for name, taken in samples.items()
        }
    workers.clear()
    return entries | {name: Missing("not timed") for name in by_name if name not in entries}, disagreement


def affordable(rounds: int, seconds: float, effort: Effort) -> int:
    """How many samples of that length the budget allows."""
    return min(rounds, max(effort.fewest, int(effort.budget / seconds)))


def interleaved(
    contenders: Mapping[str, Sample], rounds: Mapping[str, int]
) -> tuple[dict[str, list[float]], dict[str, Entry]]:
    """Samples by contender, taken in turns; one with fewer rounds takes part in evenly spread ones.

    Every other round goes the other way, so that no contender always follows the same one. A contender that
    fails leaves, and its reason is returned.
    """
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    failures: dict[str, Entry] = {}
    most = max(rounds.values(), default=0)
    for k in range(most):
        for name in list(contenders) if k % 2 == 0 else reversed(list(contenders)):
            due = (k + 1) * rounds[name] // most > k * rounds[name] // most
            if not due or name in failures:
                continue
            try:
                samples[name].append(contenders[name]())
            except ContenderError as error:
                failures[name] = Missing(str(error), failed=True)
    return {name: taken for name, taken in samples.items() if name not in failures}, failures


# -- new processes --------------------------------------------------------------------------------------


def fresh_entries(
    workload: Workload, present: Sequence[Contender], effort: Effort
) -> tuple[dict[str, Entry], str]:
    """Entries of new processes. The first of each writes bytecode and fills caches: not counted."""
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as directory:
        fresh = Fresh(workload, effort.patience, Path(directory))
        return fresh_entries_in(fresh, present, effort)


@dataclass(frozen=True, slots=True)
class Fresh:
    """New processes of one workload."""

    workload: Workload
    patience: float
    directory: Path
    """Empty at first; holds the caches of compiled code."""
    package: str = ""
    """As that of `Workers`."""

    def sample(self, contender: Contender) -> tuple[float, list[Any] | None]:
        """The seconds of a new process, and the results if there are any."""
        if self.workload.measure == "import":
            return import_seconds(contender, self.patience, self.package), None
        return self.first_call(contender)

    def first_call(self, contender: Contender) -> tuple[float, list[Any] | None]:
        """The seconds of the workload's spans in a new process, and the results."""
        code = found_first(self.package) + (
            "from time import perf_counter; start = perf_counter(); "
            "from benchmarks.fresh import main; main(start)"
        )
        arguments = ("-c", code, self.workload.name, contender.name)
        spans, results = pickle.loads(output_of(arguments, self.patience, self.cache_of(contender)))
        return sum(spans[span] for span in self.workload.spans), results if contender.compared else None

    def cache_of(self, contender: Contender) -> dict[str, str]:
        """The environment that moves the contender's compiled code."""
        if self.workload.cache == "usual" or not contender.cache:
            return {}
        if self.workload.cache == "empty":
            return {contender.cache: tempfile.mkdtemp(dir=self.directory)}
        shared = self.directory / contender.name
        shared.mkdir(exist_ok=True)
        return {contender.cache: str(shared)}


def fresh_entries_in(
    fresh: Fresh, present: Sequence[Contender], effort: Effort
) -> tuple[dict[str, Entry], str]:
    """Entries of new processes, with a directory for their caches."""
    workload = fresh.workload
    entries: dict[str, Entry] = {}
    results: dict[str, list[Any] | None] = {}
    first: dict[str, float] = {}
    for contender in present:
        try:
            first[contender.name], results[contender.name] = fresh.sample(contender)
        except ContenderError as error:
            entries[contender.name] = Missing(str(error), failed=True)
    disagreement = disagreement_of(results, workload.rtol)
    running = {c.name: c for c in present if c.name in first}
    if disagreement:
        return entries | {name: Missing("not timed") for name in running}, disagreement

    if not effort.fresh_rounds and workload.cache != "warm":
        return entries | {name: Timing((first[name] / workload.operations,)) for name in running}, ""

    def sampler_of(contender: Contender) -> Sample:
        return lambda: fresh.sample(contender)[0] / workload.operations

    rounds = {}
    for name in running:
        wanted = (workload.rounds or effort.fresh_rounds) if effort.fresh_rounds else 1
        if name not in workload.rivals:
            wanted = max(effort.fewest, wanted // 5)
        rounds[name] = affordable(wanted, first[name], effort) if name != OURS else wanted
    samples, failures = interleaved({name: sampler_of(c) for name, c in running.items()}, rounds)
    timings: dict[str, Entry] = {name: Timing(tuple(taken)) for name, taken in samples.items()}
    return entries | failures | timings, ""


def found_first(package: str) -> str:
    """The statement after which imports look into a directory first; none for an empty name."""
    return f"import sys; sys.path.insert(0, {package!r}); " if package else ""


def import_seconds(contender: Contender, patience: float, package: str = "") -> float:
    """The seconds of the bare import statement, with nothing loaded before it."""
    code = found_first(package) + (
        "from time import perf_counter; start = perf_counter(); "
        f"import {contender.library}; print(perf_counter() - start)"
    )
    return float(output_of(("-c", code), patience, {}))


def output_of(arguments: Sequence[str], patience: float, variables: Mapping[str, str]) -> bytes:
    """What a new Python process writes; raises ContenderError with the error in one line."""
    try:
        process = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**environment(), **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=patience,
        )
    except subprocess.TimeoutExpired:
        raise ContenderError(f"no answer after {patience:.0f} s") from None
    if process.returncode:
        # The details of an error may follow it, indented.
        lines = [
            x for x in process.stderr.decode(errors="replace").splitlines() if x and not x.startswith(" ")
        ]
        raise ContenderError(lines[-1] if lines else f"its process ended with status {process.returncode}")
    return process.stdout


def environment() -> dict[str, str]:
    """The environment of a new process: bytecode is kept, as it is wherever a library is installed."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | ENVIRONMENT


# -- agreement ------------------------------------------------------------------------------------------


def disagreement_of(results: Mapping[str, list[Any] | None], rtol: float) -> str:
    """How the contenders' results differ, or an empty string. Each is compared with the first."""
    compared = {name: arrays for name, arrays in results.items() if arrays is not None}
    if not compared:
        return ""
    first, *others = compared
    for name in others:
        ours, theirs = compared[first], compared[name]
        if len(ours) != len(theirs):
            return f"{first} returns {len(ours)} arrays, {name} {len(theirs)}"
        for k, (x, y) in enumerate(zip(ours, theirs, strict=True)):
            if x.shape != y.shape:
                return f"result {k}: {first} returns shape {x.shape}, {name} {y.shape}"
            scale = float(np.max(np.abs(x), initial=0.0))
            if not np.allclose(x, y, rtol=rtol, atol=rtol * scale):
                worst = float(np.max(np.abs(x - y)))
                return f"result {k}: {first} and {name} differ by {worst:.3g} where values reach {scale:.3g}"
    return ""
