"""Distribution functions without a formula: SciPy's values, moved by integrals or sums of the density.

F(x, shapes) is what the density adds up to, so that its slope by a shape is what the density's slope adds up
to, over the tail that the function is about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from funcgrad.numpy import exp, floor
from funcgrad.scipy.integrate.quadrature import quad
from funcgrad.scipy.stats.expectations import densities, series
from funcgrad.scipy.stats.law import LAWS, Law
from funcgrad.scipy.stats.moving import each, value_that_moves
from funcgrad.types import Array, ArrayLike

__all__ = ["complete"]

TAU = 2.0 * math.pi
PERIODIC = frozenset({"vonmises"})
HEAVY = frozenset({"betanbinom"})
"""Counts whose upper tail takes too many terms, and is never so small that 1 less the rest has no digits."""


def area(law: Law, method: str, x: ArrayLike, *shapes: ArrayLike) -> Array:
    """What the density adds up to below x, or above it; of a period, from its middle, which is one half."""
    density, low, high = densities(law, shapes)
    if law.discrete:
        return tail_of_counts(law, method, density, x, low, high)
    if law.name in PERIODIC:
        within = quad(density, 0.0, x - TAU * floor(x / TAU + 0.5))[0]
        return within if method == "cdf" else -within
    ends = (low, x) if method == "cdf" else (x, high)
    return quad(density, *ends, epsabs=1e-13, epsrel=1e-10, limit=200)[0]


def tail_of_counts(
    law: Law, method: str, density: Callable[..., Any], k: ArrayLike, low: ArrayLike, high: ArrayLike
) -> Array:
    """The sum of probabilities up to k, or beyond it."""
    if method == "cdf":
        return series(density, low, k)
    return -series(density, low, k) if law.name in HEAVY else series(density, k + 1.0, high)


def of_difference(law: Law, method: str, k: ArrayLike, shapes: Sequence[Any], dots: Sequence[Any]) -> Array:
    """Of Poisson numbers N1 - N2: F(k) loses P(X = k) by one more of N1, gains P(X = k + 1) by one of N2."""
    logpmf = law.formulas["logpdf"]
    rise = exp(logpmf(k + 1.0, *shapes)) * dots[1] - exp(logpmf(k, *shapes)) * dots[0]
    return rise if method == "cdf" else -rise


def tangent(law: Law, method: str, out: Array, operands: Sequence[Any], dots: Sequence[Any]) -> Array:
    """By points through the density, by shapes through what its slope adds up to."""
    (x, *shapes), (x_dot, *shapes_dot) = operands, dots
    if law.name == "skellam":
        return of_difference(law, method, x, shapes, shapes_dot)
    by_shapes = each(lambda x, *a: area(law, method, x, *a), shapes, shapes_dot, [x])
    if law.discrete:
        return by_shapes
    rise = exp(law.formulas["logpdf"](x, *shapes)) * x_dot
    return by_shapes + (rise if method == "cdf" else -rise)


accumulated = value_that_moves(tangent)


def formula(name: str, method: str) -> Callable[..., Any]:
    """SciPy's distribution function as a formula of the standard form."""

    def of_points(x: Array, *shapes: Array) -> Array:
        return accumulated(name, method, (x, *shapes))

    return of_points


def complete() -> None:
    """Give `cdf` and `sf` to the laws that were declared without any formula of theirs."""
    for name, law in LAWS.items():
        if law.formula("cdf") is None:
            law.formulas.update({method: formula(name, method) for method in ("cdf", "sf")})
