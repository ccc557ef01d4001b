"""`np.interp` in native code: NumPy's heights, also at the odd positions, and loops with it inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.ops.arrays.searching import LONG

POINTS = np.array([-1.0, 0.5, 2.0, 2.0, 3.5])
HEIGHTS = np.array([1.0, -2.0, 0.5, 4.0, 3.0])
ODD = np.array([-np.inf, -1.5, -1.0, 0.0, 0.5, 1.9, 2.0, 2.1, 3.5, 3.6, np.inf, np.nan])


def assert_native(f: Any, *args: Any, rtol: float = 1e-13) -> Any:
    """The compiled results are those of the evaluator, and nothing is left to it."""
    assert fg.explain(fg.jit(f))(*args).reasons == ()
    found = fg.jit(f)(*args)
    np.testing.assert_allclose(found, f(*args), rtol=rtol, atol=1e-13)
    return found


@pytest.mark.parametrize("options", [{}, {"left": -7.0, "right": np.nan}, {"period": 2.3}])
@pytest.mark.parametrize("heights", [HEIGHTS, HEIGHTS + 1j * HEIGHTS[::-1]])
def test_values_are_numpys(options: dict[str, Any], heights: Any) -> None:
    at = ODD[np.isfinite(ODD)] if "period" in options else ODD
    found = assert_native(lambda x: np.interp(x, POINTS, heights, **options), at)
    np.testing.assert_allclose(found, np.interp(at, POINTS, heights, **options), rtol=1e-14)


@pytest.mark.parametrize("count", [1, 2])
def test_lines_of_few_points(count: int) -> None:
    points, heights = POINTS[:count], HEIGHTS[:count]
    found = assert_native(lambda x: np.interp(x, points, heights), ODD)
    np.testing.assert_allclose(found, np.interp(ODD, points, heights), rtol=1e-14)


def test_points_at_infinity_and_infinite_heights() -> None:
    points, heights = np.array([-np.inf, 0.0, 1.0, np.inf]), np.array([1.0, 2.0, np.inf, 5.0])
    at = np.array([-3.0, 0.0, 0.5, 4.0, np.nan])
    assert_native(lambda x: np.interp(x, points, heights), at)
    many = np.resize(at, LONG)
    found = fg.jit(lambda x: np.interp(x, points, heights))(many)
    np.testing.assert_array_equal(found, np.interp(many, points, heights))
    rows = fg.vmap(np.interp)(np.stack([at, at]), np.stack([points, points]), np.stack([heights, heights]))
    np.testing.assert_array_equal(rows, np.interp(np.stack([at, at]), points, heights))


def run(kind: str, y: Any, points: Any, heights: Any) -> Any:
    """A loop of one kind, each trip of which follows the broken line."""

    def step(y: Any) -> Any:
        return y + 0.1 * np.interp(y, points, heights)

    if kind == "fori":
        return fg.fori_loop(0, 20, lambda k, y: step(y), y)
    if kind == "scan":
        return fg.scan(lambda y, _: (step(y), None), y, None, length=20)[0]
    return fg.while_loop(lambda s: s[0] < 20, lambda s: (s[0] + 1, step(s[1])), (0, y))[1]


@pytest.mark.at_length
@pytest.mark.parametrize("kind", ["fori", "scan", "while"])
@pytest.mark.parametrize("y", [np.array(0.3), np.array([-1.3, 0.4, 2.2])])
def test_loops_are_native(kind: str, y: Any) -> None:
    def loss(y: Any, points: Any, heights: Any) -> Any:
        return np.sum(run(kind, y, points, heights) ** 2)

    points, heights = np.array([-1.5, 0.45, 2.05, 3.6]), np.array([1.0, -2.0, 0.7, 4.0])
    assert_native(loss, y, points, heights)
    tangent = fg.jvp(loss, (y, points, heights), (np.ones_like(y), points, heights))[1]
    assert_native(lambda *args: fg.jvp(loss, args, (np.ones_like(y), points, heights))[1], y, points, heights)
    if kind == "while":
        return
    gradient = fg.grad(loss, argnums=(0, 1, 2))
    assert fg.explain(fg.jit(gradient))(y, points, heights).reasons == ()
    found = fg.jit(gradient)(y, points, heights)
    along = sum(np.sum(g * t) for g, t in zip(found, (np.ones_like(y), points, heights), strict=True))
    np.testing.assert_allclose(along, tangent, rtol=1e-10)
    fg.testing.check_grads(fg.jit(loss), (y, points, heights), order=2, modes=("rev",))
    assert_native(fg.vmap(fg.grad(loss), in_axes=(0, None, None)), np.stack([y, 0.9 * y]), points, heights)
    every = [np.stack([x, 0.9 * x]) for x in (y, points, heights)]
    assert_native(fg.vmap(fg.grad(loss, argnums=2)), *every)


def test_many_positions_stay_with_numpy() -> None:
    at = np.linspace(-2.0, 4.0, LONG)
    found = fg.jit(lambda x: np.interp(x, POINTS, HEIGHTS))(at)
    np.testing.assert_allclose(found, np.interp(at, POINTS, HEIGHTS), rtol=1e-14)
