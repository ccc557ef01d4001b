"""The LU decomposition with partial pivoting, as a function of the matrix that is differentiated.

The order of the rows is locally constant, so derivatives are those of elimination in that order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.movement import concatenate, take_span
from funcgrad.ops.arrays.sorting import TakeAlongAxis
from funcgrad.ops.arrays.structure import broadcast, shape_of
from funcgrad.ops.elementwise.arithmetic import add, sub
from funcgrad.ops.linalg.matrices import (
    OnStacks,
    check_matrices,
    flipped,
    lower_part,
    product,
    refusals,
    upper_part,
)
from funcgrad.ops.linalg.triangular import TriangularSolve
from funcgrad.tracing.samples import ErrorSample, Sample, distinct, integers, normal
from funcgrad.types import Array


class Lu(OnStacks):
    """Both factors in one matrix, without the ones of ``l``, and LAPACK's pivots."""

    name = "lu"
    exported = ("lu_with_pivots({0})",)
    cubic = 2 / 3
    multiple = True

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        (a,) = avals
        check_matrices(self.name, a)
        return a.strong, Aval((*a.shape[:-2], min(a.shape[-2:])), np.dtype(np.int32))

    def evaluate(self, *values: Array) -> tuple[Array, Array]:
        (a,) = values
        lapack: Any = import_module("scipy.linalg.lapack")
        (getrf,) = lapack.get_lapack_funcs(("getrf",), dtype=a.dtype)
        m, n = a.shape[-2:]
        factors = np.empty(a.shape, a.dtype)
        pivots = np.empty((*a.shape[:-2], min(m, n)), np.int32)
        if a.size:
            flat = (a.reshape(-1, m, n), factors.reshape(-1, m, n), pivots.reshape(-1, min(m, n)))
            for x, f, p in zip(*flat, strict=True):
                f[...], p[:], _ = getrf(x)
        return factors, pivots

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (a,), (a_dot,) = primals, tangents
        packed, pivots = self.bind(a)
        last = len(shape_of(a)) - 1
        m, n = shape_of(a)[-2:]
        k = min(m, n)
        moved = rows_taken(a_dot, PivotOrder(m).bind(pivots))
        square = take_span(take_span(packed, last - 1, 0, k), last, 0, k)
        # Of the leading square: l^-1 a_dot u^-1 is strictly lower (of l) plus upper (of u).
        right = over_upper(square, take_span(moved, last, 0, k))
        inner = TriangularSolve(True, False, True).bind(square, take_span(right, last - 1, 0, k))
        below, above = lower_part(inner, -1), upper_part(inner)
        lower = unit_lower(square)
        l_dot, u_dot = product(lower, below), product(above, upper_part(square))
        out = add(l_dot, u_dot)
        if m > k:
            rows = sub(
                take_span(right, last - 1, k, m - k), product(take_span(packed, last - 1, k, m - k), above)
            )
            out = concatenate([out, rows], last - 1)
        if n > k:
            change = sub(take_span(moved, last, k, n - k), product(l_dot, take_span(packed, last, k, n - k)))
            out = concatenate([out, TriangularSolve(True, False, True).bind(square, change)], last)
        return (packed, pivots), (out, None)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return tuple([Sample(distinct(*s)) for s in ((2, 3, 3), (4, 2), (2, 4))])

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals(square=False)


class PivotOrder(OnStacks):
    """The order of the rows that LAPACK's pivots make, one exchange after the other, of so many rows."""

    name = "pivot_order"
    of_vectors = True
    exported = ("order_of_pivots({0}, {p.rows})",)
    parameters = ("rows",)
    rows: int

    def infer(self, *avals: Aval) -> Aval:
        (p,) = avals
        if not p.ndim or p.shape[-1] > self.rows:
            raise ShapeError(
                f"{self.name} of {p}: needs no more pivots than {self.rows} rows in the last axis"
            )
        if p.dtype.kind not in "iu":
            raise DtypeError(f"{self.name} of {p}: pivots are integers")
        return Aval((*p.shape[:-1], self.rows), np.dtype(np.intp))

    def evaluate(self, *values: Array) -> Array:
        pivots = values[0].reshape(math.prod(values[0].shape[:-1]), values[0].shape[-1])
        order = np.tile(np.arange(self.rows), (len(pivots), 1))
        each = np.arange(len(pivots))
        for k in range(pivots.shape[1]):
            other = pivots[:, k]
            order[each, k], order[each, other] = order[each, other], order[each, k]
        return order.reshape(*values[0].shape[:-1], self.rows)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(*primals), None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(integers(2, 3, 3), params={"rows": 3}, differentiable=False),
            Sample(integers(0, 2, 2, 2, dtype=np.int32), params={"rows": 4}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (
            ErrorSample(integers(0, 2, 4), params={"rows": 3}, words="no more pivots", error=ShapeError),
            ErrorSample(normal(2), params={"rows": 3}, words="are integers", error=DtypeError),
        )


def rows_taken(x: Array, order: Array) -> Array:
    """The rows of each matrix in this order."""
    shape = shape_of(x)
    n = len(shape)
    places = broadcast(order, shape, tuple(range(n - 1)))
    return TakeAlongAxis(n - 2, True).bind(x, places)


def unit_lower(x: Array) -> Array:
    """The strictly lower triangle with ones on the diagonal."""
    shape = shape_of(x)
    eye = broadcast(np.eye(shape[-2], shape[-1], dtype=x.dtype), shape, (len(shape) - 2, len(shape) - 1))
    return add(lower_part(x, -1), eye)


def over_upper(u: Array, b: Array) -> Array:
    """``b @ u^-1`` for an upper triangular ``u``."""
    return flipped(TriangularSolve(False, True, False).bind(u, flipped(b)))


lu = Lu()
