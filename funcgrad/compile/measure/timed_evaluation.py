"""The time of each equation of a Program that NumPy evaluates, those inside of loops among them.

The Program becomes the same straight-line Python that the evaluator makes of it, with the clock read around
every equation. Equations that hold Programs are taken apart where their Programs run in Python.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from time import perf_counter_ns
from typing import Any

import numpy as np

from funcgrad.compile.measure.timings import Place, Reading, Timing, measured, scaled
from funcgrad.ir.evaluate.runner import evaluate_by_numpy
from funcgrad.ir.program import Equation, Program
from funcgrad.transforms.call import Call
from funcgrad.transforms.control.conditional import Cond
from funcgrad.transforms.control.running import (
    Run,
    Writer,
    body_function,
    captured_arrays,
    owned,
    scan_function,
    sweeps_function,
)
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.while_loop import Loop
from funcgrad.types import Array, Arrays


class TimedWriter(Writer):
    """Writes the clock around every equation."""

    __slots__ = ("_held", "places")

    def __init__(self, name: str, parameters: Sequence[str], places: list[Place]) -> None:
        super().__init__(name, parameters)
        self.places = places
        self._held: list[Place] = []
        """The places inside the equation whose text has just been made."""
        self._constants["now"] = perf_counter_ns

    def equation(self, equation: Equation, text: str) -> None:
        place = Place(equation, self._held)
        self._held = []
        self.places.append(place)
        name = self.constant(place)
        self.line("before = now()")
        self.line(text)
        self.line(f"{name}.spent += now() - before")
        self.line(f"{name}.runs += 1")

    def evaluation(self, primitive: object) -> Callable[..., Any]:
        run = taken_apart(primitive, self._held)
        return super().evaluation(primitive) if run is None else run


def taken_apart(primitive: object, places: list[Place]) -> Callable[..., Any] | None:
    """What evaluates an equation that holds Programs and takes the times inside; None for others."""

    def write(name: str, parameters: Sequence[str]) -> Writer:
        return TimedWriter(name, parameters, places)

    if isinstance(primitive, Scan):
        scan = scan_function(primitive.step, primitive.length, reverse=primitive.reverse, write=write)
        return whole_results(scan, captured_arrays(primitive.body))
    if isinstance(primitive, Loop):
        loop = primitive.loop
        programs = [sweep.program for sweep in loop.sweeps]
        return whole_results(sweeps_function(loop, write), captured_arrays(*programs))
    if isinstance(primitive, Cond):
        branches = [body_function(branch, write) for branch in primitive.branches]
        return chosen_branch(branches, captured_arrays(*primitive.branches))
    if isinstance(primitive, Call):
        run = whole_results(body_function(primitive.program, write), captured_arrays(primitive.program))
        return first_arguments(run, len(primitive.program.inputs))
    return None


def whole_results(run: Run, captured: Sequence[Any]) -> Callable[..., Any]:
    """A run whose results share no memory with what it is given."""

    def evaluate(*values: Array) -> Arrays:
        return owned(run(*values), [*values, *captured])

    return evaluate


def chosen_branch(branches: Sequence[Run], captured: Sequence[Any]) -> Callable[..., Any]:
    """The branch at the index that comes first."""

    def evaluate(*values: Array) -> Arrays:
        k = min(max(int(values[0]), 0), len(branches) - 1)
        return owned(branches[k](*values[1:]), [*values, *captured])

    return evaluate


def first_arguments(run: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function of the first arguments: a custom rule is given more than its function reads."""

    def evaluate(*values: Array) -> Arrays:
        return run(*values[:count])

    return evaluate


@dataclass(frozen=True)
class TimedEvaluation:
    """The times of a Program's equations, and of a call without the clock."""

    timings: list[Timing]
    runs: int
    run_seconds: float
    peak_bytes: int


def timed_evaluation(program: Program, values: Sequence[Any], seconds: float) -> TimedEvaluation:
    """Evaluate a Program for so many seconds, every second time with readings of the clock."""
    # An error names the user's line here, which straight-line code cannot.
    evaluate_by_numpy(program, values)
    places: list[Place] = []
    run = timed_function(program, places)
    reading = cost_of_reading()

    def timed() -> Reading:
        with np.errstate(all="ignore"):
            run(*values)
        return reading

    def plain() -> object:
        return evaluate_by_numpy(program, values)

    found = measured(timed, plain, places, seconds)
    return TimedEvaluation(scaled(found.timings, 1e-9), found.runs, found.run_seconds, peak_bytes(plain))


def timed_function(program: Program, places: list[Place]) -> Run:
    """The Program as a function that fills in the places."""
    return body_function(program, lambda name, parameters: TimedWriter(name, parameters, places))


@cache
def cost_of_reading() -> Reading:
    """What one reading of the clock costs, in nanoseconds."""
    place = Place(None)
    now = perf_counter_ns
    within, whole = [], []
    for _ in range(200):
        place.spent = 0
        start = now()
        for _ in range(20):
            before = now()
            place.spent += now() - before
            place.runs += 1
        whole.append((now() - start) / 20)
        within.append(place.spent / 20)
    return Reading(float(np.median(within)), float(np.median(whole)))


def peak_bytes(run: Callable[[], Any]) -> int:
    """The most memory that a call holds at once beside its arguments."""
    was_tracing = tracemalloc.is_tracing()
    if was_tracing:
        tracemalloc.reset_peak()
    else:
        tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        run()
        return max(tracemalloc.get_traced_memory()[1] - before, 0)
    finally:
        if not was_tracing:
            tracemalloc.stop()
