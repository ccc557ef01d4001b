"""Quantiles without a formula: values from SciPy, derivatives from the distribution function.

A quantile x of q keeps F(x, a) = q, so that its differential is (dq - F_a da) / f: the implicit function
theorem. The rule calls the quantile itself, so that every order of derivative is right.
"""

from __future__ import annotations

from typing import Any

from funcgrad.api.custom import custom_jvp
from funcgrad.api.differentiate import jvp
from funcgrad.numpy import exp
from funcgrad.ops.values_of_laws import LawValue
from funcgrad.scipy.stats.law import LAWS


def implicit_quantile(name: str, method: str, q: Any, *shapes: Any) -> Any:
    """The quantile of `q` (``ppf``) or of what is left of it (``isf``) of a distribution in standard form."""
    return quantile(name, method, (q, *shapes))


def _quantile(name: str, method: str, operands: Any) -> Any:
    return LawValue(name, method)(*operands)


quantile = custom_jvp(_quantile, nondiff_argnums=(0, 1))


@quantile.defjvp
def quantile_jvp(name: str, method: str, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """By implicit differentiation of ``F(x, shapes) = q``."""
    (operands,), (dots,) = primals, tangents
    law = LAWS[name]
    out = quantile(name, method, operands)
    _, *shapes = operands
    q_dot, *shapes_dot = dots
    density = law.formulas["logpdf"]
    distribution: Any = law.formula("cdf" if method == "ppf" else "sf")

    def moved(*at: Any) -> Any:
        return distribution(out, *at)

    slope = exp(density(out, *shapes))
    moves = jvp(moved, tuple(shapes), tuple(shapes_dot))[1] if shapes else 0.0
    away = (q_dot - moves) / slope
    return out, away if method == "ppf" else -away
