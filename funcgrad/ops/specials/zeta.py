"""The zeta functions of Riemann and Hurwitz, by both arguments.

By q the derivative is a zeta function again. By x it is a sum with logarithms, evaluated by Euler's and
Maclaurin's formula (DLMF 25.11.7), each term of which is differentiated as a truncated power series in x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.elementwise.comparison import isinf, less
from funcgrad.ops.elementwise.elementary import cos, exp, sin
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.elementwise.special import Polygamma
from funcgrad.ops.families import Binary
from funcgrad.ops.specials.gamma import gamma
from funcgrad.ops.specials.table import Evaluated, define, level_far_away
from funcgrad.tracing.samples import Sample, edge, positive, uniform
from funcgrad.types import Array, UfuncLike

HURWITZ = LazyUfunc("scipy.special._ufuncs", "_zeta", 2)
TERMS = 14
"""Terms that are summed as they are."""
CORRECTIONS = 12
"""Bernoulli numbers behind them."""


@cache
def bernoulli_ratios() -> list[float]:
    """``B_(2j) / (2j)!`` from j = 1, by ``t/2 coth(t/2) = sum of B_(2j) t**(2j) / (2j)!``."""
    found = [1.0]
    for j in range(1, CORRECTIONS + 1):
        # Multiply with sinh(t/2) / (t/2) and compare with cosh(t/2).
        known = sum(found[k] * 0.25 ** (j - k) / math.factorial(2 * (j - k) + 1) for k in range(j))
        found.append(0.25**j / math.factorial(2 * j) - known)
    return found[1:]


class ZetaDerivative(Binary):
    """The derivative of ``zeta(x, q)`` by x, ``order`` times, for x other than 1 and positive q."""

    name = "zeta_derivative"
    exported = ("zeta_derivative({0}, {1}, {p.order})",)
    parameters = ("order",)
    kinds = "f"
    order: int

    def infer(self, *avals: Aval) -> Aval:
        if any(x.dtype.kind == "c" for x in avals):
            raise DtypeError(f"the derivative of zeta by x, of {avals[0]}: there is one of real numbers only")
        return super().infer(*avals)

    @property
    def ufunc(self) -> UfuncLike:
        """What evaluates it."""
        return Evaluated(f"zeta_derivative_{self.order}", self.values_at, HURWITZ)

    def values_at(self, x: Array, q: Array) -> Array:
        """The derivative at arrays of one dtype."""
        dtype = np.result_type(x, q)
        x, q = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(q, np.float64))
        with np.errstate(all="ignore"):
            found = euler_maclaurin(self.order, x, q)
        return np.where((q > 0.0) & ((x > 1.0) | (q == 1.0)), found, np.nan).astype(dtype)[()]

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        x, q = primals
        if i == 0:
            return ZetaDerivative(self.order + 1)(x, q)
        lower = hurwitz(x + 1.0, q) if self.order == 1 else ZetaDerivative(self.order - 1)(x + 1.0, q)
        return -(x * ZetaDerivative(self.order)(x + 1.0, q) + self.order * lower)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> None:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(uniform(1.5, 4.0, 3), positive(3), params={"order": 1}),
            Sample(uniform(1.5, 4.0, 3), positive(), params={"order": 2}),
            Sample(edge(2.0, 0.5, 2.0), edge(1.0, 2.0, -1.0), params={"order": 1}, differentiable=False),
        )


def euler_maclaurin(order: int, x: Array, q: Array) -> Array:
    """The derivative by x of the formula's sum, integral, half term and corrections."""
    found = sum((-np.log(q + k)) ** order * (q + k) ** -x for k in range(TERMS))
    end = q + TERMS
    log_end = np.log(end)
    power = end**-x
    # Derivatives by x over their factorials, of end**-x and of end**(1 - x) / (x - 1).
    decay = [power * (-log_end) ** k / math.factorial(k) for k in range(order + 1)]
    pole = [(-1.0) ** k / (x - 1.0) ** (k + 1) for k in range(order + 1)]
    total = 0.5 * decay[order] + end * product(decay, pole)[order]
    rising = [np.ones_like(x)] + [np.zeros_like(x)] * order
    for j, ratio in enumerate(bernoulli_ratios(), start=1):
        # The product x (x + 1) ... (x + 2 j - 2), as a power series around x.
        for shift in (2 * j - 3, 2 * j - 2) if j > 1 else (0,):
            rising = [(x + shift) * c + (rising[k - 1] if k else 0.0) for k, c in enumerate(rising)]
        total = total + ratio * end ** (1.0 - 2.0 * j) * product(rising, decay)[order]
    return found + math.factorial(order) * total


def product(first: list[Any], second: list[Any]) -> list[Any]:
    """The product of two power series, to the same order."""
    return [sum(first[i] * second[k - i] for i in range(k + 1)) for k in range(len(first))]


def hurwitz_by_x(out: Array, x: Array, q: Array) -> Array:
    """A sum with logarithms; 0 of infinite arguments."""
    return level_far_away(hurwitz_sum, out, (x, q))


def hurwitz_sum(out: Array, x: Array, q: Array) -> Array:
    """The sum of ``-log(q + k) (q + k)**-x``."""
    return ZetaDerivative(1)(x, q)


def hurwitz_by_q(out: Array, x: Array, q: Array) -> Array:
    """``-x zeta(x + 1, q)``, DLMF 25.11.17; 0 of an infinite q."""
    far = isinf(q)
    return where(far, 0.0, -x * hurwitz(x + 1.0, where(far, 1.0, q)))


def riemann_by_x(out: Array, x: Array) -> Array:
    """A sum with logarithms; left of -1 by the functional equation, DLMF 25.4.1.

    ``zeta(x) = 2 (2 pi)**(x-1) sin(pi x / 2) gamma(1 - x) zeta(1 - x)``.
    """
    left = less(x, -1.0)  # nearer to 0, both terms have the pole at 1 and cancel
    right = where(left, 2.0, x)
    usual = ZetaDerivative(1)(right, 1.0)
    x = where(left, x, -1.5)
    mirrored, angle = 1.0 - x, x * (math.pi / 2.0)
    scale = 2.0 * exp((x - 1.0) * math.log(2.0 * math.pi)) * gamma(mirrored)
    by_factors = sin(angle) * (math.log(2.0 * math.pi) - Polygamma(0)(mirrored)) + math.pi / 2.0 * cos(angle)
    reflected = riemann(mirrored) * by_factors - sin(angle) * ZetaDerivative(1)(mirrored, 1.0)
    return where(left, scale * reflected, usual)


hurwitz = define("zeta", hurwitz_by_x, hurwitz_by_q, ufunc=HURWITZ)
riemann = define(
    "riemann_zeta", riemann_by_x, ufunc=LazyUfunc("scipy.special._ufuncs", "_riemann_zeta"), flat=True
)


def zetac_by_x(out: Array, x: Array) -> Array:
    """That of ``zeta(x)``, of which this is 1 less."""
    return riemann_by_x(out, x)


define("zetac", zetac_by_x, flat=True)
