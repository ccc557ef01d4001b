"""Eigenvalues and eigenvectors of Hermitian matrices.

Eigenvectors are determined up to phases, and those of a repeated eigenvalue up to a rotation. Tangents are
the smallest ones: no vector turns towards itself or towards another of its eigenvalue. What depends on the
spaces alone, or on the eigenvalues symmetrically, has the right derivative, and a finite one everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, NotDifferentiableError, ShapeError
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ops.arrays.structure import aval, broadcast, cast, shape_of
from funcgrad.ops.elementwise.arithmetic import div, mul, neg, sub
from funcgrad.ops.elementwise.comparison import greater
from funcgrad.ops.elementwise.complexes import real, real_dtype
from funcgrad.ops.elementwise.magnitude import absolute
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.linalg.matrices import (
    OnStacks,
    adjoint,
    check_matrices,
    diagonal,
    from_triangle,
    hermitian_part,
    is_complex,
    lower_text,
    product,
    refusals,
    scaled_columns,
)
from funcgrad.ops.reducing.reductions import ReduceMax
from funcgrad.tracing.samples import ErrorSample, Sample, distinct, fixed, integers, normal
from funcgrad.types import AnyPrimitive, Array, Arrays

REPEATED = 4.0
"""Eigenvalues closer than this many units in the last place of the largest, times their number, are equal."""


class InversesOfGaps(OnStacks):
    """``1 / (w[j] - w[i])`` for pairs of numbers in the last axis, 0 where they are as good as equal."""

    wanted: ClassVar[str]
    """What the numbers must be cast to."""

    def infer(self, *avals: Aval) -> Aval:
        (w,) = avals
        if not w.ndim:
            raise ShapeError(f"{self.name} of {w}: needs numbers along the last axis")
        if w.dtype.kind != self.kinds:
            raise DtypeError(f"{self.name} of {w}: must be cast to {self.wanted} numbers first")
        return Aval((*w.shape, w.shape[-1]), w.dtype)

    def evaluate(self, *values: Array) -> Array:
        return inverses_of_gaps(values[0])

    def expansion(self, *inputs: Array) -> Array:
        return open_reciprocal(differences(inputs[0]), inputs[0])

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        return out, mul(neg(SquareOfOpenGaps().bind(out)), differences(tangents[0]))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (Sample(distinct(2, 3)),)


def inverses_of_gaps(w: Array) -> Array:
    """The evaluation of `InversesOfGaps`."""
    gaps = w[..., None, :] - w[..., :, None]
    largest = np.abs(w).max(axis=-1, initial=0)[..., None, None]
    is_open = np.abs(gaps) > largest * (REPEATED * w.shape[-1] * np.finfo(w.dtype).eps)
    return np.divide(1, gaps, out=np.zeros_like(gaps), where=is_open)


def rounding_of(s: Array, shape: Shape) -> Array:
    """What is as good as zero beside the numbers in the last axis of a traced array, in another shape."""
    last = len(shape_of(s)) - 1
    largest = ReduceMax((last,)).bind(absolute(s))
    bound = mul(largest, REPEATED * shape_of(s)[-1] * float(np.finfo(aval(s).dtype).eps))
    return broadcast(bound, shape, tuple(range(last)))


def open_reciprocal(x: Array, s: Array) -> Array | None:
    """``1 / x``, 0 where `x` is as good as zero; None for no numbers. What kernels compute."""
    if not shape_of(s)[-1]:
        return None
    opened = greater(absolute(x), rounding_of(s, shape_of(x)))
    return where(opened, div(1.0, where(opened, x, 1.0)), 0.0)


class InverseGaps(InversesOfGaps):
    """``1 / (w[j] - w[i])`` for pairs of real numbers in the last axis, 0 where they are as good as equal."""

    name = "inverse_gaps"
    of_vectors = True
    exported = ("inverse_gaps({0})",)
    kinds = "f"
    wanted = "floating-point"

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (
            ErrorSample(normal(), words="needs numbers", error=ShapeError),
            ErrorSample(integers(0, 3, 3), words="must be cast", error=DtypeError),
        )


class SquareOfOpenGaps(OnStacks):
    """The squares of `inverse_gaps`, for a second derivative of eigenvectors.

    Raises NotDifferentiableError where a gap is closed: what belongs there is not known, and it is not zero.
    """

    name = "square_of_open_gaps"

    def infer(self, *avals: Aval) -> Aval:
        check_matrices(self.name, avals[0], square=True)
        return avals[0].strong

    def evaluate(self, *values: Array) -> Array:
        (gaps,) = values
        n = gaps.shape[-1]
        if np.count_nonzero(gaps) < gaps.size - gaps.size // max(n, 1):
            raise NotDifferentiableError(
                "second derivatives through vectors of a repeated eigenvalue or singular value are not known",
                remedy="fg.scipy.linalg.expm, logm, sqrtm and polar have derivatives of every order there.",
            )
        return gaps * gaps

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (gaps,) = primals
        return self.bind(gaps), mul(mul(gaps, 2.0), tangents[0])

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (Sample(normal(2, 3, 3)),)

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        closed = ErrorSample(
            fixed(np.zeros((2, 2))), words="second derivatives", error=NotDifferentiableError
        )
        return (*refusals(), closed)


def differences(w: Array) -> Array:
    """``w[j] - w[i]`` for each pair in the last axis."""
    shape = (*shape_of(w), shape_of(w)[-1])
    n = len(shape)
    stack = tuple(range(n - 2))
    return sub(broadcast(w, shape, (*stack, n - 1)), broadcast(w, shape, (*stack, n - 2)))


class Eigh(OnStacks):
    """Ascending eigenvalues and orthonormal eigenvectors of Hermitian matrices, by one triangle.

    The other one does not matter, neither of the matrix nor of a tangent: gradients are triangles.
    """

    name = "eigh"
    cubic = 9.0
    in_double = True
    parameters = ("upper",)
    upper: bool
    multiple = True
    splits = True

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        (a,) = avals
        check_matrices(self.name, a, square=True)
        return Aval(a.shape[:-1], real_dtype(a.dtype)), a.strong

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        return tuple(np.linalg.eigh(values[0], "U" if self.upper else "L"))

    def exported_texts(self, operands: Sequence[str]) -> Sequence[str]:
        return [f"np.linalg.eigh({lower_text(operands[0], self.upper)})"]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        w, v = self.bind(*primals)
        inner = product(adjoint(v), from_triangle(tangents[0], self.upper), v)
        gaps = InverseGaps().bind(w)
        turn = mul(cast(gaps, inner.aval.dtype), inner)
        return (w, v), (real_of(diagonal(inner)), product(v, turn))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        cases = (((3, 3), False), ((2, 2, 2), False), ((3, 3), True))
        return tuple([Sample(normal(*s), params={"upper": u}, through=eigenspaces) for s, u in cases])

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals(params={"upper": False})


class Eigvalsh(OnStacks):
    """The eigenvalues of `eigh`."""

    name = "eigvalsh"
    cubic = 4 / 3
    in_double = True
    parameters = ("upper",)
    upper: bool

    def infer(self, *avals: Aval) -> Aval:
        (a,) = avals
        check_matrices(self.name, a, square=True)
        return Aval(a.shape[:-1], real_dtype(a.dtype))

    def evaluate(self, *values: Array) -> Array:
        return np.linalg.eigvalsh(values[0], "U" if self.upper else "L")

    def exported_texts(self, operands: Sequence[str]) -> Sequence[str]:
        return [f"np.linalg.eigvalsh({lower_text(operands[0], self.upper)})"]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        w, v = Eigh(self.upper).bind(*primals)
        return w, real_of(diagonal(product(adjoint(v), from_triangle(tangents[0], self.upper), v)))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return tuple(
            [Sample(normal(2, 3, 3), params={"upper": u}, through=of_hermitian) for u in (False, True)]
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals(params={"upper": False})


def real_of(x: Array) -> Array:
    """The real part; `x` itself where it is real."""
    return real(x) if is_complex(x) else x


# -- samples: what is determined -----------------------------------------------------------------------------


def of_hermitian(primitive: AnyPrimitive, x: Array) -> Arrays:
    """The primitive on the Hermitian part of any matrix."""
    return primitive.bind(hermitian_part(x))


def eigenspaces(primitive: object, x: Array) -> Arrays:
    """The eigenvalues, and a function of the eigenvectors that their phases do not matter to."""
    w, v = of_hermitian(primitive, x)
    weights = np.cos(np.arange(float(shape_of(w)[-1]))).astype(w.dtype)
    return w, product(scaled_columns(v, broadcast_last(weights, v)), adjoint(v))


def broadcast_last(weights: Array, v: Array) -> Array:
    """Numbers for the columns of each matrix of a stack, in its dtype."""
    shape = (*shape_of(v)[:-2], shape_of(v)[-1])
    return broadcast(weights.astype(v.dtype), shape, (len(shape) - 1,))


eigh = Eigh(False)
eigvalsh = Eigvalsh(False)
