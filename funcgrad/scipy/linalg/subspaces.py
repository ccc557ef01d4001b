"""Bases of the spaces that matrices span, the angles between two, and the factors from the other side."""

from __future__ import annotations

import numpy as np

from funcgrad.errors import NotDifferentiableError
from funcgrad.numpy.algebra.linear_systems import traced_matrices
from funcgrad.numpy.algebra.operands import traced
from funcgrad.numpy.dispatch import unsupported
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.scipy.linalg.arguments import checks_finite, scipys
from funcgrad.scipy.linalg.decompositions import qr, svd, svdvals
from funcgrad.scipy.originals import known_value
from funcgrad.source import Source, user_location
from funcgrad.types import Array, ArrayLike, Number


@checks_finite
def rq(
    a: ArrayLike,
    overwrite_a: bool = False,
    lwork: Number = None,
    mode: str = "full",
    check_finite: bool = True,
) -> Array | tuple[Array, Array]:
    """Upper triangular ``r`` and ``q`` with orthonormal rows: ``r @ q == a``.

    `mode` is ``full``, ``economic``, or ``r`` for that factor alone.

    >>> r, q = fg.scipy.linalg.rq(np.array([[3.0, 4.0]]), mode="economic")
    >>> print(r, q)
    [[-5.]] [[-0.6 -0.8]]
    """
    operands = traced_matrices("rq", a)
    if operands is None:
        return scipys("rq")(a, lwork=lwork, mode=mode, check_finite=check_finite)
    if mode not in ("full", "r", "economic"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic']")
    # Rows and columns in the other order: what QR does to the first column happens to the last row.
    q, r = qr(adjoint(turned_round(operands[0])), mode="economic" if mode == "economic" else "full")
    left = turned_round(adjoint(r))
    return left if mode == "r" else (left, turned_round(adjoint(q)))


def adjoint(x: ArrayLike) -> Array:
    """The conjugate transpose."""
    return np.conj(np.swapaxes(x, -1, -2))


def turned_round(x: ArrayLike) -> Array:
    """Rows and columns in the other order."""
    return x[..., ::-1, ::-1]


def rank(name: str, x: ArrayLike, rcond: Number) -> int:
    """How many singular values count, as SciPy has it; raises where they are not known."""
    known = known_value(x)
    if known is None:
        error = unsupported(f"scipy.linalg.{name}, whose values decide a shape,")
        error.remedy = (
            "Take as many columns of fg.scipy.linalg.svd(a) as its rank, or call it outside of jit."
        )
        raise error
    if known.ndim != 2:
        raise ValueError(f"expected 2D array, got shape {known.shape}")
    s = np.linalg.svd(known, compute_uv=False)
    rcond = np.finfo(s.dtype).eps * max(known.shape) if rcond is None else rcond
    return int(np.sum(s > np.amax(s, initial=0.0) * rcond))


def orth(A: ArrayLike, rcond: Number = None) -> Array:
    """An orthonormal basis of the space of the columns, by singular vectors.

    >>> print(abs(fg.scipy.linalg.orth(np.array([[2.0, 0.0], [0.0, 0.0]]))))
    [[1.]
     [0.]]
    """
    operands = traced_matrices("orth", A)
    if operands is None:
        return scipys("orth")(A, rcond)
    (x,) = operands
    count = rank("orth", x, rcond)
    require_full_rank("orth", x, count)
    return svd(x, full_matrices=False)[0][:, :count]


def null_space(
    A: ArrayLike,
    rcond: Number = None,
    *,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Array:
    """An orthonormal basis of what the matrix takes to zero, by singular vectors.

    Its derivative is that of the space: the vectors turn out of it, and not among themselves.

    >>> print(abs(fg.scipy.linalg.null_space(np.array([[1.0, 0.0]]))))
    [[0.]
     [1.]]
    """
    operands = traced_matrices("null_space", A)
    if operands is None:
        return scipys("null_space")(A, rcond, check_finite=check_finite, lapack_driver=lapack_driver)
    (x,) = operands
    count = rank("null_space", x, rcond)
    require_full_rank("null_space", x, count)
    return adjoint(svd(x, check_finite=check_finite)[2][count:])


def require_full_rank(name: str, x: ArrayLike, count: int) -> None:
    """Raise for a matrix of smaller rank: near to it there are others of larger rank, with another space."""
    if count < min(shape_of(x)):
        raise NotDifferentiableError(
            f"scipy.linalg.{name} of {aval(x)} of rank {count}: any other matrix beside it has a larger rank",
            source=Source(*user_location()),
            remedy="Pass independent rows or columns, or np.asarray(fg.stop_gradient(x)).",
        )


def subspace_angles(A: ArrayLike, B: ArrayLike) -> Array:
    """The angles between the spaces of the columns of two matrices, the largest first.

    >>> print(fg.scipy.linalg.subspace_angles(np.array([[1.0], [0.0]]), np.array([[1.0], [1.0]])).round(6))
    [0.785398]
    """
    operands = traced(A, B)
    if operands is None:
        return scipys("subspace_angles")(A, B)
    (first,), (second,) = [traced_matrices("subspace_angles", x) or [np.asarray(x) * 1.0] for x in operands]
    bases = [independent(x) for x in (first, second)]
    if shape_of(first)[0] != shape_of(second)[0]:
        raise ValueError(
            f"A and B must have the same number of rows, got {shape_of(first)[0]} and {shape_of(second)[0]}"
        )
    larger, smaller = bases if shape_of(bases[0])[1] >= shape_of(bases[1])[1] else bases[::-1]
    inner = adjoint(larger) @ smaller
    cosines = svdvals(inner)[::-1]
    sines = svdvals(smaller - larger @ inner)
    # Small angles by their sines, others by cosines: each where its inverse is well conditioned.
    near = cosines**2 >= 0.5
    from_sine = np.arcsin(np.where(near, np.clip(sines, -1.0, 1.0), 0.0))
    is_far = ~near
    return np.where(is_far, np.arccos(np.where(is_far, np.clip(cosines, -1.0, 1.0), 0.0)), from_sine)


def independent(x: ArrayLike) -> Array:
    """An orthonormal basis of the space of the columns."""
    count = rank("subspace_angles", x, None)
    require_full_rank("subspace_angles", x, count)
    return qr(x, mode="economic")[0]
