"""Tuples and lists of traced numbers, compared: by elements, as Python compares those of plain numbers."""

import itertools
from typing import Any

import numpy as np
import pytest

import funcgrad as fg


def chosen(x: Any) -> Any:
    a, b, c = x
    two: Any = (a, b)
    total = 0.0 * a
    if (a, b) == (1.0, 2.0):
        total += 1.0 * b
    if (a, b) != (1.0, 2.0):
        total += 2.0 * b
    if (a, b) < (1.0, c):
        total += 4.0 * b
    if [a, b] <= [1.0, c]:
        total += 8.0 * b
    if (a, (b, c)) > (1.0, (2.0, 2.5)):
        total += 16.0 * b
    if (a, b) >= (1.0, 2.0, 0.0):
        total += 32.0 * b
    if (a, b) in [(1.0, 2.0), (2.0, 1.0)]:
        total += 64.0 * b
    if two == (1.0, 2.0, c):
        total += 128.0 * b
    return total


jitted = fg.jit(chosen)
slope = fg.jit(fg.grad(chosen))


@pytest.mark.parametrize("of", list(itertools.product([1.0, 2.0], [1.0, 2.0, 2.5], [2.5])))
def test_branches_on_tuples_are_those_of_plain_numbers(of: tuple[float, ...]) -> None:
    x = np.array(of)
    assert jitted(x) == chosen(x)
    np.testing.assert_array_equal(slope(x), fg.grad(chosen)(x))


def test_what_is_no_number_stays_pythons() -> None:
    @fg.jit
    def f(x: float) -> float:
        return 2.0 * x if (x, "a") == (x, "b") else (3.0 * x if (x, None) == (1.0, None) else x)

    assert f(1.0) == 3.0
    assert f(2.0) == 2.0


def lattice(x: Any) -> Any:
    total = 0.0
    for i, j, k in itertools.product(range(-2, 3), range(-2, 3), range(-2, 3)):
        if (i, j, k) == (0, 0, 0):
            continue
        total += 1.0 / np.sqrt((x[0] + i) ** 2 + (x[1] + j) ** 2 + (x[2] + k) ** 2)
    return total


def test_a_sum_over_a_lattice_stays_a_loop() -> None:
    x = np.array([0.1, 0.2, 0.3])
    made = fg.make_program(fg.jit(lattice))(x)
    assert len(made.equations) < 10
    np.testing.assert_allclose(fg.jit(fg.grad(lattice))(x), fg.grad(lattice)(x), rtol=1e-12)
