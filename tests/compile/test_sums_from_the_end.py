"""The transpose of a long running sum is found in parts; the running sum itself has NumPy's digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.lower.cumulative import ABREAST, LONG
from funcgrad.compile.passes.arranging.dividing import CHUNKS


def weighted(x: Any, weights: Any) -> Any:
    return np.sum(np.cumsum(x) * weights)


@pytest.fixture(scope="module")
def gradient() -> Any:
    return fg.jit(fg.grad(weighted))


def from_the_end(weights: Any) -> Any:
    return np.cumsum(weights[::-1])[::-1]


@pytest.mark.parametrize("size", [LONG, LONG + 1, LONG + CHUNKS * ABREAST - 1])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_parts_of_unequal_length_meet(gradient: Any, size: int, dtype: Any) -> None:
    weights = np.random.default_rng(0).uniform(0.5, 1.0, size).astype(dtype)
    found = gradient(np.ones(size, dtype), weights)
    expected = from_the_end(weights.astype(np.float64))
    np.testing.assert_allclose(found, expected, rtol=20 * np.finfo(dtype).eps * np.sqrt(size))
    if dtype == np.float64:
        assert "running_sums" in gradient.kernel_source(np.ones(size), weights)


def test_infinities_and_nan_reach_what_comes_before_them_alone(gradient: Any) -> None:
    weights = np.ones(LONG)
    weights[[1000, 900, 20]] = np.inf, -np.inf, np.nan
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(gradient(np.ones(LONG), weights), from_the_end(weights))


def test_the_running_sum_itself_is_added_up_in_order() -> None:
    x = np.random.default_rng(1).uniform(size=LONG)
    found = fg.jit(lambda x: np.cumsum(x * 2.0))(x)
    np.testing.assert_array_equal(found, np.cumsum(x * 2.0))


def test_a_sum_in_the_memory_of_its_terms_leaves_what_is_still_read() -> None:
    x = np.random.default_rng(2).normal(size=LONG)

    def both(x: Any) -> Any:
        terms = np.sin(x)
        return np.cumsum(terms), terms[:-1] * 2.0

    for got, expected in zip(fg.jit(both)(x), both(x), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_several_lines_and_loops_run_element_by_element() -> None:
    x = np.random.default_rng(3).normal(size=(2, LONG))
    weights = np.random.default_rng(4).normal(size=(2, LONG))
    found = fg.jit(fg.grad(lambda x: np.sum(np.cumsum(x, 1) * weights)))(x)
    np.testing.assert_allclose(found, np.cumsum(weights[:, ::-1], 1)[:, ::-1], rtol=1e-9, atol=1e-9)
