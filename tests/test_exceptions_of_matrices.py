"""A matrix without a factor takes the way of the user's handler, of a batch each its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from numpy.linalg import LinAlgError

import funcgrad as fg

Function = Callable[[Any], Any]
X = np.array([0.53, 0.21, 2.07, 1.0, -3.0])
"""The matrix of a number k is positive definite for ``|k| < 1``, and singular for 1."""


def matrix(k: Any) -> Any:
    return np.array([[1.0, k], [k, 1.0]])


def by_cholesky(k: Any) -> Any:
    try:
        return np.sum(np.linalg.cholesky(matrix(k)))
    except np.linalg.LinAlgError:
        return 1e10


def with_a_derivative_of_its_own(k: Any) -> Any:
    try:
        factor = np.linalg.cholesky(matrix(k))
    except (np.linalg.LinAlgError, FloatingPointError):
        return 10.0 * k * k
    return np.log(np.diagonal(factor)).sum() * k


def by_inv(k: Any) -> Any:
    try:
        return np.linalg.inv(matrix(k))[0, 1] * k
    except LinAlgError:
        return -k


def by_solve(k: Any) -> Any:
    try:
        return np.linalg.solve(matrix(k), np.array([1.0, k])).sum()
    except ValueError:
        return -k


def by_scipys_cholesky(k: Any) -> Any:
    try:
        return scipy.linalg.cholesky(matrix(k), lower=True).sum()
    except scipy.linalg.LinAlgError:
        return k * 3.0


def by_scipys_solve(k: Any) -> Any:
    try:
        return scipy.linalg.solve(matrix(k), np.array([1.0, k])).sum()
    except Exception:  # noqa: BLE001 - as people write it
        return k * 3.0


def by_factors(k: Any) -> Any:
    try:
        return scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix(k)), np.array([1.0, k])).sum()
    except scipy.linalg.LinAlgError:
        return k * 3.0


def of_what_should_be_positive(k: Any) -> Any:
    try:
        return scipy.linalg.solve(matrix(k), np.array([1.0, k]), assume_a="pos").sum()
    except np.linalg.LinAlgError:
        return k * 3.0


def inverse_of_what_should_be_positive(k: Any) -> Any:
    try:
        return scipy.linalg.inv(matrix(k) + 0.0)[0, 1] * k
    except np.linalg.LinAlgError:
        return k * 3.0


def of_a_pencil(k: Any) -> Any:
    try:
        return scipy.linalg.eigh(np.diag([1.0, 2.0]) * k, matrix(k), eigvals_only=True).sum()
    except np.linalg.LinAlgError:
        return k * 3.0


def with_an_upper_factor(k: Any) -> Any:
    with contextlib.suppress(np.linalg.LinAlgError):
        return scipy.linalg.cholesky(matrix(k)).sum()
    return k * 3.0


def with_more_and_more_on_the_diagonal(k: Any) -> Any:
    for added in (0.0, 0.5, 1.5, 4.0):
        try:
            return np.sum(np.linalg.cholesky(matrix(k) + added * np.eye(2)))
        except np.linalg.LinAlgError:
            pass
    return np.nan


def in_a_helper(k: Any) -> Any:
    def factor(k: Any) -> Any:
        return np.linalg.cholesky(matrix(k) * 2.0)

    try:
        return factor(k)[1, 1] * k
    except np.linalg.LinAlgError as error:
        return k * (2.0 if "definite" in str(error) else 3.0)
    finally:
        k = 0.0


def of_a_stack(k: Any) -> Any:
    try:
        return np.linalg.cholesky(np.stack([matrix(k), matrix(k * 0.4)])).sum()
    except np.linalg.LinAlgError:
        return k * 3.0


def of_complex_numbers(k: Any) -> Any:
    try:
        return np.linalg.cholesky(np.array([[1.0, 1j * k], [-1j * k, 1.0]]))[1, 1].real
    except np.linalg.LinAlgError:
        return k * 3.0


def of_single_precision(k: Any) -> Any:
    try:
        return np.linalg.inv(matrix(k).astype(np.float32)).sum() * 1.0
    except np.linalg.LinAlgError:
        return k * 3.0


def in_a_loop(k: Any) -> Any:
    total = 0.0
    for i in range(30):
        try:
            total = total + np.linalg.cholesky(matrix(k * i / 10.0))[1, 1]
        except np.linalg.LinAlgError:
            total = total + k * i
    return total


def around_a_loop(k: Any) -> Any:
    total = 0.0 * k
    try:
        for i in range(30):
            total = total + np.linalg.cholesky(matrix(k * i / 10.0))[1, 1]
    except np.linalg.LinAlgError:
        return total * 2.0
    return total


FUNCTIONS = [
    by_cholesky,
    with_a_derivative_of_its_own,
    by_inv,
    by_solve,
    by_scipys_cholesky,
    by_scipys_solve,
    by_factors,
    of_what_should_be_positive,
    inverse_of_what_should_be_positive,
    of_a_pencil,
    with_an_upper_factor,
    with_more_and_more_on_the_diagonal,
    in_a_helper,
    of_a_stack,
    of_complex_numbers,
    of_single_precision,
    in_a_loop,
    around_a_loop,
]


@pytest.mark.at_length
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:.*[Ii]ll-conditioned")
def test_each_takes_its_own_way(f: Function) -> None:
    """Plain calls say what is right, and differences of them, away from where the way changes."""
    tolerance = {"rtol": 1e-5 if f is of_single_precision else 1e-10, "atol": 1e-7}
    expected = [f(k) for k in X]
    for transformed in (fg.vmap(f), fg.jit(fg.vmap(f))):
        np.testing.assert_allclose(transformed(X), expected, **tolerance)
    jitted, slope = fg.jit(f), fg.jit(fg.grad(f))
    np.testing.assert_allclose([jitted(k) for k in X], expected, **tolerance)
    at = X[:3] if f is not of_single_precision else X[:0]
    differences = [(f(k + 1e-6) - f(k - 1e-6)) / 2e-6 for k in at]
    for slopes in ([fg.grad(f)(k) for k in at], [slope(k) for k in at], fg.vmap(fg.grad(f))(X)[: len(at)]):
        np.testing.assert_allclose(slopes, differences, rtol=1e-5, atol=1e-6)
    batched = fg.grad(lambda x: np.sum(fg.vmap(f)(x)))(X)
    np.testing.assert_allclose(batched[: len(at)], differences, rtol=1e-5, atol=1e-6)


def test_an_error_that_nobody_waits_for_is_raised_when_it_is_run() -> None:
    def f(k: Any) -> Any:
        return np.sum(np.linalg.cholesky(matrix(k)))

    def other(k: Any) -> Any:
        try:
            return np.sum(np.linalg.cholesky(matrix(k)))
        except KeyError:
            return 0.0

    with pytest.raises(fg.errors.TracedBranchError, match="waits for cholesky of a traced f64") as caught:
        fg.make_program(by_cholesky)(0.5)
    assert "return np.sum(np.linalg.cholesky(matrix(k)))" in str(caught.value)
    assert "Use fg.jit or fg.vmap of it" in str(caught.value)
    for each in (f, other):
        for transformed in (fg.vmap(each), fg.jit(fg.vmap(each))):
            with pytest.raises(np.linalg.LinAlgError, match="Matrix is not positive definite"):
                transformed(X)
        names = [e.primitive.name for e in fg.make_program(each)(0.5).equations]
        assert "has_no_factor" not in names


class package:
    class errors:
        BeyondTheEnd = IndexError


def test_a_class_is_found_by_the_name_of_an_attribute_of_an_attribute() -> None:
    def f(x: Any) -> Any:
        try:
            return x[int(x[0])]
        except package.errors.BeyondTheEnd:
            return x[1]

    for x in (np.array([7.0, 2.0, 3.0]), np.array([2.0, 2.0, 3.0])):
        assert fg.jit(f)(x) == f(x)
        np.testing.assert_array_equal(fg.vmap(f)(np.stack([x, x])), [f(x), f(x)])


WITHOUT_A_SOURCE = """
def by_cholesky(k):
    if k > 100.0:
        k = 2.0 * k
    try:
        return np.sum(np.linalg.cholesky(np.eye(2) + k * OFF))
    except np.linalg.LinAlgError:
        return -k

def by_inv(k):
    if k > 100.0:
        k = 2.0 * k
    try:
        return np.linalg.inv(np.eye(2) + k * OFF)[0, 1] * k
    except ValueError:
        return -k

def by_a_power(k):
    if k > 100.0:
        k = 2.0 * k
    try:
        return np.linalg.matrix_power(np.eye(2) + k * OFF, -2).sum()
    except np.linalg.LinAlgError:
        return -1.0

def by_singular_values(k):
    if k > 100.0:
        k = 2.0 * k
    try:
        return np.linalg.svd(np.ones((2, 2)) * k)[1].sum()
    except np.linalg.LinAlgError:
        return -1.0

def by_eigenvalues(k):
    if k > 100.0:
        k = 2.0 * k
    try:
        return np.abs(np.linalg.eigvals(np.ones((2, 2)) * k)).sum()
    except np.linalg.LinAlgError:
        return -1.0

def by_a_choice(k):
    if k > 100.0:
        k = 2.0 * k
    try:
        found = np.choose(np.floor(k).astype(int), [k, 2.0 * k])
        return 0.0 if found > 1e9 else found
    except ValueError:
        return -k

def with_nobody_waiting(k):
    if k > 100.0:
        k = 2.0 * k
    return np.linalg.inv(np.eye(2) + k * OFF).sum()

def with_something_left_behind(k):
    seen.append(k)
    if k > 100.0:
        k = 2.0 * k
    try:
        return np.linalg.svd(np.ones((2, 2)) * k)[1].sum()
    except np.linalg.LinAlgError:
        return -1.0
"""
AGAIN: dict[str, Any] = {"np": np, "OFF": np.array([[0.0, 1.0], [1.0, 0.0]]), "seen": []}
exec(WITHOUT_A_SOURCE, AGAIN)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("name", [name for name in AGAIN if name.startswith("by_")])
@pytest.mark.parametrize("number", [float, np.float64])
def test_a_handler_taken_once_is_not_taken_for_ever(name: str, number: Any) -> None:
    """Where paths are recorded with values, each call asks which way it goes; after a failure none did."""
    f = AGAIN[name]
    jitted, slope = fg.jit(f), fg.jit(fg.grad(f))
    for k in (np.nan, 1.0, 0.5, -3.0, 1.0, 0.3, np.nan, 1.5, 0.0, 0.5) * 2:
        np.testing.assert_allclose(jitted(number(k)), f(number(k)), rtol=1e-12)
        with contextlib.suppress(np.linalg.LinAlgError):
            np.testing.assert_allclose(slope(number(k)), fg.grad(f)(number(k)), rtol=1e-12)


def test_what_nobody_waits_for_is_raised_from_paths_too() -> None:
    jitted = fg.jit(AGAIN["with_nobody_waiting"])
    for k, ok in ((1.0, False), (0.5, True), (1.0, False), (0.25, True)):
        if ok:
            assert jitted(k) == AGAIN["with_nobody_waiting"](k)
        else:
            with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
                jitted(k)


def test_paths_of_functions_that_leave_something_behind_are_refused() -> None:
    with pytest.raises(fg.errors.FuncgradError):
        fg.jit(AGAIN["with_something_left_behind"])(np.nan)
