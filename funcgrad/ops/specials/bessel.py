"""Bessel functions of a fixed order: cylindrical, modified, spherical, and Airy's.

Derivatives are neighbours in order, which keeps them right at 0. By the order itself there is no rule.
Formulas: DLMF 10.6, 10.29, 10.51, 9.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.elementwise.comparison import equal, greater, less, not_equal
from funcgrad.ops.elementwise.identity import departure
from funcgrad.ops.elementwise.logic import logical_and
from funcgrad.ops.elementwise.magnitude import sign
from funcgrad.ops.elementwise.rounding import floor
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import aval
from funcgrad.ops.specials.gamma import rgamma
from funcgrad.ops.specials.powers import power
from funcgrad.ops.specials.table import Composition, LazyResult, Partial, Special, define, infinitely
from funcgrad.types import Anything, Array, ArrayLike

ORDER = "the order"


def neighbours(name: str, below: float, above: float) -> Partial:
    """The derivative ``below f(v - 1) + above f(v + 1)``."""
    function: Special = Special(name)

    def by_z(out: Array, v: Array, z: Array) -> Array:
        return below * function(v - 1, z) + above * function(v + 1, z)

    return by_z


jv = define("jv", ORDER, neighbours("jv", 0.5, -0.5))
define("jn", ORDER, neighbours("jv", 0.5, -0.5))
yv = define("yv", ORDER, neighbours("yv", 0.5, -0.5))
define("yn", ORDER, neighbours("yv", 0.5, -0.5))
kv = define("kv", ORDER, neighbours("kv", -0.5, -0.5))
define("kn", ORDER, neighbours("kv", -0.5, -0.5))
define("hankel1", ORDER, neighbours("hankel1", 0.5, -0.5))
define("hankel2", ORDER, neighbours("hankel2", 0.5, -0.5))


def ive_by_z(out: Array, v: Array, z: Array) -> Array:
    """That of ``exp(-|z|) iv(v, z)``; at 0 half of both sides', as for ``|z|``; broken orders: one side."""
    lost = decay(out, z)
    if aval(z).dtype.kind != "c":
        lost = where(logical_and(equal(z, 0.0), not_equal(v, floor(v))), out, lost)
    return 0.5 * (signed_iv(v - 1, z, ive) + signed_iv(v + 1, z, ive)) - lost


def iv_by_z(out: Array, v: Array, z: Array) -> Array:
    """``(iv(v - 1, z) + iv(v + 1, z)) / 2``. DLMF 10.29.1."""
    return 0.5 * (signed_iv(v - 1, z) + signed_iv(v + 1, z))


def signed_iv(v: Array, z: Array, usual: Composition | None = None) -> Array:
    """`iv`, or `ive` as `usual`, with the signs that its poles at 0 have; for SciPy all of them are positive.

    There it is ``(z / 2)**v / Gamma(v + 1)``. DLMF 10.25.2.
    """
    usual = usual or iv
    if aval(z).dtype.kind == "c":
        return usual(v, z)
    scale = rgamma(v + 1.0)
    pole = logical_and(logical_and(equal(z, 0.0), less(v, 0.0)), not_equal(scale, 0.0))
    first = scale * power(0.5 * where(pole, z, 1.0), v + 0.0)
    return where(pole, first, usual(v, where(pole, 1.0, z)))


def decay(out: Array, z: Array) -> Array:
    """What a function times ``exp(-|z|)`` loses, ``sign(z) out``; at 0 its derivative is the mean of both."""
    kink = where(equal(z, 0.0), departure(z), 0.0)
    return sign(z) * out - kink * out


def kve_by_z(out: Array, v: Array, z: Array) -> Array:
    """That of ``exp(z) kv(v, z)``."""
    return out - 0.5 * (kve(v - 1, z) + kve(v + 1, z))


iv = define("iv", ORDER, iv_by_z)
ive = define("ive", ORDER, ive_by_z, holomorphic=False, flat=True)
kve = define("kve", ORDER, kve_by_z, flat=True)


# -- of order zero and one ---------------------------------------------------------------------------------


def j0_by_x(out: Array, x: Array) -> Array:
    """``-j1(x)``."""
    return -j1(x)


def j1_by_x(out: Array, x: Array) -> Array:
    """``(j0(x) - j2(x)) / 2``."""
    return 0.5 * (j0(x) - jv(2.0, x))


def y0_by_x(out: Array, x: Array) -> Array:
    """``-y1(x)``."""
    return -y1(x)


def y1_by_x(out: Array, x: Array) -> Array:
    """``(y0(x) - y2(x)) / 2``, whose infinities would cancel at 0."""
    pole = equal(x, 0.0)
    at = where(pole, 1.0, x)
    return where(pole, math.inf - infinitely(x), 0.5 * (y0(at) - yv(2.0, at)))


def i0_by_x(out: Array, x: Array) -> Array:
    """``i1(x)``."""
    return i1(x)


def i1_by_x(out: Array, x: Array) -> Array:
    """``(i0(x) + i2(x)) / 2``."""
    return 0.5 * (i0(x) + iv(2.0, x))


def i0e_by_x(out: Array, x: Array) -> Array:
    """That of ``exp(-|x|) i0(x)``."""
    return i1e(x) - decay(out, x)


def i1e_by_x(out: Array, x: Array) -> Array:
    """That of ``exp(-|x|) i1(x)``."""
    return 0.5 * (i0e(x) + ive(2.0, x)) - decay(out, x)


def k0_by_x(out: Array, x: Array) -> Array:
    """``-k1(x)``."""
    return -k1(x)


def k1_by_x(out: Array, x: Array) -> Array:
    """``-(k0(x) + k2(x)) / 2``."""
    return -0.5 * (k0(x) + kv(2.0, x))


def k0e_by_x(out: Array, x: Array) -> Array:
    """That of ``exp(x) k0(x)``."""
    return out - k1e(x)


def k1e_by_x(out: Array, x: Array) -> Array:
    """That of ``exp(x) k1(x)``."""
    return out - 0.5 * (k0e(x) + kve(2.0, x))


j0 = define("j0", j0_by_x)
j1 = define("j1", j1_by_x)
y0 = define("y0", y0_by_x)
y1 = define("y1", y1_by_x)
i0 = define("i0", i0_by_x)
i1 = define("i1", i1_by_x)
i0e = define("i0e", i0e_by_x, flat=True)
i1e = define("i1e", i1e_by_x, flat=True)
k0 = define("k0", k0_by_x)
k1 = define("k1", k1_by_x)
k0e = define("k0e", k0e_by_x, flat=True)
k1e = define("k1e", k1e_by_x, flat=True)


# -- spherical ---------------------------------------------------------------------------------------------


class Spherical(LazyUfunc):
    """SciPy's spherical Bessel function, which is a Python function around the ufunc that says the dtypes."""

    def __init__(self, name: str) -> None:
        super().__init__("scipy.special._ufuncs", f"_{name}", 2)
        self.public = LazyUfunc("scipy.special", name, 2)

    def __call__(self, *args: ArrayLike, **options: Anything) -> Array:
        n, z = args
        found = self.public.resolved(n, z)
        dtype = np.result_type(z, np.float32) if aval(z).inexact else np.float64
        return np.asarray(found, dtype)[()]


def spherical(name: str, below: float, above: float) -> Partial:
    """The derivative ``(below n f(n - 1) + above (n + 1) f(n + 1)) / (2 n + 1)``."""
    function: Special = Special(name)

    def by_z(out: Array, n: Array, z: Array) -> Array:
        order = n.astype(aval(z).dtype)
        lower = below * order * function(where(greater(n, 0), n - 1, 0), z)
        return (lower + above * (order + 1.0) * function(n + 1, z)) / (2.0 * order + 1.0)

    return by_z


def defined_spherical(name: str, below: float, above: float) -> Callable[..., Any]:
    """A spherical Bessel function in the table."""
    return define(name, ORDER, spherical(name, below, above), ufunc=Spherical(name))


spherical_jn = defined_spherical("spherical_jn", 1.0, -1.0)
spherical_yn = defined_spherical("spherical_yn", 1.0, -1.0)
spherical_in = defined_spherical("spherical_in", 1.0, 1.0)
spherical_kn = defined_spherical("spherical_kn", -1.0, -1.0)


# -- Airy's functions --------------------------------------------------------------------------------------


def airy_ai_by_z(out: Array, z: Array) -> Array:
    """``Ai'``."""
    return airy_aip(z)


def airy_aip_by_z(out: Array, z: Array) -> Array:
    """``Ai'' = z Ai``."""
    return z * airy_ai(z)


def airy_bi_by_z(out: Array, z: Array) -> Array:
    """``Bi'``."""
    return airy_bip(z)


def airy_bip_by_z(out: Array, z: Array) -> Array:
    """``Bi'' = z Bi``."""
    return z * airy_bi(z)


airy_ai = define("airy_ai", airy_ai_by_z, ufunc=LazyResult("scipy.special", "airy", 0))
airy_aip = define("airy_aip", airy_aip_by_z, ufunc=LazyResult("scipy.special", "airy", 1))
airy_bi = define("airy_bi", airy_bi_by_z, ufunc=LazyResult("scipy.special", "airy", 2))
airy_bip = define("airy_bip", airy_bip_by_z, ufunc=LazyResult("scipy.special", "airy", 3))
