"""What NumPy would raise inside of the user's ``try`` is raised there, where values are known."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

BAD = np.array([[1.0, 2.0], [2.0, 1.0]])
GOOD = np.array([[2.0, 0.5], [0.5, 1.0]])
SINGULAR = np.ones((2, 2))

FAILING: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "cholesky": (np.linalg.cholesky, BAD),
    "inv": (np.linalg.inv, SINGULAR),
    "solve": (lambda a: np.linalg.solve(a, np.ones(2)), SINGULAR),
    "eigh": (lambda a: np.linalg.eigh(a)[0], np.full((2, 2), np.nan)),
    "svd": (lambda a: np.linalg.svd(a)[1], np.full((2, 2), np.nan)),
    "eigvalsh": (np.linalg.eigvalsh, np.full((2, 2), np.nan)),
    "matrix_power": (lambda a: np.linalg.matrix_power(a, -1), SINGULAR),
    "fg cholesky": (fg.scipy.linalg.cholesky, BAD),
}


def guarded(factor: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def loss(k: Any) -> Any:
        try:
            return np.sum(factor(k) ** 2)
        except np.linalg.LinAlgError:
            return 10.0 * np.sum(k)

    return loss


SLOPES: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "grad": fg.grad,
    "jacfwd": fg.jacfwd,
    "vjp": lambda f: lambda x: fg.vjp(f, x)[1](1.0)[0],
    "grad of grad": lambda f: fg.grad(lambda y: np.sum(fg.grad(f)(y) * y)),
}


@pytest.mark.parametrize("slope", SLOPES)
@pytest.mark.parametrize("name", FAILING)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_handler_is_reached(name: str, slope: str) -> None:
    factor, matrix = FAILING[name]
    if np.isnan(matrix).any():
        with suppress(np.linalg.LinAlgError):
            np.linalg.eigh(matrix)
            pytest.skip("this LAPACK finds eigenvalues of NaN")
    np.testing.assert_array_equal(SLOPES[slope](guarded(factor))(matrix), np.full((2, 2), 10.0))


@pytest.mark.parametrize("name", ["cholesky", "inv", "solve", "eigh", "svd"])
def test_the_other_way_is_right_as_well(name: str) -> None:
    factor, _ = FAILING[name]
    found = fg.grad(guarded(factor))(GOOD)
    np.testing.assert_allclose(found, fg.grad(lambda k: np.sum(factor(k) ** 2))(GOOD), rtol=1e-12)


def test_a_caller_of_the_function_may_handle_it() -> None:
    def factored(k: Any) -> Any:
        return np.sum(np.linalg.cholesky(k))

    def loss(k: Any) -> Any:
        try:
            value = factored(k)
        except np.linalg.LinAlgError:
            value = np.sum(k)
        return value

    np.testing.assert_array_equal(fg.grad(loss)(BAD), np.ones((2, 2)))


def test_without_a_handler_it_is_the_callers() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        fg.grad(lambda k: np.sum(np.linalg.cholesky(k)))(BAD)


def test_a_jump_of_the_objective_in_a_search() -> None:
    """A log-likelihood that is -1e10 where the covariance is not positive definite."""

    def log_likelihood(scale: Any) -> Any:
        covariance = scale * np.eye(2) + np.array([[0.0, 0.9], [0.9, 0.0]])
        try:
            factor = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:
            return -1e10
        return -np.sum(np.log(np.diag(factor)))

    assert fg.value_and_grad(lambda s: log_likelihood(s) + 0.0 * s)(0.5) == (-1e10, 0.0)
    assert fg.grad(log_likelihood)(2.0) < 0.0
