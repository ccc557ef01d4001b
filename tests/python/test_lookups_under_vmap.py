"""A branch keeps positions within bounds: under `vmap`, examples that do not take it look nothing up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

TABLE = np.array([1.0, 2.0, 3.0])


def chosen(x: Any, k: Any) -> Any:
    return TABLE[k] * x if k < 3 else x * x


def summed(x: Any, k: Any) -> Any:
    """Numbers up to the first that is negative."""
    v = TABLE * x - 0.5
    i, s = k, 0.0
    while i < 3 and v[i] > 0:
        s = s + v[i] ** 2
        i = i + 1
    return s


def with_neighbours(x: Any, k: Any) -> Any:
    """A loop in a branch, over an array that it changes."""
    y = np.zeros(3)
    if k < 2:
        for i in range(3):
            y[i] = x * TABLE[i]
            y[k + 1] = y[k + 1] + TABLE[k] * y[k] * y[i]
    return np.sum(y**2) + x


def in_two_branches(x: Any, k: Any) -> Any:
    if x > 0.5:
        return TABLE[k] * x if k < 3 else x
    return TABLE[k - 3] * x * x if k > 2 else x


@pytest.mark.parametrize("f", [chosen, summed, with_neighbours, in_two_branches])
def test_values_and_gradients_are_those_of_a_loop(f: Callable[..., Any]) -> None:
    xs, ks = np.array([2.0, 3.0, 0.4, 0.3, 1.0]), np.array([1, 5, 2, 4, 0])
    found = fg.jit(fg.vmap(fg.value_and_grad(f)))(xs, ks)
    alone = [fg.value_and_grad(f)(x, k) for x, k in zip(xs, ks, strict=True)]
    for mine, other in zip(found, zip(*alone, strict=True), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12)


def test_who_does_look_up_is_told() -> None:
    with pytest.raises(IndexError, match="out of bounds"):
        fg.jit(fg.vmap(chosen))(np.ones(2), np.array([1, -7]))
