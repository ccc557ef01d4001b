"""Averages and spreads: NumPy's results with every option, and derivatives where a spread is zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lawbook.agreement import array_of, assert_agrees, traced

import funcgrad as fg
from funcgrad.testing import check_grads

DTYPES = ("bool", "i1", "u8", "i8", "f2", "f4", "f8", "c16")
SHAPES = ((), (1,), (5,), (0,), (2, 3), (0, 3), (2, 3, 4))
AXES = (None, 0, -1, 1, (0,), (0, 1), (), 7)


@pytest.mark.parametrize("name", ["mean", "var", "std"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_and_dtypes_are_numpys(name: str, dtype: str, rng: np.random.Generator) -> None:
    f = getattr(np, name)
    for shape in SHAPES:
        x = array_of(rng, dtype, shape)
        for axis in AXES:
            what = f"{name} of {dtype}{shape} over {axis}"
            assert_agrees(lambda t, axis=axis: f(t, axis=axis), x, what=what)
            assert_agrees(lambda t, axis=axis: f(t, axis=axis, keepdims=True), x, what=f"{what}, kept")
            assert_agrees(lambda t, axis=axis: getattr(t, name)(axis), x, what=f"{what}, method")


@pytest.mark.parametrize("name", ["mean", "var", "std"])
@pytest.mark.parametrize("dtype", ["i2", "f4", "f8", "c16"])
def test_where_and_dtype(name: str, dtype: str, rng: np.random.Generator) -> None:
    f = getattr(np, name)
    x = array_of(rng, dtype, (3, 4))
    mask = rng.integers(0, 2, (3, 4)).astype(bool)
    for options in (
        {"where": mask},
        {"where": mask, "axis": 1, "keepdims": True},
        {"where": mask[:1], "axis": 0},
        {"dtype": np.float32},
        {"dtype": np.float64, "axis": 0},
    ):
        if dtype == "c16" and "dtype" in options:
            continue
        assert_agrees(lambda t, options=options: f(t, **options), x, what=f"{name} with {options}")


@pytest.mark.parametrize("name", ["var", "std"])
def test_degrees_of_freedom_and_a_given_mean(name: str, rng: np.random.Generator) -> None:
    f = getattr(np, name)
    x = rng.standard_normal((3, 4))
    for options in (
        {"ddof": 1},
        {"correction": 1, "axis": 0},
        {"ddof": 0.5},
        {"ddof": 4, "axis": 1},
        {"ddof": 1, "correction": 1},
        {"mean": x.mean(axis=0, keepdims=True), "axis": 0},
        {"ddof": 1, "where": x > 0, "axis": 1},
    ):
        assert_agrees(lambda t, options=options: f(t, **options), x, what=f"{name} with {options}")
    check_grads(lambda t, m: f(t, axis=0, mean=m), (x, x.mean(axis=0, keepdims=True)))


@pytest.mark.parametrize("name", ["mean", "var", "std"])
@pytest.mark.parametrize("axis", [None, 0, (0, 2)])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_derivatives(name: str, axis: Any, dtype: Any, rng: np.random.Generator) -> None:
    x = array_of(rng, dtype, (2, 3, 2))
    check_grads(lambda t: getattr(np, name)(t, axis=axis), (x,))
    mask = np.ones((2, 3, 2), bool)
    mask[0, 1] = False
    if axis != 0:
        check_grads(lambda t: getattr(np, name)(t, axis=axis, where=mask), (x,))


def test_gradient_of_a_spread_that_is_zero() -> None:
    """The standard deviation has a kink there, and zero is the middle of its subgradients."""
    for x in (np.ones(3), np.ones(1), np.float64(2.0), np.full(2, 1 + 1j)):
        for f in (np.std, np.var):
            np.testing.assert_array_equal(fg.grad(f)(x), np.zeros_like(x))
    np.testing.assert_array_equal(fg.hessian(np.std)(np.ones(2)), np.zeros((2, 2)))
    rows = np.array([[1.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(fg.grad(lambda t: np.sum(np.std(t, axis=1)))(rows), [[0.0, 0.0], [-0.5, 0.5]])


def test_programs_are_short() -> None:
    """A mean is a sum and a division; a variance takes one difference."""

    def names(f: Any) -> list[str]:
        return [equation.primitive.name for equation in fg.make_program(f)(np.ones(3)).equations]

    assert names(np.mean) == ["reduce_sum", "div"]
    assert names(np.var) == ["reduce_sum", "div", "sub", "integer_pow", "reduce_sum", "div"]


def test_mean_of_single_precision_is_summed_pairwise() -> None:
    x = np.full(1 << 20, 0.1, np.float32)
    assert traced(np.mean, x) == np.mean(x)


# -- weighted average ---------------------------------------------------------------------------------------


def test_average_is_numpys(rng: np.random.Generator) -> None:
    for dtype in ("i4", "f4", "f8", "c16"):
        x = array_of(rng, dtype, (2, 3))
        weights = rng.uniform(0.5, 1.5, (2, 3))
        for options in (
            {},
            {"axis": 1},
            {"weights": weights},
            {"weights": weights, "axis": 0, "returned": True},
            {"weights": weights[0], "axis": 1, "keepdims": True},
            {"weights": weights[0].astype(np.float32), "axis": -1, "returned": True},
            {"weights": [1, 2], "axis": 0},
            {"weights": weights.T, "axis": (1, 0)},
            {"returned": True, "axis": 0},
            {"weights": weights[0]},
            {"weights": weights[0], "axis": 0},
            {"weights": [1.0, -1.0], "axis": 0},
        ):
            assert_agrees(lambda t, o=options: np.average(t, **o), x, what=f"{dtype} with {options}")


def test_derivatives_of_average(rng: np.random.Generator) -> None:
    x, weights = rng.standard_normal((2, 3)), rng.uniform(0.5, 1.5, 3)
    check_grads(lambda t, w: np.average(t, axis=1, weights=w), (x, weights))
    check_grads(lambda w: np.average(x, axis=1, weights=w, returned=True), (weights,))


# -- covariance ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "c16"])
def test_cov_is_numpys(dtype: str, rng: np.random.Generator) -> None:
    x, y = array_of(rng, dtype, (3, 5)), array_of(rng, dtype, (2, 5))
    frequencies, weights = np.array([1, 2, 1, 3, 1]), rng.uniform(0.5, 1.5, 5)
    for options in (
        {},
        {"rowvar": False},
        {"bias": True},
        {"ddof": 2},
        {"fweights": frequencies},
        {"aweights": weights},
        {"aweights": weights, "fweights": frequencies, "ddof": 0},
        {"aweights": weights, "fweights": frequencies},
        {"y": y},
        {"y": y[0]},
        {"ddof": 0.5},
        {"aweights": weights[1:]},
        {"aweights": -weights},
        {"fweights": weights},
    ):
        assert_agrees(lambda t, o=options: np.cov(t, **o), x, what=f"{dtype} with {options}")
    assert_agrees(np.cov, x[0])
    assert_agrees(lambda t: np.cov(t, y.T, rowvar=False), x.T)
    assert_agrees(np.cov, np.ones((2, 2, 2)))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_corrcoef_is_numpys(dtype: str, rng: np.random.Generator) -> None:
    x = array_of(rng, dtype, (3, 6))
    assert_agrees(np.corrcoef, x)
    assert_agrees(lambda t: np.corrcoef(t, rowvar=False), x)
    assert_agrees(lambda t: np.corrcoef(t, x[:2] ** 2), x)
    assert_agrees(np.corrcoef, x[0])


def test_derivatives_of_covariance(rng: np.random.Generator) -> None:
    x, weights = rng.standard_normal((2, 5)), rng.uniform(0.5, 1.5, 5)
    check_grads(lambda t, w: np.cov(t, aweights=w), (x, weights))
    check_grads(np.cov, (x + 1j * x[::-1] ** 2,))
    check_grads(lambda t: np.corrcoef(t)[0, 1], (x,))


@pytest.mark.parametrize("f", [np.mean, np.var, np.std, np.average, np.cov, np.corrcoef])
def test_vmap_is_a_loop(f: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 2, 5))
    np.testing.assert_allclose(fg.vmap(f)(x), [f(row) for row in x], atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, float, "f4", np.dtype(np.float32)])
@pytest.mark.parametrize("function", [np.cov, np.corrcoef])
def test_covariances_take_dtypes_in_every_form(function, dtype):
    x = np.array([[1.0, 2.5, 3.0], [3.0, 2.0, 1.5]])
    found = fg.vjp(lambda t: function(t, dtype=dtype), x)[0]
    assert found.dtype == function(x, dtype=dtype).dtype
    np.testing.assert_allclose(found, function(x, dtype=dtype), rtol=1e-6)
