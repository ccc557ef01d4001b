"""Derivatives held against central differences in random directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from funcgrad.compat.autograd.core import make_jvp, make_vjp, vspace
from funcgrad.compat.autograd.wrap_util import get_name, unary_to_nary
from funcgrad.types import Anything, ArrayLike, Tree

TOL = 1e-6
RTOL = 1e-6
EPS = 1e-6

Function = Callable[..., Any]


def scalar_close(a: ArrayLike, b: ArrayLike) -> bool:
    """Whether two numbers agree absolutely or relatively."""
    return bool(abs(a - b) < TOL or abs(a - b) / abs(a + b) < RTOL)


def make_numerical_jvp(f: Function, x: ArrayLike) -> Function:
    """The derivative in a direction by central differences."""
    x_space, y_space = vspace(x), vspace(f(x))

    def jvp(v: Tree) -> Tree:
        plus = f(x_space.add(x, x_space.scalar_mul(v, EPS / 2)))
        minus = f(x_space.add(x, x_space.scalar_mul(v, -EPS / 2)))
        return y_space.scalar_mul(y_space.add(plus, y_space.scalar_mul(minus, -1.0)), 1.0 / EPS)

    return jvp


def check_vjp(f: Function, x: ArrayLike) -> None:
    """Hold the backward function against differences."""
    vjp, y = make_vjp(f, x)
    x_space, y_space = vspace(x), vspace(y)
    x_v, y_v = x_space.randn(), y_space.randn()
    vjp_y = x_space.covector(vjp(y_space.covector(y_v)))
    assert vspace(vjp_y) == x_space
    exact = x_space.inner_prod(x_v, vjp_y)
    numeric = y_space.inner_prod(y_v, make_numerical_jvp(f, x)(x_v))
    assert scalar_close(numeric, exact), (
        f"Derivative (VJP) check of {get_name(f)} failed with arg {x}:\n"
        f"analytic: {exact}\nnumeric:  {numeric}"
    )


def check_jvp(f: Function, x: ArrayLike) -> None:
    """Hold the directional derivative against differences."""
    x_v = vspace(x).randn()
    check_equivalent(make_jvp(f, x)(x_v)[1], make_numerical_jvp(f, x)(x_v))


def check_equivalent(x: ArrayLike, y: ArrayLike) -> None:
    """Hold two vectors against each other, in a random direction."""
    x_space, y_space = vspace(x), vspace(y)
    assert x_space == y_space, f"VSpace mismatch:\nx: {x_space}\ny: {y_space}"
    v = x_space.randn()
    assert scalar_close(x_space.inner_prod(x, v), x_space.inner_prod(y, v)), (
        f"Value mismatch:\nx: {x}\ny: {y}"
    )


@unary_to_nary
def check_grads(f: Function, x: ArrayLike, modes: Sequence[str] = ("fwd", "rev"), order: int = 2) -> None:
    """Hold derivatives up to an order, in the given modes, against differences."""
    assert all(m in ["fwd", "rev"] for m in modes)
    for m in modes:
        check = check_jvp if m == "fwd" else check_vjp
        check(f, x)
        if order > 1:

            def derivative(x: Tree, v: Tree, m: str = m) -> Tree:
                return make_jvp(f, x)(v)[1] if m == "fwd" else make_vjp(f, x)[0](v)

            derivative.__name__ = f"{'jvp' if m == 'fwd' else 'vjp'}_{get_name(f)}"
            v = vspace(x).randn() if m == "fwd" else vspace(f(x)).randn()
            check_grads(derivative, (0, 1), modes, order=order - 1)(x, v)


def combo_check(fun: Function, *args: object, **kwargs: object) -> Function:
    """Check all combinations of arguments and keywords that are given as lists."""

    def checking(*several: Anything, **named: Anything) -> None:
        pairs = [[(key, value) for value in values] for key, values in named.items()]
        for chosen in product(*several):
            for keywords in product(*pairs):
                check_grads(fun, *args, **kwargs)(*chosen, **dict(keywords))

    return checking
