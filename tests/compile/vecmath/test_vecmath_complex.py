"""The parts of functions of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad.compile.vecmath.registry import COMPLEX


def parts(apply: Any, name: str, z: Any) -> Any:
    """A complex function from its two parts."""
    x, y = np.ascontiguousarray(z.real), np.ascontiguousarray(z.imag)
    out = np.empty_like(z)
    out.real, out.imag = apply(f"real_{name}", x, y), apply(f"imag_{name}", x, y)
    return out


@pytest.mark.at_length
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
@pytest.mark.parametrize("name", COMPLEX)
def test_random_numbers(name: str, dtype: Any, apply: Any, rng: np.random.Generator) -> None:
    sizes = np.exp(rng.uniform(-12, 3, 2000))
    z = (sizes * np.exp(1j * rng.uniform(-np.pi, np.pi, 2000))).astype(dtype)
    expected = getattr(np, name)(z.astype(np.complex128))
    got = parts(apply, name, z)
    epsilon = np.finfo(dtype).eps
    assert np.max(np.abs(got - expected) / np.abs(expected)) < 4 * epsilon
    # Either part has small errors, unless it is far smaller than the other.
    for part in ("real", "imag"):
        error = np.abs(getattr(got, part) - getattr(expected, part)) / np.abs(expected)
        assert np.max(error / np.maximum(np.abs(getattr(expected, part) / expected), 1e-3)) < 200 * epsilon


@pytest.mark.parametrize("name", COMPLEX)
def test_axes_and_signs_of_zeros(name: str, apply: Any) -> None:
    ends = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0])
    x, y = (v.ravel() for v in np.meshgrid(ends, ends))
    z = x + 0j
    z.real, z.imag = x, y
    got, expected = parts(apply, name, z), evaluated(name, z)
    np.testing.assert_allclose(got, expected, rtol=1e-14)
    for part in ("real", "imag"):
        zero = getattr(expected, part) == 0
        np.testing.assert_array_equal(
            np.signbit(getattr(got, part))[zero], np.signbit(getattr(expected, part))[zero]
        )


def evaluated(name: str, z: Any) -> Any:
    """NumPy's function."""
    with np.errstate(all="ignore"):
        return getattr(np, name)(z)


@pytest.mark.parametrize("name", ["exp", "log", "sqrt"])
def test_sizes_that_might_overflow(name: str, apply: Any) -> None:
    z = np.array(
        [1e300 + 1e300j, 1e-300 - 1e-300j, -1.7e308 + 1e308j, 5e-324 + 5e-324j, 709.9 + 0.8j, -744.0 + 1j]
    )
    z = z[4:] if name == "exp" else z
    expected = evaluated(name, z)
    np.testing.assert_allclose(parts(apply, name, z), expected, rtol=1e-14, atol=1e-323)


def test_infinities(apply: Any) -> None:
    z = np.array(
        [complex(np.inf, 0.0), complex(-np.inf, 2.0), complex(0.0, np.inf), complex(np.inf, -np.inf)]
    )
    for name in ("log", "sqrt"):
        np.testing.assert_array_equal(parts(apply, name, z), evaluated(name, z))
    np.testing.assert_array_equal(parts(apply, "exp", z[:2]), evaluated("exp", z[:2]))


def test_the_logarithm_near_the_unit_circle(apply: Any) -> None:
    import mpmath

    with mpmath.workprec(200):
        angles = np.linspace(0.1, 1.5, 50)
        x, y = np.cos(angles), np.sin(angles)
        exact = [
            float(mpmath.log(mpmath.mpf(a) ** 2 + mpmath.mpf(b) ** 2) / 2) for a, b in zip(x, y, strict=True)
        ]
    np.testing.assert_allclose(apply("real_log", x, y), exact, rtol=1e-14)
