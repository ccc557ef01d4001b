"""Convolution and correlation: NumPy's values, and right derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

V = np.array([1.0, 3.0, 2.0, 7.0, 5.0])
T = np.array([0.0, 1.0, 1.5, 4.0, 5.0])


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("sizes", [(5, 3), (5, 2), (2, 5), (5, 5), (4, 1)])
@pytest.mark.parametrize("function", [np.convolve, np.correlate])
def test_same_as_numpy(function: Callable[..., Any], sizes: tuple[int, int], mode: str) -> None:
    x, y = V[: sizes[0]], T[: sizes[1]]

    def f(x: Any, y: Any) -> Any:
        return function(x, y, mode)

    wanted = f(x, y)
    np.testing.assert_allclose(fg.make_program(f)(x, y)(x, y)[0], wanted)
    np.testing.assert_allclose(fg.vmap(f)(np.stack([x, -x]), np.stack([y, y])), [wanted, -wanted])
    fg.testing.check_grads(f, (x, y), order=1)


def test_complex_numbers() -> None:
    x, y = V + 1j, T[:2] - 2j
    for function in (np.convolve, np.correlate):
        for pair in ((x, y), (y, x)):
            np.testing.assert_allclose(fg.make_program(function)(*pair)(*pair)[0], function(*pair))


def test_refused() -> None:
    with pytest.raises(ValueError, match="mode must be"):
        fg.grad(lambda x: np.convolve(x, x, "other").sum())(V)
    with pytest.raises(ValueError, match="empty"):
        fg.grad(lambda x: np.convolve(x, x[:0]).sum())(V)


def test_long_vectors_need_no_memory_for_their_windows(rng: np.random.Generator) -> None:
    x, y = rng.normal(size=30_000), rng.normal(size=3000)
    by_x, by_y = fg.grad(lambda x, y: np.sum(np.convolve(x, y)), argnums=(0, 1))(x, y)
    np.testing.assert_allclose(by_x, np.full(30_000, np.sum(y)), rtol=1e-8)
    np.testing.assert_allclose(by_y, np.full(3000, np.sum(x)), rtol=1e-8)
