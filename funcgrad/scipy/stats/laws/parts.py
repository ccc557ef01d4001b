"""Pieces that formulas of several distributions share, each right where the plain expression is not."""

from __future__ import annotations

import math
from collections.abc import Callable

from funcgrad.numpy import exp, log, log1p, where
from funcgrad.ops.specials.exprel import exprel
from funcgrad.ops.specials.hypergeometric import hyp2f1
from funcgrad.ops.specials.powers import power
from funcgrad.scipy.special import exp1, gammaln, log_ndtr, psi
from funcgrad.scipy.stats.law import log1m_exp
from funcgrad.types import Array, ArrayLike

EULER = 0.5772156649015329
LOG_2 = math.log(2.0)
LOG_PI = math.log(math.pi)
HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)
ROOT_2 = math.sqrt(2.0)
INF = math.inf
LARGE = 50.0
"""From where four terms of Stirling's series are exact to the last digit."""


def log_normal_density(x: ArrayLike) -> Array:
    """The logarithm of the standard normal density."""
    return -0.5 * x * x - HALF_LOG_TAU


def magnitude(x: ArrayLike) -> Array:
    """``abs(x)``, at 0 with the derivative from below: for tails that are ``x > 0`` and the others."""
    return where(x > 0, x, -x)


def on_either_side(q: ArrayLike, size: Callable[[Array], Array]) -> Array:
    """The quantile of a symmetric law, from the size that belongs to the probability of being larger."""
    right = q > 0.5
    found = size(2.0 * where(right, 1.0 - q, q))
    return where(right, found, -found)


def log1p_power(x: ArrayLike, c: ArrayLike) -> Array:
    """``log(1 + x**c)`` for numbers from 0 on, also where the power overflows."""
    large = x > 1.0
    near, far = where(large, 1.0, x), where(large, x, 1.0)
    return where(large, c * log(far) + log1p(far ** (-c)), log1p(near**c))


def log1p_ratio(x: ArrayLike, c: ArrayLike) -> Array:
    """``log(1 + c x) / c``, and ``x`` for c = 0, with every derivative right there."""
    z = c * x
    near = abs(z) < 0.5
    far, divisor = where(near, 1.0, z), where(near, 1.0, c)
    return where(near, x * hyp2f1(1.0, 1.0, 2.0, where(near, -z, 0.0)), log1p(far) / divisor)


def rest_to_power(x: ArrayLike, c: ArrayLike) -> Array:
    """``(1 - c x)**(1 / c)``, ``exp(-x)`` for c = 0; where nothing is left, with a power's derivatives."""
    ends = c * x > 0.5
    usual = exp(-log1p_ratio(where(ends, 0.0, x), -c))
    return where(ends, power(1.0 - where(ends, c * x, 1.0), 1.0 / where(ends, c, 1.0)), usual)


def expm1_ratio(y: ArrayLike, c: ArrayLike) -> Array:
    """``(exp(c y) - 1) / c``, and ``y`` for c = 0: the inverse of `log1p_ratio`."""
    return y * exprel(c * y)


def log_difference(a: ArrayLike, b: ArrayLike) -> Array:
    """``log(exp(a) - exp(b))`` for ``a > b``."""
    return a + log1m_exp(b - a)


def log_normal_mass(a: ArrayLike, b: ArrayLike) -> Array:
    """The logarithm of the normal probability between a and b, computed in the nearer tail."""
    right = a > 0.0
    low, high = where(right, -b, a), where(right, -a, b)
    bounded = low != -INF
    below = log_ndtr(where(bounded, low, 0.0))
    over = log_ndtr(high)
    return over + where(bounded, log1m_exp(where(bounded, below - over, -1.0)), 0.0)


def gamma_ratio(a: ArrayLike, b: ArrayLike) -> Array:
    """``gamma(a) / gamma(b)`` for positive numbers."""
    return exp(gammaln(a) - gammaln(b))


# Entropies are small beside the logarithms of gamma functions that they are made of. What those differ by
# from Stirling's formula counts, and is a series where the difference would have no digits left.


def rest_of_gammaln(x: ArrayLike) -> Array:
    """``gammaln(x) - (x - 1/2) log(x) + x - log(2 pi) / 2`` for positive numbers (DLMF 5.11.1)."""
    is_large = x > LARGE
    y = 1.0 / where(is_large, x, LARGE)
    z = y * y
    far = y * (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0 - z / 1680.0)))
    near = where(is_large, LARGE, x)
    return where(is_large, far, gammaln(near) - (near - 0.5) * log(near) + near - HALF_LOG_TAU)


def rest_of_psi(x: ArrayLike) -> Array:
    """``log(x) - 1 / (2 x) - psi(x)`` for positive numbers (DLMF 5.11.2)."""
    is_large = x > LARGE
    y = 1.0 / where(is_large, x, LARGE)
    z = y * y
    far = z * (1.0 / 12.0 - z * (1.0 / 120.0 - z * (1.0 / 252.0 - z / 240.0)))
    near = where(is_large, LARGE, x)
    return where(is_large, far, log(near) - 0.5 / near - psi(near))


def scaled_exp1(x: ArrayLike) -> Array:
    """``exp(x) * exp1(x)`` for positive numbers; large ones by the asymptotic series (DLMF 6.12.1)."""
    is_large = x > LARGE
    y = 1.0 / where(is_large, x, LARGE)
    series = 1.0
    for n in range(20, 0, -1):
        series = 1.0 - n * y * series
    near = where(is_large, LARGE, x)
    return where(is_large, y * series, exp(near) * exp1(near))
