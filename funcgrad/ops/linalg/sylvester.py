"""Sylvester's equation, and the polar decomposition, whose derivative solves one."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.ops.elementwise.arithmetic import add, mul, neg, sub
from funcgrad.ops.families import added
from funcgrad.ops.linalg.matrices import (
    OnStacks,
    adjoint,
    check_matrices,
    flipped,
    hermitian_part,
    matrix_by_matrix,
    product,
    refusals,
    skew_part,
)
from funcgrad.ops.linalg.systems import solve, well_conditioned
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.samples import ErrorSample, Sample, normal
from funcgrad.types import Array


class SolveSylvester(OnStacks):
    """``x`` with ``a @ x + x @ b == q``; there is one where no eigenvalue of ``a`` is minus one of ``b``."""

    name = "solve_sylvester"
    exported = ("sylvester_solution({0}, {1}, {2})",)
    cubic = 60.0

    def infer(self, *avals: Aval) -> Aval:
        a, b, q = avals
        check_matrices(self.name, a, square=True)
        check_matrices(self.name, b, square=True)
        fits = q.ndim >= 2 and a.shape == (*q.shape[:-1], q.shape[-2])
        if not fits or b.shape != (*q.shape[:-2], q.shape[-1], q.shape[-1]):
            raise ShapeError(f"{self.name} of {a}, {b} and {q}: the shapes do not fit")
        if not a.dtype == b.dtype == q.dtype:
            raise DtypeError(f"{self.name} of {a}, {b} and {q}: must be cast to one dtype first")
        return q.strong

    def evaluate(self, *values: Array) -> Array:
        scipy: Any = import_module("scipy.linalg")
        if not values[2].size:
            return np.zeros_like(values[2])
        return matrix_by_matrix(scipy.solve_sylvester, *values).astype(values[2].dtype, copy=False)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (a, b, _), (a_dot, b_dot, q_dot) = primals, tangents
        x = self.bind(*primals)
        total = q_dot
        if a_dot is not None:
            total = added(total, neg(product(a_dot, x)))
        if b_dot is not None:
            total = added(total, neg(product(x, b_dot)))
        return x, self.bind(a, b, total)

    def linear_in(self, flags: Flags) -> bool:
        return flags == (False, False, True)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        a, b, _ = inputs
        return None, None, self.bind(flipped(a), flipped(b), cotangent)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(well_conditioned(3, 3), well_conditioned(2, 2), normal(3, 2)),
            Sample(well_conditioned(2, 2, 2), well_conditioned(2, 2, 2), normal(2, 2, 2)),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        square = normal(3, 3)
        return (ErrorSample(square, square, normal(2, 3), words="do not fit", error=ShapeError),)


class PolarFactor(OnStacks):
    """``u`` with orthonormal columns and ``u @ p == a`` for a positive ``p``; no more columns than rows."""

    name = "polar_factor"
    exported = ("polar_factor({0})",)
    cubic = 22.0

    def infer(self, *avals: Aval) -> Aval:
        (a,) = avals
        check_matrices(self.name, a)
        if a.shape[-2] < a.shape[-1]:
            raise ShapeError(f"{self.name} of {a}: needs as many rows as columns")
        return a.strong

    def evaluate(self, *values: Array) -> Array:
        u, _, vh = np.linalg.svd(values[0], full_matrices=False)
        return u @ vh

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (a,), (a_dot,) = primals, tangents
        u = self.bind(a)
        p = hermitian_part(product(adjoint(u), a))
        inner = product(adjoint(u), a_dot)
        u_dot = product(u, SolveSylvester().bind(p, p, mul(skew_part(inner), 2.0)))
        m, n = shape_of(a)[-2:]
        if m > n:
            outside = sub(a_dot, product(u, inner))
            u_dot = add(u_dot, adjoint(solve(p, adjoint(outside))))
        return u, u_dot

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return Sample(well_conditioned(2, 3, 3)), Sample(normal(4, 2))

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (*refusals(square=False), ErrorSample(normal(2, 3), words="as many rows", error=ShapeError))
