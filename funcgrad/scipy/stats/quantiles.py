"""Quantiles without a formula: values from SciPy, derivatives from the distribution function.

A quantile x of q keeps F(x, a) = q, so that its differential is (dq - F_a da) / f: the implicit function
theorem.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.api.derivatives.differentiate import jvp
from funcgrad.numpy import exp, where
from funcgrad.ops.elementwise.arithmetic import strong_zero_mul
from funcgrad.scipy.stats.law import Law
from funcgrad.scipy.stats.moving import value_that_moves
from funcgrad.types import Array

ROUNDING = 4e-16
"""How far from an end, of which it is a part, a number may be that is rounded to it."""


def tangent(law: Law, method: str, out: Array, operands: Sequence[Any], dots: Sequence[Any]) -> Array:
    """By implicit differentiation of ``F(x, shapes) = q``."""
    _, *shapes = operands
    q_dot, *shapes_dot = dots
    distribution: Any = law.formula("cdf" if method == "ppf" else "sf")

    def moved(*at: Array) -> Array:
        return distribution(out, *at)

    sign = 1.0 if method == "ppf" else -1.0
    slope = exp(law.formulas["logpdf"](out, *shapes)) * sign
    # Where the density is 0 or infinite, what stands still does so all the same.
    by_q = strong_zero_mul(q_dot, 1.0 / slope)
    if not shapes:
        return by_q
    moves = jvp(moved, tuple(shapes), tuple(shapes_dot))[1]
    return by_q + with_the_ends(law, out, shapes, shapes_dot, strong_zero_mul(-moves, 1.0 / slope))


def with_the_ends(law: Law, out: Array, shapes: Sequence[Any], dots: Sequence[Any], usual: Array) -> Array:
    """How the quantile moves with the shapes: as an end of the support does where it is rounded to that."""
    if isinstance(law.ends, tuple):
        return usual
    (low, high), (low_dot, high_dot) = jvp(law.support, tuple(shapes), tuple(dots))
    first, last = low + ROUNDING * abs(low), high - ROUNDING * abs(high)
    return where(out <= first, low_dot, where(out >= last, high_dot, usual))


quantile = value_that_moves(tangent)
"""The quantile of q (``ppf``) or of what is left of it (``isf``) of a distribution in standard form."""
