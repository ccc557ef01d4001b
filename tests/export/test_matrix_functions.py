"""Operations on matrices that exported modules write out: compiled by Numba, beside SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import funcgrad as fg
from funcgrad.compile.export import library, matrix_functions

SPECTRUM = np.random.default_rng(5)


def matrices(n: int) -> list[Any]:
    """Ordinary ones, large and small, nearly defective and triangular."""
    a = SPECTRUM.normal(size=(n, n)) / np.sqrt(n)
    jordan = 2.0 * np.eye(n) + np.eye(n, k=1)
    return [a @ a.T + np.eye(n), 30.0 * (a @ a.T) + np.eye(n), a + 3.0 * np.eye(n), jordan, 1e-3 * np.eye(n)]


def numbers(x: Any) -> Any:
    return np.asarray(x).real


FUNCTIONS = ("expm", "logm", "sqrtm", "sinm", "cosm", "tanm", "sinhm", "coshm", "tanhm")


@pytest.mark.filterwarnings("ignore:logm result may be inaccurate")
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("n", [1, 2, 5, 17])
def test_functions_of_matrices(name: str, n: int) -> None:
    # A hyperbolic tangent is a quotient of exponentials: SciPy's is no better where these are large.
    for a in matrices(n)[2 if name in ("tanm", "tanhm") else 0 :]:
        wanted = numbers(getattr(scipy.linalg, name)(a))
        found = getattr(matrix_functions, name)(a)
        scale = np.abs(wanted).max() + 1e-300
        condition = max(1.0, np.abs(np.linalg.eigvals(a)).max())
        assert np.abs(found - wanted).max() <= 1e-11 * scale * condition * n, name


@pytest.mark.parametrize("n", [1, 2, 3, 8, 30])
def test_schur_form(n: int) -> None:
    a = SPECTRUM.normal(size=(n, n))
    t, z = matrix_functions.complex_schur(a)
    np.testing.assert_allclose(z @ t @ z.conj().T, a, atol=1e-12 * n)
    np.testing.assert_allclose(z @ z.conj().T, np.eye(n), atol=1e-12 * n)
    assert not np.any(np.tril(t, -1))


def test_a_complex_function_of_a_real_matrix_is_refused() -> None:
    with pytest.raises(ValueError, match="is complex"):
        matrix_functions.sqrtm(np.diag([1.0, -2.0]))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        matrix_functions.banded_solution(np.zeros((3, 4)), np.ones((4, 1)), 1, 1)


def test_infinite_matrices_end() -> None:
    with pytest.raises((ValueError, np.linalg.LinAlgError)), np.errstate(all="ignore"):
        matrix_functions.logm(np.full((3, 3), np.nan))


def of_exponentials(a: Any, b: Any) -> Any:
    e = fg.scipy.linalg.expm(0.3 * a)
    return np.sum(e @ b) + np.sum(fg.scipy.linalg.logm(e @ e.T + np.eye(a.shape[0])) * b)


def of_powers(a: Any, b: Any) -> Any:
    s = a @ a.T + np.eye(a.shape[0])
    root = fg.scipy.linalg.sqrtm(s)
    return np.sum(root * b) + np.sum(fg.scipy.linalg.solve_sylvester(s, s, b) * b)


def of_bands(a: Any, b: Any) -> Any:
    return np.sum(fg.scipy.linalg.solve_banded((1, 1), a[:3] + 4.0 * np.array([[0.0], [1.0], [0.0]]), b) ** 2)


def of_factors(a: Any, b: Any) -> Any:
    p, lower, u = fg.scipy.linalg.lu(a)
    q, _ = fg.scipy.linalg.qr(b[:, :2])
    return np.sum(lower * b) + np.sum(u**2) + np.sum(q[:, :2] ** 3) + np.sum(p[0])


@pytest.mark.at_length
@pytest.mark.parametrize(
    ("f", "engine"),
    [(of_exponentials, "numpy"), (of_powers, "numpy"), (of_bands, "numba"), (of_factors, "numba")],
)
def test_gradients(f: Any, engine: str) -> None:
    a, b = SPECTRUM.normal(size=(2, 4, 4)) + 2.0 * np.eye(4)
    slope = fg.grad(f, (0, 1))
    made = fg.export(slope, engine=engine)(a, b)
    for x, y in zip(getattr(made.module(), f.__name__)(a, b), slope(a, b), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-10)


def test_functions_of_matrices_compiled_by_numba() -> None:
    def of_a_matrix(a: Any) -> Any:
        return fg.scipy.linalg.expm(a), fg.scipy.linalg.sqrtm(a)

    a = matrices(4)[0]
    for x, y in zip(fg.export(of_a_matrix)(a).function(a), of_a_matrix(a), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10)


def test_the_logarithm_of_a_triangular_matrix_has_all_its_digits() -> None:
    values = np.array([1.1, 0.95, 40.0, 1e-3])
    found = matrix_functions.triangular_logarithm(np.diag(values).astype(np.complex128))
    np.testing.assert_allclose(np.diag(found).real, np.log(values), rtol=4e-14)


def test_results_are_put_in_their_places_by_loops() -> None:
    def factors(a: Any) -> Any:
        return np.linalg.eigh(a), np.linalg.inv(a), np.linalg.svd(a)

    # Numba takes three seconds for one assignment to a slice.
    text = fg.export(factors)(np.stack([np.eye(4), 2.0 * np.eye(4)])).text
    assert "put_matrix(" in text
    assert "put_vector(" in text
    assert ":] =" not in text


@pytest.mark.parametrize("x", [np.ones(3), np.ones((2, 3))])
def test_a_result_of_another_size_is_not_put(x: Any) -> None:
    put = library.put_vector if x.ndim == 1 else library.put_matrix
    with pytest.raises(ValueError, match="than its place"):
        put(np.zeros([n + 1 for n in x.shape]), x)
