"""Medians and quantiles: NumPy's results for every method, with and without NaN, and derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from lawbook.agreement import array_of, assert_agrees, traced

import funcgrad as fg
from funcgrad.numpy.reducing.quantiles import METHODS
from funcgrad.testing import check_grads

NAN = math.nan
LEVELS = (0.3, 0, 1, [0.1, 0.9], np.array([[0.2, 0.4], [0.5, 1.0]]), np.float64(0.25), np.float32(0.75), [])
AXES = (None, 0, -1, (0, 1), 7)


@pytest.mark.parametrize("dtype", ["i1", "i8", "f2", "f4", "f8"])
def test_medians_are_numpys(dtype: str, rng: np.random.Generator) -> None:
    for shape in ((), (1,), (5,), (6,), (0,), (2, 3), (4, 3, 2), (3, 0)):
        x = array_of(rng, dtype, shape)
        for axis in AXES:
            for f in (np.median, np.nanmedian):
                if f is np.nanmedian and (not x.size or (dtype == "f2")):
                    continue  # of nothing NumPy takes a mean; of half precision it interpolates otherwise
                what = f"{f.__name__} of {dtype}{shape} over {axis}"
                assert_agrees(lambda t, f=f, axis=axis: f(t, axis=axis), x, what=what)
                assert_agrees(lambda t, f=f, axis=axis: f(t, axis=axis, keepdims=True), x, what=what)


@pytest.mark.parametrize("dtype", ["i1", "i8", "f4", "f8"])
def test_quantiles_and_percentiles_are_numpys(dtype: str, rng: np.random.Generator) -> None:
    for shape in ((1,), (5,), (2, 3), (4, 3, 2), (0, 3), (3, 0)):
        x = array_of(rng, dtype, shape)
        for q in LEVELS:
            if not np.size(q) and not x.size:
                continue
            for axis in AXES:
                what = f"{dtype}{shape} over {axis} at {q}"
                assert_agrees(lambda t, q=q, axis=axis: np.quantile(t, q, axis=axis), x, what=what)
                assert_agrees(lambda t, q=q, axis=axis: np.quantile(t, q, axis, keepdims=True), x, what=what)
            percent = 100 * q if isinstance(q, float) else np.multiply(100, q)
            assert_agrees(lambda t, q=percent: np.percentile(t, q, axis=0), x, what=f"{percent} per cent")


@pytest.mark.at_length
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("f", [np.quantile, np.nanquantile])
def test_methods_are_numpys(method: str, f: Any, rng: np.random.Generator) -> None:
    gaps = np.array([[1.0, NAN, 3.0, 2.0], [NAN, NAN, NAN, NAN], [4.0, 6.0, 5.0, 7.5]])
    for x in (array_of(rng, "f8", (5,)), array_of(rng, "i8", (2, 4)), gaps, gaps[0]):
        for q in (0.3, 0.5, 0.75, 1.0, np.linspace(0.0, 1.0, 9)):
            for axis in (None, 0, -1):
                what = f"{f.__name__} by {method} at {q} over {axis}"
                assert_agrees(lambda t, q=q, axis=axis: f(t, q, axis=axis, method=method), x, what=what)


def test_nan_is_the_median_of_what_holds_one() -> None:
    x = np.array([[1.0, NAN, 3.0], [4.0, 5.0, 6.0]])
    for f in (np.median, np.nanmedian):
        assert_agrees(lambda t, f=f: f(t, axis=1), x)
    np.testing.assert_array_equal(
        fg.grad(lambda t: np.median(t, axis=1)[1])(x), [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    )


@pytest.mark.parametrize("method", ["linear", "hazen", "weibull", "median_unbiased", "midpoint", "lower"])
def test_derivatives(method: str, rng: np.random.Generator) -> None:
    x = rng.permutation(12).reshape(3, 4) / 2
    for axis in (None, 0, 1):
        check_grads(lambda t, axis=axis: np.quantile(t, [0.15, 0.6], axis=axis, method=method), (x,))
    y = np.where(x == 2.5, NAN, x)
    check = fg.grad(lambda t: np.nansum(np.nanquantile(t, 0.6, axis=1, method=method)))(y)
    assert np.all(np.isfinite(check))
    assert check[x == 2.5] == 0.0


def test_level_has_a_derivative(rng: np.random.Generator) -> None:
    x = rng.permutation(8) / 2
    check_grads(np.quantile, (x, 0.3))
    check_grads(np.percentile, (x, np.array([15.0, 60.0])))
    check_grads(lambda q: np.nanquantile(x, q), (0.3,))


def test_derivatives_of_medians() -> None:
    for x, gradient in (
        ([3.0, 1.0, 2.0], [0.0, 0.0, 1.0]),
        ([3.0, 1.0, 2.0, 9.0], [0.5, 0.0, 0.5, 0.0]),
        ([1.0, 1.0, 1.0], [0.0, 1.0, 0.0]),
        ([7.0], [1.0]),
    ):
        for f in (np.median, np.nanmedian):
            np.testing.assert_array_equal(fg.grad(f)(np.array(x)), gradient)
    np.testing.assert_array_equal(fg.grad(np.nanmedian)(np.array([NAN, 1.0, 3.0])), [0.0, 0.5, 0.5])
    assert fg.grad(np.median)(np.ones(3, np.float32)).dtype == np.float32


@pytest.mark.parametrize("f", [np.median, np.nanmedian, lambda t: np.quantile(t, [0.2, 0.7])])
def test_vmap_is_a_loop(f: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 4))
    np.testing.assert_allclose(fg.vmap(f)(x), [f(row) for row in x])


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda t: np.quantile(t, 1.5), r"Quantiles must be in the range \[0, 1\]"),
        (lambda t: np.percentile(t, 101), r"Percentiles must be in the range \[0, 100\]"),
        (lambda t: np.quantile(t, 0.5, method="middle"), "'middle' is not a valid method"),
        (lambda t: np.quantile(t, np.full((1, 1, 1), 0.5)), "q must be a scalar or 1d"),
    ],
)
def test_refusals(f: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        traced(f, np.ones(3))
