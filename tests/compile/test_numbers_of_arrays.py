"""One element of an array, mixed into a larger array, in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg

VECTOR, MATRIX = np.array([0.3, 0.9, 0.47]), np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: x * 2 + x[0], VECTOR),
        (lambda x: (x * x + x[0]) * x + x[1], VECTOR),
        (lambda x: x * x[1, 2] + x[0], MATRIX),
    ],
)
def test_one_number_of_an_array_beside_an_array(f: Any, x: Any) -> None:
    def total(x: Any) -> Any:
        return np.sum(f(x) ** 2)

    np.testing.assert_allclose(fg.jit(f)(x), f(x), rtol=1e-14)
    np.testing.assert_allclose(fg.jit(fg.grad(total))(x), fg.grad(total)(x), rtol=1e-13)


def test_a_number_spread_over_an_array_is_there_before_it_is_read() -> None:
    """A loop over the positions stands before the copy of the array that they are read from."""
    places = np.array([2, 0, 1, 1])

    def read(x: Any) -> Any:
        shifted = np.cumsum(fg.numpy.take(x, places))
        return shifted[:3].sum() + (fg.numpy.full(3, 2.0 + 0.0 * x.size)[places] * shifted).sum()

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(fg.jit(read)(x), read(x))
