"""Banded, Toeplitz and circulant systems of `fg.scipy.linalg`, and powers of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from solver_cases import Case, check_batches, check_compiled, check_first, check_second, check_value

import funcgrad as fg
from funcgrad.scipy import linalg as ours

BANDS = np.array([[0.0, 0.3, -0.2, 0.5], [4.0, 3.5, 4.2, 3.9], [0.4, -0.6, 0.1, 0.0], [0.2, 0.3, 0.0, 0.0]])
SIDE = np.array([[0.0, 0.0, 0.2, -0.1], [0.0, 0.5, 0.3, -0.4], [4.0, 3.5, 4.2, 3.9]])
RIGHT = np.array([1.0, -0.5, 0.3, 2.0])
COLUMNS = np.stack([RIGHT, RIGHT**2], axis=1)
COLUMN, ROW = np.array([4.0, 0.5, -0.3, 0.2]), np.array([4.0, 0.1, 0.6, -0.4])
MATRIX = np.array([[3.0, 0.2, 0.1], [0.4, 2.5, -0.3], [0.0, 0.6, 4.0]])


def low(o: Any, side: Any) -> Any:
    below = np.array([[4.0, 3.5, 4.2, 3.9], [0.5, 0.3, -0.4, 0.0]]) + 0.1 * side[1:]
    return o.solveh_banded(below, RIGHT, lower=True)


def factored(lower: bool) -> Any:
    def found(o: Any, x: Any) -> Any:
        band = x if not lower else np.stack([x[2], x[1][[1, 2, 3, 0]] * np.array([1.0, 1.0, 1.0, 0.0])])
        return o.cho_solve_banded((o.cholesky_banded(band, lower=lower), lower), RIGHT)

    return found


CASES = [
    Case("solve_banded", lambda o, ab: o.solve_banded((2, 1), ab, RIGHT), BANDS),
    Case("solve_banded-right", lambda o, b: o.solve_banded((2, 1), BANDS, b), COLUMNS),
    Case("solveh_banded", lambda o, ab: o.solveh_banded(ab, COLUMNS), SIDE),
    Case("solveh_banded-lower", low, SIDE),
    Case("cholesky_banded", lambda o, ab: o.cholesky_banded(ab)[1:], SIDE[1:]),
    Case("cho_solve_banded", factored(False), SIDE),
    Case("cho_solve_banded-lower", factored(True), SIDE),
    Case("solve_toeplitz", lambda o, c: o.solve_toeplitz((c, ROW), RIGHT), COLUMN),
    Case("solve_toeplitz-one", lambda o, c: o.solve_toeplitz(c, RIGHT), COLUMN),
    Case("solve_circulant", lambda o, c: o.solve_circulant(c, COLUMNS), COLUMN),
    Case("fractional_matrix_power", lambda o, a: o.fractional_matrix_power(a, 0.3), MATRIX, 1e-5),
]
each = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@each
def test_values_are_those_of_scipy(case: Case) -> None:
    check_value(case, scipy.linalg, ours)


@each
def test_first_derivatives(case: Case) -> None:
    check_first(case, scipy.linalg, ours)


@each
def test_second_derivatives(case: Case) -> None:
    check_second(case, ours)


@each
def test_batches_are_loops(case: Case) -> None:
    check_batches(case, ours)


@each
def test_compiled_is_evaluated(case: Case) -> None:
    check_compiled(case, ours)


def test_powers_by_their_exponent() -> None:
    slope = fg.jacfwd(lambda t: ours.fractional_matrix_power(MATRIX, t))(0.3)
    power = scipy.linalg.fractional_matrix_power
    np.testing.assert_allclose(slope, (power(MATRIX, 0.3001) - power(MATRIX, 0.2999)) / 2e-4, rtol=1e-6)
