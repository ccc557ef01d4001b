"""Symmetric matrices as ``L @ D @ L.T`` with pivoting, from LAPACK: no derivative, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from funcgrad.torch.core.backward.underived import underived
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.requiring import kind_of
from funcgrad.torch.operations.results import named
from funcgrad.types import Anything, Array

_NAME = "torch.linalg.ldl_factor_ex"


def _require_factorisable(A: Tensor) -> None:
    shape, kind = A._value.shape, A._value.dtype.char
    if len(shape) < 2:
        raise RuntimeError(f"{_NAME}: The input tensor A must have at least 2 dimensions.")
    if shape[-1] != shape[-2]:
        raise RuntimeError(
            f"{_NAME}: A must be batches of square matrices, but they are {shape[-2]} by {shape[-1]} matrices"
        )
    if kind not in "fdFD":
        low = "Low precision dtypes not supported." if kind == "e" else ""
        expected = low or "Expected a floating point or complex tensor as input."
        raise RuntimeError(f"{_NAME}: {expected} Got {kind_of(A)}")


def _driver(stem: str, dtype: np.dtype[Any], hermitian: bool) -> Anything:
    """LAPACK's routine for Hermitian or for symmetric matrices of this dtype."""
    word = "he" if hermitian and dtype.kind == "c" else "sy"
    (found,) = get_lapack_funcs((f"{word}{stem}",), dtype=dtype)
    return found


def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Operand:
    """The factors in one lower triangle, the pivots, and a number that is not 0 where D is singular.

    Pivots are int32 and count from 1; a pair of equal negative ones is a block of two rows.

    >>> from funcgrad import torch
    >>> torch.linalg.ldl_factor(torch.tensor([[4.0, 2.0], [2.0, 3.0]])).LD
    tensor([[4.0000, 0.0000],
            [0.5000, 2.0000]])
    """
    _require_factorisable(A)
    value = np.asarray(A._value)
    factors, shape = np.zeros_like(value), value.shape[:-1]
    pivots, info = np.zeros(shape, np.int32), np.zeros(shape[:-1], np.int32)
    factor = _driver("trf", value.dtype, hermitian)
    for k in np.ndindex(*shape[:-1]) if value.size else ():
        found, order, info[k] = factor(value[k], lower=1)
        factors[k], pivots[k] = np.tril(found), order
    if check_errors and (info > 0).any():
        raise RuntimeError(f"{_NAME}: D is singular at position {int(info.max())}")
    held = underived(wrap(factors), A, "linalg_ldl_factor_ex") if A._rg else wrap(factors)
    return named("linalg_ldl_factor_ex", "LD pivots info")(held, wrap(pivots), wrap(info))


def ldl_factor(A: Tensor, *, hermitian: bool = False) -> Operand:
    """As `ldl_factor_ex`; RuntimeError where D is singular."""
    LD, pivots, _ = ldl_factor_ex(A, hermitian=hermitian, check_errors=True)
    return named("linalg_ldl_factor", "LD pivots")(LD, pivots)


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """The solution of ``A @ X = B`` by the factors of `A`; batches broadcast."""
    factors, order, right = (np.asarray(t._value) for t in (LD, pivots, B))
    batch = np.broadcast_shapes(factors.shape[:-2], right.shape[:-2])
    factors = np.broadcast_to(factors, batch + factors.shape[-2:])
    order = np.broadcast_to(order, batch + order.shape[-1:])
    right = np.broadcast_to(right, batch + right.shape[-2:])
    found: Array = np.zeros_like(right)
    solve = _driver("trs", factors.dtype, hermitian)
    for k in np.ndindex(*batch) if right.size else ():
        found[k], info = solve(factors[k], order[k], right[k], lower=1)
        if info:
            raise RuntimeError(f"torch.linalg.ldl_solve: argument {-info} of LAPACK's routine is wrong")
    source = next((t for t in (LD, B) if t._rg), None)
    return wrap(found) if source is None else underived(wrap(found), source, "linalg_ldl_solve")
