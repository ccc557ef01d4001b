"""`jacfwd`, `jacrev`, `hessian` and `hvp`: equal to each other and to closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad, hessian, hvp, jacfwd, jacobian, jacrev, tree
from funcgrad.errors import ArgnumsError, NotDifferentiableError

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
X = np.array([0.5, -1.0, 2.0])

both = pytest.mark.parametrize("jac", [jacfwd, jacrev, jacobian])


@both
def test_jacobian_of_a_linear_map_is_its_matrix(jac: Any) -> None:
    np.testing.assert_allclose(jac(lambda x: A @ x)(X), A)


@both
def test_shape_is_output_then_input(jac: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)
    found = jac(lambda x: np.outer(np.sum(x, axis=1), np.array([1.0, 2.0])))(x)
    assert found.shape == (2, 2, 2, 3)
    assert jac(np.sum)(x).shape == (2, 3)
    assert jac(lambda s: s * x)(2.0).shape == (2, 3)
    assert jac(np.sin)(1.0).shape == ()


@both
def test_jacobian_of_a_scalar_function_is_its_gradient(jac: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * x**2)

    np.testing.assert_allclose(jac(f)(X), grad(f)(X))


@both
def test_jacobian_has_the_structure_of_output_then_input(jac: Any) -> None:
    def f(p: Any) -> Any:
        return {"y": p["w"] * p["b"], "z": (np.sum(p["w"]),)}

    p = {"w": X, "b": 2.0}
    found = jac(f)(p)
    np.testing.assert_allclose(found["y"]["w"], 2.0 * np.eye(3))
    np.testing.assert_allclose(found["y"]["b"], X)
    np.testing.assert_allclose(found["z"][0]["w"], np.ones(3))
    np.testing.assert_allclose(found["z"][0]["b"], 0.0)


@both
def test_argnums(jac: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return x * y

    y = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(jac(f, 1)(X, y), np.diag(X))
    np.testing.assert_allclose(jac(f, -1)(X, y), np.diag(X))
    by_x, by_y = jac(f, argnums=(0, 1))(X, y)
    np.testing.assert_allclose(by_x, np.diag(y))
    np.testing.assert_allclose(by_y, np.diag(X))
    with pytest.raises(ArgnumsError):
        jac(f, 2)(X, y)


@both
def test_aux(jac: Any) -> None:
    found, aux = jac(lambda x: (x**2, {"x": x, "n": 3}), has_aux=True)(X)
    np.testing.assert_allclose(found, np.diag(2.0 * X))
    np.testing.assert_array_equal(aux["x"], X)
    assert aux["n"] == 3


@both
def test_keyword_arguments(jac: Any) -> None:
    np.testing.assert_allclose(jac(lambda x, scale: scale * x)(X, scale=3.0), 3.0 * np.eye(3))


@both
def test_dtype_is_kept(jac: Any) -> None:
    assert jac(np.sin)(X.astype(np.float32)).dtype == np.float32


@both
def test_empty_arguments_and_results(jac: Any) -> None:
    assert jac(np.sin)(np.zeros(0)).shape == (0, 0)
    assert jac(lambda x: x[:0])(X).shape == (0, 3)


@both
def test_integer_arguments_are_refused(jac: Any) -> None:
    with pytest.raises(NotDifferentiableError, match="integer"):
        jac(np.sin)(np.arange(3))


def test_forward_and_reverse_agree_on_an_ordinary_function() -> None:
    def f(x: Any) -> Any:
        h = np.tanh(A @ x)
        return np.concatenate([h, np.sum(h) * x[::-1]])

    np.testing.assert_allclose(jacfwd(f)(X), jacrev(f)(X), rtol=1e-12)


def test_holomorphic_jacobians() -> None:
    z = np.array([1.0 + 2.0j, 0.5 - 1.0j])

    def f(z: Any) -> Any:
        return np.stack([z[0] * z[1], np.exp(z[0])])

    expected = np.array([[z[1], z[0]], [np.exp(z[0]), 0.0]])
    np.testing.assert_allclose(jacfwd(f, holomorphic=True)(z), expected)
    np.testing.assert_allclose(jacrev(f, holomorphic=True)(z), expected)
    with pytest.raises(NotDifferentiableError, match="complex"):
        jacfwd(f, holomorphic=True)(X)
    with pytest.raises(NotDifferentiableError, match="complex"):
        jacrev(f, holomorphic=True)(X)


def both_ways(f: Any, x: Any, **options: Any) -> Any:
    forward, reverse = jacfwd(f, **options)(x), jacrev(f, **options)(x)
    np.testing.assert_allclose(forward, reverse, rtol=1e-12)
    assert forward.dtype == reverse.dtype
    return reverse


def test_complex_results_of_real_arguments_keep_their_imaginary_parts() -> None:
    np.testing.assert_allclose(both_ways(lambda x: np.sin(x) * (1 + 2j), 1.0), np.cos(1.0) * (1 + 2j))

    def f(x: Any) -> Any:
        return np.exp(1j * A[:, : x.size] @ x)

    step = 1e-6
    columns = [(f(X + step * e) - f(X - step * e)) / (2 * step) for e in np.eye(X.size)]
    np.testing.assert_allclose(both_ways(f, X), np.stack(columns, -1), rtol=1e-7)
    np.testing.assert_allclose(jacobian(f)(X), both_ways(f, X))
    assert jacrev(f)(X.astype(np.float32)).dtype == np.complex64


def test_real_results_of_complex_arguments_are_as_grad_has_them() -> None:
    z = np.array([1.0 + 2.0j, 0.5 - 1.0j])
    np.testing.assert_allclose(both_ways(lambda z: np.abs(z) ** 2, 1 + 2j), 2 - 4j)
    found = both_ways(lambda z: np.stack([np.sum(np.abs(z) ** 2), np.imag(z[0] * z[1])]), z)
    np.testing.assert_allclose(found[1], grad(lambda z: np.imag(z[0] * z[1]))(z))
    np.testing.assert_allclose(found[0], 2 * np.conj(z))


def test_real_and_complex_leaves_together() -> None:
    def f(args: Any) -> Any:
        return {"r": args["x"] ** 2, "s": np.real(args["z"]) * args["x"]}

    args = {"x": np.array([1.0, 2.0]), "z": np.array([1.0j, 2.0 + 1.0j])}
    forward, reverse = jacfwd(f)(args), jacrev(f)(args)
    for a, b in zip(tree.leaves(forward), tree.leaves(reverse), strict=True):
        np.testing.assert_allclose(a, b)
    np.testing.assert_allclose(forward["s"]["z"], np.diag(args["x"]))

    def g(x: Any) -> Any:
        return (x * 1j, x**2)

    for jac in (jacfwd, jacrev):
        one, two = jac(g)(X)
        np.testing.assert_allclose(one, 1j * np.eye(X.size))
        np.testing.assert_allclose(two, np.diag(2 * X))


@pytest.mark.parametrize("transform", [jacfwd, jacrev, jacobian])
def test_complex_by_complex_needs_holomorphic(transform: Any) -> None:
    for f in (np.conj, lambda z: z**2):
        with pytest.raises(NotDifferentiableError, match="holomorphic=True if the function"):
            transform(f)(1 + 2j)
    np.testing.assert_allclose(transform(lambda z: z**2, holomorphic=True)(1 + 2j), 2 + 4j)
    with pytest.raises(NotDifferentiableError, match="complex results"):
        transform(np.abs, holomorphic=True)(1 + 2j)


def test_complex_hessians() -> None:
    np.testing.assert_allclose(hessian(lambda x: np.sin(x) * (1 + 2j))(1.0), -np.sin(1.0) * (1 + 2j))
    np.testing.assert_allclose(hessian(lambda z: z**3, holomorphic=True)(1 + 2j), 6 + 12j)
    with pytest.raises(NotDifferentiableError, match="hessian by complex arguments"):
        hessian(lambda z: np.abs(z) ** 2)(1 + 2j)


# -- second derivatives ------------------------------------------------------------------------


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def test_hessian_is_scipys() -> None:
    from scipy.optimize import rosen_hess

    np.testing.assert_allclose(hessian(rosenbrock)(X), rosen_hess(X))


def test_every_way_to_the_hessian_agrees() -> None:
    expected = hessian(rosenbrock)(X)
    for outer in (jacfwd, jacrev):
        for inner in (jacfwd, jacrev, grad):
            np.testing.assert_allclose(outer(inner(rosenbrock))(X), expected, rtol=1e-12, atol=1e-12)


def test_hessian_of_a_quadratic_form() -> None:
    Q = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 1.0]])
    np.testing.assert_allclose(hessian(lambda x: 0.5 * x @ Q @ x)(X), Q)


def test_hessian_of_pytrees_is_a_block_structure() -> None:
    def f(p: Any) -> Any:
        return np.sum(p["w"] ** 2) * p["b"]

    found = hessian(f)({"w": X, "b": 2.0})
    np.testing.assert_allclose(found["w"]["w"], 4.0 * np.eye(3))
    np.testing.assert_allclose(found["w"]["b"], 2.0 * X)
    np.testing.assert_allclose(found["b"]["w"], 2.0 * X)
    np.testing.assert_allclose(found["b"]["b"], 0.0)


def test_hessian_by_several_arguments() -> None:
    (xx, xy), (yx, yy) = hessian(lambda x, y: x**2 * y, argnums=(0, 1))(3.0, 5.0)
    assert (xx, xy, yx, yy) == (10.0, 6.0, 6.0, 0.0)


def test_hessian_with_aux() -> None:
    found, aux = hessian(lambda x: (np.sum(x**3), x[0]), has_aux=True)(X)
    np.testing.assert_allclose(found, np.diag(6.0 * X))
    assert aux == X[0]


def test_hessian_of_a_vector_function() -> None:
    found = hessian(lambda x: x**3)(X)
    assert found.shape == (3, 3, 3)
    for i in range(3):
        np.testing.assert_allclose(found[i], 6.0 * X[i] * np.eye(3)[i][:, None] * np.eye(3)[i])


def test_hvp_is_the_hessian_times_a_vector() -> None:
    v = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(hvp(rosenbrock, (X,), (v,)), hessian(rosenbrock)(X) @ v)
    found = hvp(lambda x, y: np.sum(x * y**2), (X, 2.0 * X), (v, np.zeros(3)))
    np.testing.assert_allclose(found[0], np.zeros(3))
    np.testing.assert_allclose(found[1], 4.0 * X * v)


def test_hvp_of_pytrees() -> None:
    found = hvp(lambda p: p["a"] ** 2 * p["b"], ({"a": 3.0, "b": 5.0},), ({"a": 1.0, "b": 0.0},))
    assert found == {"a": 10.0, "b": 6.0}


def test_third_derivative_tensor() -> None:
    found = jacfwd(jacfwd(jacrev(np.prod)))(X)
    assert found.shape == (3, 3, 3)
    assert found[0, 1, 2] == 1.0
    assert found[0, 0, 1] == 0.0
