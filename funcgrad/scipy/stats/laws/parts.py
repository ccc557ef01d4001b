"""Pieces that formulas of several distributions share, each right where the plain expression is not."""

from __future__ import annotations

import math

from funcgrad.numpy import exp, log1p, where
from funcgrad.ops.specials.exprel import exprel
from funcgrad.ops.specials.hypergeometric import hyp2f1
from funcgrad.scipy.special import gammaln, log_ndtr
from funcgrad.scipy.stats.law import log1m_exp
from funcgrad.types import Array, ArrayLike

EULER = 0.5772156649015329
LOG_2 = math.log(2.0)
LOG_PI = math.log(math.pi)
HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)
ROOT_2 = math.sqrt(2.0)
INF = math.inf


def log_normal_density(x: ArrayLike) -> Array:
    """The logarithm of the standard normal density."""
    return -0.5 * x * x - HALF_LOG_TAU


def magnitude(x: ArrayLike) -> Array:
    """``abs(x)``, at 0 with the derivative from below: for tails that are ``x > 0`` and the others."""
    return where(x > 0, x, -x)


def log1p_ratio(x: ArrayLike, c: ArrayLike) -> Array:
    """``log(1 + c x) / c``, and ``x`` for c = 0, with every derivative right there."""
    z = c * x
    near = abs(z) < 0.5
    far, divisor = where(near, 1.0, z), where(near, 1.0, c)
    return where(near, x * hyp2f1(1.0, 1.0, 2.0, where(near, -z, 0.0)), log1p(far) / divisor)


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
