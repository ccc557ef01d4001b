"""Cumulative operations, differences, integrals: NumPy's results, and derivatives at zeros, ties and NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from lawbook.agreement import array_of, assert_agrees, traced

import funcgrad as fg
from funcgrad.ops.reducing.cumulative import CumMax, CumProd, LinearRecurrence
from funcgrad.testing import check_grads

fnp = fg.numpy
INF, NAN = math.inf, math.nan
DTYPES = ("bool", "i1", "u1", "i8", "f2", "f4", "f8", "c8", "c16")
SHAPES = ((), (1,), (5,), (0,), (2, 3), (0, 3), (2, 3, 4))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_and_dtypes_are_numpys(name: str, dtype: str, rng: np.random.Generator) -> None:
    f = getattr(np, name)
    for shape in SHAPES:
        x = array_of(rng, dtype, shape)
        for axis in (None, 0, -1, 1, 7):
            assert_agrees(
                lambda t, axis=axis: f(t, axis=axis), x, what=f"{name} of {dtype}{shape} over {axis}"
            )
    x = array_of(rng, dtype, (2, 3))
    assert_agrees(lambda t: getattr(t, name)(axis=1), x)
    assert_agrees(lambda t: f(t, axis=1, dtype=np.float32), x)


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum])
@pytest.mark.parametrize("dtype", ["i1", "f4", "f8", "c16"])
def test_accumulate_methods_of_ufuncs(ufunc: np.ufunc, dtype: str, rng: np.random.Generator) -> None:
    for shape in ((4,), (2, 3), (0, 2), ()):
        x = array_of(rng, dtype, shape)
        assert_agrees(ufunc.accumulate, x)
        assert_agrees(lambda t: ufunc.accumulate(t, axis=-1), x)


@pytest.mark.parametrize(
    "ufunc", [np.subtract, np.divide, np.power, np.hypot, np.logaddexp, np.logaddexp2, np.fmax, np.fmin]
)
def test_accumulate_methods_that_go_from_element_to_element(
    ufunc: np.ufunc, rng: np.random.Generator
) -> None:
    for shape in ((4,), (3, 2), (1,)):
        x = 0.5 + np.abs(array_of(rng, "f8", shape))
        assert_agrees(ufunc.accumulate, x)
        assert_agrees(lambda t: ufunc.accumulate(t, axis=-1), x)
    check_grads(lambda t: ufunc.accumulate(t, axis=-1), (0.5 + rng.random((2, 3)),))


@pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="NumPy 2.1 brought them")
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_cumulative_functions_of_the_standard(name: str, rng: np.random.Generator) -> None:
    for shape in ((), (4,), (2, 3), (0,)):
        x = array_of(rng, "f8", shape)
        for options in ({}, {"axis": 0}, {"axis": -1, "include_initial": True}, {"include_initial": True}):
            assert_agrees(
                lambda t, options=options: getattr(np, name)(t, **options), x, what=f"{shape} {options}"
            )
            wanted = getattr(fnp, name)
            if shape and (len(shape) == 1 or "axis" in options):
                np.testing.assert_array_equal(wanted(x, **options), getattr(np, name)(x, **options))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_derivatives(name: str, axis: Any, dtype: Any, rng: np.random.Generator) -> None:
    x = array_of(rng, dtype, (3, 4))
    x[1, 2] = x[2, 2] = x[0, 0] = 0.0
    check_grads(lambda t: getattr(np, name)(t, axis=axis), (x,), order=3)


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum])
def test_derivatives_of_extremes(ufunc: np.ufunc, rng: np.random.Generator) -> None:
    x = rng.permutation(12).reshape(3, 4) / 4
    for axis in (0, 1):
        check_grads(lambda t, axis=axis: ufunc.accumulate(t, axis=axis), (x,))


@pytest.mark.parametrize(
    ("x", "jacobian"),
    [
        ([2.0, 0.0, 3.0], [[1, 0, 0], [0, 2, 0], [0, 6, 0]]),
        ([0.0, 0.0, 3.0], [[1, 0, 0], [0, 0, 0], [0, 0, 0]]),
        ([4.0], [[1.0]]),
    ],
)
def test_jacobian_of_cumprod(x: Any, jacobian: Any) -> None:
    for mode in (fg.jacfwd, fg.jacrev):
        np.testing.assert_array_equal(mode(np.cumprod)(np.array(x)), jacobian)


@pytest.mark.parametrize(
    ("x", "jacobian"),
    [
        ([1.0, 3.0, 2.0], [[1, 0, 0], [0, 1, 0], [0, 1, 0]]),
        ([1.0, 1.0, 1.0], [[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]]),
        ([2.0, 1.0, 2.0, 3.0], [[1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0, 0.5, 0], [0, 0, 0, 1]]),
        ([1.0, NAN, 2.0, NAN], [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0.5, 0, 0.5]]),
        ([-INF, -INF], [[1, 0], [0.5, 0.5]]),
    ],
)
def test_jacobian_of_cumulative_maximum(x: Any, jacobian: Any) -> None:
    """Elements that reach the maximum so far share the derivative evenly, as in `max`."""
    for mode in (fg.jacfwd, fg.jacrev):
        np.testing.assert_array_equal(mode(np.maximum.accumulate)(np.array(x)), jacobian)
        np.testing.assert_array_equal(mode(np.minimum.accumulate)(-np.array(x)), jacobian)


def test_running_the_other_way(rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 4))
    np.testing.assert_array_equal(CumProd(0, True).bind(x), np.multiply.accumulate(x[::-1], axis=0)[::-1])
    np.testing.assert_array_equal(CumMax(1, True).bind(x), np.maximum.accumulate(x[:, ::-1], axis=1)[:, ::-1])


@pytest.mark.parametrize("columns", [1, 3, 40])
@pytest.mark.parametrize("count", [7, 513, 1000])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_linear_recurrence_is_its_definition(
    columns: int, count: int, dtype: str, rng: np.random.Generator
) -> None:
    factors, terms = array_of(rng, dtype, (count - 1, columns)), array_of(rng, dtype, (count, columns))
    factors /= 3
    factors[::50] = 0.0
    wanted = [terms[0]]
    for a, b in zip(factors, terms[1:], strict=True):
        wanted.append(a * wanted[-1] + b)
    seen = LinearRecurrence(0, False, False).bind(factors, terms)
    tolerance = 1e-4 if dtype in ("f4", "c8") else 1e-11
    np.testing.assert_allclose(seen, wanted, rtol=tolerance, atol=tolerance)
    assert seen.dtype == dtype


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a * 1e-9,  # products of a block underflow
        lambda a: a * 1e9,  # and overflow
        lambda a: np.where(np.arange(len(a)) == 700, 1e-200, a),
        lambda a: np.where(np.arange(len(a)) == 700, NAN, a),
        lambda a: np.where(np.arange(len(a)) == 700, INF, a),
        lambda a: np.where(np.arange(len(a)) < 600, 1e6, 1e-6),
    ],
)
@pytest.mark.parametrize("strong", [False, True])
def test_long_recurrences_with_extreme_factors(change: Any, strong: bool, rng: np.random.Generator) -> None:
    """Solved in blocks where that is exact, and else number by number."""
    factors, terms = change(rng.standard_normal(999)), rng.standard_normal(1000)
    terms[:3] = 0.0
    wanted = [0.0]
    for a, b in zip(factors.tolist(), terms[1:].tolist(), strict=True):
        wanted.append(a * wanted[-1] + b if wanted[-1] or not strong else b)
    seen = LinearRecurrence(0, False, strong).bind(factors, terms)
    np.testing.assert_allclose(seen, wanted, rtol=1e-12)


def test_empty_and_single_arrays_have_gradients() -> None:
    for f in (np.cumsum, np.cumprod, np.maximum.accumulate):
        for shape in ((0,), (1,), (2, 0), (0, 2)):
            gradient = fg.grad(lambda t, f=f: np.sum(f(t)))(np.ones(shape))
            np.testing.assert_array_equal(gradient, np.ones(shape))


@pytest.mark.parametrize("f", [np.cumsum, np.cumprod, np.maximum.accumulate, np.diff])
def test_vmap_is_a_loop(f: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 4))
    np.testing.assert_allclose(fg.vmap(f)(x), [f(row) for row in x])
    total = fg.grad(lambda t: np.sum(f(t) ** 2))
    np.testing.assert_allclose(fg.vmap(total)(x), [total(row) for row in x])


# -- differences and integrals ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "i1", "f4", "f8", "c16"])
def test_diff_is_numpys(dtype: str, rng: np.random.Generator) -> None:
    for shape in ((4,), (3, 2), (1,), (0,), ()):
        x = array_of(rng, dtype, shape)
        for options in ({}, {"n": 2}, {"n": 0}, {"n": 9}, {"n": -1}, {"axis": 0}, {"axis": 5}):
            assert_agrees(
                lambda t, options=options: np.diff(t, **options), x, what=f"{dtype}{shape} {options}"
            )
    x = array_of(rng, dtype, (3, 2))
    for options in ({"prepend": 0}, {"append": x, "axis": 0}, {"prepend": x[:1], "append": x[:1], "axis": 0}):
        assert_agrees(lambda t, options=options: np.diff(t, **options), x, what=f"{dtype} {options}")


def test_diff_takes_traced_ends(rng: np.random.Generator) -> None:
    x = rng.standard_normal(4)
    check_grads(lambda t, e: np.diff(t, prepend=e, append=2.0 * e), (x, 0.5))


def test_trapezoid_is_numpys(rng: np.random.Generator) -> None:
    y = rng.standard_normal((3, 4))
    points = np.sort(rng.standard_normal((3, 4)))
    for options in (
        {},
        {"dx": 0.5},
        {"axis": 0},
        {"x": points[0]},
        {"x": points, "axis": 0},
        {"x": points[:, 0], "axis": 0},
    ):
        assert_agrees(lambda t, options=options: np.trapezoid(t, **options), y, what=str(options))
    assert_agrees(np.trapezoid, np.arange(4))
    assert traced(np.trapezoid, np.array([3.0])) == 0.0
    check_grads(lambda t, s: np.trapezoid(t, x=s), (y, points[0]))
    check_grads(lambda t, h: np.trapezoid(t, dx=h), (y, 0.5))
