"""The decompositions of `numpy.linalg`, and what singular values say: ranks and condition numbers.

Imported when first asked for. Matrices stand in the last two axes, and all functions take stacks of them.
What is not determined, such as the phase of an eigenvector or a basis of the space of a repeated eigenvalue,
has no derivative; what does not depend on it has one (see ``docs/conventions.md``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.numpy.algebra.awaited import factorable
from funcgrad.numpy.algebra.linear_systems import (
    inv,
    precision_of,
    rank_of,
    require_square,
    static_float,
    traced_matrices,
)
from funcgrad.numpy.algebra.norms import norm
from funcgrad.numpy.dispatch import implements, unsupported
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.movement import take_axis
from funcgrad.ops.arrays.structure import aval, broadcast, cast, reduce_sum, shape_of
from funcgrad.ops.elementwise.arithmetic import div, mul
from funcgrad.ops.elementwise.comparison import greater, not_equal
from funcgrad.ops.linalg import general, singular, spectra
from funcgrad.ops.linalg.cholesky import cholesky as cholesky_factor
from funcgrad.ops.linalg.matrices import adjoint, from_triangle
from funcgrad.ops.linalg.orthogonal import Qr
from funcgrad.ops.reducing.reductions import ReduceAny
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Arrays, Number

numpys: Any = np.linalg

EigResult: Any = type(np.linalg.eig(np.eye(1)))
EighResult: Any = type(np.linalg.eigh(np.eye(1)))
QRResult: Any = type(np.linalg.qr(np.eye(1)))
SVDResult: Any = type(np.linalg.svd(np.eye(1)))


@implements(np.linalg.cholesky)
def cholesky(a: ArrayLike, /, *, upper: bool = False) -> Array:
    """The triangular factor of a Hermitian positive definite matrix, of which one triangle is read.

    Gradients are Hermitian. Raises LinAlgError for a matrix that is not positive definite.

    >>> print(fg.numpy.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]])))
    [[2. 0.]
     [1. 2.]]
    """
    operands = traced_matrices("cholesky", a)
    if operands is None:
        return np.linalg.cholesky(a, upper=upper)
    (x,) = operands
    x = factorable("cholesky", adjoint(x) if upper else x)
    factor = cholesky_factor.bind(x)
    return adjoint(factor) if upper else factor


@implements(np.linalg.qr)
def qr(a: ArrayLike, mode: str = "reduced") -> Arrays:
    """``q`` with orthonormal columns, upper triangular ``r``; `mode` is ``reduced``, ``complete`` or ``r``.

    Differentiable where the first columns, as many as there are rows, are independent.

    >>> q, r = fg.numpy.linalg.qr(np.array([[3.0], [4.0]]))
    >>> print(r)
    [[-5.]]
    """
    operands = traced_matrices("qr", a)
    if operands is None:
        return numpys.qr(a, mode)
    if mode == "raw":
        raise unsupported("np.linalg.qr with mode='raw'")
    if mode not in ("reduced", "complete", "r"):
        raise refused(f"qr: mode={mode!r} is none of 'reduced', 'complete' and 'r'")
    found = Qr(mode == "complete").bind(operands[0])
    return found[1] if mode == "r" else QRResult(*found)


# -- eigenvalues ---------------------------------------------------------------------------------------------


def is_upper(name: str, UPLO: str) -> bool:
    """Whether the upper triangle is the one to read."""
    if UPLO.upper() not in ("L", "U"):
        raise refused(f"{name}: UPLO={UPLO!r} is neither 'L' nor 'U'")
    return UPLO.upper() == "U"


@implements(np.linalg.eigh)
def eigh(a: ArrayLike, UPLO: str = "L") -> Arrays:
    """Ascending eigenvalues and orthonormal eigenvectors of a Hermitian matrix; one triangle is read.

    Gradients are that triangle too, and finite where eigenvalues are repeated.

    >>> w, v = fg.numpy.linalg.eigh(np.array([[2.0, 0.0], [0.0, 1.0]]))
    >>> print(w)
    [1. 2.]
    """
    operands = traced_matrices("eigh", a)
    if operands is None:
        return numpys.eigh(a, UPLO)
    return EighResult(*spectra.Eigh(is_upper("eigh", UPLO)).bind(operands[0]))


@implements(np.linalg.eigvalsh)
def eigvalsh(a: ArrayLike, UPLO: str = "L") -> Array:
    """The eigenvalues of `eigh`.

    >>> print(fg.grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 2))(np.eye(2)))
    [[2. 0.]
     [0. 2.]]
    """
    operands = traced_matrices("eigvalsh", a)
    if operands is None:
        return numpys.eigvalsh(a, UPLO)
    return spectra.Eigvalsh(is_upper("eigvalsh", UPLO)).bind(operands[0])


@implements(np.linalg.eig)
def eig(a: ArrayLike) -> Arrays:
    """Eigenvalues and eigenvectors of a square matrix, complex even if all are real.

    >>> print(fg.numpy.linalg.eig(np.array([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues)
    [0.+1.j 0.-1.j]
    >>> print(fg.numpy.linalg.eig(np.eye(2)).eigenvalues)
    [1.+0.j 1.+0.j]
    """
    operands = traced_matrices("eig", a)
    if operands is None:
        return EigResult(*map(as_complex, np.linalg.eig(a)))
    return EigResult(*general.eig.bind(operands[0]))


def as_complex(x: ArrayLike) -> Array:
    """An array as complex numbers of its precision."""
    return x.astype(np.result_type(x.dtype, np.complex64), copy=False)


@implements(np.linalg.eigvals)
def eigvals(a: ArrayLike) -> Array:
    """The eigenvalues of `eig`.

    >>> print(fg.grad(lambda a: np.sum(np.linalg.eigvals(a).real ** 2))(np.diag([1.0, 3.0])))
    [[2. 0.]
     [0. 6.]]
    """
    operands = traced_matrices("eigvals", a)
    return as_complex(np.linalg.eigvals(a)) if operands is None else general.eigvals.bind(operands[0])


# -- singular values -----------------------------------------------------------------------------------------


@implements(np.linalg.svd)
def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Arrays:
    """Singular vectors and values: ``u @ diag(s) @ vh == a``.

    >>> print(fg.numpy.linalg.svd(np.array([[3.0, 0.0], [0.0, -4.0]]), compute_uv=False))
    [4. 3.]
    """
    operands = traced_matrices("svd", a)
    if operands is None:
        return numpys.svd(a, full_matrices, compute_uv, hermitian)
    if hermitian:
        return hermitian_svd(operands[0], compute_uv)
    if not compute_uv:
        return singular.svdvals.bind(operands[0])
    m, n = shape_of(operands[0])[-2:]
    return SVDResult(*singular.Svd(bool(full_matrices) and m != n).bind(operands[0]))


def hermitian_svd(a: ArrayLike, compute_uv: bool) -> Arrays:
    """The singular values of a Hermitian matrix, of which one triangle is read, by its eigenvalues."""
    if not compute_uv:
        return np.flip(np.sort(np.abs(spectra.eigvalsh.bind(a)), axis=-1), -1)
    w, v = spectra.eigh.bind(a)
    order = np.argsort(np.abs(w), axis=-1)[..., ::-1]
    w = np.take_along_axis(w, order, -1)
    u = np.take_along_axis(v, order[..., None, :], -1)
    signs = cast(np.sign(w), aval(u).dtype)
    return SVDResult(u, np.abs(w), adjoint(mul(u, signs[..., None, :])))


@implements(np.linalg.svdvals)
def svdvals(x: ArrayLike, /) -> Array:
    """The singular values, descending.

    >>> print(fg.grad(lambda a: np.sum(np.linalg.svdvals(a)))(np.array([[3.0, 0.0], [0.0, -4.0]])))
    [[ 1.  0.]
     [ 0. -1.]]
    """
    operands = traced_matrices("svdvals", x)
    return np.linalg.svdvals(x) if operands is None else singular.svdvals.bind(operands[0])


@implements(np.linalg.matrix_rank)
def matrix_rank(A: ArrayLike, tol: Number = None, hermitian: bool = False, *, rtol: Number = None) -> Array:
    """How many singular values are above `tol`, or above `rtol` times the largest. It has no derivative.

    >>> print(fg.numpy.linalg.matrix_rank(np.ones((2, 2))))
    1
    """
    x = asoperand(A)
    if not isinstance(x, Tracer):
        return np.linalg.matrix_rank(A, tol, hermitian, rtol=rtol)
    if x.aval.ndim < 2:
        return cast(ReduceAny(tuple(range(x.aval.ndim))).bind(not_equal(x, 0)), np.intp)
    (x,) = traced_matrices("matrix_rank", x) or []
    x = from_triangle(x) if hermitian else x
    s = singular.svdvals.bind(x)
    if tol is not None:
        bound = asoperand(tol)
        if aval(bound).ndim:
            bound = broadcast(bound, shape_of(s), tuple(range(aval(s).ndim - 1)))
        return reduce_sum(cast(greater(s, bound), np.intp), (aval(s).ndim - 1,))
    if rtol is None:
        rtol = max(shape_of(x)[-2:]) * precision_of(x)
    return rank_of(s, static_float("np.linalg.matrix_rank", rtol))


@implements(np.linalg.cond)
def cond(x: ArrayLike, p: ArrayLike = None) -> Array:
    """The condition number: of singular values the largest over the smallest, or by the norm of order `p`.

    >>> print(fg.numpy.linalg.cond(np.diag([4.0, 2.0])))
    2.0
    """
    operands = traced_matrices("cond", x)
    if operands is None:
        return np.linalg.cond(x, p)
    (a,) = operands
    if p is None or p in (2, -2):
        s = singular.svdvals.bind(a)
        last = aval(s).ndim - 1
        if not shape_of(s)[-1]:
            raise refused(f"cond of {aval(a)}: an empty matrix has no condition number")
        largest, smallest = take_axis(s, last, 0), take_axis(s, last, shape_of(s)[-1] - 1)
        return div(smallest, largest) if p == -2 else div(largest, smallest)
    require_square("cond", a)
    return norm(a, p, (-2, -1)) * norm(inv(a), p, (-2, -1))
