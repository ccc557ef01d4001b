"""Elliptic integrals, complete and incomplete, by every argument.

By the parameter m the derivatives are differences divided by m, which cancel near 0; there a series or a
quadrature stands for them. DLMF 19.4, 19.5.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ops.elementwise.arithmetic import strong_product
from funcgrad.ops.elementwise.comparison import equal, less, less_equal
from funcgrad.ops.elementwise.elementary import cos, sin, sqrt
from funcgrad.ops.elementwise.logic import logical_and, logical_or
from funcgrad.ops.elementwise.magnitude import absolute
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import Binary
from funcgrad.ops.specials.hypergeometric import hyp2f1
from funcgrad.ops.specials.table import Evaluated, define, infinitely
from funcgrad.tracing.samples import Sample, uniform
from funcgrad.types import Array, UfuncLike

NEAR = 0.1
"""Where the series or the quadrature stands for a difference that would cancel."""
PARTS = 30
"""How many parts there are towards the pole, each half of the one before."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)


class EllipticByParameter(Binary):
    """The derivative by m of the integral of ``(1 - m sin(t)**2)**power`` from 0 to phi, for small m."""

    name = "elliptic_by_parameter"
    exported = ("elliptic_by_parameter({0}, {1}, {p.power}, {p.order})",)
    parameters = ("power", "order")
    kinds = "f"
    power: float
    order: int

    @property
    def ufunc(self) -> UfuncLike:
        """What evaluates it."""
        return Evaluated(self.name, self.values_at, np.arctan2)

    @property
    def factor(self) -> float:
        """What comes down from the exponent."""
        return math.prod(-(self.power - k) for k in range(self.order))

    def integrand(self, square: Array, m: Array) -> Array:
        """What is integrated, of ``sin(t)**2``."""
        return self.factor * square**self.order * (1.0 - m * square) ** (self.power - self.order)

    def values_at(self, phi: Array, m: Array) -> Array:
        """By Gauss's rule over the last part of a half period; the whole ones add the complete integral."""
        dtype = np.result_type(phi, m)
        phi, m = np.broadcast_arrays(np.asarray(phi, np.float64), np.asarray(m, np.float64))
        periods = np.round(phi / np.pi)
        parts = (phi - periods * np.pi, np.full_like(phi, np.pi / 2))
        rest, quarter = [
            0.5
            * part
            * (self.integrand(np.sin(0.5 * part[..., None] * (NODES + 1)) ** 2, m[..., None]) @ WEIGHTS)
            for part in parts
        ]
        found = np.asarray(rest + 2.0 * periods * quarter)
        steep = (m > 0.5) & (periods == 0)
        found[steep] = self.near_the_pole(phi[steep], m[steep])
        return found.astype(dtype)[()]

    def near_the_pole(self, phi: Array, m: Array) -> Array:
        """By Gauss's rule on ever shorter parts: near m = 1 the integrand grows towards ``pi / 2``."""
        total = np.zeros_like(phi)
        for k in range(PARTS):
            width = phi * 0.5 ** min(k + 1, PARTS - 1)
            start = phi * (1.0 - 0.5**k)
            t = start[..., None] + 0.5 * width[..., None] * (NODES + 1)
            total += 0.5 * width * (self.integrand(np.sin(t) ** 2, m[..., None]) @ WEIGHTS)
        return total

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> None:
        return None

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array:
        phi, m = primals
        if i == 0:
            return self.integrand(sin(phi) ** 2, m)
        return EllipticByParameter(self.power, self.order + 1)(phi, m)

    @classmethod
    def samples(cls) -> Sequence[Any]:
        small = uniform(-0.1, 0.1, 3)
        return (
            Sample(uniform(0.2, 6.0, 3), small, params={"power": -0.5, "order": 1}),
            Sample(uniform(-2.0, 2.0), small, params={"power": 0.5, "order": 2}),
        )


def ellipk_by_m(out: Array, m: Array) -> Array:
    """``(E / (1 - m) - K) / (2 m)``, near 0 ``pi/8 2F1(3/2, 3/2; 2; m)``, and infinite at 1."""
    near, pole = less(absolute(m), NEAR), equal(m, 1.0)
    far = where(logical_or(near, pole), 0.5, m)
    usual = (ellipe(far) / (1.0 - far) - ellipk(far)) / (2.0 * far)
    usual = where(pole, math.inf + infinitely(m), usual)
    return where(near, math.pi / 8.0 * hyp2f1(1.5, 1.5, 2.0, where(near, m, 0.0)), usual)


def ellipkm1_by_p(out: Array, p: Array) -> Array:
    """That of ``K(1 - p)``."""
    near, pole = less(absolute(1.0 - p), NEAR), equal(p, 0.0)
    far = where(logical_or(near, pole), 0.5, p)
    usual = (ellipe(1.0 - far) / far - ellipkm1(far)) / (2.0 * (1.0 - far))
    usual = where(pole, math.inf - infinitely(p), usual)
    return -where(near, math.pi / 8.0 * hyp2f1(1.5, 1.5, 2.0, where(near, 1.0 - p, 0.0)), usual)


def ellipe_by_m(out: Array, m: Array) -> Array:
    """``(E - K) / (2 m)``, near 0 ``-pi/8 2F1(1/2, 3/2; 2; m)``, and minus infinity at 1."""
    near, end = less(absolute(m), NEAR), equal(m, 1.0)
    far = where(logical_or(near, end), 0.5, m)
    usual = (ellipe(far) - ellipk(far)) / (2.0 * far)
    usual = where(end, -math.inf - infinitely(m), usual)
    return where(near, -math.pi / 8.0 * hyp2f1(0.5, 1.5, 2.0, where(near, m, 0.0)), usual)


def ellipkinc_by_phi(out: Array, phi: Array, m: Array) -> Array:
    """``1 / sqrt(1 - m sin(phi)**2)``."""
    return 1.0 / modular(phi, m)


def ellipeinc_by_phi(out: Array, phi: Array, m: Array) -> Array:
    """``sqrt(1 - m sin(phi)**2)``."""
    return modular(phi, m)


def modular(phi: Array, m: Array) -> Array:
    """``sqrt(1 - m sin(phi)**2)``, written so that nothing cancels where both are near 1."""
    return sqrt(cos(phi) ** 2 + (1.0 - m) * sin(phi) ** 2)


def ellipkinc_by_m(out: Array, phi: Array, m: Array) -> Array:
    """``(E - (1 - m) F) / (2 m (1 - m)) - sin(2 phi) / (4 (1 - m) sqrt(1 - m sin(phi)**2))``."""
    # Near 1 both terms grow as 1 / (1 - m), while the derivative stays as it is left of pi / 2.
    steep = less(1.0 - m, NEAR * cos(phi) ** 2)
    within = logical_and(less(absolute(phi), math.pi / 2.0), less_equal(m, 1.0))
    near = logical_or(less(absolute(m), NEAR), logical_and(steep, within))
    far = where(near, 0.5, m)
    rest = 1.0 - far
    usual = (ellipeinc(phi, far) - rest * ellipkinc(phi, far)) / (2.0 * far * rest)
    usual = usual - sin(2.0 * phi) / (4.0 * rest * sqrt(1.0 - far * sin(phi) ** 2))
    return where(near, EllipticByParameter(-0.5, 1)(phi, where(near, m, 0.0)), usual)


def ellipeinc_by_m(out: Array, phi: Array, m: Array) -> Array:
    """``(E - F) / (2 m)``."""
    near = less(absolute(m), NEAR)
    far = where(near, 0.5, m)
    usual = strong_product(ellipeinc(phi, far) - ellipkinc(phi, far), 0.5 / far)
    return where(near, EllipticByParameter(0.5, 1)(phi, where(near, m, 0.0)), usual)


ellipk = define("ellipk", ellipk_by_m, flat=True)
ellipkm1 = define("ellipkm1", ellipkm1_by_p, flat=True)
ellipe = define("ellipe", ellipe_by_m)
ellipkinc = define("ellipkinc", ellipkinc_by_phi, ellipkinc_by_m, flat=True)
ellipeinc = define("ellipeinc", ellipeinc_by_phi, ellipeinc_by_m)
