"""Jacobians of what begins with a product: no product with the identity matrix is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg

RNG = np.random.default_rng(3)
A = RNG.normal(size=(7, 4))
B = RNG.normal(size=(4, 3, 2))
X = RNG.normal(size=4)


def loss(w: Any) -> Any:
    """Logistic regression, whose Hessian is Aᵀ D A."""
    return np.sum(np.logaddexp(0.0, A @ w)) + np.sum(w**2)


FUNCTIONS = [
    lambda x: A @ x,
    lambda x: x @ A.T,
    lambda x: np.tanh(A @ x) * np.sum(x),
    lambda x: np.einsum("ijk,i->jk", B, x),
    lambda x: np.sin(A @ x)[:4] + A[:4] @ (x * x),
    lambda x: (x @ x) * x + A[:4] @ x,
    lambda x: A[:4] @ (A[:4] @ x),
    fg.grad(loss),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_jacobians_are_those_of_differences(function: Any) -> None:
    h = 1e-6
    wanted = np.stack([(function(X + h * e) - function(X - h * e)) / (2 * h) for e in np.eye(4)], axis=-1)
    for jacobian in (fg.jacfwd(function), fg.jit(fg.jacfwd(function)), fg.jacrev(function)):
        np.testing.assert_allclose(jacobian(X), wanted, rtol=1e-6, atol=1e-7)


def products(program: Any) -> int:
    return sum(equation.primitive.name == "dot_general" for equation in program.equations)


def test_a_hessian_computes_two_products() -> None:
    assert products(fg.make_program(fg.hessian(loss))(X)) == 2  # A @ w, and Aᵀ (D A)


def test_infinite_elements_stay_where_they_are() -> None:
    matrix = A.copy()
    matrix[2, 1] = np.inf
    for jacobian in (fg.jacfwd(lambda x: matrix @ x), fg.jit(fg.jacfwd(lambda x: matrix @ x))):
        np.testing.assert_array_equal(jacobian(X), matrix)


def test_the_jacobian_is_no_view_of_the_matrix() -> None:
    matrix = A.copy()
    for jacobian in (fg.jacfwd(lambda x: matrix @ x), fg.jit(fg.jacfwd(lambda x: matrix @ x))):
        found = jacobian(X)
        assert not np.shares_memory(found, matrix)
        found[0, 0] = 17.0
        np.testing.assert_array_equal(matrix, A)
        np.testing.assert_array_equal(jacobian(X), A)


def test_a_matrix_that_is_an_argument_or_is_written_later() -> None:
    matrix = A.copy()
    jacobian = fg.jit(lambda m, x: fg.jacfwd(lambda y: m @ y)(x))
    np.testing.assert_array_equal(jacobian(matrix, X), A)
    plain = fg.jacfwd(lambda x: np.exp(matrix @ x))
    before = plain(X)
    matrix *= 2.0
    after = plain(X)
    np.testing.assert_allclose(before, np.exp(A @ X)[:, None] * A)
    np.testing.assert_allclose(after, 2.0 * np.exp(2.0 * A @ X)[:, None] * A)


def test_they_can_be_differentiated_and_batched() -> None:
    third = fg.jacfwd(fg.hessian(loss))(X)
    np.testing.assert_allclose(third, fg.jacrev(fg.jacfwd(fg.jacrev(loss)))(X))
    batch = np.stack([X, 2.0 * X])
    np.testing.assert_allclose(
        fg.vmap(fg.hessian(loss))(batch), np.stack([fg.hessian(loss)(x) for x in batch])
    )
