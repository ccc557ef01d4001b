"""Singular values and vectors, and the pseudo-inverse.

Singular vectors are determined up to a common phase of each pair, and those of a repeated singular value up
to a common rotation. Tangents take the smallest ones. Vectors of singular value zero, and those that full
matrices add, are fixed only in what they span. A singular value that is zero has the derivative of
``u^H a_dot v`` for the vectors found, one of many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.movement import concatenate, take_span
from funcgrad.ops.arrays.structure import aval, broadcast, cast, shape_of
from funcgrad.ops.elementwise.arithmetic import add, div, mul, neg, sub
from funcgrad.ops.elementwise.comparison import greater
from funcgrad.ops.elementwise.complexes import real_dtype
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import added
from funcgrad.ops.linalg.matrices import (
    OnStacks,
    adjoint,
    check_matrices,
    conjugate,
    diagonal,
    flipped,
    hermitian_part,
    product,
    refusals,
    scaled_columns,
    scaled_rows,
    skew_part,
)
from funcgrad.ops.linalg.spectra import REPEATED, InverseGaps, broadcast_last, open_reciprocal, real_of
from funcgrad.ops.reducing.reductions import ReduceMax
from funcgrad.tracing.samples import ErrorSample, Sample, integers, normal, positive
from funcgrad.types import AnyPrimitive, Array, Arrays


class InverseSums(OnStacks):
    """``1 / (s[j] + s[i])`` for each pair of non-negative numbers in the last axis, 0 where both are zero."""

    name = "inverse_sums"
    of_vectors = True
    exported = ("inverse_sums({0})",)
    kinds = "f"

    def infer(self, *avals: Aval) -> Aval:
        (s,) = avals
        if not s.ndim:
            raise ShapeError(f"{self.name} of {s}: needs numbers along the last axis")
        if s.dtype.kind != "f":
            raise DtypeError(f"{self.name} of {s}: must be cast to floating-point numbers first")
        return Aval((*s.shape, s.shape[-1]), s.dtype)

    def evaluate(self, *values: Array) -> Array:
        return safe_reciprocal(sums(values[0]), values[0])

    def expansion(self, *inputs: Array) -> Array:
        return open_reciprocal(pair_sums(inputs[0]), inputs[0])

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        return out, mul(neg(mul(out, out)), pair_sums(tangents[0]))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        zeros = integers(0, 1, 3, dtype=np.float64)
        return Sample(positive(2, 3)), Sample(zeros, differentiable=False)

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(), words="needs numbers", error=ShapeError),)


def sums(s: Array) -> Array:
    """The sums of pairs in the last axis."""
    return s[..., None, :] + s[..., :, None]


def pair_sums(s: Array) -> Array:
    """The sums of pairs in the last axis of a traced array."""
    shape = (*shape_of(s), shape_of(s)[-1])
    n = len(shape)
    stack = tuple(range(n - 2))
    return add(broadcast(s, shape, (*stack, n - 1)), broadcast(s, shape, (*stack, n - 2)))


def safe_reciprocal(x: Array, s: Array) -> Array:
    """``1 / x``, 0 where `x` is zero but for the rounding errors of the singular values `s`."""
    largest = np.abs(s).max(axis=-1, initial=0).reshape(*s.shape[:-1], *[1] * (x.ndim - s.ndim + 1))
    is_open = np.abs(x) > largest * (REPEATED * s.shape[-1] * np.finfo(s.dtype).eps)
    return np.divide(1, x, out=np.zeros_like(x), where=is_open)


class InverseValues(OnStacks):
    """``1 / s`` for singular values in the last axis, 0 where they are zero but for rounding."""

    name = "inverse_values"
    of_vectors = True
    exported = ("inverse_values({0})",)
    kinds = "f"

    def infer(self, *avals: Aval) -> Aval:
        return avals[0].strong

    def evaluate(self, *values: Array) -> Array:
        return safe_reciprocal(values[0], values[0])

    def expansion(self, *inputs: Array) -> Array:
        return open_reciprocal(inputs[0], inputs[0])

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        return out, mul(neg(mul(out, out)), tangents[0])

    @classmethod
    def samples(cls) -> Sequence[Any]:
        zeros = integers(0, 1, 3, dtype=np.float64)
        return Sample(positive(2, 3)), Sample(zeros, differentiable=False)


class Svd(OnStacks):
    """``u``, descending ``s``, ``vh`` with ``u @ diag(s) @ vh == a``; ``full`` makes both matrices square."""

    name = "svd"
    exported = ("np.linalg.svd({0}, {p.full})",)
    cubic = 20.0
    in_double = True
    multiple = True
    splits = True
    parameters: ClassVar[tuple[str, ...]] = ("full",)
    full: bool

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        (a,) = avals
        check_matrices(self.name, a)
        *stack, m, n = a.shape
        k = min(m, n)
        rows, columns = (m, n) if self.full else (k, k)
        return (
            Aval((*stack, m, rows), a.dtype),
            Aval((*stack, k), real_dtype(a.dtype)),
            Aval((*stack, columns, n), a.dtype),
        )

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        return tuple(np.linalg.svd(values[0], full_matrices=self.full))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        u, s, vh = self.bind(*primals)
        dots, _ = self.tangents(tangents[0], u, s, vh)
        return (u, s, vh), dots

    @staticmethod
    def tangents(a_dot: Array, u: Array, s: Array, vh: Array) -> tuple[tuple[Any, ...], Any]:
        """The tangents of all three, and that of the matrix in the basis of the singular vectors."""
        k = shape_of(s)[-1]
        last = len(shape_of(a_dot)) - 1
        left, right = take_span(u, last, 0, k), take_span(vh, last - 1, 0, k)
        inner = product(adjoint(left), a_dot, adjoint(right))
        dtype = inner.aval.dtype
        # With w and z the turns of left and right vectors: w + z is `joint`, w - z is `relative`.
        joint = mul(cast(InverseGaps().bind(s), dtype), mul(hermitian_part(inner), 2.0))
        relative = mul(cast(InverseSums().bind(s), dtype), mul(skew_part(inner), 2.0))
        inverse = cast(InverseValues().bind(s), dtype)
        turn_left = mul(add(joint, relative), 0.5)
        turn_right = mul(sub(joint, relative), 0.5)
        u_dot = turned(u, turn_left, scaled_columns(product(a_dot, adjoint(right)), inverse), k)
        back = scaled_columns(product(adjoint(a_dot), left), inverse)
        vh_dot = adjoint(turned(adjoint(vh), turn_right, back, k))
        return (u_dot, real_of(diagonal(inner)), vh_dot), inner

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            *[
                Sample(normal(*s), params={"full": full}, through=singular_spaces)
                for s, full in (((4, 2), False), ((2, 2, 3), False), ((2, 4), True))
            ],
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals(square=False, params={"full": False})


def turned(vectors: Array, turn: Array, target: Array, k: int) -> Array:
    """The tangent of orthonormal vectors, of which k turn among themselves and towards `target` outside.

    Vectors beyond the k-th turn so as to stay orthogonal.
    """
    last = len(shape_of(vectors)) - 1
    size, count = shape_of(vectors)[-2:]
    first = take_span(vectors, last, 0, k)
    within = product(first, turn)
    if size == k:
        return within
    outside = sub(target, product(first, product(adjoint(first), target)))
    change = add(within, outside)
    if count == k:
        return change
    others = take_span(vectors, last, k, count - k)
    return concatenate([change, neg(product(first, product(adjoint(outside), others)))], last)


def singular_spaces(primitive: AnyPrimitive, a: Array) -> Arrays:
    """What the phases of singular vectors do not matter to."""
    u, s, vh = primitive.bind(a)
    k = shape_of(s)[-1]
    last = len(shape_of(a)) - 1
    weights = np.cos(np.arange(float(k)))
    left, right = take_span(u, last, 0, k), take_span(vh, last - 1, 0, k)
    found = (s, product(scaled_columns(left, broadcast_last(weights, left)), right))
    if not primitive.full:
        return (*found, product(scaled_columns(left, broadcast_last(weights, left)), adjoint(left)))
    return (*found, others_span(u, last, k), others_span(adjoint(vh), last, k))


def others_span(vectors: Array, last: int, k: int) -> Array:
    """The projector on the vectors beyond the k-th."""
    others = take_span(vectors, last, k, shape_of(vectors)[-1] - k)
    return product(others, adjoint(others))


class Svdvals(OnStacks):
    """The singular values, descending."""

    name = "svdvals"
    exported = ("np.linalg.svd({0}, False)[1]",)
    cubic = 8 / 3
    in_double = True

    def infer(self, *avals: Aval) -> Aval:
        (a,) = avals
        check_matrices(self.name, a)
        return Aval((*a.shape[:-2], min(a.shape[-2:])), real_dtype(a.dtype))

    def evaluate(self, *values: Array) -> Array:
        return np.linalg.svd(values[0], compute_uv=False)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        u, s, vh = Svd(False).bind(*primals)
        return s, real_of(diagonal(product(adjoint(u), tangents[0], adjoint(vh))))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return tuple([Sample(normal(*s)) for s in ((3, 3), (2, 4, 2))])

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals(square=False)


class Pinv(OnStacks):
    """The pseudo-inverse, for which singular values up to ``rcond`` times the largest are zero.

    Its derivative exists along directions that keep the rank, and is the one for those: G. H. Golub and
    V. Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems, 1973.
    """

    name = "pinv"
    exported = ("np.linalg.pinv({0}, {p.rcond!r})",)
    cubic = 22.0
    parameters: ClassVar[tuple[str, ...]] = ("rcond",)
    rcond: float

    def infer(self, *avals: Aval) -> Aval:
        (a,) = avals
        check_matrices(self.name, a)
        *stack, m, n = a.shape
        return Aval((*stack, n, m), a.dtype)

    def evaluate(self, *values: Array) -> Array:
        return np.linalg.pinv(values[0], rcond=self.rcond)

    def expansion(self, *inputs: Array) -> Array | None:
        (a,) = inputs
        if 0 in shape_of(a):
            return None
        u, s, vh = Svd(False).bind(conjugate(a))
        last = len(shape_of(s)) - 1
        bound = mul(ReduceMax((last,)).bind(s), self.rcond)
        large = greater(s, broadcast(bound, shape_of(s), tuple(range(last))))
        inverse = where(large, div(1.0, where(large, s, 1.0)), 0.0)
        return product(flipped(vh), scaled_rows(cast(inverse, aval(u).dtype), flipped(u)))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (a,), (a_dot,) = primals, tangents
        p = self.bind(a)
        change = neg(product(p, a_dot, p))
        # Where the columns (rows) are independent these terms vanish, but only up to rounding.
        p_adjoint, back = adjoint(p), adjoint(a_dot)
        onto_rows = product(p, p_adjoint, back)
        outside = sub(onto_rows, product(onto_rows, a, p))
        onto_columns = product(back, p_adjoint, p)
        inside = sub(onto_columns, product(p, a, onto_columns))
        return p, added(change, added(outside, inside))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            *[Sample(normal(*s), params={"rcond": 1e-15}) for s in ((4, 2), (2, 2, 3))],
            Sample(normal(4, 2), normal(2, 3), params={"rcond": 1e-6}, through=of_product),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals(square=False, params={"rcond": 1e-15})


def of_product(primitive: AnyPrimitive, x: Array, y: Array) -> Array:
    """The primitive on a product, whose rank stays what it is."""
    return primitive.bind(product(x, y))


svdvals = Svdvals()
