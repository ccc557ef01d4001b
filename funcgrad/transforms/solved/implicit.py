"""The implicit function theorem: derivatives of whatever solves ``equations(unknowns, ...) = 0``.

With ``J`` the Jacobian of the equations by the unknowns, ``J @ unknowns_dot = -equations_dot``. It is
recorded with ordinary operations at the solution, which is an equation itself: so derivatives of every order
follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad.errors import NotDifferentiableError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.ops.arrays.movement import concatenate, take_span
from funcgrad.ops.arrays.structure import broadcast, cast, permute, reduce_sum, reshape
from funcgrad.ops.elementwise.arithmetic import add, div, mul, neg, sub
from funcgrad.ops.linalg.systems import solve
from funcgrad.tracing.recorder import Recorder, recorder_of
from funcgrad.transforms.batching import batch_program
from funcgrad.transforms.linearize import jvp_program, record_jvp, zeros_like
from funcgrad.transforms.replay import as_tracer, inline, inputs_of, transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.solved.krylov import solved_by_products, with_transpose
from funcgrad.transforms.solved.method import Method, Programs
from funcgrad.transforms.solved.regular import Regular
from funcgrad.types import Array

REPORT = (Aval((), np.bool_), Aval((), np.bool_), Aval((), np.int64), Aval((), np.int64), Aval((), np.int64))
"""What follows: whether it is a solution, whether SciPy says so, its status, iterations, evaluations."""


FLOAT = np.dtype(np.float64)

MANY_UNKNOWNS = 1000
"""Unknowns from which the Jacobian is not made: linear systems are solved by products with it."""


@dataclass(frozen=True)
class Implicit(Method):
    """A solution of the equations in ``programs[0]``: ``unknowns, facts, parameters -> residuals``.

    The inputs are `n_hints` values that only say where to look, and the parameters. The results are the
    unknowns, facts about the solution that have no derivative (which constraints are active), and a report.
    """

    what: str
    """The name of the user's function, for messages."""

    n_unknowns = 1
    n_facts = 0
    n_hints = 1
    elementwise = False
    """Whether every equation holds one unknown alone, so that the Jacobian is a diagonal."""

    def results(self, programs: Programs, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        found = programs[0].in_avals[: self.n_unknowns + self.n_facts]
        return (*[a.strong for a in found], *REPORT)

    def tangents(
        self, programs: Programs, inputs: Sequence[Any], outs: Sequence[Any], dots: Sequence[Any]
    ) -> Sequence[Any]:
        equations, n = programs[0], self.n_unknowns
        none: list[Any] = [None] * len(outs)
        known = self.n_unknowns + self.n_facts
        recorder = recorder_of([*outs, *dots])
        assert recorder is not None, "tangents are recorded"
        point = [*outs[:known], *inputs[self.n_hints :]]
        moving = [None] * known + list(dots[self.n_hints :])
        if all(t is None for t in moving):
            hints = [t for t in dots[: self.n_hints] if t is not None]
            return [*self._still(equations, hints, outs[known]), *none[n:]] if hints else none
        residuals, residual_dots = record_jvp(recorder, equations, point, moving)
        if all(t is None for t in residual_dots):
            return none
        full = [
            zeros_like(recorder, as_tracer(recorder, r).aval.strong) if t is None else t
            for r, t in zip(residuals, residual_dots, strict=True)
        ]
        solver = self._divided if self.elementwise else self._solved
        return [*solver(recorder, equations, point, full, outs[known]), *none[n:]]

    def _still(self, equations: Program, hints: Sequence[Any], ok: Array) -> list[Any]:
        """Zeros: a solution does not move with where it was looked for; what is none does, and raises."""
        checked = reshape(Regular(self.what).bind(np.ones((1, 1)), ok), ())
        sums = [reduce_sum(t, tuple(range(t.aval.ndim))) if t.aval.ndim else t for t in hints]
        nothing = mul(sub(checked, 1.0), cast(sums[0], FLOAT))
        for t in sums[1:]:
            nothing = add(nothing, mul(sub(checked, 1.0), cast(t, FLOAT)))
        return [broadcast(cast(nothing, a.dtype), a.shape, ()) for a in equations.in_avals[: self.n_unknowns]]

    def _divided(
        self, recorder: Recorder, equations: Program, point: Sequence[Any], dots: Sequence[Any], ok: Array
    ) -> list[Any]:
        (unknown,) = equations.in_avals[:1]
        slope = inline(recorder, self.moved_by_unknowns(equations), [*point, np.ones(unknown.shape)])[0]
        flat = reshape(slope, (unknown.size, 1, 1))
        slope = reshape(Regular(self.what).bind(flat, ok), unknown.shape)
        return [neg(div(dots[0], slope))]

    def _solved(
        self, recorder: Recorder, equations: Program, point: Sequence[Any], dots: Sequence[Any], ok: Array
    ) -> list[Any]:
        avals = equations.in_avals[: self.n_unknowns]
        size = sum(a.size for a in avals)
        right = joined(dots, size)
        if size >= MANY_UNKNOWNS:
            return apart(neg(self.by_products(recorder, equations, point, right, ok)), avals)
        jacobian = self.jacobian(recorder, equations, point, size)
        jacobian = Regular(self.what).bind(jacobian, ok)
        if size == 1:
            found = neg(div(right, reshape(jacobian, (1,))))
        else:
            found = neg(reshape(solve(jacobian, reshape(right, (size, 1))), (size,)))
        return apart(found, avals)

    def jacobian(self, recorder: Recorder, equations: Program, point: Sequence[Any], size: int) -> Array:
        """The Jacobian of the equations by the unknowns, a square matrix."""
        avals = equations.in_avals[: self.n_unknowns]
        moved = self.moved_by_unknowns(equations)
        rows = np.split(np.eye(size), np.cumsum([a.size for a in avals])[:-1], axis=1)
        directions = [row.reshape(size, *a.shape).astype(a.dtype) for row, a in zip(rows, avals, strict=True)]
        if len(avals) == size == 1:
            (moves,) = inline(recorder, moved, [*point, *[d[0] for d in directions]])
            return reshape(moves, (1, 1))
        flags = (*[False] * len(point), *[True] * len(directions))
        moves = inline(recorder, batch_program(moved, size, flags), [*point, *directions])
        flat = [reshape(x, (size, x.aval.size // size)) for x in moves]
        return permute(concatenate(flat, 1) if len(flat) > 1 else flat[0], (1, 0))

    def by_products(
        self, recorder: Recorder, equations: Program, point: Sequence[Any], right: object, ok: object
    ) -> Array:
        """The solution of the linear system by products with the Jacobian alone."""
        checked = Regular(self.what).bind(np.ones((1, 1)), ok)
        product = self.product_program(equations)
        return solved_by_products(self.what, with_transpose(product), point, mul(right, reshape(checked, ())))

    def product_program(self, equations: Program) -> Program:
        """``inputs, vector -> Jacobian @ vector``"""
        avals = equations.in_avals[: self.n_unknowns]
        size = sum(a.size for a in avals)
        moved = self.moved_by_unknowns(equations)
        with transforming(equations, "product") as recorder:
            inputs = inputs_of(recorder, equations.inputs)
            vector = recorder.input(Aval((size,), np.float64))
            moves = inline(recorder, moved, [*inputs, *apart(vector, avals)])
            heads = [t._index for t in [*inputs, vector]]
            return recorder.program(heads, [recorder.index_of(joined(moves, size))])

    def moved_by_unknowns(self, equations: Program) -> Program:
        """``inputs, tangents of the unknowns -> tangents of the residuals``"""
        n = self.n_unknowns
        active = [k < n for k in range(len(equations.inputs))]
        both = jvp_program(equations, active, len(equations.outputs))
        outputs = both.outputs[len(equations.outputs) :]
        return simplify_program(Program(both.inputs, both.captured, both.equations, outputs, both.name))


def joined(parts: Sequence[Any], size: int) -> Array:
    """The elements of all parts in one vector."""
    flat = [reshape(x, (x.aval.size,)) for x in parts]
    return concatenate(flat, 0) if len(flat) > 1 else flat[0]


def apart(vector: Array, avals: Sequence[Aval]) -> list[Any]:
    """The vector as arrays of these avals."""
    if len(avals) == 1:
        return [reshape(vector, avals[0].shape)]
    found, start = [], 0
    for a in avals:
        found.append(reshape(take_span(vector, 0, start, a.size), a.shape))
        start += a.size
    return found


@dataclass(frozen=True)
class NewtonRoot(Implicit):
    """A root by Newton's method, to the last digit: what the others are tested with."""

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        (equations,) = programs
        x, *parameters = values
        moved = self.moved_by_unknowns(equations)
        for k in range(100):
            (residual,) = equations.evaluate(x, *parameters)
            columns = [moved.evaluate(x, *parameters, e)[0] for e in np.eye(len(x))]
            step = np.linalg.solve(np.stack(columns, 1), residual)
            x = x - step
            if np.all(abs(step) <= 4e-16 * abs(x)):
                return x, True, True, 0, k, k
        raise NotDifferentiableError(f"{self.what} has not converged")
