"""What ``torch.linalg`` computes, as functions of arrays: NumPy's, with the gradients of PyTorch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from funcgrad.api.rules.custom import custom_jvp
from funcgrad.types import Array, NormOrder, Option


def solve(a: Array, b: Array, vector: bool) -> Array:
    """The solution of a system, or of one for a vector."""
    if vector:
        return np.linalg.solve(a, np.expand_dims(b, -1))[..., 0]
    return np.linalg.solve(a, b)


def slogdet(a: Array) -> tuple[Array, Array]:
    """Sign and logarithm of the determinant."""
    sign, log = np.linalg.slogdet(a)
    return sign, log


@custom_jvp
def as_hermitian(a: Array) -> Array:
    """A matrix that counts as Hermitian, as its gradient does; NumPy's functions read one triangle."""
    return a


@as_hermitian.defjvp
def _hermitian_tangent(primals: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, Array]:
    (tangent,) = tangents
    return primals[0], 0.5 * (tangent + np.conj(np.swapaxes(tangent, -1, -2)))


def cholesky(a: Array) -> Array:
    """The lower factor of a matrix that counts as Hermitian."""
    return np.linalg.cholesky(as_hermitian(a))


def qr(a: Array, mode: Option) -> tuple[Array, Array]:
    """Both factors; the first is empty where only the second is asked for."""
    if mode == "r":
        return np.zeros((0,), a.dtype), np.linalg.qr(a, "r")
    q, r = np.linalg.qr(a, mode)
    return q, r


def svd(a: Array, full: bool) -> tuple[Array, Array, Array]:
    """Singular vectors and values."""
    u, s, vh = np.linalg.svd(a, full_matrices=full)
    return u, s, vh


def svdvals(a: Array) -> Array:
    """Singular values."""
    return np.linalg.svd(a, compute_uv=False)


def eigh(a: Array, uplo: Literal["L", "U"]) -> tuple[Array, Array]:
    """Eigenvalues and vectors of a matrix that counts as Hermitian."""
    values, vectors = np.linalg.eigh(as_hermitian(a), uplo)
    return values, vectors


def eigvalsh(a: Array, uplo: Literal["L", "U"]) -> Array:
    """The eigenvalues alone."""
    return np.linalg.eigvalsh(as_hermitian(a), uplo)


def _complex_kind(a: Array) -> type[np.complexfloating[Any, Any]]:
    return np.complex64 if a.dtype in (np.float32, np.complex64) else np.complex128


def eig(a: Array) -> tuple[Array, Array]:
    """Eigenvalues and vectors, complex."""
    values, vectors = np.linalg.eig(a)
    return values.astype(_complex_kind(a)), vectors.astype(_complex_kind(a))


def matrix_norm(a: Array, order: NormOrder, keepdims: bool) -> Array:
    """A norm of the last two axes."""
    return np.linalg.norm(a, order, axis=(-2, -1), keepdims=keepdims)


@custom_jvp
def pseudo_inverse(a: Array, bound: Array) -> Array:
    """The pseudo-inverse, without singular values up to a bound."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    inverse = np.where(s > bound, 1.0 / np.where(s > bound, s, 1.0), 0.0).astype(a.dtype)
    return np.matmul(_adjoint(vh), np.expand_dims(inverse, -1) * _adjoint(u))


@pseudo_inverse.defjvp
def _pseudo_inverse_tangent(primals: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, Array]:
    # Where the rank stays the same: G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and
    # nonlinear least squares problems whose variables separate" (1973), equation 4.12.
    (a, bound), (t, _) = primals, tangents
    p = pseudo_inverse(a, bound)
    ph, th = _adjoint(p), _adjoint(t)
    left = np.matmul(np.matmul(p, ph), th - np.matmul(th, np.matmul(a, p)))
    right = np.matmul(th - np.matmul(np.matmul(p, a), th), np.matmul(ph, p))
    return p, left + right - np.matmul(p, np.matmul(t, p))


def _adjoint(a: Array) -> Array:
    return np.conj(np.swapaxes(a, -1, -2))


def pinv(a: Array, bound: Array, hermitian: bool) -> Array:
    """`pseudo_inverse`, of a matrix or of what its lower triangle says."""
    return pseudo_inverse(lower_read(a) if hermitian else a, bound)


@custom_jvp
def lower_read(a: Array) -> Array:
    """The Hermitian matrix of a lower triangle; its gradient is that of all elements, as PyTorch's."""
    return of_lower(a)


def of_lower(a: Array) -> Array:
    """The Hermitian matrix whose lower triangle this is."""
    below = np.tril(a, -1)
    return below + _adjoint(below) + np.real(a) * np.eye(a.shape[-1], dtype=a.real.dtype)


@lower_read.defjvp
def _lower_read_tangent(primals: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, Array]:
    return lower_read(primals[0]), tangents[0]


def multi_dot(*values: Array) -> Array:
    """The product of several matrices."""
    return np.linalg.multi_dot(list(values))


def matrix_exp_scaled(a: Array, squarings: int) -> Array:
    """The exponential, from that of a matrix that is halved so often."""
    # Scaling and squaring with a Taylor polynomial of order 18 below norm 1: N. J. Higham, "The scaling and
    # squaring method for the matrix exponential revisited" (2005), section 2.
    scaled = a * (0.5**squarings)
    term = found = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape) + 0 * a
    for k in range(1, 19):
        term = np.matmul(term, scaled) * (1.0 / k)
        found = found + term
    for _ in range(squarings):
        found = np.matmul(found, found)
    return found
