"""Decompositions with SciPy's signatures; traced, those of `fg.numpy.linalg` and a few more."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.numpy.algebra import decompositions
from funcgrad.numpy.algebra.awaited import factorable
from funcgrad.numpy.algebra.linear_systems import require_square, traced_matrices
from funcgrad.numpy.dispatch import unsupported
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.movement import take_span
from funcgrad.ops.arrays.sorting import ArgSort
from funcgrad.ops.arrays.structure import aval, broadcast, cast, shape_of
from funcgrad.ops.elementwise.arithmetic import add
from funcgrad.ops.elementwise.complexes import complex_dtype
from funcgrad.ops.linalg import general, singular, spectra
from funcgrad.ops.linalg.cholesky import cholesky as cholesky_factor
from funcgrad.ops.linalg.lu import Lu, PivotOrder, rows_taken, unit_lower
from funcgrad.ops.linalg.matrices import (
    adjoint,
    conjugate,
    flipped,
    hermitian_part,
    lower_part,
    product,
    upper_part,
)
from funcgrad.ops.linalg.orthogonal import Qr
from funcgrad.ops.linalg.schur import Schur
from funcgrad.ops.linalg.sylvester import PolarFactor
from funcgrad.ops.linalg.triangular import TriangularSolve
from funcgrad.scipy.linalg.arguments import checks_finite, refuse, scipys
from funcgrad.scipy.linalg.generalised import generalised_pairs
from funcgrad.types import Array, ArrayLike, Arrays

__all__ = [
    "cho_factor",
    "cholesky",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "lu",
    "lu_factor",
    "polar",
    "qr",
    "schur",
    "svd",
    "svdvals",
]

# -- triangular factors --------------------------------------------------------------------------------------


@checks_finite
def cholesky(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array:
    """The triangular factor of a Hermitian positive definite matrix, upper unless `lower` is true.

    Only that triangle of `a` is read; gradients are Hermitian.

    >>> print(fg.scipy.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]])))
    [[2. 1.]
     [0. 2.]]
    """
    operands = traced_matrices("cholesky", a)
    if operands is None:
        return scipys("cholesky")(a, lower, check_finite=check_finite)
    (x,) = operands
    factor = cholesky_factor.bind(factorable("cholesky", x if lower else adjoint(x)))
    return factor if lower else adjoint(factor)


@checks_finite
def cho_factor(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Any, bool]:
    """The factor of `cholesky` and `lower`, for `cho_solve`.

    >>> c, lower = fg.scipy.linalg.cho_factor(np.diag([4.0, 9.0]))
    >>> print(c.diagonal(), lower)
    [2. 3.] False
    """
    operands = traced_matrices("cho_factor", a)
    if operands is None:
        found: tuple[Any, bool] = scipys("cho_factor")(a, lower, check_finite=check_finite)
        return found
    return cholesky(operands[0], lower), bool(lower)


@checks_finite
def lu(
    a: ArrayLike,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    p_indices: bool = False,
) -> tuple[Any, ...]:
    """``p``, ``l`` and ``u`` with ``p @ l @ u == a``; `permute_l` gives ``p @ l`` and ``u``.

    With `p_indices` the permutation is a vector, and ``a == l[p] @ u``.

    >>> p, l, u = fg.scipy.linalg.lu(np.array([[0.0, 2.0], [4.0, 1.0]]))
    >>> print(u)
    [[4. 1.]
     [0. 2.]]
    """
    operands = traced_matrices("lu", a)
    if operands is None:
        found: tuple[Any, ...] = scipys("lu")(a, permute_l, check_finite=check_finite, p_indices=p_indices)
        return found
    packed, pivots = Lu().bind(operands[0])
    last = aval(packed).ndim - 1
    m, n = shape_of(packed)[-2:]
    k = min(m, n)
    lower = unit_lower(take_span(packed, last, 0, k))
    upper = upper_part(take_span(packed, last - 1, 0, k))
    back = ArgSort(last - 1).bind(PivotOrder(m).bind(pivots))
    if permute_l:
        return rows_taken(lower, back), upper
    if p_indices:
        return back, lower, upper
    shape = (*shape_of(packed)[:-1], m)
    eye = broadcast(np.eye(m, dtype=np.zeros((), aval(packed).dtype).real.dtype), shape, (last - 1, last))
    return rows_taken(eye, back), lower, upper


@checks_finite
def lu_factor(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, Any]:
    """Both factors in one matrix, and the pivots, for `lu_solve`.

    >>> lu, pivots = fg.scipy.linalg.lu_factor(np.array([[0.0, 2.0], [4.0, 1.0]]))
    >>> print(lu, pivots)
    [[4. 1.]
     [0. 2.]] [1 1]
    """
    operands = traced_matrices("lu_factor", a)
    if operands is None:
        found: tuple[Any, Any] = scipys("lu_factor")(a, check_finite=check_finite)
        return found
    packed, pivots = Lu().bind(operands[0])
    return packed, pivots


# -- orthogonal factors --------------------------------------------------------------------------------------


@checks_finite
def qr(
    a: ArrayLike,
    overwrite_a: bool = False,
    lwork: object = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Arrays:
    """``q`` with orthonormal columns and upper triangular ``r``; `mode` is ``full``, ``economic`` or ``r``.

    >>> q, r = fg.scipy.linalg.qr(np.array([[3.0], [4.0]]), mode="economic")
    >>> print(r)
    [[-5.]]
    """
    operands = traced_matrices("qr", a)
    if operands is None:
        return scipys("qr")(a, mode=mode, pivoting=pivoting, check_finite=check_finite)
    refuse("qr", {"pivoting": pivoting})
    if mode == "raw":
        raise unsupported("scipy.linalg.qr with mode='raw'")
    if mode not in ("full", "economic", "r"):
        raise refused(f"qr: mode={mode!r} is none of 'full', 'economic' and 'r'")
    q, r = Qr(mode != "economic").bind(operands[0])
    return (r,) if mode == "r" else (q, r)


@checks_finite
def polar(a: ArrayLike, side: str = "right") -> tuple[Any, Any]:
    """``u`` with orthonormal columns (or rows) and positive ``p``: ``u @ p == a``, on the left ``p @ u``.

    Its derivatives exist also where singular values are repeated, of a square matrix if it has an inverse.

    >>> u, p = fg.scipy.linalg.polar(np.array([[0.0, -2.0], [3.0, 0.0]]))
    >>> print(p)
    [[3. 0.]
     [0. 2.]]
    """
    operands = traced_matrices("polar", a)
    if operands is None:
        found: tuple[Any, Any] = scipys("polar")(a, side)
        return found
    if side not in ("left", "right"):
        raise refused(f"polar: side={side!r} is neither 'left' nor 'right'")
    (x,) = operands
    m, n = shape_of(x)[-2:]
    u = PolarFactor().bind(x) if m >= n else adjoint(PolarFactor().bind(adjoint(x)))
    p = product(adjoint(u), x) if side == "right" else product(x, adjoint(u))
    return u, hermitian_part(p)


@checks_finite
def schur(
    a: ArrayLike,
    output: str = "real",
    lwork: object = None,
    overwrite_a: bool = False,
    sort: object = None,
    check_finite: bool = True,
) -> Arrays:
    """Triangular ``t`` and unitary ``z`` with ``z @ t @ z^H == a``.

    The ``real`` form of a matrix with complex eigenvalues has blocks on its diagonal; its derivative
    raises NotDifferentiableError; the ``complex`` form has one. Eigenvalues must differ, too.

    >>> t, z = fg.scipy.linalg.schur(np.diag([1.0, 2.0]))
    >>> print(t)
    [[1. 0.]
     [0. 2.]]
    """
    operands = traced_matrices("schur", a)
    if operands is None:
        return scipys("schur")(a, output, lwork, sort=sort, check_finite=check_finite)
    refuse("schur", {"sort": sort})
    if output not in ("real", "complex", "r", "c"):
        raise refused(f"schur: output={output!r} is neither 'real' nor 'complex'")
    (x,) = operands
    t, z = Schur().bind(cast(x, complex_dtype(aval(x).dtype)) if output[0] == "c" else x)
    return t, z


# -- eigenvalues and singular values -------------------------------------------------------------------------


@checks_finite
def eigh(
    a: ArrayLike,
    b: ArrayLike = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: object = None,
    subset_by_value: object = None,
    driver: object = None,
) -> Arrays:
    """Eigenvalues and eigenvectors of a Hermitian matrix, or of ``a @ v == w * (b @ v)`` for a positive `b`.

    Of `a` and `b` one triangle is read; gradients are Hermitian. `subset_by_index` is the first and the last
    eigenvalue that are wanted.

    >>> w, v = fg.scipy.linalg.eigh(np.diag([2.0, 1.0]), np.diag([1.0, 4.0]))
    >>> print(w)
    [0.25 2.  ]
    """
    operands = traced_matrices("eigh", a) if b is None else traced_matrices("eigh", a, b)
    if operands is None:
        return scipys("eigh")(
            a,
            b,
            lower=lower,
            eigvals_only=eigvals_only,
            type=type,
            check_finite=check_finite,
            subset_by_index=subset_by_index,
            subset_by_value=subset_by_value,
            driver=driver,
        )
    refuse("eigh", {"subset_by_value": subset_by_value, "type": None if type == 1 else type})
    x, *other = [matrix if lower else adjoint(matrix) for matrix in operands]
    require_square("eigh", x)
    if other:
        factor = cholesky_factor.bind(factorable("cholesky", other[0]))
        x = reduced(x, factor)
    if eigvals_only:
        return part_of(spectra.eigvalsh.bind(x), subset_by_index)
    w, v = spectra.eigh.bind(x)
    if other:
        v = TriangularSolve(True, True, False).bind(conjugate(factor), v)
    return part_of(w, subset_by_index), part_of(v, subset_by_index)


def reduced(x: ArrayLike, factor: ArrayLike) -> Array:
    """``factor^-1 @ x @ factor^-H`` for the Hermitian matrix with the lower triangle of `x`."""
    hermitian = add(lower_part(x), adjoint(lower_part(x, -1)))
    half = TriangularSolve(True, False, False).bind(factor, hermitian)
    return flipped(TriangularSolve(True, False, False).bind(conjugate(factor), flipped(half)))


def part_of(x: ArrayLike, bounds: ArrayLike) -> Array:
    """The elements of the last axis from the first to the last that are wanted."""
    if bounds is None:
        return x
    low, high = bounds
    count = aval(x).shape[-1]
    if not 0 <= low <= high < count:
        raise ValueError(f"subset_by_index={bounds!r} must be within 0 and {count - 1}, in order")
    return take_span(x, aval(x).ndim - 1, int(low), int(high) - int(low) + 1)


@checks_finite
def eigvalsh(
    a: ArrayLike,
    b: ArrayLike = None,
    *,
    lower: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: object = None,
    subset_by_value: object = None,
    driver: object = None,
) -> Array:
    """The eigenvalues of `eigh`.

    >>> print(fg.scipy.linalg.eigvalsh(np.diag([2.0, 1.0])))
    [1. 2.]
    """
    return eigh(
        a,
        b,
        lower=lower,
        eigvals_only=True,
        type=type,
        check_finite=check_finite,
        subset_by_index=subset_by_index,
        subset_by_value=subset_by_value,
        driver=driver,
    )


@checks_finite
def eig(
    a: ArrayLike,
    b: ArrayLike | None = None,
    left: bool = False,
    right: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Arrays:
    """Eigenvalues and right eigenvectors of a square matrix; traced, both are complex.

    With `b` those of ``a @ v = w * b @ v``, in SciPy's order and phases; a traced `b` is not singular.

    >>> values, vectors = fg.scipy.linalg.eig(np.diag([2.0, 1.0]))
    >>> print(values, np.abs(vectors).diagonal())
    [2.+0.j 1.+0.j] [1. 1.]
    """
    operands = traced_matrices("eig", a) if b is None else traced_matrices("eig", a, b)
    if operands is None:
        options = {"check_finite": check_finite, "homogeneous_eigvals": homogeneous_eigvals}
        return scipys("eig")(a, b, left, right, **options)
    refuse("eig", {"left": left, "homogeneous_eigvals": homogeneous_eigvals})
    values, vectors = general.eig.bind(operands[0]) if b is None else generalised_pairs(*operands)
    return (values, vectors) if right else values


@checks_finite
def eigvals(
    a: ArrayLike,
    b: ArrayLike = None,
    overwrite_a: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Array:
    """The eigenvalues of a square matrix; traced, they are complex.

    >>> print(fg.scipy.linalg.eigvals(np.diag([2.0, 1.0])))
    [2.+0.j 1.+0.j]
    """
    operands = traced_matrices("eigvals", a) if b is None else traced_matrices("eigvals", a, b)
    if operands is None:
        return scipys("eigvals")(a, b, check_finite=check_finite, homogeneous_eigvals=homogeneous_eigvals)
    refuse("eigvals", {"homogeneous_eigvals": homogeneous_eigvals})
    return general.eigvals.bind(operands[0]) if b is None else generalised_pairs(*operands)[0]


@checks_finite
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Arrays:
    """Singular vectors and values: ``u @ diag(s) @ vh == a``; see `fg.numpy.linalg.svd`.

    >>> u, s, vh = fg.scipy.linalg.svd(np.diag([3.0, -4.0]))
    >>> print(s)
    [4. 3.]
    """
    operands = traced_matrices("svd", a)
    if operands is None:
        return scipys("svd")(
            a, full_matrices, compute_uv, check_finite=check_finite, lapack_driver=lapack_driver
        )
    found = decompositions.svd(operands[0], full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


@checks_finite
def svdvals(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The singular values, descending.

    >>> print(fg.scipy.linalg.svdvals(np.diag([3.0, -4.0])))
    [4. 3.]
    """
    operands = traced_matrices("svdvals", a)
    return (
        scipys("svdvals")(a, check_finite=check_finite)
        if operands is None
        else singular.svdvals.bind(operands[0])
    )
