"""The exponential of matrices by other operations, which is how kernels compute it; elsewhere SciPy does.

Padé's approximant of degree 13, of the matrix divided by a power of two, and as many squarings. How many are
needed is read from norms of powers: those of a matrix far from normal are less than its own norm suggests
(A. H. Al-Mohy and N. J. Higham, A new scaling and squaring algorithm for the matrix exponential, 2009).

The primitives here are private to that, and without derivatives: `MatrixFunction` has its own, and stands in
Programs until kernels are made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.movement import concatenate, take_span
from funcgrad.ops.arrays.structure import aval, broadcast, cast, reduce_sum, shape_of
from funcgrad.ops.elementwise.arithmetic import add, div, mul, neg, sub
from funcgrad.ops.elementwise.comparison import greater, less
from funcgrad.ops.elementwise.elementary import exp, exp2, log2
from funcgrad.ops.elementwise.logic import logical_and
from funcgrad.ops.elementwise.magnitude import absolute
from funcgrad.ops.elementwise.rounding import ceil
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.linalg.matrices import OnStacks, check_matrices, product, refusals
from funcgrad.ops.linalg.systems import solve
from funcgrad.ops.reducing.extremes import maximum, minimum
from funcgrad.ops.reducing.reductions import ReduceMax
from funcgrad.tracing.samples import ErrorSample, Sample, integers, normal
from funcgrad.types import Array

REACH = 4.25
"""How large the roots of the norms of powers may be for degree 13 to reach double precision."""

BACKWARD = 113250775606021113483283660800000000.0
"""One over the first coefficient that the approximant has wrong, that of the power 27."""


class PowerNorm(OnStacks):
    """The largest sum of a column of a power of each matrix, whose elements are not negative."""

    name = "power_norm"
    kinds: ClassVar[str] = "f"
    parameters: ClassVar[tuple[str, ...]] = ("power",)
    power: int

    def infer(self, *avals: Aval) -> Aval:
        (a,) = avals
        check_matrices(self.name, a, square=True)
        return Aval(a.shape[:-2], a.dtype)

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return 2.0 * self.power * inputs[0].size

    def evaluate(self, *values: Array) -> Array:
        (a,) = values
        sums = np.ones(a.shape[:-1], a.dtype)
        for _ in range(self.power):
            sums = np.einsum("...ij,...i->...j", a, sums)
        return sums.max(axis=-1, initial=0)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(*primals), None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        params = {"power": 3}
        return tuple([Sample(normal(*s), params=params, differentiable=False) for s in ((3, 3), (2, 4, 4))])

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals(params={"power": 2})


class RepeatedSquares(OnStacks):
    """Each approximant multiplied by itself, and the product by itself, as often as a number for it says.

    Where that is below zero, powers of the matrix that is the third input have said nothing, and its
    exponential is SciPy's. Kernels note that in a flag, and the evaluator runs the program.
    """

    name = "repeated_squares"
    cubic = 8.0

    def infer(self, *avals: Aval) -> Aval:
        x, count, a = avals
        check_matrices(self.name, x, square=True)
        if (a.shape, a.dtype) != (x.shape, x.dtype):
            raise ShapeError(f"{self.name} of {x}: it is of another matrix than {a}")
        if count.shape != x.shape[:-2]:
            raise ShapeError(f"{self.name} of {x} and {count}: needs a number for each matrix")
        if count.dtype != np.dtype(np.int64):
            raise DtypeError(f"{self.name} of {x} and {count}: it is told how often by {np.dtype(np.int64)}")
        return x.strong

    def evaluate(self, *values: Array) -> Array:
        x, count, a = values
        out = np.array(x)
        for index in np.ndindex(count.shape):
            if count[index] < 0:
                out[index] = import_module("scipy.linalg").expm(a[index])
            for _ in range(count[index]):
                out[index] = out[index] @ out[index]
        return out

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(*primals), None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 3), integers(0, 3), normal(3, 3), differentiable=False),
            Sample(normal(2, 2, 2), integers(-1, 4, 2), normal(2, 2, 2), differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        x, count = normal(3, 3), integers(0, 2)
        return (
            ErrorSample(normal(3), count, normal(3), words="needs matrices", error=ShapeError),
            ErrorSample(normal(2, 3), count, normal(2, 3), words="must be square", error=ShapeError),
            ErrorSample(x, integers(0, 2, 2), x, words="for each matrix", error=ShapeError),
            ErrorSample(x, normal(), x, words="how often", error=DtypeError),
            ErrorSample(x, count, normal(2, 2), words="another matrix", error=ShapeError),
        )


def exponential(a: Array) -> Array:
    """The exponential of matrices of double precision."""
    if shape_of(a)[-1] == 1:
        return exp(a)
    x2 = product(a, a)
    x4 = product(x2, x2)
    x6 = product(x4, x2)
    roots = [
        largest_column(power) ** (1 / degree)
        for power, degree in ((x6, 6), (product(x4, x4), 8), (product(x4, x6), 10))
    ]
    reach = minimum(maximum(roots[0], roots[1]), maximum(roots[1], roots[2]))
    count = positive(ceil(log2(div(reach, REACH))))
    x = scaled(a, exp2(neg(count)), 1)
    norm = PowerNorm(27).bind(absolute(x))
    count = add(count, further(norm, largest_column(x)))
    # Powers that overflow, or are no numbers, say nothing.
    count = where(logical_and(less(reach, np.inf), less(norm, np.inf)), count, -1.0)
    shrunk = exp2(neg(count))
    powers = [scaled(power, shrunk, degree) for power, degree in ((a, 1), (x2, 2), (x4, 4), (x6, 6))]
    return RepeatedSquares().bind(approximant(*powers), cast(count, np.dtype(np.int64)), a)


def approximant(x: Array, x2: Array, x4: Array, x6: Array) -> Array:
    """Padé's approximant of degree 13 (N. J. Higham, 2005)."""
    shape = shape_of(x)
    eye = np.eye(shape[-1], dtype=aval(x).dtype)
    one = broadcast(eye, shape, (len(shape) - 2, len(shape) - 1))
    inner = product(x6, x6 + 16380.0 * x4 + 40840800.0 * x2)
    odd = inner + 33522128640.0 * x6 + 10559470521600.0 * x4 + 1187353796428800.0 * x2
    odd = product(x, odd + 32382376266240000.0 * one)
    inner = product(x6, 182.0 * x6 + 960960.0 * x4 + 1323241920.0 * x2)
    even = inner + 670442572800.0 * x6 + 129060195264000.0 * x4 + 7771770303897600.0 * x2
    even = even + 64764752532480000.0 * one
    return solve(sub(even, odd), add(even, odd))


def exponential_along(a: Array, *directions: Array) -> Array:
    """The exponential, or its derivative along directions: a block of the exponential of a larger matrix."""
    n, last = shape_of(a)[-1], len(shape_of(a)) - 1
    total, factor = a, None
    for e in directions:
        # Directions as large as the matrix, so that neither hides the other's digits.
        sizes = [largest_column(x) for x in (a, e)]
        both = logical_and(greater(sizes[0], 0.0), greater(sizes[1], 0.0))
        share = where(both, div(sizes[0], where(both, sizes[1], 1.0)), 1.0)
        factor = share if factor is None else mul(factor, share)
        total = doubled(total, scaled(e, share, 1))
    found = exponential(total)
    if factor is None:
        return found
    corner = take_span(take_span(found, last - 1, 0, n), last, shape_of(found)[-1] - n, n)
    return scaled(corner, div(1.0, factor), 1)


# -- parts --------------------------------------------------------------------------------------------------


def largest_column(x: Array) -> Array:
    """The largest sum of the magnitudes of a column."""
    last = len(shape_of(x)) - 1
    return ReduceMax((last - 1,)).bind(reduce_sum(absolute(x), (last - 1,)))


def positive(count: Array) -> Array:
    """A number, or 0 where it is less, or is none."""
    return where(greater(count, 0.0), count, 0.0)


def further(power_norm: Array, norm: Array) -> Array:
    """How many squarings more the rounding of powers asks for, by the norms of the 27th and of the first."""
    return positive(ceil((log2(power_norm) - log2(norm) - (np.log2(BACKWARD) - 53.0)) / 26.0))


def scaled(x: Array, factor: Array, times: int) -> Array:
    """Each matrix multiplied by a number so many times: one after the other, zeros stay zeros."""
    shape = shape_of(x)
    spread = cast(broadcast(factor, shape, tuple(range(len(shape) - 2))), aval(x).dtype)
    for _ in range(times):
        x = mul(x, spread)
    return x


def doubled(x: Array, e: Array) -> Array:
    """``[[x, e], [0, x]]``, where `e` is repeated along the diagonal until it is as large as `x`."""
    *lead, size, _ = shape_of(x)
    n, last, dtype = shape_of(e)[-1], len(lead) + 1, aval(x).dtype

    def zeros(rows: int, columns: int) -> list[Any]:
        return [np.zeros((*lead, rows, columns), dtype)] if columns else []

    blocks = [
        concatenate([*zeros(n, start), e, *zeros(n, size - n - start)], last) for start in range(0, size, n)
    ]
    upper = concatenate([x, concatenate(blocks, last - 1)], last)
    return concatenate([upper, concatenate([*zeros(size, size), x], last)], last - 1)
