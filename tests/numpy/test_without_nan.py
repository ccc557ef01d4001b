"""Reductions without NaN: NumPy's results, and no NaN in any derivative."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from lawbook.agreement import array_of, assert_agrees, traced

import funcgrad as fg
from funcgrad.testing import check_grads

INF, NAN = math.inf, math.nan
REDUCTIONS = ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd")
POSITIONS = ("nanargmax", "nanargmin")
CUMULATIVE = ("nancumsum", "nancumprod")


def with_gaps(rng: np.random.Generator, x: Any, share: float) -> Any:
    """`x` with NaN in place of some elements, where its dtype has it."""
    if x.dtype.kind not in "fc":
        return x
    return np.where(rng.random(x.shape) < share, x.dtype.type(NAN), x)


@pytest.mark.parametrize("name", REDUCTIONS + POSITIONS + CUMULATIVE)
@pytest.mark.parametrize("dtype", ["i1", "u8", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
@pytest.mark.at_length
def test_values_and_dtypes_are_numpys(name: str, dtype: str, share: float, rng: np.random.Generator) -> None:
    f = getattr(np, name)
    for shape in ((), (1,), (5,), (0,), (2, 3), (0, 3), (2, 3, 4)):
        x = with_gaps(rng, array_of(rng, dtype, shape), share)
        for axis in (None, 0, -1, 7) if name not in REDUCTIONS else (None, 0, -1, (0, 1), 7):
            if name in POSITIONS and np.any(
                np.all(np.isnan(np.atleast_1d(x)), axis=axis if axis != 7 else None)
            ):
                continue
            what = f"{name} of {dtype}{shape} over {axis}"
            assert_agrees(lambda t, axis=axis: f(t, axis=axis), x, what=what)
            if name not in CUMULATIVE:
                assert_agrees(lambda t, axis=axis: f(t, axis=axis, keepdims=True), x, what=f"{what}, kept")


@pytest.mark.parametrize("name", REDUCTIONS)
def test_options(name: str, rng: np.random.Generator) -> None:
    f = getattr(np, name)
    x = with_gaps(rng, rng.standard_normal((3, 4)), 0.3)
    mask = rng.integers(0, 2, (3, 4)).astype(bool)
    options: list[dict[str, Any]] = [{"where": mask, "axis": 0}]
    if name in ("nansum", "nanprod", "nanmax", "nanmin"):
        options = [{"initial": 2.0, **options[0]}, {"initial": -3.0, "axis": 1}]
    if name in ("nanvar", "nanstd"):
        options += [{"ddof": 1, "axis": 0}, {"correction": 1}, {"mean": 0.5, "axis": 1}]
    for chosen in options:
        assert_agrees(lambda t, chosen=chosen: f(t, **chosen), x, what=f"{name} with {chosen}")


def test_position_of_nothing_is_minus_one() -> None:
    x = np.array([[NAN, NAN], [1.0, NAN]])
    np.testing.assert_array_equal(traced(lambda t: np.nanargmax(t, axis=1), x), [-1, 0])
    assert traced(np.nanargmin, x[0]) == -1


@pytest.mark.parametrize("name", [*REDUCTIONS, *CUMULATIVE])
@pytest.mark.parametrize("axis", [None, 1])
def test_derivatives(name: str, axis: Any, rng: np.random.Generator) -> None:
    """Those of the function on the numbers, and zero where there is NaN."""
    numbers = rng.permutation(12).reshape(3, 4) / 4.0
    gaps = np.zeros((3, 4), bool)
    gaps[[0, 2, 2], [1, 0, 3]] = True

    def f(t: Any) -> Any:
        return getattr(np, name)(np.where(gaps, NAN, t), axis=axis)

    check_grads(f, (numbers,))
    gradient = fg.grad(lambda t: np.sum(getattr(np, name)(t, axis=axis)))(np.where(gaps, NAN, numbers))
    assert np.all(gradient[gaps] == 0.0)
    assert np.all(np.isfinite(gradient))


@pytest.mark.parametrize("name", ["nanmax", "nanmean", "nanvar", "nanstd", "nansum", "nanprod"])
def test_nothing_but_nan_has_a_gradient_of_zero(name: str) -> None:
    np.testing.assert_array_equal(fg.grad(getattr(np, name))(np.array([NAN, NAN])), [0.0, 0.0])


def test_ties_and_spreads_that_are_zero() -> None:
    np.testing.assert_array_equal(fg.grad(np.nanmax)(np.array([2.0, NAN, 2.0])), [0.5, 0.0, 0.5])
    np.testing.assert_array_equal(fg.grad(np.nanmin)(np.array([INF, NAN, INF])), [0.5, 0.0, 0.5])
    np.testing.assert_array_equal(fg.grad(np.nanstd)(np.array([2.0, NAN, 2.0])), [0.0, 0.0, 0.0])


@pytest.mark.parametrize("name", REDUCTIONS)
def test_vmap_is_a_loop(name: str, rng: np.random.Generator) -> None:
    f = getattr(np, name)
    x = rng.standard_normal((3, 5))
    x[1, 2] = x[2, 0] = NAN
    np.testing.assert_allclose(fg.vmap(f)(x), [f(row) for row in x])
