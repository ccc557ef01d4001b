"""Integrals of elementary functions (exponential, sine and cosine, Fresnel's), and Lambert's W."""

from __future__ import annotations

import math

from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.elementwise.comparison import equal, greater, less
from funcgrad.ops.elementwise.elementary import cos, cosh, exp, log, sin
from funcgrad.ops.elementwise.magnitude import absolute
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.elementwise.special import Sinc
from funcgrad.ops.specials.exprel import exprel
from funcgrad.ops.specials.hypergeometric import hyp2f1
from funcgrad.ops.specials.table import LazyResult, define, infinitely
from funcgrad.types import Array

# -- exponential integrals ---------------------------------------------------------------------------------


def expi_by_x(out: Array, x: Array) -> Array:
    """``exp(x) / x``."""
    return exp(x) / x


def exp1_by_x(out: Array, x: Array) -> Array:
    """``-exp(-x) / x``."""
    return -exp(-x) / x


def expn_by_x(out: Array, n: Array, x: Array) -> Array:
    """``-E_(n-1)(x)``; ``E_0(x) = exp(-x) / x`` and ``E_(-1)(x) = E_0(x) (1 + 1/x)``."""
    above = greater(n, 0)
    elementary = -exp(-x) / x * (1.0 + 1.0 / x)
    return where(above, -expn(where(above, n - 1, 0), x), elementary)


expi = define("expi", expi_by_x)
exp1 = define("exp1", exp1_by_x)
expn = define("expn", "the order", expn_by_x)


# -- sine, cosine and their hyperbolic kin -----------------------------------------------------------------


def sici_si_by_x(out: Array, x: Array) -> Array:
    """``sin(x) / x``, 1 at 0."""
    return Sinc(0)(x / math.pi) if x.dtype.kind != "c" else sin(x) / x


def sici_ci_by_x(out: Array, x: Array) -> Array:
    """``cos(x) / x``."""
    return cos(x) / x


def shichi_shi_by_x(out: Array, x: Array) -> Array:
    """``sinh(x) / x``, 1 at 0, as the mean of ``(exp(x) - 1) / x`` at x and -x."""
    return 0.5 * (exprel(x) + exprel(-x))


def shichi_chi_by_x(out: Array, x: Array) -> Array:
    """``cosh(x) / x``."""
    return cosh(x) / x


sici_si = define("sici_si", sici_si_by_x, ufunc=LazyResult("scipy.special", "sici", 0), flat=True)
sici_ci = define("sici_ci", sici_ci_by_x, ufunc=LazyResult("scipy.special", "sici", 1), flat=True)
shichi_shi = define("shichi_shi", shichi_shi_by_x, ufunc=LazyResult("scipy.special", "shichi", 0))
shichi_chi = define("shichi_chi", shichi_chi_by_x, ufunc=LazyResult("scipy.special", "shichi", 1))


def fresnel_s_by_z(out: Array, z: Array) -> Array:
    """``sin(pi z*z / 2)``."""
    return sin(z * z * (math.pi / 2.0))


def fresnel_c_by_z(out: Array, z: Array) -> Array:
    """``cos(pi z*z / 2)``."""
    return cos(z * z * (math.pi / 2.0))


fresnel_s = define("fresnel_s", fresnel_s_by_z, ufunc=LazyResult("scipy.special", "fresnel", 0))
fresnel_c = define("fresnel_c", fresnel_c_by_z, ufunc=LazyResult("scipy.special", "fresnel", 1))


def spence_by_z(out: Array, z: Array) -> Array:
    """``log(z) / (1 - z)``, near 1 ``-2F1(1, 1; 2; 1 - z)``; at 0 its own derivative is ``1 / z``."""
    rest, zero = 1.0 - z, equal(z, 0.0)
    near = less(absolute(rest), 0.5)
    far = where(zero, 2.0, where(near, 2.0, z))
    usual = where(zero, infinitely(z) - math.inf, log(far) / (1.0 - far))
    return where(near, -hyp2f1(1.0, 1.0, 2.0, where(near, rest, 0.0)), usual)


spence = define("spence", spence_by_z)


# -- inverses of elementary functions ----------------------------------------------------------------------


def lambertw_by_z(out: Array, z: Array, k: Array, tol: Array) -> Array:
    """``exp(-W) / (1 + W)``, which is ``W / (z (1 + W))`` without the division by z."""
    return exp(-out) / (1.0 + out)


def wrightomega_by_z(out: Array, z: Array) -> Array:
    """``w / (1 + w)``."""
    return out / (1.0 + out)


lambertw = define(
    "lambertw",
    lambertw_by_z,
    "the branch",
    "the tolerance",
    ufunc=LazyUfunc("scipy.special._ufuncs", "_lambertw", 3),
)
wrightomega = define("wrightomega", wrightomega_by_z)
