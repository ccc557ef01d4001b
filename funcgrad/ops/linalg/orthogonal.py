"""The QR decomposition.

LAPACK makes the diagonal of ``r`` real, of either sign, which fixes ``q`` where the first columns are
independent; there the derivative is that of LAPACK's own result. The columns of a complete ``q`` beyond those
are fixed only in what they span: their tangents are the smallest that keep them orthogonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.movement import concatenate, take_span
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.ops.elementwise.arithmetic import add, neg, sub
from funcgrad.ops.elementwise.complexes import imag, make_complex
from funcgrad.ops.linalg.matrices import (
    OnStacks,
    adjoint,
    check_matrices,
    diagonal,
    diagonal_matrix,
    flipped,
    is_complex,
    lower_part,
    product,
    refusals,
)
from funcgrad.ops.linalg.triangular import TriangularSolve
from funcgrad.tracing.samples import Sample, normal
from funcgrad.types import AnyPrimitive, Array, Arrays


class Qr(OnStacks):
    """``q`` with orthonormal columns and upper triangular ``r`` with ``q @ r == a``.

    ``complete``: ``q`` is square and ``r`` has the shape of ``a``. Otherwise both have as few columns and
    rows as can be.
    """

    name = "qr"
    cubic = 8 / 3
    in_double = True
    multiple = True
    parameters: ClassVar[tuple[str, ...]] = ("complete",)
    complete: bool

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        (a,) = avals
        check_matrices(self.name, a)
        *stack, m, n = a.shape
        k = m if self.complete else min(m, n)
        return Aval((*stack, m, k), a.dtype), Aval((*stack, k, n), a.dtype)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        return tuple(np.linalg.qr(values[0], mode="complete" if self.complete else "reduced"))

    def exported_texts(self, operands: Sequence[str]) -> Sequence[str]:
        # Of Numba's there are the reduced factors only.
        return [f"{'complete_qr' if self.complete else 'np.linalg.qr'}({operands[0]})"]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (a,), (a_dot,) = primals, tangents
        q, r = self.bind(a)
        last = len(shape_of(a)) - 1
        m, n = shape_of(a)[-2:]
        first = take_span(a_dot, last, 0, min(m, n))
        square = take_span(take_span(r, last - 1, 0, min(m, n)), last, 0, min(m, n))
        # first @ square^-1, by its transpose
        change = flipped(TriangularSolve(False, True, False).bind(square, flipped(first)))
        inner = product(adjoint(q), change)
        turn = self.turned(inner, last, min(m, n))
        q_dot = product(q, turn)
        if shape_of(q)[-1] < m:
            # The columns of `a` may leave the space that `q` spans.
            q_dot = add(q_dot, sub(change, product(q, inner)))
        skew = turn if self.complete else skew_of_lower(inner)
        return (q, r), (q_dot, sub(product(adjoint(q), a_dot), product(skew, r)))

    def turned(self, inner: Array, last: int, k: int) -> Array:
        """The skew-Hermitian ``w`` with ``q_dot = q @ w`` within the columns of `q`."""
        top = take_span(inner, last - 1, 0, k)
        skew = skew_of_lower(top)
        rest = shape_of(inner)[-2] - k
        if not rest:
            return skew
        below = take_span(inner, last - 1, k, rest)
        corner = np.zeros((*shape_of(below)[:-2], rest, rest), below.aval.dtype)
        upper = concatenate([skew, neg(adjoint(below))], last)
        return concatenate([upper, concatenate([below, corner], last)], last - 1)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            *[Sample(normal(*s), params={"complete": False}) for s in ((3, 3), (2, 2, 3), (4, 2))],
            Sample(normal(4, 2), params={"complete": True}, through=without_gauge),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals(square=False, params={"complete": False})


def skew_of_lower(x: Array) -> Array:
    """The skew-Hermitian matrix with the lower triangle of `x`, and the imaginary part of its diagonal."""
    below = lower_part(x, -1)
    skew = sub(below, adjoint(below))
    if not is_complex(x):
        return skew
    turn = imag(diagonal(x))
    return add(skew, diagonal_matrix(make_complex(sub(turn, turn), turn)))


def without_gauge(primitive: AnyPrimitive, a: Array) -> Arrays:
    """The columns of `q` that the matrix fixes, the space that the others span, and `r`."""
    q, r = primitive.bind(a)
    last = len(shape_of(a)) - 1
    m, n = shape_of(a)[-2:]
    others = take_span(q, last, n, m - n)
    return take_span(q, last, 0, n), product(others, adjoint(others)), r
