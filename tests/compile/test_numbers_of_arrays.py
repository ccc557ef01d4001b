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
