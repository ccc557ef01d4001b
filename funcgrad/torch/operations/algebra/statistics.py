"""Covariances and correlations of variables in rows."""

from __future__ import annotations

import warnings
from typing import Any

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.registry import FUNCTIONS, operation
from funcgrad.types import Array

__all__: list[str] = []


@operation()
def cov(input: Tensor, *, correction: int = 1, fweights: Operand = None, aweights: Operand = None) -> Operand:
    """The covariance matrix of variables in rows."""
    if (rank := len(input._value.shape)) > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {rank} dimensions"
        )
    if input._value.dtype.kind in "iub":
        input = input.to(SETTINGS.default_dtype)
    rows = input if rank > 1 else input.reshape(1, -1)
    count = rows._value.shape[1]
    weights = _weights_of(count, fweights, aweights)
    if weights is None:
        norm: Any = count - correction
        centred = scaled = rows - rows.mean(1, keepdim=True)
    else:
        total = weights.sum()
        centred = rows - (rows * weights).sum(1, keepdim=True) / total
        scaled = centred * weights
        each = correction if aweights is None else correction * (weights * aweights).sum() / total
        norm = total - each
    if norm <= 0:
        warnings.warn("cov(): no more observations than the correction takes away", UserWarning, stacklevel=2)
        norm = 0
    return (centred @ scaled.mH / norm).squeeze()


def _weights_of(count: int, fweights: Array, aweights: Array) -> Array:
    """How often, and how much, each observation counts; None where all count once."""
    for name, weights, kinds, word in (
        ("fweights", fweights, "iu", "integral"),
        ("aweights", aweights, "f", "floating point"),
    ):
        if weights is None:
            continue
        value, kind = weights._value, weights.type().removeprefix("torch.").removesuffix("Tensor")
        if value.ndim > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with {value.ndim} "
                f"dimensions"
            )
        if value.dtype.kind not in kinds:
            raise RuntimeError(
                f"cov(): expected {name} to have {word} dtype but got {name} with {kind} dtype"
            )
        if value.size != count:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the input but "
                f"got {value.size} != {count}"
            )
        if (value < 0).any():
            raise RuntimeError(f"cov(): {name} cannot be negative")
    if fweights is None or aweights is None:
        return aweights if fweights is None else fweights
    return fweights * aweights


@operation()
def corrcoef(input: Tensor) -> Operand:
    """The correlation matrix of variables in rows."""
    found = cov(input)
    if not found._value.shape:
        return found / found
    scale = found.diagonal().sqrt()
    found = found / scale.unsqueeze(1) / scale.unsqueeze(0)
    if found._value.dtype.kind == "c":
        return FUNCTIONS["complex"](found.real.clip(-1, 1), found.imag.clip(-1, 1))
    return found.clip(-1, 1)
