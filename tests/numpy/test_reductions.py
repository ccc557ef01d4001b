"""Reductions: NumPy's results with every option, and derivatives at ties, zeros, NaN and in empty arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lawbook.agreement import array_of, assert_agrees, traced

import funcgrad as fg
from funcgrad.errors import ShapeError, TracerAssignmentError
from funcgrad.testing import check_grads

fnp = fg.numpy
INF, NAN = math.inf, math.nan
DTYPES = ("bool", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")
SHAPES = ((), (1,), (5,), (0,), (2, 3), (0, 3), (3, 0), (2, 3, 4))
AXES = (None, 0, -1, 1, (0,), (0, 1), (), (0, -1), 7)
SEVERAL = ("sum", "prod", "max", "min", "amax", "amin", "any", "all", "ptp", "count_nonzero")
POSITIONS = ("argmax", "argmin")
OUTSIDE = np.zeros(())


@pytest.mark.parametrize("name", SEVERAL + POSITIONS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.at_length
def test_values_and_dtypes_are_numpys(name: str, dtype: str, rng: np.random.Generator) -> None:
    f = getattr(np, name)
    if name == "ptp" and dtype == "bool":
        pytest.skip("NumPy does not subtract booleans")
    for shape in SHAPES:
        x = array_of(rng, dtype, shape)
        for axis in AXES if name in SEVERAL else (None, 0, -1, 1, 7):
            what = f"{name} of {dtype}{shape} over {axis}"
            assert_agrees(lambda t, axis=axis: f(t, axis=axis), x, what=what)
            assert_agrees(lambda t, axis=axis: f(t, axis=axis, keepdims=True), x, what=f"{what}, kept")


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "argmax", "argmin"])
def test_methods_and_our_functions_are_numpys(name: str, rng: np.random.Generator) -> None:
    for x in (array_of(rng, "f4", (3, 4)), array_of(rng, "i2", (4,))):
        wanted = getattr(np, name)(x, axis=0)
        for f in (lambda t: getattr(t, name)(axis=0), lambda t: getattr(fnp, name)(t, axis=0)):
            seen = traced(f, x)
            np.testing.assert_array_equal(seen, wanted)
            assert np.asarray(seen).dtype == np.asarray(wanted).dtype
        np.testing.assert_array_equal(getattr(fnp, name)(x, axis=0), wanted)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("dtype", ["i1", "f4", "f8", "c16"])
def test_initial_and_where(name: str, dtype: str, rng: np.random.Generator) -> None:
    f = getattr(np, name)
    x = array_of(rng, dtype, (3, 4))
    mask = rng.integers(0, 2, (3, 4)).astype(bool)
    for options in (
        {"initial": 2},
        {"initial": 2, "where": mask},
        {"initial": 2, "where": mask[0], "axis": 1, "keepdims": True},
        {"initial": 2, "where": [0, 1, 1, 0], "axis": 0},
        {"where": mask, "axis": 0},
        {"where": mask[:2], "initial": 1},
        {"where": np.zeros((2, 3, 4), bool), "initial": 1},
    ):
        assert_agrees(lambda t, options=options: f(t, **options), x, what=f"{name} with {options}")
    empty = np.zeros((0, 3), dtype)
    assert_agrees(lambda t: f(t, axis=0, initial=2), empty)
    assert_agrees(lambda t: f(t, axis=0), empty)


@pytest.mark.parametrize("name", ["any", "all"])
def test_where_of_truth_values(name: str) -> None:
    x = np.array([[0.0, 1.0], [NAN, 0.0]])
    for mask in (x > 0.5, [True, False], False):
        assert_agrees(lambda t, mask=mask: getattr(np, name)(t, axis=0, where=mask), x)


@pytest.mark.parametrize("dtype", ["i1", "f4", "f8", "c16"])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_asked_for_dtypes(name: str, dtype: str, rng: np.random.Generator) -> None:
    for own in ("i1", "f4", "f8"):
        x = array_of(rng, own, (2, 3))
        assert_agrees(lambda t: getattr(np, name)(t, axis=1, dtype=dtype), x, what=f"{own} as {dtype}")


@pytest.mark.parametrize(
    "ufunc",
    [
        np.add,
        np.multiply,
        np.maximum,
        np.minimum,
        np.fmax,
        np.fmin,
        np.logical_and,
        np.logical_or,
        np.logaddexp,
    ],
)
def test_reduce_methods_of_ufuncs(ufunc: np.ufunc, rng: np.random.Generator) -> None:
    x = array_of(rng, "f8", (3, 4))
    for options in ({}, {"axis": 1}, {"axis": None}, {"axis": (0,), "keepdims": True}, {"initial": 1}):
        if ufunc is np.logaddexp and options.get("axis", 0) is None:
            continue  # NumPy does not reorder it
        assert_agrees(lambda t, options=options: ufunc.reduce(t, **options), x, what=f"{ufunc} {options}")


def test_summation_is_pairwise() -> None:
    """As accurate as NumPy's: a running sum of these would be off by a hundred times as much."""
    x = np.full(1 << 20, 0.1, np.float32)
    assert traced(np.sum, x) == np.sum(x)


def test_result_of_a_number_is_an_array_value() -> None:
    """NumPy's sum of a Python float is a float64, which promotes a float32; a Python float would not."""
    assert (
        fg.make_program(lambda s, x: np.sum(s) * x)(1.0, np.ones(2, np.float32)).outputs[0].aval.dtype == "f8"
    )


def test_sum_of_a_number_is_not_the_number() -> None:
    """Writing into the one must not show in the other."""

    def f(x: Any) -> Any:
        total = np.sum(x[0])
        total += 5.0
        return x[0] * total

    assert fg.grad(f)(np.array([2.0]))[0] == 9.0


def test_lists_of_traced_numbers_are_arrays() -> None:
    def f(x: Any) -> Any:
        return fnp.max([x[0], x[1]]) + fnp.sum([x[0], 3.0])

    np.testing.assert_array_equal(fg.grad(f)(np.array([1.0, 2.0])), [1.0, 1.0])


def test_out_is_written_where_it_is_traced_and_refused_where_not() -> None:
    def f(x: Any) -> Any:
        y = fnp.zeros(2) * x[0]
        assert np.sum(x, axis=0, out=y) is y
        return y[1]

    np.testing.assert_array_equal(fg.grad(f)(np.ones((3, 2))), [[0.0, 1.0]] * 3)
    with pytest.raises(TracerAssignmentError, match=r"np\.sum with out="):
        fg.grad(lambda x: np.sum(x, out=OUTSIDE))(np.ones(2))
    np.testing.assert_array_equal(fg.grad(lambda x: np.sum(x, out=np.zeros(())))(np.ones(2)), 1.0)


# -- errors -------------------------------------------------------------------------------------------------


def test_no_identity_is_said_in_numpys_words_and_ours() -> None:
    with pytest.raises(
        ValueError, match="zero-size array to reduction operation maximum which has no identity"
    ) as caught:
        fg.grad(lambda x: x * np.max(x))(np.zeros(0))
    assert isinstance(caught.value, ShapeError)
    assert "np.max(x)" in str(caught.value), "the user's line"
    assert "initial=" in str(caught.value), "the next step"


def test_wrong_axes_are_numpys_errors_with_the_users_line() -> None:
    for axis, words in (
        (2, "axis 2 is out of bounds for array of dimension 1"),
        ((0, 0), "duplicate value in 'axis'"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            fg.grad(lambda x, axis=axis: np.sum(x, axis=axis))(np.ones(2))
        assert "np.sum(x, axis=axis)" in str(caught.value)
    with pytest.raises(np.exceptions.AxisError):
        fg.grad(lambda x: x.mean(axis=3))(np.ones(2))


# -- derivatives --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "ptp"])
@pytest.mark.parametrize("axis", [None, 0, (0, 2), ()])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_derivatives(name: str, axis: Any, dtype: Any, rng: np.random.Generator) -> None:
    x = rng.permutation(12).reshape(2, 3, 2).astype(dtype) / 4
    if dtype is np.complex128:
        x = x + 1j * rng.standard_normal(x.shape)
    check_grads(lambda t: getattr(np, name)(t, axis=axis, keepdims=True), (x,))


@pytest.mark.parametrize(
    ("x", "gradient"),
    [
        ([2.0, 3.0, 5.0], [15.0, 10.0, 6.0]),
        ([2.0, 0.0, 5.0], [0.0, 10.0, 0.0]),
        ([0.0, 0.0, 5.0], [0.0, 0.0, 0.0]),
        ([-0.0], [1.0]),
        ([], []),
        ([1e200, 1e-200, 1e200], [1.0, INF, 1.0]),
        ([0.0, INF], [INF, 0.0]),
    ],
)
def test_gradient_of_a_product(x: Any, gradient: Any) -> None:
    np.testing.assert_array_equal(fg.grad(np.prod)(np.array(x)), gradient)


def test_second_derivatives_of_a_product_with_zeros() -> None:
    np.testing.assert_array_equal(
        fg.hessian(np.prod)(np.array([0.0, 0.0, 5.0])), [[0.0, 5.0, 0.0], [5.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    )
    third = fg.jacfwd(fg.hessian(np.prod))(np.zeros(3))
    assert third[0, 1, 2] == third[2, 1, 0] == 1.0
    assert third[0, 0, 1] == third[1, 1, 1] == 0.0


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)])
def test_product_with_zeros_in_several_axes(axis: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal((2, 3, 2))
    x[0, 1, 0] = x[1, 1, 1] = 0.0
    check_grads(lambda t: np.prod(t, axis=axis), (x,), order=3)


@pytest.mark.parametrize(
    ("f", "x", "gradient"),
    [
        (np.max, [3.0, 1.0, 3.0], [0.5, 0.0, 0.5]),
        (np.min, [3.0, 1.0, 1.0], [0.0, 0.5, 0.5]),
        (np.max, [2.0], [1.0]),
        (np.max, [0.0, -0.0], [0.5, 0.5]),
        (np.max, [INF, 1.0, INF], [0.5, 0.0, 0.5]),
        (np.max, [-INF, -INF], [0.5, 0.5]),
        (np.max, [1.0, NAN, 2.0], [0.0, 1.0, 0.0]),
        (np.min, [NAN, NAN, 2.0], [0.5, 0.5, 0.0]),
        (np.ptp, [2.0, 2.0], [0.0, 0.0]),
        (np.maximum.reduce, [1.0, 1.0], [0.5, 0.5]),
        (lambda x: np.max(x, initial=0.0), [-1.0, -2.0], [0.0, 0.0]),
        (lambda x: np.max(x, initial=0.0), [0.0, -2.0], [0.5, 0.0]),
        (lambda x: np.max(x, initial=0.0, where=[True, False]), [1.0, 7.0], [1.0, 0.0]),
        (lambda x: np.max(x, initial=3.0), [], []),
    ],
)
def test_gradient_at_ties_and_infinities(f: Callable[[Any], Any], x: Any, gradient: Any) -> None:
    """Equal extremes share the derivative evenly; where the result is NaN, the NaN do."""
    np.testing.assert_array_equal(fg.grad(f)(np.array(x)), gradient)


def test_ties_of_complex_numbers() -> None:
    x = np.array([1 + 2j, 0.5, 1 + 2j])
    np.testing.assert_array_equal(fg.grad(np.max, holomorphic=True)(x), [0.5, 0.0, 0.5])


def test_what_is_not_the_extreme_leaks_nothing() -> None:
    """The logarithm has no derivative at zero, and its value is not chosen."""
    np.testing.assert_array_equal(fg.grad(lambda x: np.max(np.log(x)))(np.array([0.0, 2.0])), [0.0, 0.5])
    np.testing.assert_array_equal(
        fg.grad(lambda x: np.sum(np.log(x), where=x > 0))(np.array([0.0, 2.0])), [0.0, 0.5]
    )


def test_empty_arrays_have_empty_gradients() -> None:
    for f in (np.sum, np.prod, lambda x: np.sum(np.max(x, axis=1))):
        x = np.zeros((0, 3))
        value, gradient = fg.value_and_grad(f)(x)
        assert gradient.shape == (0, 3)
        assert value == f(x)


@pytest.mark.parametrize("f", [np.sum, np.prod, np.max, np.mean])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_are_their_own_reduction(f: Any, dtype: Any) -> None:
    value, gradient = fg.value_and_grad(f)(dtype(3.0))
    assert (value, gradient) == (3.0, 1.0)
    assert gradient.dtype == dtype


def test_gradients_keep_single_precision(rng: np.random.Generator) -> None:
    for f in (np.sum, np.prod, np.max, np.mean, np.var, np.std):
        for dtype in (np.float32, np.complex64):
            x = array_of(rng, dtype, (4,))
            gradient = fg.grad(lambda t, f=f: np.abs(f(t)))(x)
            assert gradient.dtype == dtype
            exact = fg.grad(lambda t, f=f: np.abs(f(t)))(x.astype(np.result_type(dtype, np.float64)))
            np.testing.assert_allclose(gradient, exact, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "ptp"])
def test_vmap_is_a_loop(name: str, rng: np.random.Generator) -> None:
    f = getattr(np, name)
    x = array_of(rng, "f8", (3, 2, 4))
    for axis in (None, 0, -1):
        wanted = [f(row, axis=axis) for row in x]
        np.testing.assert_allclose(fg.vmap(lambda t, axis=axis: f(t, axis=axis))(x), wanted)


def test_values_steer_branches() -> None:
    def f(x: Any) -> Any:
        return x[np.argmax(x)] ** 2 if np.any(x > 2.0) and not np.all(x > 2.0) else np.sum(x)

    np.testing.assert_array_equal(fg.grad(f)(np.array([1.0, 3.0])), [0.0, 6.0])
    np.testing.assert_array_equal(fg.grad(f)(np.array([1.0, 1.5])), [1.0, 1.0])
