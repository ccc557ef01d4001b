"""Quantiles of weighted samples: NumPy's results, and derivatives that go to the element taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lawbook.agreement import assert_agrees

import funcgrad as fg

X = np.array([[3.0, 1.0, 2.0, 2.0], [0.5, 9.0, -4.0, 7.0], [1.0, 1.0, 6.0, 0.0]])
W = np.array([[1.0, 2.0, 0.0, 4.0], [0.0, 0.0, 1.0, 3.0], [2.0, 1.0, 1.0, 0.0]])


@pytest.mark.parametrize("function", [np.quantile, np.nanquantile])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_values_are_numpys(function: Any, axis: Any, keepdims: bool) -> None:
    for q in (0.0, 0.3, 1.0, [0.5, 0.25], [[0.1], [0.9]]):

        def f(x: Any, w: Any, q: Any = q) -> Any:
            return function(x, q, axis=axis, weights=w, keepdims=keepdims, method="inverted_cdf")

        np.testing.assert_array_equal(fg.make_program(f)(X, W).evaluate(X, W)[0], f(X, W))
        with_nan = np.where(X == 9.0, np.nan, X)
        np.testing.assert_array_equal(
            fg.make_program(f)(with_nan, W).evaluate(with_nan, W)[0], f(with_nan, W)
        )


def test_weights_of_an_axis_and_per_cent() -> None:
    options: dict[str, Any] = {"axis": 1, "method": "inverted_cdf"}
    assert_agrees(lambda x: np.percentile(x, [10, 60], weights=W[0], **options), X)
    assert_agrees(lambda x: np.percentile(x, 60, weights=W[0], **options), X.astype(np.int32))


def test_derivatives_go_to_the_element_taken() -> None:
    def f(x: Any, w: Any) -> Any:
        return np.sum(np.quantile(x, 0.5, axis=1, weights=w, method="inverted_cdf"))

    by_x, by_w = fg.grad(f, argnums=(0, 1))(X, W)
    np.testing.assert_array_equal(by_x, [[0, 0, 0, 1], [0, 0, 0, 1], [1, 0, 0, 0]])
    np.testing.assert_array_equal(by_w, np.zeros((3, 4)))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"weights": W}, ValueError, "Only method 'inverted_cdf'"),
        ({"weights": -W, "method": "inverted_cdf"}, ValueError, "non-negative"),
        ({"weights": W[0], "method": "inverted_cdf"}, TypeError, "Axis must be specified"),
        ({"weights": W[0], "method": "inverted_cdf", "axis": 0}, ValueError, "consistent"),
    ],
)
def test_refusals_are_numpys(options: Any, error: Any, words: str) -> None:
    for f in (
        lambda: np.quantile(X, 0.5, **options),
        lambda: fg.grad(lambda x: np.sum(np.quantile(x, 0.5, **options)))(X),
    ):
        with pytest.raises(error, match=words):
            f()
