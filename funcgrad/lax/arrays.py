"""Functions of arrays under the names and with the arguments that `jax.lax` has for them.

Sizes are numbers, as there; positions may be traced, and are moved inside so that the part fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.numpy.picking.positions import take
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, DTypeLike, Index, ShapeLike, Tree

__all__ = [
    "approx_max_k",
    "approx_min_k",
    "broadcast_in_dim",
    "broadcast_like",
    "broadcast_to_rank",
    "clamp",
    "concatenate",
    "convert_element_type",
    "cumlogsumexp",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "dtype",
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "dynamic_update_index_in_dim",
    "dynamic_update_slice",
    "dynamic_update_slice_in_dim",
    "empty",
    "expand_dims",
    "full",
    "full_like",
    "index_in_dim",
    "index_take",
    "iota",
    "optimization_barrier",
    "platform_dependent",
    "rev",
    "select",
    "slice",
    "slice_in_dim",
    "top_k",
]


def select(pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> Array:
    """The elements of one array or of the other, of the same shape.

    >>> print(fg.lax.select(np.array([True, False]), np.ones(2), np.zeros(2)))
    [1. 0.]
    """
    shapes = {shape_of(asoperand(x)) for x in (on_true, on_false)}
    if len(shapes) > 1:
        raise TypeError(f"select: the cases have shapes {sorted(shapes)}, and must have one")
    return fnp.where(pred, on_true, on_false)


def clamp(min: ArrayLike, x: ArrayLike, max: ArrayLike) -> Array:
    """`x`, or the limit that it is beyond.

    >>> print(fg.lax.clamp(0.0, np.array([-1.0, 0.5, 2.0]), 1.0))
    [0.  0.5 1. ]
    """
    return fnp.clip(x, min, max)


def top_k(operand: ArrayLike, k: int) -> tuple[Any, Any]:
    """The `k` largest elements along the last axis, in falling order, and where they are.

    >>> values, places = fg.lax.top_k(np.array([1.0, 3.0, 2.0]), 2)
    >>> print(values, places)
    [3. 2.] [1 2]
    """
    x = asoperand(operand)
    if not 0 <= k <= shape_of(x)[-1]:
        raise ValueError(f"top_k: k is {k}, and the last axis has {shape_of(x)[-1]} elements")
    # Of equal elements the first comes first, as in lax: a stable sort of the negated ones.
    order = fnp.argsort(-x, axis=-1, stable=True)[..., :k]
    return fnp.take_along_axis(x, order, axis=-1), order


def approx_max_k(
    operand: ArrayLike, k: int, reduction_dimension: int = -1, **approximation: object
) -> tuple[Array, Array]:
    """The `k` largest elements along an axis and where they are: all of them, exactly.

    >>> print(fg.lax.approx_max_k(np.array([1.0, 3.0, 2.0]), 2)[0])
    [3. 2.]
    """
    moved = fnp.moveaxis(asoperand(operand), reduction_dimension, -1)
    values, places = top_k(moved, k)
    back = (-1, reduction_dimension)
    return fnp.moveaxis(values, *back), fnp.moveaxis(places, *back)


def approx_min_k(
    operand: ArrayLike, k: int, reduction_dimension: int = -1, **approximation: object
) -> tuple[Array, Array]:
    """The `k` smallest elements along an axis and where they are: all of them, exactly.

    >>> print(fg.lax.approx_min_k(np.array([1.0, 3.0, 2.0]), 2)[0])
    [1. 2.]
    """
    values, places = approx_max_k(-asoperand(operand), k, reduction_dimension)
    return -values, places


# -- parts ---------------------------------------------------------------------------------------------------


def inside(start: ArrayLike, size: int, length: int) -> Array:
    """A first position, moved so that a part of this size lies within the axis."""
    if not 0 <= size <= length:
        raise TypeError(f"a part of {size} elements does not fit an axis of {length}")
    start = asoperand(start)
    start = fnp.where(start < 0, start + length, start)
    return fnp.clip(start, 0, length - size)


def dynamic_slice(operand: ArrayLike, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> Array:
    """The part of these sizes that begins at positions, which may be traced.

    >>> x = np.arange(12.0).reshape(3, 4)
    >>> print(fg.jit(lambda i: fg.lax.dynamic_slice(x, (i, 1), (1, 2)))(2))
    [[ 9. 10.]]
    """
    x = asoperand(operand)
    if not len(start_indices) == len(slice_sizes) == len(shape_of(x)):
        raise TypeError(f"dynamic_slice: {len(shape_of(x))} positions and sizes are needed")
    for axis, (start, size) in enumerate(zip(start_indices, slice_sizes, strict=True)):
        x = dynamic_slice_in_dim(x, start, size, axis)
    return x


def dynamic_slice_in_dim(operand: ArrayLike, start_index: ArrayLike, slice_size: int, axis: int = 0) -> Array:
    """A part along one axis, from a position that may be traced.

    >>> print(fg.lax.dynamic_slice_in_dim(np.arange(5.0), 2, 2))
    [2. 3.]
    """
    x = asoperand(operand)
    start = inside(start_index, slice_size, shape_of(x)[axis])
    return take(x, start + np.arange(slice_size), axis=axis)


def dynamic_index_in_dim(operand: ArrayLike, index: Index, axis: int = 0, keepdims: bool = True) -> Array:
    """The element at a position along one axis.

    >>> print(fg.lax.dynamic_index_in_dim(np.arange(5.0), 2, keepdims=False))
    2.0
    """
    found = dynamic_slice_in_dim(operand, index, 1, axis)
    return found if keepdims else fnp.squeeze(found, axis)


index_in_dim = dynamic_index_in_dim


def dynamic_update_slice(operand: ArrayLike, update: ArrayLike, start_indices: Sequence[Any]) -> Array:
    """The array with another part in it, from positions that may be traced.

    >>> print(fg.jit(lambda i: fg.lax.dynamic_update_slice(np.zeros(4), np.ones(2), (i,)))(1))
    [0. 1. 1. 0.]
    """
    x, part = asoperand(operand), asoperand(update)
    sizes, lengths = shape_of(part), shape_of(x)
    if not len(start_indices) == len(sizes) == len(lengths):
        raise TypeError(f"dynamic_update_slice: an update and {len(lengths)} positions are needed")
    inner: Any = True
    places: Any = 0
    for axis, (start, size, length) in enumerate(zip(start_indices, sizes, lengths, strict=True)):
        shape = [1] * len(lengths)
        shape[axis] = length
        offset = np.arange(length).reshape(shape) - inside(start, size, length)
        inner = inner & (offset >= 0) & (offset < size)
        places = places * size + fnp.clip(offset, 0, max(size - 1, 0))
    if not np.prod(sizes):
        return x
    moved = take(fnp.ravel(part), fnp.broadcast_to(places, lengths), axis=0)
    return fnp.where(inner, fnp.astype(moved, aval(x).dtype), x)


def dynamic_update_slice_in_dim(
    operand: ArrayLike, update: ArrayLike, start_index: ArrayLike, axis: int
) -> Array:
    """The array with another part along one axis.

    >>> print(fg.lax.dynamic_update_slice_in_dim(np.zeros(4), np.ones(2), 1, 0))
    [0. 1. 1. 0.]
    """
    starts: list[Any] = [0] * len(shape_of(asoperand(operand)))
    starts[axis] = start_index
    return dynamic_update_slice(operand, update, starts)


def dynamic_update_index_in_dim(operand: ArrayLike, update: ArrayLike, index: Index, axis: int) -> Array:
    """The array with other elements at a position along one axis.

    >>> print(fg.lax.dynamic_update_index_in_dim(np.zeros(3), 2.0, 1, 0))
    [0. 2. 0.]
    """
    x, part = asoperand(operand), asoperand(update)
    if len(shape_of(part)) < len(shape_of(x)):
        part = fnp.expand_dims(part, axis)
    return dynamic_update_slice_in_dim(x, part, index, axis)


def slice(
    operand: ArrayLike, start_indices: Sequence[int], limit_indices: Sequence[int], strides: ArrayLike = None
) -> Array:
    """A regular part.

    >>> print(fg.lax.slice(np.arange(6.0), (1,), (6,), (2,)))
    [1. 3. 5.]
    """
    steps = [1] * len(start_indices) if strides is None else strides
    index = [np.s_[a:b:c] for a, b, c in zip(start_indices, limit_indices, steps, strict=True)]
    return fnp.asarray(operand)[tuple(index)]


def slice_in_dim(
    operand: ArrayLike, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Array:
    """A regular part along one axis.

    >>> print(fg.lax.slice_in_dim(np.arange(6.0), 1, 4))
    [1. 2. 3.]
    """
    index: list[Any] = [np.s_[:]] * len(shape_of(asoperand(operand)))
    index[axis] = np.s_[start_index:limit_index:stride]
    return fnp.asarray(operand)[tuple(index)]


def index_take(src: ArrayLike, idxs: Sequence[Any], axes: Sequence[int]) -> Array:
    """The parts at positions along axes, one position on each; positions are counted round.

    >>> print(fg.lax.index_take(np.arange(6.0).reshape(2, 3), (np.array([0, 1]), np.array([2, 0])), (0, 1)))
    [2. 3.]
    """
    x = asoperand(src)
    sizes = [shape_of(x)[axis] for axis in axes]
    moved = fnp.moveaxis(x, tuple(axes), tuple(range(len(axes))))
    return moved[tuple([asoperand(i) % n for i, n in zip(idxs, sizes, strict=True)])]


# -- shapes --------------------------------------------------------------------------------------------------


def expand_dims(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """The array with axes of one element.

    >>> fg.lax.expand_dims(np.ones(3), (0,)).shape
    (1, 3)
    """
    return fnp.expand_dims(array, tuple(dimensions))


def broadcast_in_dim(operand: ArrayLike, shape: Sequence[int], broadcast_dimensions: Sequence[int]) -> Array:
    """The array repeated into a shape, of which its axes are these.

    >>> fg.lax.broadcast_in_dim(np.ones(3), (2, 3, 4), (1,)).shape
    (2, 3, 4)
    """
    x = asoperand(operand)
    sizes = [1] * len(shape)
    for size, axis in zip(shape_of(x), broadcast_dimensions, strict=True):
        sizes[axis] = size
    return fnp.broadcast_to(fnp.reshape(x, tuple(sizes)), tuple(shape))


def broadcast_to_rank(x: ArrayLike, rank: int) -> Array:
    """The array with axes of one element in front, until it has as many as are wanted.

    >>> fg.lax.broadcast_to_rank(np.ones(3), 3).shape
    (1, 1, 3)
    """
    sizes = shape_of(asoperand(x))
    return fnp.reshape(x, (*(1,) * max(0, rank - len(sizes)), *sizes))


def broadcast_like(arr: ArrayLike, like_arr: ArrayLike) -> Array:
    """The array repeated into the shape of another one.

    >>> fg.lax.broadcast_like(np.ones(3), np.zeros((2, 3))).shape
    (2, 3)
    """
    return fnp.broadcast_to(asoperand(arr), shape_of(asoperand(like_arr)))


def rev(operand: ArrayLike, dimensions: Sequence[int]) -> Array:
    """The array the other way round along axes.

    >>> print(fg.lax.rev(np.arange(3.0), (0,)))
    [2. 1. 0.]
    """
    return fnp.flip(operand, tuple(dimensions))


def concatenate(operands: Sequence[Any], dimension: int) -> Array:
    """Arrays one after another along an axis.

    >>> print(fg.lax.concatenate([np.ones(1), np.zeros(1)], 0))
    [1. 0.]
    """
    return fnp.concatenate(list(operands), dimension)


def full(shape: Sequence[int], fill_value: ArrayLike, dtype: DTypeLike = None) -> Array:
    """An array of one value.

    >>> print(fg.lax.full((2,), 3.0))
    [3. 3.]
    """
    return fnp.full(tuple(shape), fill_value, dtype)


def full_like(x: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike = None, shape: ShapeLike = None) -> Array:
    """An array of one value, as large as another one.

    >>> print(fg.lax.full_like(np.ones(2), 3.0))
    [3. 3.]
    """
    return fnp.full_like(asoperand(x), fill_value, dtype, shape=shape)


def empty(shape: Sequence[int], dtype: DTypeLike) -> Array:
    """An array that is to be filled: of zeros, so that nothing is left to chance.

    >>> print(fg.lax.empty((2,), float))
    [0. 0.]
    """
    return fnp.zeros(tuple(shape), dtype)


def iota(dtype: DTypeLike, size: int) -> Array:
    """The numbers from 0.

    >>> print(fg.lax.iota(int, 3))
    [0 1 2]
    """
    return np.arange(size, dtype=dtype)


def convert_element_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """The values in another dtype.

    >>> print(fg.lax.convert_element_type(np.array([1.0]), int))
    [1]
    """
    return fnp.astype(fnp.asarray(operand), new_dtype)


def dtype(x: ArrayLike) -> np.dtype[Any]:
    """The dtype of an array.

    >>> fg.lax.dtype(np.ones(2, np.float32))
    dtype('float32')
    """
    return aval(asoperand(x)).dtype


def optimization_barrier(operand: ArrayLike) -> Array:
    """The operand: which operations run together is decided by what they cost.

    >>> print(fg.lax.optimization_barrier(2.0))
    2.0
    """
    return operand


def platform_dependent(
    *args: Tree, default: Callable[..., Any] | None = None, **of_platforms: Callable[..., Any]
) -> Array:
    """What the function for the CPU makes of `args`, or where there is none the `default`.

    >>> print(fg.lax.platform_dependent(2.0, cpu=np.sqrt, default=np.exp).round(3))
    1.414
    """
    function = of_platforms.get("cpu", default)
    if function is None:
        raise NotImplementedError(
            f"platform_dependent: functions for {', '.join(of_platforms)}, and none for the CPU"
        )
    return function(*args)


# -- along an axis -------------------------------------------------------------------------------------------


def cumsum(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """The sums of all elements so far, or from here on.

    >>> print(fg.lax.cumsum(np.ones(3), reverse=True))
    [3. 2. 1.]
    """
    return accumulated(fnp.cumsum, operand, axis, reverse)


def cumprod(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """The products.

    >>> print(fg.lax.cumprod(np.array([1.0, 2.0, 3.0])))
    [1. 2. 6.]
    """
    return accumulated(fnp.cumprod, operand, axis, reverse)


def cummax(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """The largest elements.

    >>> print(fg.lax.cummax(np.array([1.0, 3.0, 2.0])))
    [1. 3. 3.]
    """
    return accumulated(lambda x, axis: np.maximum.accumulate(x, axis=axis), operand, axis, reverse)


def cummin(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """The smallest elements.

    >>> print(fg.lax.cummin(np.array([3.0, 1.0, 2.0])))
    [3. 1. 1.]
    """
    return accumulated(lambda x, axis: np.minimum.accumulate(x, axis=axis), operand, axis, reverse)


def cumlogsumexp(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """The logarithms of the sums of exponentials.

    >>> print(fg.lax.cumlogsumexp(np.array([1000.0, 1000.0])).round(3))
    [1000.    1000.693]
    """
    return accumulated(lambda x, axis: np.logaddexp.accumulate(x, axis=axis), operand, axis, reverse)


def accumulated(function: Callable[..., Any], operand: ArrayLike, axis: int, reverse: bool) -> Array:
    """Accumulated from the beginning of an axis, or from its end."""
    if not reverse:
        return function(operand, axis=axis)
    return fnp.flip(function(fnp.flip(operand, axis), axis=axis), axis)
