"""Sorting, searching, elements along an axis: NumPy's results, and derivatives that follow the elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from lawbook.agreement import array_of, assert_agrees, traced

import funcgrad as fg
from funcgrad.errors import ConcretizationError, IndexingError
from funcgrad.testing import check_grads

fnp = fg.numpy
INF, NAN = math.inf, math.nan


@pytest.mark.parametrize("name", ["sort", "argsort"])
@pytest.mark.parametrize("dtype", ["bool", "i1", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_values_are_numpys(name: str, dtype: str, rng: np.random.Generator) -> None:
    f = getattr(np, name)
    for shape in ((), (1,), (6,), (0,), (3, 4), (2, 0), (2, 3, 4)):
        x = array_of(rng, dtype, shape)
        for axis in (-1, 0, 1, None, 7):
            what = f"{name} of {dtype}{shape} along {axis}"
            assert_agrees(lambda t, axis=axis: f(t, axis=axis, stable=True), x, what=what)


def test_nan_comes_last_and_ties_keep_their_order() -> None:
    x = np.array([2.0, NAN, 1.0, 2.0, -INF, INF, 1.0])
    assert_agrees(np.sort, x)
    np.testing.assert_array_equal(traced(np.argsort, x), [4, 2, 6, 0, 3, 5, 1])
    complexes = np.array([1 + 2j, 1 + 1j, complex(NAN, 0.0), 0.5 + 9j])
    assert_agrees(np.sort, complexes)
    assert_agrees(np.sort_complex, np.array([3, 1, 2], np.int8))
    assert_agrees(np.sort_complex, np.array([3.0, 1.0]))
    assert_agrees(np.sort_complex, complexes)


@pytest.mark.parametrize("levels", [10**9, 300])
def test_long_orders_are_stable(levels: int, rng: np.random.Generator) -> None:
    x = rng.integers(0, levels, (3, 1000)) / 7.0
    for y in (x, np.where(x == x.max(), NAN, x)):
        for axis in (0, 1):
            wanted = np.argsort(y, axis=axis, kind="stable")
            np.testing.assert_array_equal(traced(lambda t, a=axis: np.argsort(t, axis=a), y), wanted)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_derivatives_of_sort(axis: Any, dtype: Any, rng: np.random.Generator) -> None:
    x = (rng.permutation(12).reshape(3, 4) / 2).astype(dtype)
    check_grads(lambda t: np.sort(t, axis=axis), (x,))


def test_jacobian_of_sort_at_ties_and_nan() -> None:
    np.testing.assert_array_equal(
        fg.jacrev(np.sort)(np.array([2.0, 1.0, 2.0])), [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    )
    np.testing.assert_array_equal(
        fg.jacfwd(np.sort)(np.array([NAN, 1.0, -INF])), [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    )
    np.testing.assert_array_equal(fg.grad(lambda t: np.sum(np.sort(t)))(np.zeros((0, 2))), np.zeros((0, 2)))


def test_gradients_of_large_arrays_run_again() -> None:
    """The third run is that of the compiled source, which forgets large arrays after their last use."""
    x = np.arange(20000.0)[::-1].copy()
    gradient = fg.grad(lambda t: np.sum(np.sort(t) * np.arange(20000.0)))
    for _ in range(3):
        np.testing.assert_array_equal(gradient(x), x)


def test_sorting_in_place_writes_the_array_and_what_it_is_a_view_of() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        y[1:].sort()
        y[:2].partition(0)
        return y[0] + 10.0 * y[1] + 100.0 * y[3]

    x = np.array([5.0, 9.0, 1.0, 4.0])
    np.testing.assert_array_equal(fg.grad(f)(x), [10.0, 100.0, 1.0, 0.0])
    np.testing.assert_array_equal(x, [5.0, 9.0, 1.0, 4.0])


def test_partitions_hold_what_they_promise(rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 7))
    for kth in (2, -1, (1, 4)):
        part = traced(lambda t, kth=kth: np.partition(t, kth, axis=1), x)
        index = traced(lambda t, kth=kth: t.argpartition(kth, axis=1), x)
        for k in np.atleast_1d(kth):
            np.testing.assert_array_equal(part[:, k], np.sort(x)[:, k])
            np.testing.assert_array_equal(np.take_along_axis(x, index, 1)[:, k], np.sort(x)[:, k])
    with pytest.raises(ValueError, match="kth"):
        traced(lambda t: np.partition(t, 9), x)


def test_lexsort_is_numpys(rng: np.random.Generator) -> None:
    first, second = rng.integers(0, 3, (2, 2, 8)).astype(float)
    assert_agrees(lambda a, b: np.lexsort((a, b)), first, second)
    assert_agrees(lambda a, b: np.lexsort((a, b), axis=0), first, second)
    assert_agrees(lambda a: np.lexsort((a,)), first)


# -- searching ----------------------------------------------------------------------------------------------


def test_searchsorted_is_numpys(rng: np.random.Generator) -> None:
    table = np.array([-1.0, 0.0, 0.0, 0.5, 2.0])
    values = np.array([[0.0, NAN, -INF], [0.25, 2.0, 9.0]])
    for side in ("left", "right"):
        assert_agrees(lambda a, v, side=side: np.searchsorted(a, v, side), table, values)
        assert_agrees(lambda a, side=side: a.searchsorted(1, side), table)
        assert_agrees(lambda v, side=side: np.searchsorted([1, 2, 3], v, side=side), values)
    order = rng.permutation(5)
    assert_agrees(lambda a, v: np.searchsorted(a, v, sorter=np.argsort(order)), table[order], values)
    assert_agrees(lambda a: np.searchsorted(a, 1.0, side="middle"), table)
    assert_agrees(lambda a: np.searchsorted(a, 1.0), values)


def test_searchsorted_under_vmap(rng: np.random.Generator) -> None:
    tables, values = np.sort(rng.standard_normal((3, 5))), rng.standard_normal((3, 2, 4))
    wanted = [np.searchsorted(a, v) for a, v in zip(tables, values, strict=True)]
    np.testing.assert_array_equal(fg.vmap(np.searchsorted)(tables, values), wanted)
    wanted = [np.searchsorted(tables[0], v) for v in values]
    np.testing.assert_array_equal(fg.vmap(np.searchsorted, in_axes=(None, 0))(tables[0], values), wanted)
    wanted = [np.searchsorted(a, values[0]) for a in tables]
    np.testing.assert_array_equal(fg.vmap(np.searchsorted, in_axes=(0, None))(tables, values[0]), wanted)


def test_digitize_is_numpys() -> None:
    x, bins = np.array([[0.2, 6.4], [1.0, 10.0]]), np.array([0.0, 1.0, 2.5, 10.0])
    for right in (False, True):
        assert_agrees(lambda t, right=right: np.digitize(t, bins, right), x)
        assert_agrees(lambda t, right=right: np.digitize(t, bins[::-1], right), x)
        assert_agrees(lambda t, b, right=right: np.digitize(t, b, right), x, bins)
    assert_agrees(lambda t: np.digitize(t, [0.0, 2.0, 1.0]), x)


def test_table_lookup_has_a_derivative(rng: np.random.Generator) -> None:
    """Piecewise linear interpolation, written out: the position has no derivative, the rest has."""
    points = np.array([0.0, 1.0, 3.0])

    def lookup(x: Any, heights: Any) -> Any:
        k = np.clip(np.searchsorted(points, x) - 1, 0, 1)
        t = (x - points[k]) / (points[k + 1] - points[k])
        return heights[k] * (1 - t) + heights[k + 1] * t

    check_grads(lookup, (np.array([0.25, 2.0]), rng.standard_normal(3)))


# -- unique values and counts -------------------------------------------------------------------------------


def test_unique_keeps_the_derivative_of_the_first() -> None:
    x = np.array([2.0, 1.0, 2.0, NAN, 1.0, NAN])

    def f(t: Any) -> Any:
        values, index, inverse, counts = np.unique(t, True, True, True)
        np.testing.assert_array_equal(counts, [2, 2, 2])
        np.testing.assert_array_equal(index, [1, 0, 3])
        np.testing.assert_array_equal(inverse, [1, 0, 1, 2, 0, 2])
        return values @ np.array([1.0, 10.0, 100.0])

    np.testing.assert_array_equal(fg.grad(f)(x), [10.0, 1.0, 0.0, 100.0, 0.0, 0.0])
    rows = np.array([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0]])
    value, gradient = fg.value_and_grad(lambda t: np.unique(t, axis=0)[1, 0])(rows)
    assert value == 2.0
    np.testing.assert_array_equal(gradient, [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])


def test_what_decides_a_shape_needs_a_value() -> None:
    for f in (np.unique, lambda t: np.bincount(t.astype(int))):
        with pytest.raises(ConcretizationError, match="decides the shape of the result"):
            fg.make_program(f)(np.ones(3))


def test_bincount_is_linear_in_its_weights(rng: np.random.Generator) -> None:
    numbers, weights = np.array([1, 3, 1, 0, 3]), rng.standard_normal(5)
    for minlength in (0, 7):
        wanted = np.bincount(numbers, weights, minlength)
        np.testing.assert_array_equal(
            traced(lambda w, n=minlength: np.bincount(numbers, w, n), weights), wanted
        )
    coefficients = np.arange(4.0)
    gradient = fg.grad(lambda w: np.bincount(numbers, w) @ coefficients)(weights)
    np.testing.assert_array_equal(gradient, coefficients[numbers])
    with pytest.raises(ValueError, match="same length"):
        fg.grad(lambda w: np.bincount(numbers, w).sum())(weights[1:])


# -- elements along an axis ---------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_take_along_axis_is_numpys(axis: int, rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 4))
    index = rng.integers(-3, 3, (3, 4))
    assert_agrees(lambda t: np.take_along_axis(t, index, axis), x)
    assert_agrees(lambda t, i: np.take_along_axis(t, i, axis), x, index)
    narrow = index[:1] if axis else index[:, :1]
    assert_agrees(lambda t: np.take_along_axis(t, narrow, axis), x)
    assert_agrees(lambda t: np.take_along_axis(t, index, axis), x[:1] if axis else x[:, :1])


def test_derivatives_of_take_along_axis_with_repeated_positions(rng: np.random.Generator) -> None:
    x = rng.standard_normal((2, 3, 2))
    index = np.array([[[0, 2], [0, -1], [1, 2], [0, 0]]])
    check_grads(lambda t: np.take_along_axis(t, index, axis=1), (x,))
    gradient = fg.grad(lambda t: np.sum(np.take_along_axis(t, np.array([0, 0, -1]), axis=0)))(np.ones(3))
    np.testing.assert_array_equal(gradient, [2.0, 0.0, 1.0])
    flat = fg.grad(lambda t: np.sum(np.take_along_axis(t, np.array([0, 0]), axis=None)))(np.ones((2, 2)))
    np.testing.assert_array_equal(flat, [[2.0, 0.0], [0.0, 0.0]])


def test_take_along_axis_under_vmap(rng: np.random.Generator) -> None:
    x, index = rng.standard_normal((3, 2, 4)), rng.integers(0, 4, (3, 2, 3))
    f = lambda t, i: np.take_along_axis(t, i, 1)  # noqa: E731 - shared by three calls
    for in_axes in ((0, 0), (None, 0), (0, None)):
        args = [v if a == 0 else v[0] for v, a in zip((x, index), in_axes, strict=True)]
        rows = [[v[k] if a == 0 else v for v, a in zip(args, in_axes, strict=True)] for k in range(3)]
        np.testing.assert_array_equal(fg.vmap(f, in_axes=in_axes)(*args), [f(*row) for row in rows])


@pytest.mark.parametrize(
    ("index", "axis", "words"),
    [
        (np.zeros((2, 3)), 1, "must be an integer array"),
        (np.zeros(3, int), 1, "same number of dimensions"),
        (np.zeros((3, 3), int), 1, "do not broadcast"),
        (np.full((2, 1), 3), 1, "out of bounds"),
    ],
)
def test_refusals_of_take_along_axis(index: Any, axis: int, words: str) -> None:
    with pytest.raises((IndexingError, ValueError), match=words) as caught:
        fg.grad(lambda t: np.sum(np.take_along_axis(t, index, axis)))(np.ones((2, 3)))
    assert "np.take_along_axis(t, index, axis)" in str(caught.value)
