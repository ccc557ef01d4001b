"""Riccati's equations: their solutions are SciPy's, and move as the equations linearised at them say.

Linearised, they are equations of Lyapunov's kind for the closed loop (Lancaster and Rodman, Algebraic Riccati
Equations, 1995, chapters 9 and 12), so second and further derivatives follow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.api.control_flow.callback import pure_callback
from funcgrad.api.derivatives.differentiate import jvp
from funcgrad.api.rules.custom import custom_jvp
from funcgrad.ir.avals import Aval
from funcgrad.numpy.algebra.linear_systems import traced_matrices
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.scipy.linalg.arguments import scipys
from funcgrad.scipy.linalg.reduced import adjoint, solve_discrete_lyapunov
from funcgrad.scipy.linalg.systems import solve, solve_sylvester
from funcgrad.types import Array, ArrayLike

Residual = Callable[..., Any]
Moved = Callable[[Array, Array], Array]


def gain_of(x: Array, a: Array, b: Array, r: Array, e: Array, s: Array, *, discrete: bool) -> Array:
    """The feedback ``k`` of the closed loop ``a - b @ k``."""
    if discrete:
        return solve(r + adjoint(b) @ x @ b, adjoint(b) @ x @ a + adjoint(s))
    return solve(r, adjoint(b) @ x @ e + adjoint(s))


def continuous_residual(x: Array, a: Array, b: Array, q: Array, r: Array, e: Array, s: Array) -> Array:
    """What is zero at a solution of the continuous equation."""
    left = adjoint(e) @ x @ b + s
    half = adjoint(e) @ x @ a
    return half + adjoint(half) - left @ gain_of(x, a, b, r, e, s, discrete=False) + q


def discrete_residual(x: Array, a: Array, b: Array, q: Array, r: Array, e: Array, s: Array) -> Array:
    """What is zero at a solution of the discrete equation."""
    left = adjoint(a) @ x @ b + s
    feedback = gain_of(x, a, b, r, e, s, discrete=True)
    return adjoint(a) @ x @ a - adjoint(e) @ x @ e - left @ feedback + q


def moved_continuously(loop: Array, right: Array) -> Array:
    """``y`` with ``loop^H @ y + y @ loop + right == 0``."""
    return solve_sylvester(adjoint(loop), loop, -right)


def moved_discretely(loop: Array, right: Array) -> Array:
    """``y`` with ``loop^H @ y @ loop - y + right == 0``."""
    return solve_discrete_lyapunov(adjoint(loop), right)


SOLVED = 1e-6
"""Residuals of a solution, relative to the largest terms of the equation."""


def over(x: Array, e: Array) -> Array:
    """``x @ inv(e)``"""
    return adjoint(solve(adjoint(e), adjoint(x)))


def differentiable(name: str, residual: Residual, moved: Moved) -> Callable[..., Any]:
    """SciPy's solver, and the derivative of what it solves."""
    discrete = residual is discrete_residual

    def values(*given: Array) -> Array:
        # Balanced pencils of some generalized equations give SciPy matrices that do not solve them.
        for balanced in (True, False):
            found = scipys(name)(*given, balanced)
            terms = [abs(x).max() for x in (given[2], adjoint(given[0]) @ found @ given[0])]
            if abs(residual(found, *given)).max() <= SOLVED * max(terms):
                return found.astype(np.result_type(*given))
        raise np.linalg.LinAlgError(f"{name}: what SciPy finds does not solve the equation")

    @custom_jvp
    def solution(*given: Array) -> Array:
        avals = [aval(x) for x in given]
        found = Aval(avals[0].shape, np.result_type(*[x.dtype for x in avals]))
        return pure_callback(values, found, *given)

    @solution.defjvp
    def moves(given: Array, dots: Array) -> Array:
        x = solution(*given)
        a, b, _, r, e, s = given
        _, rest = jvp(lambda *others: residual(x, *others), given, dots)
        loop = over(a - b @ gain_of(x, a, b, r, e, s, discrete=discrete), e)
        return x, moved(loop, over(solve(adjoint(e), rest), e))

    return solution


_CONTINUOUS = differentiable("solve_continuous_are", continuous_residual, moved_continuously)
_DISCRETE = differentiable("solve_discrete_are", discrete_residual, moved_discretely)


def solved(name: str, solution: Callable[..., Any], given: tuple[Any, ...], balanced: bool) -> Array:
    """SciPy's answer on arrays alone, else the differentiable solution."""
    here = [x for x in given if x is not None]
    operands = traced_matrices(name, *here)
    if operands is None:
        return scipys(name)(*given, balanced)
    named = dict(zip([n for n, x in enumerate(given) if x is not None], operands, strict=True))
    dtype = np.result_type(np.float64, *[aval(x).dtype for x in operands])
    n, m = aval(operands[1]).shape
    named.setdefault(4, np.eye(n))
    named.setdefault(5, np.zeros((n, m)))
    return solution(*[cast(named[k], dtype) for k in range(6)])


def solve_continuous_are(
    a: ArrayLike,
    b: ArrayLike,
    q: ArrayLike,
    r: ArrayLike,
    e: ArrayLike | None = None,
    s: ArrayLike | None = None,
    balanced: bool = True,
) -> Array:
    """``x`` with ``a^H x e + e^H x a - (e^H x b + s) r^-1 (b^H x e + s^H) + q == 0``, and a stable loop.

    The derivative is that of the equation, of every order; traced matrices are of doubles. It is the
    derivative along Hermitian changes of `q` and `r`: SciPy takes no others. Where SciPy's balancing spoils
    the solution (with some `e`) a traced call has it without.

    Raises LinAlgError where SciPy finds no stabilizing solution.

    >>> one = np.ones((1, 1))
    >>> def cost(q):
    ...     return fg.scipy.linalg.solve_continuous_are(0.0 * one, one, q, one)[0, 0]
    >>> print(fg.grad(cost)(4.0 * one))
    [[0.25]]
    """
    return solved("solve_continuous_are", _CONTINUOUS, (a, b, q, r, e, s), balanced)


def solve_discrete_are(
    a: ArrayLike,
    b: ArrayLike,
    q: ArrayLike,
    r: ArrayLike,
    e: ArrayLike | None = None,
    s: ArrayLike | None = None,
    balanced: bool = True,
) -> Array:
    """``x`` with ``a^H x a - e^H x e - (a^H x b + s) (r + b^H x b)^-1 (b^H x a + s^H) + q == 0``.

    As `solve_continuous_are`, for systems in discrete time.

    >>> one = np.ones((1, 1))
    >>> def cost(q):
    ...     return fg.scipy.linalg.solve_discrete_are(0.0 * one, one, q, one)[0, 0]
    >>> print(fg.grad(cost)(4.0 * one))
    [[1.]]
    """
    return solved("solve_discrete_are", _DISCRETE, (a, b, q, r, e, s), balanced)
