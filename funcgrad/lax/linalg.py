"""`jax.lax.linalg`: factorisations and solvers with its arguments and the order of its results."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.structure import aval, shape_of
from funcgrad.scipy import linalg
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike

__all__ = ["cholesky", "eigh", "lu", "qr", "svd", "triangular_solve", "tridiagonal_solve"]


def adjoint(x: Array) -> Array:
    """The conjugate transposes of matrices."""
    turned = fnp.swapaxes(x, -1, -2)
    return fnp.conj(turned) if aval(x).dtype.kind == "c" else turned


def cholesky(x: ArrayLike, *, symmetrize_input: bool = True) -> Array:
    """The lower triangular factors of positive definite matrices.

    >>> print(fg.lax.linalg.cholesky(np.diag([4.0, 9.0])))
    [[2. 0.]
     [0. 3.]]
    """
    a = asoperand(x)
    return fnp.linalg.cholesky((a + adjoint(a)) / 2 if symmetrize_input else a)


def eigh(
    x: ArrayLike, *, lower: bool = True, symmetrize_input: bool = True, sort_eigenvalues: bool = True
) -> tuple[Array, Array]:
    """The eigenvectors of symmetric matrices, then their eigenvalues in rising order.

    >>> vectors, values = fg.lax.linalg.eigh(np.diag([2.0, 1.0]))
    >>> print(values)
    [1. 2.]
    """
    a = asoperand(x)
    values, vectors = fnp.linalg.eigh((a + adjoint(a)) / 2 if symmetrize_input else a, "L" if lower else "U")
    return vectors, values


def qr(x: ArrayLike, *, pivoting: bool = False, full_matrices: bool = True) -> tuple[Array, Array]:
    """An orthogonal and an upper triangular factor.

    >>> q, r = fg.lax.linalg.qr(np.ones((3, 2)), full_matrices=False)
    >>> q.shape, r.shape
    ((3, 2), (2, 2))
    """
    if pivoting:
        raise NotImplementedError("fg.lax.linalg.qr: pivoting is not supported; scipy.linalg.qr has it")
    q, r = fnp.linalg.qr(asoperand(x), mode="complete" if full_matrices else "reduced")
    return q, r


def svd(x: ArrayLike, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Left singular vectors, singular values and right singular vectors, or the values alone.

    >>> print(fg.lax.linalg.svd(np.diag([1.0, 2.0]), compute_uv=False))
    [2. 1.]
    """
    if not compute_uv:
        return fnp.linalg.svd(asoperand(x), compute_uv=False)
    return tuple(fnp.linalg.svd(asoperand(x), full_matrices=full_matrices))


def lu(x: ArrayLike) -> tuple[Array, Array, Array]:
    """Both triangular factors in one matrix, the rows exchanged in each step, and the order they end in.

    >>> packed, pivots, order = fg.lax.linalg.lu(np.array([[1.0, 2.0], [4.0, 4.0]]))
    >>> print(pivots, order)
    [1 1] [1 0]
    """
    a = asoperand(x)
    if len(shape_of(a)) != 2:
        raise NotImplementedError("fg.lax.linalg.lu takes one matrix; fg.vmap takes several")
    packed, pivots = linalg.lu_factor(a)
    order: Any = np.arange(shape_of(a)[0])
    for row in range(shape_of(pivots)[0]):
        other = pivots[row]
        first, second = order[row], fnp.take(order, other)
        places = np.arange(shape_of(a)[0])
        order = fnp.where(places == row, second, fnp.where(places == other, first, order))
    return packed, pivots, order


def triangular_solve(
    a: ArrayLike,
    b: ArrayLike,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """`x` of ``x @ op(a) = b``, or with `left_side` of ``op(a) @ x = b``; the other triangle is not read.

    >>> print(fg.lax.linalg.triangular_solve(2.0 * np.eye(2), np.ones((2, 1)), left_side=True)[:, 0])
    [0.5 0.5]
    """
    matrix, right = asoperand(a), asoperand(b)
    if conjugate_a:
        matrix = fnp.conj(matrix)
    if not left_side:
        # The transposed equation has the matrix on the left.
        matrix, lower = fnp.swapaxes(matrix, -1, -2), not lower
    if len(shape_of(right)) == len(shape_of(matrix)) - 1:
        right = right[..., None]
        return triangular(matrix, right, lower, transpose_a, unit_diagonal)[..., 0]
    if left_side:
        return triangular(matrix, right, lower, transpose_a, unit_diagonal)
    found = triangular(matrix, fnp.swapaxes(right, -1, -2), lower, transpose_a, unit_diagonal)
    return fnp.swapaxes(found, -1, -2)


def triangular(a: Array, b: Array, lower: bool, transposed: bool, unit: bool) -> Array:
    """The solutions of triangular equations."""
    return linalg.solve_triangular(a, b, trans=int(transposed), lower=lower, unit_diagonal=unit)


def tridiagonal_solve(dl: ArrayLike, d: ArrayLike, du: ArrayLike, b: ArrayLike) -> Array:
    """The solution of equations with a matrix of three diagonals, each as long as the matrix.

    ``dl[0]`` and ``du[-1]`` stand outside of the matrix.

    >>> zeros = np.zeros(2)
    >>> print(fg.lax.linalg.tridiagonal_solve(zeros, np.array([2.0, 4.0]), zeros, np.ones((2, 1)))[:, 0])
    [0.5  0.25]
    """
    low, middle, high = asoperand(dl), asoperand(d), asoperand(du)
    if len(shape_of(middle)) != 1:
        raise NotImplementedError("fg.lax.linalg.tridiagonal_solve takes one matrix; fg.vmap takes several")
    banded = fnp.stack([fnp.roll(high, 1), middle, fnp.roll(low, -1)])
    return linalg.solve_banded((1, 1), banded, asoperand(b))
