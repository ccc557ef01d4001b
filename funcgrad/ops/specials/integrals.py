"""Integrals of elementary functions (exponential, sine and cosine, Fresnel's, elliptic), and Lambert's W."""

from __future__ import annotations

import math
from typing import Any

from funcgrad.ops.comparison import greater, less
from funcgrad.ops.elementary import cos, cosh, exp, log, sin, sqrt
from funcgrad.ops.lazy import LazyUfunc
from funcgrad.ops.magnitude import absolute
from funcgrad.ops.selection import where
from funcgrad.ops.special import Sinc
from funcgrad.ops.specials.exprel import exprel
from funcgrad.ops.specials.hypergeometric import hyp2f1
from funcgrad.ops.specials.table import LazyResult, define

# -- exponential integrals ---------------------------------------------------------------------------------


def expi_by_x(out: Any, x: Any) -> Any:
    """``exp(x) / x``."""
    return exp(x) / x


def exp1_by_x(out: Any, x: Any) -> Any:
    """``-exp(-x) / x``."""
    return -exp(-x) / x


def expn_by_x(out: Any, n: Any, x: Any) -> Any:
    """``-E_(n-1)(x)``; ``E_0(x) = exp(-x) / x`` and ``E_(-1)(x) = E_0(x) (1 + 1/x)``."""
    above = greater(n, 0)
    elementary = -exp(-x) / x * (1.0 + 1.0 / x)
    return where(above, -expn(where(above, n - 1, 0), x), elementary)


expi = define("expi", expi_by_x)
exp1 = define("exp1", exp1_by_x)
expn = define("expn", "the order", expn_by_x)


# -- sine, cosine and their hyperbolic kin -----------------------------------------------------------------


def sici_si_by_x(out: Any, x: Any) -> Any:
    """``sin(x) / x``, 1 at 0."""
    return Sinc(0)(x / math.pi) if x.dtype.kind != "c" else sin(x) / x


def sici_ci_by_x(out: Any, x: Any) -> Any:
    """``cos(x) / x``."""
    return cos(x) / x


def shichi_shi_by_x(out: Any, x: Any) -> Any:
    """``sinh(x) / x``, 1 at 0, as the mean of ``(exp(x) - 1) / x`` at x and -x."""
    return 0.5 * (exprel(x) + exprel(-x))


def shichi_chi_by_x(out: Any, x: Any) -> Any:
    """``cosh(x) / x``."""
    return cosh(x) / x


sici_si = define("sici_si", sici_si_by_x, ufunc=LazyResult("scipy.special", "sici", 0))
sici_ci = define("sici_ci", sici_ci_by_x, ufunc=LazyResult("scipy.special", "sici", 1))
shichi_shi = define("shichi_shi", shichi_shi_by_x, ufunc=LazyResult("scipy.special", "shichi", 0))
shichi_chi = define("shichi_chi", shichi_chi_by_x, ufunc=LazyResult("scipy.special", "shichi", 1))


def fresnel_s_by_z(out: Any, z: Any) -> Any:
    """``sin(pi z*z / 2)``."""
    return sin(z * z * (math.pi / 2.0))


def fresnel_c_by_z(out: Any, z: Any) -> Any:
    """``cos(pi z*z / 2)``."""
    return cos(z * z * (math.pi / 2.0))


fresnel_s = define("fresnel_s", fresnel_s_by_z, ufunc=LazyResult("scipy.special", "fresnel", 0))
fresnel_c = define("fresnel_c", fresnel_c_by_z, ufunc=LazyResult("scipy.special", "fresnel", 1))


def spence_by_z(out: Any, z: Any) -> Any:
    """``log(z) / (1 - z)``, near 1 ``-2F1(1, 1; 2; 1 - z)``."""
    rest = 1.0 - z
    near = less(absolute(rest), 0.5)
    usual = log(where(near, 2.0, z)) / where(near, 1.0, rest)
    return where(near, -hyp2f1(1.0, 1.0, 2.0, where(near, rest, 0.0)), usual)


spence = define("spence", spence_by_z)


# -- elliptic integrals ------------------------------------------------------------------------------------

NEAR = 0.1
"""Where the hypergeometric series stands for a difference that would cancel."""


def ellipk_by_m(out: Any, m: Any) -> Any:
    """``(E / (1 - m) - K) / (2 m)``, near 0 ``pi/8 2F1(3/2, 3/2; 2; m)``. DLMF 19.4.1, 19.5.1."""
    near = less(absolute(m), NEAR)
    far = where(near, 0.5, m)
    usual = (ellipe(far) / (1.0 - far) - ellipk(far)) / (2.0 * far)
    return where(near, math.pi / 8.0 * hyp2f1(1.5, 1.5, 2.0, where(near, m, 0.0)), usual)


def ellipkm1_by_p(out: Any, p: Any) -> Any:
    """That of ``K(1 - p)``."""
    near = less(absolute(1.0 - p), NEAR)
    far = where(near, 0.5, p)
    usual = (ellipe(1.0 - far) / far - ellipkm1(far)) / (2.0 * (1.0 - far))
    return -where(near, math.pi / 8.0 * hyp2f1(1.5, 1.5, 2.0, where(near, 1.0 - p, 0.0)), usual)


def ellipe_by_m(out: Any, m: Any) -> Any:
    """``(E - K) / (2 m)``, near 0 ``-pi/8 2F1(1/2, 3/2; 2; m)``."""
    near = less(absolute(m), NEAR)
    far = where(near, 0.5, m)
    usual = (ellipe(far) - ellipk(far)) / (2.0 * far)
    return where(near, -math.pi / 8.0 * hyp2f1(0.5, 1.5, 2.0, where(near, m, 0.0)), usual)


def ellipkinc_by_phi(out: Any, phi: Any, m: Any) -> Any:
    """``1 / sqrt(1 - m sin(phi)**2)``."""
    return 1.0 / sqrt(1.0 - m * sin(phi) ** 2)


def ellipeinc_by_phi(out: Any, phi: Any, m: Any) -> Any:
    """``sqrt(1 - m sin(phi)**2)``."""
    return sqrt(1.0 - m * sin(phi) ** 2)


ellipk = define("ellipk", ellipk_by_m)
ellipkm1 = define("ellipkm1", ellipkm1_by_p)
ellipe = define("ellipe", ellipe_by_m)
ellipkinc = define("ellipkinc", ellipkinc_by_phi, "the parameter m")
ellipeinc = define("ellipeinc", ellipeinc_by_phi, "the parameter m")


# -- inverses of elementary functions ----------------------------------------------------------------------


def lambertw_by_z(out: Any, z: Any, k: Any, tol: Any) -> Any:
    """``exp(-W) / (1 + W)``, which is ``W / (z (1 + W))`` without the division by z."""
    return exp(-out) / (1.0 + out)


def wrightomega_by_z(out: Any, z: Any) -> Any:
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
