"""Comparisons and other questions with a boolean answer, which has no derivative."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ops.families import Binary, Unary
from funcgrad.ops.native import by_kind, of_any_kind
from funcgrad.tracing.samples import Sample, edge, integers, normal
from funcgrad.types import Array


class Comparison(Binary):
    """Two operands, a boolean result. Complex numbers compare by real part, then imaginary part."""

    def apply(self, *args: Array) -> Array:
        """As every pointwise operation; a Python integer beyond the other's dtype compares by its value."""
        if any(type(x) is int for x in args):
            x, y = args
            args = within_range(x, y), within_range(y, x)
        return super().apply(*args)

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array | None:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2), differentiable=False),
            Sample(normal(3), normal(), differentiable=False),
            Sample(integers(0, 3, 4), integers(0, 3, 4), differentiable=False),
            Sample(edge(0.0, np.nan, np.inf), edge(-0.0, np.nan, np.inf), differentiable=False),
        )


def within_range(number: Array, other: Array) -> Array:
    """A Python integer that the dtype of `other` cannot hold as infinity, anything else as it is."""
    if type(number) is not int or not hasattr(other, "dtype") or other.dtype.kind not in "iu":
        return number
    limits = np.iinfo(other.dtype)
    if number > limits.max:
        return math.inf
    return -math.inf if number < limits.min else number


class Equal(Comparison):
    """``x == y``."""

    name = "equal"
    ufunc = np.equal
    native = of_any_kind("{0} == {1}")
    symbol = "=="


class NotEqual(Comparison):
    """``x != y``."""

    name = "not_equal"
    ufunc = np.not_equal
    native = of_any_kind("{0} != {1}")
    symbol = "!="


class Less(Comparison):
    """``x < y``."""

    name = "less"
    ufunc = np.less
    native = by_kind(fiub="{0} < {1}")
    symbol = "<"


class LessEqual(Comparison):
    """``x <= y``."""

    name = "less_equal"
    ufunc = np.less_equal
    native = by_kind(fiub="{0} <= {1}")
    symbol = "<="


class Greater(Comparison):
    """``x > y``."""

    name = "greater"
    ufunc = np.greater
    native = by_kind(fiub="{0} > {1}")
    symbol = ">"


class GreaterEqual(Comparison):
    """``x >= y``."""

    name = "greater_equal"
    ufunc = np.greater_equal
    native = by_kind(fiub="{0} >= {1}")
    symbol = ">="


class Question(Unary):
    """One operand, a boolean result."""

    def derivative(self, x: Array, out: Array) -> Array | None:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), differentiable=False),
            Sample(normal(), differentiable=False),
            Sample(edge(0.0, -0.0, np.nan, np.inf, -np.inf), differentiable=False),
            Sample(integers(-3, 3, 4), differentiable=False),
        )


class IsNaN(Question):
    """Whether it is not a number."""

    name = "isnan"
    ufunc = np.isnan
    native = by_kind(f="{0} != {0}", c="({0}.real != {0}.real) | ({0}.imag != {0}.imag)", iub="False")


class IsInf(Question):
    """Whether it is infinite."""

    name = "isinf"
    ufunc = np.isinf
    native = by_kind(f="fabs({0}) == INF", c="(fabs({0}.real) == INF) | (fabs({0}.imag) == INF)", iub="False")


class IsFinite(Question):
    """Whether it is neither infinite nor NaN."""

    name = "isfinite"
    ufunc = np.isfinite
    native = by_kind(f="fabs({0}) < INF", c="(fabs({0}.real) < INF) & (fabs({0}.imag) < INF)", iub="True")


class SignBit(Question):
    """Whether the sign bit is set: true for -0.0."""

    name = "signbit"
    ufunc = np.signbit
    native = "signbit({0})"
    kinds = "f"

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return super().samples()[:-1]  # integers must be cast first


equal = Equal()
not_equal = NotEqual()
less = Less()
less_equal = LessEqual()
greater = Greater()
greater_equal = GreaterEqual()
isnan = IsNaN()
isinf = IsInf()
isfinite = IsFinite()
signbit = SignBit()
