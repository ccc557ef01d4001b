"""Values of distributions that are SciPy's, and move by a rule: the frame that all such rules share.

A rule calls the value itself, which has the rule, so that every order of derivative is right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.api.batch import vmap
from funcgrad.api.derivatives.differentiate import jvp
from funcgrad.api.rules.custom import custom_jvp
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.ops.random.values_of_laws import LawValue
from funcgrad.scipy.stats.law import LAWS, Law
from funcgrad.types import Array

__all__ = ["each", "value_that_moves"]

Tangent = Callable[[Law, str, Any, Sequence[Any], Sequence[Any]], Any]
"""The tangent from the law, the method, the value, the operands, and their tangents."""


def value_that_moves(tangent: Tangent) -> Callable[[str, str, tuple[Any, ...]], Any]:
    """``scipy.stats.<law>.<method>(*operands)`` as a function of law, method and operands."""

    def value(name: str, method: str, operands: Array) -> Array:
        return LawValue(name, method)(*operands)

    moving = custom_jvp(value, nondiff_argnums=(0, 1))

    @moving.defjvp
    def moved(name: str, method: str, primals: Array, tangents: Array) -> tuple[Any, Any]:
        (operands,), (dots,) = primals, tangents
        out = moving(name, method, operands)
        return out, tangent(LAWS[name], method, out, operands, dots)

    return moving


def each(
    function: Callable[..., Any], at: Sequence[Any], along: Sequence[Any], fixed: Sequence[Any]
) -> Array:
    """The tangent of ``function(*fixed, *at)``, a function of numbers, for each of what is broadcast."""

    def moved(still: Sequence[Any], here: Sequence[Any], dots: Sequence[Any]) -> Array:
        return jvp(lambda *a: function(*still, *a), tuple(here), tuple(dots))[1]

    outer = np.broadcast_shapes(*[shape_of(x) for x in (*fixed, *at)])
    if not outer:
        return moved(fixed, at, along)
    spread = [[(x + np.zeros(outer)).reshape(-1) for x in xs] for xs in (fixed, at, along)]
    return vmap(moved)(*spread).reshape(outer)
