"""Cholesky's factor, and systems of linear equations with triangular matrices."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import real_products
from funcgrad.ops.elementwise.arithmetic import neg, sub
from funcgrad.ops.linalg.matrices import OnStacks, Triangle, flipped, matrix_by_matrix, product
from funcgrad.ops.linalg.systems import (
    check_right_hand_sides,
    columns_apart,
    columns_together,
    well_conditioned,
)
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.samples import ErrorSample, Sample, normal
from funcgrad.types import Array

FEW_ROWS = 32
"""Up to this size a stack of triangular matrices is substituted row by row for all of them at once."""


class TriangularSolve(OnStacks):
    """``x`` with ``t @ x == b``, or with ``t.T @ x == b``, where ``t`` is a triangle of the first operand.

    The other triangle is not read, and with ``unit`` neither is the diagonal, which counts as ones.
    """

    name = "triangular_solve"
    parameters: ClassVar[tuple[str, ...]] = ("lower", "transposed", "unit")
    lower: bool
    transposed: bool
    unit: bool

    def infer(self, *avals: Aval) -> Aval:
        a, b = avals
        check_right_hand_sides(self.name, a, b)
        return b.strong

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return float(inputs[0].shape[-1]) * outputs[0].size * real_products(outputs[0])

    def evaluate(self, *values: Array) -> Array:
        a, b = values
        if self.transposed:
            a = np.swapaxes(a, -1, -2)
        lower = self.lower != self.transposed
        if not b.size:
            return np.zeros_like(b)
        if a.ndim > 2 and a.shape[-1] <= FEW_ROWS:
            return substituted(a, b, lower, self.unit)
        scipy: Any = import_module("scipy.linalg")

        def solved(t: Array, rhs: Array) -> Array:
            return scipy.solve_triangular(t, rhs, lower=lower, unit_diagonal=self.unit, check_finite=False)

        return matrix_by_matrix(solved, a, b)

    def exported_texts(self, operands: Sequence[str]) -> Sequence[str]:
        a = f"{operands[0]}.T" if self.transposed else operands[0]
        return [f"substituted({a}, {operands[1]}, {self.lower != self.transposed}, {self.unit})"]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (a, b), (a_dot, b_dot) = primals, tangents
        x = self.bind(a, b)
        if a_dot is not None:
            part = Triangle(self.lower, (-1 if self.lower else 1) * self.unit).bind(a_dot)
            change = product(flipped(part) if self.transposed else part, x)
            b_dot = neg(change) if b_dot is None else sub(b_dot, change)
        return x, self.bind(a, b_dot)

    def linear_in(self, flags: Flags) -> bool:
        return flags == (False, True)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        other = TriangularSolve(self.lower, not self.transposed, self.unit)
        return None, other.bind(inputs[0], cotangent)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        if batched[0]:
            return super().batch(size, inputs, batched)
        a, b = inputs
        return columns_apart(self.bind(a, columns_together(b)), size), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        ways = ((True, True, False), (False, False, True))
        return (
            *[
                Sample(
                    well_conditioned(3, 3), normal(3, 2), params=dict(zip(cls.parameters, way, strict=True))
                )
                for way in ways
            ],
            *[
                Sample(
                    well_conditioned(2, 3, 3),
                    normal(2, 3, 1),
                    params=dict(zip(cls.parameters, way, strict=True)),
                )
                for way in ((True, True, True), (False, False, False))
            ],
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(3, 3), normal(2, 1), params=_LOWER, words="do not fit", error=ShapeError),)


_LOWER = {"lower": True, "transposed": False, "unit": False}


def substituted(a: Array, b: Array, lower: bool, unit: bool) -> Array:
    """Forward or backward substitution, one row of every matrix at a time."""
    n = a.shape[-1]
    x = np.array(b)
    with np.errstate(all="ignore"):
        for i in range(n) if lower else range(n - 1, -1, -1):
            known = slice(0, i) if lower else slice(i + 1, n)
            row = x[..., i : i + 1, :]
            row -= a[..., i : i + 1, known] @ x[..., known, :]
            if not unit:
                row /= a[..., i : i + 1, i : i + 1]
    return x


def divided_left(factor: Array, b: Array) -> Array:
    """``factor^-1 @ b`` for a lower triangular factor."""
    return TriangularSolve(True, False, False).bind(factor, b)
