"""Functions of two numbers: powers, `arctan2`, and the logarithms of sums of exponentials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.lazy import ComposedUfunc
from funcgrad.ops.elementwise.arithmetic import NegativePowerError, add, div, mul, neg, strong_zero_mul, sub
from funcgrad.ops.elementwise.comparison import equal, greater, greater_equal, isinf, less
from funcgrad.ops.elementwise.elementary import log
from funcgrad.ops.elementwise.identity import departure
from funcgrad.ops.elementwise.logic import logical_and, logical_or
from funcgrad.ops.elementwise.magnitude import hypot, zero_where
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.elementwise.special import sigmoid
from funcgrad.ops.families import Binary
from funcgrad.ops.families import aval as aval_of
from funcgrad.tracing.samples import Sample, edge, integers, normal, positive
from funcgrad.types import Array


class Pow(Binary):
    """``x ** y`` for an exponent that is an array or a traced value.

    The derivative by ``x`` is 0 where ``y`` is 0, for every x. The derivative by ``y`` is 0 where ``x`` is 0
    and ``y`` is not negative, minus infinity where ``y`` is, and NaN where ``x`` is negative.
    """

    name = "pow"
    ufunc = np.power
    native = "pow({0}, {1})"
    cost = 40
    symbol = "**"
    keeps_weak = True

    def fast_expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        if not any(aval.inexact for aval in avals):
            return None  # `evaluate` says what to do where an exponent is negative
        return super().fast_expression(names, avals)

    def evaluate(self, *values: Array) -> Array:
        try:
            return np.power(*values)
        except ValueError as error:
            raise NegativePowerError(
                f"{values[0]} ** {values[1]}: integers to negative integer powers are not integers",
                remedy="Convert the base first: 2.0 ** -k in place of 2 ** -k, or x.astype(float).",
            ) from error

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        x, y = primals
        if i == 0:
            # Exactly 0 for y = 0, and its own derivative by y is still x**(y-1) there.
            slope = strong_zero_mul(y, falling_pow(x, sub(y, 1.0)))
            rooted = aval_of(slope).dtype.kind == "f" and aval_of(y).inexact
            return self.rooted(x, y, slope) if rooted else slope
        of_zero = self.resting(x, y)
        found = mul(out, log(where(of_zero, 1.0, x)))
        return found if aval_of(found).dtype.kind == "c" else where(of_zero, steep(x, y), found)

    def rooted(self, x: Array, y: Array, slope: Array) -> Array:
        """The slope by x, infinite where a root of 0 is taken; y falls from it, and x does."""
        root = logical_and(equal(x, 0.0), logical_and(greater(y, 0.0), less(y, 1.0)))
        falls = strong_zero_mul(departure(add(x, y)), math.inf)
        return where(root, sub(math.inf, falls), slope)

    def resting(self, x: Array, y: Array) -> Array:
        """Where the derivative by y is 0 because x is; a complex y has none at x = 0, unless it is 0."""
        of_zero = equal(x, 0.0)
        return of_zero if aval_of(y).dtype.kind == "c" else where(greater_equal(y, 0.0), of_zero, False)

    def along(self, tangent: Array, factor: Array) -> Array:
        # The derivative by one operand may be NaN or infinite where the other's is not.
        return strong_zero_mul(tangent, factor)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(positive(3, 2), normal(3, 2)),
            Sample(positive(3), normal()),
            Sample(positive(), normal(3)),
            Sample(edge(0.0, 0.0, 2.0, -1.0), edge(0.0, 2.0, 0.0, 0.5), differentiable=False),
            Sample(integers(-3, 3, 4), integers(0, 4, 4), differentiable=False),
            Sample(integers(-3, 3, 4, dtype=np.int8), integers(0, 9, 4, dtype=np.int8), differentiable=False),
            Sample(integers(2, 9, 4), integers(20, 80, 4), differentiable=False),
        )


class FallingPow(Pow):
    """``x ** y``, whose derivative by y at x = y = 0 is minus infinity, as it is for x beside 0.

    That derivative of ``0 ** y`` is 0 for `Pow`, which must not make one of ``y * x ** (y - 1)`` finite.
    """

    name = "falling_pow"

    def resting(self, x: Array, y: Array) -> Array:
        of_zero = equal(x, 0.0)
        return of_zero if aval_of(y).dtype.kind == "c" else where(greater(y, 0.0), of_zero, False)


def steep(x: Array, y: Array) -> Array:
    """0, with the derivative by x that ``x**y log(x)`` has where x is 0: infinite up to y = 1."""
    slope = where(greater(y, 1.0), 0.0, where(equal(y, 0.0), math.inf, -math.inf))
    return strong_zero_mul(departure(x), slope)


class Arctan2(Binary):
    """The angle of the point (x, y), given as ``arctan2(y, x)``.

    Its derivative at (0, 0) is 0, and so it is where a number is infinite.
    """

    name = "arctan2"
    ufunc = np.arctan2
    native = "arctan2({0}, {1})"
    cost = 15
    kinds = "f"

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        y, x = primals
        radius = hypot(x, y)
        rests = logical_or(equal(radius, 0.0), isinf(radius))
        at = where(rests, 1.0, radius)
        return zero_where(rests, div(div(x if i == 0 else neg(y), at), at))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2)),
            Sample(normal(3), normal()),
            Sample(edge(0.0, 0.0, -0.0, 1e300), edge(0.0, -1.0, -1.0, np.inf), differentiable=False),
        )


def exponential_share(x: Array, y: Array) -> Array:
    """``exp(x) / (exp(x) + exp(y))`` without overflow; one half where both are the same infinity.

    >>> print(exponential_share(np.array([0.0, -np.inf, np.inf]), np.array([0.0, -np.inf, 0.0])))
    [0.5 0.5 1. ]
    """
    x, y = np.asarray(x), np.asarray(y)
    with np.errstate(invalid="ignore"):
        return np.where(x == y, x.dtype.type(0.5), sigmoid(x - y))[()]


class ExponentialShare(Binary):
    """``exp(x) / (exp(x) + exp(y))``: how much of the derivative of `logaddexp` is x's."""

    name = "exponential_share"
    ufunc = ComposedUfunc("exponential_share", exponential_share, np.logaddexp)
    native = "select({0} == {1}, {operand}(0.5), logistic({0} - {1}))"
    cost = 40
    kinds = "f"

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        x, y = names
        if avals[0].dtype != np.float64:
            return None
        return f"np.where({x} == {y}, 0.5, 1 / (1 + np.exp({y} - {x})))"

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        slope = mul(out, sub(1.0, out))
        return slope if i == 0 else neg(slope)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2)),
            Sample(normal(3), normal()),
            Sample(edge(0.0, -np.inf, np.inf, 800.0), edge(0.0, -np.inf, 0.0, -800.0), differentiable=False),
        )


class Logaddexp(Binary):
    """``log(exp(x) + exp(y))`` without overflow. The derivatives add to 1, at infinities too."""

    name = "logaddexp"
    ufunc = np.logaddexp
    native = "logaddexp({0}, {1})"
    cost = 15
    kinds = "f"

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        return share(primals[i], primals[1 - i])

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2)),
            Sample(normal(3), normal()),
            Sample(edge(1.0, 2.0), edge(1.0, 2.0)),
            Sample(
                edge(-np.inf, -np.inf, np.inf, 800.0), edge(-np.inf, 0.0, np.inf, 800.0), differentiable=False
            ),
        )


class Logaddexp2(Binary):
    """``log2(2**x + 2**y)`` without overflow. The derivatives add to 1, at infinities too."""

    name = "logaddexp2"
    ufunc = np.logaddexp2
    native = "logaddexp2({0}, {1})"
    cost = 15
    kinds = "f"

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        return share(mul(primals[i], math.log(2.0)), mul(primals[1 - i], math.log(2.0)))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2)),
            Sample(normal(3), normal()),
            Sample(edge(1.0, 2.0), edge(1.0, 2.0)),
            Sample(edge(-np.inf, -np.inf, np.inf), edge(-np.inf, 0.0, np.inf), differentiable=False),
        )


pow = Pow()
falling_pow = FallingPow()
arctan2 = Arctan2()
share = ExponentialShare()
logaddexp = Logaddexp()
logaddexp2 = Logaddexp2()
