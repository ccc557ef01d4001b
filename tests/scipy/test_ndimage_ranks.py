"""Filters by the order of elements and grey morphology in ``scipy.ndimage``: SciPy's values, derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.ndimage

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.testing import check_grads

IMAGE = np.random.default_rng(3).normal(size=(5, 6))
FOOTPRINT = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 1]], bool)
STRUCTURE = np.arange(6.0).reshape(2, 3) / 3

FILTERED: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("maximum_filter", (3,), {}),
    ("maximum_filter", (4,), {"origin": (-1, 1), "mode": "nearest"}),
    ("maximum_filter", (3,), {"axes": (1,)}),
    ("maximum_filter", (3,), {"mode": ["mirror", "reflect"]}),
    ("minimum_filter", ((2, 3),), {"mode": "constant", "cval": 0.3}),
    ("minimum_filter", (), {"footprint": FOOTPRINT, "mode": "wrap"}),
    ("maximum_filter1d", (3,), {"axis": 0}),
    ("minimum_filter1d", (4,), {"origin": 1}),
    ("median_filter", (3,), {}),
    ("median_filter", (), {"footprint": FOOTPRINT, "mode": "mirror"}),
    ("median_filter", (2,), {"origin": -1}),
    ("percentile_filter", (30,), {"size": (3, 2)}),
    ("percentile_filter", (-20, 3), {}),
    ("rank_filter", (2,), {"size": 3}),
    ("rank_filter", (-2,), {"footprint": FOOTPRINT}),
    ("gaussian_gradient_magnitude", (0.8,), {}),
    ("gaussian_gradient_magnitude", (0.8,), {"axes": (0,), "mode": "wrap"}),
]
GREY = ["grey_dilation", "grey_erosion", "grey_opening", "grey_closing", "white_tophat", "black_tophat"]
GREY += ["morphological_gradient", "morphological_laplace"]
WINDOWS: list[dict[str, Any]] = [
    {"size": 3},
    {"size": (2, 3)},
    {"footprint": FOOTPRINT},
    {"structure": STRUCTURE},
    {"footprint": FOOTPRINT[:2], "structure": STRUCTURE, "mode": "constant"},
    {"size": 4, "origin": 1},
]
FILTERED += [(name, (), window) for name in GREY for window in WINDOWS]


@pytest.mark.parametrize(("name", "args", "options"), FILTERED)
def test_values_are_scipys_and_derivatives_those_of_differences(
    name: str, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    def filtered(x: Any) -> Any:
        return getattr(scipy.ndimage, name)(x, *args, **options)

    value, pullback = fg.vjp(filtered, IMAGE)
    np.testing.assert_allclose(value, filtered(IMAGE), rtol=1e-12, atol=1e-12)
    weights = np.cos(np.arange(value.size)).reshape(value.shape)
    direction = np.sin(np.arange(IMAGE.size)).reshape(IMAGE.shape)
    step = 1e-6 * direction
    difference = np.sum(weights * (filtered(IMAGE + step) - filtered(IMAGE - step))) / 2e-6
    np.testing.assert_allclose(np.sum(pullback(weights)[0] * direction), difference, rtol=1e-5)


def test_compiled_batched_and_by_the_structure() -> None:
    def f(x: Any, s: Any) -> Any:
        return scipy.ndimage.grey_dilation(x, structure=s) * scipy.ndimage.median_filter(x, 3)

    np.testing.assert_allclose(fg.jit(f)(IMAGE, STRUCTURE), f(IMAGE, STRUCTURE))
    both = np.stack([IMAGE, IMAGE[::-1]])
    np.testing.assert_allclose(fg.vmap(f, (0, None))(both, STRUCTURE), [f(x, STRUCTURE) for x in both])
    check_grads(f, (IMAGE, STRUCTURE), order=1)


def test_what_scipy_refuses_is_refused() -> None:
    def filtered(name: str, *args: Any, **options: Any) -> Any:
        return fg.make_program(lambda x: getattr(fg.scipy.ndimage, name)(x, *args, **options))(IMAGE)

    with pytest.raises(RuntimeError, match="no footprint"):
        filtered("maximum_filter")
    with pytest.raises(RuntimeError, match="rank not within"):
        filtered("rank_filter", 9, 3)
    with pytest.raises(RuntimeError, match="invalid percentile"):
        filtered("percentile_filter", 120, 3)
    with pytest.raises(RuntimeError, match="incorrect shape"):
        filtered("minimum_filter", footprint=[True])
    with pytest.raises(ValueError, match="invalid origin"):
        filtered("median_filter", 3, origin=2)
    with pytest.raises(UnsupportedFunctionError, match="integer results"):
        filtered("median_filter", 3, output=np.int64)


@pytest.mark.parametrize(
    ("name", "args"), [("median_filter", ()), ("rank_filter", (1,)), ("percentile_filter", (40,))]
)
def test_what_scipy_does_otherwise_along_one_axis_is_refused(name: str, args: tuple[Any, ...]) -> None:
    gaps = np.array([1, 0, 1, 1], bool)

    def filtered(x: Any, footprint: Any) -> Any:
        return getattr(scipy.ndimage, name)(x, *args, footprint=footprint)

    with pytest.raises(UnsupportedFunctionError, match="one axis with gaps"):
        fg.vjp(lambda x: filtered(x, gaps), IMAGE[0])
    with pytest.raises(UnsupportedFunctionError, match="longer than the array"):
        fg.vjp(lambda x: filtered(x, np.ones(5, bool)), IMAGE[0, :4])
    x = IMAGE[:1]
    np.testing.assert_allclose(fg.vjp(lambda x: filtered(x, gaps[None]), x)[0], filtered(x, gaps[None]))
