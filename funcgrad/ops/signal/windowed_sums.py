"""Weighted sums of the windows of an array along one axis: ``y[i] = w[0] x[i] + w[1] x[i + 1] + ...``.

Linear in the array and in the weights. Its transpose by the array is a sum of the same kind, with the weights
turned round and zeros at both ends; by the weights one number for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.movement import flip, stack
from funcgrad.ops.arrays.slicing import Pad, Slice
from funcgrad.ops.arrays.structure import reduce_sum, shape_of
from funcgrad.ops.elementwise.arithmetic import mul
from funcgrad.ops.families import added
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, normal
from funcgrad.types import Array

MOST_WEIGHTS = 64
"""Weights of a window up to which kernels write its sum out."""


class WindowedSums(Primitive):
    """The sums along ``axis`` of the first input, by the weights that are the second."""

    name = "windowed_sums"
    parameters = ("axis",)
    kinds: ClassVar[str] = "fc"
    axis: int

    def infer(self, *avals: Aval) -> Aval:
        x, w = avals
        if w.ndim != 1 or not 0 <= self.axis < x.ndim or not 0 < w.size <= x.shape[self.axis]:
            raise ShapeError(f"{self.name} of {x} and {w}: no window fits along axis {self.axis}")
        if x.dtype != w.dtype or not x.inexact:
            raise DtypeError(f"{self.name} of {x} and {w}: both must be floats of one dtype")
        shape = list(x.shape)
        shape[self.axis] += 1 - w.size
        return x.with_shape(tuple(shape)).strong

    def evaluate(self, *values: Array) -> Array:
        x, w = values
        shape = self.infer(Aval(x.shape, x.dtype), Aval(w.shape, w.dtype)).shape
        if not x.size:
            return np.zeros(shape, x.dtype)
        # SciPy conjugates complex weights, and places windows around their middle.
        found = import_module("scipy.ndimage").correlate1d(x, w.conj(), self.axis, mode="constant")
        first = w.size // 2
        return found[(*[slice(None)] * self.axis, slice(first, first + shape[self.axis]))].astype(x.dtype)

    def expansion(self, *inputs: Array) -> Array | None:
        """A sum of shifted arrays, each times a number."""
        x, w = inputs
        count = shape_of(w)[0]
        if count > MOST_WEIGHTS or 0 in shape_of(x):
            return None
        total = None
        for k, part in enumerate(self.windows(x, count)):
            total = added(total, mul(part, Slice((k,)).bind(w)))
        return total

    def windows(self, x: Array, count: int) -> Iterator[Any]:
        """What each weight is multiplied by."""
        shape = shape_of(x)
        length = shape[self.axis] + 1 - count
        whole = [(0, n, 1) for n in shape]
        for k in range(count):
            yield Slice((*whole[: self.axis], (k, length, 1), *whole[self.axis + 1 :])).bind(x)

    def widened(self, x: Array, before: int, after: int) -> Array:
        """The array with so many zeros before and behind it."""
        shape = shape_of(x)
        n = shape[self.axis]
        wide = (*shape[: self.axis], before + n + after, *shape[self.axis + 1 :])
        spans = [(0, m, 1) for m in shape]
        spans[self.axis] = (before, n, 1)
        return Pad(wide, tuple(spans)).bind(x)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (x, w), (x_dot, w_dot) = primals, tangents
        first = None if x_dot is None else self.bind(x_dot, w)
        return self.bind(x, w), added(first, None if w_dot is None else self.bind(x, w_dot))

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, w = inputs
        if isinstance(x, Linear):
            reach = shape_of(w)[0] - 1
            return self.bind(self.widened(cotangent, reach, reach), flip(w, (0,))), None
        axes = tuple(range(len(shape_of(cotangent))))
        sums = [reduce_sum(mul(cotangent, part), axes) for part in self.windows(x, w.aval.shape[0])]
        return None, stack(sums, 0)

    def linear_in(self, flags: Flags) -> bool:
        return sum(flags) == 1

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        x, w = inputs
        if not batched[1]:
            return WindowedSums(self.axis + 1).bind(x, w), True
        found = [self.bind(x[k] if batched[0] else x, w[k]) for k in range(size)]
        return stack(found, 0), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(6), normal(3), params={"axis": 0}),
            Sample(normal(5, 3), normal(2), params={"axis": 0}),
            Sample(normal(2, 4, 3), normal(4), params={"axis": 1}),
            Sample(normal(2, 4), normal(1), params={"axis": 1}),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (ErrorSample(normal(2), normal(3), params={"axis": 0}, words="no window", error=ShapeError),)
