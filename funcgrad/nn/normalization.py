"""Normalisation: numbers brought to mean 0 and variance 1, and `softmax`, `one_hot` and their kin.

Parameters come last and may be left out. Every function takes the axis or axes it works along.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.nn.activations import floating
from funcgrad.numpy.arrays.shapes import as_array
from funcgrad.numpy.reducing.axes import normalized_axes, normalized_axis, refused, with_kept_axes
from funcgrad.numpy.reducing.reductions import LOGADDEXP, reduced
from funcgrad.ops.arrays.structure import aval, cast, reduce_sum, reshape, shape_of
from funcgrad.ops.elementwise.comparison import equal
from funcgrad.ops.elementwise.elementary import sqrt
from funcgrad.ops.elementwise.selection import where as choose
from funcgrad.ops.reducing.softmax import LogSoftmax, Softmax
from funcgrad.types import Array, ArrayLike, AxisLike, DTypeLike

__all__ = [
    "batch_norm",
    "group_norm",
    "layer_norm",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "one_hot",
    "rms_norm",
    "softmax",
    "standardize",
]


def softmax(x: ArrayLike, axis: AxisLike = -1, where: ArrayLike = None) -> Array:
    """``exp(x) / sum(exp(x))`` along `axis`, of the elements that `where` holds for if it is given.

    >>> print(fg.nn.softmax([0.0, np.log(3.0)]))
    [0.25 0.75]
    >>> print(fg.nn.softmax([0.0, 1.0, 2.0], where=[True, False, False]))
    [1. 0. 0.]
    """
    x = masked_along(floating(x), axis, where)
    found = Softmax(normalized_axes(axis, len(shape_of(x)))).bind(x)
    return found if where is None else choose(as_array(where), found, 0.0)


def log_softmax(x: ArrayLike, axis: AxisLike = -1, where: ArrayLike = None) -> Array:
    """``x - logsumexp(x)`` along `axis`, of the elements that `where` holds for if it is given.

    >>> print(fg.nn.log_softmax([1000.0, 0.0]))
    [    0. -1000.]
    """
    x = masked_along(floating(x), axis, where)
    found = LogSoftmax(normalized_axes(axis, len(shape_of(x)))).bind(x)
    return found if where is None else choose(as_array(where), found, -np.inf)


def masked(x: ArrayLike, where: ArrayLike) -> Array:
    """`x` with minus infinity where the mask does not hold."""
    return x if where is None else choose(as_array(where), x, -np.inf)


def masked_along(x: ArrayLike, axis: AxisLike, where: ArrayLike) -> Array:
    """`x` with minus infinity where the mask does not hold, or 0 where it holds for nothing along `axis`."""
    if where is None:
        return x
    mask = np.broadcast_to(as_array(where), np.broadcast_shapes(shape_of(x), shape_of(as_array(where))))
    axes = normalized_axes(axis, len(shape_of(mask)))
    return choose(mask, x, choose(np.any(mask, axis=axes, keepdims=True), -np.inf, 0.0))


def logsumexp(x: ArrayLike, axis: AxisLike = None, keepdims: bool = False) -> Array:
    """``log(sum(exp(x)))`` along `axis`, without overflow.

    >>> print(fg.nn.logsumexp([1000.0, 1000.0]))
    1000.6931471805599
    """
    return reduced(LOGADDEXP, floating(x), axis, keepdims)


def logmeanexp(
    x: ArrayLike, axis: AxisLike = None, where: ArrayLike | None = None, keepdims: bool = False
) -> Array:
    """``log(mean(exp(x)))`` along `axis`, without overflow, of the elements where the mask holds.

    >>> print(fg.nn.logmeanexp([1000.0, 1000.0]))
    1000.0
    """
    x = floating(x)
    kept = np.ones(shape_of(x), bool) if where is None else np.broadcast_to(as_array(where), shape_of(x))
    count = np.sum(kept, axis=axis, keepdims=keepdims)
    return logsumexp(choose(kept, x, -np.inf), axis, keepdims) - cast(np.log(count), aval(x).dtype)


def one_hot(x: ArrayLike, num_classes: int, *, dtype: DTypeLike = np.float64, axis: int = -1) -> Array:
    """Rows of zeros with a one at the place that each integer names; none for integers out of range.

    >>> print(fg.nn.one_hot([0, 2], 3))
    [[1. 0. 0.]
     [0. 0. 1.]]
    """
    x = as_array(x)
    if aval(x).dtype.kind not in "iu":
        raise refused(f"one_hot of {aval(x)}: classes must be integers")
    shape = shape_of(x)
    k = normalized_axis(axis, len(shape) + 1)
    classes = np.arange(num_classes).reshape([-1 if a == k else 1 for a in range(len(shape) + 1)])
    return cast(equal(reshape(x, (*shape[:k], 1, *shape[k:])), classes), dtype)


# -- mean and variance ----------------------------------------------------------------------------------


def moments(x: ArrayLike, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """The difference from the mean along `axes`, and the variance with these axes kept."""
    shape = shape_of(x)
    size = 1
    for a in axes:
        size *= shape[a]
    mean = with_kept_axes(reduce_sum(x, axes), shape, axes) / size
    centred = x - mean
    variance = with_kept_axes(reduce_sum(centred * centred, axes), shape, axes) / size
    return centred, variance


def standardize(
    x: ArrayLike,
    axis: AxisLike = -1,
    mean: ArrayLike = None,
    variance: ArrayLike = None,
    epsilon: ArrayLike = 1e-5,
) -> Array:
    """``(x - mean) / sqrt(variance + epsilon)``, with mean and variance along `axis` unless they are given.

    >>> print(fg.nn.standardize([1.0, 3.0], epsilon=0.0))
    [-1.  1.]
    """
    x = floating(x)
    axes = normalized_axes(axis, len(shape_of(x)))
    centred, found = moments(x, axes) if mean is None or variance is None else (x, None)
    if mean is not None:
        centred = x - as_array(mean)
    return centred / sqrt((found if variance is None else as_array(variance)) + epsilon)


def layer_norm(
    x: ArrayLike,
    weight: ArrayLike = None,
    bias: ArrayLike = None,
    *,
    axis: AxisLike = -1,
    epsilon: ArrayLike = 1e-5,
) -> Array:
    """`standardize` along `axis`, times ``weight``, plus ``bias``; these have the shape of the axes.

    >>> x = np.array([[1.0, 3.0], [5.0, 5.0]])
    >>> print(fg.nn.layer_norm(x, np.array([1.0, 2.0]), np.array([0.5, 0.0]), epsilon=0.125).round(3))
    [[-0.443  1.886]
     [ 0.5    0.   ]]
    """
    x = floating(x)
    axes = normalized_axes(axis, len(shape_of(x)))
    return affine(standardize(x, axes, epsilon=epsilon), weight, bias, axes)


def affine(x: ArrayLike, weight: ArrayLike, bias: ArrayLike, axes: tuple[int, ...]) -> Array:
    """``weight * x + bias``, whose axes are these axes of `x`; either may be None."""
    if weight is not None:
        x = x * along(as_array(weight), axes, len(shape_of(x)))
    return x if bias is None else x + along(as_array(bias), axes, len(shape_of(x)))


def along(parameter: ArrayLike, axes: tuple[int, ...], ndim: int) -> Array:
    """A parameter with its axes at `axes` of `ndim`, of size one elsewhere."""
    shape = shape_of(parameter)
    if not shape:
        return parameter
    if len(shape) != len(axes):
        raise refused(f"a parameter {aval(parameter)} does not have the {len(axes)} axes {axes}")
    sizes = dict(zip(axes, shape, strict=True))
    return reshape(parameter, tuple([sizes.get(a, 1) for a in range(ndim)]))


def rms_norm(
    x: ArrayLike, weight: ArrayLike = None, *, axis: AxisLike = -1, epsilon: ArrayLike = 1e-6
) -> Array:
    """``x / sqrt(mean(x**2) + epsilon)`` along `axis`, times ``weight``.

    >>> print(fg.nn.rms_norm([1.0, 7.0], epsilon=0.0))
    [0.2 1.4]
    """
    x = floating(x)
    shape = shape_of(x)
    axes = normalized_axes(axis, len(shape))
    size = 1
    for a in axes:
        size *= shape[a]
    square = with_kept_axes(reduce_sum(x * x, axes), shape, axes) / size
    return affine(x / sqrt(square + epsilon), weight, None, axes)


def batch_norm(
    x: ArrayLike,
    weight: ArrayLike = None,
    bias: ArrayLike = None,
    *,
    mean: ArrayLike = None,
    variance: ArrayLike = None,
    axis: int = -1,
    epsilon: ArrayLike = 1e-5,
) -> Array:
    """`standardize` along all axes but the channels' `axis`, then ``weight`` times that plus ``bias``.

    Without `mean` and `variance`, as in training, they are those of `x`; running averages are the caller's.

    >>> print(fg.nn.batch_norm([[1.0, 10.0], [3.0, 30.0]], epsilon=0.0))
    [[-1. -1.]
     [ 1.  1.]]
    """
    x = floating(x)
    ndim = len(shape_of(x))
    channel = normalized_axis(axis, ndim)
    others = tuple([a for a in range(ndim) if a != channel])
    mean, variance = [None if v is None else along(as_array(v), (channel,), ndim) for v in (mean, variance)]
    return affine(standardize(x, others, mean, variance, epsilon), weight, bias, (channel,))


def group_norm(
    x: ArrayLike,
    groups: int,
    weight: ArrayLike = None,
    bias: ArrayLike = None,
    *,
    axis: int = -1,
    epsilon: ArrayLike = 1e-5,
) -> Array:
    """`standardize` along all axes but the first, in each of `groups` equal parts of the channels' `axis`.

    >>> print(fg.nn.group_norm([[1.0, 3.0, 10.0, 30.0]], 2, epsilon=0.0))
    [[-1.  1. -1.  1.]]
    """
    x = floating(x)
    shape = shape_of(x)
    channel = normalized_axis(axis, len(shape))
    if shape[channel] % groups:
        raise refused(f"group_norm of {aval(x)}: axis {channel} does not have {groups} equal parts")
    split = reshape(x, (*shape[:channel], groups, shape[channel] // groups, *shape[channel + 1 :]))
    axes = tuple([a for a in range(1, len(shape) + 1) if a != channel])
    return affine(reshape(standardize(split, axes, epsilon=epsilon), shape), weight, bias, (channel,))
