"""Sums over many short rows, which BLAS computes."""

from __future__ import annotations

import numpy as np
import pytest

import funcgrad as fg


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sum_of_many_short_rows(dtype: type, rng: np.random.Generator) -> None:
    x = rng.normal(size=(40, 50, 8)).astype(dtype)
    x[3, 4, 5], x[5, 6, 7] = np.nan, np.inf
    program = fg.make_program(lambda x: np.sum(x, (0, 1)))(x)
    expected = np.sum(x.astype(np.float64), (0, 1))
    for _ in range(3):
        (found,) = program.evaluate(x)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=1e-4 if dtype == np.float32 else 1e-10)
    last = np.moveaxis(x, -1, 0)
    (found,) = fg.make_program(lambda x: np.sum(x, (1, 2)))(last).evaluate(last)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    (found,) = fg.make_program(lambda x: np.sum(x, (0, 1)))(x[:, ::-1]).evaluate(x[:, ::-1])
    np.testing.assert_allclose(found, expected, rtol=1e-4)
