"""Where others return NaN: repeated eigenvalues and singular values, lost ranks, singular determinants."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

Shape = tuple[int, ...]


def orthogonal(rng: np.random.Generator, n: int, dtype: Any = np.float64) -> Any:
    """A random orthogonal or unitary matrix."""
    x = rng.standard_normal((n, n))
    return np.linalg.qr(x + 1j * rng.standard_normal((n, n)) if np.dtype(dtype).kind == "c" else x)[0]


def with_spectrum(rng: np.random.Generator, values: Any, dtype: Any = np.float64) -> Any:
    """A Hermitian matrix with these eigenvalues."""
    q = orthogonal(rng, len(values), dtype)
    x = (q * np.asarray(values)) @ q.conj().T
    return (x + x.conj().T) / 2


def hermitian(x: Any) -> Any:
    return (x + np.conj(np.swapaxes(x, -1, -2))) / 2


def permutations_sign(order: tuple[int, ...]) -> float:
    return float(np.linalg.det(np.eye(len(order))[list(order)]).round())


def determinant(x: Any) -> Any:
    """Leibniz's sum over permutations, a polynomial whose derivatives are known everywhere."""
    n = x.shape[-1]
    total = 0.0
    for order in itertools.permutations(range(n)):
        term = permutations_sign(order)
        for i, j in enumerate(order):
            term = term * x[i, j]
        total = total + term
    return total


# -- determinants --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("rank", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_determinant_of_any_rank(n: int, rank: int, dtype: Any, rng: np.random.Generator) -> None:
    """First and second derivatives are those of the polynomial."""
    if rank > n:
        pytest.skip("no such rank")
    x = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, n))
    if dtype is np.complex128:
        x = x + 1j * rng.standard_normal((n, rank)) @ rng.standard_normal((rank, n)) * 0
        x = (x * (1 + 0.5j)).astype(dtype)
    options = {"holomorphic": True} if dtype is np.complex128 else {}
    for f in (fg.grad, lambda f, **o: fg.jacfwd(fg.grad(f, **o), **o)):
        found, expected = f(np.linalg.det, **options)(x), f(determinant, **options)(x)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_determinants_of_a_stack_of_singular_matrices(rng: np.random.Generator) -> None:
    x = rng.standard_normal((50, 3, 1)) @ rng.standard_normal((50, 1, 3))
    x[1] = 0.0
    x[2] = rng.standard_normal((3, 3))
    found = fg.grad(lambda x: np.sum(np.linalg.det(x)))(x)
    expected = np.stack([fg.grad(determinant)(m) for m in x])
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_third_derivative_of_a_determinant(rng: np.random.Generator) -> None:
    fg.testing.check_grads(np.linalg.det, (rng.standard_normal((3, 3)),), order=3)
    fg.testing.check_grads(np.linalg.det, (rng.standard_normal((4, 4)) + 3 * np.eye(4),), order=3)


def test_determinant_of_a_large_singular_matrix(rng: np.random.Generator) -> None:
    """Of rank n - 1 the cofactors are an outer product of the null vectors."""
    n = 12
    x = rng.standard_normal((n, n)) / 2.0
    x[-1] = x[0] + x[1]
    u, s, vh = np.linalg.svd(x)
    expected = np.prod(s[:-1]) * np.linalg.det(u) * np.linalg.det(vh) * np.outer(u[:, -1], vh[-1])
    np.testing.assert_allclose(fg.grad(np.linalg.det)(x), expected, rtol=1e-8, atol=1e-10)


def test_slogdet_has_no_derivative_where_it_is_infinite() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        fg.grad(lambda x: np.linalg.slogdet(x)[1])(np.ones((2, 2)))
    sign, log = fg.make_program(lambda x: tuple(np.linalg.slogdet(x)))(np.ones((2, 2)))(np.ones((2, 2)))
    assert (sign, log) == (0.0, -np.inf)


# -- repeated eigenvalues ------------------------------------------------------------------------------------


SPECTRA = {
    "identity": [1.0, 1.0, 1.0],
    "pair": [1.0, 1.0, 3.0],
    "two pairs": [-2.0, -2.0, 1.0, 1.0],
    "zero": [0.0, 0.0, 0.0],
}


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("name", SPECTRA)
def test_symmetric_functions_of_repeated_eigenvalues(name: str, dtype: Any, rng: np.random.Generator) -> None:
    """The gradient of ``sum(f(w))`` is ``f'(a)``."""
    a = with_spectrum(rng, SPECTRA[name], dtype)
    expected = 3.0 * a @ a
    for values in (np.linalg.eigvalsh, lambda a: np.linalg.eigh(a)[0]):
        found = fg.grad(lambda a, f=values: np.sum(f(hermitian(a)) ** 3))(a)
        np.testing.assert_allclose(found, np.conj(expected), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_projectors_on_spaces_of_repeated_eigenvalues(dtype: Any, rng: np.random.Generator) -> None:
    a = with_spectrum(rng, [1.0, 1.0, 4.0, 4.0], dtype)
    c = hermitian(rng.standard_normal((4, 4)))

    def first_space(a: Any) -> Any:
        v = np.linalg.eigh(hermitian(a))[1][:, :2]
        return np.sum(c * (v @ np.conj(v).T)).real

    fg.testing.check_grads(first_space, (a,), order=1)


def test_general_matrices_with_repeated_eigenvalues() -> None:
    found = fg.grad(lambda a: np.sum(np.linalg.eigvals(a).real ** 2))(np.diag([2.0, 2.0, 3.0]))
    np.testing.assert_allclose(found, np.diag([4.0, 4.0, 6.0]), atol=1e-12)
    a = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [0.0, 0.0, 3.0]])
    found = fg.grad(lambda a: np.sum(np.linalg.eig(a)[0].real ** 3))(a)
    np.testing.assert_allclose(found, 3.0 * (a @ a).T, atol=1e-12)


# -- repeated and vanishing singular values ------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize(
    "values", [[1.0, 1.0, 1.0], [2.0, 2.0, 0.5], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]], ids=str
)
def test_symmetric_functions_of_singular_values(values: Any, dtype: Any, rng: np.random.Generator) -> None:
    a = orthogonal(rng, 3, dtype) @ np.diag(values) @ orthogonal(rng, 3, dtype)
    for singular_values in (np.linalg.svdvals, lambda a: np.linalg.svd(a)[1]):
        found = fg.grad(lambda a, f=singular_values: np.sum(f(a) ** 2))(a)
        np.testing.assert_allclose(found, 2.0 * np.conj(a), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_polar_factor_from_equal_singular_values(dtype: Any, rng: np.random.Generator) -> None:
    """How far left and right vectors turn against each other is determined, and right."""
    a = 2.0 * orthogonal(rng, 3, dtype)

    def nearest_unitary(a: Any) -> Any:
        u, _, vh = np.linalg.svd(a)
        return u @ vh

    fg.testing.check_grads(nearest_unitary, (a,), order=1)


def test_nuclear_norm_of_a_matrix_without_full_rank(rng: np.random.Generator) -> None:
    """The smallest subgradient: zero singular values contribute nothing."""
    x, y = rng.standard_normal((2, 4))
    a = np.outer(x, y)
    expected = a / (np.linalg.norm(x) * np.linalg.norm(y))
    np.testing.assert_allclose(fg.grad(lambda a: np.linalg.norm(a, "nuc"))(a), expected, atol=1e-12)
    np.testing.assert_allclose(fg.grad(lambda a: np.linalg.norm(a, 2))(a), expected, atol=1e-12)


def test_tied_largest_singular_values_share_the_derivative() -> None:
    found = fg.grad(lambda a: np.linalg.norm(a, 2))(np.diag([2.0, 2.0, 1.0]))
    np.testing.assert_allclose(found, np.diag([0.5, 0.5, 0.0]), atol=1e-14)


# -- pseudo-inverses without full rank -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)], ids=str)
def test_pseudo_inverse_of_lower_rank(shape: Shape, dtype: Any, rng: np.random.Generator) -> None:
    x, y = rng.standard_normal((shape[0], 2)).astype(dtype), rng.standard_normal((2, shape[1])).astype(dtype)

    def of_product(x: Any, y: Any) -> Any:
        return np.linalg.pinv(x @ y, rcond=1e-9)

    fg.testing.check_grads(of_product, (x, y), order=2)
    found = fg.grad(lambda a: np.sum(np.abs(np.linalg.pinv(a, rcond=1e-9)) ** 2))(x @ y)
    assert np.all(np.isfinite(found))


def test_least_squares_of_lower_rank(rng: np.random.Generator) -> None:
    x, y, b = rng.standard_normal((5, 2)), rng.standard_normal((2, 3)), rng.standard_normal(5)
    fg.testing.check_grads(lambda x, y, b: np.linalg.lstsq(x @ y, b, rcond=1e-9)[0], (x, y, b), order=2)


# -- Hermitian arguments -------------------------------------------------------------------------------------


HERMITIAN: list[Callable[..., Any]] = [
    lambda a: np.sum(np.log(np.diagonal(np.linalg.cholesky(a)).real)),
    lambda a: np.sum(np.exp(np.linalg.eigvalsh(a))),
    lambda a: np.sum(np.linalg.eigh(a, UPLO="U")[0] ** 2),
]


@pytest.mark.parametrize("f", HERMITIAN)
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_derivatives_are_by_the_triangle_that_is_read(f: Any, dtype: Any, rng: np.random.Generator) -> None:
    """Along directions that are not Hermitian too, and at matrices of which one triangle is filled."""
    a = with_spectrum(rng, [1.0, 2.0, 4.0], dtype)
    upper = f is HERMITIAN[2]
    direction = rng.standard_normal((3, 3)) + (
        1j * rng.standard_normal((3, 3)) if dtype is np.complex128 else 0.0
    )
    step = 1e-6
    for at in (a, a + 0.3 * (np.tril(direction, -1) if upper else np.triu(direction, 1))):
        measured = (f(at + step * direction) - f(at - step * direction)) / (2 * step)
        value, slope = fg.jvp(f, (at,), (direction,))
        np.testing.assert_allclose([value, slope], [f(at), measured], rtol=1e-6)
        gradient = fg.grad(f)(at)
        np.testing.assert_allclose(np.sum(gradient * direction).real, slope, rtol=1e-10)
        np.testing.assert_array_equal(gradient, np.triu(gradient) if upper else np.tril(gradient))
    whole = fg.grad(lambda a: f(hermitian(a)))(a)
    np.testing.assert_allclose(whole, whole.conj().T, atol=1e-13)


@pytest.mark.parametrize("uplo", ["L", "U", "l", "u"])
def test_vectors_are_those_of_numpy_also_of_matrices_that_are_not_symmetric(
    uplo: Any, rng: np.random.Generator
) -> None:
    """To the sign: the same routine reads the same triangle."""

    def both(a: Any) -> tuple[Any, ...]:
        return (*np.linalg.eigh(a, UPLO=uplo), np.linalg.eigvalsh(a, UPLO=uplo))

    for a in (rng.standard_normal((3, 4, 4)), rng.standard_normal((4, 4)) * (1 + 2j)):
        for found in (fg.make_program(both)(a)(a), fg.jit(both)(a)):
            for ours, theirs in zip(found, both(a), strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_hermitian_options_read_one_triangle(rng: np.random.Generator) -> None:
    a = rng.standard_normal((2, 4, 4))

    def everything(a: Any) -> tuple[Any, ...]:
        return (
            *np.linalg.svd(a, hermitian=True),
            np.linalg.svd(a, compute_uv=False, hermitian=True),
            np.linalg.pinv(a, hermitian=True),
            np.linalg.matrix_rank(a, hermitian=True),
        )

    for found in (fg.make_program(everything)(a)(a), fg.jit(everything)(a)):
        for ours, theirs in zip(found, everything(a), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    fg.testing.check_grads(lambda a: np.linalg.svd(a, compute_uv=False, hermitian=True), (a,))
    fg.testing.check_grads(lambda a: np.linalg.pinv(a, hermitian=True), (a,), order=1)


def test_one_triangle_is_read(rng: np.random.Generator) -> None:
    a = with_spectrum(rng, [1.0, 2.0, 4.0])
    for f in (np.linalg.cholesky, np.linalg.eigvalsh):
        (found,) = fg.make_program(f)(a)(np.tril(a))
        np.testing.assert_allclose(found, f(a), atol=1e-13)
