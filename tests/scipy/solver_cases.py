"""The laws of what a solver finds, asked of every row of a table.

A case is a function of one parameter vector written with a namespace: SciPy's own or ours. Values are
SciPy's; first derivatives are those of differences of SciPy's values, second ones those of differences of
first ones; forward and reverse agree, `vmap` is a loop, and compiled is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import funcgrad as fg


class Case(NamedTuple):
    """``function(library, parameters)`` at a point."""

    name: str
    function: Callable[[Any, Any], Any]
    point: Any
    tolerance: float = 1e-6
    """Of first derivatives; values are held to a tenth, differences of second order to a hundredfold."""
    step: float = 1e-4
    jits: bool = True
    second: bool = True


def number(case: Case, library: Any) -> Callable[[Any], Any]:
    """A weighted sum of all results, so that one number stands for them."""

    def total(p: Any) -> Any:
        out = case.function(library, p)
        size = np.size(out)
        return np.sum(np.cos(np.arange(float(size))).reshape(np.shape(out)) * out)

    return total


def differences(function: Callable[[Any], Any], point: Any, step: float) -> Any:
    """The gradient by central differences of fourth order."""
    found = []
    for k in range(point.size):
        e = np.zeros(point.shape)
        e.flat[k] = step
        near, far = (function(point + s * e) - function(point - s * e) for s in (1.0, 2.0))
        found.append((8.0 * near - far) / (12.0 * step))
    return np.array(found).reshape(point.shape + np.shape(found[0]))


def check_value(case: Case, plain: Any, ours: Any) -> None:
    expected = case.function(plain, case.point)
    np.testing.assert_allclose(case.function(ours, case.point), expected, rtol=1e-6, atol=case.tolerance)
    traced = fg.vmap(lambda p: case.function(ours, p))(case.point[None])[0]
    np.testing.assert_allclose(traced, expected, rtol=1e-6, atol=case.tolerance)


def check_first(case: Case, plain: Any, ours: Any) -> None:
    expected = differences(number(case, plain), case.point, case.step)
    loss = number(case, ours)
    scale = max(1.0, float(np.max(abs(expected))))
    reverse = fg.grad(loss)(case.point)
    np.testing.assert_allclose(reverse, expected, rtol=0.0, atol=case.tolerance * scale * 10)
    as_it_stands = fg.grad(number(case, plain))(case.point)  # SciPy's names, over what is traced
    np.testing.assert_allclose(as_it_stands, reverse, rtol=1e-6, atol=1e-9 * scale)
    forward = fg.jacfwd(loss)(case.point)
    np.testing.assert_allclose(forward, reverse, rtol=1e-7, atol=1e-9 * scale)


def check_second(case: Case, ours: Any) -> None:
    loss = number(case, ours)
    expected = differences(fg.grad(loss), case.point, case.step)
    scale = max(1.0, float(np.max(abs(expected))))
    found = fg.hessian(loss)(case.point)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=case.tolerance * scale * 100)
    other = fg.jacrev(fg.grad(loss))(case.point)
    np.testing.assert_allclose(other, found, rtol=1e-6, atol=1e-7 * scale)


def check_batches(case: Case, ours: Any) -> None:
    points = case.point + 0.01 * np.arange(3.0).reshape(3, *[1] * case.point.ndim)
    loss = number(case, ours)
    for function in (loss, fg.grad(loss)):
        together = fg.vmap(function)(points)
        one_by_one = np.stack([function(p) for p in points])
        scale = max(1.0, float(np.max(abs(one_by_one))))
        np.testing.assert_allclose(together, one_by_one, rtol=1e-6, atol=case.tolerance * scale)
    summed = fg.grad(lambda p: np.sum(fg.vmap(loss)(p)))(points)
    np.testing.assert_allclose(summed, one_by_one, rtol=1e-6, atol=case.tolerance * scale)


def check_compiled(case: Case, ours: Any) -> None:
    both = fg.value_and_grad(number(case, ours))
    value, slope = both(case.point)
    compiled_value, compiled_slope = fg.jit(both)(case.point)
    np.testing.assert_allclose(compiled_value, value, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(compiled_slope, slope, rtol=1e-7, atol=1e-9)
