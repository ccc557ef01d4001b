"""`scan`: a step taken a fixed number of times, along the first axis of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ir.catalog import CATALOG
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.arrays.structure import move_axis
from funcgrad.ops.elementwise.arithmetic import add, is_selected, mul
from funcgrad.ops.elementwise.elementary import sin
from funcgrad.ops.families import added, listed
from funcgrad.shared import once
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.recorder import Recorder, recorder_of
from funcgrad.tracing.samples import ErrorSample, Sample, fixed
from funcgrad.transforms.control.backward import Bars, TransposedStep, mark_of, not_flagged, transposed_step
from funcgrad.transforms.control.batched import batched_step, with_axis
from funcgrad.transforms.control.forward import (
    LinearStep,
    changed_around,
    forward_step,
    given,
    keeps_forward,
    kept,
    linear_step,
    present,
    within_step,
)
from funcgrad.transforms.control.numbers_apart import Apart, numbers_apart
from funcgrad.transforms.control.running import Run, captured_arrays, owned, scan_function
from funcgrad.transforms.control.step import Parts, Step, dependent_parts, is_linear, live_step
from funcgrad.transforms.control.updates import changed_inputs
from funcgrad.transforms.linearize import zeros_like
from funcgrad.transforms.replay import inline
from funcgrad.types import AnyPrimitive, Array, Arrays

MUCH = 4
"""How many times the arrays that a loop writes it may keep without a thought."""

MOST_ROOM = 16
"""How many times what else would be kept there may be room for: nearly all of it is never touched."""

LARGEST_ROOM = 1 << 34
"""Bytes of room beyond which a system may refuse to give memory, although it would not be touched."""


class Scan(Primitive):
    """``carry, xs, consts -> final carry, ys``: the body is applied to each row of the xs in turn.

    Inputs are the initial carry, the stacked xs and the constants of the body; results are the final carry
    and the stacked ys. With ``reverse`` the last row comes first, and ys lie where their xs do.
    """

    name = "scan"
    parameters = ("body", "n_carry", "n_xs", "length", "reverse")
    multiple = True
    decides = True
    reads_numbers = True
    body: Program
    n_carry: int
    n_xs: int
    length: int
    reverse: bool

    @classmethod
    def of(cls, step: Step, length: int, *, reverse: bool) -> Scan:
        """The scan that takes this step."""
        made: Scan = cls(step.program, step.n_carry, step.n_xs, length, reverse)
        return made

    @once
    def step(self) -> Step:
        """The body with its inputs and outputs told apart."""
        return Step(self.body, self.n_carry, self.n_xs)

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        step, length = self.step, self.length
        expected = step.parts(self.body.in_avals)
        full = [*expected.carry, *[a.with_shape((length, *a.shape)) for a in expected.xs], *expected.consts]
        if [(a.shape, a.dtype) for a in avals] != [(a.shape, a.dtype) for a in full]:
            raise ShapeError(f"scan of {listed(avals)}: {self.body.name} takes {listed(full)}")
        carry, ys = step.results(self.body.out_avals)
        if [(a.shape, a.dtype) for a in carry] != [(a.shape, a.dtype) for a in expected.carry]:
            name = self.body.name
            raise ShapeError(f"scan: {name} makes a carry {listed(carry)} of {listed(expected.carry)}")
        kept = [a if a.weak and b.weak else a.strong for a, b in zip(carry, expected.carry, strict=True)]
        return (*kept, *[a.with_shape((length, *a.shape)).strong for a in ys])

    # -- values ------------------------------------------------------------------------------------------

    @once
    def _run(self) -> Run:
        return scan_function(self.step, self.length, reverse=self.reverse)

    def evaluate(self, *values: Array) -> Arrays:
        with np.errstate(all="ignore"):
            return owned(self._run(*values), [*values, *captured_arrays(self.body)])

    # -- forward mode ------------------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        recorder = recorder_of([*primals, *tangents])
        assert recorder is not None, "a jvp rule runs on tracers"
        dots = self.step.parts(tangents)
        if keeps_forward(recorder):
            return self._jvp_together(recorder, self.step.parts(primals), dots)
        if self.apart is not None:
            return self._jvp_of_numbers(self.apart, primals, tangents)
        made = self._linear_step(recorder, self.step.parts(primals), dots.of_each(is_there))
        room = 0 if within_step() else room_to_undo(made, self.length)
        undoing: Any = CATALOG.get("undo_tangents") if room else None
        undone = undoing and undoing.differentiated(self, recorder, primals, tangents, room)
        return undone or self._jvp_apart(recorder, made, self.step.parts(primals), dots)

    @once
    def apart(self) -> Apart | None:
        """The step with small vectors of its carry as numbers, where that is better."""
        return numbers_apart(self.step)

    def _jvp_of_numbers(
        self, apart: Apart, primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Any, Any]:
        inner = Scan.of(apart.step, self.length, reverse=self.reverse)
        outs, dots = inner.jvp(apart.parted(bound, primals), apart.parted(bound, tangents))
        recorder = recorder_of(outs)
        assert recorder is not None, "a jvp rule runs on tracers"
        # An element without a tangent is a constant beside others that have one.
        full, first = list(dots), 0
        for n in apart.counts:
            group = range(first, first + max(n, 1))
            if any(dots[k] is not None for k in group):
                full[first : group.stop] = [
                    zeros_like(recorder, outs[k].aval.strong) if dots[k] is None else dots[k] for k in group
                ]
            first = group.stop
        return tuple(apart.stacked(bound, outs)), tuple(apart.stacked(bound, full))

    def _jvp_together(self, recorder: Recorder, primals: Parts[Any], tangents: Parts[Any]) -> tuple[Any, Any]:
        made = forward_step(self.step, tangents.of_each(is_there), recorder.transform)
        carry_dots = self._carry_dots(recorder, tangents, made.active.carry)
        both = Scan.of(made.step, self.length, reverse=self.reverse)
        values = [*primals.carry, *carry_dots, *primals.xs, *given(tangents.xs)]
        outs = recorder.record(both, [*values, *primals.consts, *given(tangents.consts)])
        carry, ys = made.step.results(outs)
        n, n_ys = self.n_carry, self.step.n_ys
        dots = iter([*carry[n:], *ys[n_ys:]])
        active = (*made.active.carry, *made.active_ys)
        return (*carry[:n], *ys[:n_ys]), tuple([next(dots) if a else None for a in active])

    def _jvp_apart(
        self, recorder: Recorder, made: LinearStep, primals: Parts[Any], tangents: Parts[Any]
    ) -> tuple[Any, Any]:
        outs = recorder.record(Scan.of(made.primal, self.length, reverse=self.reverse), primals.flat)
        carry, ys = self.step.results(outs)
        reads = [*[primals.xs[k] for k in made.used_xs], *[ys[k] for k in made.used_ys]]
        constant = [*given(tangents.consts), *inline(recorder, made.invariants, primals.consts)]
        if made.counters:
            reads.append(numbers_of_trips(self.length, reverse=self.reverse))
            constant += [primals.carry[k] for k in made.counters]
            constant += [primals.consts[k] for k in made.strides]
        carry_dots = self._carry_dots(recorder, tangents, made.active.carry)
        linear = Scan.of(made.linear, self.length, reverse=self.reverse)
        dots = iter(recorder.record(linear, [*carry_dots, *given(tangents.xs), *reads, *constant]))
        active = (*made.active.carry, *made.active_ys)
        return (*carry, *ys[: self.step.n_ys]), tuple([next(dots) if a else None for a in active])

    def _linear_step(self, recorder: Recorder, primals: Parts[Any], active: Parts[bool]) -> LinearStep:
        """The linear step, which keeps elements of arrays that a loop around changes, if they are fewer."""
        costly = changed_around(recorder, primals.consts)
        if not costly:
            return linear_step(self.step, active)
        arrays = sum(primals.consts[k].aval.nbytes for k in costly)
        reading = linear_step(self.step, active, costly)
        if kept(reading, self.length) <= arrays:
            return reading
        made = linear_step(self.step, active)
        return made if kept(made, self.length) + arrays < kept(reading, self.length) else reading

    def _carry_dots(self, recorder: Recorder, tangents: Parts[Any], active: Flags) -> list[Any]:
        return present(recorder, self.step.carry_avals, tangents.carry, active)

    # -- reverse mode ------------------------------------------------------------------------------------

    def dependent_results(self, flags: Flags) -> Flags:
        carry, ys = dependent_parts(self.step, self.step.parts(flags))
        return carry + ys

    def independent_part(self, flags: Flags) -> tuple[Primitive, tuple[int, ...]]:
        wanted = [not flag for flag in self.dependent_results(flags)]
        live = live_step(self.step, *self.step.results(wanted))
        places = self.step.parts(range(len(flags)))
        return Scan.of(live.step, self.length, reverse=self.reverse), live.inputs(places).flat

    def linear_in(self, flags: Flags) -> bool:
        depends = self.dependent_results(flags)
        # A part of the carry that becomes linear on the way must start so, or the whole is affine.
        return depends[: self.n_carry] == flags[: self.n_carry] and is_linear(self.body, flags, depends)

    def transpose(self, cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        return self.transpose_onto([None] * len(inputs), cotangent, *inputs)

    def transpose_onto(self, totals: Sequence[Any], cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        recorder = recorder_of(given(cotangent))
        assert recorder is not None, "a transpose rule runs on tracers"
        parts = self.step.parts(inputs)
        carry_bars, y_bars = self.step.results(cotangent)
        at_ys = tuple([() if bar is None else (is_selected(bar),) for bar in y_bars])
        marks = Bars(tuple([mark_of(bar) for bar in carry_bars]), at_ys)
        made = transposed_step(self.step, parts.of_each(is_linear_input), marks)
        fixed = not_flagged(parts, made.linear)
        reads = [y for y, flag in zip(y_bars, made.linear_ys, strict=True) if flag and y is not None]
        reads += self._saved(recorder, made, fixed)
        reads += [fixed.xs[k] for k in made.used_xs]
        constant = [fixed.consts[k] for k in made.used_consts]
        constant += inline(recorder, made.invariants, fixed.consts)
        reached = self.step.parts(totals)
        starts = self._starts(recorder, made, carry_bars, reached.consts)
        backward = Scan.of(made.backward, self.length, reverse=not self.reverse)
        outs = iter(recorder.record(backward, [*starts, *reads, *constant]))
        carry = [None if bar is None else next(outs) for bar in made.bars.carry]
        consts = [
            total if bar is None else next(outs)
            for bar, total in zip(made.bars.consts, reached.consts, strict=True)
        ]
        xs = [None if bar is None else next(outs) for bar in made.bars.xs]
        carry = [added(a, b) for a, b in zip(reached.carry, carry, strict=True)]
        xs = [added(a, b) for a, b in zip(reached.xs, xs, strict=True)]
        found = [*carry, *xs, *consts]
        return tuple([bar if isinstance(x, Linear) else None for x, bar in zip(inputs, found, strict=True)])

    def _saved(self, recorder: Recorder, made: TransposedStep, fixed: Parts[Any]) -> list[Any]:
        """What the backward step must know of each trip, from a scan without the linear part."""
        if not made.n_saved:
            return []
        n_ys = made.forward.n_ys
        wanted = tuple([k >= n_ys - made.n_saved for k in range(n_ys)])
        live = live_step(made.forward, (False,) * made.forward.n_carry, wanted)
        part = Scan.of(live.step, self.length, reverse=self.reverse)
        outs = recorder.record(part, live.inputs(fixed).flat)
        return list(outs[live.step.n_carry :])

    def _starts(
        self, recorder: Recorder, made: TransposedStep, carry_bars: Sequence[Any], totals: Sequence[Any]
    ) -> list[Any]:
        """The cotangents of the final carry, and what the sums over trips begin with."""
        there = tuple([m is not None for m in made.bars.carry])
        starts = present(recorder, self.step.carry_avals, carry_bars, there)
        avals = self.step.parts(self.body.in_avals).consts
        summed = zip(avals, totals, made.bars.consts, strict=True)
        return starts + [
            zeros_like(recorder, a.strong) if total is None else total
            for a, total, mark in summed
            if mark is not None
        ]

    # -- batching ----------------------------------------------------------------------------------------

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        made = batched_step(self.step, size, self.step.parts(batched))
        parts, flags = self.step.parts(inputs), self.step.parts(batched)
        carry = [
            with_axis(x, size) if want and not flag else x
            for x, want, flag in zip(parts.carry, made.carry, flags.carry, strict=True)
        ]
        # The axis of the trips comes first in a scan.
        xs = [move_axis(x, 0, 1) if flag else x for x, flag in zip(parts.xs, flags.xs, strict=True)]
        recorder = recorder_of(inputs)
        assert recorder is not None, "a batching rule runs on tracers"
        outs = recorder.record(
            Scan.of(made.step, self.length, reverse=self.reverse), [*carry, *xs, *parts.consts]
        )
        carry_out, ys = made.step.results(outs)
        moved = [move_axis(y, 1, 0) if flag else y for y, flag in zip(ys, made.ys, strict=True)]
        return (*carry_out, *moved), (*made.carry, *made.ys)

    # -- samples -----------------------------------------------------------------------------------------

    @classmethod
    def samples(cls) -> Sequence[Any]:
        xs = fixed(np.array([[0.3, -0.7], [1.1, 0.2], [-0.4, 0.9]]))
        start, scale = fixed(np.array([0.5, -0.2])), fixed(np.float64(0.8))
        rows_read = {"n_carry": 1, "n_xs": 1, "length": 3}
        empty = fixed(np.zeros((0, 2)))
        return (
            Sample(start, xs, scale, params={"body": _driven(), **rows_read, "reverse": False}),
            Sample(start, xs, scale, params={"body": _driven(), **rows_read, "reverse": True}),
            Sample(start, xs, scale, params={"body": _summing(), **rows_read, "reverse": False}),
            Sample(
                start,
                empty,
                scale,
                params={"body": _driven(), "n_carry": 1, "n_xs": 1, "length": 0, "reverse": False},
            ),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"body": _driven(), "n_carry": 1, "n_xs": 1, "length": 3, "reverse": False}
        return (
            ErrorSample(
                fixed(np.zeros(2)),
                fixed(np.zeros((4, 2))),
                fixed(np.float64(1.0)),
                params=params,
                words="driven takes f64[2], f64[3,2] and f64[]",
                error=ShapeError,
            ),
        )


def room_to_undo(made: LinearStep, trips: int) -> int:
    """How much room may be made to undo writes instead, in bytes; zero where little is kept as it is."""
    step = made.primal
    changed = changed_inputs(step.program)[: step.n_carry]
    written = [a for k, a in enumerate(step.carry_avals) if a.shape and changed[k] is not None]
    keeping = kept(made, trips)
    if keeping <= MUCH * sum(a.nbytes for a in written) or not written:
        return 0
    # A loop in it may keep one for each of its own trips.
    whole = any(
        a.shape == b.shape[b.ndim - a.ndim :] and a.dtype == b.dtype and b.ndim >= a.ndim
        for a in written
        for b in step.y_avals
    )
    return min(MOST_ROOM * keeping if whole else keeping // 4, LARGEST_ROOM)


def numbers_of_trips(length: int, *, reverse: bool) -> np.ndarray[Any, Any]:
    """For each row the number of the trip that it belongs to; it cannot be changed."""
    rows = np.arange(length)
    rows = rows[::-1].copy() if reverse else rows
    rows.setflags(write=False)
    return rows


def bound(primitive: AnyPrimitive, *inputs: Array) -> Array:
    """What a primitive makes of arrays."""
    return primitive.bind(*inputs)


def is_there(x: object) -> bool:
    """Whether a tangent is not None."""
    return x is not None


def is_linear_input(x: object) -> bool:
    """Whether an input of a transpose rule is linear."""
    return isinstance(x, Linear)


_VECTOR = Aval((2,), np.float64)
_SCALAR = Aval((), np.float64)


def _driven() -> Program:
    """``h, x, s -> sin(h * s + x), h * x``"""
    h, x, s = Var(_VECTOR), Var(_VECTOR), Var(_SCALAR)
    a, b, c, y = Var(_VECTOR), Var(_VECTOR), Var(_VECTOR), Var(_VECTOR)
    equations = (
        Equation(mul, (h, s), (a,)),
        Equation(add, (a, x), (b,)),
        Equation(sin, (b,), (c,)),
        Equation(mul, (h, x), (y,)),
    )
    return Program((h, x, s), (), equations, (c, y), "driven")


def _summing() -> Program:
    """``total, x, s -> total + x * s, x``: linear in all but one of its inputs"""
    total, x, s = Var(_VECTOR), Var(_VECTOR), Var(_SCALAR)
    term, after = Var(_VECTOR), Var(_VECTOR)
    equations = (Equation(mul, (x, s), (term,)), Equation(add, (total, term), (after,)))
    return Program((total, x, s), (), equations, (after, x), "summing")
