"""Systems of linear equations with banded matrices, in LAPACK's storage: a row for each diagonal.

``ab[upper + i - j, j] == a[i, j]``, as in `scipy.linalg.solve_banded`; stacks of them, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.movement import concatenate, take_span
from funcgrad.ops.arrays.structure import aval, broadcast, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import mul, sub
from funcgrad.ops.families import added
from funcgrad.ops.linalg.matrices import OnStacks
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.samples import Draw, ErrorSample, Sample, normal
from funcgrad.types import Array


class SolveBanded(OnStacks):
    """``x`` with ``a @ x == b``, for the diagonals of ``a`` and right-hand sides in columns."""

    name = "solve_banded"
    exported = ("banded_solution({0}, {1}, {p.lower}, {p.upper})",)
    parameters: ClassVar[tuple[str, ...]] = ("lower", "upper")
    lower: int
    upper: int

    def infer(self, *avals: Aval) -> Aval:
        ab, b = avals
        if ab.ndim < 2 or b.ndim != ab.ndim or ab.shape[:-2] != b.shape[:-2]:
            raise ShapeError(f"solve_banded of {ab} and {b}: needs diagonals in rows, and right-hand sides")
        if ab.shape[-2] != self.lower + self.upper + 1 or ab.shape[-1] != b.shape[-2]:
            raise ShapeError(
                f"solve_banded of {ab} and {b}: {self.lower} diagonals below and {self.upper} above the main "
                f"one need {self.lower + self.upper + 1} rows, as long as the right-hand sides"
            )
        return b.with_dtype(np.result_type(ab.dtype, b.dtype)).strong

    def evaluate(self, *values: Array) -> Array:
        ab, b = values
        solve = import_module("scipy.linalg").solve_banded
        found = np.empty(b.shape, np.result_type(ab, b))
        for index in np.ndindex(b.shape[:-2]):
            if b.shape[-1] and b.shape[-2]:
                found[index] = solve((self.lower, self.upper), ab[index], b[index])
        return found

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        ab, b = primals
        out = self.bind(ab, b)
        right = tangents[1]
        if tangents[0] is not None:
            moved = banded_product(tangents[0], out, self.lower, self.upper)
            right = sub(0.0, moved) if right is None else sub(right, moved)
        return out, None if right is None else self.bind(ab, right)

    def linear_in(self, flags: Flags) -> bool:
        return not flags[0]

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        turned = transposed_bands(inputs[0], self.lower, self.upper)
        return None, SolveBanded(self.upper, self.lower).bind(turned, cotangent)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        params = {"lower": 1, "upper": 2}
        return (
            Sample(bands(4, 5), normal(5, 2), params=params),
            Sample(bands(2, 3, 4), normal(2, 4, 1), params={"lower": 1, "upper": 1}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"lower": 1, "upper": 1}
        return (
            ErrorSample(normal(2, 5), normal(5, 2), params=params, words="need 3 rows", error=ShapeError),
            ErrorSample(normal(5), normal(5), params=params, words="diagonals in rows", error=ShapeError),
        )


def bands(*shape: int) -> Draw:
    """Diagonals of matrices that are far from singular: the main one is the second row."""

    def draw_bands(rng: np.random.Generator, dtype: np.dtype[Any]) -> Array:
        x = normal(*shape)(rng, dtype)
        x[..., 1, :] += np.asarray(9.0, dtype)
        x[..., 2, :] += np.asarray(9.0, dtype) if shape[-2] == 4 else 0
        if shape[-2] == 4:
            x[..., 1, :] *= np.asarray(0.05, dtype)
        return x

    return draw_bands


def shifted(x: Array, by: int, axis: int) -> Array:
    """Elements moved along an axis, with zeros where nothing comes from."""
    if not by:
        return x
    shape = shape_of(x)
    size = shape[axis]
    kept = max(size - abs(by), 0)
    hole = np.zeros((*shape[:axis], size - kept, *shape[axis + 1 :]), aval(x).dtype)
    part = take_span(x, axis, 0 if by > 0 else size - kept, kept)
    return concatenate([hole, part] if by > 0 else [part, hole], axis)


def diagonal_row(ab: Array, row: int) -> Array:
    """One row of the storage."""
    shape = shape_of(ab)
    part = take_span(ab, len(shape) - 2, row, 1)
    return reshape(part, (*shape[:-2], shape[-1]))


def banded_product(ab: Array, x: Array, lower: int, upper: int) -> Array:
    """The product of a banded matrix and columns."""
    shape = shape_of(x)
    axis = len(shape) - 2
    total: Any = None
    for row in range(lower + upper + 1):
        weights = broadcast(diagonal_row(ab, row), shape, tuple(range(axis + 1)))
        total = added(total, shifted(mul(weights, x), row - upper, axis))
    return total


def transposed_bands(ab: Array, lower: int, upper: int) -> Array:
    """The storage of the transpose, which has as many diagonals above as the matrix has below."""
    shape = shape_of(ab)
    axis = len(shape) - 2
    rows = []
    for row in range(lower + upper + 1):
        # The transpose has a[j, i] at i - j = row - lower: column i = j + row - lower of another row.
        source = diagonal_row(ab, lower + upper - row)
        rows.append(reshape(shifted(source, lower - row, axis), (*shape[:-2], 1, shape[-1])))
    return concatenate(rows, axis)
