"""The warm process of one contender: builds calls, warms them up, and times samples when asked.

The harness goes round the workers, one sample each, so that whatever else the machine does
meets all of them alike. Garbage collection stays on: users have it on too.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from itertools import repeat
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any, NamedTuple

from benchmarks.contenders import arrays_of
from benchmarks.libraries import loaded, settings_of, use_threads
from benchmarks.model import OURS, Call, Contender, Workload
from benchmarks.workloads import find

UNSUPPORTED = "unsupported: "

PATIENCE = 2.0
"""Seconds of warm-up after which even three calls are too many."""

PAUSE = 0.003
"""Seconds before each sample: another library's threads may still be spinning."""


class Prepared(NamedTuple):
    """What the worker answers when a call is built and warm."""

    seconds: float
    """About how long one call takes."""
    setting: str
    results: list[Any] | None
    """The results as NumPy arrays; None where there is nothing to compare."""


class Bench:
    """The calls of one process for one workload at a time."""

    def __init__(self, library: str) -> None:
        self.library = library
        self.numpy = loaded("numpy")
        self.module = loaded(library)
        self._calls: dict[str, tuple[Callable[[int], float], Callable[[], object] | None]] = {}
        self._counted = False

    def prepare(self, workload: Workload, contender: Contender, warm_up: float) -> Prepared:
        """Build the contender's call, run it until it is warm, and choose the best setting."""
        call = contender.build(self.module, self.numpy, workload.inputs(self.numpy))
        results = call()
        timed = self_reported if workload.self_timed else mean_seconds
        sampler = Sampler(call, timed)
        best = Prepared(sampler.warmed(warm_up), "", None)
        applied = None
        self._counted = self.library == OURS and workload.threads > 0
        for name, apply in settings_of(self.library, self.module, workload.threads).items():
            apply()
            seconds = sampler.warmed(warm_up)
            if applied is None or seconds < best.seconds:
                best, applied = Prepared(seconds, "" if workload.threads else name, None), apply
        self._calls[contender.name] = (sampler, applied)
        return best._replace(results=None if workload.self_timed else arrays_of(self.numpy, results))

    def sample(self, contender: str, calls: int) -> float:
        """The mean seconds of that many calls."""
        sampler, apply = self._calls[contender]
        if apply is not None:
            apply()
        time.sleep(PAUSE)
        gc.collect()
        if calls > 1:
            sampler(1)
        return sampler(calls)

    def clear(self) -> None:
        """Forget the calls of the workload that is done, and how many threads it had."""
        self._calls.clear()
        if self._counted:
            use_threads(os.cpu_count() or 1)
            self._counted = False


class Sampler:
    """Times a call; `timed` is `mean_seconds` or `self_reported`."""

    def __init__(self, call: Call, timed: Callable[[Call, int], float]) -> None:
        self.call = call
        self.timed = timed

    def __call__(self, calls: int) -> float:
        return self.timed(self.call, calls)

    def warmed(self, warm_up: float) -> float:
        """Call for about `warm_up` seconds, at least three times; the shortest call."""
        start = perf_counter()
        shortest = self(1)
        for k in range(1, 1_000_000):
            spent = perf_counter() - start
            if spent > PATIENCE or (k >= 3 and spent > warm_up):
                break
            shortest = min(shortest, self(1))
        return shortest


def mean_seconds(call: Call, calls: int) -> float:
    """The mean duration of `calls` calls."""
    loop = repeat(None, calls)
    start = perf_counter()
    for _ in loop:
        call()
    return (perf_counter() - start) / calls


def self_reported(call: Call, calls: int) -> float:
    """The mean of what the calls say they took."""
    reported: list[float] = [call()[0] for _ in range(calls)]
    return sum(reported) / calls


def serve(connection: Connection, library: str, package: str = "") -> None:
    """Answer the harness until it hangs up: ``(True, answer)``, or ``(False, what went wrong)``.

    The library is looked for in the directory `package` first, where one is given.
    """
    if package:
        sys.path.insert(0, package)
    bench: Bench | None = None
    while True:
        try:
            request, *arguments = connection.recv()
        except (EOFError, OSError):
            return
        try:
            if bench is None:
                bench = Bench(library)
            answer = answered(bench, request, arguments)
        except Exception as error:  # noqa: BLE001 - whatever fails in a library is a cell of the table
            connection.send((False, first_line(error)))
        else:
            connection.send((True, answer))


def answered(bench: Bench, request: str, arguments: list[Any]) -> Any:
    """The answer to one request of the harness."""
    if request == "prepare":
        name, contender_name, warm_up = arguments
        workload = find(name)
        (contender,) = (c for c in workload.contenders if c.name == contender_name)
        return bench.prepare(workload, contender, warm_up)
    if request == "sample":
        return bench.sample(*arguments)
    if request == "clear":
        return bench.clear()
    raise ValueError(f"unknown request {request!r}")


def first_line(error: BaseException) -> str:
    """The exception in one line; what a library says it cannot do is no failure of the benchmark's."""
    name = type(error).__name__
    unsupported = name.startswith(("Unsupported", "NotSupported"))
    return f"{UNSUPPORTED * unsupported}{name}: {error}".splitlines()[0]
