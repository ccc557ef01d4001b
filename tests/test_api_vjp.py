"""`vjp`, `jvp`, `linearize` and `linear_transpose`: their results, reuse and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, linear_transpose, linearize, vjp
from funcgrad.errors import DtypeError, FuncgradError, NotDifferentiableError, ShapeError, TreeError

X = np.array([0.1, 0.2, 0.3])


def several(x: Any, y: Any) -> Any:
    return {"product": x * y, "pair": (np.sin(x), np.sum(y))}


# -- vjp ---------------------------------------------------------------------------------------


def test_pullback_returns_a_tuple() -> None:
    out, pullback = vjp(np.sin, X)
    np.testing.assert_array_equal(out, np.sin(X))
    found = pullback(np.ones(3))
    assert type(found) is tuple
    np.testing.assert_array_equal(found[0], np.cos(X))


def test_pullback_of_several_results() -> None:
    y = np.array([1.0, 2.0, 3.0])
    out, pullback = vjp(several, X, y)
    assert sorted(out) == ["pair", "product"]
    bar = {"product": np.ones(3), "pair": (np.full(3, 2.0), 10.0)}
    x_bar, y_bar = pullback(bar)
    np.testing.assert_allclose(x_bar, y + 2.0 * np.cos(X))
    np.testing.assert_allclose(y_bar, X + 10.0)


def test_pullback_may_be_called_again() -> None:
    _, pullback = vjp(lambda x: x**2, X)
    first = pullback(np.ones(3))
    second = pullback(np.full(3, 2.0))
    again = pullback(np.ones(3))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(second[0], 2.0 * first[0])


def test_pullback_survives_writes_into_its_results_and_arguments() -> None:
    x = X.copy()
    _, pullback = vjp(lambda x: x**2, x)
    first = pullback(np.ones(3))[0]
    first[:] = 99.0
    x[:] = 99.0
    np.testing.assert_array_equal(pullback(np.ones(3))[0], 2.0 * X)


def test_pullback_is_linear() -> None:
    _, pullback = vjp(lambda x: np.tanh(x) * x, X)
    a, b = np.array([1.0, -2.0, 0.5]), np.array([3.0, 0.25, 1.0])
    np.testing.assert_allclose(pullback(2.0 * a + b)[0], 2.0 * pullback(a)[0] + pullback(b)[0])


def test_vjp_without_arguments_that_matter() -> None:
    out, pullback = vjp(lambda x: 3.0, X)
    assert out == 3.0
    np.testing.assert_array_equal(pullback(1.0)[0], np.zeros(3))


def test_vjp_of_no_arguments() -> None:
    out, pullback = vjp(lambda: 3.0)
    assert out == 3.0
    assert pullback(1.0) == ()


def test_vjp_with_aux() -> None:
    out, pullback, aux = vjp(lambda x: (np.sum(x), {"double": 2.0 * x, "n": 3}), X, has_aux=True)
    assert out == np.sum(X)
    np.testing.assert_array_equal(aux["double"], 2.0 * X)
    assert aux["n"] == 3
    np.testing.assert_array_equal(pullback(1.0)[0], np.ones(3))


def test_vjp_of_integer_results_and_arguments() -> None:
    def f(n: Any, x: Any) -> Any:
        return n * 2, n * x

    (doubled, scaled), pullback = vjp(f, 3, 2.0)
    assert (doubled, scaled) == (6, 6.0)
    _, x_bar = pullback((0, 1.0))
    assert x_bar == 3.0


def test_cotangent_takes_the_dtype_of_the_value() -> None:
    _, pullback = vjp(np.sin, X.astype(np.float32))
    assert pullback(np.ones(3))[0].dtype == np.float32
    assert vjp(np.sin, np.float32(1.0))[1](1)[0].dtype == np.float32


@pytest.mark.parametrize("bar", [(1.0, 2.0), [1.0], {"a": 1.0}])
def test_cotangent_of_another_structure_is_refused(bar: Any) -> None:
    _, pullback = vjp(np.sum, X)
    with pytest.raises(TreeError, match="cotangent"):
        pullback(bar)


def test_cotangent_of_another_shape_is_refused() -> None:
    _, pullback = vjp(np.sin, X)
    with pytest.raises(ShapeError, match="shape"):
        pullback(np.ones(2))
    with pytest.raises(ShapeError, match="shape"):
        pullback(1.0)


def test_complex_cotangent_of_a_real_value_is_refused() -> None:
    _, pullback = vjp(np.sin, 1.0)
    with pytest.raises(DtypeError, match="complex"):
        pullback(1.0j)


def test_pullback_takes_exactly_one_cotangent() -> None:
    _, pullback = vjp(np.sin, 1.0)
    with pytest.raises(TypeError):
        pullback(1.0, 2.0)


def test_vjp_is_not_conjugated() -> None:
    z, bar = np.complex128(1.0 + 2.0j), np.complex128(0.5 - 1.0j)
    _, pullback = vjp(lambda z: z * (3.0 + 1.0j), z)
    np.testing.assert_allclose(pullback(bar)[0], bar * (3.0 + 1.0j))


# -- jvp ---------------------------------------------------------------------------------------


def test_jvp_of_several_results() -> None:
    y = np.array([1.0, 2.0, 3.0])
    t = np.array([1.0, 0.0, -1.0])
    out, dot = jvp(several, (X, y), (t, np.zeros(3)))
    np.testing.assert_array_equal(out["product"], X * y)
    np.testing.assert_allclose(dot["product"], t * y)
    np.testing.assert_allclose(dot["pair"][0], np.cos(X) * t)
    assert dot["pair"][1] == 0.0


def test_jvp_takes_lists() -> None:
    out, dot = jvp(np.multiply, [2.0, 3.0], [1.0, 0.5])
    assert (out, dot) == (6.0, 4.0)


def test_jvp_with_aux() -> None:
    out, dot, aux = jvp(lambda x: (x**2, {"x": x}), (3.0,), (2.0,), has_aux=True)
    assert (out, dot, aux) == (9.0, 12.0, {"x": 3.0})


def test_jvp_of_a_constant_is_zero() -> None:
    out, dot = jvp(lambda x: np.ones(2), (1.0,), (1.0,))
    np.testing.assert_array_equal(out, np.ones(2))
    np.testing.assert_array_equal(dot, np.zeros(2))


def test_jvp_keeps_dtypes() -> None:
    out, dot = jvp(np.sin, (np.float32(1.0),), (1.0,))
    assert (out.dtype, dot.dtype) == (np.float32, np.float32)


def test_jvp_of_pytrees() -> None:
    out, dot = jvp(lambda p: p["w"] * p["b"], ({"w": 2.0, "b": 3.0},), ({"w": 1.0, "b": 10.0},))
    assert (out, dot) == (6.0, 23.0)


def test_jvp_refuses_what_does_not_match() -> None:
    with pytest.raises(TreeError, match="tangent"):
        jvp(np.sin, (1.0,), (1.0, 2.0))
    with pytest.raises(TreeError, match="tuple"):
        jvp(np.sin, 1.0, 1.0)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="tangent"):
        jvp(np.sin, (X,), (np.ones(2),))
    with pytest.raises(DtypeError, match="complex"):
        jvp(np.sin, (1.0,), (1.0j,))


def test_jvp_and_vjp_agree() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.exp(np.sin(x)) * x[::-1])

    t = np.array([1.0, -1.0, 2.0])
    np.testing.assert_allclose(jvp(f, (X,), (t,))[1], grad(f)(X) @ t)


# -- linearize ---------------------------------------------------------------------------------


def test_linearize_evaluates_once() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(x)
        return np.sin(x) * x

    out, push = linearize(f, X)
    np.testing.assert_array_equal(out, np.sin(X) * X)
    for t in np.eye(3):
        np.testing.assert_allclose(push(t), (np.cos(X) * X + np.sin(X)) * t)
    assert len(calls) == 1


def test_linearize_of_several_arguments_and_results() -> None:
    out, push = linearize(several, X, X)
    dot = push(np.ones(3), np.zeros(3))
    np.testing.assert_allclose(dot["product"], X)
    assert dot["pair"][1] == 0.0
    assert out["pair"][1] == np.sum(X)


def test_linearize_with_aux() -> None:
    out, push, aux = linearize(lambda x: (x**2, x + 1.0), 3.0, has_aux=True)
    assert (out, push(1.0), aux) == (9.0, 6.0, 4.0)


def test_linearize_refuses_what_does_not_match() -> None:
    _, push = linearize(np.sin, X)
    with pytest.raises(ShapeError):
        push(1.0)
    with pytest.raises(TreeError):
        push(X, X)


# -- linear_transpose --------------------------------------------------------------------------


def test_linear_transpose_of_a_matrix() -> None:
    A = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    transposed = linear_transpose(lambda x: A @ x, np.zeros(2))
    bar = np.array([1.0, -1.0, 0.5])
    (found,) = transposed(bar)
    np.testing.assert_allclose(found, A.T @ bar)


def test_linear_transpose_of_structures() -> None:
    def f(p: Any) -> Any:
        return 2.0 * p["a"] - p["b"], p["b"]

    transposed = linear_transpose(f, {"a": 0.0, "b": 0.0})
    assert transposed((3.0, 10.0)) == ({"a": 6.0, "b": 7.0},)


def test_linear_transpose_needs_only_shapes() -> None:
    import funcgrad as fg

    transposed = linear_transpose(lambda x: 3.0 * x, fg.ShapeDtypeStruct((2,), np.float32))
    (found,) = transposed(np.ones(2, np.float32))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [3.0, 3.0])


def test_linear_transpose_of_complex_is_not_conjugated() -> None:
    transposed = linear_transpose(lambda z: 2.0j * z, 1.0 + 0.0j)
    assert transposed(1.0 + 1.0j) == (2.0j * (1.0 + 1.0j),)


@pytest.mark.parametrize("f", [np.sin, lambda x: x * x, lambda x: x + 1.0, lambda x: 1.0 / x])
def test_linear_transpose_refuses_what_is_not_linear(f: Any) -> None:
    with pytest.raises((NotDifferentiableError, FuncgradError)):
        linear_transpose(f, 1.0)(1.0)


def test_linear_transpose_twice_is_the_function() -> None:
    def f(x: Any) -> Any:
        return np.cumsum(3.0 * x)

    def once(bar: Any) -> Any:
        return linear_transpose(f, X)(bar)[0]

    twice = linear_transpose(once, X)
    np.testing.assert_allclose(twice(X)[0], f(X))
