"""Histograms: NumPy's counts and edges on traced values, weights that carry derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ConcretizationError, ShapeError
from funcgrad.testing import check_grads

X = np.array([0.0, 0.5, 1.0, 1.0, 2.5, 3.0, -4.0, 0.999])
W = np.array([1.0, 2.0, -1.0, 0.5, 3.0, 1.5, 0.25, 4.0])
EDGES = np.array([0.0, 0.5, 1.0, 3.0])


def same(f: Any, *args: Any) -> None:
    """`f` gives on traced arguments, evaluated or recorded, what NumPy gives on arrays."""
    wanted = [np.asarray(part) for part in fg.tree.leaves(f(*args))]
    found = fg.tree.leaves(fg.make_program(f)(*args).evaluate(*args))
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)
        assert np.asarray(ours).dtype == theirs.dtype


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bins": 4},
        {"bins": EDGES},
        {"bins": 5, "range": (0.0, 1.0)},
        {"bins": 4, "density": True},
        {"bins": EDGES, "density": True},
        {"bins": 1, "range": (1.0, 1.0)},
    ],
)
def test_histograms_are_numpys(options: dict[str, Any]) -> None:
    same(lambda x: np.histogram(x, **options), X)
    same(lambda x, w: np.histogram(x, weights=w, **options), X, W)
    same(lambda x: np.histogram(np.append(x, np.nan), **({"range": (0.0, 2.0)} | options)), X)


def test_integers_booleans_and_empty_arrays() -> None:
    same(lambda x: np.histogram(x, bins=3), np.array([1, 2, 2, 5]))
    same(lambda x: np.histogram(x, bins=3, range=(0, 9)), np.zeros(0))
    same(lambda x: np.histogram(x, bins=3, weights=np.ones(4, np.float32)), np.array([1.0, 2, 2, 5]))
    same(lambda x: np.histogram_bin_edges(x, bins=3), np.array([1.0, 2, 2, 5]))
    same(lambda x: np.histogram(x, bins=2), np.full(3, 7.0))


def test_histograms_of_points() -> None:
    y = X[::-1] * 0.5
    same(lambda x: np.histogram2d(x, y, bins=3), X)
    same(lambda x: np.histogram2d(x, y, bins=[3, 4], range=[[0, 1], [0, 2]]), X)
    same(lambda x: np.histogram2d(x, y, bins=EDGES), X)
    same(lambda x: np.histogram2d(x, y, bins=[EDGES, 2], density=True), X)
    same(lambda x, w: np.histogram2d(x, y, bins=2, weights=w), X, W)
    same(lambda x: np.histogramdd(np.stack([x, y, x * y], axis=1), bins=(2, 3, 2)), X)
    same(lambda x: np.histogramdd([x, y], bins=[EDGES, EDGES], density=True), X)


def test_weights_are_differentiated_and_values_are_not() -> None:
    for density in (False, True):
        check_grads(lambda w, d=density: np.histogram(X, EDGES, weights=w, density=d)[0], (W,))
        check_grads(lambda w, d=density: np.histogram2d(X, X, 2, weights=w, density=d)[0], (W,))
    np.testing.assert_array_equal(fg.grad(lambda x: np.sum(np.histogram(x, EDGES)[0] * 1.0))(X), np.zeros(8))
    check_grads(lambda x: np.histogram(x, 4)[1], (np.array([0.0, 0.6, 1.3]),))


def test_edges_need_no_values_unless_a_rule_counts_them() -> None:
    density = fg.grad(lambda x: np.sum(x * np.histogram(x, "sturges")[0][0]))
    np.testing.assert_array_equal(density(X), np.full(8, np.histogram(X, "sturges")[0][0]))
    rows = np.stack([X, X**2])
    found = fg.vmap(lambda row: np.histogram(row, 4)[0])(rows)
    np.testing.assert_array_equal(found, [np.histogram(row, 4)[0] for row in rows])
    with pytest.raises(ConcretizationError, match="bins='auto'"):
        fg.make_program(lambda row: np.histogram(row, "auto")[0])(X)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bins": 0}, "must be positive"),
        ({"bins": [1.0, 0.0]}, "increase monotonically"),
        ({"bins": [[1.0]]}, "must be 1d"),
        ({"range": (2.0, 1.0)}, "max must be larger"),
        ({"range": (0.0, np.inf)}, "not finite"),
        ({"weights": np.ones(3)}, "same shape"),
        ({"bins": "auto", "weights": W}, "weighted data"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        fg.make_program(lambda x: np.histogram(x, **options))(X)
