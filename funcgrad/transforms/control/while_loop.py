"""`while_loop`, and the sweeps over its trips that its derivatives are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Literal, Program, Var
from funcgrad.ops.elementwise.arithmetic import add, mul
from funcgrad.ops.elementwise.comparison import less
from funcgrad.ops.elementwise.elementary import sin
from funcgrad.ops.families import added, listed
from funcgrad.shared import once
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.recorder import Recorder, recorder_of
from funcgrad.tracing.samples import ErrorSample, Sample, fixed
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.control.backward import mark_of
from funcgrad.transforms.control.batched import with_axis
from funcgrad.transforms.control.forward import (
    LinearStep,
    changed_around,
    given,
    keeps_forward,
    linear_step,
    present,
    within_step,
)
from funcgrad.transforms.control.running import Run, captured_arrays, owned, sweeps_function
from funcgrad.transforms.control.step import Parts, chosen, is_linear, needed_inputs, positions
from funcgrad.transforms.control.sweeps import Inputs, Sweep, Sweeps, live_sweeps
from funcgrad.transforms.control.sweeps_backward import TransposedSweeps, linear_carries, transposed_sweeps
from funcgrad.transforms.control.sweeps_batched import batched_sweeps
from funcgrad.transforms.control.sweeps_forward import forward_sweeps
from funcgrad.transforms.control.tapeless.ahead import carried_ahead
from funcgrad.transforms.control.tapeless.bounded import Apart, is_worth_it, most_trips, taken_apart
from funcgrad.transforms.linearize import zeros_like
from funcgrad.transforms.replay import inline
from funcgrad.types import Array, Arrays


class Loop(Primitive):
    """What `while_loop` and the sweeps over its trips share: every rule."""

    multiple = True
    decides = True

    @property
    def loop(self) -> Sweeps:
        """The condition, the sweeps and the results."""
        raise NotImplementedError

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        loop = self.loop
        expected = loop.in_avals
        if [(a.shape, a.dtype) for a in avals] != [(a.shape, a.dtype) for a in expected]:
            raise ShapeError(f"{self.name} of {listed(avals)}: {self._body_name} takes {listed(expected)}")
        decides = loop.cond.out_avals
        if tuple([a.strong for a in decides]) != (_BOOL,):
            raise ShapeError(f"{self.name}: {loop.cond.name} returns {listed(decides)}, not {_BOOL}")
        carry = [a for sweep in loop.sweeps for a in sweep.program.out_avals[: sweep.n_carry]]
        before = loop.carry_avals
        if [(a.shape, a.dtype) for a in carry] != [(a.shape, a.dtype) for a in before]:
            raise ShapeError(f"{self.name}: {self._body_name} makes {listed(carry)} of {listed(before)}")
        kept = [a if a.weak and b.weak else a.strong for a, b in zip(carry, before, strict=True)]
        return tuple([kept[r] for r in loop.results])

    @property
    def _body_name(self) -> str:
        return self.loop.sweeps[0].program.name

    # -- values ------------------------------------------------------------------------------------------

    @once
    def _run(self) -> Run:
        return sweeps_function(self.loop)

    def evaluate(self, *values: Array) -> Arrays:
        held = captured_arrays(*[sweep.program for sweep in self.loop.sweeps])
        with np.errstate(all="ignore"):
            return owned(self._run(*values), [*values, *held])

    # -- forward mode ------------------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        recorder = recorder_of([*primals, *tangents])
        assert recorder is not None, "a jvp rule runs on tracers"
        loop = self.loop
        values, dots = loop.inputs(primals), loop.inputs(tangents)
        together = keeps_forward(recorder)
        active = loop.inputs([t is not None for t in tangents])
        # Apart, the tangents may yet be transposed, and must not come out of one equation with values.
        made = forward_sweeps(loop, active, recorder.transform if together else "linearize")
        carries, consts = [], []
        for sweep, x, t, a in zip(
            loop.sweeps, values.carries, dots.carries, made.active.carries, strict=True
        ):
            carries.append((*x, *present(recorder, sweep.step.carry_avals, t, a)))
        for x, t in zip(values.consts, dots.consts, strict=True):
            consts.append((*x, *given(t)))
        inputs = Inputs(tuple(carries), values.cond, tuple(consts)).flat
        if together:
            outs = recorder.record(primitive_of(made.loop), inputs)
            return tuple([outs[r] for r in made.values]), pick(outs, made.dots)
        places = [place for place in made.dots if place is not None]
        found = iter(record_live(recorder, made.loop._replace(results=tuple(places)), inputs))
        out_dots = tuple([None if place is None else next(found) for place in made.dots])
        return recorder.record(self, primals), out_dots

    # -- reverse mode ------------------------------------------------------------------------------------

    def dependent_results(self, flags: Flags) -> Flags:
        loop = self.loop
        linear = [flag for carry in linear_carries(loop, loop.inputs(flags))[0] for flag in carry]
        return tuple([linear[r] for r in loop.results])

    def independent_part(self, flags: Flags) -> tuple[Primitive, tuple[int, ...]]:
        depends = self.dependent_results(flags)
        wanted = [r for r, flag in zip(self.loop.results, depends, strict=True) if not flag]
        live = live_sweeps(self.loop._replace(results=tuple(wanted)))
        return primitive_of(live.loop), live.inputs

    def linear_in(self, flags: Flags) -> bool:
        loop = self.loop
        parts = loop.inputs(flags)
        carries, tapes = linear_carries(loop, parts)
        # A carry that becomes linear on the way must start so, or the whole is affine.
        if tuple(carries) != parts.carries:
            return False
        deciding = needed_inputs(loop.cond, (True,))
        if any(a and b for a, b in zip(deciding, (*carries[0], *parts.cond), strict=True)):
            return False
        for sweep, carry, consts, written in zip(
            loop.sweeps, carries, parts.consts, loop.tapes(), strict=True
        ):
            heads = (*carry, *[tapes[t] for t in sweep.reads], *consts)
            if not is_linear(sweep.program, heads, (*carry, *[tapes[t] for t in written])):
                return False
        return True

    def transpose(self, cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        return self.transpose_onto([None] * len(inputs), cotangent, *inputs)

    def transpose_onto(self, totals: Sequence[Any], cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        recorder = recorder_of(given(cotangent))
        assert recorder is not None, "a transpose rule runs on tracers"
        loop = self.loop
        linear = loop.inputs([isinstance(x, Linear) for x in inputs])
        made = transposed_sweeps(loop, linear, [mark_of(bar) for bar in cotangent])
        fixed = fixed_inputs(made, loop.inputs(inputs))
        bars: dict[int, Any] = dict(zip(loop.results, cotangent, strict=True))
        carries, consts = list(fixed.carries), list(fixed.consts)
        reached = loop.inputs(totals)
        stop = len(loop.carry_avals)
        rows = zip(loop.sweeps, made.steps, fixed.consts, reached.consts, strict=True)
        for sweep, step, const, sums in reversed(list(rows)):
            start = stop - sweep.n_carry
            there = [m is not None for m in step.bars.carry]
            final = present(
                recorder, sweep.step.carry_avals, [bars.get(r) for r in range(start, stop)], there
            )
            avals = sweep.step.parts(sweep.program.in_avals).consts
            starts = [
                zeros_like(recorder, a.strong) if total is None else total
                for a, total, mark in zip(avals, sums, step.bars.consts, strict=True)
                if mark is not None
            ]
            carries.append((*final, *starts))
            invariants = inline(recorder, step.invariants, const)
            consts.append((*[const[k] for k in step.used_consts], *invariants))
            stop = start
        flat = Inputs(tuple(carries), fixed.cond, tuple(consts)).flat
        return self._cotangents(recorder, made, inputs, flat, reached)

    def _cotangents(
        self,
        recorder: Recorder,
        made: TransposedSweeps,
        inputs: Sequence[Any],
        flat: Sequence[Any],
        reached: Inputs[Any],
    ) -> tuple[Any, ...]:
        """Record the transposed sweeps; returns a cotangent for every linear input that has one.

        What has `reached` the consts is in the sums already, and is added for the carries.
        """
        parts = self.loop.inputs(inputs)
        n_fixed = sum(sweep.n_carry for sweep in made.loop.sweeps[: len(made.steps)])
        count = len(made.loop.results)
        found = iter(
            record_live(recorder, made.loop._replace(results=tuple(range(n_fixed, count))), flat)
            if count > n_fixed
            else ()
        )
        carries: list[Any] = []
        consts: list[Any] = []
        for step in reversed(made.steps):
            carries[:0] = [None if m is None else next(found) for m in step.bars.carry]
            consts[:0] = [None if m is None else next(found) for m in step.bars.consts]
        totals = [total for part in reached.carries for total in part]
        carries = [added(total, bar) for total, bar in zip(totals, carries, strict=True)]
        sums = [total for part in reached.consts for total in part]
        consts = [total if bar is None else bar for total, bar in zip(sums, consts, strict=True)]
        bars = [*carries, *[None] * len(parts.cond), *consts]
        return tuple([bar if isinstance(x, Linear) else None for x, bar in zip(inputs, bars, strict=True)])

    # -- batching ----------------------------------------------------------------------------------------

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        recorder = recorder_of(inputs)
        assert recorder is not None, "a batching rule runs on tracers"
        loop = self.loop
        made = batched_sweeps(loop, size, loop.inputs(batched))
        flags, parts = loop.inputs(batched), loop.inputs(inputs)
        carries = [
            tuple(
                [with_axis(x, size) if want and not flag else x for x, want, flag in zip(*row, strict=True)]
            )
            for row in zip(parts.carries, made.carries, flags.carries, strict=True)
        ]
        out_flags = tuple([made.results[r] for r in loop.results])
        if made.goes_on is None:
            values = Inputs(tuple(carries), parts.cond, parts.consts).flat
            return recorder.record(primitive_of(made.loop), values), out_flags
        (mask,) = inline(recorder, made.goes_on, [*carries[0], *parts.cond])
        carries[0] = (mask, *carries[0])
        consts = ((*parts.cond, *parts.consts[0]), *parts.consts[1:])
        values = Inputs(tuple(carries), (), consts).flat
        wanted = made.loop._replace(results=(0, *made.loop.results))
        return record_live(recorder, wanted, values)[1:], out_flags


class WhileLoop(Loop):
    """``carry -> final carry``: the body is applied while the condition holds.

    Inputs are the initial carry, the constants of the condition and those of the body.
    """

    name = "while_loop"
    parameters = ("cond", "body")
    cond: Program
    body: Program

    @once
    def loop(self) -> Sweeps:
        n = len(self.body.outputs)
        return Sweeps(self.cond, (Sweep(self.body, n, (), False),), tuple(range(n)))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        recorder = recorder_of([*primals, *tangents])
        assert recorder is not None, "a jvp rule runs on tracers"
        (sweep,) = self.loop.sweeps
        found = None if keeps_forward(recorder) else self._jvp_ahead(recorder, primals, tangents)
        if found is not None:
            return found
        apart = within_step() and not keeps_forward(recorder)
        most = most_trips(sweep.step) if apart else None
        if most is None:
            return super().jvp(primals, tangents)
        dots = self.loop.inputs(tangents)
        parts = Parts(dots.carries[0], (), dots.consts[0])
        costly = changed_around(recorder, self.loop.inputs(primals).consts[0])
        made = linear_step(sweep.step, parts.of_each(lambda t: t is not None), costly)
        if not is_worth_it(made, most, costly):
            return super().jvp(primals, tangents)
        return self._jvp_apart(recorder, taken_apart(self.cond, made, most), made, primals, parts)

    def _jvp_ahead(
        self, recorder: Recorder, primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Any, Any] | None:
        """One loop for the values and their derivatives, and products of these with the tangents."""
        ahead = carried_ahead(recorder, self.loop, self.loop.inputs(tangents))
        if ahead is None:
            return None
        values = self.loop.inputs(primals)
        carry = (*values.carries[0], *ahead.starts(recorder))
        outs = recorder.record(primitive_of(ahead.loop), values._replace(carries=(carry,)).flat)
        return tuple(outs[: len(values.carries[0])]), ahead.tangents(outs)

    def _jvp_apart(
        self, recorder: Recorder, apart: Apart, made: LinearStep, primals: Sequence[Any], dots: Parts[Any]
    ) -> tuple[Any, Any]:
        """The loop, which leaves arrays of what its trips keep, and its linear part, which reads them."""
        values = self.loop.inputs(primals)
        (carry,), (consts,) = values.carries, values.consts
        zero = Tracer(recorder, recorder.literal(0, np.dtype(np.int64), weak=False), Aval((), np.int64))
        rows = [zeros_like(recorder, a) for a in apart.rows]
        inputs = Inputs(((zero, *carry, *rows),), values.cond, (consts,)).flat
        count, *outs = recorder.record(primitive_of(apart.filling), inputs)
        after, filled = outs[: len(carry)], outs[len(carry) :]
        constant = [filled[k] for k in made.used_ys] + given(dots.consts)
        constant += inline(recorder, made.invariants, consts)
        constant += [carry[k] for k in made.counters] + [consts[k] for k in made.strides]
        carry_dots = present(recorder, made.primal.carry_avals, dots.carry, made.active.carry)
        inputs = Inputs(((zero,), tuple(carry_dots)), (count,), ((), tuple(constant))).flat
        found = iter(recorder.record(primitive_of(apart.linear), inputs))
        return tuple(after), tuple([next(found) if a else None for a in made.active.carry])

    def needed_part(self, needed: Flags) -> tuple[Primitive, tuple[int, ...], tuple[int, ...]] | None:
        live = live_sweeps(self.loop._replace(results=positions(needed)))
        (sweep,) = live.loop.sweeps
        if sweep.n_carry == len(needed):
            return None
        return WhileLoop(live.loop.cond, sweep.program), live.inputs, live.inputs[: sweep.n_carry]

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(_ZERO, _START, fixed(3.5), _SCALE, params={"cond": _below(), "body": _turning()}),
            Sample(_ZERO, _START, fixed(-1.0), _SCALE, params={"cond": _below(), "body": _turning()}),
            Sample(_ZERO, _START, fixed(2.5), _SCALE, params={"cond": _below(), "body": _growing()}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"cond": _below(), "body": _turning()}
        return (
            ErrorSample(
                _ZERO,
                fixed(np.zeros(3)),
                fixed(1.0),
                _SCALE,
                params=params,
                words="turning takes f64[], f64[2], f64[] and f64[]",
                error=ShapeError,
            ),
        )


class WhileSweeps(Loop):
    """A loop while a condition holds, and further sweeps over its trips, which read what earlier ones wrote.

    The first sweep is the loop. The others visit the same trips, in either direction. Inputs are the initial
    carries of all sweeps, the constants of the condition, and those of the sweeps; of the final carries those
    in ``results`` are returned.
    """

    name = "while_sweeps"
    parameters = ("cond", "sweeps", "results")
    cond: Program
    sweeps: tuple[tuple[Program, int, tuple[int, ...], bool], ...]
    """What a `Sweep` holds, as plain tuples: they print as what they are."""
    results: tuple[int, ...]

    @once
    def loop(self) -> Sweeps:
        return Sweeps(self.cond, tuple([Sweep(*sweep) for sweep in self.sweeps]), self.results)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        body = _turning()
        ys = body.equations[-2].outputs
        writing = Program(body.inputs, (), body.equations, (*body.outputs, *ys), body.name)
        sweeps = ((writing, 2, (), False), (_summing_back(), 1, (0,), True))
        inputs = (_ZERO, _START, fixed(np.array([0.1, 0.7])), fixed(2.5), _SCALE, fixed(np.float64(0.6)))
        return (
            Sample(*inputs, params={"cond": _below(), "sweeps": sweeps, "results": (1, 2)}),
            Sample(*inputs, params={"cond": _below(), "sweeps": sweeps, "results": (2,)}),
        )


def primitive_of(loop: Sweeps) -> Loop:
    """The primitive for these sweeps."""
    (first, *others) = loop.sweeps
    if not others and not first.step.n_ys and loop.results == tuple(range(first.n_carry)):
        made: Loop = WhileLoop(loop.cond, first.program)
        return made
    sweeps: Loop = WhileSweeps(loop.cond, tuple([tuple(sweep) for sweep in loop.sweeps]), loop.results)
    return sweeps


def record_live(recorder: Recorder, loop: Sweeps, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Record what the results of the sweeps need."""
    live = live_sweeps(loop)
    outs: tuple[Any, ...] = recorder.record(primitive_of(live.loop), [inputs[k] for k in live.inputs])
    return outs


def pick(outs: Sequence[Any], places: Sequence[int | None]) -> tuple[Any, ...]:
    """The results at these places, None where there is none."""
    return tuple([None if place is None else outs[place] for place in places])


def fixed_inputs(made: TransposedSweeps, inputs: Inputs[Any]) -> Inputs[Any]:
    """The inputs of the sweeps without what is linear."""
    carries = [
        tuple(chosen(x, [not f for f in step.linear.carry]))
        for x, step in zip(inputs.carries, made.steps, strict=True)
    ]
    consts = [
        tuple(chosen(x, [not f for f in step.linear.consts]))
        for x, step in zip(inputs.consts, made.steps, strict=True)
    ]
    return Inputs(tuple(carries), inputs.cond, tuple(consts))


_BOOL = Aval((), np.dtype(np.bool_))
_VECTOR = Aval((2,), np.float64)
_SCALAR = Aval((), np.float64)
_ZERO = fixed(np.float64(0.0))
_START = fixed(np.array([0.5, -0.2]))
_SCALE = fixed(np.float64(0.8))


def _below() -> Program:
    """``i, h, stop -> i < stop``"""
    i, h, stop, out = Var(_SCALAR), Var(_VECTOR), Var(_SCALAR), Var(_BOOL)
    return Program((i, h, stop), (), (Equation(less, (i, stop), (out,)),), (out,), "below")


def _turning() -> Program:
    """``i, h, s -> i + 1, sin(h * s) + i``"""
    i, h, s, after = Var(_SCALAR), Var(_VECTOR), Var(_SCALAR), Var(_SCALAR)
    a, b, c = Var(_VECTOR), Var(_VECTOR), Var(_VECTOR)
    one = Literal(np.float64(1.0), _SCALAR)
    equations = (
        Equation(add, (i, one), (after,)),
        Equation(mul, (h, s), (a,)),
        Equation(sin, (a,), (b,)),
        Equation(add, (b, i), (c,)),
    )
    return Program((i, h, s), (), equations, (after, c), "turning")


def _growing() -> Program:
    """``i, h, s -> i + 1, h * s``: linear in what is carried"""
    i, h, s, after, out = Var(_SCALAR), Var(_VECTOR), Var(_SCALAR), Var(_SCALAR), Var(_VECTOR)
    one = Literal(np.float64(1.0), _SCALAR)
    equations = (Equation(add, (i, one), (after,)), Equation(mul, (h, s), (out,)))
    return Program((i, h, s), (), equations, (after, out), "growing")


def _summing_back() -> Program:
    """``total, x, s -> total * s + x``"""
    total, x, s, a, out = Var(_VECTOR), Var(_VECTOR), Var(_SCALAR), Var(_VECTOR), Var(_VECTOR)
    equations = (Equation(mul, (total, s), (a,)), Equation(add, (a, x), (out,)))
    return Program((total, x, s), (), equations, (out,), "summing_back")
