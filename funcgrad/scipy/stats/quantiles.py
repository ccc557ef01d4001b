"""Quantiles without a formula: values from SciPy, derivatives from the distribution function.

A quantile x of q keeps F(x, a) = q, so that its differential is (dq - F_a da) / f: the implicit function
theorem.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.api.derivatives.differentiate import jvp
from funcgrad.numpy import exp
from funcgrad.scipy.stats.law import Law
from funcgrad.scipy.stats.moving import value_that_moves
from funcgrad.types import Array


def tangent(law: Law, method: str, out: Array, operands: Sequence[Any], dots: Sequence[Any]) -> Array:
    """By implicit differentiation of ``F(x, shapes) = q``."""
    _, *shapes = operands
    q_dot, *shapes_dot = dots
    density = law.formulas["logpdf"]
    distribution: Any = law.formula("cdf" if method == "ppf" else "sf")

    def moved(*at: Array) -> Array:
        return distribution(out, *at)

    slope = exp(density(out, *shapes))
    moves = jvp(moved, tuple(shapes), tuple(shapes_dot))[1] if shapes else 0.0
    away = (q_dot - moves) / slope
    return away if method == "ppf" else -away


quantile = value_that_moves(tangent)
"""The quantile of q (``ppf``) or of what is left of it (``isf``) of a distribution in standard form."""
