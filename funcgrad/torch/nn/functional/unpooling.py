"""The inverse of pooling by maxima: elements back to where they were."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from funcgrad.torch.core.operand import Operand
from funcgrad.types import Array, Padding, ShapeLike

__all__ = ["max_unpool1d", "max_unpool2d", "max_unpool3d"]


def _several(given: Array, count: int) -> tuple[int, ...]:
    return (given,) * count if isinstance(given, int) else tuple(given)


def _unpooling(count: int) -> Callable[..., Any]:
    def max_unpool(
        input: Operand,
        indices: Operand,
        kernel_size: ShapeLike,
        stride: ShapeLike = None,
        padding: Padding = 0,
        output_size: ShapeLike = None,
    ) -> Operand:
        kernel = _several(kernel_size, count)
        steps = kernel if stride is None else _several(stride, count)
        margins = _several(padding, count)
        small = tuple(input._value.shape)[-count:]
        sizes = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(small, steps, margins, kernel, strict=True)]
        if output_size is not None:
            wanted = [int(n) for n in tuple(output_size)[-count:]]
            for n, found, s in zip(sizes, wanted, steps, strict=True):
                if not n - s < found < n + s:
                    raise ValueError(
                        f'invalid output_size "{tuple(wanted)}" (dim 0 must be between {n - s} and {n + s})'
                    )
            sizes = wanted
        if tuple(indices._value.shape) != tuple(input._value.shape):
            raise RuntimeError(
                "Expected shape of indices to be same as that of the input tensor "
                f"({list(input._value.shape)}) but "
                f"got indices tensor with shape: {list(indices._value.shape)}"
            )
        if indices.numel() and not 0 <= int(indices.min()) <= int(indices.max()) < math.prod(sizes):
            raise RuntimeError(
                f"Found an invalid max index: {int(indices.max())} (output volumes are of size "
                f"{'x'.join(map(str, sizes))})"
            )
        heads = tuple(input._value.shape)[:-count]
        empty = input.new_zeros((*heads, math.prod(sizes)))
        found = empty.scatter(-1, indices.reshape((*heads, -1)), input.reshape((*heads, -1)))
        return found.reshape((*heads, *sizes))

    max_unpool.__name__ = max_unpool.__qualname__ = f"max_unpool{count}d"
    max_unpool.__doc__ = f"The input of `max_pool{count}d`, zero where it was not the largest."
    return max_unpool


max_unpool1d, max_unpool2d, max_unpool3d = (_unpooling(count) for count in (1, 2, 3))
