"""Functions given to control flow write outer arrays, and read NumPy's by traced indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

X = np.linspace(0.1, 1.0, 8)


def by_fori_loop(x: Any) -> Any:
    y = fg.numpy.zeros(8)

    def body(i: Any, s: Any) -> Any:
        y[i] = x[i] * s
        return s + 1.0

    s = fg.fori_loop(0, 8, body, 1.0)
    return np.sum(y) * s


def by_python(x: Any) -> Any:
    return np.sum(x * np.arange(1.0, 9.0)) * 9.0


def by_while_loop(x: Any) -> Any:
    y = x * 1.0

    def double(i: Any) -> Any:
        y[i] *= 2
        return i + 1

    fg.while_loop(lambda i: i < 5, double, 0)
    return np.sum(y * y)


def doubled(x: Any) -> Any:
    return 4 * np.sum(x[:5] ** 2) + np.sum(x[5:] ** 2)


def by_cond(x: Any) -> Any:
    y = x * 1.0

    def first() -> None:
        y[0] = 5.0 * x[1]

    def second() -> None:
        y[1] = 2.0

    fg.cond(x[0] > 0, first, second)
    return np.sum(y * y)


def chosen(x: Any) -> Any:
    return 26.0 * x[1] ** 2 + np.sum(x[2:] ** 2)


def by_scan(x: Any) -> Any:
    y = x * 1.0

    def step(c: Any, row: Any) -> Any:
        y[0] += row
        return c + y[0], row

    c, _ = fg.scan(step, 0.0, x)
    return c + y[0]


def summed(x: Any) -> Any:
    return np.sum(x[0] + np.cumsum(x)) + x[0] + np.sum(x)


PAIRS = [(by_fori_loop, by_python), (by_while_loop, doubled), (by_cond, chosen), (by_scan, summed)]


@pytest.mark.parametrize("pair", PAIRS, ids=[a.__name__ for a, _ in PAIRS])
def test_written_arrays_are_part_of_the_carry(pair: tuple[Callable[..., Any], Callable[..., Any]]) -> None:
    function, plain = pair
    np.testing.assert_allclose(fg.jit(function)(X), plain(X), rtol=1e-12)
    slopes = fg.grad(plain)(X)
    np.testing.assert_allclose(fg.grad(function)(X), slopes, rtol=1e-12)
    np.testing.assert_allclose(fg.jit(fg.grad(function))(X), slopes, rtol=1e-12)
    np.testing.assert_allclose(fg.grad(fg.jit(function))(X), slopes, rtol=1e-12)


def test_numpy_arrays_are_read_by_the_index_of_a_loop() -> None:
    def weighted(a: Any) -> Any:
        return fg.fori_loop(0, 8, lambda i, s: s + a * X[i], 0.0)

    expected = np.sum(X)
    np.testing.assert_allclose(weighted(2.0), 2.0 * expected)
    np.testing.assert_allclose(fg.grad(weighted)(2.0), expected)
    np.testing.assert_allclose(fg.jit(weighted)(2.0), 2.0 * expected)


def test_parts_of_numpy_arrays_at_traced_numbers_take_other_shapes() -> None:
    table = np.arange(12.0).reshape(4, 3)

    def f(x: Any, k: Any) -> Any:
        rows = np.reshape(table[k], (3, 1)), table[k].ravel(), table.T[k].reshape(2, 2)
        return x * np.squeeze(table[:, 1][k]) + sum(np.sum(row * x) for row in rows)

    want = f(2.0, 1)
    assert fg.jit(f)(2.0, 1) == want
    np.testing.assert_array_equal(fg.vmap(f)(np.array([2.0]), np.array([1])), [want])


def test_branches_of_python_in_a_body() -> None:
    def body(i: Any, c: Any) -> Any:
        if c > 3:
            return c * 0.5
        return c + i

    def looped(c: Any) -> Any:
        return fg.fori_loop(0, 10, body, c)

    value = 1.5
    for i in range(10):
        value = value * 0.5 if value > 3 else value + i
    np.testing.assert_allclose(looped(1.5), value)
    np.testing.assert_allclose(fg.jit(looped)(1.5), value)
    np.testing.assert_allclose(fg.grad(looped)(1.5), 0.5**5)
