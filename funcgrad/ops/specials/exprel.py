"""``(exp(x) - 1) / x`` and its derivatives, which are right at 0 and far from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.specials.errors import Differentiated
from funcgrad.ops.specials.table import define
from funcgrad.tracing.samples import Sample, edge, normal
from funcgrad.types import Array

EXPREL = LazyUfunc("scipy.special", "exprel")
GAMMAINC = LazyUfunc("scipy.special", "gammainc", 2)


class ExprelDerivative(Differentiated):
    """The derivative of ``(exp(x) - 1) / x``, the integral of ``s**n exp(x s)`` for s from 0 to 1.

    Far on the left it is an incomplete gamma function, near 0 a power series, and far on the right a
    recursion in n that loses nothing there. (SciPy's `hyp1f1`, which it also is, hangs at infinity.)
    """

    name = "exprel_derivative"
    exported = ("exprel_derivative({0}, {p.order})",)
    ufunc = EXPREL

    def values_at(self, x: Array) -> Array:
        n = self.order
        left, right = x < -1.0, x > n + 2.0
        y = np.where(left, -x, 1.0)
        on_left = GAMMAINC(n + 1.0, y) * math.factorial(n) / y ** (n + 1)
        z = np.where(right, x, 1.0)
        share = -np.expm1(-z) / z
        for k in range(1, n + 1):
            share = (1.0 - k * share) / z
        on_right = np.where(x == np.inf, np.inf, np.exp(z) * share)
        near = np.where(left | right, 0.0, x)
        series = np.zeros_like(near)
        for k in reversed(range(30 + 4 * n)):
            series = series * near + 1.0 / (math.factorial(k) * (k + n + 1))
        return np.where(left, on_left, np.where(right, on_right, series))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), params={"order": 1}),
            Sample(edge(0.0, 1.0, 5.0, -3.0, 30.0), params={"order": 2}),
            Sample(edge(np.inf, -np.inf, np.nan), params={"order": 1}, differentiable=False),
        )


def exprel_by_x(out: Array, x: Array) -> Array:
    """The integral of ``s exp(x s)``."""
    return ExprelDerivative(1)(x)


exprel = define("exprel", exprel_by_x)
