"""Loops over parts of traced length end where the parts do, and positions need no array and no check."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

X = np.random.default_rng(5).normal(size=9)
A = np.random.default_rng(6).normal(size=(6, 5))
NUMBERS = np.arange(9)
NUMBERS.setflags(write=False)


def lagged(x: Any) -> Any:
    s = 0.0
    for k in range(1, len(x)):
        s += np.sum(x[k:] * x[:-k])
    return s


def blocks(a: Any) -> Any:
    s = 0.0
    for k in range(1, a.shape[1]):
        s += np.sum(np.sum(a[k:, :k], axis=0) ** 2) + np.sum(np.sum(a[k:, k:], axis=1) ** 3)
        s += np.sum(a[:k, k:]) ** 2 + np.sum((a[k:, k:] @ a[k, k:]) ** 2)
    return s


def cut_off(x: Any) -> Any:
    s = 0.0
    for k in range(len(x)):
        s += x[k] * np.sum(x[max(0, k - 2) : k]) + np.sum(x[k : min(k + 3, len(x))] ** 2)
        s += np.sum(x[k + 1 : k]) + np.sum(x[-k - 1 :]) ** 2
    return s


def flipped(x: Any) -> Any:
    s = 0.0
    for k in range(1, len(x)):
        s += np.sum(x[:k][::-1] * np.sin(x[-k:])) + np.sum(x[k:][1:] ** 2)
    return s


CASES = [(lagged, X), (lagged, X[:2]), (blocks, A), (cut_off, X), (flipped, X), (lagged, np.resize(X, 300))]


@pytest.mark.parametrize(("f", "x"), CASES)
def test_values_and_gradients_are_pythons(f: Callable[..., Any], x: Any) -> None:
    value, gradient = fg.jit(fg.value_and_grad(f), unroll=0)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(gradient, fg.grad(f)(x), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("transform", [lambda f: f, fg.grad])
def test_a_loop_ends_with_the_part(transform: Callable[..., Any]) -> None:
    source = str(fg.jit(transform(lagged), unroll=0).kernel_source(X))
    assert "for i in range(stop" in source
    assert "outside" not in source
    assert "min(" in source
    assert "select(v4 <" not in source, "a position below the length is in the array"


def test_what_is_beyond_a_part_may_be_nan_and_is_not_summed() -> None:
    def f(x: Any) -> Any:
        s = 0.0
        for k in range(1, len(x) - 2):
            s += np.sum(x[1:k] * x[1:k]) + np.sum(np.sqrt(x[k:-2] ** 2))
        return s

    x = np.where(np.isin(np.arange(9), [7, 8]), np.nan, X)
    value, gradient = fg.jit(fg.value_and_grad(f), unroll=0)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(gradient, fg.grad(f)(x), rtol=1e-10, atol=1e-12)


def test_a_long_axis_is_run_over_in_blocks() -> None:
    def f(x: Any) -> Any:
        s = 0.0
        for k in range(1, 4):
            s += np.sum(x[k:] * x[:-k])
        return s

    x = np.random.default_rng(7).normal(size=10_000)
    value, gradient = fg.jit(fg.value_and_grad(f), unroll=0)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-10)
    np.testing.assert_allclose(gradient, fg.grad(f)(x), rtol=1e-10, atol=1e-12)


def test_zeros_added_to_a_zero_with_a_sign_take_the_sign() -> None:
    def f(x: Any) -> Any:
        y = -np.zeros(9)
        for k in range(1, 8):
            y = y + np.where(np.less(NUMBERS, k), x, 0.0)
        return y

    np.testing.assert_array_equal(np.signbit(fg.jit(f, unroll=0)(X)), np.signbit(f(X)))


def test_numbers_that_cannot_change_are_read_as_the_numbers_they_are() -> None:
    def f(x: Any) -> Any:
        s = 0.0
        for k in range(5):
            s += np.sum(x * (NUMBERS - k) * NUMBERS[::-1]) + np.sum(x[NUMBERS[::2]] * NUMBERS[1::2].sum())
        return s + np.sum(x * 2**NUMBERS) + np.sum(np.outer(x, NUMBERS[::-1] * 3))

    np.testing.assert_allclose(fg.jit(f, unroll=0)(X), f(X), rtol=1e-12)
