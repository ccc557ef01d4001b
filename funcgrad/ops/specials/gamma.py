"""The gamma function and its kin: logarithm, reciprocal, binomial coefficients, Pochhammer's symbol."""

from __future__ import annotations

import math

from funcgrad.ops.elementwise.comparison import equal, less, less_equal, not_equal
from funcgrad.ops.elementwise.elementary import cos, sin
from funcgrad.ops.elementwise.logic import logical_and, logical_or
from funcgrad.ops.elementwise.rounding import floor
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.elementwise.special import Polygamma
from funcgrad.ops.specials.beta import composed_betaln
from funcgrad.ops.specials.table import define, infinitely, level_far_away, nowhere, undefined
from funcgrad.types import Array

digamma = Polygamma(0)


def gamma_by_x(out: Array, x: Array) -> Array:
    """``Gamma'(x) = Gamma(x) psi(x)``."""
    return out * digamma(x)


def loggamma_by_x(out: Array, x: Array) -> Array:
    """The digamma function."""
    return digamma(x)


gamma = define("gamma", gamma_by_x)
loggamma = define("loggamma", loggamma_by_x)
gammasgn = define("gammasgn", None)


def rgamma_by_x(out: Array, x: Array) -> Array:
    """``-psi(x) / Gamma(x)``; left of 1/2 by reflection, ``1 / Gamma(x) = Gamma(1 - x) sin(pi x) / pi``.

    So it is right at the poles of the gamma function, in every derivative. DLMF 5.5.3.
    """
    left = less(x, 0.5) if x.dtype.kind != "c" else less(x.real, 0.5)
    mirrored = 1.0 - where(left, x, 0.25)
    angle = math.pi * where(left, x, 0.25)
    reflected = gamma(mirrored) * (cos(angle) - digamma(mirrored) * sin(angle) / math.pi)
    far = equal(x, math.inf)
    right = where(logical_or(left, far), 1.0, x)
    return where(left, reflected, where(far, 0.0, -digamma(right) * rgamma(right)))


rgamma = define("rgamma", rgamma_by_x)


def betaln_by_a(out: Array, a: Array, b: Array) -> Array:
    """``psi(a) - psi(a + b)``."""
    return digamma(a) - digamma(a + b)


def betaln_by_b(out: Array, a: Array, b: Array) -> Array:
    """The same with the arguments exchanged."""
    return betaln_by_a(out, b, a)


betaln = define("betaln", betaln_by_a, betaln_by_b, expansion=composed_betaln)


def binom_by_n(out: Array, n: Array, k: Array) -> Array:
    """``C(n, k) (psi(n + 1) - psi(n - k + 1))``; by reciprocals where ``n - k`` is negative."""
    rest = n - k + 1.0
    near = less(rest, 0.5)
    usual = out * (digamma(n + 1.0) - digamma(where(near, 1.0, rest)))
    top = where(near, n + 1.0, 1.0)
    slope = rgamma_by_x(None, where(near, rest, 1.0))
    return where(near, out * digamma(top) + gamma(top) * rgamma(k + 1.0) * slope, usual)


def binom_by_k(out: Array, n: Array, k: Array) -> Array:
    """``C(n, k) (psi(n - k + 1) - psi(k + 1))``; by reciprocals where one is near its poles."""
    rest, below = n - k + 1.0, k + 1.0
    near = logical_or(less(rest, 0.5), less(below, 0.5))
    usual = out * (digamma(where(near, 1.0, rest)) - digamma(where(near, 1.0, below)))
    rest, below = where(near, rest, 1.0), where(near, below, 1.0)
    slope = rgamma_by_x(None, below) * rgamma(rest) - rgamma(below) * rgamma_by_x(None, rest)
    return where(near, gamma(where(near, n + 1.0, 1.0)) * slope, usual)


def binom_by_k_everywhere(out: Array, n: Array, k: Array) -> Array:
    """That of an infinite n, too: 0, but infinite for k = 0, where it rises from 0 to 1 to infinity."""
    leaps = logical_and(equal(n, math.inf), equal(k, 0.0))
    return where(leaps, math.inf + infinitely(k), level_far_away(binom_by_k, out, (n, k)))


def binom_by_n_everywhere(out: Array, n: Array, k: Array) -> Array:
    """0 of an infinite argument."""
    return level_far_away(binom_by_n, out, (n, k))


binom = define("binom", binom_by_n_everywhere, binom_by_k_everywhere)


def poch_by_z(out: Array, z: Array, m: Array) -> Array:
    """``(z)_m (psi(z + m) - psi(z))``, and its limits where these are infinite.

    For an integer m the difference is that of ``psi(1 - z - m)`` and ``psi(1 - z)``, by reflection; the rest
    of it, ``pi (cot(pi z) - cot(pi (z + m)))``, is 0 there, and its derivative by m is not.
    """
    near = less(z, 0.5)
    whole = logical_and(near, logical_and(equal(floor(m), m), less(z + m, 0.5)))
    usual = out * (digamma(z + m) - digamma(where(near, 1.0, z)))
    top = where(whole, 1.0, z + m)
    by_reciprocal = out * digamma(top) + gamma(top) * rgamma_by_x(None, where(near, z, 1.0))
    left = where(whole, z, 0.0)
    by_reflection = out * (digamma(1.0 - left - where(whole, m, 0.0)) - digamma(1.0 - left))
    between = logical_and(whole, not_equal(floor(z), z))
    place, rest = where(between, z, 0.5), where(between, m - floor(m), 0.0)
    turned = sin(math.pi * rest) / (sin(math.pi * (place + rest)) * sin(math.pi * place))
    by_reflection = by_reflection + out * (math.pi * turned)
    return where(whole, by_reflection, where(near, by_reciprocal, usual))


def poch_by_m(out: Array, z: Array, m: Array) -> Array:
    """``(z)_m psi(z + m)``."""
    return out * digamma(z + m)


def poch_by_z_everywhere(out: Array, z: Array, m: Array) -> Array:
    """0 of an infinite argument, but infinite where z is 0, as ``gamma(m)``.

    Where both gamma functions have poles it is the derivative for this whole m; beside it all depends on
    the way, and so there is no derivative by m.
    """
    leaps = logical_and(equal(z, 0.0), equal(m, math.inf))
    found = level_far_away(poch_by_z, out, (z, m)) + where(at_poles(z, m), undefined(m), 0.0)
    return where(leaps, math.inf + infinitely(z), found)


def poch_by_m_everywhere(out: Array, z: Array, m: Array) -> Array:
    """0 of an infinite argument, but infinite where m is 0; NaN where both gamma functions have poles."""
    leaps, none = logical_and(equal(z, math.inf), equal(m, 0.0)), at_poles(z, m)
    found = level_far_away(poch_by_m, out, (where(none, 1.0, z), where(none, 1.0, m)))
    return where(leaps, math.inf + infinitely(m), where(none, nowhere(z, m), found))


def at_poles(z: Array, m: Array) -> Array:
    """Whether the gamma functions of ``z + m`` and of z both have poles."""
    return logical_and(is_pole(z), is_pole(z + m))


def is_pole(x: Array) -> Array:
    """Whether x is 0 or a negative whole number."""
    return logical_and(less_equal(x, 0.0), equal(floor(x), x))


poch = define("poch", poch_by_z_everywhere, poch_by_m_everywhere)
