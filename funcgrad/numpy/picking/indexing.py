"""What stands between brackets: NumPy's indices, read and written.

An index becomes a *plan*: how to read the part out of an array, and how to put another part back. Basic
indices (ints, slices, ``...``, ``None``) give views; indices with arrays in them give copies, and their
axes go where NumPy puts them. Masks are turned into positions, so their values must be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe
from typing import Any

import numpy as np

from funcgrad.errors import ConcretizationError, FuncgradError, IndexingError
from funcgrad.ir.avals import Shape
from funcgrad.later import Later
from funcgrad.numpy.picking.plans import (
    AdvancedPlan,
    Plan,
    axes_of,
    basic_key,
    basic_plan,
    bound,
    expanded,
    is_mask,
    position,
    span_of,
)
from funcgrad.numpy.picking.ragged import READ
from funcgrad.ops.arrays.indexing import Gather
from funcgrad.ops.arrays.slicing import Slice
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.ops.arrays.windows import Window, has_traced_bounds, may_be_outside, natural_order, window_of
from funcgrad.source import Source, user_location
from funcgrad.tracing.aliasing import view
from funcgrad.tracing.guarded import is_awaited
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import located
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, ArrayLike, Index

parts = Later("funcgrad.numpy.picking.ragged_functions")


# -- indices with arrays ----------------------------------------------------------------------------------


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
