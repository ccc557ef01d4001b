"""Parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, own
from funcgrad.torch.operations.registry import FUNCTIONS

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Operand:
    """All elements of the parameters, one after the other, with history.

    >>> from funcgrad import torch
    >>> torch.nn.utils.parameters_to_vector([torch.ones(1, 2), torch.zeros(1)])
    tensor([1., 1., 0.])
    """
    return FUNCTIONS["cat"]([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Write parts of a vector into the parameters, without history."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: torch.{type(vec).__name__}")
    start = 0
    for p in parameters:
        value = own(p)
        value[...] = vec._value[start : start + value.size].reshape(value.shape)
        p._version_box[0] += 1
        start += value.size
