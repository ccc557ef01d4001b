"""`linprog`: linear programs, differentiable where the solution is a vertex and the only one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad.numpy.algebra.contraction import dot
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.optimize.constraints import Limits, bounds_of, limit
from funcgrad.scipy.optimize.minimum import Minimum, Problem, minimum
from funcgrad.scipy.optimize.options import Options, frozen, result, scipys, thawed
from funcgrad.scipy.recorded import is_plain, real_vector, scalar_function, vector_function
from funcgrad.types import Array, ArrayLike, Option, ScipyResult

__all__ = ["linprog"]


@dataclass(frozen=True)
class Linprog(Minimum):
    """`scipy.optimize.linprog`."""

    method: str
    options: Options

    def minimized(self, problem: Problem, start: Array) -> ScipyResult:
        zero = np.zeros(len(start))
        _, cost = problem.value_and_gradient(zero)
        given: dict[str, Any] = {}
        for block in problem.blocks:
            matrix, offset = block.jacobian(zero), block.values(zero)
            equal = bool(np.all(block.lower == block.upper)) and len(block.lower) > 0
            kind = "eq" if equal else "ub"
            given[f"A_{kind}"], given[f"b_{kind}"] = matrix, block.upper - offset
        bounds = np.stack([problem.lower, problem.upper], axis=1)
        options = thawed(self.options) or None
        outcome = scipys("linprog")(cost, **given, bounds=bounds, method=self.method, options=options)
        if outcome.x is None:
            outcome.x = np.full(len(start), np.nan)
        return outcome


def linprog(
    c: ArrayLike,
    A_ub: ArrayLike = None,
    b_ub: ArrayLike = None,
    A_eq: ArrayLike = None,
    b_eq: ArrayLike = None,
    bounds: Option = (0, None),
    method: str = "highs",
    callback: Callable[..., Any] | None = None,
    options: dict[str, Any] | None = None,
    x0: ArrayLike = None,
    integrality: ArrayLike = None,
) -> ScipyResult:
    """The minimum of ``c @ x`` under linear constraints, by `scipy.optimize.linprog`.

    Differentiable in the cost, the matrices, the right-hand sides and the bounds. Raises
    NotDifferentiableError, when a derivative is computed, where the solution is not the only one, or more
    constraints are active than there are variables.

    >>> def cheapest(b):
    ...     return fg.scipy.optimize.linprog([1.0, 2.0], A_ub=[[-1.0, -1.0]], b_ub=[-b]).fun
    >>> print(cheapest(3.0), fg.grad(cheapest)(3.0))
    3.0 1.0
    """
    if is_plain(c, A_ub, b_ub, A_eq, b_eq, bounds):
        return scipys("linprog")(
            c, A_ub, b_ub, A_eq, b_eq, bounds, method, callback, options, x0, integrality
        )
    if integrality is not None and np.any(integrality):
        raise NotImplementedError("linprog with integrality has no derivative: leave it out of the trace")
    cost = real_vector(c, "linprog")
    start = np.zeros(aval_of(cost).size)
    seen = aval_of(start)
    objective = scalar_function(lambda x: dot(cost, x), [seen], "linprog")
    blocks = []
    for matrix, side, lower in ((A_ub, b_ub, -np.inf), (A_eq, b_eq, None)):
        if matrix is not None:
            rows = real_vector(side, "linprog")
            size = aval_of(rows).size
            function = vector_function(lambda x, a=matrix: dot(a, x), [seen], "linprog")
            blocks.append(Limits(function, limit(rows if lower is None else lower, size), rows))
    chosen = Linprog("linprog", method, frozen(options))
    found = minimum(chosen, start, objective, bounds_of(bounds_pairs(bounds, len(start)), len(start)), blocks)
    extra = {}
    for name, matrix, side in (("slack", A_ub, b_ub), ("con", A_eq, b_eq)):
        if matrix is not None:
            extra[name] = real_vector(side, "linprog") - dot(matrix, found.x)
    return result(
        x=found.x, fun=objective(found.x), success=found.success, status=found.status, nit=found.nit, **extra
    )


def bounds_pairs(bounds: Option, size: int) -> ScipyResult:
    """SciPy's `bounds`: one pair for all variables, or a pair for each."""
    if bounds is None:
        return [(0.0, None)] * size
    if len(bounds) == 2 and not hasattr(bounds[0], "__len__"):
        return [tuple(bounds)] * size
    return [tuple(bounds[0])] * size if len(bounds) == 1 and size > 1 else bounds
