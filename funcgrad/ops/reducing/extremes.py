"""The larger or smaller of two numbers, and `clip`.

Where both operands of an extreme are equal, each has half of the derivative. A clipped number keeps its
whole derivative between the bounds and on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ops.elementwise.arithmetic import strong_zero_mul
from funcgrad.ops.elementwise.comparison import equal, less
from funcgrad.ops.elementwise.logic import logical_and
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import Binary, Pointwise, added, broadcast_to, ufunc_dtypes
from funcgrad.ops.native import by_kind
from funcgrad.tracing.samples import Sample, booleans, distinct, edge, integers, normal, uniform
from funcgrad.types import Array


class Extreme(Binary):
    """One of two operands, chosen by their order. The operand not chosen contributes exactly nothing."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        if not out.aval.inexact:
            return out, None
        total = None
        for i, tangent in enumerate(tangents):
            if tangent is not None:
                share = share_of(primals[i], primals[1 - i], out)
                total = added(total, strong_zero_mul(share, tangent))
        return out, broadcast_to(total, out.aval.shape)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(distinct(3, 2), normal(3, 2)),
            Sample(distinct(4), normal()),
            Sample(edge(1.0, np.nan, 1.0, np.inf), edge(1.0, 0.0, np.nan, -np.inf), differentiable=False),
            Sample(integers(-3, 3, 4), integers(-3, 3, 4), differentiable=False),
            Sample(booleans(6), booleans(6), differentiable=False),
        )


def share_of(x: Array, other: Array, out: Array) -> Array:
    """How much of an extreme's derivative is x's: 0 where the other was chosen, 1/2 where they are equal."""
    one, half, zero = [out.aval.dtype.type(v) for v in (1, 0.5, 0)]
    return where(equal(other, out), where(equal(x, out), half, zero), one)


class Maximum(Extreme):
    """The larger operand; NaN if either is. Equal operands share the derivative evenly."""

    name = "maximum"
    ufunc = np.maximum
    native = by_kind(f="maximum({0}, {1})", iu="select({0} > {1}, {0}, {1})", b="{0} | {1}")


class Minimum(Extreme):
    """The smaller operand; NaN if either is. Equal operands share the derivative evenly."""

    name = "minimum"
    ufunc = np.minimum
    native = by_kind(f="minimum({0}, {1})", iu="select({0} < {1}, {0}, {1})", b="{0} & {1}")


class Fmax(Extreme):
    """The larger operand, or the one that is not NaN. Equal operands share the derivative evenly."""

    name = "fmax"
    ufunc = np.fmax
    native = by_kind(f="fmax({0}, {1})", iu="select({0} > {1}, {0}, {1})", b="{0} | {1}")


class Fmin(Extreme):
    """The smaller operand, or the one that is not NaN. Equal operands share the derivative evenly."""

    name = "fmin"
    ufunc = np.fmin
    native = by_kind(f="fmin({0}, {1})", iu="select({0} < {1}, {0}, {1})", b="{0} & {1}")


class Clip(Pointwise):
    """``x``, but ``low`` where it is below and ``high`` where it is above.

    The derivative by ``x`` is 1 between the bounds and on them, 0 outside; where ``low > high`` the result
    is ``high``.
    """

    name = "clip"
    native = by_kind(
        f="minimum(maximum({0}, {1}), {2})",
        iu="select({2} < select({0} > {1}, {0}, {1}), {2}, select({0} > {1}, {0}, {1}))",
        b="({0} | {1}) & {2}",
    )

    def __call__(self, x: Array, low: Array, high: Array) -> Array:
        return self.apply(x, low, high)

    def on_arrays(self, *args: Array) -> Array:
        x, low, high = args
        return np.minimum(np.maximum(x, low), high)

    def operand_dtypes(self, avals: tuple[Aval, ...]) -> tuple[np.dtype[Any], ...]:
        x, low, high = avals
        first = ufunc_dtypes(self.name, np.maximum, (x, low))[-1]
        bounded = Aval((), first, x.weak and low.weak)
        common = ufunc_dtypes(self.name, np.minimum, (bounded, high))[-1]
        return common, common, common

    def infer(self, *avals: Aval) -> Aval:
        clipped: Aval = minimum.infer(maximum.infer(*avals[:2]), avals[2])
        return clipped

    def evaluate(self, *values: Array) -> Array:
        return self.on_arrays(*values)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        x, low, high = names
        return f"np.minimum(np.maximum({x}, {low}), {high})"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self.bind(*primals)
        if not out.aval.inexact:
            return out, None
        x, low, high = primals
        total = None
        for tangent, chosen in zip(tangents, (x_is_chosen, low_is_chosen, high_is_chosen), strict=True):
            if tangent is not None:
                zero = out.aval.dtype.type(0)
                total = added(total, where(chosen(x, low, high, out), tangent, zero))
        return out, broadcast_to(total, out.aval.shape)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(distinct(3, 2), uniform(-1.0, -0.5, 3, 2), uniform(0.5, 1.0, 3, 2)),
            Sample(distinct(4), uniform(-0.6, -0.5), uniform(0.5, 0.6)),
            Sample(distinct(5), uniform(0.5, 0.6), uniform(-0.6, -0.5)),
            Sample(
                edge(np.nan, 1.0, -3.0, 3.0),
                edge(0.0, 1.0, -2.0, 1.0),
                edge(2.0, 2.0, 2.0, 0.0),
                differentiable=False,
            ),
            Sample(integers(-5, 5, 6), integers(-3, -2), integers(2, 3), differentiable=False),
        )


def x_is_chosen(x: Array, low: Array, high: Array, out: Array) -> Array:
    """Where `clip` leaves its first operand as it is."""
    return equal(x, out)


def low_is_chosen(x: Array, low: Array, high: Array, out: Array) -> Array:
    """Where `clip` answers with the lower bound."""
    return logical_and(less(x, low), equal(low, out))


def high_is_chosen(x: Array, low: Array, high: Array, out: Array) -> Array:
    """Where `clip` answers with the upper bound."""
    return less(high, maximum(x, low))


maximum = Maximum()
minimum = Minimum()
fmax = Fmax()
fmin = Fmin()
clip = Clip()
