"""Systems of linear equations by a band, by Toeplitz' or a circulant pattern."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.numpy.algebra.linear_systems import traced_matrices
from funcgrad.numpy.algebra.operands import traced
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.structure import aval, cast, reshape, shape_of
from funcgrad.ops.linalg.banded import SolveBanded
from funcgrad.scipy.linalg.arguments import checks_finite, in_doubles, scipys
from funcgrad.scipy.linalg.patterns import toeplitz
from funcgrad.scipy.originals import at_hand, known_value
from funcgrad.types import Array, ArrayLike, Number

__all__ = [
    "cho_solve_banded",
    "cholesky_banded",
    "solve_banded",
    "solve_circulant",
    "solve_toeplitz",
    "solveh_banded",
]

SINGULAR = float(np.finfo(np.float64).eps)
"""Relative to the largest eigenvalue and to the size, where a circulant matrix is singular to SciPy."""


@checks_finite
def solve_banded(
    l_and_u: tuple[int, int],
    ab: ArrayLike,
    b: ArrayLike,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """``x`` with ``a @ x == b``, where ``ab[u + i - j, j] == a[i, j]`` holds the diagonals of `a`.

    >>> ab = np.array([[0.0, 1.0, 1.0], [4.0, 4.0, 4.0], [1.0, 1.0, 0.0]])
    >>> print(fg.scipy.linalg.solve_banded((1, 1), ab, np.array([5.0, 6.0, 5.0])))
    [1. 1. 1.]
    """
    operands = traced_matrices("solve_banded", ab, b)
    if operands is None:
        return scipys("solve_banded")(l_and_u, ab, b, check_finite=check_finite)
    lower, upper = (int(k) for k in l_and_u)
    bands, right = operands
    shape = shape_of(right)
    if len(shape) > 2 or aval(bands).ndim != 2:
        raise refused(f"solve_banded of {aval(bands)} and {aval(right)}: needs one matrix; see fg.vmap")
    columns = reshape(right, (shape[0], 1)) if len(shape) == 1 else right
    return reshape(SolveBanded(lower, upper).bind(bands, columns), shape)


def both_sides(ab: ArrayLike, lower: bool) -> tuple[int, Any]:
    """All diagonals of a Hermitian matrix of which `ab` holds one side."""
    rows, n = shape_of(ab)
    width, dtype = rows - 1, aval(ab).dtype
    if lower:
        below = [ab[k, : max(n - k, 0)] for k in range(1, rows)]
        above = [np.conj(side) for side in below]
    else:
        above = [ab[width - k, k:] for k in range(1, rows)]
        below = [np.conj(side) for side in above]
    middle = ab[0 if lower else width]
    middle = cast(np.real(middle), dtype) if dtype.kind == "c" else middle  # LAPACK reads no more of it.
    none = [np.zeros(min(k, n), dtype) for k in range(rows)]
    over = [np.concatenate([none[k], above[k - 1]]) for k in range(width, 0, -1)]
    under = [np.concatenate([below[k - 1], none[k]]) for k in range(1, rows)]
    return width, np.stack([*over, middle, *under])


@checks_finite
def solveh_banded(
    ab: ArrayLike,
    b: ArrayLike,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
) -> Array:
    """``x`` with ``a @ x == b`` for a Hermitian positive definite band, of which `ab` holds one side.

    >>> ab = np.array([[0.0, 1.0, 1.0], [4.0, 4.0, 4.0]])
    >>> print(fg.scipy.linalg.solveh_banded(ab, np.array([5.0, 6.0, 5.0])))
    [1. 1. 1.]
    """
    operands = traced_matrices("solveh_banded", ab, b)
    if operands is None:
        return scipys("solveh_banded")(ab, b, lower=lower, check_finite=check_finite)
    known = at_hand(operands[0])
    if known is not None:
        scipys("cholesky_banded")(known, lower=lower, check_finite=False)  # It raises where SciPy does.
    width, bands = both_sides(operands[0], bool(lower))
    return solve_banded((width, width), bands, operands[1])


@checks_finite
def cholesky_banded(
    ab: ArrayLike, overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True
) -> Array:
    """Cholesky's factor of a Hermitian positive definite band, in the storage of `ab`.

    >>> print(fg.scipy.linalg.cholesky_banded(np.array([[0.0, 2.0], [4.0, 5.0]])))
    [[0. 1.]
     [2. 2.]]
    """
    operands = traced_matrices("cholesky_banded", ab)
    if operands is None:
        return scipys("cholesky_banded")(ab, lower=lower, check_finite=check_finite)
    width, bands = both_sides(operands[0], bool(lower))
    n = shape_of(bands)[1]
    rows, columns = np.indices((n, n))
    near = abs(rows - columns) <= width
    place = np.where(near, width + rows - columns, 0)
    dense = np.where(near, bands[place, columns], 0.0)
    factor = np.linalg.cholesky(dense)
    under = np.arange(width + 1)[:, None] + np.arange(n)[None, :]
    stored = np.where(under < n, factor[np.minimum(under, n - 1), np.arange(n)], 0.0)
    if lower:
        return stored
    over = np.arange(n)[None, :] - np.arange(width, -1, -1)[:, None]
    upper = np.conj(factor[np.arange(n), np.maximum(over, 0)])
    return np.where(over >= 0, upper, 0.0)


@checks_finite
def cho_solve_banded(
    cb_and_lower: tuple[Any, bool], b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """``x`` with ``a @ x == b``, from what `cholesky_banded` made of `a`.

    >>> factor = fg.scipy.linalg.cholesky_banded(np.array([[0.0, 2.0], [4.0, 5.0]]))
    >>> print(fg.scipy.linalg.cho_solve_banded((factor, False), np.array([6.0, 7.0])))
    [1. 1.]
    """
    cb, lower = cb_and_lower
    operands = traced_matrices("cho_solve_banded", cb, b)
    if operands is None:
        return scipys("cho_solve_banded")((cb, lower), b, check_finite=check_finite)
    factor, right = operands
    width = shape_of(factor)[0] - 1
    n = shape_of(factor)[1]
    if lower:
        below = factor
        above = turned(factor, n)
        half = solve_banded((width, 0), below, right)
        return solve_banded((0, width), above, half)
    half = solve_banded((width, 0), turned_up(factor, n), right)
    return solve_banded((0, width), factor, half)


def turned(below: ArrayLike, n: int) -> Array:
    """The adjoint of a lower band, as an upper one."""
    rows = [
        np.concatenate([np.zeros(k, aval(below).dtype), np.conj(below[k, : n - k])])
        for k in range(shape_of(below)[0] - 1, -1, -1)
    ]
    return np.stack(rows)


def turned_up(above: ArrayLike, n: int) -> Array:
    """The adjoint of an upper band, as a lower one."""
    width, dtype = shape_of(above)[0] - 1, aval(above).dtype
    rows = [[np.conj(above[width - k, k:]), np.zeros(k, dtype)] for k in range(width + 1)]
    return np.stack([np.concatenate(row) for row in rows])


@checks_finite
def solve_toeplitz(c_or_cr: object, b: ArrayLike, check_finite: bool = True) -> Array:
    """``x`` with ``toeplitz(c, r) @ x == b``; `r` is the conjugate of `c` where it is not given.

    >>> print(fg.scipy.linalg.solve_toeplitz(np.array([2.0, 1.0]), np.array([3.0, 3.0])))
    [1. 1.]
    """
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    operands = traced(*[x for x in (c, r, b) if x is not None])
    if operands is None:
        return scipys("solve_toeplitz")(c_or_cr, b, check_finite=check_finite)
    *column, right = [in_doubles(x) for x in operands]
    matrix = toeplitz(*column)
    return np.linalg.solve(matrix, right)


def solve_circulant(
    c: ArrayLike,
    b: ArrayLike,
    singular: str = "raise",
    tol: Number = None,
    caxis: int = -1,
    baxis: int = 0,
    outaxis: int = 0,
) -> Array:
    """``x`` with ``circulant(c) @ x == b``, by Fourier transforms.

    >>> print(fg.scipy.linalg.solve_circulant(np.array([2.0, 1.0, 0.0]), np.array([3.0, 3.0, 3.0])).round(12))
    [1. 1. 1.]
    """
    operands = traced(c, b)
    if operands is None:
        return scipys("solve_circulant")(c, b, singular, tol, caxis, baxis, outaxis)
    column, right = operands
    if aval(column).ndim != 1 or aval(right).ndim > 2 or singular != "raise":
        raise refused("solve_circulant inside a trace takes one column and singular='raise'; see fg.vmap")
    right = np.moveaxis(right, baxis, 0)
    factors = np.fft.fft(column)
    known = known_value(factors)
    if known is not None and abs(known).min() <= SINGULAR * abs(known).max() * len(known):
        raise np.linalg.LinAlgError("near singular circulant matrix.")
    factors = factors if aval(right).ndim == 1 else factors[:, None]
    found: Any = np.fft.ifft(np.fft.fft(right, axis=0) / factors, axis=0)
    if aval(column).dtype.kind != "c" and aval(right).dtype.kind != "c":
        found = found.real
    return np.moveaxis(found, 0, outaxis)
