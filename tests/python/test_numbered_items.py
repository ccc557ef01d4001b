"""Loops over what `itertools` and simple generators give of whole numbers stay loops."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

X = np.linspace(0.1, 1.3, 12)


def by_combinations(x: Any) -> Any:
    s = 0.0
    for i, j in itertools.combinations(range(len(x)), 2):
        s += np.sin(x[i]) * x[j] / (j - i) + i * j * x[j]
    return s


def by_product(x: Any) -> Any:
    out = np.zeros(5)
    for i, j, k in itertools.product(range(-2, 3), repeat=3):
        if i == j:
            continue
        out[k + 2] += x[i + 4] * x[j * j] ** 2
    return np.sum(out**2)


def neighbours(n: int, m: int) -> Iterator[tuple[int, int]]:
    for i in range(n):
        for j in range(max(0, i - m), i):
            yield i, j


def by_generator(x: Any) -> Any:
    s = 0.0
    for i, j in neighbours(len(x), 4):
        s = 0.9 * s + x[i] * x[j]
    return s


def by_sum(x: Any) -> Any:
    return sum(x[i] * np.exp(x[j]) for i, j in neighbours(len(x), 4))


def numbered_pairs(x: Any) -> Any:
    y = np.zeros(66)
    for k, (i, j) in enumerate(itertools.combinations(range(12), 2)):
        y[k] = x[i] - x[j] ** 2
    return np.sum(np.abs(y))


@pytest.mark.parametrize("f", [by_combinations, by_product, by_generator, by_sum, numbered_pairs])
def test_they_are_loops_with_the_values_of_python(f: Any) -> None:
    jitted = fg.jit(f)
    np.testing.assert_allclose(jitted(X), f(X), rtol=1e-13)
    assert len(jitted.program(X).equations) < 30
    np.testing.assert_allclose(fg.jit(fg.grad(f))(X), fg.grad(f)(X), rtol=1e-12)


def test_a_number_is_pythons_and_gives_way_to_the_dtype_that_it_meets() -> None:
    @fg.jit
    def f(x: Any) -> Any:
        for i, j in itertools.combinations(range(9), 2):
            x = np.cos(x * i) + j
        return x

    assert f(np.float32(1.0)).dtype == np.float32


def test_whole_numbers_that_outgrow_64_bits_are_pythons() -> None:
    def f(x: Any) -> Any:
        for i, j in itertools.product(range(40, 60), repeat=2):
            x = x + (i**9 * j**4) * 1e-30
        return x

    np.testing.assert_allclose(fg.jit(f)(1.0), f(1.0), rtol=1e-12)


def test_iterators_go_on_where_python_would() -> None:
    def f(x: Any) -> Any:
        pairs = itertools.combinations(range(8), 2)
        i, j = next(pairs)
        s = x[i] - x[j]
        for i, j in pairs:
            s = s + np.sin(x[i]) * x[j]
            if j == 6 and i == 2:
                break
        for i, j in pairs:
            s = s * 0.9 + x[i] * x[j] ** 2
        return s + len(list(pairs))

    np.testing.assert_allclose(fg.jit(f)(X), f(X), rtol=1e-13)


def test_a_generator_that_others_can_change_is_gone_through_by_python() -> None:
    def f(x: Any) -> Any:
        n = 3

        def growing() -> Iterator[int]:
            for i in range(12):
                if i < n:
                    yield i

        s = 0.0
        for i in growing():
            n = 2 * i + 1
            s = s + np.sin(x[i]) * x[i]
        return s

    np.testing.assert_allclose(fg.jit(f)(X), f(X), rtol=1e-13)
