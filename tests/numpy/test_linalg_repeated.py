"""Functions of matrices through their eigenvectors, differentiated where eigenvalues are repeated.

What is computed depends on the matrix alone, and smoothly, whatever vectors LAPACK happens to find.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import NotDifferentiableError

WEIGHTS = np.cos(np.arange(16.0)).reshape(4, 4)


def unitary(rng: np.random.Generator, n: int, dtype: Any) -> Any:
    x = rng.standard_normal((n, n))
    return np.linalg.qr(x + 1j * rng.standard_normal((n, n)) if dtype is np.complex128 else x)[0]


def decomposed(a: Any) -> Any:
    return np.linalg.eigh((a + np.conj(np.swapaxes(a, -1, -2))) / 2)


def adjoint(v: Any) -> Any:
    return np.conj(np.swapaxes(v, -1, -2))


def columns_scaled(a: Any) -> Any:
    w, v = decomposed(a)
    return (v * np.exp(w)[..., None, :]) @ adjoint(v)


def rows_scaled(a: Any) -> Any:
    w, v = decomposed(a)
    return v @ (np.exp(w)[..., :, None] * adjoint(v))


def diagonal_between(a: Any) -> Any:
    w, v = decomposed(a)
    return v @ np.diag(np.exp(w)) @ adjoint(v)


def by_einsum(a: Any) -> Any:
    w, v = decomposed(a)
    return np.einsum("ik,k,jk->ij", v, np.exp(-w / 2.0) + 1.0, np.conj(v))


def applied_to_a_vector(a: Any) -> Any:
    w, v = decomposed(a)
    return v @ (np.sqrt(w) * (adjoint(v) @ WEIGHTS[0]))


def applied_to_a_matrix(a: Any) -> Any:
    w, v = decomposed(a)
    return v @ np.diag(w**2) @ (adjoint(v) @ WEIGHTS[:, :2])


def in_two_halves(a: Any) -> Any:
    w, v = decomposed(a)
    half = v * np.sqrt(w)
    return half @ adjoint(half) @ WEIGHTS


def scaled_twice(a: Any) -> Any:
    w, v = decomposed(a)
    return ((v * w) * np.sin(w)) @ adjoint(v)


def density(a: Any) -> Any:
    w, v = decomposed(a)
    return np.sum(np.abs(v) ** 2 * np.exp(w)[..., None, :], axis=-1)


def density_by_product(a: Any) -> Any:
    w, v = decomposed(a)
    return (v * np.conj(v)).real @ np.exp(w)


def density_by_einsum(a: Any) -> Any:
    w, v = decomposed(a)
    return np.einsum("ri,i,ri->r", v, np.exp(w), np.conj(v))


def one_element(a: Any) -> Any:
    w, v = decomposed(a)
    return np.exp(w) @ (v[1] * np.conj(v[2]))


def some_rows(a: Any) -> Any:
    w, v = decomposed(a)
    return v[:2] * w @ adjoint(v[:2])


OF_EIGENVECTORS: list[Callable[..., Any]] = [
    columns_scaled,
    rows_scaled,
    diagonal_between,
    by_einsum,
    applied_to_a_vector,
    applied_to_a_matrix,
    in_two_halves,
    scaled_twice,
]

OF_PAIRS: list[Callable[..., Any]] = [density, density_by_product, density_by_einsum, one_element, some_rows]
SPECTRA = ([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 2.0, 3.0], [1.0, 1.0, 3.0, 3.0])


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("spectrum", SPECTRA, ids=str)
@pytest.mark.parametrize("f", [*OF_EIGENVECTORS, *OF_PAIRS])
def test_functions_of_a_matrix(f: Any, spectrum: Any, dtype: Any, rng: np.random.Generator) -> None:
    q = unitary(rng, 4, dtype)
    fg.testing.check_grads(f, ((q * np.asarray(spectrum)) @ adjoint(q),), order=1)


@pytest.mark.parametrize("f", [*OF_EIGENVECTORS, density])
def test_stacks(f: Any, rng: np.random.Generator) -> None:
    q = unitary(rng, 4, np.float64)
    stack = np.stack([np.eye(4), (q * np.array([2.0, 2.0, 1.0, 1.0])) @ q.T])
    fg.testing.check_vmap(f, (stack,), rtol=1e-9, atol=1e-9)
    fg.testing.check_grads(fg.vmap(f), (stack,), order=1)
    found = fg.jacrev(fg.vmap(f))(stack)
    np.testing.assert_allclose(found[1, ..., 1, :, :], fg.jacrev(f)(stack[1]), atol=1e-12)


def test_squares_of_a_row() -> None:
    def corner(a: Any) -> Any:
        w, v = decomposed(a)
        return np.sum(v[0] ** 2 * np.exp(w))

    fg.testing.check_grads(corner, (np.eye(3),), order=1)


def test_the_matrix_itself() -> None:
    """The plainest function has the plainest derivative."""

    def identity(a: Any) -> Any:
        w, v = decomposed(a)
        return np.sum(WEIGHTS * ((v * w) @ v.T))

    found = fg.grad(identity)(np.eye(4))
    np.testing.assert_allclose(found, (WEIGHTS + WEIGHTS.T) / 2, atol=1e-14)


def test_exponential_is_that_of_expm(rng: np.random.Generator) -> None:
    q = unitary(rng, 4, np.float64)
    a = (q * np.array([1.0, 1.0, 1.0, 2.0])) @ q.T
    found = fg.grad(lambda a: np.sum(WEIGHTS * columns_scaled(a)))(a)
    expected = fg.grad(lambda a: np.sum(WEIGHTS * fg.scipy.linalg.expm((a + a.T) / 2)))(a)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("spectrum", SPECTRA, ids=str)
@pytest.mark.parametrize("values", [np.linalg.eigvalsh, lambda a: np.linalg.eigh(a)[0]])
def test_second_derivatives_of_sums(values: Any, spectrum: Any, dtype: Any, rng: np.random.Generator) -> None:
    q = unitary(rng, 4, dtype)
    a = (q * np.asarray(spectrum)) @ adjoint(q)
    fg.testing.check_grads(lambda a: np.sum(np.exp(values((a + adjoint(a)) / 2))), (a,), order=2)


# -- singular values -----------------------------------------------------------------------------------------


def singular_columns(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (u * np.sin(s)) @ vh


def singular_rows(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return u @ (np.sin(s)[:, None] * vh)


def singular_diagonal(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return u @ np.diag(np.sin(s)) @ vh


def left_gram(a: Any) -> Any:
    u, s, _ = np.linalg.svd(a, full_matrices=False)
    return (u * s**2) @ adjoint(u)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("values", [[2.0, 2.0, 2.0], [1.0, 1.0, 2.0], [3.0, 0.0, 0.0]], ids=str)
@pytest.mark.parametrize("f", [singular_columns, singular_rows, singular_diagonal, left_gram])
def test_functions_of_singular_values(f: Any, values: Any, dtype: Any, rng: np.random.Generator) -> None:
    a = (unitary(rng, 3, dtype) * np.asarray(values)) @ unitary(rng, 3, dtype)
    fg.testing.check_grads(f, (a,), order=1)


@pytest.mark.parametrize("f", [singular_columns, singular_rows, left_gram])
def test_functions_of_singular_values_of_tall_matrices(f: Any) -> None:
    fg.testing.check_grads(f, (np.eye(4)[:, :2],), order=1)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)], ids=str)
@pytest.mark.parametrize("values", [np.linalg.svdvals, lambda a: np.linalg.svd(a)[1]])
def test_second_derivatives_of_sums_over_singular_values(values: Any, shape: tuple[int, int]) -> None:
    fg.testing.check_grads(lambda a: np.sum(np.cos(values(a))), (2.0 * np.eye(*shape),), order=2)


def test_inside_of_control_flow() -> None:
    def f(a: Any) -> Any:
        return fg.cond(a[0, 0] > 0, columns_scaled, lambda a: a, a)

    fg.testing.check_grads(f, (np.eye(3),), order=1)
    fg.testing.check_grads(fg.checkpoint(columns_scaled), (np.eye(3),), order=1)
    np.testing.assert_allclose(
        fg.jacrev(fg.jit(columns_scaled))(np.eye(3)), fg.jacrev(columns_scaled)(np.eye(3)), atol=1e-14
    )


@pytest.mark.parametrize("f", [columns_scaled, lambda a: np.linalg.eigh(a)[1] ** 2, singular_columns])
def test_second_derivatives_of_vectors_are_refused_by_name(f: Any) -> None:
    """They exist for some functions, are not known here, and nothing may be returned in their place."""
    with pytest.raises(NotDifferentiableError, match="vectors of a repeated eigenvalue or singular value"):
        fg.hessian(lambda a: np.sum(WEIGHTS[:3, :3] * f(a)))(np.eye(3))
    a = np.diag([1.0, 2.0, 4.0])
    fg.testing.check_grads(lambda a: np.sum(WEIGHTS[:3, :3] * f((a + a.T) / 2)), (a,), order=2)
