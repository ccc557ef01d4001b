"""Arrays put together and taken apart: concatenate, stack, block, split and their kin.

Splitting gives views, as NumPy's does. Sections shape the computation, so traced ones must have values.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from funcgrad.numpy.arrays.shapes import as_array, atleast_1d, atleast_2d, atleast_3d, seen_through
from funcgrad.numpy.arrays.views import permuted
from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.reducing.axes import normalized_axis, refused, stored
from funcgrad.ops.arrays.movement import concatenate as concatenated
from funcgrad.ops.arrays.movement import stack as stacked
from funcgrad.ops.arrays.slicing import Slice
from funcgrad.ops.arrays.structure import aval, cast, reshape, shape_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, DTypeLike, UfuncOption

__all__ = [
    "append",
    "array_split",
    "block",
    "column_stack",
    "concat",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "split",
    "stack",
    "unstack",
    "vsplit",
    "vstack",
]

# -- joining ----------------------------------------------------------------------------------------------


def operands_of(arrays: ArrayLike, name: str) -> list[Any]:
    """The arrays of a sequence, cast to their common dtype; raises ShapeError for none."""
    if isinstance(arrays, Tracer | np.ndarray) and not shape_of(arrays):
        raise refused(f"{name} expects a sequence of arrays")
    operands = [as_array(x) for x in arrays]
    if not operands:
        raise refused(f"need at least one array to {name}")
    return promoted(operands)


def promoted(operands: Sequence[Any]) -> list[Any]:
    """The operands cast to the dtype that NumPy's promotion gives arrays of theirs."""
    dtypes = {aval(x).dtype for x in operands}
    dtype = dtypes.pop() if len(dtypes) == 1 else np.result_type(*dtypes)
    return [cast(x, dtype) for x in operands]


def joined_into(
    name: str, out: Array, dtype: DTypeLike, joined: ArrayLike, casting: UfuncOption = "same_kind"
) -> Array:
    """The joined array in the dtype asked for, written to `out` where that is given."""
    if dtype is not None and not np.can_cast(aval(joined).dtype, dtype, casting):
        seen = aval(joined).dtype
        raise TypeError(f"{name}: cannot cast {seen} to {np.dtype(dtype)} according to the rule {casting!r}")
    return stored(joined if dtype is None else cast(joined, dtype), out, name)


@implements(np.concatenate)
def concatenate(
    arrays: ArrayLike,
    /,
    axis: int | None = 0,
    out: None = None,
    *,
    dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> Array:
    """Arrays one after the other along an axis, or all their elements for ``axis=None``.

    >>> print(fg.numpy.concatenate([np.zeros(2), np.ones(1)]))
    [0. 0. 1.]
    """
    operands = operands_of(arrays, "concatenate")
    if axis is None:
        operands, axis = [reshape(x, (aval(x).size,)) for x in operands], 0
    if not shape_of(operands[0]):
        raise refused("zero-dimensional arrays cannot be concatenated")
    joined = concatenated(operands, normalized_axis(axis, len(shape_of(operands[0]))))
    return joined_into(
        "np.concatenate", out, dtype, joined.copy() if joined is operands[0] else joined, casting
    )


concat = concatenate


@implements(np.stack)
def stack(
    arrays: ArrayLike, axis: int = 0, out: None = None, *, dtype: DTypeLike = None, casting: str = "same_kind"
) -> Array:
    """Arrays of one shape along a new axis.

    >>> fg.numpy.stack([np.zeros(3), np.ones(3)], axis=1).shape
    (3, 2)
    """
    operands = operands_of(arrays, "stack")
    if len({shape_of(x) for x in operands}) != 1:
        raise refused("all input arrays must have the same shape")
    joined = stacked(operands, normalized_axis(axis, len(shape_of(operands[0])) + 1))
    return joined_into("np.stack", out, dtype, joined, casting)


@implements(np.vstack)
def vstack(tup: ArrayLike, *, dtype: DTypeLike = None, casting: str = "same_kind") -> Array:
    """Arrays on top of each other, vectors as rows.

    >>> fg.numpy.vstack([np.zeros(3), np.ones((2, 3))]).shape
    (3, 3)
    """
    return concatenate([atleast_2d(x) for x in tup], 0, dtype=dtype)


@implements(np.hstack)
def hstack(tup: ArrayLike, *, dtype: DTypeLike = None, casting: str = "same_kind") -> Array:
    """Arrays beside each other: along the second axis, vectors along their only one.

    >>> fg.numpy.hstack([np.zeros((2, 1)), np.ones((2, 3))]).shape
    (2, 4)
    """
    arrays = [atleast_1d(x) for x in tup]
    return concatenate(arrays, 0 if arrays and len(shape_of(arrays[0])) == 1 else 1, dtype=dtype)


@implements(np.dstack)
def dstack(tup: ArrayLike) -> Array:
    """Arrays behind each other: along the third axis.

    >>> fg.numpy.dstack([np.zeros((2, 3)), np.ones((2, 3))]).shape
    (2, 3, 2)
    """
    return concatenate([atleast_3d(x) for x in tup], 2)


@implements(np.column_stack)
def column_stack(tup: ArrayLike) -> Array:
    """Arrays beside each other, vectors as columns.

    >>> fg.numpy.column_stack([np.zeros(3), np.ones((3, 2))]).shape
    (3, 3)
    """
    columns = [as_array(x) for x in tup]
    return concatenate([x if len(shape_of(x)) > 1 else reshape(x, (aval(x).size, 1)) for x in columns], 1)


@implements(np.block)
def block(arrays: ArrayLike) -> Array:
    """An array from nested lists of blocks: the innermost lists are joined along the last axis.

    >>> print(fg.numpy.block([[np.eye(2), np.zeros((2, 1))]]))
    [[1. 0. 0.]
     [0. 1. 0.]]
    """
    depth = nesting(arrays)
    ndim = max(depth, *[len(shape_of(as_array(x))) for x in leaves(arrays)])
    return joined_blocks(arrays, depth, ndim)


def nesting(arrays: ArrayLike) -> int:
    """How deep the lists are; raises for lists of unequal depth."""
    if not isinstance(arrays, list):
        return 0
    depths = {nesting(x) for x in arrays}
    if len(depths) != 1:
        raise refused("block: all lists must be equally deep and not empty")
    return depths.pop() + 1


def leaves(arrays: ArrayLike) -> list[Any]:
    """The blocks in nested lists."""
    return [leaf for x in arrays for leaf in leaves(x)] if isinstance(arrays, list) else [arrays]


def joined_blocks(arrays: ArrayLike, depth: int, ndim: int) -> Array:
    """The blocks of lists that are `depth` deep, joined, with `ndim` axes."""
    if depth == 0:
        x = as_array(arrays)
        return reshape(x, (1,) * (ndim - len(shape_of(x))) + shape_of(x))
    return concatenate([joined_blocks(x, depth - 1, ndim) for x in arrays], axis=ndim - depth)


@implements(np.append)
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """An array followed by values; both flattened for ``axis=None``.

    >>> print(fg.numpy.append(np.zeros(2), 1.0))
    [0. 0. 1.]
    """
    return concatenate([arr, values], axis)


# -- splitting --------------------------------------------------------------------------------------------


def split_at(x: ArrayLike, edges: Sequence[int], axis: int) -> list[Any]:
    """The parts between the edges, as views."""
    spans = [(0, n, 1) for n in shape_of(x)]
    parts = []
    for start, stop in pairwise(edges):
        spans[axis] = (start, stop - start, 1) if stop > start else (0, 0, 1)
        parts.append(seen_through(x, Slice(tuple(spans))))
    return parts


@implements(np.array_split)
def array_split(ary: ArrayLike, indices_or_sections: ArrayLike, axis: int = 0) -> list[Any]:
    """Parts of an array along an axis: so many of almost equal size, or between the given indices.

    >>> [x.size for x in fg.numpy.array_split(np.arange(7), 3)]
    [3, 2, 2]
    """
    x = as_array(ary)
    axis = normalized_axis(axis, len(shape_of(x)))
    n = shape_of(x)[axis]
    if hasattr(indices_or_sections, "__len__"):
        inner = [slice(operator.index(k)).indices(n)[1] for k in indices_or_sections]
        return split_at(x, [0, *inner, n], axis)
    sections = operator.index(indices_or_sections)
    if sections <= 0:
        raise refused("number sections must be larger than 0.")
    small, larger = divmod(n, sections)
    return split_at(x, [k * small + min(k, larger) for k in range(sections + 1)], axis)


@implements(np.split)
def split(ary: ArrayLike, indices_or_sections: ArrayLike, axis: int = 0) -> list[Any]:
    """Parts of an array along an axis: so many of equal size, or between the given indices.

    >>> [x.size for x in fg.numpy.split(np.arange(6), [1, 3])]
    [1, 2, 3]
    """
    x = as_array(ary)
    n = shape_of(x)[normalized_axis(axis, len(shape_of(x)))]
    if not hasattr(indices_or_sections, "__len__") and n % operator.index(indices_or_sections):
        raise refused(f"array split does not result in an equal division: {n} into {indices_or_sections}")
    return array_split(x, indices_or_sections, axis)


def _split_along(ary: ArrayLike, indices_or_sections: ArrayLike, axis: int, name: str) -> list[Any]:
    x = as_array(ary)
    if len(shape_of(x)) <= axis:
        raise refused(f"{name} only works on arrays of {axis + 1} or more dimensions")
    return split(x, indices_or_sections, axis)


@implements(np.vsplit)
def vsplit(ary: ArrayLike, indices_or_sections: ArrayLike) -> list[Any]:
    """Parts along the first axis of a matrix.

    >>> [x.shape for x in fg.numpy.vsplit(np.zeros((4, 3)), 2)]
    [(2, 3), (2, 3)]
    """
    if len(shape_of(as_array(ary))) < 2:
        raise refused("vsplit only works on arrays of 2 or more dimensions")
    return _split_along(ary, indices_or_sections, 0, "vsplit")


@implements(np.hsplit)
def hsplit(ary: ArrayLike, indices_or_sections: ArrayLike) -> list[Any]:
    """Parts along the second axis, along the only axis of a vector.

    >>> [x.shape for x in fg.numpy.hsplit(np.zeros((4, 3)), 3)]
    [(4, 1), (4, 1), (4, 1)]
    """
    return _split_along(ary, indices_or_sections, 1 if len(shape_of(as_array(ary))) > 1 else 0, "hsplit")


@implements(np.dsplit)
def dsplit(ary: ArrayLike, indices_or_sections: ArrayLike) -> list[Any]:
    """Parts along the third axis.

    >>> [x.shape for x in fg.numpy.dsplit(np.zeros((1, 2, 2)), 2)]
    [(1, 2, 1), (1, 2, 1)]
    """
    return _split_along(ary, indices_or_sections, 2, "dsplit")


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The elements along an axis, which disappears.

    >>> [int(x) for x in fg.numpy.unstack(np.arange(3))]
    [0, 1, 2]
    """
    x = as_array(x)
    axis = normalized_axis(axis, len(shape_of(x)))
    moved = permuted(x, [axis, *(k for k in range(len(shape_of(x))) if k != axis)])
    return tuple([moved[k] for k in range(shape_of(moved)[0])])


if hasattr(np, "unstack"):  # since NumPy 2.1
    implements(np.unstack)(unstack)
