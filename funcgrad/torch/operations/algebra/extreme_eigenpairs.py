"""``torch.lobpcg``: a few eigenpairs at one end of the spectrum, taken from all of them."""

from __future__ import annotations

import numpy as np

from funcgrad.later import Later
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.registry import FUNCTIONS, published
from funcgrad.types import Anything

linalg = Later("funcgrad.torch.linalg")

__all__: list[str] = []


def _counts(A: Tensor, k: int | None, B: Tensor | None, X: Tensor | None, n: int | None) -> tuple[int, int]:
    """How many pairs are asked for, and how many vectors PyTorch would start from."""
    shape = A._value.shape
    if shape[-2] != shape[-1]:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    if B is not None and B._value.shape != shape:
        raise AssertionError(f"A and B must have same shape, got {A.shape} vs {B.shape}")
    columns = None if X is None else X._value.shape[-1]
    wanted = (columns or 1) if k is None else k
    started = columns if columns is not None else wanted if n is None else n
    if shape[-1] < 3 * started:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={shape[-1]}) is smaller than "
            f"3 x the number of requested eigenpairs (={started})"
        )
    return wanted, started


def _symmetric(M: Tensor) -> Operand:
    return (M + M.mT) / 2


@published()
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Anything = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """The `k` largest (or smallest) eigenvalues of a symmetric `A`, ``(*, k)``, and vectors, ``(*, m, k)``.

    With `B`, positive definite, of ``A x = e B x``. The matrices are dense here, so that all pairs are
    computed, to rounding: `X`, `iK`, `niter`, `tol`, `method` and the rest, which steer PyTorch's iterations,
    are accepted without effect. Derivatives are those of `torch.linalg.eigh`, by `B`, too.
    ValueError where there are fewer than three rows for each pair.

    >>> from funcgrad import torch
    >>> torch.lobpcg(torch.diag(torch.arange(9.0)), 2)[0]
    tensor([8., 7.])
    """
    if tracker is not None:
        raise NotImplementedError("funcgrad.torch does not support lobpcg(tracker=): there are no iterations")
    wanted, started = _counts(A, k, B, X, n)
    if X is None:
        # PyTorch starts from random vectors: what is drawn later is the same with and without it.
        for _ in range(int(np.prod(A._value.shape[:-2]))):
            FUNCTIONS["randn"](A._value.shape[-1], started, dtype=A.dtype if A.is_floating_point() else None)
    matrix = _symmetric(A)
    if B is None:
        values, vectors = linalg.eigh(matrix)
    else:
        factor = linalg.cholesky(_symmetric(B))
        half = linalg.solve_triangular(factor, matrix, upper=False)
        values, vectors = linalg.eigh(_symmetric(linalg.solve_triangular(factor, half.mT, upper=False)))
        vectors = linalg.solve_triangular(factor.mT, vectors, upper=True)
    if largest is None or largest:
        values, vectors = values.flip(-1), vectors.flip(-1)
    return values[..., :wanted], vectors[..., :wanted]
