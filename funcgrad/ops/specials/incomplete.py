"""The incomplete gamma and beta functions and their inverses, with derivatives by every argument.

By the upper limit the derivative is elementary. By a parameter it is an integral, evaluated in `quadrature`,
whose derivatives by the limit are elementary again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.arrays.structure import aval
from funcgrad.ops.elementwise.arithmetic import strong_zero_mul
from funcgrad.ops.elementwise.comparison import equal, greater, less
from funcgrad.ops.elementwise.elementary import exp, log, log1p
from funcgrad.ops.elementwise.identity import stop_gradient
from funcgrad.ops.elementwise.logic import logical_and, logical_or
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.elementwise.special import Polygamma
from funcgrad.ops.families import Pointwise
from funcgrad.ops.specials import quadrature
from funcgrad.ops.specials.quadrature import Orders, bell
from funcgrad.ops.specials.table import Evaluated, define, undefined
from funcgrad.tracing.samples import Sample, edge, positive, uniform
from funcgrad.types import Array, ArrayLike, UfuncLike

TWO = LazyUfunc("numpy", "arctan2", 2)
THREE = LazyUfunc("scipy.special", "betainc", 3)
"""What says the dtypes of functions of two and three numbers; `gammainc` would make Python numbers double."""


def doubles(function: Callable[..., Array], *operands: Array) -> Array | None:
    """`function` of traced doubles; None for other dtypes, which kernels leave to SciPy's loops."""
    return function(*operands) if all(aval(x).dtype == np.float64 for x in operands) else None


class ByParameters(Pointwise):
    """The derivative of a distribution function by its parameters, ``orders`` times, at least once."""

    parameters = ("orders",)
    not_exported = "higher orders by parameters need zeta functions inside of a quadrature"
    kinds = "f"
    orders: Orders

    def __call__(self, *args: ArrayLike) -> Array:
        return self.apply(*args)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> None:
        return None

    def expansion(self, *inputs: Array) -> Array | None:
        """The quadrature in a kernel; higher orders need zeta functions, which kernels have not."""
        return doubles(partial(self.integral, self.orders), *inputs) if sum(self.orders) == 1 else None

    @staticmethod
    def integral(orders: Orders, *operands: Array) -> Array:
        """The quadrature of doubles."""
        raise NotImplementedError("a derivative by parameters without its quadrature")

    def raised(self, i: int) -> Orders:
        """The orders with one more in parameter `i`."""
        return tuple(n + (k == i) for k, n in enumerate(self.orders))

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        if i < len(self.orders):
            return type(self)(self.raised(i))(*primals)
        return self.slope(*primals)

    def along(self, tangent: Array, factor: Array) -> Array:
        return strong_zero_mul(tangent, factor)

    def slope(self, *primals: Array) -> Array:
        """The derivative by the limit: the density times a Bell polynomial, and 0 where the density is."""
        raise NotImplementedError(f"{self.name}: slope")


class GammaincByParameter(ByParameters):
    """The derivative of ``gammainc(a, x)`` by a, ``orders`` times."""

    name = "gammainc_by_parameter"
    cost = 40
    integral = staticmethod(quadrature.gamma_integral)

    @property
    def ufunc(self) -> UfuncLike:
        """What evaluates it."""
        return Evaluated(self.name, partial(quadrature.gammainc_by_a, self.orders[0]), TWO)

    def slope(self, *primals: Array) -> Array:
        a, x = primals

        def logarithmic(orders: Orders) -> Array:
            (k,) = orders
            return log(x) - Polygamma(0)(a) if k == 1 else -Polygamma(k - 1)(a)

        density = gammainc_slope(a, x)
        none = equal(density, 0.0)
        found = where(none, 0.0, density * bell(self.orders, logarithmic))
        if self.orders == (1,):
            return from_parameter_zero(a, x, found)
        return where(logical_and(equal(a, 0.0), greater(x, 0.0)), math.nan, found)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(positive(3), positive(3), params={"orders": (1,)}),
            Sample(positive(), uniform(1.0, 9.0, 2), params={"orders": (2,)}),
            Sample(
                edge(1.0, 2.0, -1.0, np.nan),
                edge(0.0, np.inf, 1.0, 1.0),
                params={"orders": (1,)},
                differentiable=False,
            ),
        )


class BetaincByParameters(ByParameters):
    """The derivative of ``betainc(a, b, x)`` by a and b, ``orders`` times."""

    name = "betainc_by_parameters"
    cost = 40
    integral = staticmethod(quadrature.beta_integral)

    @property
    def ufunc(self) -> UfuncLike:
        """What evaluates it."""
        return Evaluated(self.name, partial(quadrature.betainc_by_parameters, self.orders), THREE)

    def slope(self, *primals: Array) -> Array:
        a, b, x = primals

        def logarithmic(orders: Orders) -> Array:
            m, n = orders
            found = Polygamma(m + n - 1)(a + b)
            if not n:
                found = found - Polygamma(m - 1)(a)
            if not m:
                found = found - Polygamma(n - 1)(b)
            return found + (log(x) if orders == (1, 0) else log1p(-x) if orders == (0, 1) else 0.0)

        density = betainc_slope(a, b, x)
        none = equal(density, 0.0)
        return where(none, 0.0, density * bell(self.orders, logarithmic))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        inside = uniform(0.2, 0.8, 3)
        return (
            Sample(positive(3), positive(3), inside, params={"orders": (1, 0)}),
            Sample(positive(), positive(3), inside, params={"orders": (0, 1)}),
            Sample(positive(3), positive(3), uniform(0.2, 0.8), params={"orders": (1, 1)}),
            Sample(
                edge(1.0, 2.0, -1.0),
                edge(1.0, 2.0, 1.0),
                edge(0.0, 1.0, 0.5),
                params={"orders": (1, 0)},
                differentiable=False,
            ),
        )


# -- densities ---------------------------------------------------------------------------------------------


def gammainc_slope_by_a(out: Array, a: Array, x: Array) -> Array:
    """``p (log(x) - psi(a))``, 0 where p is; ``exp(-x) / x`` for a = 0, where psi is infinite."""
    usual = where(equal(out, 0.0), 0.0, out * (log(x) - Polygamma(0)(a)))
    return from_parameter_zero(a, x, usual)


def from_parameter_zero(a: Array, x: Array, usual: Array) -> Array:
    """The derivative of the density by a, for ``1 / gamma(a)`` is a near 0; by a again it is not known."""
    start = logical_and(equal(a, 0.0), logical_and(greater(x, 0.0), less(x, math.inf)))
    safe = where(start, x, 1.0)
    return where(start, exp(-safe) / safe + undefined(a), usual)


def gammainc_slope_by_x(out: Array, a: Array, x: Array) -> Array:
    """``p ((a - 1) / x - 1)``; at 0 that of ``x**(a-1)``."""
    zero = equal(x, 0.0)
    steep = where(logical_and(greater(a, 1.0), less(a, 2.0)), math.inf, out * (a - 1.0))
    at_zero = where(equal(a, 1.0), -1.0, where(equal(a, 2.0), 1.0, steep))
    return where(zero, at_zero, out * ((a - 1.0) / where(zero, 1.0, x) - 1.0))


def betainc_slope_by_a(out: Array, a: Array, b: Array, x: Array) -> Array:
    """``p (log(x) - psi(a) + psi(a + b))``, 0 where p is."""
    return where(equal(out, 0.0), 0.0, out * (log(x) - Polygamma(0)(a) + Polygamma(0)(a + b)))


def betainc_slope_by_b(out: Array, a: Array, b: Array, x: Array) -> Array:
    """``p (log(1 - x) - psi(b) + psi(a + b))``, 0 where p is."""
    return where(equal(out, 0.0), 0.0, out * (log1p(-x) - Polygamma(0)(b) + Polygamma(0)(a + b)))


def betainc_slope_by_x(out: Array, a: Array, b: Array, x: Array) -> Array:
    """``p ((a - 1) / x - (b - 1) / (1 - x))``; at 0 that of ``x**(a-1)``, and at 1 likewise."""
    zero, one = equal(x, 0.0), equal(x, 1.0)
    inner = where(logical_or(zero, one), 0.5, x)
    usual = out * ((a - 1.0) / inner - (b - 1.0) / (1.0 - inner))
    return where(zero, slope_at_end(out, a, b), where(one, -slope_at_end(out, b, a), usual))


def slope_at_end(out: Array, a: Array, b: Array) -> Array:
    """The derivative of the density ``x**(a-1) (1-x)**(b-1) / beta(a, b)`` at 0, where it is `out`."""
    steep = where(equal(a, 2.0), b * (b + 1.0), out * (a - 1.0))
    between = logical_and(greater(a, 1.0), less(a, 2.0))
    return where(equal(a, 1.0), -b * (b - 1.0), where(between, math.inf, steep))


gammainc_slope = define(
    "gammainc_slope",
    gammainc_slope_by_a,
    gammainc_slope_by_x,
    ufunc=Evaluated("gammainc_slope", quadrature.gammainc_slope, TWO),
    expansion=partial(doubles, quadrature.gamma_density),
)
betainc_slope = define(
    "betainc_slope",
    betainc_slope_by_a,
    betainc_slope_by_b,
    betainc_slope_by_x,
    ufunc=Evaluated("betainc_slope", quadrature.betainc_slope, THREE),
    expansion=partial(doubles, quadrature.beta_density),
)


# -- the functions -----------------------------------------------------------------------------------------


def gammainc_by_a(out: Array, a: Array, x: Array) -> Array:
    """An integral."""
    return GammaincByParameter((1,))(a, x)


def gammainc_by_x(out: Array, a: Array, x: Array) -> Array:
    """The density, ``x**(a-1) exp(-x) / gamma(a)``."""
    return gammainc_slope(a, x)


def gammaincc_by_a(out: Array, a: Array, x: Array) -> Array:
    """Minus that of `gammainc`."""
    return -gammainc_by_a(out, a, x)


def gammaincc_by_x(out: Array, a: Array, x: Array) -> Array:
    """Minus the density."""
    return -gammainc_slope(a, x)


def betainc_by_a(out: Array, a: Array, b: Array, x: Array) -> Array:
    """An integral."""
    return BetaincByParameters((1, 0))(a, b, x)


def betainc_by_b(out: Array, a: Array, b: Array, x: Array) -> Array:
    """An integral."""
    return BetaincByParameters((0, 1))(a, b, x)


def betainc_by_x(out: Array, a: Array, b: Array, x: Array) -> Array:
    """The density, ``x**(a-1) (1-x)**(b-1) / beta(a, b)``."""
    return betainc_slope(a, b, x)


def betaincc_by_a(out: Array, a: Array, b: Array, x: Array) -> Array:
    """Minus that of `betainc`."""
    return -betainc_by_a(out, a, b, x)


def betaincc_by_b(out: Array, a: Array, b: Array, x: Array) -> Array:
    """Minus that of `betainc`."""
    return -betainc_by_b(out, a, b, x)


def betaincc_by_x(out: Array, a: Array, b: Array, x: Array) -> Array:
    """Minus the density."""
    return -betainc_slope(a, b, x)


gammainc = define("gammainc", gammainc_by_a, gammainc_by_x, flat=True)
gammaincc = define("gammaincc", gammaincc_by_a, gammaincc_by_x, flat=True)
betainc = define("betainc", betainc_by_a, betainc_by_b, betainc_by_x)
betaincc = define("betaincc", betaincc_by_a, betaincc_by_b, betaincc_by_x)


# -- inverses ----------------------------------------------------------------------------------------------


def implicit(moved: Array, density: Array, p: Array) -> Array:
    """How the quantile moves with a parameter, ``-moved / density``; not at all at the ends.

    By p again it is not known there: it depends on how fast the density falls.
    """
    end = is_end(p)
    return where(end, undefined(p), -moved / where(end, 1.0, density))


def quantile_slope(density: Array, p: Array, *parameters: Array) -> Array:
    """How the quantile moves with p, one over the density."""
    usual = 1.0 / density
    at_end: Any = stop_gradient(usual)
    for x in (p, *parameters):
        at_end = at_end + undefined(x)
    return where(is_end(p), at_end, usual)


def is_end(p: Array) -> Array:
    """Where a quantile is an end of the support."""
    return logical_or(equal(p, 0.0), equal(p, 1.0))


def gammaincinv_by_a(out: Array, a: Array, p: Array) -> Array:
    """By implicit differentiation of ``gammainc(a, out) = p``."""
    return implicit(gammainc_by_a(None, a, out), gammainc_slope(a, out), p)


def gammaincinv_by_p(out: Array, a: Array, p: Array) -> Array:
    """One over the density."""
    return quantile_slope(gammainc_slope(a, out), p, a)


def gammainccinv_by_p(out: Array, a: Array, p: Array) -> Array:
    """Minus one over the density."""
    return -quantile_slope(gammainc_slope(a, out), p, a)


def beta_density(a: Array, b: Array, x: Array, rest: Array) -> Array:
    """The density of `betainc` at ``x = 1 - rest``, by the smaller of both."""
    far = greater(x, rest)
    return betainc_slope(where(far, b, a), where(far, a, b), where(far, rest, x))


def beta_moves(orders: Orders, a: Array, b: Array, x: Array, rest: Array) -> Array:
    """The first derivative of ``betainc(a, b, x)`` by a or b at ``x = 1 - rest``, by the smaller of both."""
    far = greater(x, rest)
    near_x, near_rest = where(far, 0.5, x), where(far, rest, 0.5)
    turned = -BetaincByParameters((orders[1], orders[0]))(b, a, near_rest)
    return where(far, turned, BetaincByParameters(orders)(a, b, near_x))


def betaincinv_by_a(out: Array, a: Array, b: Array, p: Array) -> Array:
    """By implicit differentiation of ``betainc(a, b, out) = p``."""
    return implicit(betainc_by_a(None, a, b, out), betainc_slope(a, b, out), p)


def betaincinv_by_b(out: Array, a: Array, b: Array, p: Array) -> Array:
    """By implicit differentiation of ``betainc(a, b, out) = p``."""
    return implicit(betainc_by_b(None, a, b, out), betainc_slope(a, b, out), p)


def betaincinv_by_p(out: Array, a: Array, b: Array, p: Array) -> Array:
    """One over the density."""
    return quantile_slope(betainc_slope(a, b, out), p, a, b)


def betainccinv_by_a(out: Array, a: Array, b: Array, p: Array) -> Array:
    """By implicit differentiation; what `out` leaves of 1 is `betaincinv`, with all its digits."""
    rest = betaincinv(b, a, p)
    return implicit(beta_moves((1, 0), a, b, out, rest), beta_density(a, b, out, rest), p)


def betainccinv_by_b(out: Array, a: Array, b: Array, p: Array) -> Array:
    """Likewise."""
    rest = betaincinv(b, a, p)
    return implicit(beta_moves((0, 1), a, b, out, rest), beta_density(a, b, out, rest), p)


def betainccinv_by_p(out: Array, a: Array, b: Array, p: Array) -> Array:
    """Minus one over the density."""
    return -quantile_slope(beta_density(a, b, out, betaincinv(b, a, p)), p, a, b)


gammaincinv = define("gammaincinv", gammaincinv_by_a, gammaincinv_by_p)
gammainccinv = define("gammainccinv", gammaincinv_by_a, gammainccinv_by_p)
betaincinv = define("betaincinv", betaincinv_by_a, betaincinv_by_b, betaincinv_by_p)
betainccinv = define("betainccinv", betainccinv_by_a, betainccinv_by_b, betainccinv_by_p)
