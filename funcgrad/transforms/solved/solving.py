"""`solved`: one equation for whatever a solver outside of the Program finds.

Owns the call of the solver, typing, and batches: a batch is a loop over its examples, since a solver takes a
number of steps that depends on the numbers. What the derivative is says the method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.elementwise.arithmetic import mul, sub
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.samples import Sample, fixed, uniform
from funcgrad.transforms.batching import batch_program
from funcgrad.transforms.replay import as_tracer, inline, inputs_of, transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.solved.implicit import NewtonRoot
from funcgrad.transforms.solved.method import Method
from funcgrad.types import AnyPrimitive, Anything, Array

Lanes = tuple[tuple[int, Flags], ...]
"""Batch axes, the innermost first: the size, and which inputs have the axis."""


class Solved(Primitive):
    """What the method finds for its Programs and inputs, in each example of the batch axes in `lanes`."""

    name = "solved"
    not_exported = "its steps are SciPy's, which calls functions of Python with values"
    parameters = ("method", "programs", "lanes")
    multiple = True
    method: Method
    programs: tuple[Program, ...]
    lanes: Lanes

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        results = self.method.results(self.programs, self._example_avals(avals))
        for size, _ in self.lanes:
            results = tuple([a.with_shape((size, *a.shape)) for a in results])
        return results

    def _example_avals(self, avals: Sequence[Aval]) -> tuple[Aval, ...]:
        for _, flags in reversed(self.lanes):
            avals = [a.with_shape(a.shape[1:]) if f else a for a, f in zip(avals, flags, strict=True)]
        return tuple(avals)

    def evaluate(self, *values: Array) -> tuple[Any, ...]:
        avals = tuple([Aval(np.shape(x), np.asarray(x).dtype) for x in values])
        results = self.method.results(self.programs, self._example_avals(avals))
        return self._found(self.lanes, values, results)

    def _found(self, lanes: Lanes, values: Sequence[Any], results: Sequence[Aval]) -> tuple[Any, ...]:
        if not lanes:
            found = self.method.solve(self.programs, values)
            return tuple([of_aval(x, a) for x, a in zip(found, results, strict=True)])
        size, flags = lanes[-1]
        if len(lanes) == 1:
            together = self.method.solve_many(self.programs, values, size, flags)
            if together is not None:
                return tuple([np.asarray(x).astype(a.dtype) for x, a in zip(together, results, strict=True)])
        rows = [
            self._found(lanes[:-1], [x[i] if f else x for x, f in zip(values, flags, strict=True)], results)
            for i in range(size)
        ]
        shape: tuple[int, ...] = tuple([n for n, _ in reversed(lanes)])
        return tuple(
            [
                np.stack([row[k] for row in rows]) if rows else np.zeros((*shape, *a.shape), a.dtype)
                for k, a in enumerate(results)
            ]
        )

    def written_out(self, avals: Sequence[Aval]) -> Program | None:
        """A Program of the inputs that finds the same for a batch; None where there is none."""
        if len(self.lanes) != 1:
            return None
        ((size, flags),) = self.lanes
        return self.method.written_out(self.programs, avals, size, flags)

    # -- derivatives -------------------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        recorder = recorder_of([*primals, *tangents])
        assert recorder is not None, "a jvp rule runs on tracers"
        inputs = [as_tracer(recorder, x) for x in primals]
        outs = recorder.record(self, inputs)
        if not self.method.differentiable:
            return outs, (None,) * len(outs)
        if not self.lanes:
            return outs, tuple(self.method.tangents(self.programs, inputs, outs, tangents))
        active = tuple([t is not None for t in tangents])
        program, dotted = self._tangent_program([x.aval for x in inputs], active)
        dots = iter(inline(recorder, program, [*inputs, *outs, *[t for t in tangents if t is not None]]))
        return outs, tuple([next(dots) if flag else None for flag in dotted])

    def _tangent_program(self, avals: Sequence[Aval], active: Flags) -> tuple[Program, Flags]:
        """``inputs, results, active tangents -> tangents of the results that have one``, in every lane."""
        examples = self._example_avals(avals)
        results = self.method.results(self.programs, examples)
        with transforming(self.programs[0], "jvp") as recorder:
            inputs = inputs_of(recorder, [Var(a) for a in examples])
            outs = inputs_of(recorder, [Var(a) for a in results])
            dots = [
                recorder.input(a.strong) if flag else None for a, flag in zip(examples, active, strict=True)
            ]
            found = self.method.tangents(self.programs, inputs, outs, dots)
            heads = [t._index for t in [*inputs, *outs, *[t for t in dots if t is not None]]]
            exits = [recorder.index_of(t) for t in found if t is not None]
            program = simplify_program(recorder.program(heads, exits))
        for size, flags in self.lanes:
            of_dots = [f for f, flag in zip(flags, active, strict=True) if flag]
            program = batch_program(program, size, (*flags, *[True] * len(outs), *of_dots))
        return program, tuple([t is not None for t in found])

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        wide = Solved(self.method, self.programs, (*self.lanes, (size, tuple(batched))))
        return wide.bind(*inputs), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        params = {"method": NewtonRoot("newton"), "programs": (_square_less(),), "lanes": ()}
        wide = {**params, "lanes": ((2, (False, True)),)}
        return (
            Sample(fixed(np.ones(2)), positive_vector(2), params=params, through=unknowns_alone),
            Sample(fixed(np.ones(2)), positive_vector(2, 2), params=wide, through=unknowns_alone),
        )


def positive_vector(*shape: int) -> Callable[..., Any]:
    """A draw in double precision: a solver that stops by tolerances gives no other."""

    def draw(rng: np.random.Generator, _: Anything) -> Array:
        return uniform(1.0, 2.0, *shape)(rng, np.dtype(np.float64))

    return draw


def unknowns_alone(primitive: AnyPrimitive, *inputs: Array) -> Array:
    """What is found, without the report of the solver, which has no derivative."""
    return primitive.bind(*inputs)[0]


def of_aval(x: object, a: Aval) -> Array:
    """A result of a solver in the shape and dtype it is said to have; numbers as NumPy scalars."""
    found = np.array(x, a.dtype).reshape(a.shape)
    return found if a.shape else found[()]


def _square_less() -> Program:
    """``x, a -> x * x - a``"""
    x, a, square, out = (Var(Aval((2,), np.float64)) for _ in range(4))
    equations = (Equation(mul, (x, x), (square,)), Equation(sub, (square, a), (out,)))
    return Program((x, a), (), equations, (out,), "square_less")
