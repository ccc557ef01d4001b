"""Maxima over windows that differ in size or distance: adaptive and fractional pooling, and where "
"maxima stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import nn
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.nn.functional import pooling
from funcgrad.torch.nn.functional.convolution import batched, numbers
from funcgrad.torch.nn.functional.pooling import adaptive_windows, output_sizes
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Array, Arrays, ShapeLike

__all__ = [
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "max_pool1d_with_indices",
    "max_pool2d_with_indices",
    "max_pool3d_with_indices",
]


def _numbered(space: Sequence[int], indices: Sequence[Any]) -> Array:
    """The numbers of elements in windows, (..., windows, elements), from those (..., windows, size) of "
    "each axis."""
    found = np.zeros((1, 1), np.int64)
    for n, index in zip(space, indices, strict=True):
        step = found[..., :, None, :, None] * n + index[..., None, :, None, :]
        found = step.reshape((*step.shape[:-4], step.shape[-4] * step.shape[-3], -1))
    return found


def _largest(x: Array, windows: ShapeLike, sizes: tuple[int, ...]) -> Array:
    """The largest elements of windows, which are the numbers of their elements, and their numbers."""
    lead = x.shape[:2]
    windows = np.broadcast_to(windows, (*lead, *windows.shape[-2:]))
    flat = np.reshape(x, (*lead, -1))
    elements = np.take_along_axis(flat, windows.reshape((*lead, -1)), -1).reshape(windows.shape)
    best = np.argmax(elements, -1)[..., None]
    found = np.take_along_axis(elements, best, -1), np.take_along_axis(windows, best, -1)
    return tuple([np.reshape(part, (*lead, *sizes)) for part in found])


def _adaptive_max(x: Array, sizes: tuple[int, ...]) -> Array:
    space = x.shape[2:]
    if all(m and n % m == 0 for n, m in zip(space, sizes, strict=True)):
        window = tuple([n // m for n, m in zip(space, sizes, strict=True)])
        return nn.max_pool_and_positions(x, window, window, channels_last=False)
    indices = []
    for n, m in zip(space, sizes, strict=True):
        bounds = np.array(adaptive_windows(n, m)).reshape(-1, 2)
        longest = int(np.max(bounds[:, 1] - bounds[:, 0], initial=0))
        # Shorter windows count their last element again.
        indices.append(np.minimum(bounds[:, :1] + np.arange(longest), bounds[:, 1:] - 1))
    return _largest(x, _numbered(space, indices), sizes)


_ADAPTIVE_MAX = {
    1: op("SqueezeBackward1", in_rows=True)(_adaptive_max),
    2: op("AdaptiveMaxPool2DBackward0")(_adaptive_max),
    3: op("AdaptiveMaxPool3DBackward0")(_adaptive_max),
}


def _fractional_max(x: Array, windows: ShapeLike, sizes: tuple[int, ...]) -> Array:
    return _largest(x, windows, sizes)


_FRACTIONAL_MAX = {
    2: op("FractionalMaxPool2DBackward0", visible=1)(_fractional_max),
    3: op("FractionalMaxPool3DBackward0", visible=1)(_fractional_max),
}


def _unbatched(outs: Arrays, is_batch: bool, return_indices: bool) -> Array:
    outs = outs if is_batch else tuple([t.squeeze(0) for t in outs])
    return outs if return_indices else outs[0]


def _adaptive_max_pool(ndim: int) -> Callable[..., Any]:
    name = f"adaptive_max_pool{ndim}d"

    def adaptive_max_pool(input: Operand, output_size: ShapeLike, return_indices: bool = False) -> Operands:
        x, is_batch = batched(input, ndim, name)
        outs = apply(_ADAPTIVE_MAX[ndim], (x,), (output_sizes(output_size, x, ndim, name),))
        return _unbatched(outs, is_batch, return_indices)

    adaptive_max_pool.__name__ = adaptive_max_pool.__qualname__ = name
    adaptive_max_pool.__doc__ = (
        f"Maxima over as many windows as the result is to have, over {ndim} dimensions."
    )
    return adaptive_max_pool


def _starts(samples: Array, n: int, m: int, size: int) -> Array:
    """Where `m` windows over `n` elements begin, for a draw between 0 and 1 in each row (Graham 2014)."""
    step = samples.dtype.type(n - size) / samples.dtype.type(max(m - 1, 1))
    first = samples[..., None]
    found = ((np.arange(m) + first) * step).astype(np.int64) - (first * step).astype(np.int64)
    found[..., -1] = n - size
    return found


def _fractional_max_pool(ndim: int) -> Callable[..., Any]:
    name = f"fractional_max_pool{ndim}d"

    def fractional_max_pool(
        input: Operand,
        kernel_size: ShapeLike,
        output_size: ShapeLike = None,
        output_ratio: ShapeLike = None,
        return_indices: bool = False,
        _random_samples: Array = None,
    ) -> Operands:
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        x, is_batch = batched(input, ndim, name)
        space = x._value.shape[2:]
        if output_size is None:
            ratios = (output_ratio,) * ndim if isinstance(output_ratio, float) else tuple(output_ratio)
            output_size = tuple([int(n * r) for n, r in zip(space, ratios, strict=True)])
        sizes, kernel = numbers(output_size, ndim), numbers(kernel_size, ndim)
        for word, n, m, k in zip(("time", "height", "width")[-ndim:], space, sizes, kernel, strict=True):
            if m + k - 1 > n:
                raise RuntimeError(f"{name}(): pool {word} {k} too large relative to input {word} {n}")
        if _random_samples is None:
            _random_samples = FUNCTIONS["rand"](*x._value.shape[:2], ndim, dtype=x.dtype)
        draws = _random_samples._value
        if not is_batch:
            # As PyTorch does: of samples for a batch, those of its first example.
            draws = draws[:1]
        # In two dimensions PyTorch's first draw is for the width.
        order = (1, 0) if ndim == 2 else range(ndim)
        indices = [
            _starts(draws[..., at], n, m, k)[..., None] + np.arange(k)
            for at, n, m, k in zip(order, space, sizes, kernel, strict=True)
        ]
        outs = apply(_FRACTIONAL_MAX[ndim], (x, _numbered(space, indices)), (sizes,))
        return _unbatched(outs, is_batch, return_indices)

    fractional_max_pool.__name__ = fractional_max_pool.__qualname__ = name
    fractional_max_pool.__doc__ = (
        f"Maxima over windows at random distances, as many as the result is to have, over {ndim} dimensions."
    )
    return fractional_max_pool


def _with_indices(pool: Callable[..., Any], position: int) -> Callable[..., Any]:
    """The pooling function with the argument at `position`, ``return_indices``, set."""

    def max_pool_with_indices(input: Operand, *args: Operand, **kwargs: Anything) -> Operand:
        kwargs["return_indices"] = True
        return pool(input, *args[:position], **kwargs)

    name = f"{pool.__name__}_with_indices"
    max_pool_with_indices.__name__ = max_pool_with_indices.__qualname__ = name
    max_pool_with_indices.__doc__ = f"`{pool.__name__}`, and where the maxima stand."
    return max_pool_with_indices


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (_adaptive_max_pool(k) for k in (1, 2, 3))
fractional_max_pool2d, fractional_max_pool3d = (_fractional_max_pool(k) for k in (2, 3))
max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = (
    _with_indices(pool, 5) for pool in (pooling.max_pool1d, pooling.max_pool2d, pooling.max_pool3d)
)
adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = (
    _with_indices(pool, 1) for pool in (adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d)
)
fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = (
    _with_indices(pool, 3) for pool in (fractional_max_pool2d, fractional_max_pool3d)
)
