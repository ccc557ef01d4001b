"""The beta function and its derivatives, with all digits beside the pole where an argument is 0.

There B(a, b) is nearly 1 / a, whatever b is, and differences of psi, which are a times a quotient, lose as
many digits as a has zeros; the mixed derivative loses twice as many. The quotient itself is a sum of
reciprocals in which nothing cancels, and which kernels have. DLMF 5.12, 5.7.6 and, for its end, 5.11.2.
"""

from __future__ import annotations

import math

import numpy as np

from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.ops.elementwise.comparison import less, not_equal
from funcgrad.ops.elementwise.logic import logical_and, logical_not, logical_or
from funcgrad.ops.elementwise.magnitude import absolute
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.elementwise.special import Polygamma
from funcgrad.ops.specials.table import Evaluated, define
from funcgrad.types import Array

digamma, trigamma = Polygamma(0), Polygamma(1)

SMALL = 3e-3
"""A gap up to this share of where the asymptotic series begins has a short series of its logarithm."""

LOST = 1e-5
"""Below this, beside an argument that is less than `LEAST`, the mixed derivative has no digits left."""

SHIFT = 14
"""So many reciprocals are added up before the asymptotic series."""

LEAST = -4.0
"""From here on the asymptotic series has all digits."""

BERNOULLI = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""``B(2j) / 2j``: the coefficients of psi's asymptotic series."""

LOGARITHM = tuple([(-1) ** k / (k + 1) for k in range(7)])
"""Taylor's coefficients of ``log(1 + t) / t``."""


def polynomial(coefficients: tuple[float, ...], t: Array) -> Array:
    """A polynomial, by Horner's rule."""
    *rest, last = coefficients
    total = last + 0.0 * t
    for coefficient in reversed(rest):
        total = total * t + coefficient
    return total


def psi_quotient(x: Array, gap: Array) -> Array:
    """``(psi(x + gap) - psi(x)) / gap`` where `is_small` says so, without a difference of psi."""
    total: Array | float = 0.0
    for k in range(SHIFT):
        total = total + 1.0 / ((x + k) * (x + gap + k))
    p, q = 1.0 / (x + SHIFT), 1.0 / (x + gap + SHIFT)
    series, quotient, power = 0.0 * p, 1.0 + 0.0 * p, q * q
    for coefficient in BERNOULLI:
        series = series + coefficient * quotient
        quotient, power = quotient * p * p + power, power * q * q
    return total + p * polynomial(LOGARITHM, gap * p) + p * q * (0.5 + (p + q) * series)


def psi_second_quotient(x: Array, gap: Array) -> Array:
    """The derivative of `psi_quotient` by its gap."""
    total: Array | float = 0.0
    for k in range(SHIFT):
        upper = x + gap + k
        total = total - 1.0 / ((x + k) * upper * upper)
    p, q = 1.0 / (x + SHIFT), 1.0 / (x + gap + SHIFT)
    series, turn, quotient, slope, power = 0.0 * p, 0.0 * p, 1.0 + 0.0 * p, 0.0 * p, q * q
    for j, coefficient in enumerate(BERNOULLI, 1):
        series, turn = series + coefficient * quotient, turn + coefficient * slope
        quotient, slope, power = (
            quotient * p * p + power,
            slope * p * p - 2.0 * j * power * q,
            power * q * q,
        )
    rising = tuple([k * c for k, c in enumerate(LOGARITHM)][1:])
    ends = p * p * polynomial(rising, gap * p) - 0.5 * p * q * q
    return total + ends + p * q * ((p + q) * turn - q * (p + 2.0 * q) * series)


def is_small(gap: Array, x: Array) -> Array:
    """Whether the quotients hold, beside a pole or not."""
    return logical_and(
        not_equal(gap, 0.0), less(absolute(gap), where(less(LEAST, x), SMALL * (x + SHIFT), 0.0))
    )


def composed_beta_slope(a: Array, b: Array) -> Array:
    """``B(a, b) (psi(a) - psi(a + b))``."""
    small = is_small(b, a)
    quotient = psi_quotient(where(small, a, 1.0), where(small, b, 0.01))
    return beta(a, b) * where(small, -b * quotient, digamma(a) - digamma(a + b))


def evaluated_beta_slope(a: Array, b: Array) -> Array:
    """The same of NumPy's arrays, without series that no element needs."""
    if np.any(is_small(b, a)):
        return composed_beta_slope(a, b)
    return beta(a, b) * (digamma(a) - digamma(a + b))


def from_pole(a: Array, b: Array) -> Array:
    """``a B(a, b)``, which has no pole at a = 0."""
    return (a + b) * beta(a + 1.0, b)


def alike(out: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Both arguments in the dtype of the result, which SciPy's loops must not widen for a Python number."""
    dtype = aval(out).dtype
    return cast(a, dtype), cast(b, dtype)


def beta_slope_by_a(out: Array, a: Array, b: Array) -> Array:
    """``B(a, b) ((psi(a) - psi(a + b))**2 + psi'(a) - psi'(a + b))``, by quotients where b is the less."""
    a, b = alike(out, a, b)
    small = logical_and(is_small(b, a), less(absolute(b), absolute(a)))
    u, v = where(small, b, 0.01), where(small, a, 1.0)
    rising = beta(u + 1.0, v) + (u + v) * beta_slope(v, u + 1.0)
    turning = psi_second_quotient(v, u) + psi_second_quotient(v + u, -u)
    near = -(rising * psi_quotient(v, u) + from_pole(u, v) * turning)
    u, v = where(small, 1.0, a), where(small, 1.0, b)
    fall = digamma(u) - digamma(u + v)
    return where(small, near, beta(u, v) * (fall * fall + trigamma(u) - trigamma(u + v)))


def beta_slope_by_b(out: Array, a: Array, b: Array) -> Array:
    """The mixed derivative of `beta`, ``B ((psi(a) - psi(a + b)) (psi(b) - psi(a + b)) - psi'(a + b))``.

    Its terms cancel where a or b is small: there it is had by quotients, with both poles taken off where
    both are. Where the quotients do not hold, it is NaN as soon as no digit is left.
    """
    a, b = alike(out, a, b)
    both = logical_and(is_small(a, 1.0), is_small(b, 1.0))
    by_a = logical_and(is_small(a, b), logical_not(both))
    by_b = logical_and(is_small(b, a), logical_not(both))
    usual = logical_not(logical_or(both, logical_or(by_a, by_b)))
    u, v = where(usual, a, 1.0), where(usual, b, 1.0)
    first, second = digamma(u) - digamma(u + v), digamma(v) - digamma(u + v)
    found = beta(u, v) * (first * second - trigamma(u + v))
    least, other = where(less(absolute(a), absolute(b)), a, b), where(less(absolute(a), absolute(b)), b, a)
    lost = logical_and(less(absolute(least), LOST), logical_and(not_equal(least, 0.0), less(other, 0.0)))
    found = where(logical_and(usual, lost), math.nan, found)
    u, v = where(by_a, a, where(by_b, b, 0.01)), where(by_a, b, where(by_b, a, 1.0))
    u_both, v_both = where(both, a, 0.01), where(both, b, 0.01)
    return where(usual, found, where(both, mixed_at_poles(u_both, v_both), mixed_beside_pole(u, v)))


def mixed_beside_pole(a: Array, b: Array) -> Array:
    """The mixed derivative where a is small beside b."""
    rising = beta(a + 1.0, b) + (a + b) * beta_slope(a + 1.0, b)
    return -(rising * psi_quotient(b, a) + from_pole(a, b) * psi_second_quotient(b, a))


def mixed_at_poles(a: Array, b: Array) -> Array:
    """The mixed derivative where both are small beside 1."""
    falls = psi_second_quotient(1.0 + b, a) + psi_second_quotient(1.0 + a, b)
    product = (a + b) * psi_quotient(1.0 + b, a) * psi_quotient(1.0 + a, b)
    return (1.0 + a + b) * beta(1.0 + a, 1.0 + b) * (product - falls)


def beta_by_a(out: Array, a: Array, b: Array) -> Array:
    """``B(a, b) (psi(a) - psi(a + b))``."""
    return beta_slope(*alike(out, a, b))


def beta_by_b(out: Array, a: Array, b: Array) -> Array:
    """The same with the arguments exchanged."""
    return beta_slope(*alike(out, b, a))


beta = define("beta", beta_by_a, beta_by_b, flat=True)
beta_slope = define(
    "beta_slope",
    beta_slope_by_a,
    beta_slope_by_b,
    ufunc=Evaluated("beta_slope", evaluated_beta_slope, LazyUfunc("scipy.special", "beta", 2)),
    expansion=composed_beta_slope,
    flat=True,
)
