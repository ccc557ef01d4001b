"""`vmap` of a loop that goes on until it is done: tiles make their own trips, and threads share them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.lower.trips.lanes import FEWEST_LANES, TILE


def halved(x: Any) -> tuple[Any, Any]:
    """How often a number is halved until it is below 1, and what is left."""
    return fg.while_loop(lambda c: c[1] >= 1.0, lambda c: (c[0] + 1, c[1] * 0.5), (0, x))


def collatz(n: Any) -> Any:
    """The steps to 1, up to a hundred and more."""

    def step(c: Any) -> Any:
        n, steps = c
        return np.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return fg.while_loop(lambda c: c[0] != 1, step, (n, 0))[1]


@pytest.mark.parametrize("count", [FEWEST_LANES - 1, FEWEST_LANES, FEWEST_LANES + 1, 40 * TILE + 77, 50_000])
def test_examples_that_are_done_at_different_times(count: int) -> None:
    x = np.random.default_rng(0).uniform(0.0, 1e6, count)
    x[::1000] = np.nan
    trips, rest = fg.jit(fg.vmap(halved))(x)
    expected = np.where(x >= 1.0, np.floor(np.log2(np.maximum(x, 1.0))) + 1, 0)
    np.testing.assert_array_equal(trips, expected)
    np.testing.assert_array_equal(rest, x * 0.5**expected)


def test_more_trips_than_one_round() -> None:
    numbers = np.arange(1, 20_001)
    steps = fg.jit(fg.vmap(collatz))(numbers)
    assert steps.max() == 278
    np.testing.assert_array_equal(steps[:10], [0, 1, 7, 2, 5, 8, 16, 3, 19, 6])
    np.testing.assert_array_equal(steps, fg.vmap(collatz)(numbers))


def test_the_kernel_shares_them() -> None:
    found = fg.jit(fg.vmap(halved)).kernel_source(np.ones(50_000))
    assert "parallel(lanes" in found
    assert "parallel(lanes" not in fg.jit(fg.vmap(halved)).kernel_source(np.ones(FEWEST_LANES - 1))


def test_a_batch_of_batches_and_a_batch_in_a_loop() -> None:
    x = np.random.default_rng(1).uniform(0.0, 50.0, (70, 90))
    both = fg.jit(fg.vmap(fg.vmap(halved)))(x)
    flat = fg.jit(fg.vmap(halved))(x.reshape(-1))
    for a, b in zip(both, flat, strict=True):
        np.testing.assert_array_equal(a, b.reshape(x.shape))

    def repeated(x: Any) -> Any:
        return fg.fori_loop(0, 3, lambda k, x: fg.vmap(halved)(x * 3.0)[1], x)

    expected = x.reshape(-1)
    for _ in range(3):
        expected = fg.vmap(halved)(expected * 3.0)[1]
    np.testing.assert_array_equal(fg.jit(repeated)(x.reshape(-1)), expected)


def test_gradients_are_those_of_single_examples() -> None:
    def root(a: Any) -> Any:
        return fg.while_loop(
            lambda x: abs(x * x * x - a) > 1e-10, lambda x: x - (x * x * x - a) / (3.0 * x * x), 1.0
        )

    numbers = np.linspace(0.5, 50.0, 6_000)
    value, slopes = fg.jit(fg.value_and_grad(lambda a: np.sum(fg.vmap(root)(a))))(numbers)
    np.testing.assert_allclose(value, np.sum(np.cbrt(numbers)), rtol=1e-12)
    np.testing.assert_allclose(slopes, np.cbrt(numbers) ** -2 / 3.0, rtol=1e-7)


def test_results_that_are_inputs_of_another_loop() -> None:
    def f(x: Any) -> Any:
        first = fg.vmap(halved)(x)[1]
        return fg.vmap(halved)(first * 100.0)[1] + first, x

    x = np.random.default_rng(2).uniform(0.0, 1e4, 20_000)
    before = x.copy()
    once = x * 0.5 ** np.where(x >= 1.0, np.floor(np.log2(np.maximum(x, 1.0))) + 1, 0)
    y = once * 100.0
    twice = y * 0.5 ** np.where(y >= 1.0, np.floor(np.log2(np.maximum(y, 1.0))) + 1, 0)
    got, same = fg.jit(f)(x)
    np.testing.assert_array_equal(got, twice + once)
    np.testing.assert_array_equal(same, before)
    np.testing.assert_array_equal(x, before)
