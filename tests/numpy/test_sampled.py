"""Functions known at sample points: NumPy's results, and derivatives by position, points and heights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from lawbook.agreement import array_of, assert_agrees, traced

import funcgrad as fg
from funcgrad.testing import check_grads

NAN = math.nan
POINTS = np.array([-1.0, 0.0, 0.5, 2.0])


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "c16"])
def test_interp_is_numpys(dtype: str, rng: np.random.Generator) -> None:
    heights = array_of(rng, dtype, (4,))
    x = np.array([[-3.0, -1.0, -0.5, 0.0], [1.9, 2.0, 7.0, NAN]])
    for options in ({}, {"left": -5.0}, {"left": 0.0, "right": 9.0}, {"period": 3.5}):
        assert_agrees(lambda t, o=options: np.interp(t, POINTS, heights, **o), x, what=f"{options}")
        assert_agrees(lambda h, o=options: np.interp(x, POINTS, h, **o), heights, what=f"{options}")
    assert_agrees(lambda t: np.interp(t, POINTS[:1], heights[:1]), x)
    assert_agrees(lambda t: np.interp(t, list(POINTS), list(heights)), np.float32(0.25))
    assert_agrees(lambda t: np.interp(t, POINTS[1:], heights), x)
    assert_agrees(lambda t: np.interp(t, [], []), x)


def test_derivatives_of_interp(rng: np.random.Generator) -> None:
    heights = rng.standard_normal(4)
    x = np.array([-3.0, -0.5, 0.25, 1.0, 7.0])
    check_grads(np.interp, (x, POINTS, heights))
    check_grads(lambda t, h, edge: np.interp(t, POINTS, h, left=edge, right=-edge), (x, heights, 0.3))
    check_grads(lambda t, p, h: np.interp(t, p, h, period=4.5), (x, POINTS, heights))
    assert fg.grad(lambda t: np.interp(t, [0.0, 1.0, 2.0], [0.0, 1.0, 5.0]))(1.0) == 4.0
    assert fg.grad(lambda t: np.interp(t, [0.0, 1.0, 2.0], [0.0, 1.0, 5.0]))(2.0) == 4.0
    assert fg.grad(lambda t: np.interp(t, [0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 3.0, 5.0]))(1.0) == 2.0


@pytest.mark.parametrize("dtype", ["u1", "i8", "f4", "f8", "c16"])
@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient_is_numpys(dtype: str, edge_order: int, rng: np.random.Generator) -> None:
    x = array_of(rng, dtype, (4, 5))
    rows, columns = np.sort(rng.standard_normal(4)), np.cumsum(rng.uniform(0.5, 1.5, 5))
    for spacing in ((), (0.5,), (0.5, 2), (rows, columns), (rows, 2.0), (np.array([1, 2, 4, 9]), 1)):
        assert_agrees(lambda t, s=spacing: np.gradient(t, *s, edge_order=edge_order), x, what=f"{spacing}")
    assert_agrees(lambda t: np.gradient(t, columns, axis=1, edge_order=edge_order), x)
    assert_agrees(lambda t: np.gradient(t, 1.0, columns, rows), x)
    assert_agrees(lambda t: np.gradient(t, columns, columns), x)
    assert_agrees(lambda t: np.gradient(t, axis=(1, 0)), x)
    assert_agrees(lambda t: np.gradient(t, axis=0, edge_order=edge_order), x[:edge_order])
    assert_agrees(lambda t: np.gradient(t, axis=0, edge_order=edge_order), x[: edge_order + 1])


def test_derivatives_of_gradient(rng: np.random.Generator) -> None:
    x, points = rng.standard_normal((3, 5)), np.cumsum(rng.uniform(0.5, 1.5, 5))
    check_grads(lambda t, p: np.gradient(t, p, axis=1, edge_order=2), (x, points))
    check_grads(np.gradient, (x, 0.5))


def test_ediff1d_is_numpys(rng: np.random.Generator) -> None:
    for dtype in ("i4", "f4", "c16"):
        for shape in ((2, 3), (1,), (0,), ()):
            x = array_of(rng, dtype, shape)
            for options in ({}, {"to_end": 1}, {"to_begin": np.array([[1, 2]], np.int8), "to_end": x}):
                assert_agrees(lambda t, o=options: np.ediff1d(t, **o), x, what=f"{dtype}{shape} {options}")
    assert_agrees(lambda t: np.ediff1d(t, to_end=np.array([0.5])), np.arange(3))
    check_grads(lambda t, e: np.ediff1d(t, to_begin=e), (rng.standard_normal(4), 0.5))


def test_unwrap_is_numpys(rng: np.random.Generator) -> None:
    x = rng.uniform(-9.0, 9.0, (3, 6))
    for options in ({}, {"axis": 0}, {"discont": 4.0}, {"period": 3.0}):
        assert_agrees(lambda t, o=options: np.unwrap(t, **o), x, what=f"{options}")
        assert_agrees(lambda t, o=options: np.unwrap(t, **o), x.astype(np.float32), what=f"{options}")
    for period in (4, 5, 6.0):
        assert_agrees(lambda t, n=period: np.unwrap(t, period=n), np.array([0, 2, 4, 1, 9, 7]))
    np.testing.assert_array_equal(traced(np.unwrap, np.array([0.0, np.pi, 0.0])), [0.0, np.pi, 0.0])
    check_grads(np.unwrap, (x,))


@pytest.mark.parametrize("f", [np.gradient, np.ediff1d, np.unwrap, lambda t: np.interp(t, POINTS, POINTS**2)])
def test_vmap_is_a_loop(f: Any, rng: np.random.Generator) -> None:
    x = rng.uniform(-3.0, 3.0, (3, 4))
    np.testing.assert_allclose(fg.vmap(f)(x), [f(row) for row in x], atol=1e-14)


def test_interp_ends_where_its_last_points_coincide() -> None:
    points, heights = np.array([0.0, 1.0, 1.0]), np.array([0.0, 5.0, 7.0])
    x = np.array([0.5, 1.0, 2.0, np.inf, -np.inf])
    assert_agrees(lambda t: np.interp(t, points, heights), x)


def test_long_interp_and_its_second_derivatives(rng: np.random.Generator) -> None:
    points, heights = np.sort(rng.normal(size=9000)), rng.normal(size=9000)
    x = rng.normal(size=70_000) * 1.5
    assert_agrees(lambda t: np.interp(t, points, heights), x)
    slope = fg.grad(lambda t: np.sum(np.interp(t, points, heights)))(x)
    inside = (x > points[0]) & (x < points[-1])
    np.testing.assert_array_equal(slope[~inside], 0.0)
    piece = np.searchsorted(points, x[inside]) - 1
    np.testing.assert_allclose(slope[inside], (np.diff(heights) / np.diff(points))[piece])
    few, at = np.array([0.0, 1.0, 3.0, 4.5]), np.array([-1.0, 0.4, 2.0, 3.1, 5.0])
    check_grads(lambda p, h, t: np.interp(t, p, h), (few, np.array([1.0, 3.0, 0.5, 2.0]), at), order=2)


def test_vmap_of_interp_over_each_argument(rng: np.random.Generator) -> None:
    points = np.sort(rng.normal(size=(3, 4)), axis=1)
    heights, x = rng.normal(size=(3, 4)), rng.normal(size=(3, 5))
    for axes in ((0, None, None), (0, 0, None), (None, None, 0), (0, 0, 0), (None, 0, 0)):

        def loss(t: Any, p: Any, h: Any) -> Any:
            return np.sum(np.interp(t, p, h) ** 2)

        args = [v if a == 0 else v[0] for v, a in zip((x, points, heights), axes, strict=True)]
        found = fg.vmap(fg.grad(loss, argnums=(0, 1, 2)), in_axes=axes)(*args)
        for k in range(3):
            row = [v[k] if a == 0 else v for v, a in zip(args, axes, strict=True)]
            for ours, theirs in zip(found, fg.grad(loss, argnums=(0, 1, 2))(*row), strict=True):
                np.testing.assert_allclose(ours[k], theirs, rtol=1e-10, atol=1e-12)
