"""Constraints in SciPy's notations as one kind of thing, and the Karush-Kuhn-Tucker system of a minimum.

A block of constraints is ``lower <= function(x) <= upper``. At a minimum some constraints are active, and

    gradient of the objective = sum of multipliers times gradients of the constraints,
    an active constraint lies at its limit, the multiplier of another is zero,

is as many equations as there are unknowns (`x` and the multipliers). Bounds need no multiplier: a variable at
its bound has the bound's value in place of the first equation (Nocedal and Wright, Numerical Optimization,
2006, chapter 12).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from funcgrad.api.derivatives.gradients import grad
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.numpy.algebra.contraction import dot
from funcgrad.numpy.arrays.joining import concatenate
from funcgrad.numpy.arrays.views import broadcast_to
from funcgrad.numpy.elementwise.selection import where
from funcgrad.scipy.derived import KEPT, applied, composed
from funcgrad.scipy.optimize.options import scipys
from funcgrad.scipy.reals import as_doubles
from funcgrad.scipy.recorded import FLOAT, Closed, Known, vector_function
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, Option

NEAR = 1e-6
"""How near to its limit, relative to it, what is active ends up."""

IDLE = 1e-9
"""A multiplier as small as this, relative to the gradient, holds nothing back."""


class Limits(NamedTuple):
    """A block of constraints, ``lower <= function(x) <= upper``."""

    function: Known
    lower: Any
    upper: Any


def limit(x: Array, size: int) -> Array:
    """A limit as a vector of doubles."""
    return as_doubles(broadcast_to(asoperand(x), (size,)), "a limit")


def limits_of(constraints: Option, x_aval: Aval, what: str) -> list[Limits]:
    """Every constraint, whether a dictionary or one of SciPy's objects."""
    if constraints is None:
        return []
    single = isinstance(constraints, dict) or not isinstance(constraints, list | tuple)
    return [block_of(c, x_aval, what) for c in ([constraints] if single else constraints)]


def block_of(constraint: Option, x_aval: Aval, what: str) -> Limits:
    """One constraint."""
    if isinstance(constraint, dict):
        kind = str(constraint["type"]).lower()
        if kind not in ("eq", "ineq"):
            raise ValueError(f"Unknown constraint type '{constraint['type']}'.")
        if "fun" not in constraint:
            raise ValueError("a constraint has no function: give it under 'fun'")
        function = vector_function(constraint["fun"], [x_aval], what, tuple(constraint.get("args", ())))
        lower, upper = 0.0, (0.0 if kind == "eq" else np.inf)
    elif isinstance(constraint, scipys("LinearConstraint")):
        matrix = constraint.A
        function = vector_function(lambda x: dot(matrix, x), [x_aval], what)
        lower, upper = constraint.lb, constraint.ub
    elif isinstance(constraint, scipys("NonlinearConstraint")):
        function = vector_function(constraint.fun, [x_aval], what)
        lower, upper = constraint.lb, constraint.ub
    else:
        raise TypeError(f"a {type(constraint).__name__} is no constraint of {what}")
    size = function.program.out_avals[0].size
    return Limits(function, limit(lower, size), limit(upper, size))


def bounds_of(bounds: Option, size: int) -> tuple[Any, Any]:
    """Lower and upper bounds of all variables, infinite where there are none."""
    if bounds is None:
        return np.full(size, -np.inf), np.full(size, np.inf)
    if isinstance(bounds, scipys("Bounds")):
        return limit(bounds.lb, size), limit(bounds.ub, size)
    pairs = [(-np.inf if lo is None else lo, np.inf if hi is None else hi) for lo, hi in bounds]
    if len(pairs) != size:
        raise ValueError("The number of bounds is not compatible with the length of `x0`.")
    return tuple(limit([pair[k] for pair in pairs], size) for k in (0, 1))


# -- the system --------------------------------------------------------------------------------------------


@lru_cache(KEPT)
def kkt_equations(objective: Program, blocks: tuple[Program, ...]) -> Program:
    """``x, multipliers, sides of x, sides of the constraints, parameters -> residuals``.

    The parameters are bounds of x, limits of every block, and what objective and constraints close over. A
    side is -1 at the lower limit, 1 at the upper one and 0 between them.
    """
    (x_aval,) = objective.in_avals[:1]
    n, sizes = x_aval.size, [b.out_avals[0].size for b in blocks]
    m = sum(sizes)
    vector, sides = Aval((n,), FLOAT), Aval((n,), np.int64)
    avals = [vector, Aval((m,), FLOAT), sides, Aval((m,), np.int64), vector, vector]
    for size in sizes:
        avals += [Aval((size,), FLOAT)] * 2
    avals += objective.in_avals[1:]
    for block in blocks:
        avals += block.in_avals[1:]

    def residuals(x: Array, multipliers: Array, side: Array, block_side: Array, *rest: Array) -> list[Any]:
        lower, upper, *rest_ = rest
        limits, rest_ = rest_[: 2 * len(blocks)], rest_[2 * len(blocks) :]
        count = len(objective.inputs) - 1
        closed, rest_ = rest_[:count], rest_[count:]
        others = []
        for block in blocks:
            others.append(rest_[: len(block.inputs) - 1])
            rest_ = rest_[len(block.inputs) - 1 :]

        def values_of(y: Array) -> Array:
            return concatenate([applied(b, [y, *c])[0] for b, c in zip(blocks, others, strict=True)])

        def lagrangian(y: Array) -> Array:
            value = applied(objective, [y, *closed])[0]
            return value - dot(multipliers, values_of(y)) if m else value

        slope = grad(lagrangian)(x)
        stationary = where(side < 0, x - lower, where(side > 0, x - upper, slope))
        if not m:
            return [stationary, multipliers]
        values = values_of(x)
        low, high = concatenate(limits[::2]), concatenate(limits[1::2])
        at_limits = where(block_side < 0, values - low, where(block_side > 0, values - high, multipliers))
        return [stationary, at_limits]

    return composed(residuals, avals, "kkt")


class Point(NamedTuple):
    """A minimum with all that the system needs to know of it."""

    multipliers: Any
    sides: Any
    block_sides: Any
    residual: float
    """The largest element of the stationarity condition, relative to the gradient."""


def active_point(
    x: Array,
    slope: Array,
    bounds: tuple[Any, Any],
    values: Array,
    jacobian: Array,
    limits: tuple[Any, Any],
    near: float = NEAR,
) -> Point:
    """Which limits are active at `x`, and their multipliers, by least squares.

    A limit counts as active where `x` is near and its multiplier has the sign of one that holds `x` back.
    """
    sides = nearest_sides(x, *bounds, near)
    block_sides = nearest_sides(values, *limits, near)
    fixed = bounds[0] == bounds[1]
    equal = limits[0] == limits[1]
    idle = IDLE * max(1.0, float(np.max(abs(slope), initial=0.0)))
    for _ in range(len(x) + len(values) + 1):
        free, held = sides == 0, block_sides != 0
        multipliers = np.zeros(len(values))
        if held.any() and free.any():
            multipliers[held] = np.linalg.lstsq(jacobian[held][:, free].T, slope[free], rcond=None)[0]
        rest = slope - jacobian.T @ multipliers
        loose = (sides != 0) & (sides * rest > -idle) & ~fixed
        block_loose = (block_sides != 0) & (block_sides * multipliers > -idle) & ~equal
        if not loose.any() and not block_loose.any():
            break
        sides, block_sides = np.where(loose, 0, sides), np.where(block_loose, 0, block_sides)
    scale = max(1.0, float(np.max(abs(slope), initial=0.0)))
    return Point(multipliers, sides, block_sides, float(np.max(abs(rest[free]), initial=0.0)) / scale)


def nearest_sides(x: Array, lower: Array, upper: Array, near: float) -> Array:
    """-1 where `x` is at its lower limit, 1 at its upper one, 0 between them."""
    low = np.isfinite(lower) & (x - lower <= near * (1.0 + abs(np.where(np.isfinite(lower), lower, 0.0))))
    high = np.isfinite(upper) & (upper - x <= near * (1.0 + abs(np.where(np.isfinite(upper), upper, 0.0))))
    closer = low & high & (abs(upper - x) < abs(x - lower))
    return np.where(low & ~closer, -1, np.where(high, 1, 0)).astype(np.int64)


def parameters_of(bounds: tuple[Any, Any], blocks: Sequence[Limits], objective: Closed) -> list[Any]:
    """The values of the parameters of `kkt_equations`."""
    values = [*bounds]
    for block in blocks:
        values += [block.lower, block.upper]
    values += objective.constants
    for block in blocks:
        values += block.function.constants
    return values
