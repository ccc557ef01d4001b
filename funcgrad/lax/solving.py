"""`custom_linear_solve` and `custom_root`: solutions that are differentiated by the equation they solve.

How the solution is found is the caller's, and is never differentiated. What the functions close over is
hoisted, so that the equations of a derivative are solved and differentiated in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad import tree
from funcgrad.api.derivatives.differentiate import jvp, linear_transpose, vjp
from funcgrad.api.rules.closures import closure_convert
from funcgrad.api.rules.custom import custom_vjp
from funcgrad.ops.arrays.structure import aval
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, Tree

__all__ = ["custom_linear_solve", "custom_root"]

Linear = Callable[[Any], Any]
Solve = Callable[[Linear, Any], Any]


def custom_linear_solve(
    matvec: Linear, b: Tree, solve: Solve, transpose_solve: Solve | None = None, symmetric: bool = False
) -> Tree:
    """``x`` with ``matvec(x) = b``, as ``solve(matvec, b)`` finds it.

    `transpose_solve` solves the transposed equation, which reverse mode needs; where `matvec` is symmetric it
    is `solve`. `b` and `x` are pytrees of one structure, and `matvec` is linear. Without either, reverse mode
    raises `TypeError`.

    >>> def solved(s):
    ...     a = s * np.array([[2.0, 1.0], [0.0, 4.0]])
    ...     direct = lambda f, b: np.linalg.solve(a, b)
    ...     turned = lambda f, b: np.linalg.solve(a.T, b)
    ...     return fg.lax.custom_linear_solve(lambda x: a @ x, np.array([4.0, 4.0]), direct, turned)
    >>> print(solved(1.0), fg.jacrev(solved)(1.0))
    [1.5 1. ] [-1.5 -1. ]
    """
    if symmetric and transpose_solve is None:
        transpose_solve = solve
    product, of_product = closure_convert(matvec, b)
    found, of_found = closure_convert(lambda right: solve(matvec, right), b)
    turned, of_turned = found, of_found
    if transpose_solve is not None:
        turned, of_turned = closure_convert(lambda bar: transpose_solve(transposed(matvec, bar), bar), b)

    @custom_vjp
    def solution(right: Tree, hoisted: Tree, others: Tree, of_transposed: Tree) -> Tree:
        return found(right, *others)

    def forward(right: Tree, hoisted: Tree, others: Tree, of_transposed: Tree) -> tuple[Any, Any]:
        x = solution(right, hoisted, others, of_transposed)
        return x, (x, hoisted, others, of_transposed)

    def backward(kept: Tree, bar: Tree) -> tuple[Any, Any, None, None]:
        x, hoisted, others, of_transposed = kept
        if transpose_solve is None:
            raise TypeError("custom_linear_solve: transpose_solve is needed for reverse mode")
        solves = (lambda _, right: turned(right, *of_transposed), lambda _, right: found(right, *others))
        w = custom_linear_solve(transposed(lambda v: product(v, *hoisted), x), bar, *solves)
        return w, moved_by(product, x, hoisted, w), None, None

    solution.defvjp(forward, backward)
    return solution(b, of_product, of_found, of_turned)


def transposed(matvec: Linear, like: object) -> Linear:
    """The transpose of a linear function of arguments like this one."""
    return lambda y: linear_transpose(matvec, like)(y)[0]


def moved_by(function: Callable[..., Any], x: ArrayLike, hoisted: ArrayLike, w: ArrayLike) -> Array:
    """What a solution's cotangent, through the equation, is for what the equation closes over."""
    _, pullback = vjp(lambda values: function(x, *values), hoisted)
    return tree.map(lambda bar: -bar, pullback(w)[0])


def custom_root(f: Callable[[Any], Any], initial_guess: Tree, solve: Solve, tangent_solve: Solve) -> Tree:
    """``x`` with ``f(x) = 0``, as ``solve(f, initial_guess)`` finds it.

    ``tangent_solve(g, y)`` gives ``x`` with ``g(x) = y`` for a linear function; it must be linear in `y`.

    >>> def newton(f, x):
    ...     return fg.fori_loop(0, 20, lambda _, x: x - f(x) / fg.grad(f)(x), x)
    >>> def root(a):
    ...     return fg.lax.custom_root(lambda x: x**2 - a, 1.0, newton, lambda g, y: y / g(1.0))
    >>> print(round(root(4.0), 6), round(fg.grad(root)(4.0), 6))
    2.0 0.25
    """
    guess = tree.map(float_of, initial_guess)
    residual, of_residual = closure_convert(f, guess)
    found, of_found = closure_convert(lambda start: solve(f, start), guess)

    def tangent(y: Tree, x: Tree, hoisted: Tree) -> Tree:
        return tangent_solve(lambda dot: jvp(lambda z: residual(z, *hoisted), (x,), (dot,))[1], y)

    inverse, of_inverse = closure_convert(tangent, guess, guess, of_residual)

    @custom_vjp
    def solution(start: Tree, hoisted: Tree, others: Tree, of_tangent: Tree) -> Tree:
        return found(start, *others)

    def forward(start: Tree, hoisted: Tree, others: Tree, of_tangent: Tree) -> tuple[Any, Any]:
        x = solution(start, hoisted, others, of_tangent)
        return x, (x, hoisted, of_tangent)

    def backward(kept: Tree, bar: Tree) -> tuple[None, Any, None, None]:
        x, hoisted, of_tangent = kept
        (w,) = linear_transpose(lambda y: inverse(y, x, hoisted, *of_tangent), x)(bar)
        return None, moved_by(residual, x, hoisted, w), None, None

    solution.defvjp(forward, backward)
    return solution(guess, of_residual, of_found, of_inverse)


def float_of(x: ArrayLike) -> Array:
    """A leaf as an operand."""
    found = asoperand(x)
    if aval(found).dtype.kind not in "fc":
        raise TypeError(f"custom_root: a guess of {aval(found)} cannot move; give floating-point numbers")
    return found
