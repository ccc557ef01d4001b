"""The time of each step of a kernel: loop nests, products, sorts, the user's loops and what is inside them.

A second form of the kernel reads the processor's clock between the steps; they are otherwise the same. Steps
in loops are measured too, where a trip takes much longer than reading the clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.emit.symbols import Locals
from funcgrad.compile.measure.timed_evaluation import cost_of_reading, peak_bytes, timed_function
from funcgrad.compile.measure.timings import Place, Reading, Timing, measured, scaled
from funcgrad.compile.passes.kernel import Kernel, make_kernel
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.compile.passes.scheduling.nests import Nest
from funcgrad.compile.passes.segments import Reason, segments_of
from funcgrad.compile.passes.solver_loops import for_kernels
from funcgrad.compile.runtime.binaries import loaded_kernel
from funcgrad.compile.runtime.call_facts import facts_of
from funcgrad.compile.runtime.callers.caller import make_caller
from funcgrad.compile.runtime.executable import call_layout, compiled, conformed
from funcgrad.errors import FuncgradError
from funcgrad.ir.evaluate.runner import evaluate_by_numpy
from funcgrad.ir.program import Program

SHORTEST_STEP = 1000.0
"""Operations of a step from which it is measured inside a loop: ten times what reading the clock takes."""

START, READING = 0, 1
"""Places of the clock's memory: when the call began, and what a reading takes; then two for each step."""


class ClockWriter(Writer):
    """Writes a reading of the clock between steps."""

    def __init__(self, local: Locals) -> None:
        super().__init__(local)
        self.clock = local.block(local.distinct("clock"), np.dtype(np.int64), 2, "clock")
        self.places: list[Place] = []
        self.slots: dict[Place, int] = {}
        self._open: list[Place | None] = []

    def steps(self, steps: Sequence[Any]) -> None:
        """All steps in order, and how long each takes."""
        present = [step for step in steps if not isinstance(step, Nest) or step.body]
        around = self._open[-1] if self._open else None
        if self._open and (around is None or not worth_measuring(present)):
            if around is not None:
                around.unmeasured += present
            self._open.append(None)
            super().steps(present)
            self._open.pop()
            return
        clock, before, after = self.clock.name, self.local.fresh("before"), self.local.fresh("after")
        self.line(f"{before} = ticks()")
        if not self._open:
            self.line(f"{clock}[{START}] = {before}")
        for step in present:
            place = Place(step)
            (self.places if around is None else around.inside).append(place)
            slot = self.slots[place] = self.clock.size
            self.clock.size += 2
            self._open.append(place)
            super().steps([step])
            self._open.pop()
            self.line(f"{after} = ticks()")
            self.line(f"{clock}[{slot}] = {clock}[{slot}] + ({after} - {before})")
            self.line(f"{clock}[{slot + 1}] = {clock}[{slot + 1}] + 1")
            self.line(f"{before} = {after}")
        if not self._open:
            self.line(f"{after} = ticks()")
            self.line(f"{clock}[{READING}] = {clock}[{READING}] + ({after} - {before})")
            # Now the number of places is known.
            self.lines[:0] = [f"    for i in range({self.clock.size}):", f"        {clock}[i] = 0"]


def worth_measuring(steps: Sequence[Any]) -> bool:
    """Whether steps inside a loop take much longer than reading the clock between them."""
    return bool(steps) and sum(step.flops for step in steps) >= SHORTEST_STEP * len(steps)


class KernelPiece:
    """A part of a Program as a kernel that reads the clock."""

    def __init__(self, program: Program) -> None:
        writers: list[ClockWriter] = []

        def write(local: Locals) -> Writer:
            writers.append(ClockWriter(local))
            return writers[-1]

        self.program = program
        self.kernel = make_kernel(program, write)
        self.places, self._slots = writers[0].places, writers[0].slots
        loaded = loaded_kernel(self.kernel.code, self.kernel.functions)
        layout = call_layout(facts_of(self.kernel), program, strict=False, single=False, donated=frozenset())
        self._call = make_caller(loaded.addresses[self.kernel.name], layout, loaded)
        self._calls: list[tuple[float, int]] = []
        """When calls began, by the system's clock and by the processor's."""

    def results(self, values: Sequence[Any]) -> tuple[Sequence[Any], Reading]:
        """The results of a call; fills in the places."""
        given = [conformed(x, v.aval) for x, v in zip(values, self.program.inputs, strict=True)]
        start = perf_counter()
        found: Any = self._call(*given)
        if self.kernel.may_fail:
            *found, failed = found
            if failed:
                evaluate_by_numpy(self.program, given)  # says what is wrong
                raise FuncgradError("this call leaves native code before its end: it cannot be profiled")
        *results, clock = found
        for place, slot in self._slots.items():
            place.spent, place.runs = int(clock[slot]), int(clock[slot + 1])
        self._calls[1:] = [(start, int(clock[START]))]
        return results, Reading(float(clock[READING]), float(clock[READING]))

    @property
    def unit(self) -> float:
        """The seconds of one tick, by all that has been run."""
        (start, first), (end, last) = self._calls[0], self._calls[-1]
        if last <= first:
            raise FuncgradError("the clock of this processor cannot be read: kernels have no times here")
        return (end - start) / (last - first)


class EquationPiece:
    """An equation that is left to NumPy."""

    kernel = None
    unit = 1e-9

    def __init__(self, program: Program) -> None:
        self.program = program
        self.places: list[Place] = []
        self._run = timed_function(program, self.places)

    def results(self, values: Sequence[Any]) -> tuple[Sequence[Any], Reading]:
        """The results; fills in the places."""
        with np.errstate(all="ignore"):
            return self._run(*values), cost_of_reading()


@dataclass(frozen=True)
class TimedPart:
    """The times of a part of a Program: of a kernel's steps, or of an equation left to NumPy."""

    kernel: Kernel | None
    timings: list[Timing]


@dataclass(frozen=True)
class TimedKernels:
    """The times of all parts, and of a call without the clock."""

    parts: list[TimedPart]
    reasons: list[Reason]
    runs: int
    run_seconds: float
    peak_bytes: int


def timed_kernels(program: Program, values: Sequence[Any], seconds: float) -> TimedKernels:
    """Run a Program as native code for so many seconds, every second time with readings of the clock."""
    made = compiled(program)
    whole = for_kernels(program)
    pieces, reasons = pieces_of(whole)
    env: dict[Any, Any] = {**dict(whole.captured), **dict(zip(whole.inputs, values, strict=True))}

    def plain() -> object:
        return made.run(*values)

    parts, runs, calls = [], [], []
    for piece in pieces:
        given = [env[v] for v in piece.program.inputs]
        results, _ = piece.results(given)
        env.update(zip(piece.program.outputs, results, strict=True))
        found = measured(partial(reading_of, piece, given), plain, piece.places, seconds / len(pieces))
        parts.append(TimedPart(piece.kernel, scaled(found.timings, piece.unit)))
        runs.append(found.runs)
        calls.append(found.run_seconds)
    scratch = max([part.kernel.scratch_bytes for part in parts if part.kernel is not None], default=0)
    return TimedKernels(parts, reasons, min(runs), float(np.median(calls)), scratch + peak_bytes(plain))


def reading_of(piece: KernelPiece | EquationPiece, values: Sequence[Any]) -> Reading:
    """Run a part once; what reading the clock took."""
    return piece.results(values)[1]


def pieces_of(program: Program) -> tuple[list[KernelPiece | EquationPiece], list[Reason]]:
    """The whole Program as one piece if it has a native form, else native parts and what is left to NumPy."""
    try:
        return [KernelPiece(program)], []
    except NotLowered:
        segments, reasons = segments_of(program)
        return [
            KernelPiece(each.program) if each.native else EquationPiece(each.program) for each in segments
        ], reasons
