"""Least squares and pseudo-inverses, with SciPy's shapes and cuts."""

from __future__ import annotations

import numpy as np

from funcgrad.numpy.algebra import linear_systems
from funcgrad.numpy.algebra.linear_systems import require_square, traced_matrices
from funcgrad.ops.arrays.structure import aval, reshape, shape_of
from funcgrad.scipy.linalg.arguments import checks_finite, refuse, scipys
from funcgrad.scipy.linalg.reduced import adjoint
from funcgrad.types import Array, ArrayLike, Arrays, Number


@checks_finite
def lstsq(
    a: ArrayLike,
    b: ArrayLike,
    cond: Number | None = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    lapack_driver: str | None = None,
) -> Arrays:
    """The shortest ``x`` that makes ``b - a @ x`` shortest, residuals, rank and singular values.

    Singular values below `cond` times the largest count as zero; `cond` is the precision of the dtype unless
    it is given. Traced, residuals of more equations than unknowns are given whatever the rank.

    >>> a, b = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0])
    >>> x, _, rank, _ = fg.scipy.linalg.lstsq(a, b)
    >>> print(x.round(12), rank)
    [1. 2.] 2
    """
    operands = traced_matrices("lstsq", a, b)
    if operands is None:
        return scipys("lstsq")(a, b, cond, check_finite=check_finite, lapack_driver=lapack_driver)
    x, y = operands
    cut = float(np.finfo(aval(x).dtype).eps) if cond is None else cond
    found, residuals, rank, singular_values = linear_systems.lstsq(x, y, cut)
    if shape_of(residuals) == (1,) and aval(y).ndim == 1:
        residuals = reshape(residuals, ())
    return found, residuals, rank, None if lapack_driver == "gelsy" else singular_values


@checks_finite
def pinvh(
    a: ArrayLike,
    atol: Number | None = None,
    rtol: Number | None = None,
    lower: bool = True,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Array:
    """The pseudo-inverse of a Hermitian matrix, of which one triangle is read.

    >>> print(fg.scipy.linalg.pinvh(np.diag([2.0, 0.0])))
    [[0.5 0. ]
     [0.  0. ]]
    """
    operands = traced_matrices("pinvh", a)
    if operands is None:
        return scipys("pinvh")(a, atol, rtol, lower, return_rank, check_finite)
    refuse("pinvh", {"atol": atol, "return_rank": return_rank})
    [x] = operands
    require_square("pinvh", x)
    return linear_systems.pinv(x if lower else adjoint(x), rtol=rtol, hermitian=True)
