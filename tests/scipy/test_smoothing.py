"""Smoothing splines that choose how smooth they are: SciPy's values, and derivatives of the best choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.interpolate
from scipy.optimize import minimize_scalar

import funcgrad as fg

N = 12
RNG = np.random.default_rng(8)
X = np.sort(RNG.uniform(0.0, 5.0, N))
Y = np.sin(X) + 0.3 * RNG.normal(size=N)
W = RNG.uniform(0.5, 2.0, N)
AT = np.array([1.1, 2.3, 4.0])


def ours(x: Any, y: Any, w: Any = None) -> Any:
    return fg.scipy.interpolate.make_smoothing_spline(x, y, w)(AT)


def best(x: Any, y: Any, w: Any) -> Any:
    """SciPy's spline by the smoothness that cross-validation prefers, found to the last digits."""

    def criterion(lam: float) -> float:
        follows = np.stack(
            [scipy.interpolate.make_smoothing_spline(x, row, w, lam)(x) for row in np.eye(N)], axis=1
        )
        off = np.eye(N) - follows
        return float(N * np.sum((off @ y) ** 2) / np.trace(off) ** 2)

    rough = minimize_scalar(criterion, bounds=(0.0, N), method="bounded").x
    near = (0.9 * rough, 1.1 * rough)
    # A search by values alone stops at the root of what rounding leaves of them; Newton's method goes on.
    lam = minimize_scalar(criterion, bounds=near, method="bounded", options={"xatol": 1e-9}).x
    h = 1e-3 * lam
    for _ in range(4):
        down, here, up = (criterion(lam + s * h) for s in (-1, 0, 1))
        lam -= h * (up - down) / (2.0 * (up - 2.0 * here + down))
    return scipy.interpolate.make_smoothing_spline(x, y, w, lam)(AT)


@pytest.mark.parametrize("w", [None, W], ids=["equal weights", "weights"])
def test_values_are_scipys(w: Any) -> None:
    expected = scipy.interpolate.make_smoothing_spline(X, Y, w)(AT)
    for found in (fg.vjp(lambda y: ours(X, y, w), Y)[0], fg.jit(ours)(X, Y, w), ours(X, Y, w)):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("w", [None, W], ids=["equal weights", "weights"])
def test_derivatives_are_those_of_the_best(w: Any) -> None:
    along, h = RNG.normal(size=N), 1e-4
    expected = (best(X, Y + h * along, w) - best(X, Y - h * along, w)) / (2 * h)
    np.testing.assert_allclose(fg.jvp(lambda y: ours(X, y, w), (Y,), (along,))[1], expected, rtol=2e-3)
    gradient = fg.grad(lambda y: np.sum(ours(X, y, w)))
    for found in (gradient(Y), fg.jit(gradient)(Y), fg.vmap(gradient)(Y[None])[0]):
        np.testing.assert_allclose(found @ along, np.sum(expected), rtol=2e-3)


def test_derivatives_by_positions_and_weights() -> None:
    h = 1e-4
    for k, at in enumerate((X, W)):
        along = 0.1 * RNG.normal(size=N)
        sides = [
            best(at + s * h * along if k == 0 else X, Y, at + s * h * along if k else W) for s in (1, -1)
        ]
        expected = (sides[0] - sides[1]) / (2 * h)
        found = fg.jvp(lambda z, k=k: ours(X if k else z, Y, z if k else W), (at,), (along,))[1]
        np.testing.assert_allclose(found, expected, rtol=5e-3, atol=1e-4)


def test_second_derivatives_are_those_of_the_first() -> None:
    along, h = RNG.normal(size=N), 1e-4
    gradient = fg.grad(lambda y: np.sum(ours(X, y) ** 2))
    expected = (gradient(Y + h * along) - gradient(Y - h * along)) / (2 * h)
    found = fg.jvp(gradient, (Y,), (along,))[1]
    np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-2)


def test_each_column_has_a_smoothness_of_its_own() -> None:
    columns = np.stack([Y, np.cos(X)], axis=1)
    found = fg.vjp(lambda y: ours(X, y), columns)[0]
    for j in range(2):
        expected = scipy.interpolate.make_smoothing_spline(X, columns[:, j])(AT)
        np.testing.assert_allclose(found[:, j], expected, rtol=1e-5, atol=1e-6)
