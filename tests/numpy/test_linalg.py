"""Norms, powers and chains of matrices: values are NumPy's, and gradients exist at the corners of a norm."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import numpy as fnp
from funcgrad.errors import ShapeError, UnsupportedFunctionError

Shape = tuple[int, ...]


def draw(rng: np.random.Generator, shape: Shape, dtype: Any = np.float64) -> Any:
    """Normal values; integers from -3 to 3."""
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return np.asarray(rng.integers(-3, 4, shape) if np.dtype(dtype).kind == "i" else x).astype(dtype)


def recorded(f: Callable[..., Any], *args: Any) -> Any:
    """The result of the recorded Program of `f`."""
    (out,) = fg.make_program(f)(*args)(*args)
    return out


def assert_like_numpy(f: Callable[..., Any], *args: Any) -> None:
    """Recorded, `f` gives the value, shape and dtype that NumPy gives."""
    with np.errstate(all="ignore"):
        expected = np.asarray(f(*args))
    found = np.asarray(recorded(f, *args))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-5 if expected.itemsize < 8 else 1e-12)


# -- norms ---------------------------------------------------------------------------------------------------


VECTOR_ORDERS: list[Any] = [None, 2, 1, math.inf, -math.inf, 0, 3, 2.5, 0.5, -1, -2.5, np.float64(3.0)]
MATRIX_ORDERS: list[Any] = [None, "fro", "f", 1, -1, math.inf, -math.inf, 2, -2, "nuc"]
DTYPES = [np.float64, np.float32, np.complex128, np.complex64, np.int64, np.bool_]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", VECTOR_ORDERS, ids=str)
def test_norms_of_vectors(order: Any, dtype: Any, rng: np.random.Generator) -> None:
    x = draw(rng, (3, 4), dtype)
    x[0, 0] = 0
    for keepdims in (False, True):
        assert_like_numpy(lambda x, k=keepdims: np.linalg.norm(x[0], order, keepdims=k), x)
        for axis in (0, 1, -1, (1,)):
            assert_like_numpy(lambda x, k=keepdims, a=axis: np.linalg.norm(x, order, a, keepdims=k), x)
            assert_like_numpy(
                lambda x, k=keepdims, a=axis: np.linalg.vector_norm(x, axis=a, keepdims=k, ord=order or 2), x
            )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", MATRIX_ORDERS, ids=str)
def test_norms_of_matrices(order: Any, dtype: Any, rng: np.random.Generator) -> None:
    x = draw(rng, (2, 3, 4), dtype)
    for keepdims in (False, True):
        assert_like_numpy(lambda x, k=keepdims: np.linalg.norm(x[0], order, keepdims=k), x)
        for axis in ((0, 1), (1, 0), (-1, 0), (2, 1)):
            assert_like_numpy(lambda x, k=keepdims, a=axis: np.linalg.norm(x, order, a, keepdims=k), x)
        assert_like_numpy(lambda x, k=keepdims: np.linalg.matrix_norm(x, keepdims=k, ord=order or "fro"), x)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4), (0,), (2, 0)])
def test_norm_of_all_elements(shape: Shape, rng: np.random.Generator) -> None:
    x = draw(rng, shape)
    assert_like_numpy(np.linalg.norm, x)
    assert_like_numpy(lambda x: np.linalg.norm(x, keepdims=True), x)
    assert_like_numpy(np.linalg.vector_norm, x)
    assert_like_numpy(lambda x: np.linalg.vector_norm(x, ord=1, keepdims=True), x)
    np.testing.assert_allclose(fnp.linalg.norm(x), np.linalg.norm(x))


def test_vector_norm_over_several_axes(rng: np.random.Generator) -> None:
    x = draw(rng, (2, 3, 4))
    for order in (1, 2, 3, math.inf, -math.inf, 0):
        assert_like_numpy(lambda x, o=order: np.linalg.vector_norm(x, axis=(0, 2), ord=o), x)
        assert_like_numpy(lambda x, o=order: np.linalg.vector_norm(x, axis=(0, -1), ord=o, keepdims=True), x)


@pytest.mark.parametrize("order", [math.inf, 1, 2, 3, 0, -1])
def test_norms_of_nothing(order: Any) -> None:
    assert_like_numpy(lambda x: np.linalg.norm(x, order, axis=1), np.ones((3, 0)))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("order", VECTOR_ORDERS, ids=str)
def test_derivatives_of_vector_norms(order: Any, dtype: Any, rng: np.random.Generator) -> None:
    if order == 0:
        pytest.skip("a number of elements has no derivative but zero")
    x = draw(rng, (3, 4), dtype)
    fg.testing.check_grads(lambda x: np.linalg.norm(x[0], order), (x,), order=2)
    fg.testing.check_grads(lambda x: np.linalg.norm(x, order, axis=0, keepdims=True), (x,), order=2)
    fg.testing.check_vmap(lambda x: np.linalg.norm(x, order), (x,))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("order", MATRIX_ORDERS, ids=str)
def test_derivatives_of_matrix_norms(order: Any, dtype: Any, rng: np.random.Generator) -> None:
    x = draw(rng, (2, 3, 4), dtype)
    fg.testing.check_grads(lambda x: np.linalg.norm(x[0], order), (x,), order=2)
    fg.testing.check_grads(lambda x: np.linalg.norm(x, order, (2, 0)), (x,), order=1)
    fg.testing.check_vmap(lambda x: np.linalg.norm(x, order), (x,))


# -- where a norm has no derivative --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.complex64])
@pytest.mark.parametrize("order", [None, 2, 1, math.inf, 3, 2.5, 1.5, 0.5, -1], ids=str)
def test_gradient_at_zero_is_zero(order: Any, dtype: Any) -> None:
    zero = np.zeros(3, dtype)
    found = fg.grad(lambda x: np.linalg.norm(x, order))(zero)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, zero)
    _, tangent = fg.jvp(lambda x: np.linalg.norm(x, order), (zero,), (np.ones(3, dtype),))
    assert tangent == 0.0


@pytest.mark.parametrize("order", [None, "fro", 1, -1, math.inf, -math.inf, 2, "nuc"], ids=str)
def test_gradient_at_the_zero_matrix_is_zero(order: Any) -> None:
    np.testing.assert_array_equal(fg.grad(lambda x: np.linalg.norm(x, order))(np.zeros((2, 3))), 0.0)


@pytest.mark.parametrize("order", [None, 3, 1.5], ids=str)
def test_second_derivative_at_zero_is_zero(order: Any) -> None:
    def f(x: Any) -> Any:
        return np.linalg.norm(x, order)

    zero = np.zeros(2)
    for hessian in (fg.hessian(f), fg.jacrev(fg.jacrev(f)), fg.jacfwd(fg.jacfwd(f)), fg.jacrev(fg.jacfwd(f))):
        np.testing.assert_array_equal(hessian(zero), np.zeros((2, 2)))


def test_rows_that_are_zero_leave_the_others_alone() -> None:
    x = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.0]])
    expected = np.array([[0.6, 0.8], [0.0, 0.0], [0.0, 1.0]])
    for order in (None, 2):
        found = fg.grad(lambda x, o=order: np.sum(np.linalg.norm(x, o, axis=1)))(x)
        np.testing.assert_allclose(found, expected, rtol=1e-15)
    found = fg.vmap(fg.grad(np.linalg.norm))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    third = fg.grad(lambda x: np.sum(np.linalg.norm(x, 3, axis=1)))(x)
    np.testing.assert_allclose(third[0], np.array([9.0, 16.0]) / (27.0 + 64.0) ** (2 / 3))
    np.testing.assert_allclose(third[1:], expected[1:])


def test_elements_that_are_zero_have_zero_gradient() -> None:
    x = np.array([0.0, 2.0])
    for order in (1, 1.5, 0.5, 3, -1):
        found = fg.grad(lambda x, o=order: np.linalg.norm(x, o))(x)
        np.testing.assert_allclose(found, [0.0, 1.0 if order > 0 else 0.0], atol=1e-15)


def test_norm_of_a_large_vector_overflows_as_in_numpy() -> None:
    with np.errstate(over="ignore"):
        assert recorded(np.linalg.norm, np.array([1e200, 1e200])) == np.linalg.norm([1e200, 1e200]) == np.inf


def test_norm_of_a_difference_that_vanishes() -> None:
    """The usual way to meet the corner: distances of points that coincide."""
    points = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]])

    def total(points: Any) -> Any:
        return np.sum(np.linalg.norm(points[:, None] - points[None, :], axis=-1))

    expected = np.array([[-1.2, -1.6], [-1.2, -1.6], [2.4, 3.2]])
    np.testing.assert_allclose(fg.grad(total)(points), expected, rtol=1e-14)


# -- refusals of norms ---------------------------------------------------------------------------------------


REFUSED: list[tuple[Callable[..., Any], Shape, str]] = [
    (lambda x: np.linalg.norm(x, "fro"), (3,), "ord='fro' is not an order for vectors"),
    (lambda x: np.linalg.norm(x, 3), (3, 3), "ord=3 is not an order for matrices"),
    (lambda x: np.linalg.norm(x, 1), (3, 3, 3), "norm of f64[3,3,3] over 3 axes"),
    (lambda x: np.linalg.norm(x, axis=(0, 1, 2)), (3, 3, 3), "needs one axis (vectors) or two (matrices)"),
    (lambda x: np.linalg.norm(x, axis=2), (3, 3), "axis 2 is out of bounds"),
    (lambda x: np.linalg.norm(x, axis=(0, 0)), (3, 3), "are not distinct"),
    (lambda x: np.linalg.matrix_power(x, 2), (2, 3), "needs square matrices"),
    (lambda x: np.linalg.matrix_power(x, 2), (3,), "needs square matrices"),
    (lambda x: np.linalg.multi_dot([x]), (3, 3), "at least two arrays"),
    (lambda x: np.linalg.multi_dot([x, x, x]), (2, 3), "the inner sizes 3 and 2 differ"),
    (lambda x: np.linalg.multi_dot([x, x[0], x]), (3, 3), "array 1 is f64[3]"),
    (np.linalg.matrix_transpose, (3,), "at least two axes"),
]


@pytest.mark.parametrize(
    ("f", "shape", "words"), REFUSED, ids=lambda value: "" if callable(value) else str(value)
)
def test_refusals_say_what_was_seen(f: Callable[..., Any], shape: Shape, words: str) -> None:
    with pytest.raises(ShapeError) as caught:
        fg.make_program(f)(np.ones(shape))
    assert words in str(caught.value)
    with pytest.raises((ValueError, np.linalg.LinAlgError)):
        f(np.ones(shape))


def test_a_traced_order_is_refused() -> None:
    with pytest.raises(UnsupportedFunctionError, match="traced ord"):
        fg.grad(lambda p: np.linalg.norm(np.ones(3) * p, p))(3.0)


# -- powers and chains ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 10, np.int64(3), -1, -2, -3])
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (0, 0)])
def test_matrix_power(n: int, shape: Shape, rng: np.random.Generator) -> None:
    x = draw(rng, shape)
    assert_like_numpy(lambda x: np.linalg.matrix_power(x, n), x)
    assert_like_numpy(
        lambda x: np.linalg.matrix_power(x, n), draw(rng, shape, np.int64) + 9 * np.eye(shape[-1], dtype=int)
    )
    if n < 6:
        fg.testing.check_grads(lambda x: np.linalg.matrix_power(x, n), (x,))
        fg.testing.check_vmap(lambda x: np.linalg.matrix_power(x, n), (draw(rng, (2, *shape)),))


def test_matrix_power_refuses_a_fraction() -> None:
    with pytest.raises(TypeError):
        fg.grad(lambda x: np.sum(np.linalg.matrix_power(x, 2.0)))(np.eye(2))


CHAINS: list[list[Shape]] = [
    [(2, 3), (3, 4)],
    [(2, 3), (3, 4), (4, 5)],
    [(3,), (3, 4), (4, 5)],
    [(2, 3), (3, 4), (4,)],
    [(3,), (3, 4), (4,)],
    [(3,), (3,)],
    [(2, 9), (9, 9), (9, 3), (3, 8), (8, 2)],
]


@pytest.mark.parametrize("shapes", CHAINS, ids=str)
def test_multi_dot(shapes: list[Shape], rng: np.random.Generator) -> None:
    def f(*arrays: Any) -> Any:
        return np.linalg.multi_dot(arrays)

    arrays = [draw(rng, s) for s in shapes]
    assert_like_numpy(f, *arrays)
    assert_like_numpy(f, *[draw(rng, s, np.float32) for s in shapes])
    fg.testing.check_grads(f, tuple(arrays), order=1)
    np.testing.assert_allclose(fnp.linalg.multi_dot(arrays), np.linalg.multi_dot(arrays))


def test_multi_dot_takes_the_cheap_order() -> None:
    x, y, z = np.ones((2, 50)), np.ones((50, 50)), np.ones(50)
    program = fg.make_program(lambda x, y, z: np.linalg.multi_dot([x, y, z]))(x, y, z)
    assert [e.outputs[0].aval.shape for e in program.equations] == [(50,), (2,)]


def test_other_names(rng: np.random.Generator) -> None:
    x, y = draw(rng, (2, 3, 3)), draw(rng, (2, 3, 3))
    assert_like_numpy(np.linalg.matrix_transpose, x)
    assert_like_numpy(lambda x: np.linalg.trace(x, offset=1), x)
    assert_like_numpy(lambda x: np.linalg.diagonal(x, offset=-1), x)
    assert_like_numpy(lambda x, y: np.linalg.tensordot(x, y, axes=((0, 1), (0, 2))), x, y)
    for name in fnp.linalg.__all__:
        assert hasattr(np.linalg, name)


@pytest.mark.peers("jax")
def test_gradients_of_norms_are_those_of_jax(rng: np.random.Generator) -> None:
    import jax
    import jax.numpy as jnp

    for order, dtype in ((None, np.complex128), (1, np.float64), (3, np.complex128), (math.inf, np.float64)):
        x = draw(rng, (4,), dtype)
        expected = jax.grad(lambda x, o=order: jnp.linalg.norm(x, o))(x)
        found = fg.grad(lambda x, o=order: np.linalg.norm(x, o))(x)
        np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-12, err_msg=str(order))
