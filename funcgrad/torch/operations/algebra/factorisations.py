"""LU factors and products of reflections: what ``torch.linalg`` and the old names of ``torch`` share."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.scipy import linalg as traced
from funcgrad.scipy.originals import original
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op, op
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.registry import FUNCTIONS, operation
from funcgrad.torch.operations.results import named
from funcgrad.types import Anything, Array, Arrays


def _require_pivots(pivot: bool) -> None:
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def _each(x: Array, function: Anything) -> list[Any]:
    """The results of a function of a matrix, for every matrix of a batch, stacked."""
    if x.ndim == 2:
        return list(function(x))
    batch = x.shape[:-2]
    if 0 in batch:
        parts = function(np.zeros(x.shape[-2:], x.dtype))
        return [np.zeros((*batch, *part.shape), part.dtype) for part in parts]
    found = [function(x[where]) for where in np.ndindex(*x.shape[:-2])]
    return [
        np.reshape(np.stack(parts), (*x.shape[:-2], *parts[0].shape)) for parts in zip(*found, strict=True)
    ]


@op("LinalgLuBackward0", output_names=("P", "L", "U"))
def _lu(x: Array) -> Array:
    return tuple(_each(x, traced.lu))


def lu_of(A: Tensor, *, pivot: bool = True) -> Operands:
    """The factors of ``A = P L U``.

    >>> from funcgrad import torch
    >>> P, L, U = torch.linalg.lu(torch.tensor([[1.0, 2.0], [4.0, 2.0]]))
    >>> P @ L @ U
    tensor([[1., 2.],
            [4., 2.]])
    """
    _require_pivots(pivot)
    p, lower, upper = apply(_lu, (A,))
    return named("linalg_lu", "P L U")(p.detach().to(A.dtype), lower, upper)


def _pivots(x: Array) -> Arrays:
    def of_matrix(matrix: Array) -> tuple[Any]:
        getrf = original("linalg", "get_lapack_funcs")("getrf", (matrix,))
        return ((getrf(matrix)[1] + 1).astype(np.int32),)

    return _each(x, of_matrix)[0]


def lu_factor(A: Tensor, *, pivot: bool = True) -> Operands:
    """Both factors in one matrix, and the rows that were exchanged (counted from one)."""
    _, lower, upper = lu_of(A, pivot=pivot)
    rows, columns = A._value.shape[-2:]
    below = lower.tril(-1)
    if rows < columns:
        below = FUNCTIONS["cat"]([below, below.new_zeros((*below._value.shape[:-1], columns - rows))], -1)
    elif rows > columns:
        upper = FUNCTIONS["cat"](
            [upper, upper.new_zeros((*upper._value.shape[:-2], rows - columns, columns))], -2
        )
    return named("linalg_lu_factor", "LU pivots")(below + upper, wrap(_pivots(A._value)))


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Operands:
    """As `lu_factor`, with the number of the first pivot that is zero (0 for none)."""
    factors, pivots = lu_factor(A, pivot=pivot)
    diagonal = factors.detach().diagonal(dim1=-2, dim2=-1)._value == 0
    first = diagonal.argmax(-1) + 1 if diagonal.shape[-1] else 0
    info = np.where(diagonal.any(-1), first, 0).astype(np.int32)
    if check_errors and info.any():
        raise RuntimeError(f"linalg.lu_factor_ex: U[{int(info.max())},{int(info.max())}] is zero")
    return named("linalg_lu_factor_ex", "LU pivots info")(factors, pivots, wrap(np.asarray(info)))


def _order_of(pivots: Array, rows: int) -> Array:
    """The order of the rows after the exchanges."""
    found = np.broadcast_to(np.arange(rows), (*pivots.shape[:-1], rows)).copy()
    for where in np.ndindex(*pivots.shape[:-1]):
        row = found[where]
        for k, j in enumerate(pivots[where] - 1):
            row[[k, j]] = row[[j, k]]
    return found


@operation("lu_unpack", method=False)
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Operands:
    """The three factors of what `lu_factor` returned; empty tensors for those that are not asked for."""
    rows, columns = LU_data._value.shape[-2:]
    size = min(rows, columns)
    p = lower = upper = FUNCTIONS["empty"](0, dtype=LU_data.dtype)
    if unpack_data:
        lower = LU_data[..., :size].tril(-1) + FUNCTIONS["eye"](rows, size, dtype=LU_data.dtype)
        upper = LU_data[..., :size, :].triu()
    if unpack_pivots:
        order = _order_of(LU_pivots._value, rows)
        p = wrap(np.swapaxes(np.eye(rows, dtype=LU_data._value.dtype)[order], -1, -2).copy())
    return named("lu_unpack", "P L U")(p, lower, upper)


def _solve_triangular(a: Array, b: Array, upper: bool, unit: bool) -> Array:
    a = np.triu(a) if upper else np.tril(a)
    if unit:
        eye = np.eye(a.shape[-1], dtype=a.dtype)
        a = a * (1 - eye) + eye
    return np.linalg.solve(a, b)


_TRIANGULAR = Op("LinalgSolveTriangularBackward0", _solve_triangular, input_names=("self", "B"))


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Operand:
    """The solution of a triangular system."""
    if not left:
        return solve_triangular(A.mT, B.mT, upper=not upper, unitriangular=unitriangular).mT
    return apply(_TRIANGULAR, (A, B), (upper, unitriangular))


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Operand:
    """The solution of a system by the factors of its matrix."""
    if not left:
        return lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH
    p, lower, upper = lu_unpack(LU, pivots)
    triangular = solve_triangular
    if adjoint:
        half = triangular(upper.mH, B, upper=False)
        return p @ triangular(lower.mH, half, upper=True, unitriangular=True)
    half = triangular(lower, p.mT @ B, upper=False, unitriangular=True)
    return triangular(upper, half, upper=True)


@operation("lu_solve")
def _lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Array:
    """``torch.linalg.lu_solve``, under its old name."""
    return lu_solve(LU_data, LU_pivots, b)


@operation("lu")
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """``torch.linalg.lu_factor``, under its old name."""
    found = lu_factor_ex(A, pivot=pivot)
    return (found.LU, found.pivots, found.info) if get_infos else (found.LU, found.pivots)


@operation("orgqr")
def householder_product(input: Tensor, tau: Tensor) -> Operand:
    """The first columns of the product of reflections, whose vectors stand below the diagonal."""
    n, k = input._value.shape[-2:]
    one = FUNCTIONS["eye"](n, dtype=input.dtype)
    below = input.tril(-1)
    found = one[:, :k].expand(input._value.shape)
    for j in reversed(range(tau._value.shape[-1])):
        v = (below[..., :, j] + one[:, j]).unsqueeze(-1)
        found = found - tau[..., j, None, None] * (v @ (v.mH @ found))
    return found


def _reflections(x: Array) -> Arrays:
    raw, tau = np.linalg.qr(x, mode="raw")
    return np.swapaxes(raw, -1, -2), tau


@operation()
def geqrf(input: Tensor) -> Operands:
    """LAPACK's form of a QR factorisation: R above the diagonal, vectors of reflections below, their factors.

    >>> from funcgrad import torch
    >>> torch.geqrf(torch.tensor([[3.0], [4.0]])).a[0]
    tensor([-5.])
    """
    if len(input._value.shape) < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    vectors, factors = _reflections(np.asarray(input._value))
    return named("geqrf", "a tau")(wrap(np.ascontiguousarray(vectors)), wrap(factors))


@operation()
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Operand:
    """The product of a matrix with the orthogonal one whose reflections are given, as by `geqrf`.

    From the left, or the right; with the matrix of the reflections transposed (and conjugated) if asked.
    """
    at = -2 if left else -1
    if other._value.shape[at] != input._value.shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{at}] must be equal to input.shape[-2]")
    n = input._value.shape[-2]
    one = FUNCTIONS["eye"](n, dtype=input.dtype)
    below = input.tril(-1)
    # A product from the right is one from the left, transposed.
    found = other if left else other.mH
    backwards = transpose if left else not transpose
    order = range(tau._value.shape[-1])
    for j in order if backwards else reversed(order):
        v = (below[..., :, j] + one[:, j]).unsqueeze(-1)
        factor = tau[..., j, None, None]
        found = found - (factor.conj() if backwards else factor) * (v @ (v.mH @ found))
    return found if left else found.mH
