"""`jax.lax.linalg`: factorisations and solvers with its arguments and the order of its results."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.api.absent import missing
from funcgrad.api.batch import vmap
from funcgrad.lax.reflections import hessenberg, householder_product, ormqr, tridiagonal
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.scipy import linalg
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, Arrays

__all__ = [
    "cholesky",
    "cholesky_update",
    "eig",
    "eigh",
    "hessenberg",
    "householder_product",
    "lu",
    "lu_pivots_to_permutation",
    "ormqr",
    "qr",
    "schur",
    "svd",
    "symmetric_product",
    "triangular_solve",
    "tridiagonal",
    "tridiagonal_solve",
]


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


def cholesky_update(r_matrix: ArrayLike, w_vector: ArrayLike) -> Array:
    """The upper triangular factor `R` of ``R.T @ R == r_matrix.T @ r_matrix + outer(w_vector, w_vector)``.

    Its diagonal is positive. It comes of a QR factorisation, so the matrix is not squared.

    >>> print(fg.lax.linalg.cholesky_update(np.diag([3.0, 1.0]), np.array([4.0, 0.0])) + 0.0)
    [[5. 0.]
     [0. 1.]]
    """
    factor, row = asoperand(r_matrix), asoperand(w_vector)
    r = fnp.linalg.qr(fnp.concatenate([factor, row[..., None, :]], axis=-2), mode="r")
    diagonal = fnp.diagonal(r, axis1=-2, axis2=-1)
    return fnp.triu(r * fnp.where(diagonal < 0, -1.0, 1.0)[..., :, None])


def eig(
    x: ArrayLike,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = True,
) -> list[Array]:
    """The eigenvalues of general matrices, then left and right eigenvectors of length 1, if wanted.

    Their derivatives exist where eigenvalues differ, for what does not depend on the eigenvectors' phases.

    >>> values, right = fg.lax.linalg.eig(np.diag([2.0, 1.0]), compute_left_eigenvectors=False)
    >>> print(values)
    [2.+0.j 1.+0.j]
    """
    values, right = fnp.linalg.eig(asoperand(x))
    # NumPy's are real where all of them are.
    values, right = values + 0j, right + 0j
    found = [fnp.astype(values, aval(right).dtype)]
    if compute_left_eigenvectors:
        # The rows of the inverse, which meet one right eigenvector each.
        left = adjoint(fnp.linalg.inv(right))
        found.append(left / fnp.linalg.norm(left, axis=-2, keepdims=True))
    return [*found, right] if compute_right_eigenvectors else found


def schur(
    x: ArrayLike, *, compute_schur_vectors: bool = True, sort_eig_vals: bool = False
) -> tuple[Array, ...]:
    """The Schur form of one matrix and the unitary matrix that leads to it.

    That of a real matrix is real: for derivatives where eigenvalues are complex give it a complex one.

    >>> form, vectors = fg.lax.linalg.schur(np.diag([2.0, 1.0]))
    >>> print(form)
    [[2. 0.]
     [0. 1.]]
    """
    if sort_eig_vals:
        raise NotImplementedError(
            "fg.lax.linalg.schur: sort_eig_vals is not supported; scipy.linalg.schur sorts"
        )
    a = asoperand(x)
    form, vectors = linalg.schur(a, output="complex" if aval(a).dtype.kind == "c" else "real")
    return (form, vectors) if compute_schur_vectors else (form,)


def symmetric_product(
    a_matrix: ArrayLike,
    c_matrix: ArrayLike,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Array:
    """``alpha * a @ a.T + beta * c`` with a symmetric `c`; both triangles are written in any case.

    >>> print(fg.lax.linalg.symmetric_product(np.array([[1.0], [2.0]]), np.eye(2), beta=3.0))
    [[4. 2.]
     [2. 7.]]
    """
    a, c = asoperand(a_matrix), asoperand(c_matrix)
    return alpha * (a @ fnp.swapaxes(a, -1, -2)) + beta * c


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


def svd(x: ArrayLike, *, full_matrices: bool = True, compute_uv: bool = True) -> Arrays:
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
    packed, pivots = linalg.lu_factor(a)
    return packed, pivots, lu_pivots_to_permutation(pivots, shape_of(a)[-2])


def lu_pivots_to_permutation(pivots: ArrayLike, permutation_size: int) -> Array:
    """The order that rows end in when one after the other is exchanged with the row that is named.

    >>> print(fg.lax.linalg.lu_pivots_to_permutation(np.array([2, 2, 2]), 3))
    [2 0 1]
    """
    exchanged = asoperand(pivots)
    *batch, count = shape_of(exchanged)
    places = np.arange(permutation_size)
    order: Any = np.broadcast_to(places, (*batch, permutation_size))
    for row in range(count):
        other = exchanged[..., row : row + 1]
        first, second = order[..., row : row + 1], fnp.take_along_axis(order, other, axis=-1)
        order = fnp.where(places == row, second, fnp.where(places == other, first, order))
    return fnp.astype(order, aval(exchanged).dtype)


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
    if len(shape_of(middle)) > 1:
        return vmap(tridiagonal_solve)(low, middle, high, asoperand(b))
    banded = fnp.stack([fnp.roll(high, 1), middle, fnp.roll(low, -1)])
    return linalg.solve_banded((1, 1), banded, asoperand(b))


def __getattr__(name: str) -> object:
    """Say what to write for a name of JAX's that is not here."""
    raise missing(__name__, name, __all__)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
