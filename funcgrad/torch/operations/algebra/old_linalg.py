"""The names of linear algebra from before ``torch.linalg``."""

from __future__ import annotations

import warnings

from funcgrad.later import Later
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.registry import FUNCTIONS, operation
from funcgrad.torch.operations.results import named
from funcgrad.types import Anything

linalg = Later("funcgrad.torch.linalg")

__all__: list[str] = []


def _linalg(name: str) -> Anything:
    return getattr(linalg, name)


def _renamed(name: str, modern: str) -> None:
    def old(input: Tensor, *args: Operand, **kwargs: Anything) -> Operands:
        return _linalg(modern)(input, *args, **kwargs)

    old.__name__ = old.__qualname__ = name
    old.__doc__ = f"``torch.linalg.{modern}``."
    operation(name)(old)


for _name, _modern in (
    ("inverse", "inv"),
    ("det", "det"),
    ("slogdet", "slogdet"),
    ("pinverse", "pinv"),
    ("matrix_exp", "matrix_exp"),
):
    _renamed(_name, _modern)


@operation()
def logdet(input: Tensor) -> Operand:
    """The logarithm of the determinant, NaN where that is negative."""
    sign, log = _linalg("slogdet")(input)
    if sign._value.dtype.kind == "c":
        return log + sign.log()
    return FUNCTIONS["where"](sign == -1, float("nan"), log)


def _deprecated(name: str, use: str) -> None:
    warnings.warn(
        f"torch.{name} is deprecated in favor of torch.linalg.{use} and will be removed in a future PyTorch "
        "release.",
        UserWarning,
        stacklevel=4,
    )


@operation()
def cholesky(input: Tensor, upper: bool = False) -> Operand:
    """``torch.linalg.cholesky``, under its old name."""
    _deprecated("cholesky", "cholesky")
    return _linalg("cholesky")(input, upper=upper)


@operation()
def qr(input: Tensor, some: bool = True) -> Operands:
    """``torch.linalg.qr``, under its old name."""
    _deprecated("qr", "qr")
    return named("qr", "Q R")(*_linalg("qr")(input, "reduced" if some else "complete"))


@operation()
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Operands:
    """``torch.linalg.svd`` with V instead of its transpose."""
    u, s, vh = _linalg("svd")(input, not some)
    return named("svd", "U S V")(u, s, vh.mH)


@operation(method=False)
def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Operand:
    """The solution of ``A X = B`` by the Cholesky factor of A."""
    factor = L.mH if upper else L
    half = _linalg("solve_triangular")(factor, B, upper=False)
    return _linalg("solve_triangular")(factor.mH, half, upper=True)


@operation("triangular_solve")
def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Operands:
    """``torch.linalg.solve_triangular``, under its old name."""
    matrix = A.mT if transpose else A
    found = _linalg("solve_triangular")(matrix, b, upper=upper != transpose, unitriangular=unitriangular)
    return named("triangular_solve", "solution cloned_coefficient")(found, A.clone())
