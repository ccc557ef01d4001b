"""Normalisation in the exponent: `logsumexp`, `softmax` and `log_softmax` of real numbers, over axes.

All three shift by the largest element, so nothing overflows. An element of minus infinity has no weight, in
derivatives too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import reduce_sum, reduced_shape, shape_of
from funcgrad.ops.elementwise.arithmetic import mul, sub
from funcgrad.ops.elementwise.comparison import equal, isfinite
from funcgrad.ops.elementwise.elementary import exp, log, log1p
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import Reduction
from funcgrad.ops.reducing.extremes import maximum
from funcgrad.ops.reducing.reductions import ReduceMax
from funcgrad.tracing.samples import ErrorSample, Sample, edge, integers, normal
from funcgrad.types import Array


class Exponential(Reduction):
    """What the three share: real floating-point input, and samples."""

    kinds = "f"
    of_nothing = "0.0"
    cost = 18

    def check(self, x: Aval) -> None:
        """Raise unless the input is real and has the axes."""
        if x.dtype.kind != "f":
            raise DtypeError(f"{self.name} of {x}: must be cast to real floating-point numbers first")
        reduced_shape(x, self.axes)

    def expansion(self, *inputs: Array) -> Array | None:
        (x,) = inputs
        if 0 in shape_of(x):
            return None
        top = ReduceMax(self.axes).bind(x)
        return self.composed(x, top, where(isfinite(top), top, 0.0))

    def composed(self, x: Array, top: Array, base: Array) -> Array:
        """The result by other operations, of the largest elements, and of these where they are finite."""
        raise NotImplementedError(f"{self.name}: composed")

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(4), params={"axes": (0,)}),
            Sample(normal(3, 4), params={"axes": (1,)}),
            Sample(normal(2, 3, 2), params={"axes": (0, 2)}),
            Sample(normal(2, 0), params={"axes": (1,)}, differentiable=False),
            Sample(normal(), params={"axes": ()}),
            Sample(edge(1000.0, 0.0, -1000.0), params={"axes": (0,)}),
            Sample(edge(-np.inf, 0.0, 1.0), params={"axes": (0,)}, differentiable=False),
            Sample(edge(np.inf, 0.0, -np.inf), params={"axes": (0,)}, differentiable=False),
            Sample(edge(-np.inf, -np.inf), params={"axes": (0,)}, differentiable=False),
            Sample(edge(np.nan, 0.0), params={"axes": (0,)}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return (
            ErrorSample(normal(3), params={"axes": (1,)}, words="axes", error=ShapeError),
            ErrorSample(integers(0, 3, 3), params={"axes": (0,)}, words="must be cast", error=DtypeError),
        )


class LogSumExp(Exponential):
    """``log(sum(exp(x)))`` over axes; minus infinity of no elements.

    The derivative is the softmax. Where all elements are minus infinity it is zero.
    """

    name = "logsumexp"
    of_nothing = "-np.inf"

    def infer(self, *avals: Aval) -> Aval:
        self.check(avals[0])
        return Aval(reduced_shape(avals[0], self.axes), avals[0].dtype)

    def evaluate(self, *values: Array) -> Array:
        # The largest elements are counted, not summed: log1p then keeps what little the others add.
        x = values[0]
        top = np.maximum.reduce(x, axis=self.axes, keepdims=True, initial=-np.inf)
        largest = x == top
        others = np.exp(np.where(largest, -np.inf, x) - np.where(np.isfinite(top), top, 0))
        count = np.add.reduce(largest, axis=self.axes, dtype=x.dtype)
        share = np.add.reduce(others, axis=self.axes) / np.maximum(count, 1)
        return np.log1p(share) + np.log(count) + top.reshape(share.shape)[()]

    def composed(self, x: Array, top: Array, base: Array) -> Array:
        largest = equal(x, self.keepdims(top, x))
        others = where(largest, 0.0, exp(x - self.keepdims(base, x)))
        count = reduce_sum(where(largest, x.dtype.type(1), x.dtype.type(0)), self.axes)
        share = reduce_sum(others, self.axes) / maximum(count, 1.0)
        return log1p(share) + log(count) + top

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, x_dot = primals[0], tangents[0]
        moved = where(equal(x, -np.inf), 0.0, mul(Softmax(self.axes).bind(x), x_dot))
        return self.bind(x), reduce_sum(moved, self.axes)


class Softmax(Exponential):
    """``exp(x) / sum(exp(x))`` over axes.

    Infinite elements share the whole weight evenly; where all are minus infinity the result is NaN.
    """

    name = "softmax"

    def infer(self, *avals: Aval) -> Aval:
        self.check(avals[0])
        return avals[0].strong

    def evaluate(self, *values: Array) -> Array:
        x = values[0]
        top = np.maximum.reduce(x, axis=self.axes, keepdims=True, initial=-np.inf)
        weights = np.exp(x - top)
        if np.any(top == np.inf):
            weights = np.where(top == np.inf, x == top, weights)
        return weights / np.add.reduce(weights, axis=self.axes, keepdims=True)

    def composed(self, x: Array, top: Array, base: Array) -> Array:
        infinite = self.keepdims(equal(top, np.inf), x)
        share = where(equal(x, self.keepdims(top, x)), x.dtype.type(1), x.dtype.type(0))
        weights = where(infinite, share, exp(x - self.keepdims(base, x)))
        return weights / self.keepdims(reduce_sum(weights, self.axes), x)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(primals[0])
        moved = mul(out, tangents[0])
        return out, sub(moved, mul(out, self.keepdims(reduce_sum(moved, self.axes), out)))


class LogSoftmax(Exponential):
    """``x - logsumexp(x)`` over axes, without losing the digits of a large ``x``."""

    name = "log_softmax"

    def infer(self, *avals: Aval) -> Aval:
        self.check(avals[0])
        return avals[0].strong

    def evaluate(self, *values: Array) -> Array:
        x = values[0]
        top = np.maximum.reduce(x, axis=self.axes, keepdims=True, initial=-np.inf)
        moved = x - np.where(np.isfinite(top), top, 0)
        return moved - np.log(np.add.reduce(np.exp(moved), axis=self.axes, keepdims=True))

    def composed(self, x: Array, top: Array, base: Array) -> Array:
        moved = x - self.keepdims(base, x)
        return moved - self.keepdims(log(reduce_sum(exp(moved), self.axes)), x)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out, x_dot = self.bind(primals[0]), tangents[0]
        mean = reduce_sum(mul(exp(out), x_dot), self.axes)
        return out, sub(x_dot, self.keepdims(mean, out))
