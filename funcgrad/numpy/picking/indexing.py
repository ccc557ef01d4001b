"""What stands between brackets: NumPy's indices, read and written.

An index becomes a *plan*: how to read the part out of an array, and how to put another part back. Basic
indices (ints, slices, ``...``, ``None``) give views; indices with arrays in them give copies, and their
axes go where NumPy puts them. Masks are turned into positions, so their values must be known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from sys import _getframe
from typing import Any, NamedTuple, Protocol

import numpy as np

from funcgrad.errors import ConcretizationError, FuncgradError, IndexingError
from funcgrad.ir.avals import Shape
from funcgrad.ir.catalog import CATALOG
from funcgrad.later import Later
from funcgrad.numpy.picking.ragged import READ
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.arrays.slicing import AddToSlice, Slice, is_whole
from funcgrad.ops.arrays.structure import Reshape, aval, broadcast_to, permute, reshape, shape_of
from funcgrad.ops.arrays.windows import Window, has_traced_bounds, may_be_outside, natural_order, window_of
from funcgrad.source import Source, user_location
from funcgrad.tracing.aliasing import as_view, view
from funcgrad.tracing.guarded import is_awaited
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import located
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike, Index

parts = Later("funcgrad.numpy.picking.ragged_functions")


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


# -- basic indices ----------------------------------------------------------------------------------------


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


# -- indices with arrays ----------------------------------------------------------------------------------


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


class Layout:
    """An index being read from left to right."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.entries: list[Any] = []
        """For each axis so far, what `Slice` needs to know."""
        self.kept: list[int | None] = []
        """The sizes of the axes of the result that come from slices; None for a new axis."""
        self.arrays: list[tuple[int, Any]] = []
        """Index arrays, and the entry that each stands at."""
        self.unique = True
        self.first: int | None = None
        """Where the axes of the index arrays go: NumPy keeps them there unless something separates them."""
        self._separated = False

    def add(self, item: Index) -> None:
        """Take the next item of the index."""
        axis = len(self.entries)
        if item is None or item is Ellipsis:
            self._separated = self.first is not None
            self.kept += [None] * (item is None)
        elif isinstance(item, tuple):
            self._separated = self.first is not None
            self.entries.append(span_of(item, self.shape[axis]))
            self.kept.append(self.entries[-1][1])
        else:
            self._place()
            if isinstance(item, int):
                self.entries.append(position(item, axis, self.shape[axis]))
            elif is_mask(item):
                self._add_mask(item, axis)
            else:
                self._add_array(check_bounds(item, axis, self.shape[axis]), axis)

    def _place(self) -> None:
        if self.first is None:
            self.first = len(self.kept)
        elif self._separated:
            self.first = 0

    def _add_array(self, index: Index, axis: int) -> None:
        self.unique = self.unique and not shape_of(index)
        self.arrays.append((axis, index))
        self.entries.append((0, self.shape[axis], 1))

    def _add_mask(self, mask: Array, axis: int) -> None:
        for offset, size in enumerate(mask.shape):
            if self.shape[axis + offset] != size:
                raise IndexingError(
                    f"boolean index did not match indexed array along axis {axis + offset}; size of axis is "
                    f"{self.shape[axis + offset]} but size of corresponding boolean axis is {size}"
                )
        unique = self.unique
        for offset, index in enumerate(np.nonzero(mask) if mask.ndim else ()):
            self._add_array(index, axis + offset)
        self.unique = unique

    def plan(self, markers: list[Any]) -> AdvancedPlan:
        """The plan; `markers` index axes of size one before all others."""
        spans = [(0, 1, 1)] * len(markers)
        numbers = np.cumsum([isinstance(entry, tuple) for entry in self.entries]) - 1 + len(markers)
        indices = [*markers, *(index for _, index in self.arrays)]
        axes = [*range(len(markers)), *(int(numbers[k]) for k, _ in self.arrays)]
        shapes = [shape_of(index) for index in indices]
        try:
            selected = np.broadcast_shapes(*shapes)
        except ValueError:
            raise IndexingError(
                "shape mismatch: indexing arrays could not be broadcast together with shapes "
                + " ".join(map(str, shapes))
            ) from None
        at = self.first or 0
        before = sum([n is not None for n in self.kept[:at]])
        rank, after = len(selected), sum([n is not None for n in self.kept])
        order = (*range(rank, rank + before), *range(rank), *range(rank + before, rank + after))
        sizes = [1 if n is None else n for n in self.kept]
        return AdvancedPlan(
            (*[1] * len(markers), *self.shape),
            Slice((*spans, *self.entries)),
            tuple(axes),
            tuple(indices),
            order,
            (*sizes[:at], *selected, *sizes[at:]),
            self.unique,
        )


def plan_of(x: ArrayLike, index: Index) -> Plan:
    """The plan of any index into `x`; raises IndexingError."""
    key = basic_key(index)
    if key is not None:
        return basic_plan(shape_of(x), key)
    shape = shape_of(x)
    given = index if type(index) is tuple else (index,)
    if any(isinstance(item, slice) and has_traced_bounds(item) for item in given):
        return windows_plan(shape, given)
    items = [as_item(item) for item in given]
    scalars = [item for item in items if is_mask(item) and not item.ndim]
    layout = Layout(shape)
    for item in expanded(items, len(shape), [axes_of(item) for item in items]):
        layout.add(item)
    if not scalars and not layout.arrays:
        return basic_plan(shape, tuple(items))
    markers = [np.zeros(1 if all(scalars) else 0, np.intp)] if scalars else []
    return layout.plan(markers)


def has_traced_lengths(shape: Shape, index: Index) -> bool:
    """Whether a slice in an index has traced bounds, and is no window of known length."""
    items = index if type(index) is tuple else (index,)
    if len(items) > len(shape) or any(item is None or item is Ellipsis for item in items):
        return False
    return any(
        isinstance(item, slice) and has_traced_bounds(item) and window_of(item, n) is None
        for item, n in zip(items, shape, strict=False)
    )


def windows_plan(shape: Shape, items: Sequence[Any]) -> AdvancedPlan:
    """The plan of an index with slices at traced places; raises ConcretizationError where it needs values."""
    entries: list[Any] = []
    places: list[Window | Tracer] = []
    axes: list[int] = []
    kept: list[int | None] = []
    kinds: list[str] = []
    for given in expanded(items, len(shape), [axes_of(item) for item in items]):
        if given is None or given is Ellipsis:
            kept += [None] * (given is None)
            continue
        n = shape[len(entries)]
        place = placed(given, n)
        if isinstance(place, tuple) and not isinstance(place, Window):
            entries.append(span_of(place, n))
            kept.append(entries[-1][1])
            kinds.append("span")
        elif isinstance(place, int):
            entries.append(position(place, len(entries), n))
        else:
            axes.append(sum([isinstance(entry, tuple) for entry in entries]))
            places.append(place if isinstance(place, Window) else check_bounds(place, len(entries), n))
            entries.append((0, n, 1))
            if isinstance(place, Window):
                kept.append(place.size)
                kinds.append("window")
    sizes = [place.size if isinstance(place, Window) else None for place in places]
    return AdvancedPlan(
        shape,
        Slice(tuple(entries)),
        tuple(axes),
        positions_of(places),
        natural_order(kinds),
        tuple([1 if n is None else n for n in kept]),
        True,
        tuple(sizes),
    )


def placed(item: Index, n: int) -> Window | tuple[Any, Any, Any] | int | Tracer:
    """A part of an index beside slices at traced places: a slice, a place, or a traced place."""
    if isinstance(item, slice) and has_traced_bounds(item):
        window = window_of(item, n)
        if window is not None:
            return window
    found: Any = item if isinstance(item, tuple) else as_item(item)
    if isinstance(found, tuple | int) or (type(found) is Tracer and not found.aval.shape):
        return found
    raise IndexingError("an index with a slice at a traced place takes no arrays beside it")


def positions_of(places: Sequence[Window | Tracer]) -> tuple[Any, ...]:
    """Index arrays for windows and traced numbers: each window has an axis of its own."""
    left = sum([isinstance(place, Window) for place in places])
    found: list[Any] = []
    for place in places:
        left -= isinstance(place, Window)
        before = sum([isinstance(x, Window) for x in places]) - left - 1
        found.append(place.positions(before, left) if isinstance(place, Window) else place)
    return tuple(found)


def as_item(item: Index) -> Index:
    """One part of an index: None, ``...``, an int, a slice as a tuple, or an array of ints or booleans."""
    if item is None or item is Ellipsis:
        return item
    if isinstance(item, slice):
        return bound(item.start), bound(item.stop), bound(item.step)
    array = np.zeros(0, np.intp) if isinstance(item, list | tuple) and not len(item) else asoperand(item)
    dtype = aval(array).dtype
    if dtype.kind == "b":
        return known_mask(array)
    if dtype.kind not in "iu":
        raise IndexingError(
            f"only integers, slices, ..., None, and integer or boolean arrays are indices, not {aval(array)}"
        )
    return int(array) if type(array) is not Tracer and not shape_of(array) else array


def is_mask(item: object) -> bool:
    """Whether the part of an index is a boolean array."""
    return isinstance(item, np.ndarray) and item.dtype.kind == "b"


def axes_of(item: Index) -> int:
    """How many axes a part of an index uses up."""
    return 0 if item is None or item is Ellipsis else item.ndim if is_mask(item) else 1


def known_mask(mask: ArrayLike) -> Array:
    """The value of a boolean index; raises ConcretizationError where there is none."""
    if type(mask) is not Tracer:
        return np.asarray(mask)
    try:
        return np.asarray(mask.concrete())
    except ConcretizationError as error:
        raise ConcretizationError(
            f"a boolean index needs the value of a traced {mask.aval}, which decides the shape of "
            f"the result, and {error.seen}",
            source=Source(*user_location()),
            remedy="Use fg.numpy.where(mask, x, other), which keeps the shape of x; "
            "fg.numpy.nonzero, extract and compress take size=.",
        ).on_one_path() from None


def check_bounds(index: Index, axis: int, n: int) -> Array:
    """The index array itself; raises IndexingError when it is known to be out of bounds.

    A traced one is asked where the user's code waits for the answer: it would raise after the ``try``.
    """
    if type(index) is Tracer:
        asked = may_be_outside(index, n) and is_awaited((IndexError,), _getframe(1))
        held: Array = index
        if asked and np.any(np.logical_or(held >= n, held < -n)):
            raise IndexingError(f"an index is out of bounds for axis {axis} with size {n}")
    elif index.size:
        for extreme in (int(index.min()), int(index.max())):
            position(extreme, axis, n)
    return index


# -- reading ----------------------------------------------------------------------------------------------


def getitem(x: Tracer, index: Index) -> Array:
    """``x[index]``: a view for basic indices, a copy otherwise; a single element is a scalar."""
    try:
        if type(index) is np.ndarray and index.dtype.kind in "iu" and index.ndim and x.aval.shape:
            return Gather((0,)).bind(x, check_bounds(index, 0, x.aval.shape[0]))
        key = (index,) if type(index) is int else basic_key(index)
        if key is not None:
            return basic_plan(x.aval.shape, key).read(x)
        if has_traced_lengths(x.aval.shape, index):
            part = parts.part_of(x, index)
            if part is not None:
                return part
        plan = plan_of(x, index)
        if isinstance(plan, AdvancedPlan) and plan.is_regular and is_array_seen(plan.shape, index):
            return view(x, plan)
        found = plan.get(x)
        return x.frozen() if found is x else found
    except FuncgradError as error:
        raise located(error, user_location()) from None


def is_array_seen(shape: Shape, index: object) -> bool:
    """Whether NumPy gives an array, and not a scalar or a copy, for integers where these are traced."""
    items = index if type(index) is tuple else (index,)
    return not any(isinstance(item, np.ndarray | list) for item in items) and (
        bool(shape) or any(item is Ellipsis for item in items)
    )


def read_windows(x: Tracer, items: tuple[Any, ...]) -> Array:
    """``x[items]`` with windows among the items, not a view."""
    return windows_plan(x.aval.shape, items).get(x)


READ.append(read_windows)
install({"__getitem__": getitem})
