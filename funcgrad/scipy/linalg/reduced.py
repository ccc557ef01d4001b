"""Matrices in simpler form, and what is composed of decompositions and systems."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from funcgrad.numpy.algebra.linear_systems import require_square, traced_matrices
from funcgrad.numpy.algebra.operands import traced
from funcgrad.numpy.dispatch import unsupported
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.scipy.linalg.arguments import checks_finite, scipys
from funcgrad.scipy.linalg.decompositions import eigh, eigvalsh, polar, qr, svdvals
from funcgrad.scipy.linalg.systems import solve, solve_sylvester
from funcgrad.types import Array, ArrayLike, Arrays

__all__ = [
    "eigh_tridiagonal",
    "eigvalsh_tridiagonal",
    "hessenberg",
    "ldl",
    "orthogonal_procrustes",
    "qr_multiply",
    "solve_continuous_lyapunov",
    "solve_discrete_lyapunov",
    "solve_lyapunov",
]


@checks_finite
def hessenberg(
    a: ArrayLike, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Arrays:
    """The matrix, turned so that it is zero below the first subdiagonal; with `calc_q` also by what.

    It is turned by one reflection after another, as LAPACK does, and each is differentiated: meant for
    matrices of some tens of rows.

    >>> h, q = fg.scipy.linalg.hessenberg(np.array([[1.0, 2.0, 3.0], [3.0, 5.0, 1.0], [4.0, 1.0, 2.0]]), True)
    >>> print(h[1:, 0].round(12))
    [-5.  0.]
    """
    operands = traced_matrices("hessenberg", a)
    if operands is None:
        return scipys("hessenberg")(a, calc_q, check_finite=check_finite)
    [h] = operands
    require_square("hessenberg", h)
    n = shape_of(h)[-1]
    q: Any = np.broadcast_to(np.eye(n, dtype=aval(h).dtype), shape_of(h))
    # Of complex matrices LAPACK makes the last element below the diagonal real, too.
    for k in range(n - 1 if aval(h).dtype.kind == "c" and n > 2 else n - 2):
        turn = reflection(*householder(h[..., :, k], k + 1))
        h = adjoint(turn) @ h @ turn
        q = q @ turn
    below = np.tri(n, n, -2, dtype=bool)
    h = np.where(below, np.zeros((), aval(h).dtype), h)
    return (h, q) if calc_q else h


def adjoint(x: ArrayLike) -> Array:
    """The conjugate transpose."""
    return np.conj(np.swapaxes(x, -1, -2))


def householder(x: ArrayLike, k: int) -> tuple[Array, Array]:
    """``v`` and ``tau`` of the reflection that leaves a real number in place `k` and zeros behind it.

    They are LAPACK's ``larfg``'s: `v` is 0 before place `k` and 1 there; `tau` has an axis of one element.
    """
    first, rest = x[..., k : k + 1], x[..., k + 1 :]
    beyond = np.sum(np.abs(rest) ** 2, axis=-1, keepdims=True) + np.imag(first) ** 2
    is_done = beyond == 0
    size = np.sqrt(np.where(is_done, 1.0, beyond + np.real(first) ** 2))
    beta = np.where(np.real(first) < 0, size, -size)
    tau = np.where(is_done, 0.0, (beta - first) / beta)
    scale = np.where(is_done, 1.0, first - beta)
    zeros = np.zeros((*shape_of(x)[:-1], k), aval(x).dtype)
    ones = np.ones((*shape_of(x)[:-1], 1), aval(x).dtype)
    return np.concatenate([zeros, ones, rest / scale], axis=-1), tau


def reflection(v: ArrayLike, tau: ArrayLike) -> Array:
    """The matrix of a reflection."""
    one = np.eye(shape_of(v)[-1], dtype=aval(v).dtype)
    return one - tau[..., None] * v[..., :, None] * np.conj(v[..., None, :])


def tridiagonal(d: ArrayLike, e: ArrayLike) -> Array:
    """The symmetric matrix with a diagonal and a subdiagonal."""
    n = shape_of(d)[-1]
    if shape_of(e)[-1:] != (n - 1,):
        raise ValueError(f"e must have one element less than d, got {shape_of(d)} and {shape_of(e)}")
    sides = e[..., :, None] * np.eye(n - 1, n, 1, dtype=aval(d).dtype)
    room = np.zeros((*shape_of(sides)[:-2], 1, n), aval(d).dtype)
    upper = np.concatenate([sides, room], axis=-2)
    return d[..., :, None] * np.eye(n, dtype=aval(d).dtype) + upper + np.swapaxes(upper, -1, -2)


@checks_finite
def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: ArrayLike = None,
    check_finite: bool = True,
    tol: float = 0.0,
    lapack_driver: str = "auto",
) -> Arrays:
    """Eigenvalues and eigenvectors of the symmetric matrix with diagonal `d` and subdiagonal `e`.

    Traced ones are those of the full matrix: all of them, or with ``select="i"`` those of a range of numbers.

    >>> print(fg.scipy.linalg.eigh_tridiagonal([2.0, 2.0], [1.0], eigvals_only=True))
    [1. 3.]
    """
    operands = traced(d, e)
    if operands is None:
        found = scipys("eigh_tridiagonal")
        return found(d, e, eigvals_only, select, select_range, check_finite, tol, lapack_driver)
    if aval(operands[0]).dtype.kind == "c":
        raise TypeError("Only real arrays currently supported")
    first, last = 0, shape_of(operands[0])[-1] - 1
    if select in ("i", 2):
        first, last = select_range
    elif select not in ("a", 0):
        raise unsupported("scipy.linalg.eigh_tridiagonal with select='v', which decides a shape,")
    full = tridiagonal(*operands)
    if eigvals_only:
        return eigvalsh(full)[..., first : last + 1]
    w, v = eigh(full)
    return w[..., first : last + 1], v[..., :, first : last + 1]


def eigvalsh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    select: str = "a",
    select_range: object = None,
    check_finite: bool = True,
    tol: float = 0.0,
    lapack_driver: str = "auto",
) -> Array:
    """The eigenvalues of `eigh_tridiagonal`.

    >>> print(fg.scipy.linalg.eigvalsh_tridiagonal(np.array([2.0, 2.0]), np.array([1.0])))
    [1. 3.]
    """
    return eigh_tridiagonal(d, e, True, select, select_range, check_finite, tol, lapack_driver)


def ldl(
    A: ArrayLike,
    lower: bool = True,
    hermitian: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> Arrays:
    """SciPy's factors of a symmetric matrix; traced ones are refused: values decide which pivots are pairs.

    >>> l, d, order = fg.scipy.linalg.ldl(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> print(d.diagonal())
    [2.  1.5]
    """
    if traced(A) is not None:
        refuse_ldl()
    return scipys("ldl")(A, lower, hermitian, check_finite=check_finite)


def refuse_ldl() -> NoReturn:
    """Raise, and say what there is instead."""
    error = unsupported("scipy.linalg.ldl")
    error.remedy = (
        "Use fg.scipy.linalg.cho_factor of a positive definite matrix, and lu_factor "
        "or solve(assume_a='sym') of another."
    )
    raise error


def qr_multiply(
    a: ArrayLike,
    c: ArrayLike,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Any, Any]:
    """The product of `c` with the orthogonal factor of `a`, and the triangular factor.

    >>> product, r = fg.scipy.linalg.qr_multiply(np.diag([2.0, 3.0]), np.ones(2))
    >>> print(np.abs(product), np.abs(r.diagonal()))
    [1. 1.] [2. 3.]
    """
    operands = traced(a, c)
    if operands is None:
        found: tuple[Any, Any] = scipys("qr_multiply")(a, c, mode, pivoting, conjugate)
        return found
    if pivoting:
        raise unsupported("scipy.linalg.qr_multiply with pivoting=True")
    if mode not in ("left", "right"):
        raise ValueError(f"Mode can only be 'left' or 'right' but not {mode!r}")
    x, y = operands
    q, r = qr(x, mode="economic")
    q = np.conj(q) if conjugate else q
    return (q @ y if mode == "left" else y @ q), r


@checks_finite
def orthogonal_procrustes(A: ArrayLike, B: ArrayLike, check_finite: bool = True) -> tuple[Any, Any]:
    """The orthogonal matrix that takes `A` nearest to `B`, and the sum of their product's singular values.

    >>> turn, scale = fg.scipy.linalg.orthogonal_procrustes(np.eye(2), np.eye(2)[::-1])
    >>> print(turn, scale)
    [[0. 1.]
     [1. 0.]] 2.0
    """
    operands = traced(A, B)
    if operands is None:
        found: tuple[Any, Any] = scipys("orthogonal_procrustes")(A, B, check_finite)
        return found
    first, second = operands
    if len(shape_of(first)) != 2 or shape_of(first) != shape_of(second):
        raise refused(f"orthogonal_procrustes: {aval(first)} and {aval(second)} are no matrices of one shape")
    product = adjoint(first) @ second
    return polar(product)[0], np.sum(svdvals(product))


# -- Lyapunov's equations ------------------------------------------------------------------------------------

MOST_BY_KRON = 10
"""The size up to which the discrete equation is a system for all elements, as SciPy has it."""


def solve_continuous_lyapunov(a: ArrayLike, q: ArrayLike) -> Array:
    """``x`` with ``a @ x + x @ a.conj().T == q``.

    >>> print(fg.scipy.linalg.solve_continuous_lyapunov(np.eye(1), np.array([[4.0]])))
    [[2.]]
    """
    operands = traced_matrices("solve_continuous_lyapunov", a, q)
    if operands is None:
        return scipys("solve_continuous_lyapunov")(a, q)
    x, right = operands
    return solve_sylvester(x, adjoint(x), right)


solve_lyapunov = solve_continuous_lyapunov


def solve_discrete_lyapunov(a: ArrayLike, q: ArrayLike, method: str | None = None) -> Array:
    """``x`` with ``a @ x @ a.conj().T - x + q == 0``.

    >>> print(fg.scipy.linalg.solve_discrete_lyapunov(np.array([[0.5]]), np.array([[3.0]])))
    [[4.]]
    """
    operands = traced_matrices("solve_discrete_lyapunov", a, q)
    if operands is None:
        return scipys("solve_discrete_lyapunov")(a, q, method)
    x, right = operands
    n = shape_of(x)[-1]
    eye = np.eye(n, dtype=aval(x).dtype)
    if method == "direct" or (method is None and n < MOST_BY_KRON):
        matrix = np.eye(n * n, dtype=aval(x).dtype) - np.kron(x, np.conj(x))
        return np.reshape(solve(matrix, np.reshape(right, (n * n,))), (n, n))
    if method not in (None, "bilinear"):
        raise ValueError(f"Unknown solver {method}")
    turned = adjoint(x)
    over = np.linalg.inv(turned + eye)
    half = (turned - eye) @ over
    return solve_continuous_lyapunov(adjoint(half), -2.0 * (np.linalg.inv(x + eye) @ right @ over))
