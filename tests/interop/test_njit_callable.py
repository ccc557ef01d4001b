"""Functions and gradients inside other people's Numba code."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError


class Line(NamedTuple):
    slope: Any
    offset: Any


def misfit(line: Any, x: Any, y: Any) -> Any:
    return np.mean((line.slope * x + line.offset - y) ** 2)


def test_arrays_of_other_lengths() -> None:
    slope = fg.njit_callable(fg.grad(lambda x: np.sum(x**3)), np.zeros(4))

    @numba.njit
    def lengths(n: int) -> float:
        total = 0.0
        for k in range(1, n):
            total += np.sum(slope(np.full(k, 2.0)))
        return total

    assert lengths(5) == 12.0 * (1 + 2 + 3 + 4)


def test_named_tuples_in_and_out() -> None:
    x = np.linspace(0.0, 1.0, 7)
    line = Line(0.5, 0.25)
    both = fg.njit_callable(fg.value_and_grad(misfit), line, x, x)

    @numba.njit
    def descended(line: Any, x: Any, y: Any) -> Any:
        value, slopes = both(line, x, y)
        return value, line.slope - 0.1 * slopes.slope, line.offset - 0.1 * slopes.offset

    value, slopes = fg.value_and_grad(misfit)(line, x, x)
    wanted = (value, line.slope - 0.1 * slopes.slope, line.offset - 0.1 * slopes.offset)
    np.testing.assert_allclose(descended(line, x, x), wanted, rtol=1e-12)
    np.testing.assert_allclose(both(line, x[:3], x[:3])[0], misfit(line, x[:3], x[:3]), rtol=1e-12)


def test_nested_tuples_come_back_as_they_are() -> None:
    def parts(pair: Any) -> Any:
        return (pair[0] * 2.0, (pair[1],)), pair[0] + 1.0

    made = fg.njit_callable(parts, (1.0, np.ones(2)))
    (double, (array,)), more = made((3.0, np.arange(3.0)))
    assert (double, more) == (6.0, 4.0)
    np.testing.assert_array_equal(array, np.arange(3.0))


def test_containers_that_numba_has_not_are_refused_by_numba_not_answered_wrongly() -> None:
    made = fg.njit_callable(lambda d: d["a"] * 2.0, {"a": 1.0})
    assert made(3.0) == 6.0  # as before: the leaves, one after the other


def test_arrays_that_a_function_closes_over_are_read_where_they_are() -> None:
    table = np.arange(5.0) ** 2
    total = fg.njit_callable(lambda x: np.sum(x * table), np.ones(5))
    assert total(np.ones(5)) == 30.0
    table[:] = 1.0
    assert total(np.ones(5)) == 5.0


def test_transforms_are_written_out() -> None:
    power = fg.njit_callable(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2), np.ones(6))
    assert power(np.arange(6.0)) == pytest.approx(6 * np.sum(np.arange(6.0) ** 2))


def test_refused_by_name() -> None:
    with pytest.raises(UnsupportedFunctionError, match="cannot be called from compiled code"):
        fg.njit_callable(lambda x: np.sum(fg.scipy.linalg.schur(np.outer(x, x))[0]), np.ones(6))
