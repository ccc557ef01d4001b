"""Python's whole numbers in loops that `jit` records: exact, however large they become."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg


def factorials(x: Any) -> Any:
    total, k = 0.0, 1
    for i in range(1, 100):
        k = k * i
        total = total + np.sin(x) / k
    return total


def fibonacci(x: Any) -> Any:
    a, b = 0, 1
    for _ in range(100):
        a, b = b, a + b
        x = np.sin(x)
    return x + a * 1e-20


def by_index(x: Any) -> Any:
    for i in range(60):
        x = x + np.sin(x) / (i + 1) ** 20
    return x


def large_from_the_start(x: Any) -> Any:
    k = 2**70
    for _ in range(100):
        k = k + 1
        x = np.sin(x) + 1e-22 * k
    return x


def shifts(x: Any) -> Any:
    total = 0.0
    for i in range(100):
        total = total + x / (1 << i)
    return total


def fractions(x: Any) -> Any:
    total = 0.0
    for i in range(100):
        total = total + np.sin(x) * 2**-i
    return total


@pytest.mark.parametrize(
    "f", [factorials, fibonacci, by_index, large_from_the_start, shifts, fractions], ids=lambda f: f.__name__
)
def test_they_outgrow_64_bits_and_stay_exact(f: Any) -> None:
    np.testing.assert_allclose(fg.jit(f)(0.3), f(0.3), rtol=1e-12)
    np.testing.assert_allclose(fg.jit(fg.grad(f))(0.3), fg.grad(f)(0.3), rtol=1e-12)


def test_a_loop_of_numbers_that_stay_small_is_kept() -> None:
    def congruence(x: Any) -> Any:
        k = 1
        for _ in range(300):
            k = (k * 48271) % 2147483647
            x = x + np.sin(x) * 1e-12 * k
        return x

    jitted = fg.jit(congruence)
    np.testing.assert_allclose(jitted(0.3), congruence(0.3), rtol=1e-10)
    assert [e.primitive.name for e in jitted.program(0.3).equations].count("scan") == 1


def test_a_negative_exponent_that_is_traced_is_refused_by_name() -> None:
    with pytest.raises(fg.errors.DtypeError, match=r"2\.0 \*\* -k in place of 2 \*\* -k"):
        fg.jit(lambda x, n: x * 2**-n)(1.0, 3)
