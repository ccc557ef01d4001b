"""Coefficients of the spline that goes through the elements of an array, along one axis.

Linear, and computed by SciPy: recursions forwards and backwards whose first values stand for an array that
goes on without end. For an array mirrored at its end elements the transpose is the filter itself between
weights of one half for those. For one mirrored beyond them, or repeated, it is the filter itself; but for
short arrays and high orders SciPy's first values are not exact, and the transpose is that of its matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import LinearUnary
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.samples import ErrorSample, Sample, normal
from funcgrad.types import Array

MIRRORED = ("mirror", "constant", "wrap", "grid-constant")
"""Modes for which SciPy continues an array mirrored at its end elements."""

DENSE = 64
"""Elements up to which a matrix stands for a filter that is not its own transpose."""


class SplineFilter(LinearUnary):
    """The coefficients along ``axis``, of a spline of an ``order`` from 2 to 5; or the transpose of that."""

    name = "spline_filter"
    not_exported = "the filter is SciPy's, and neither NumPy nor Numba has it"
    parameters = ("axis", "order", "mode", "transposed")
    axis: int
    order: int
    mode: str
    transposed: bool

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        if not 0 <= self.axis < x.ndim:
            raise ShapeError(f"{self.name} of {x}: there is no axis {self.axis}")
        if not x.inexact:
            raise DtypeError(f"{self.name} of {x}: it needs floating-point numbers")
        return x.strong

    def evaluate(self, *values: Array) -> Array:
        (x,) = values
        if not x.size:
            return x.copy()
        n = x.shape[self.axis]
        if not self.transposed or n < 2:
            return self.filtered(x)
        if self.mode in MIRRORED:
            ends = np.ones(n)
            ends[[0, -1]] = 2.0
            ends = ends.reshape((-1, *[1] * (x.ndim - self.axis - 1))).astype(x.real.dtype)
            return (self.filtered(x * ends) / ends).astype(x.dtype)
        if self.order < 4 or self.mode == "grid-wrap" or n > DENSE:
            return self.filtered(x)
        moved = np.moveaxis(x, self.axis, -1) @ filter_matrix(n, self.order, self.mode).astype(x.real.dtype)
        return np.moveaxis(moved, -1, self.axis)

    def filtered(self, x: Array) -> Array:
        """SciPy's coefficients."""
        ndimage: Any = import_module("scipy.ndimage")
        return ndimage.spline_filter1d(x, self.order, self.axis, x.dtype, self.mode)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return (SplineFilter(self.axis, self.order, self.mode, not self.transposed).bind(cotangent),)

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return SplineFilter(self.axis + 1, self.order, self.mode, self.transposed).bind(*inputs), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        modes = ("mirror", "reflect", "grid-wrap", "constant")
        return tuple(
            [
                Sample(
                    normal(7, 2), params={"axis": 0, "order": order, "mode": mode, "transposed": order == 4}
                )
                for order, mode in zip((3, 5, 4, 2), modes, strict=True)
            ]
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"axis": 1, "order": 3, "mode": "mirror", "transposed": False}
        return (ErrorSample(normal(3), params=params, words="no axis", error=ShapeError),)


@lru_cache(16)
def filter_matrix(n: int, order: int, mode: str) -> Array:
    """The filter of so many elements, as a matrix."""
    ndimage: Any = import_module("scipy.ndimage")
    return ndimage.spline_filter1d(np.eye(n), order, 0, np.float64, mode)
