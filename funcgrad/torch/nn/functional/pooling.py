"""Pooling: the largest or the mean element of every window."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import nn
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.composed import Composed
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.nn.functional.convolution import batched, numbers
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Array, Padding, ShapeLike

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
]


@Composed
def _max(x: Array, window: ShapeLike, stride: ShapeLike, padding: Padding, dilation: ShapeLike) -> Array:
    return nn.max_pool_and_positions(x, window, stride, padding, dilation=dilation, channels_last=False)


@Composed
def _avg(
    x: Array, window: ShapeLike, stride: ShapeLike, padding: Padding, counted: bool, divisor: Anything
) -> Array:
    if divisor is not None:
        return nn.avg_pool(x, window, stride, padding, channels_last=False) * (math.prod(window) / divisor)
    return nn.avg_pool(x, window, stride, padding, count_padding=counted, channels_last=False)


_MAX = {
    1: op("SqueezeBackward1", keeps_result=True, in_rows=True)(_max),
    2: op("MaxPool2DWithIndicesBackward0", keeps_result=True, output_names=("result", "result1"))(_max),
    3: op("MaxPool3DWithIndicesBackward0", keeps_result=True, output_names=("result", "result1"))(_max),
}
_AVG = {
    1: op("SqueezeBackward1", in_rows=True)(_avg),
    2: op("AvgPool2DBackward0")(_avg),
    3: op("AvgPool3DBackward0")(_avg),
}


def rounded_up(
    x: Operand, window: ShapeLike, stride: ShapeLike, padding: ShapeLike, dilation: ShapeLike
) -> tuple[tuple[int, int], ...]:
    """Padding with as much more at the end as the last, incomplete windows need; they begin in the input."""
    found = []
    for n, k, s, p, d in zip(x._value.shape[2:], window, stride, padding, dilation, strict=True):
        span = d * (k - 1) + 1
        count = -(-(n + 2 * p - span) // s) + 1
        if (count - 1) * s >= n + p:
            count -= 1
        found.append((p, p + max(0, (count - 1) * s + span - n - 2 * p)))
    return tuple(found)


def check_padding(window: tuple[int, ...], padding: tuple[int, ...]) -> None:
    """Raise RuntimeError for windows that would lie in the padding."""
    if min(padding) < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {min(padding)}")
    if any(2 * p > k for p, k in zip(padding, window, strict=True)):
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={max(padding)}, "
            f"kernel_size={window[0]} and dilation=1"
        )


Sizes = tuple[int, ...]


def check_windows(
    name: str, x: Operand, window: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> None:
    """Raise RuntimeError for windows of no size or no place, and for images without elements."""
    for word, given in (("kernel_size", window), ("stride", stride), ("dilation", dilation)):
        if min(given) < 1:
            raise RuntimeError(f"{name}() {word} must be greater than zero, but got {min(given)}")
    check_padding(window, padding)
    shape = x._value.shape[1:]
    if 0 in shape:
        raise RuntimeError(f"{name}(): only the batch may be empty, but got images of {list(shape)}")
    room = [
        n + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)
        for n, k, s, p, d in zip(shape[1:], window, stride, padding, dilation, strict=True)
    ]
    if min(room) < 0:
        before, after = (
            "x".join(map(str, (shape[0], *sizes)))
            for sizes in (shape[1:], [r // s + 1 for r, s in zip(room, stride, strict=True)])
        )
        raise RuntimeError(
            f"Given input size: ({before}). Calculated output size: ({after}). Output size is too small"
        )


def _max_pool(ndim: int) -> Callable[..., Any]:
    name = f"max_pool{ndim}d"

    def max_pool(
        input: Operand,
        kernel_size: ShapeLike,
        stride: ShapeLike = None,
        padding: Padding = 0,
        dilation: ShapeLike = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Operands:
        x, is_batch = batched(input, ndim, name)
        window, around, reach = (numbers(v, ndim) for v in (kernel_size, padding, dilation))
        steps = window if stride is None or stride in ([], ()) else numbers(stride, ndim)
        check_windows(name, x, window, steps, around, reach, ceil_mode)
        pads = rounded_up(x, window, steps, around, reach) if ceil_mode else around
        outs = apply(_MAX[ndim], (x,), (window, steps, pads, reach))
        outs = outs if is_batch else tuple([t.squeeze(0) for t in outs])
        return outs if return_indices else outs[0]

    max_pool.__name__ = max_pool.__qualname__ = name
    max_pool.__doc__ = f"The largest element of every window over {ndim} dimensions; the first of several."
    return max_pool


def _avg_pool(ndim: int) -> Callable[..., Any]:
    name = f"avg_pool{ndim}d"

    def avg_pool(
        input: Operand,
        kernel_size: ShapeLike,
        stride: ShapeLike = None,
        padding: Padding = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Operand:
        x, is_batch = batched(input, ndim, name)
        if x._value.dtype.kind in "iu":
            means = avg_pool(
                input.double(), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
            )
            return means.to(input.dtype)
        window, around = numbers(kernel_size, ndim), numbers(padding, ndim)
        steps = window if stride is None or stride in ([], ()) else numbers(stride, ndim)
        check_windows(name, x, window, steps, around, (1,) * ndim, ceil_mode)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        if ceil_mode:
            pads = rounded_up(x, window, steps, around, (1,) * ndim)
            if pads != tuple([(p, p) for p in around]):
                out = _avg_rounded_up(x, window, steps, around, pads, count_include_pad, divisor_override)
                return out if is_batch else out.squeeze(0)
        out = apply(_AVG[ndim], (x,), (window, steps, around, count_include_pad, divisor_override))
        return out if is_batch else out.squeeze(0)

    avg_pool.__name__ = avg_pool.__qualname__ = name
    avg_pool.__doc__ = f"The mean of every window over {ndim} dimensions."
    return avg_pool


def _avg_rounded_up(
    x: Array,
    window: ShapeLike,
    steps: Anything,
    around: Anything,
    pads: Padding,
    counted: bool,
    divisor: Anything,
) -> Array:
    """Means of windows of which the last reach beyond the padding: what lies there counts never."""
    ndim = len(window)
    total = apply(_AVG[ndim], (x,), (window, steps, pads, True, 1))
    if divisor is not None:
        return total / divisor
    sizes = x._value.shape[2:]
    inside = np.ones((1, 1, *sizes), x._value.dtype)
    if counted:
        inside = np.pad(inside, ((0, 0), (0, 0), *[(p, p) for p in around]), constant_values=1)
        rest = tuple([(low - p, high - p) for (low, high), p in zip(pads, around, strict=True)])
    else:
        rest = pads
    return total / FUNCTIONS["as_tensor"](_avg(inside, window, steps, rest, True, 1))


def adaptive_windows(n: int, out: int) -> list[tuple[int, int]]:
    """Where each of `out` windows over `n` elements begins and ends."""
    return [(i * n // out, -(-(i + 1) * n // out)) for i in range(out)]


def _adaptive_avg(x: Array, sizes: tuple[int, ...]) -> Array:
    if all(n % m == 0 for n, m in zip(x.shape[2:], sizes, strict=True)):
        window = tuple([n // m for n, m in zip(x.shape[2:], sizes, strict=True)])
        return nn.avg_pool(x, window, window, channels_last=False)
    for axis, m in enumerate(sizes, 2):
        # One product with a matrix whose rows are the means that are wanted.
        n = x.shape[axis]
        means = np.zeros((m, n), x.dtype)
        for i, (first, stop) in enumerate(adaptive_windows(n, m)):
            means[i, first:stop] = 1 / (stop - first)
        x = np.moveaxis(np.moveaxis(x, axis, -1) @ means.T, -1, axis)
    return x


_ADAPTIVE_AVG = {
    1: op("SqueezeBackward1", in_rows=True)(_adaptive_avg),
    2: op("AdaptiveAvgPool2DBackward0")(_adaptive_avg),
    3: op("AdaptiveAvgPool3DBackward0")(_adaptive_avg),
}


def output_sizes(given: Operand, x: Operand, ndim: int, name: str) -> tuple[int, ...]:
    """The sizes asked for, where None keeps the input's."""
    wanted = (given,) * ndim if given is None or isinstance(given, int) else tuple(given)
    if len(wanted) != ndim:
        raise RuntimeError(f"{name}: output_size must be {ndim}")
    return tuple([n if m is None else m for m, n in zip(wanted, x._value.shape[2:], strict=True)])


def _adaptive_avg_pool(ndim: int) -> Callable[..., Any]:
    name = f"adaptive_avg_pool{ndim}d"

    def adaptive_avg_pool(input: Operand, output_size: ShapeLike) -> Operand:
        x, is_batch = batched(input, ndim, name)
        sizes = output_sizes(output_size, x, ndim, name)
        if ndim == 2 and sizes == (1, 1):
            out = x.mean((2, 3), keepdim=True)
        else:
            out = apply(_ADAPTIVE_AVG[ndim], (x,), (sizes,))
        return out if is_batch else out.squeeze(0)

    adaptive_avg_pool.__name__ = adaptive_avg_pool.__qualname__ = name
    adaptive_avg_pool.__doc__ = (
        f"Means over as many windows as the result is to have, over {ndim} dimensions."
    )
    return adaptive_avg_pool


def _lp_pool(ndim: int) -> Callable[..., Any]:
    pool = _avg_pool(ndim)

    def lp_pool(
        input: Operand,
        norm_type: float,
        kernel_size: ShapeLike,
        stride: ShapeLike = None,
        ceil_mode: bool = False,
    ) -> Operand:
        size = math.prod(numbers(kernel_size, ndim))
        total = pool(input**norm_type, kernel_size, stride, 0, ceil_mode) * size
        return total ** (1.0 / norm_type)

    lp_pool.__name__ = lp_pool.__qualname__ = f"lp_pool{ndim}d"
    lp_pool.__doc__ = "The norm of every window: the root of the sum of powers."
    return lp_pool


max_pool1d, max_pool2d, max_pool3d = (_max_pool(k) for k in (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = (_avg_pool(k) for k in (1, 2, 3))
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (_adaptive_avg_pool(k) for k in (1, 2, 3))
lp_pool1d, lp_pool2d, lp_pool3d = (_lp_pool(k) for k in (1, 2, 3))
