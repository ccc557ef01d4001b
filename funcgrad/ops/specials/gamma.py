"""The gamma function and its kin: logarithm, reciprocal, beta, binomial coefficients, Pochhammer's symbol."""

from __future__ import annotations

import math

from funcgrad.ops.elementwise.comparison import equal, less, not_equal
from funcgrad.ops.elementwise.elementary import cos, sin
from funcgrad.ops.elementwise.logic import logical_and, logical_or
from funcgrad.ops.elementwise.rounding import floor
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.elementwise.special import Polygamma
from funcgrad.ops.specials.beta import composed_betaln
from funcgrad.ops.specials.table import define
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
    right = where(left, 1.0, x)
    return where(left, reflected, -digamma(right) * rgamma(right))


rgamma = define("rgamma", rgamma_by_x)


def beta_by_a(out: Array, a: Array, b: Array) -> Array:
    """``B(a, b) (psi(a) - psi(a + b))``. DLMF 5.12."""
    return out * (digamma(a) - digamma(a + b))


def beta_by_b(out: Array, a: Array, b: Array) -> Array:
    """The same with the arguments exchanged."""
    return beta_by_a(out, b, a)


def betaln_by_a(out: Array, a: Array, b: Array) -> Array:
    """``psi(a) - psi(a + b)``."""
    return digamma(a) - digamma(a + b)


def betaln_by_b(out: Array, a: Array, b: Array) -> Array:
    """The same with the arguments exchanged."""
    return betaln_by_a(out, b, a)


beta = define("beta", beta_by_a, beta_by_b)
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


binom = define("binom", binom_by_n, binom_by_k)


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


poch = define("poch", poch_by_z, poch_by_m)
