"""Cholesky's factor, and how it changes with the matrix.

The changes of large real factors are operations of their own, because kernels have an algorithm of their own
for gradients: the factor's, from its last block to its first, which takes two thirds of ``n**3`` operations
where products and solutions with whole matrices take 2.3.

I. Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527, 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.ops.elementwise.arithmetic import add, mul, sub
from funcgrad.ops.linalg.matrices import (
    OnStacks,
    check_matrices,
    conjugate,
    diagonal,
    diagonal_matrix,
    flipped,
    from_triangle,
    is_complex,
    lower_part,
    product,
    refusals,
)
from funcgrad.ops.linalg.triangular import TriangularSolve, divided_left
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.samples import Sample, normal
from funcgrad.types import AnyPrimitive, Array

LARGE = 256
"""Rows from which the changes of a factor are operations of their own."""


class Cholesky(OnStacks):
    """The lower triangular ``l`` with ``l @ l^H == a`` and a positive diagonal; reads the lower triangle.

    The other one does not matter, neither of the matrix nor of a tangent: gradients are lower triangles.
    """

    name = "cholesky"
    exported = ("np.linalg.cholesky({0})",)
    cubic = 1 / 3

    def infer(self, *avals: Aval) -> Aval:
        check_matrices(self.name, avals[0], square=True)
        return avals[0].strong

    def evaluate(self, *values: Array) -> Array:
        return np.linalg.cholesky(values[0])

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        factor = self.bind(*primals)
        shape = shape_of(factor)
        if len(shape) > 2 or shape[-1] < LARGE or is_complex(factor):
            return factor, change_of_factor(factor, tangents[0])
        return factor, CholeskyTangent().bind(factor, tangents[0])

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return tuple([Sample(normal(*s), through=of_positive) for s in ((3, 3), (2, 2, 2))])

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals()


class OfFactor(OnStacks):
    """A linear function of a second matrix; the first is a lower factor, with zeros above its diagonal."""

    kinds = "f"
    cubic = 2 / 3

    def infer(self, *avals: Aval) -> Aval:
        for aval in avals:
            check_matrices(self.name, aval, square=True)
        return avals[1].strong

    def linear_in(self, flags: Flags) -> bool:
        return flags == (False, True)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return tuple([Sample(normal(*s), normal(*s), through=of_factor) for s in ((3, 3), (2, 2, 2))])

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return ()


class CholeskyTangent(OfFactor):
    """The change of the factor ``l`` where the lower triangle of its matrix changes by the second operand.

    That is ``l @ half(l^-1 @ a_dot @ l^-T)``: ``half`` takes the lower triangle, and half of the diagonal.
    """

    name = "cholesky_tangent"

    def evaluate(self, *values: Array) -> Array:
        factor, change = values
        solve = TriangularSolve(True, False, False).evaluate
        full = np.tril(change) + np.swapaxes(np.tril(change, -1), -1, -2)
        inner = solve(factor, np.swapaxes(solve(factor, full), -1, -2))
        return factor @ (np.tril(inner) * halves(inner))

    def expansion(self, *inputs: Array) -> Array:
        return change_of_factor(*inputs)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (factor, change), (factor_dot, change_dot) = primals, tangents
        total = None if change_dot is None else self.bind(factor, change_dot)
        if factor_dot is not None:
            inner = divided_both(factor, from_triangle(change))
            turned = product(divided_left(factor, factor_dot), inner)
            turned = add(turned, flipped(turned))
            moved = sub(product(factor_dot, half_of(inner)), product(factor, half_of(turned)))
            total = moved if total is None else add(total, moved)
        return self.bind(factor, change), total

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return None, CholeskyCotangent().bind(inputs[0], cotangent)


class CholeskyCotangent(OfFactor):
    """The gradient by a matrix's lower triangle, from that by its factor ``l``: the tangent's transpose."""

    name = "cholesky_cotangent"
    exported = ("gradient_by_factor({0}, {1})",)

    def evaluate(self, *values: Array) -> Array:
        factor, change = values
        solve = TriangularSolve(True, True, False).evaluate
        inner = np.swapaxes(factor, -1, -2) @ np.tril(change)
        full = np.tril(inner) + np.swapaxes(np.tril(inner, -1), -1, -2)
        outer = solve(factor, np.swapaxes(solve(factor, full), -1, -2))
        return np.tril(outer) * halves(outer)

    def expansion(self, *inputs: Array) -> Array:
        """Where matrices are large, kernels have the blocked algorithm."""
        factor, change = inputs
        shape = shape_of(factor)
        if len(shape) == 2 and shape[-1] >= LARGE:
            return None
        return half_of(divided_across(factor, mirrored(product(flipped(factor), lower_part(change)))))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (factor, change), (factor_dot, change_dot) = primals, tangents
        total = None if change_dot is None else self.bind(factor, change_dot)
        if factor_dot is not None:
            change = lower_part(change)
            turned = product(mirrored(product(flipped(factor), change)), divided_left(factor, factor_dot))
            inner = sub(mirrored(product(flipped(factor_dot), change)), add(turned, flipped(turned)))
            moved = half_of(divided_across(factor, inner))
            total = moved if total is None else add(total, moved)
        return self.bind(*primals), total

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return None, CholeskyTangent().bind(inputs[0], cotangent)


# -- words for rules -----------------------------------------------------------------------------------------


def change_of_factor(factor: Array, change: Array) -> Array:
    """The change of a factor, by products and solutions."""
    return product(factor, half_of(divided_both(factor, from_triangle(change))))


def divided_both(factor: Array, x: Array) -> Array:
    """``l^-1 @ x @ l^-H`` for a Hermitian matrix."""
    return flipped(divided_left(conjugate(factor), flipped(divided_left(factor, x))))


def divided_across(factor: Array, x: Array) -> Array:
    """``l^-T @ x @ l^-1`` for a symmetric matrix."""
    solve = TriangularSolve(True, True, False).bind
    return solve(factor, flipped(solve(factor, x)))


def half_of(x: Array) -> Array:
    """The lower triangle with half of the diagonal."""
    return sub(lower_part(x), mul(diagonal_matrix(diagonal(x)), 0.5))


def mirrored(x: Array) -> Array:
    """The symmetric matrix with this lower triangle."""
    low = lower_part(x, -1)
    return add(add(low, flipped(low)), diagonal_matrix(diagonal(x)))


def halves(x: Array) -> Array:
    """One half on the diagonal, one elsewhere."""
    n = x.shape[-1]
    return (1.0 - 0.5 * np.eye(n)).astype(x.dtype)


def of_factor(primitive: AnyPrimitive, x: Array, change: Array) -> Array:
    """The primitive at the factor that has the lower triangle of any matrix, far from singular."""
    identity = np.eye(x.shape[-1], dtype=x.dtype)
    return primitive.bind(add(mul(lower_part(x), 0.5), 2.0 * identity + np.zeros(x.shape, x.dtype)), change)


def of_positive(primitive: AnyPrimitive, x: Array) -> Array:
    """The primitive on a Hermitian positive definite matrix made of any."""
    return primitive.bind(product(x, flipped(conjugate(x))) + np.eye(x.shape[-1], dtype=x.dtype))


cholesky = Cholesky()
