"""How a gamma sample moves with its shape, all else being equal: the implicit derivative.

A sample x of shape a keeps its probability P(a, x) while a moves, so dx/da = -(dP/da)/(dP/dx). Taken of
the logarithm of x, which does not underflow, this is a series for small shapes, term by term from

    P(a, x) = x**a exp(-x) sum_n x**n / Gamma(a + n + 1),

and for large shapes the integral over the nearer tail of the density's derivative by a, by Gauss's rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from funcgrad.later import Later
from funcgrad.ops.arrays.lazy import ComposedUfunc, LazyUfunc
from funcgrad.ops.elementwise.arithmetic import add, div, mul, neg, sub
from funcgrad.ops.elementwise.comparison import less
from funcgrad.ops.elementwise.elementary import exp
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.elementwise.special import Polygamma, gammaln
from funcgrad.ops.families import Binary
from funcgrad.tracing.samples import Sample, edge, uniform
from funcgrad.types import Array, Number, ShapeLike

incomplete = Later("funcgrad.ops.specials.incomplete")

digamma = LazyUfunc("scipy.special", "psi")

LARGE = 30.0
"""From this shape on the integral is used: the series takes more terms the larger the shape."""

NODES = 64
REACH = 60.0
"""How far the logarithm of the density falls over the part of the tail that counts."""

FINDING = 12
"""Steps of Newton's method that find where that is."""

TERM, MOST_TERMS = 1e-17, 10_000
"""The share of the sum below which a term of the series is the last, and how many there may be."""


def path_slope(shape: ShapeLike, log_sample: Array) -> Array:
    """The derivative of the logarithm of a gamma sample by its shape.

    >>> print(round(float(path_slope(1.0, np.log(2.0))), 6))  # by mpmath 0.815846
    0.815846
    """
    dtype = np.result_type(np.asarray(shape).dtype, np.asarray(log_sample).dtype)
    a, at = np.broadcast_arrays(np.asarray(shape, np.float64), np.asarray(log_sample, np.float64))
    flat_a, flat_at = a.reshape(-1), at.reshape(-1)
    out = np.empty(flat_a.shape)
    with np.errstate(all="ignore"):
        # In the upper tail of a small shape the terms of the series cancel.
        by_tail = (flat_a >= LARGE) | ((flat_at > 0) & (np.exp(flat_at) > flat_a + 1))
        out[~by_tail] = by_series(flat_a[~by_tail], flat_at[~by_tail])
        out[by_tail] = by_integral(flat_a[by_tail], flat_at[by_tail])
    return out.reshape(a.shape).astype(dtype)[()]


def by_series(a: Array, at: Array) -> Array:
    """Minus the sum of x**n Gamma(a) / Gamma(a + n + 1) times (log x - digamma(a + n + 1))."""
    x = np.exp(at)
    out = np.zeros(len(a))
    rows, k = np.arange(len(a)), 0
    weight, difference = 1 / a, at - digamma(a + 1)
    while len(rows):
        term = weight * difference
        out[rows] -= term
        k += 1
        step = a[rows] + k
        weight, difference = weight * (x[rows] / step), difference - 1 / step
        # Terms fall from where n reaches x on, faster than a geometric series.
        goes_on = (step < x[rows]) | (np.abs(weight * difference) > TERM * np.abs(out[rows]))
        goes_on &= np.isfinite(weight) & (k < MOST_TERMS)
        rows, weight, difference = rows[goes_on], weight[goes_on], difference[goes_on]
    return np.where(np.isfinite(at) & (a > 0), out, np.nan)


@cache
def gauss_rule() -> tuple[Any, Any]:
    """Nodes and weights of Gauss's rule from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return (nodes + 1) / 2, weights / 2


def by_integral(a: Array, at: Array) -> Array:
    """Over the tail beyond the sample: of p(t)/p(x) times (log t - digamma(a)), in u = log(t/x)."""
    nodes, weights = gauss_rule()
    x, centre = np.exp(at), digamma(a)
    side = np.where(at < centre, -1.0, 1.0)
    length = tail_length(a, x, side)
    total = np.zeros(len(a))
    for node, weight in zip(nodes, weights, strict=True):
        # Nodes closer together near x, where the integrand is largest.
        u = side * length * (node * node)
        density = np.exp(a * u - x * np.expm1(u))
        total += weight * (2 * node) * length * density * (at + u - centre)
    return side * total


def tail_length(a: Array, x: Array, side: Number) -> Array:
    """How far the tail counts in ``|log(t/x)|``: to where the density is exp(-REACH) of what it is at x.

    By Newton's method on a convex function, which comes down to the root from above.
    """
    length = np.sqrt(2 * REACH / a) + np.log1p(REACH / x)
    for _ in range(FINDING):
        fall = x * np.expm1(side * length) - a * side * length - REACH
        rate = side * (x * np.exp(side * length) - a)
        length = np.where(rate > 0, length - fall / rate, 2 * length)
    return length


TINY = -100.0
"""Samples whose logarithm is below this are powers of uniform numbers, to the last digit."""


def curvature(shape: ShapeLike, at: Array, slope: Array) -> Array:
    """The derivative of the slope by the shape, the sample held fixed.

    With F(a, l) = P(a, exp(l)) the slope is L = -F_a / F_l, and F_la / F_l = l - digamma(a).
    """
    second = incomplete.GammaincByParameter((2,))
    tiny = less(at, TINY)
    inner = where(tiny, 0.0, at)
    x = exp(inner)
    density = exp(sub(sub(mul(shape, inner), x), gammaln(shape)))
    found = neg(add(div(second(shape, x), density), mul(slope, sub(inner, Polygamma(0)(shape)))))
    above = add(shape, 1.0)
    power = add(div(sub(at, Polygamma(0)(above)), mul(shape, shape)), div(Polygamma(1)(above), shape))
    return where(tiny, power, found)


class GammaPathSlope(Binary):
    """The derivative of the logarithm of a gamma sample by its shape, at the shape and the logarithm."""

    name = "gamma_path_slope"
    ufunc = ComposedUfunc("gamma_path_slope", path_slope, np.arctan2)
    kinds = "f"

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        shape, at = primals
        if i == 0:
            return curvature(shape, at, out)
        # Differentiate -(dP/da) / (dP/dl) by l: dP/dl has the logarithm a l - exp(l) - log(Gamma(a)).
        rise = sub(at, Polygamma(0)(shape))
        return neg(add(rise, mul(out, sub(shape, exp(at)))))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(edge(0.5, 1.0, 7.0), edge(-1.0, 0.3, 2.0)),
            Sample(uniform(31.0, 35.0), edge(3.3, 3.5)),
            Sample(edge(0.01, 29.0, 1e3, 1e7), edge(-90.0, 3.3, 6.9, 16.118), differentiable=False),
        )


gamma_path_slope = GammaPathSlope()
