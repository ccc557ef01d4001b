"""Pooling: the largest or the mean element of every window."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.nn.activations import floating
from funcgrad.nn.convolution import channels_first, channels_to_last
from funcgrad.nn.windows import pairs, per_axis
from funcgrad.numpy.arrays.shapes import as_array
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.movement import take_span
from funcgrad.ops.arrays.slicing import Pad
from funcgrad.ops.arrays.sorting import TakeAlongAxis
from funcgrad.ops.arrays.structure import aval, reduce_sum, reshape, shape_of
from funcgrad.ops.families import added
from funcgrad.ops.signal.convolution_plan import Ints, Pairs, count, dilated
from funcgrad.ops.signal.pooling import WindowArgMax, flat_windows
from funcgrad.types import Array, ArrayLike, DTypeLike, Padding, ShapeLike


def max_pool(
    x: ArrayLike,
    window: ShapeLike,
    strides: ShapeLike = None,
    padding: Padding = "valid",
    *,
    dilation: ShapeLike = 1,
    channels_last: bool = True,
) -> Array:
    """The largest element of every window of `x` (examples, *sizes, channels).

    `strides` are the window's sizes unless given. Padding is never chosen. Where several elements are the
    largest, the first has the derivative, as in PyTorch. With ``channels_last=False`` `x` is (examples,
    channels, *sizes).

    >>> x = np.array([1.0, 3.0, 2.0, 2.0]).reshape(1, 4, 1)
    >>> print(fg.nn.max_pool(x, 2)[0, :, 0])
    [3. 2.]
    >>> print(fg.grad(lambda x: np.sum(fg.nn.max_pool(x, 2)))(x)[0, :, 0])
    [0. 1. 1. 0.]
    """
    return max_pool_and_positions(
        x, window, strides, padding, dilation=dilation, channels_last=channels_last
    )[0]


def max_pool_and_positions(
    x: ArrayLike,
    window: ShapeLike,
    strides: ShapeLike = None,
    padding: Padding = "valid",
    *,
    dilation: ShapeLike = 1,
    channels_last: bool = True,
) -> tuple[Any, Any]:
    """`max_pool`, and where the largest elements stand, counted along the spatial axes in row-major order.

    >>> x = np.array([1.0, 3.0, 2.0, 2.0]).reshape(1, 4, 1)
    >>> print(fg.nn.max_pool_and_positions(x, 2)[1][0, :, 0])
    [1 2]
    """
    given = as_array(x)
    # Channels stay where they are: those of one place are neighbours in memory, and computed together.
    start = 1 if channels_last else 2
    sizes = spatial_sizes(given, start)
    shape, steps, around, reach = parameters(sizes, window, strides, padding, dilation)
    at = WindowArgMax(shape, steps, around, reach, 2 - start).bind(given)
    ndim = len(sizes)
    # Where windows do not overlap no element is read twice.
    unique = all(s >= dilated(k, d) for s, k, d in zip(steps, shape, reach, strict=True))
    flat = TakeAlongAxis(start, unique).bind(flat_windows(given, start, ndim), flat_windows(at, start, ndim))
    return reshape(flat, shape_of(at)), at


def avg_pool(
    x: ArrayLike,
    window: ShapeLike,
    strides: ShapeLike = None,
    padding: Padding = "valid",
    *,
    count_padding: bool = True,
    channels_last: bool = True,
) -> Array:
    """The mean of every window of `x` (examples, *sizes, channels).

    `strides` are the window's sizes unless given. Padding counts as zeros, or not at all with
    ``count_padding=False``. With ``channels_last=False`` `x` is (examples, channels, *sizes).

    >>> x = np.array([1.0, 3.0, 2.0, 4.0]).reshape(1, 4, 1)
    >>> print(fg.nn.avg_pool(x, 2)[0, :, 0])
    [2. 3.]
    >>> print(fg.nn.avg_pool(x, 3, 1, "same", count_padding=False)[0, :, 0])
    [2. 2. 3. 3.]
    """
    first = channels_first(floating(x)) if channels_last else floating(x)
    sizes = spatial_sizes(first, 2)
    shape, steps, around, _ = parameters(sizes, window, strides, padding, 1)
    total = window_sums(first, shape, steps, around)
    if count_padding or not any(sum(entry) for entry in around):
        out = total / math.prod(shape)
    else:
        out = total / elements_in_windows(sizes, shape, steps, around, aval(first).dtype)
    return channels_to_last(out) if channels_last else out


def spatial_sizes(x: ArrayLike, start: int) -> Ints:
    """The sizes of the spatial axes: all but two, from the third on (channels first) or the second."""
    shape: Ints = shape_of(x)
    if len(shape) < 3:
        raise refused(f"pooling of {aval(x)}: it needs axes for examples, channels and space")
    return shape[start : start + len(shape) - 2]


def parameters(
    sizes: Ints, window: ShapeLike, strides: ShapeLike, padding: Padding, dilation: ShapeLike
) -> tuple[Ints, Ints, Pairs, Ints]:
    """Window, strides, padding and dilation, each with one entry for each axis."""
    ndim = len(sizes)
    shape = per_axis(window, ndim, "window")
    steps = shape if strides is None else per_axis(strides, ndim, "strides")
    reach = per_axis(dilation, ndim, "dilation")
    return shape, steps, pairs(padding, sizes, shape, steps, reach), reach


def window_sums(x: ArrayLike, window: Ints, strides: Ints, padding: Pairs) -> Array:
    """The sum of every window over the axes from the third on: one axis after the other."""
    for axis, (k, s, around) in enumerate(zip(window, strides, padding, strict=True), 2):
        x = sums_along(padded_along(x, axis, around), axis, k, s)
    return x


def padded_along(x: ArrayLike, axis: int, around: tuple[int, int]) -> Array:
    """`x` with zeros before and after it along one axis."""
    if not any(around):
        return x
    shape = shape_of(x)
    index = tuple([(around[0] if a == axis else 0, n, 1) for a, n in enumerate(shape)])
    total = tuple([n + sum(around) if a == axis else n for a, n in enumerate(shape)])
    return Pad(total, index).bind(x)


def sums_along(x: ArrayLike, axis: int, k: int, stride: int) -> Array:
    """The sum of every window of `k` elements along one axis."""
    shape = shape_of(x)
    n = count(shape[axis], k, stride)
    if stride == k:
        # Windows side by side are an axis of their own.
        split = take_span(x, axis, 0, n * k) if n * k != shape[axis] else x
        return reduce_sum(reshape(split, (*shape[:axis], n, k, *shape[axis + 1 :])), (axis + 1,))
    if n == 1:
        return reshape(reduce_sum(take_span(x, axis, 0, k), (axis,)), (*shape[:axis], 1, *shape[axis + 1 :]))
    total = None
    for start in range(k):
        total = added(total, take_span(x, axis, start, n, stride))
    return total


def elements_in_windows(sizes: Ints, window: Ints, strides: Ints, padding: Pairs, dtype: DTypeLike) -> Array:
    """How many elements that are not padding every window has."""
    return window_sums(np.ones((1, 1, *sizes), dtype), window, strides, padding)
