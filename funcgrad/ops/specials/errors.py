"""The error functions beyond `erf` itself: scaled, imaginary, Dawson's, inverse, and the normal distribution.

The derivatives of `erfcx` and `dawsn` are small differences of large terms far from 0, so they are functions
of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.elementwise.comparison import greater, isinf
from funcgrad.ops.elementwise.elementary import exp
from funcgrad.ops.elementwise.logic import logical_or
from funcgrad.ops.elementwise.magnitude import sign
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.elementwise.special import erf
from funcgrad.ops.families import Unary, aval
from funcgrad.ops.specials.table import define
from funcgrad.tracing.samples import Sample, edge, normal
from funcgrad.types import Array

ROOT_PI = math.sqrt(math.pi)
ROOT_TWO = math.sqrt(2.0)
ERFCX = LazyUfunc("scipy.special", "erfcx")
DAWSN = LazyUfunc("scipy.special", "dawsn")


class Differentiated(Unary):
    """A function of a real number differentiated ``order`` times, from 1 on."""

    parameters = ("order",)
    kinds = "f"
    order: int

    def infer(self, *avals: Aval) -> Aval:
        if avals[0].dtype.kind == "c":
            raise DtypeError(f"{self.name} of {avals[0]}: higher derivatives are those of real numbers")
        return super().infer(*avals)

    def on_arrays(self, *args: Array) -> Array:
        (dtype,) = self.operand_dtypes(tuple([aval(x) for x in args]))
        return self.evaluate(np.asarray(args[0], dtype)[()])

    def evaluate(self, *values: Array) -> Array:
        x = values[0]
        wide = np.asarray(x, np.float64)
        with np.errstate(all="ignore"):
            return np.asarray(self.values_at(wide)).astype(x.dtype)[()]

    def values_at(self, x: Array) -> Array:
        """The derivative at an array of float64."""
        raise NotImplementedError(f"{self.name}: values_at")

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> None:
        return None

    def derivative(self, x: Array, out: Array) -> Array:
        return type(self)(self.order + 1)(x)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), params={"order": 1}),
            Sample(edge(0.0, 1.5, 2.5, 30.0, -1.0), params={"order": 2}),
            Sample(normal(), params={"order": 1}),
            Sample(edge(np.inf, -np.inf, np.nan), params={"order": 1}, differentiable=False),
        )


class ErfcxDerivative(Differentiated):
    """The derivative of the scaled complementary error function ``exp(x*x) erfc(x)``.

    It is ``(-2)**n I_n``, where ``I_n`` is ``2 / sqrt(pi)`` times the integral of ``t**n exp(-t*t - 2 x t)``
    from 0 on. ``I_n / I_(n-1)`` is a continued fraction, ``(n/2) / (x + ((n+1)/2) / (x + ...))``: nothing
    cancels for positive x.
    """

    name = "erfcx_derivative"
    exported = ("erfcx_derivative({0}, {p.order})",)
    ufunc = ERFCX

    def values_at(self, x: Array) -> Array:
        found = ERFCX(x)
        far = x > 2.0
        ratio, product = np.zeros_like(x), np.ones_like(x)
        safe = np.where(far, x, 2.0)
        for k in range(TERMS + self.order, 0, -1):
            ratio = (0.5 * k) / (safe + ratio)
            if k <= self.order:
                product = product * ratio
        return np.where(far, (-2.0) ** self.order * found * product, near_zero(x, found, self.order))


TERMS = 80
"""Of the continued fraction: enough for full precision from x = 2 on."""


def near_zero(x: Array, found: Array, order: int) -> Array:
    """The derivatives of erfcx by ``f'' = 2 x f' + 2 f``, which is stable where x is small or negative."""
    last, found = found, 2.0 * x * found - 2.0 / ROOT_PI
    for k in range(1, order):
        last, found = found, 2.0 * x * found + 2.0 * k * last
    return np.where(x == -np.inf, (-1.0) ** order * np.inf, found)


class DawsnDerivative(Differentiated):
    """The derivative of Dawson's function.

    Far from 0 by its asymptotic series, the sum of ``(2k-1)!! / (2**(k+1) x**(2k+1))``. DLMF 7.12.1.
    """

    name = "dawsn_derivative"
    exported = ("dawsn_derivative({0}, {p.order})",)
    ufunc = DAWSN

    def values_at(self, x: Array) -> Array:
        far = np.abs(x) > FAR
        last, found = DAWSN(x), 1.0 - 2.0 * x * DAWSN(x)
        for k in range(1, self.order):
            last, found = found, -2.0 * x * found - 2.0 * k * last
        return np.where(far, self.series(np.where(far, x, FAR)), found)

    def series(self, x: Array) -> Array:
        """The asymptotic series, differentiated term by term."""
        n = self.order
        total = np.zeros_like(x)
        inverse = 1.0 / (x * x)
        coefficient, terms = 0.5, []
        for k in range(22):
            terms.append(coefficient * math.prod(range(2 * k + 1, 2 * k + 1 + n)))
            coefficient *= (2 * k + 1) / 2
        for term in reversed(terms):
            total = total * inverse + term
        return (-1.0) ** n * total / x ** (n + 1)


FAR = 7.0


def erfcx_by_x(out: Array, x: Array) -> Array:
    """``2 x erfcx(x) - 2 / sqrt(pi)``."""
    if aval(x).dtype.kind == "c":
        return 2.0 * x * out - 2.0 / ROOT_PI
    return ErfcxDerivative(1)(x)


def dawsn_by_x(out: Array, x: Array) -> Array:
    """``1 - 2 x dawsn(x)``."""
    return 1.0 - 2.0 * x * out if aval(x).dtype.kind == "c" else DawsnDerivative(1)(x)


def erfi_by_x(out: Array, x: Array) -> Array:
    """``2 / sqrt(pi) exp(x*x)``."""
    return exp(x * x) * (2.0 / ROOT_PI)


def wofz_by_z(out: Array, z: Array) -> Array:
    """``2i / sqrt(pi) - 2 z w(z)``. DLMF 7.10.2."""
    return 2j / ROOT_PI - 2.0 * z * out


def erfcinv_by_y(out: Array, y: Array) -> Array:
    """``-sqrt(pi) / 2 exp(out*out)``."""
    return exp(out * out) * (-ROOT_PI / 2.0)


erfcx = define("erfcx", erfcx_by_x, native="erfcx({0})")
dawsn = define("dawsn", dawsn_by_x)
erfi = define("erfi", erfi_by_x)
wofz = define("wofz", wofz_by_z)
erfcinv = define("erfcinv", erfcinv_by_y)


# -- the normal distribution -------------------------------------------------------------------------------


def log_ndtr_by_x(out: Array, x: Array) -> Array:
    """The density over the distribution, ``sqrt(2/pi) / erfcx(-x / sqrt(2))``; far right the density."""
    if aval(x).dtype.kind == "c":
        return exp(-0.5 * x * x - out) / math.sqrt(2.0 * math.pi)
    far = greater(x, 10.0)
    slope = math.sqrt(2.0 / math.pi) / erfcx(where(far, 0.0, x) * (-1.0 / ROOT_TWO))
    x = where(far, x, 10.0)
    return where(far, exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi), slope)


def ndtri_by_p(out: Array, p: Array) -> Array:
    """One over the density."""
    return exp(0.5 * out * out) * math.sqrt(2.0 * math.pi)


def ndtri_exp_by_y(out: Array, y: Array) -> Array:
    """One over the derivative of `log_ndtr`."""
    return erfcx(out * (-1.0 / ROOT_TWO)) * math.sqrt(math.pi / 2.0)


def owens_t_by_h(out: Array, h: Array, a: Array) -> Array:
    """``-exp(-h*h/2) erf(a h / sqrt(2)) / (2 sqrt(2 pi))``, Owen (1956); 0 of an infinite h.

    Of an infinite a it has a kink at 0, where the mean of both sides stands.
    """
    far, end = isinf(h), isinf(a)
    h, near = where(far, 1.0, h), where(end, 1.0, a)
    share = where(end, sign(a) * sign(h), erf(near * h / ROOT_TWO))
    return where(far, 0.0, exp(-0.5 * h * h) * share * (-0.5 / math.sqrt(2.0 * math.pi)))


def owens_t_by_a(out: Array, h: Array, a: Array) -> Array:
    """``exp(-h*h (1 + a*a) / 2) / (2 pi (1 + a*a))``; 0 where one is infinite."""
    still = logical_or(isinf(h), isinf(a))
    h, a = where(still, 1.0, h), where(still, 1.0, a)
    square = 1.0 + a * a
    return where(still, 0.0, exp(-0.5 * h * h * square) / (2.0 * math.pi * square))


log_ndtr = define("log_ndtr", log_ndtr_by_x, native="log_ndtr({0})", flat=True)
ndtri = define("ndtri", ndtri_by_p)
ndtri_exp = define("ndtri_exp", ndtri_exp_by_y)
owens_t = define("owens_t", owens_t_by_h, owens_t_by_a)
