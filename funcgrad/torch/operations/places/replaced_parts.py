"""Tensors with a part replaced: ``*_scatter`` and ``put``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.torch.core.errors import dim_of
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.registry import operation
from funcgrad.types import Array, Number, ShapeLike

__all__: list[str] = []


def _with_part(input: Tensor, src: Array, part: Callable[[Tensor], Any]) -> Tensor:
    found: Tensor = input.clone()
    part(found).copy_(src)
    return found


@operation()
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """The tensor with the part at one index replaced."""

    def part(t: Tensor) -> Operand:
        return t.select(dim, index)

    return _with_part(input, src, part)


@operation()
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: Number = None, end: Number = None, step: int = 1
) -> Tensor:
    """The tensor with a slice of a dimension replaced."""
    at = dim_of(dim, len(input._value.shape))

    def part(t: Tensor) -> Operand:
        return t[(*[slice(None)] * at, slice(start, end, step))]

    return _with_part(input, src, part)


@operation()
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The tensor with a diagonal replaced."""

    def part(t: Tensor) -> Operand:
        return t.diagonal(offset, dim1, dim2)

    return _with_part(input, src, part)


@operation()
def as_strided_scatter(
    input: Tensor, src: Tensor, size: ShapeLike, stride: ShapeLike, storage_offset: int = 0
) -> Tensor:
    """The tensor with the elements at these distances replaced."""

    def part(t: Tensor) -> Operand:
        return t.as_strided(size, stride, storage_offset)

    return _with_part(input, src, part)


@operation(inplace=True)
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Operand:
    """The tensor with the elements at `index` of the flattened tensor replaced."""
    flat = input.reshape(-1).index_put((index.reshape(-1),), source.reshape(-1), accumulate)
    return flat.reshape(input._value.shape)
