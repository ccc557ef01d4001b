"""What the gradient of a loop with branches keeps: elements, and never an array for each trip."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

import funcgrad as fg


@numba.njit
def chained(x):
    y = x.copy()
    total = 0.0
    for i in range(1, x.size):
        if x[i] > 0.0:
            total += y[i - 1] ** 2 * x[i]
        y[i] = 0.5 * y[i - 1] + total / x.size
    return total


@numba.njit
def changed_in_a_branch(x):
    y = x.copy()
    for i in range(1, x.size):
        if x[i] > 0.0:
            y[i] = np.sin(y[i - 1]) * x[i]
        else:
            y[0] += x[i]
    return y.sum()


@numba.njit
def pairs(x):
    total = 0.0
    for i in range(x.size):
        for j in range(x.size):
            if i != j:
                d = x[i] - x[j]
                total += 1.0 / (d * d + 0.1)
    return total


def scratch(function: Any, n: int) -> int:
    """The bytes that the kernel of the gradient works with."""
    report = fg.explain(fg.grad(function))(np.random.default_rng(0).normal(size=n))
    return sum(kernel.scratch_bytes for kernel in report.kernels)


@pytest.mark.parametrize("function", [chained, changed_in_a_branch], ids=lambda f: f.__name__)
def test_memory_is_linear(function: Any) -> None:
    assert scratch(function, 400) < 5 * scratch(function, 100)


@pytest.mark.parametrize("function", [chained, changed_in_a_branch, pairs], ids=lambda f: f.__name__)
def test_gradients_are_right(function: Any) -> None:
    rng = np.random.default_rng(1)
    x, direction = rng.normal(size=30), rng.normal(size=30)
    quotient = (function(x + 1e-6 * direction) - function(x - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(np.sum(fg.grad(function)(x) * direction), quotient, rtol=1e-5)
