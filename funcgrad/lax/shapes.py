"""Functions that move and repeat elements, under `jax.lax`'s names and with its arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.slicing import Pad
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, DTypeLike

__all__ = [
    "broadcast",
    "broadcast_shapes",
    "broadcasted_iota",
    "collapse",
    "pad",
    "reshape",
    "select_n",
    "split",
    "squeeze",
    "stack",
    "tile",
    "transpose",
    "unstack",
]


def broadcast(operand: ArrayLike, sizes: Sequence[int]) -> Array:
    """The array repeated along new first axes.

    >>> fg.lax.broadcast(np.ones(3), (2, 4)).shape
    (2, 4, 3)
    """
    x = asoperand(operand)
    return fnp.broadcast_to(x, (*sizes, *shape_of(x)))


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together.

    >>> fg.lax.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    return np.broadcast_shapes(*[tuple(shape) for shape in shapes])


def broadcasted_iota(dtype: DTypeLike, shape: Sequence[int], dimension: int) -> Array:
    """The positions along one axis of a shape.

    >>> print(fg.lax.broadcasted_iota(int, (2, 3), 1))
    [[0 1 2]
     [0 1 2]]
    """
    sizes = [1] * len(shape)
    sizes[dimension] = shape[dimension]
    return np.broadcast_to(np.arange(shape[dimension], dtype=dtype).reshape(sizes), tuple(shape)).copy()


def collapse(operand: ArrayLike, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """The array with neighbouring axes made one, up to `stop_dimension` without it.

    >>> fg.lax.collapse(np.ones((2, 3, 4)), 1).shape
    (2, 12)
    """
    x = asoperand(operand)
    shape = shape_of(x)
    first, last, _ = np.s_[start_dimension:stop_dimension].indices(len(shape))
    return fnp.reshape(x, (*shape[:first], math.prod(shape[first:last]), *shape[last:]))


def pad(
    operand: ArrayLike, padding_value: ArrayLike, padding_config: Sequence[tuple[int, int, int]]
) -> Array:
    """The array with a value before, after and between its elements; negative numbers cut off.

    >>> print(fg.lax.pad(np.array([1.0, 2.0, 3.0]), 0.0, [(1, -1, 2)]))
    [0. 1. 0. 0. 2. 0. 0.]
    """
    x = asoperand(operand)
    for axis, (low, high, between) in enumerate(padding_config):
        size = shape_of(x)[axis]
        if between < 0:
            raise ValueError(f"pad: there cannot be {between} elements between others")
        whole = max(size + (size - 1) * between, 0)
        if whole + low + high < 0:
            raise ValueError(f"pad: axis {axis} would have {whole + low + high} elements")
        x = spread(x, axis, max(low, 0), max(high, 0), between + 1, padding_value)
        index: list[Any] = [np.s_[:]] * len(shape_of(x))
        index[axis] = np.s_[max(-low, 0) : shape_of(x)[axis] - max(-high, 0)]
        x = x[tuple(index)]
    return x


def spread(x: Array, axis: int, low: int, high: int, step: int, value: ArrayLike) -> Array:
    """The elements of an axis so many steps apart, with a value between, before and after them."""
    size = shape_of(x)[axis]
    if (low, high, step) == (0, 0, 1):
        return x
    shape = [
        low + max((size - 1) * step + 1, 0) + high if k == axis else n for k, n in enumerate(shape_of(x))
    ]
    index = tuple([(low, n, step) if k == axis else (0, n, 1) for k, n in enumerate(shape_of(x))])
    placed = Pad(tuple(shape), index).bind(x) if size else fnp.zeros(tuple(shape), aval(x).dtype)
    if np.isscalar(value) and value == 0:
        return placed
    places = np.zeros([n if k == axis else 1 for k, n in enumerate(shape)], bool)
    np.moveaxis(places, axis, 0)[low : low + (size - 1) * step + 1 : step] = size > 0
    return fnp.where(places, placed, fnp.astype(asoperand(value), aval(x).dtype))


def reshape(operand: ArrayLike, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None) -> Array:
    """The elements in another shape, read with the axes in the order of `dimensions`.

    >>> print(fg.lax.reshape(np.arange(4).reshape(2, 2), (4,), (1, 0)))
    [0 2 1 3]
    """
    x = asoperand(operand)
    return fnp.reshape(x if dimensions is None else fnp.transpose(x, tuple(dimensions)), tuple(new_sizes))


def select_n(which: ArrayLike, *cases: ArrayLike) -> Array:
    """Of arrays of one shape, the elements of the one that `which` numbers; False is 0.

    >>> print(fg.lax.select_n(np.array([0, 1, 2]), np.zeros(3), np.ones(3), np.full(3, 5.0)))
    [0. 1. 5.]
    """
    chosen, arrays = asoperand(which), [asoperand(x) for x in cases]
    shapes = [shape_of(x) for x in arrays]
    if not arrays or len(set(shapes)) > 1 or shape_of(chosen) not in ((), shapes[0]):
        raise TypeError(
            f"select_n: the cases must have one shape, and what chooses that or none; got {shapes} and "
            f"{shape_of(chosen)}"
        )
    kind = aval(chosen).dtype.kind
    if kind not in "biu" or (kind == "b" and len(arrays) > 2):
        raise TypeError(f"select_n: {len(arrays)} cases are not chosen by {aval(chosen).dtype}")
    out = arrays[-1]
    for number in range(len(arrays) - 2, -1, -1):
        out = fnp.where(chosen <= number, arrays[number], out)
    return out


def split(operand: ArrayLike, sizes: Sequence[int], axis: int = 0) -> list[Any]:
    """Parts of these sizes along an axis.

    >>> print(fg.lax.split(np.arange(3), (1, 2)))
    [array([0]), array([1, 2])]
    """
    x = asoperand(operand)
    if sum(sizes) != shape_of(x)[axis]:
        raise ValueError(f"split: sizes {tuple(sizes)} do not sum to {shape_of(x)[axis]}")
    return list(fnp.split(x, np.cumsum(sizes)[:-1].tolist(), axis))


def squeeze(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """The array without these axes of one element.

    >>> fg.lax.squeeze(np.ones((1, 3)), (0,)).shape
    (3,)
    """
    return fnp.squeeze(asoperand(array), tuple(dimensions))


def stack(operands: Sequence[Any], axis: int = 0) -> Array:
    """Arrays beside each other along a new axis.

    >>> fg.lax.stack([np.ones(3), np.ones(3)]).shape
    (2, 3)
    """
    return fnp.stack(list(operands), axis)


def tile(operand: ArrayLike, reps: Sequence[int]) -> Array:
    """The array repeated as a whole along every axis.

    >>> print(fg.lax.tile(np.array([1, 2]), (2,)))
    [1 2 1 2]
    """
    x = asoperand(operand)
    if len(reps) != len(shape_of(x)):
        raise ValueError(f"tile: {len(reps)} numbers for {len(shape_of(x))} axes")
    return fnp.tile(x, tuple(reps))


def transpose(operand: ArrayLike, permutation: Sequence[int]) -> Array:
    """The array with its axes in another order.

    >>> fg.lax.transpose(np.ones((2, 3)), (1, 0)).shape
    (3, 2)
    """
    return fnp.transpose(operand, tuple(permutation))


def unstack(x: ArrayLike, axis: int = 0) -> tuple[Any, ...]:
    """The parts along an axis, without it.

    >>> print(fg.lax.unstack(np.array([[1, 2], [3, 4]]), 1))
    (array([1, 3]), array([2, 4]))
    """
    array = fnp.moveaxis(asoperand(x), axis, 0)
    return tuple([array[k] for k in range(shape_of(array)[0])])
