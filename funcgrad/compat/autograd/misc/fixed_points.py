"""Fixed points, differentiated where they are and not by how they were found."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from funcgrad.compat.autograd.core import make_vjp
from funcgrad.compat.autograd.extend import defvjp, primitive, vspace
from funcgrad.types import Array, ArrayLike, Tree


@primitive
def fixed_point(
    f: Callable[..., Any], a: ArrayLike, x0: ArrayLike, distance: Callable[..., Any], tol: float
) -> Array:
    """The ``x`` with ``f(a)(x) = x`` that iteration from `x0` comes to.

    >>> import numpy as np
    >>> from funcgrad.compat.autograd import grad
    >>> def root(a):
    ...     return fixed_point(lambda a: lambda x: 0.5 * (x + a / x), a, 1.0, lambda x, y: abs(x - y), 1e-12)
    >>> print(round(float(grad(root)(4.0)), 9))
    0.25
    """
    step = f(a)
    before, x = x0, step(x0)
    while distance(x, before) > tol:
        before, x = x, step(x)
    return x


def fixed_point_vjp(
    ans: ArrayLike,
    f: Callable[..., Any],
    a: ArrayLike,
    x0: ArrayLike,
    distance: Callable[..., Any],
    tol: float,
) -> Callable[[Any], Any]:
    """The implicit function theorem: the cotangent at the fixed point is a fixed point of its own."""
    vjp_a, _ = make_vjp(lambda a: f(a)(ans), a)
    space = vspace(ans)

    def backward(g: Tree) -> Tree:
        # Everything that may be a box is a parameter, so that this iteration can be differentiated as well.
        return vjp_a(fixed_point(adjoint_step(f), (a, ans, g), space.zeros(), distance, tol))

    return backward


@functools.lru_cache(maxsize=256)
def adjoint_step(f: Callable[..., Any]) -> Callable[..., Any]:
    """The iteration for the cotangent: what comes back through a step of `f`, and what comes from outside."""

    def step_of(parameters: Tree) -> Callable[[Any], Any]:
        a, x, g = parameters
        vjp_x, _ = make_vjp(f(a), x)
        return lambda u: vspace(x).add(vjp_x(u), g)

    return step_of


defvjp(fixed_point, None, fixed_point_vjp, None)
