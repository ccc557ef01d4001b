"""`jax.lax.linalg`'s matrices as products of reflections, stored in LAPACK's way, and what is close to them.

Below the diagonal (or the subdiagonal) of a matrix stand the vectors of reflections, without their leading 1;
beside it their factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.scipy.linalg.reduced import adjoint, householder
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike

__all__ = ["hessenberg", "householder_product", "ormqr", "tridiagonal"]


def turned(x: Array, v: Array, tau: Array) -> Array:
    """Columns reflected by one vector."""
    return x - tau[..., None] * v[..., :, None] * (fnp.conj(v)[..., None, :] @ x)


def vectors_of(a: Array, k: int) -> Array:
    """The vector of reflection `k`, with zeros and the 1 before what is stored."""
    rows = np.arange(shape_of(a)[-2])
    return fnp.where(rows > k, a[..., :, k], (rows == k).astype(aval(a).dtype))


def householder_product(a: ArrayLike, taus: ArrayLike) -> Array:
    """The first columns of the product of reflections, as many as `a` has.

    >>> a, taus = np.array([[0.0], [1.0]]), np.array([1.0])
    >>> print(fg.lax.linalg.householder_product(a, taus)[:, 0])
    [ 0. -1.]
    """
    stored, factors = asoperand(a), asoperand(taus)
    rows, columns = shape_of(stored)[-2:]
    out: Any = np.broadcast_to(np.eye(rows, columns, dtype=aval(stored).dtype), shape_of(stored))
    for k in reversed(range(shape_of(factors)[-1])):
        out = turned(out, vectors_of(stored, k), factors[..., k : k + 1])
    return out


def ormqr(
    a: ArrayLike, taus: ArrayLike, c: ArrayLike, *, left: bool = True, transpose: bool = False
) -> Array:
    """`c` times the product of reflections, which stands on its left or its right, as it is or conjugated.

    >>> a, taus = np.array([[0.0], [1.0]]), np.array([1.0])
    >>> print(fg.lax.linalg.ormqr(a, taus, np.eye(2)))
    [[ 0. -1.]
     [-1.  0.]]
    """
    stored, factors, x = asoperand(a), asoperand(taus), asoperand(c)
    if not left:
        return adjoint(ormqr(stored, factors, adjoint(x), transpose=not transpose))
    steps = range(shape_of(factors)[-1])
    for k in steps if transpose else reversed(steps):
        tau = factors[..., k : k + 1]
        x = turned(x, vectors_of(stored, k), fnp.conj(tau) if transpose else tau)
    return x


def hessenberg(a: ArrayLike) -> tuple[Array, Array]:
    """The matrix turned so that it is zero below the first subdiagonal, and the factors of the reflections.

    In place of the zeros stand their vectors; `householder_product` makes the turn of both.

    >>> packed, taus = fg.lax.linalg.hessenberg(np.array([[1.0, 2.0, 3.0], [3.0, 5.0, 1.0], [4.0, 1.0, 2.0]]))
    >>> print(packed[1, 0].round(12), taus.round(12))
    -5.0 [1.6 0. ]
    """
    h = asoperand(a)
    n = shape_of(h)[-1]
    stored, taus = [], []
    for k in range(n - 1):
        v, tau = householder(h[..., :, k], k + 1)
        # From the left by its adjoint, from the right by itself.
        h = turned(h, v, fnp.conj(tau))
        h = adjoint(turned(adjoint(h), v, fnp.conj(tau)))
        stored.append(v)
        taus.append(tau)
    if n < 2:
        return h, fnp.zeros((*shape_of(h)[:-2], 0), aval(h).dtype)
    columns = fnp.stack([*stored, stored[-1], stored[-1]][:n], axis=-1)
    return fnp.where(np.tri(n, n, -2, dtype=bool), columns, h), fnp.concatenate(taus, axis=-1)


def tridiagonal(a: ArrayLike, *, lower: bool = True) -> tuple[Array, Array, Array, Array]:
    """A symmetric matrix turned to three diagonals: its vectors, diagonal, subdiagonal and factors.

    Read is the lower triangle, and only ``lower=True`` is written.

    >>> _, d, e, _ = fg.lax.linalg.tridiagonal(np.array([[1.0, 3.0, 4.0], [3.0, 5.0, 1.0], [4.0, 1.0, 2.0]]))
    >>> print(d.round(2), e.round(2))
    [1.   4.04 2.96] [-5.    1.72]
    """
    if not lower:
        raise NotImplementedError(
            "fg.lax.linalg.tridiagonal: lower=False is not written; transpose the matrix"
        )
    x = asoperand(a)
    below = fnp.tril(x, -1)
    diagonal = fnp.real(fnp.diagonal(x, axis1=-2, axis2=-1))
    full = below + adjoint(below) + diagonal[..., None] * np.eye(shape_of(x)[-1])
    packed, taus = hessenberg(full)
    d = fnp.real(fnp.diagonal(packed, axis1=-2, axis2=-1))
    # What stands above the diagonal is not read, and stays.
    packed = fnp.tril(packed) + fnp.triu(x, 1)
    return packed, d, fnp.real(fnp.diagonal(packed, -1, axis1=-2, axis2=-1)), taus
