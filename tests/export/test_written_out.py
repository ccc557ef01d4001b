"""What exported modules have of their own where Numba has nothing, or something else than NumPy."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.export import fourier_functions
from funcgrad.compile.export import library as of_numbers

# They have no types: Numba gives them theirs.
functions: Any = fourier_functions
library: Any = of_numbers


@pytest.mark.parametrize("n", [*range(1, 65), 74, 97, 128, 360, 2 * 37 * 5, 1001, 1024])
@pytest.mark.parametrize("sign", [-1, 1])
def test_lines_are_transformed_as_by_numpy(n: int, sign: int, rng: np.random.Generator) -> None:
    shape = (2, n, 2) if n <= 64 else (1, n, 1)
    x = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    wanted = np.fft.fft(x, axis=1) if sign < 0 else np.fft.ifft(x, axis=1, norm="forward")
    written, by_numpy = np.empty(x.size, complex), np.empty(x.size, complex)
    sizes = (shape[0], n, shape[2])
    functions.fourier_lines(x.ravel(), written, *sizes, sign, 0.5)
    functions.fourier_lines_by_numpy(x.ravel(), by_numpy, *sizes, sign, 0.5)
    scale = np.max(np.abs(wanted))
    np.testing.assert_allclose(written, 0.5 * wanted.ravel(), rtol=0, atol=1e-15 * scale)
    np.testing.assert_allclose(by_numpy, 0.5 * wanted.ravel(), rtol=0, atol=1e-15 * scale)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 37])
def test_halves_of_spectra(n: int, rng: np.random.Generator) -> None:
    x = rng.normal(size=(2, n, 3))
    half = np.empty((2, n // 2 + 1, 3), complex)
    functions.real_fourier_lines(x.ravel(), half.reshape(-1), 2, n, 3, -1, 1.0, False)
    np.testing.assert_allclose(half, np.fft.rfft(x, axis=1), atol=1e-13)
    back = np.empty_like(x)
    functions.hermitian_fourier_lines(half.ravel(), back.reshape(-1), 2, n, 3, 1, 1.0 / n, True)
    np.testing.assert_allclose(back, x, atol=1e-13)


NUMBERS = np.array([-np.inf, -7.5, -2.0, -0.0, 0.0, 0.3, 2.0, np.inf, np.nan])


@pytest.mark.parametrize("name", ["floor_divide", "heaviside"])
def test_functions_of_two_numbers_by_numba(name: str) -> None:
    compiled = numba.njit(error_model="numpy")(getattr(library, name))
    with np.errstate(all="ignore"):
        for x in NUMBERS:
            for y in NUMBERS:
                np.testing.assert_array_equal(compiled(x, y), getattr(np, name)(x, y))


def test_the_fraction_by_numba() -> None:
    compiled = numba.njit(error_model="numpy")(library.fraction)
    np.testing.assert_array_equal([compiled(x) for x in NUMBERS], np.modf(NUMBERS)[0])


def test_quotients_of_complex_numbers() -> None:
    numbers = np.array([0.0, 1.0 - 2.0j, -3.0j, 2.0, 1e200 + 1e-200j])
    with np.errstate(all="ignore"):
        for x in numbers:
            for y in numbers:
                np.testing.assert_allclose(library.quotient(x, y), x / y, rtol=1e-15)


def test_complex_division_in_loops() -> None:
    def f(z: Any) -> Any:
        return np.sum(np.abs(1.0 / (2.0 + z * z)) ** 2)

    z = np.array([0.3 + 1.0j, -2.0, 1.0j])
    text = fg.export(fg.grad(f))(z).text
    assert "quotient(" in text
    assert "def quotient(" in text
