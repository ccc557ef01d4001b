"""`jax.lax.gather` and its scatters: windows at positions that may be traced.

Each element of a window is looked up by its place in the flattened array. Windows that do not fit are moved
inside, filled or left out, as the mode says; what is left out is written behind the last element.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.numpy.picking.modes import filling
from funcgrad.ops.arrays.indexing import Scatter
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike

__all__ = [
    "GatherDimensionNumbers",
    "GatherScatterMode",
    "ScatterDimensionNumbers",
    "gather",
    "scatter",
    "scatter_add",
    "scatter_apply",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_sub",
]


class GatherDimensionNumbers(NamedTuple):
    """Which axes of a gathered array are a window's, and which axes of the operand the positions are of.

    >>> fg.lax.GatherDimensionNumbers((1,), (0,), (0,)).offset_dims
    (1,)
    """

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


class ScatterDimensionNumbers(NamedTuple):
    """Which axes of the updates are a window's, and which axes of the operand the positions are of.

    >>> fg.lax.ScatterDimensionNumbers((1,), (0,), (0,)).update_window_dims
    (1,)
    """

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()


class GatherScatterMode(enum.Enum):
    """What is done with a window that is not inside of the array.

    >>> fg.lax.GatherScatterMode.from_any("drop").name
    'FILL_OR_DROP'
    """

    CLIP = "clip"
    FILL_OR_DROP = "fill"
    PROMISE_IN_BOUNDS = "promise_in_bounds"
    ONE_HOT = "one_hot"

    @staticmethod
    def from_any(mode: str | GatherScatterMode | None) -> GatherScatterMode:
        """The mode of this name; None is `FILL_OR_DROP`."""
        if isinstance(mode, GatherScatterMode):
            return mode
        if mode is None or mode == "drop":
            return GatherScatterMode.FILL_OR_DROP
        try:
            return GatherScatterMode(mode)
        except ValueError:
            raise ValueError(f"a mode of gather is clip, fill or promise_in_bounds, got {mode!r}") from None


class Windows(NamedTuple):
    """Places of windows in the flattened array: first the axes of the positions, then those of a window."""

    places: Any
    inside: Any
    """Whether each window is inside of the array, broadcast against `places`."""


def windows(
    shape: Sequence[int], indices: ArrayLike, sizes: Sequence[int], numbers: GatherDimensionNumbers
) -> Windows:
    """Where the elements of the windows of these sizes lie."""
    batch = shape_of(indices)[:-1]
    dropped = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    kept = [axis for axis in range(len(shape)) if axis not in dropped]
    rank = len(batch) + len(kept)
    places: Any = np.zeros((1,) * rank, np.intp)
    inside: Any = np.ones((1,) * rank, bool)
    for axis, (length, size) in enumerate(zip(shape, sizes, strict=True)):
        start: Any = None
        if axis in numbers.start_index_map:
            start = indices[..., numbers.start_index_map.index(axis)]
        elif axis in numbers.operand_batching_dims:
            own = numbers.start_indices_batching_dims[numbers.operand_batching_dims.index(axis)]
            start = np.arange(length).reshape([length if k == own else 1 for k in range(len(batch))])
            start = np.broadcast_to(start, batch)
        if start is not None:
            start = fnp.reshape(fnp.astype(start, np.int64), (*batch, *[1] * len(kept)))
            inside = inside & (start >= 0) & (start <= length - size)
            start = fnp.clip(start, 0, length - size)
        else:
            start = 0
        line = [1] * rank
        if axis in kept:
            line[len(batch) + kept.index(axis)] = size
            start = start + np.arange(size).reshape(line)
        places = places * length + start
    whole = (*batch, *[sizes[axis] for axis in kept])
    return Windows(fnp.broadcast_to(places, whole), fnp.broadcast_to(inside, whole))


def gather(
    operand: ArrayLike,
    start_indices: ArrayLike,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: str | GatherScatterMode | None = None,
    fill_value: ArrayLike = None,
) -> Array:
    """Windows of an array, from the positions in the last axis of `start_indices` on.

    A window that is not inside is moved there; with ``mode="fill"`` it is `fill_value`, or NaN or the extreme
    integer.

    >>> rows = fg.lax.GatherDimensionNumbers((1,), (0,), (0,))
    >>> x = np.arange(6.0).reshape(3, 2)
    >>> print(fg.lax.gather(x, np.array([[2], [0], [9]]), rows, (1, 2)))
    [[4. 5.]
     [0. 1.]
     [4. 5.]]
    """
    x, indices = asoperand(operand), asoperand(start_indices)
    numbers = dimension_numbers
    found = windows(shape_of(x), indices, slice_sizes, numbers)
    parts = fnp.take(fnp.ravel(x), found.places)
    if mode is not None and GatherScatterMode.from_any(mode) is GatherScatterMode.FILL_OR_DROP:
        fill = filling(aval(x).dtype) if fill_value is None else fill_value
        parts = fnp.where(found.inside, parts, np.asarray(fill, aval(x).dtype))
    rank = len(shape_of(parts))
    n_batch = rank - len(numbers.offset_dims)
    first, last = iter(range(n_batch)), iter(range(n_batch, rank))
    order = [next(last if axis in numbers.offset_dims else first) for axis in range(rank)]
    return fnp.transpose(parts, order)


def scattered(
    kind: str,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    numbers: ScatterDimensionNumbers,
    mode: str | GatherScatterMode | None,
    unique: bool,
) -> Array:
    """The array with updates combined into its windows."""
    x, indices, part = asoperand(operand), asoperand(scatter_indices), asoperand(updates)
    shape, given = shape_of(x), shape_of(part)
    gone = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    of_window = iter(numbers.update_window_dims)
    sizes = [1 if axis in gone else given[next(of_window)] for axis in range(len(shape))]
    others = [axis for axis in range(len(given)) if axis not in numbers.update_window_dims]
    part = fnp.transpose(part, (*others, *numbers.update_window_dims))
    as_gathered = GatherDimensionNumbers(
        (),
        numbers.inserted_window_dims,
        numbers.scatter_dims_to_operand_dims,
        numbers.operand_batching_dims,
        numbers.scatter_indices_batching_dims,
    )
    found = windows(shape, indices, sizes, as_gathered)
    count = math.prod(shape)
    places = found.places
    if GatherScatterMode.from_any(mode) is GatherScatterMode.FILL_OR_DROP:
        # Positions behind the end are written to one element more, which is cut off.
        places, unique = fnp.where(found.inside, places, count), False
    flat = fnp.concatenate([fnp.ravel(x), np.zeros(1, aval(x).dtype)])
    part = fnp.astype(fnp.ravel(part), aval(x).dtype)
    out = Scatter(kind, (0,), unique).bind(flat, part, fnp.ravel(places))
    return fnp.reshape(out[:count], shape)


def scatter_of(kind: str, name: str, sentence: str, example: str) -> Callable[..., Array]:
    """One of the scatters."""

    def function(
        operand: ArrayLike,
        scatter_indices: ArrayLike,
        updates: ArrayLike,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | GatherScatterMode | None = None,
    ) -> Array:
        given = -asoperand(updates) if name == "scatter_sub" else updates
        found: Array = scattered(
            kind, operand, scatter_indices, given, dimension_numbers, mode, unique_indices
        )
        return found

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{sentence}

    Windows that are not inside of the array are left out, or moved inside by ``mode="clip"``.

    >>> numbers = fg.lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> places = np.array([[0], [2], [2], [9]])
    >>> print(fg.lax.{name}(np.ones(3), places, np.array([2.0, 3.0, 4.0, 5.0]), numbers))
    {example}
    """
    return function


scatter = scatter_of(
    "set", "scatter", "The array with updates in its windows; the last of several counts.", "[2. 1. 4.]"
)
scatter_add = scatter_of("add", "scatter_add", "The array with updates added to its windows.", "[3. 1. 8.]")
scatter_sub = scatter_of(
    "add", "scatter_sub", "The array with updates subtracted from its windows.", "[-1.  1. -6.]"
)
scatter_mul = scatter_of("mul", "scatter_mul", "The array with its windows multiplied.", "[ 2.  1. 12.]")
scatter_min = scatter_of(
    "min", "scatter_min", "The array with the smaller elements in its windows.", "[1. 1. 1.]"
)
scatter_max = scatter_of(
    "max", "scatter_max", "The array with the larger elements in its windows.", "[2. 1. 4.]"
)


def scatter_apply(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array:
    """The array with a function of the elements in its windows, applied once to each that is in any.

    >>> numbers = fg.lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> print(fg.lax.scatter_apply(np.ones(3), np.array([[2]]), np.exp, numbers, update_shape=(1,)).round(3))
    [1.    1.    2.718]
    """
    x = asoperand(operand)
    ones = np.ones(tuple(update_shape), np.int64)
    marks = np.zeros(shape_of(x), np.int64)
    chosen = scattered("max", marks, scatter_indices, ones, dimension_numbers, mode, False)
    return fnp.where(chosen > 0, func(x), x)
