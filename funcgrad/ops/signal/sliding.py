"""Sums of products of vectors that slide past each other: convolution, and correlation without conjugation.

Each is linear in both operands, and the transposes of the one are the other. NumPy's C loops evaluate them,
in the memory of the result. Operands may have equal axes before their last one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import broadcast, shape_of
from funcgrad.ops.families import added
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, integers, normal
from funcgrad.types import Array


class Sliding(Primitive):
    """What the two share. A concrete class says its length, its values for vectors, and its transposes."""

    kinds: ClassVar[str] = "fc"
    of_rows: ClassVar[str]
    """What exported modules call for the rows of two stacks."""

    def length(self, n: int, m: int) -> int:
        """The length of the result."""
        raise NotImplementedError(f"{self.name}: length")

    def of_vectors(self, x: Array, y: Array) -> Array:
        """The result for two vectors."""
        raise NotImplementedError(f"{self.name}: of_vectors")

    def infer(self, *avals: Aval) -> Aval:
        x, y = avals
        if x.dtype != y.dtype:
            raise DtypeError(f"{self.name} of {x} and {y}: operands must be cast to one dtype first")
        if not x.ndim or x.shape[:-1] != y.shape[:-1] or 0 in (x.shape[-1], y.shape[-1]):
            raise ShapeError(f"{self.name} of {x} and {y}: it needs vectors, or equally many of them")
        return x.with_shape((*x.shape[:-1], self.length(x.shape[-1], y.shape[-1]))).strong

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return 2.0 * outputs[0].size * min([x.size for x in inputs])

    def evaluate(self, *values: Array) -> Array:
        x, y = values
        if x.ndim == 1:
            return self.of_vectors(x, y)
        rows = math.prod(x.shape[:-1])
        out = np.empty((rows, self.length(x.shape[-1], y.shape[-1])), x.dtype)
        pairs = zip(x.reshape(rows, -1), y.reshape(rows, -1), strict=True)
        for k, (first, second) in enumerate(pairs):
            out[k] = self.of_vectors(first, second)
        return out.reshape(*x.shape[:-1], -1)

    def line_calls(self, given: Sequence[Aval], out: Aval) -> Sequence[tuple[str, str]]:
        rows = math.prod(out.shape[:-1])
        return ((self.of_rows, ", ".join([str(n) for n in (rows, *[a.shape[-1] for a in given])])),)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (x, y), (x_dot, y_dot) = primals, tangents
        dot = None if x_dot is None else self.bind(x_dot, y)
        return self.bind(x, y), added(dot, None if y_dot is None else self.bind(x, y_dot))

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        full = [
            x if flag else broadcast(x, (size, *shape_of(x)), tuple(range(1, len(shape_of(x)) + 1)))
            for x, flag in zip(inputs, batched, strict=True)
        ]
        return self.bind(*full), True

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (
            ErrorSample(normal(3), integers(0, 3, 2), words="one dtype", error=DtypeError),
            ErrorSample(normal(2, 3), normal(3, 3), words="equally many", error=ShapeError),
            ErrorSample(normal(3), normal(0), words="it needs vectors", error=ShapeError),
        )


class Convolve(Sliding):
    """``sum_k x[i - k] y[k]`` wherever the two overlap."""

    name = "convolve"
    of_rows = "convolved_rows"

    def length(self, n: int, m: int) -> int:
        return n + m - 1

    def of_vectors(self, x: Array, y: Array) -> Array:
        return np.convolve(x, y)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        return f"np.convolve({names[0]}, {names[1]})" if avals[0].ndim == 1 else None

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, y = inputs
        if isinstance(x, Linear):
            return Correlate().bind(cotangent, y), None
        return None, Correlate().bind(cotangent, x)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(5), normal(3)),
            Sample(normal(2), normal(4)),
            Sample(normal(1), normal(1)),
            Sample(normal(2, 3), normal(2, 2)),
            Sample(integers(-4, 4, 3), integers(-4, 4, 2), differentiable=False),
        )


class Correlate(Sliding):
    """``sum_k x[i + k] y[k]`` where the second vector lies within the first: nothing is conjugated."""

    name = "correlate"
    of_rows = "correlated_rows"

    def length(self, n: int, m: int) -> int:
        if m > n:
            raise ShapeError(f"{self.name}: a vector of length {m} does not lie within one of length {n}")
        return n - m + 1

    def of_vectors(self, x: Array, y: Array) -> Array:
        return np.convolve(x, y[::-1], "valid")

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        if avals[0].ndim != 1:
            return None
        return f"np.convolve({names[0]}, {names[1]}[::-1], 'valid')"

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        x, y = inputs
        if isinstance(x, Linear):
            return Convolve().bind(cotangent, y), None
        return None, Correlate().bind(x, cotangent)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(5), normal(3)),
            Sample(normal(4), normal(4)),
            Sample(normal(2, 3), normal(2, 2)),
            Sample(integers(-4, 4, 3), integers(-4, 4, 2), differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (
            *super().error_samples(),
            ErrorSample(normal(2), normal(3), words="does not lie within", error=ShapeError),
        )
