"""`cond`: one of several Programs runs, chosen by a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.arrays.structure import broadcast
from funcgrad.ops.elementwise.arithmetic import mul
from funcgrad.ops.elementwise.comparison import equal, less_equal
from funcgrad.ops.elementwise.elementary import sin
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import aval, listed
from funcgrad.shared import once
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.recorder import Recorder, recorder_of
from funcgrad.tracing.samples import ErrorSample, Sample, fixed
from funcgrad.transforms.batching import record_batched
from funcgrad.transforms.control.backward import mark_of
from funcgrad.transforms.control.batched import with_axis
from funcgrad.transforms.control.branches import (
    batched_branches,
    forward_branches,
    linear_branches,
    transposed_branches,
    union,
)
from funcgrad.transforms.control.forward import given, is_there_later, keeps_forward
from funcgrad.transforms.control.masking import masked
from funcgrad.transforms.control.running import Run, body_function, captured_arrays, owned
from funcgrad.transforms.control.step import (
    dependent_outputs,
    is_linear,
    needed_inputs,
    positions,
    with_inputs,
    with_outputs,
)
from funcgrad.transforms.control.updates import changed_operands
from funcgrad.types import Array, Arrays, Number


class Cond(Primitive):
    """``index, operands -> results`` of the branch at the index, which is clamped to the branches there are.

    A boolean index chooses the first branch where it is False and the second where it is True.
    """

    name = "cond"
    parameters = ("branches",)
    multiple = True
    decides = True
    branches: tuple[Program, ...]

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        index, *operands = avals
        if index.shape or index.dtype.kind not in "biu":
            raise DtypeError(f"cond chooses by a scalar boolean or integer, got {index}")
        seen = [(a.shape, a.dtype) for a in operands]
        results = [(a.shape, a.dtype) for a in self.branches[0].out_avals]
        for branch in self.branches:
            if [(a.shape, a.dtype) for a in branch.in_avals] != seen:
                raise ShapeError(f"cond of {listed(operands)}: {branch.name} takes {listed(branch.in_avals)}")
            if [(a.shape, a.dtype) for a in branch.out_avals] != results:
                found, wanted = listed(branch.out_avals), listed(self.branches[0].out_avals)
                raise ShapeError(f"cond: {branch.name} returns {found}, {self.branches[0].name} {wanted}")
        columns = zip(*[branch.out_avals for branch in self.branches], strict=True)
        return tuple([column[0] if all(a.weak for a in column) else column[0].strong for column in columns])

    @once
    def _run(self) -> list[Run | None]:
        return [None] * len(self.branches)

    def evaluate(self, *values: Array) -> tuple[Any, ...]:
        k = min(max(int(values[0]), 0), len(self.branches) - 1)
        run = self._run[k]
        if run is None:
            run = self._run[k] = body_function(self.branches[k])
        return owned(run(*values[1:]), [*values, *captured_arrays(self.branches[k])])

    # -- derivatives -------------------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        recorder = recorder_of([*primals, *tangents])
        assert recorder is not None, "a jvp rule runs on tracers"
        index, *operands = primals
        active = tuple([t is not None for t in tangents[1:]])
        n = len(self.branches[0].outputs)
        if keeps_forward(recorder):
            both = forward_branches(self.branches, active, recorder.transform)
            outs = recorder.record(Cond(both.branches), [*primals, *given(tangents)])
            dotted, dots = both.dotted, iter(outs[n:])
        else:
            made = linear_branches(self.branches, active, [is_there_later(recorder, x) for x in operands])
            outs = recorder.record(Cond(made.primal), primals)
            reads = [*outs[n:], *[operands[k] for k in made.used]]
            dotted = made.dotted
            dots = iter(recorder.record(Cond(made.linear), [index, *reads, *given(tangents)]))
        return outs[:n], tuple([next(dots) if flag else None for flag in dotted])

    def dependent_results(self, flags: Flags) -> Flags:
        if flags[0]:
            return (True,) * len(self.branches[0].outputs)
        return union([dependent_outputs(branch, flags[1:]) for branch in self.branches])

    def independent_part(self, flags: Flags) -> tuple[Primitive, tuple[int, ...]]:
        wanted = [not flag for flag in self.dependent_results(flags)]
        parts = [with_outputs(branch, wanted) for branch in self.branches]
        needed = positions(union([needed_inputs(branch, (True,) * sum(wanted)) for branch in parts]))
        part: Primitive = Cond(tuple([with_inputs(branch, needed) for branch in parts]))
        return part, (0, *[k + 1 for k in needed])

    def linear_in(self, flags: Flags) -> bool:
        depends = self.dependent_results(flags)
        return not flags[0] and all(is_linear(branch, flags[1:], depends) for branch in self.branches)

    def transpose(self, cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        return self.transpose_onto([None] * len(inputs), cotangent, *inputs)

    def transpose_onto(self, totals: Sequence[Any], cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        recorder = recorder_of(given(cotangent))
        assert recorder is not None, "a transpose rule runs on tracers"
        index, *operands = inputs
        reached = totals[1:]
        linear = tuple([isinstance(x, Linear) for x in operands])
        summed = tuple([total is not None for total in reached])
        made = transposed_branches(self.branches, linear, [mark_of(bar) for bar in cotangent], summed)
        reads = [operands[k] for k in made.used]
        reads += [total for total, bar in zip(reached, made.bars, strict=True) if bar and total is not None]
        found = iter(recorder.record(Cond(made.branches), [index, *reads, *given(cotangent)]))
        return (None, *[next(found) if bar else total for bar, total in zip(made.bars, reached, strict=True)])

    # -- batching ----------------------------------------------------------------------------------------

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        recorder = recorder_of(inputs)
        assert recorder is not None, "a batching rule runs on tracers"
        index, *operands = inputs
        if not batched[0]:
            made = batched_branches(self.branches, size, batched[1:])
            return recorder.record(Cond(made.branches), inputs), made.results
        return self._batch_of_choices(recorder, size, index, operands, list(batched[1:])), True

    def _batch_of_choices(
        self, recorder: Recorder, size: int, index: Array, operands: list[Any], flags: list[bool]
    ) -> tuple[Any, ...]:
        """All branches, one after the other: an array that each changes in parts goes through all of them."""
        changed = changed_operands(self.branches)
        places = [k for k in changed if k is not None]
        for place in places:
            operands[place] = operands[place] if flags[place] else with_axis(operands[place], size)
            flags[place] = True
        results = []
        for number, branch in enumerate(self.branches):
            mask = chosen_here(index, number, len(self.branches))
            inputs = [*operands, mask]
            made = masked(branch, places, flags)
            outs, has_axis = record_batched(recorder, made, size, inputs, [*flags, True])
            wide = [x if flag else with_axis(x, size) for x, flag in zip(outs, has_axis, strict=True)]
            for place, k in enumerate(changed):
                if k is not None:
                    operands[k] = wide[place]
            results.append(wide)
        *others, selected = results
        for number, outs in reversed(list(enumerate(others))):
            here = less_equal(index, index.aval.dtype.type(number))
            selected = [
                operands[k] if k is not None else chosen_where(here, x, y)
                for x, y, k in zip(outs, selected, changed, strict=True)
            ]
        return tuple(selected)

    # -- samples -----------------------------------------------------------------------------------------

    @classmethod
    def samples(cls) -> Sequence[Any]:
        vector, scale = fixed(np.array([0.5, -0.2])), fixed(np.float64(0.8))
        both = {"branches": (_scaling(), _waving())}
        three = {"branches": (_waving(), _scaling(), _ignoring())}
        return (
            Sample(fixed(np.bool_(True)), vector, scale, params=both),
            Sample(fixed(np.bool_(False)), vector, scale, params=both),
            Sample(fixed(np.int64(2)), vector, scale, params=three),
            Sample(fixed(np.int32(-5)), vector, scale, params=three),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        vector, scale = fixed(np.array([0.5, -0.2])), fixed(np.float64(0.8))
        both = {"branches": (_scaling(), _waving())}
        return (
            ErrorSample(scale, vector, scale, params=both, words="scalar boolean", error=DtypeError),
            ErrorSample(fixed(np.bool_(True)), scale, scale, params=both, words="takes", error=ShapeError),
        )


def chosen_here(index: Number, number: int, count: int) -> Array:
    """In which examples the index chooses a branch, clamped to those there are."""
    kind = index.aval.dtype.type
    if count == 1:
        return less_equal(index, index) if index.aval.dtype.kind != "b" else index | ~index
    if number == 0:
        return less_equal(index, kind(0))
    if number == count - 1:
        return ~less_equal(index, kind(number - 1))
    return equal(index, kind(number))


def chosen_where(here: object, x: object, y: object) -> Array:
    """`x` in the examples where `here` is set, else `y`."""
    return where(broadcast(here, aval(x).shape, (0,)), x, y)


_VECTOR = Aval((2,), np.float64)
_SCALAR = Aval((), np.float64)


def _scaling() -> Program:
    """``x, s -> x * s, s``"""
    x, s, out = Var(_VECTOR), Var(_SCALAR), Var(_VECTOR)
    return Program((x, s), (), (Equation(mul, (x, s), (out,)),), (out, s), "scaling")


def _waving() -> Program:
    """``x, s -> sin(sin(x) * s), sin(s)``"""
    x, s, a, b, c, d = Var(_VECTOR), Var(_SCALAR), Var(_VECTOR), Var(_VECTOR), Var(_VECTOR), Var(_SCALAR)
    equations = (
        Equation(sin, (x,), (a,)),
        Equation(mul, (a, s), (b,)),
        Equation(sin, (b,), (c,)),
        Equation(sin, (s,), (d,)),
    )
    return Program((x, s), (), equations, (c, d), "waving")


def _ignoring() -> Program:
    """``x, s -> x, s * s``"""
    x, s, out = Var(_VECTOR), Var(_SCALAR), Var(_SCALAR)
    return Program((x, s), (), (Equation(mul, (s, s), (out,)),), (x, out), "ignoring")
