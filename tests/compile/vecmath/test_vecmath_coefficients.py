"""The checked-in polynomials are those that the derivation finds."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from funcgrad.compile.vecmath import coefficients as checked_in


@pytest.mark.parametrize("name", ["EXP", "LOG", "ARCTAN"])
def test_polynomials_are_found_again(name: str) -> None:
    import coefficients

    found = coefficients.fitted(coefficients.FITS[name])
    for kind, expected in getattr(checked_in, name).items():
        np.testing.assert_allclose(found[kind], expected, rtol=1e-12 if kind == "f64" else 1e-6)


def test_constants_are_found_again() -> None:
    import coefficients

    for name in coefficients.PARTS:
        assert {k: tuple(v) for k, v in coefficients.constants(name).items()} == getattr(checked_in, name)


def test_the_bits_of_two_over_pi() -> None:
    from funcgrad.compile.vecmath.angles import TWO_OVER_PI, WORDS

    with mpmath.workprec(2000):
        bits = int(mpmath.floor(2 / mpmath.pi * mpmath.mpf(2) ** (64 * (WORDS - 1))))
    assert [0, *[bits >> 64 * i & 2**64 - 1 for i in reversed(range(WORDS - 1))]] == list(TWO_OVER_PI)


def test_every_table_is_derived() -> None:
    import coefficients

    assert [*checked_in.tables()] == [*coefficients.PARTS, *coefficients.FITS]


def test_the_error_of_a_minimax_polynomial_alternates() -> None:
    import coefficients

    def error(polynomial: list[Any], x: Any) -> Any:
        return coefficients.polynomial_at(polynomial, x) - mpmath.exp(x)

    fit = coefficients.Fit(mpmath.exp, "-1.0001", "1", (5, 5))
    polynomial = coefficients.minimax(fit, 5)
    signs = np.sign([float(error(polynomial, mpmath.mpf(x))) for x in np.linspace(-1, 1, 2001)])
    assert np.count_nonzero(np.diff(signs)) == 6
