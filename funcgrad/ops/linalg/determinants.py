"""Determinants, and their derivatives at every matrix, singular ones of any rank among them.

A determinant is a polynomial of the elements, so all its derivatives exist everywhere. The first is the
matrix of cofactors. Tiny matrices take the polynomials themselves. Otherwise a matrix that is far from
singular takes ``det(a)`` times the inverse's transpose, and any other one its singular values: with
``a = U diag(s) V^H`` cofactors are products of all singular values but one, and second derivatives products
of all but two. Third derivatives of matrices larger than 3x3 go through the inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import broadcast, shape_of
from funcgrad.ops.elementwise.arithmetic import mul, sub
from funcgrad.ops.elementwise.complexes import imag, make_complex, real, real_dtype
from funcgrad.ops.families import added
from funcgrad.ops.linalg import tiny
from funcgrad.ops.linalg.matrices import (
    OnStacks,
    check_matrices,
    flipped,
    is_complex,
    paired,
    product,
    refusals,
)
from funcgrad.ops.linalg.systems import MANY, Inv, well_conditioned
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.samples import Draw, ErrorSample, Sample, fixed, normal
from funcgrad.types import Array, Arrays

FAR_FROM_SINGULAR = 1e4
"""Below this condition number cofactors come from the inverse, which loses as many digits."""


def of_rank(rank: int, *shape: int) -> Draw:
    """Random matrices of this rank."""
    left, right = normal(*shape[:-1], rank), normal(*shape[:-2], rank, shape[-1])

    def draw_of_rank(rng: np.random.Generator, dtype: np.dtype[Any]) -> Array:
        return (left(rng, dtype) @ right(rng, dtype)).astype(dtype)

    return draw_of_rank


class Det(OnStacks):
    """The determinant of each square matrix."""

    name = "det"
    exported = ("np.linalg.det({0})",)
    cubic = 2 / 3

    def infer(self, *avals: Aval) -> Aval:
        (a,) = avals
        check_matrices("det", a, square=True)
        return Aval(a.shape[:-2], a.dtype)

    def evaluate(self, *values: Array) -> Array:
        (a,) = values
        return tiny.determinants(a) if is_tiny_stack(a) else np.linalg.det(a)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out, cofactors = DetWithCofactors().bind(*primals)
        return out, paired(cofactors, tangents[0])

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            *[Sample(normal(*s)) for s in ((3, 3), (MANY, 2, 2), (4, 4))],
            Sample(of_rank(1, 3, 3)),
            Sample(of_rank(2, 2, 4, 4)),
            Sample(fixed(np.zeros((4, 4)))),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals()


class DetWithCofactors(OnStacks):
    """The determinant of each square matrix, and the matrix of its derivatives by the elements."""

    name = "det_with_cofactors"
    exported = ("np.linalg.det({0})", "cofactors({0})")
    cubic = 2.0
    multiple = True

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        (a,) = avals
        check_matrices("det", a, square=True)
        return Aval(a.shape[:-2], a.dtype), a.strong

    def evaluate(self, *values: Array) -> Arrays:
        (a,) = values
        if is_tiny_stack(a):
            return tiny.determinants_with_cofactors(a)
        return np.linalg.det(a), cofactors_of(a)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (a,), (a_dot,) = primals, tangents
        out, cofactors = self.bind(a)
        return (out, cofactors), (paired(cofactors, a_dot), CofactorsAlong().bind(a, a_dot))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return Sample(normal(3, 3)), Sample(well_conditioned(4, 4))

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals()


class CofactorsAlong(OnStacks):
    """The derivative of the matrix of cofactors along another matrix, in which it is linear."""

    name = "cofactors_along"
    exported = ("cofactors_along({0}, {1})",)
    cubic = 2.0

    def infer(self, *avals: Aval) -> Aval:
        a, e = avals
        check_matrices(self.name, a, square=True)
        if a.shape != e.shape or a.dtype != e.dtype:
            raise ShapeError(f"{self.name} of {a} and {e}: the matrices differ in shape or dtype")
        return a.strong

    def evaluate(self, *values: Array) -> Array:
        a, e = values
        n = a.shape[-1]
        if n > tiny.LARGEST:
            return cofactors_along(a, e)
        if n < 2:
            return np.zeros_like(e)
        if n == 2:
            return tiny.cofactors(e)
        # Cofactors are a quadratic form of the elements, and this is its polar form.
        return tiny.cofactors(a + e) - tiny.cofactors(a) - tiny.cofactors(e)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (a, e), (a_dot, e_dot) = primals, tangents
        out = self.bind(a, e)
        linear = None if e_dot is None else self.bind(a, e_dot)
        n = shape_of(a)[-1]
        if a_dot is None or n < 3:
            return out, linear
        if n == 3:
            return out, added(linear, self.bind(e, a_dot))  # the polar form is symmetric
        return out, added(linear, third_derivative(a, e, a_dot))

    def linear_in(self, flags: Flags) -> bool:
        return flags == (False, True)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return None, self.bind(inputs[0], cotangent)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            *[Sample(normal(*s), normal(*s)) for s in ((2, 2), (3, 3))],
            Sample(well_conditioned(2, 4, 4), normal(2, 4, 4)),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(3, 3), normal(2, 2), words="differ in shape", error=ShapeError),)


def is_tiny_stack(a: Array) -> bool:
    """Whether closed forms are faster than LAPACK."""
    n = a.shape[-1]
    return bool(0 < n <= tiny.LARGEST and a.size >= MANY * n * n)


def cofactors_of(a: Array) -> Array:
    """The matrices of cofactors of any square matrices."""
    if a.shape[-1] <= tiny.LARGEST and a.size:
        return tiny.cofactors(a)
    if not np.isfinite(a).all():
        return np.full_like(a, np.nan)
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return cofactors_by_svd(a)
    size = np.abs(a).sum((-2, -1), keepdims=True) * np.abs(inverse).sum((-2, -1), keepdims=True)
    if not np.all(size < FAR_FROM_SINGULAR * a.shape[-1]):
        return cofactors_by_svd(a)
    return np.linalg.det(a)[..., None, None] * np.swapaxes(inverse, -1, -2)


def cofactors_by_svd(a: Array) -> Array:
    """The matrices of cofactors from singular values."""
    phase, left, s, right = decomposed(a)
    return (phase * left * products_without_one(s)[..., None, :]) @ right


def decomposed(a: Array) -> tuple[Any, Any, Any, Any]:
    """``det(U) det(V^H)``, ``conj(U)``, singular values and ``V^T`` of ``a = U diag(s) V^H``."""
    u, s, vh = np.linalg.svd(a)
    phase = np.linalg.det(u) * np.linalg.det(vh)
    return phase[..., None, None], u.conj(), s, vh.conj()


def products_without_one(s: Array) -> Array:
    """For each element of the last axis the product of the others."""
    before = np.cumprod(s, axis=-1)
    after = np.cumprod(s[..., ::-1], axis=-1)[..., ::-1]
    out = np.ones_like(s)
    out[..., 1:] *= before[..., :-1]
    out[..., :-1] *= after[..., 1:]
    return out


def products_without_two(s: Array) -> Array:
    """For each pair of elements the product of the others; zero for pairs of the same."""
    n = s.shape[-1]
    rows = np.repeat(s[..., None, :], n, axis=-2)
    places = np.arange(n)
    rows[..., places, places] = 1
    out = products_without_one(rows)
    out[..., places, places] = 0
    return out


def cofactors_along(a: Array, e: Array) -> Array:
    """The derivative of the cofactors of `a` along `e`, from singular values.

    In the basis of the singular vectors the second derivative of the determinant along x and y is the sum
    over pairs i, j of ``p[i, j] (x[i, i] y[j, j] - x[i, j] y[j, i])``.
    """
    phase, left, s, right = decomposed(a)
    pairs = products_without_two(s)
    inner = np.swapaxes(left, -1, -2) @ e @ np.swapaxes(right, -1, -2)
    found = -pairs * np.swapaxes(inner, -1, -2)
    places = np.arange(s.shape[-1])
    found[..., places, places] = np.sum(pairs * inner[..., places, places][..., None, :], axis=-1)
    return (phase * left @ found @ right).astype(a.dtype, copy=False)


def third_derivative(a: Array, e: Array, f: Array) -> Array:
    """The derivative along `f` of the cofactors' derivative along `e`, for matrices with an inverse."""
    x = Inv().bind(a)
    xe, xf = product(x, e), product(x, f)
    traces = [trace_like(m, x) for m in (xe, xf, product(xe, xf))]
    both = sub(mul(traces[0], traces[1]), traces[2])
    terms = added(product(xe, xf, x), product(xf, xe, x))
    found = added(
        sub(mul(both, x), mul(traces[0], product(xf, x))), sub(terms, mul(traces[1], product(xe, x)))
    )
    det = Det().bind(a)
    return mul(broadcast(det, shape_of(a), tuple(range(len(shape_of(a)) - 2))), flipped(found))


def trace_like(x: Array, like: Array) -> Array:
    """The trace of each matrix, repeated over the elements of a matrix."""
    shape = shape_of(like)
    eye = broadcast(np.eye(shape[-1], dtype=like.aval.dtype), shape, (len(shape) - 2, len(shape) - 1))
    return broadcast(paired(x, eye), shape, tuple(range(len(shape) - 2)))


class SlogDet(OnStacks):
    """The sign (or phase) of each determinant, and the logarithm of its magnitude."""

    name = "slogdet"
    exported = ("np.linalg.slogdet({0})",)
    cubic = 2 / 3
    multiple = True
    parameters: ClassVar[tuple[str, ...]] = ()

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        (a,) = avals
        check_matrices(self.name, a, square=True)
        return Aval(a.shape[:-2], a.dtype), Aval(a.shape[:-2], real_dtype(a.dtype))

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        return tuple(np.linalg.slogdet(values[0]))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (a,) = primals
        sign, log = self.bind(a)
        ratio = paired(flipped(Inv().bind(a)), tangents[0])
        if not is_complex(a):
            return (sign, log), (None, ratio)
        turn = imag(ratio)
        return (sign, log), (mul(sign, make_complex(mul(turn, 0.0), turn)), real(ratio))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return tuple([Sample(well_conditioned(*s)) for s in ((3, 3), (2, 4, 4))])

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals()


det = Det()
slogdet = SlogDet()
