"""Plans: how the part of an array that an index selects is read out of it, and how another is put back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from funcgrad.errors import IndexingError
from funcgrad.ir.avals import Shape
from funcgrad.ir.catalog import CATALOG
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.arrays.slicing import AddToSlice, Slice, is_whole
from funcgrad.ops.arrays.structure import Reshape, aval, broadcast_to, permute, reshape, shape_of
from funcgrad.ops.arrays.windows import has_traced_bounds
from funcgrad.tracing.aliasing import as_view, view
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Index


class Plan(Protocol):
    """How to read and write the part of an array that an index selects."""

    @property
    def shape(self) -> Shape:
        """The shape of the part."""

    @property
    def unique(self) -> bool:
        """Whether no element can be selected twice."""

    def get(self, x: ArrayLike) -> Array:
        """The part of `x`, as a value of its own."""

    def put(self, x: ArrayLike, part: ArrayLike) -> Array:
        """`x` with another part, which is an array of the plan's shape or a scalar."""

    def combine(self, mode: str, x: ArrayLike, part: ArrayLike) -> Array:
        """`x` with an array of the plan's shape, or a scalar, combined into the part: see `Scatter`."""


class BasicPlan(NamedTuple):
    """A regular part, and the shape in which it is seen when the index has new axes."""

    slice: Slice
    shape: Shape
    is_whole: bool
    has_new_axes: bool
    is_scalar: bool
    """Whether NumPy gives a scalar, and not an array of rank 0."""
    unique: bool = True

    def read(self, x: Tracer) -> Tracer:
        """The part of a tracer: a view of it, or a scalar."""
        if self.is_scalar and not self.is_whole and x._view is None and not x._recorder.closed:
            # As below, without the calls between here and the record: loops over elements are made of these.
            known = self.slice._inferred.get((x.aval,))
            if known is not None:
                return x._recorder.append_typed((self.slice, x._index), known, 3)
        part = x.frozen() if self.is_whole else self.slice.get_part(x)
        if self.is_scalar:
            return part
        as_view(part, x, self.slice)
        return view(part, Reshape(self.shape)) if self.has_new_axes else part

    def get(self, x: ArrayLike) -> Array:
        """The part, not a view."""
        part = x if self.is_whole else self.slice.bind(x)
        return reshape(part, self.shape) if self.has_new_axes else part

    def put(self, x: ArrayLike, part: ArrayLike) -> Array:
        """The array with another part."""
        if self.has_new_axes and shape_of(part):
            part = reshape(part, self.slice.part_shape)
        return broadcast_to(part, shape_of(x)) if self.is_whole else self.slice.updating.bind(x, part)

    def combine(self, mode: str, x: ArrayLike, part: ArrayLike) -> Array:
        """The array with something added to the part."""
        if mode != "add":
            raise ValueError(f"a regular part has no element twice: {mode} is a plain operation on it")
        part = reshape(broadcast_to(part, self.shape), self.slice.part_shape)
        return CATALOG["add"]().bind(x, part) if self.is_whole else AddToSlice(self.slice.index).bind(x, part)


BasicKey = tuple[Any, ...]
"""A basic index that can be looked up: slices stand as (start, stop, step)."""


def basic_key(index: Index) -> BasicKey | None:
    """The index as a key if it is basic, else None."""
    key: list[Any] = []
    for item in index if type(index) is tuple else (index,):
        kind: type = type(item)
        if kind is int or item is None or item is Ellipsis:
            key.append(item)
        elif kind is slice:
            if (type(item.start) is Tracer or type(item.stop) is Tracer) and has_traced_bounds(item):
                return None
            key.append((bound(item.start), bound(item.stop), bound(item.step)))
        elif isinstance(item, np.integer):
            key.append(int(item))
        elif hasattr(kind, "__index__") and not isinstance(item, Tracer | np.ndarray | bool | np.bool_):
            key.append(item.__index__())
        else:
            return None
    return tuple(key)


def bound(x: ArrayLike) -> int | None:
    """A bound of a slice as an int: a traced one must have a value."""
    return x if x is None or type(x) is int else x.__index__()


@lru_cache(maxsize=16384)
def basic_plan(shape: Shape, key: BasicKey) -> BasicPlan:
    """The plan of a basic index into an array of `shape`; raises IndexingError."""
    items = expanded(key, len(shape), [axes_of(item) for item in key])
    entries: list[Any] = []
    seen: list[int] = []
    for item in items:
        if item is None or item is Ellipsis:
            seen += [1] * (item is None)
            continue
        n = shape[len(entries)]
        entry = span_of(item, n) if isinstance(item, tuple) else position(item, len(entries), n)
        entries.append(entry)
        if isinstance(entry, tuple):
            seen.append(entry[1])
    is_scalar = not seen and Ellipsis not in key
    index = tuple(entries)
    return BasicPlan(Slice(index), tuple(seen), is_whole(index, shape), None in key, is_scalar)


def expanded(items: Sequence[Any], ndim: int, consumed: Sequence[int]) -> list[Any]:
    """The items with full slices after ``...`` and for missing axes; raises IndexingError for too many."""
    dots = [k for k, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexingError("an index can only have a single ellipsis ('...')")
    used = sum(consumed)
    if used > ndim:
        raise IndexingError(
            f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed"
        )
    at = dots[0] + 1 if dots else len(items)
    return [*items[:at], *[(None, None, None)] * (ndim - used), *items[at:]]


def span_of(bounds: tuple[Any, Any, Any], n: int) -> tuple[int, int, int]:
    """A slice of an axis of size n as start, size and step."""
    start, stop, step = slice(*bounds).indices(n)
    size = len(range(start, stop, step))
    return (start, size, step) if size else (0, 0, 1)


def position(item: int, axis: int, n: int) -> int:
    """An int index from 0; raises IndexingError when it is out of bounds."""
    if not -n <= item < n:
        raise IndexingError(f"index {item} is out of bounds for axis {axis} with size {n}")
    return item + n if item < 0 else item


def level_of(x: Tracer) -> int:
    """The level of the trace in which a number was made; branches and loops capture those of outer ones."""
    outer = x._recorder.captured_at(x._index)
    return x._recorder.level if outer is None else level_of(outer)


class Line(NamedTuple):
    """What numbers along some axes pick of an array, and a part of that."""

    axes: tuple[int, ...]
    part: Slice


class AdvancedPlan(NamedTuple):
    """Positions along some axes of a regular part.

    The elements come with the axes of the index arrays first; ``order`` puts these where NumPy does, and
    ``shape`` adds new axes.
    """

    within: Shape
    """The shape in which the array is seen first: a boolean scalar adds an axis to it."""
    slice: Slice
    axes: tuple[int, ...]
    indices: tuple[Any, ...]
    order: tuple[int, ...]
    shape: Shape
    unique: bool
    windows: tuple[int | None, ...] = ()
    """For each of the axes the length of a window, None for a number; empty where arrays say where."""

    @property
    def is_regular(self) -> bool:
        """Whether traced numbers, and no arrays, say where: NumPy gives a view then."""
        return bool(self.windows) or all(
            type(index) is Tracer and not index.aval.shape for index in self.indices
        )

    def evaluate(self, layout: ArrayLike) -> Array:
        """The part of an array that has the layout of another: where traced numbers say does not matter."""
        part = self.slice.evaluate(layout)
        at: list[Any] = [slice(None)] * part.ndim
        for axis, size in zip(self.axes, self.windows or [None] * len(self.axes), strict=True):
            at[axis] = 0 if size is None else slice(size)
        return np.reshape(part[tuple(at)], self.shape)

    @property
    def line(self) -> Line | None:
        """The positions first and the slices second, where that touches less: ``p[1:-1, j]``."""
        if self.windows or any(shape_of(index) for index in self.indices):
            return None
        spans = [k for k, entry in enumerate(self.slice.index) if isinstance(entry, tuple)]
        if len(spans) < len(self.slice.index):
            return None
        axes = tuple([spans[axis] for axis in self.axes])
        rest = [k for k in range(len(self.within)) if k not in axes]
        shape = tuple([self.within[k] for k in rest])
        index = tuple([self.slice.index[k] for k in rest])
        if is_whole(index, shape) or math.prod(shape) > math.prod(self.slice.part_shape):
            return None
        return Line(axes, Slice(index))

    @property
    def element(self) -> tuple[Any, ...] | None:
        """One position for each axis where numbers, traced or known, say all of them: ``p[i, 0]``.

        Cut out first, the line ``p[:, 0]`` would be written back whole, in every trip of a loop over `i`.
        """
        if self.windows or len(self.within) == len(self.axes) or any(map(shape_of, self.indices)):
            return None
        traced = iter(self.indices)
        spans = sum(isinstance(entry, tuple) for entry in self.slice.index)
        if spans != len(self.axes) or self.axes != tuple(range(spans)):
            return None
        return tuple([next(traced) if isinstance(e, tuple) else np.int64(e) for e in self.slice.index])

    def moves_with(self, x: ArrayLike) -> bool:
        """Whether an array is made or changed where its indices are.

        Otherwise the loop that an index counts leaves the array as it is. The line ``p[:, 0]`` is then cut
        out once, before that loop, and lies in one piece, which vectorises; so does its cotangent.
        """
        levels = [level_of(index) for index in self.indices if type(index) is Tracer]
        return type(x) is Tracer and level_of(x) >= max(levels, default=0)

    def get(self, x: ArrayLike) -> Array:
        """The elements at the positions."""
        places = self.element if self.moves_with(x) else None
        if places is not None:
            return Gather(tuple(range(len(places)))).bind(x, *places)
        line = self.line
        if line is not None:
            found = line.part.get(Gather(line.axes).bind(reshape(x, self.within), *self.indices))
            return reshape(permute(found, self.order), self.shape)
        part = self.slice.get(reshape(x, self.within))
        return reshape(permute(Gather(self.axes).bind(part, *self.indices), self.order), self.shape)

    def put(self, x: ArrayLike, part: ArrayLike) -> Array:
        """The array with other elements; of repeated positions the last wins."""
        return self.combine("set", x, part)

    def combine(self, mode: str, x: ArrayLike, part: ArrayLike) -> Array:
        """The array with something combined into the elements, repeated positions all counting."""
        places = self.element
        if places is not None:
            value = reshape(part, ())
            return Scatter(mode, tuple(range(len(places))), True).bind(x, value, *places)
        outer = reshape(x, self.within)
        line = self.line if mode == "set" else None
        if line is not None:
            old = Gather(line.axes).bind(outer, *self.indices)
            inner = line.part.get(old)
            updates = reshape(broadcast_to(part, self.shape), shape_of(inner))
            new = line.part.put(old, updates)
            return reshape(Scatter("set", line.axes, True).bind(outer, new, *self.indices), shape_of(x))
        inner = self.slice.get(outer)
        updates = self._selected(part, inner) if shape_of(part) else part
        changed = Scatter(mode, self.axes, self.unique).bind(inner, updates, *self.indices)
        return reshape(self.slice.put(outer, changed), shape_of(x))

    def _selected(self, part: Index, inner: Array) -> Array:
        """An array of the plan's shape in the order in which the elements are gathered."""
        selected = Gather(self.axes).selected_shape(aval(inner), [aval(index) for index in self.indices])
        moved = reshape(part, tuple([selected[a] for a in self.order]))
        return permute(moved, tuple(sorted(range(len(self.order)), key=self.order.__getitem__)))


def is_mask(item: object) -> bool:
    """Whether the part of an index is a boolean array."""
    return isinstance(item, np.ndarray) and item.dtype.kind == "b"


def axes_of(item: Index) -> int:
    """How many axes a part of an index uses up."""
    return 0 if item is None or item is Ellipsis else item.ndim if is_mask(item) else 1
