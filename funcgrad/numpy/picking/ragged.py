"""Parts of arrays whose length follows the counter of a loop: ``a[i, :j] @ a[j, :j]``, ``y[:k] += ...``.

What is traced has a shape, and such a part has none. It is computed with as an array of the greatest length
it can have, whose elements beyond the part are ones that nobody reads, and a write reaches the part alone.
What may be computed of parts is the concern of `funcgrad.numpy.picking.ragged_functions`; anything else is
refused, and the loop then unrolled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from funcgrad.errors import ConcretizationError, FuncgradError
from funcgrad.ir.steps import as_source
from funcgrad.later import Later
from funcgrad.ops.arrays.windows import (
    Window,
    difference,
    difference_interval,
    has_traced_bounds,
    interval_of,
    numbers_below,
)
from funcgrad.source import user_location
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Index, Number

# For parts whose bounds are asked for, and writes into parts.
stepped = Later("funcgrad.numpy.picking.stepped")


class Side(NamedTuple):
    """An axis of a part: where it starts and how long it is, both traced, and how long it is at most.

    A length below zero, where `least` is, is none: the end is before the start.
    """

    start: Any
    length: Any
    most: int
    least: float = 0

    @property
    def count(self) -> Anything:
        """How many elements there are."""
        return self.length if self.least >= 0 else np.maximum(self.length, 0)

    def mask(self, ndim: int, axis: int) -> ArrayLike:
        """Which positions along the axis are in the part."""
        return along(numbers_below(self.most) < self.length, ndim, axis)


def stands_for(x: Tracer) -> tuple[int, int]:
    """The value that a traced array holds now: which it is of which trace."""
    now = x.frozen()
    return id(now._recorder), now._index


def along(x: ArrayLike, ndim: int, axis: int) -> Anything:
    """A vector along one of several axes."""
    return np.reshape(x, (1,) * axis + (-1,) + (1,) * (ndim - axis - 1))


def within(places: ArrayLike, size: int) -> ArrayLike:
    """Places, each in an axis of this size."""
    return np.minimum(np.maximum(places, 0), size - 1)


def refused(what: str) -> FuncgradError:
    """The error for what needs to know how long a part is."""
    return ConcretizationError(
        f"{what} of a part of an array needs its length, which is traced",
        source=as_source(user_location()),
        remedy="Write the loop over its elements, or use a mask: np.where(np.arange(n) < k, x, 0).",
    ).on_one_path()


def side_of(index: slice, n: int) -> Side | None:
    """What a slice takes of an axis of size n; None where a step is given, or nothing is taken."""
    if index.step not in (None, 1):
        return None
    start = 0 if index.start is None else stepped.bound_of(index.start, n)
    stop = n if index.stop is None else stepped.bound_of(index.stop, n)
    return side_between(start, stop, n)


def side_between(start: Anything, stop: Anything, n: Anything, most: float = math.inf) -> Side | None:
    """What lies between two places, the second of them at most n; None where nothing can."""
    if difference_interval(n, stop)[0] < 0:
        stop = np.minimum(stop, n)
    least, greatest = difference_interval(stop, start)
    most = min(most, interval_of(n)[1], greatest)
    return Side(start, stop - start, int(most), least) if most > 0 else None


class Ragged(NDArrayOperatorsMixin):
    """A part of a traced array, with at least one axis whose length is traced."""

    __slots__ = ("_data", "_made_of", "_origin", "_placed", "_view", "sides")
    __array_priority__ = 2000

    def __init__(
        self,
        data: ArrayLike,
        sides: Sequence[Side | None],
        origin: tuple[Tracer, Sequence[Any]] | None = None,
        view: tuple[Ragged, Callable[[Any], Any]] | None = None,
        placed: Anything | None = None,
    ) -> None:
        self._data = data
        self._placed = placed
        self.sides = tuple(sides)
        self._origin = origin
        """The array and the index that this is a part of: it is read anew where that was written."""
        self._view = view
        """The part that this is a view of, and what makes it of its elements."""
        self._made_of = self._source()

    def _source(self) -> Anything:
        """What the elements were made of."""
        if self._view is not None:
            return self._view[0].data
        return None if self._origin is None else stands_for(self._origin[0])

    @property
    def data(self) -> Anything:
        """The elements, and ones beyond; as they are now, if this is a part of what was written."""
        source = self._source()
        same = source is self._made_of if self._view is not None else source == self._made_of
        if not same:
            if self._view is not None:
                self._data = self._view[1](source)
            else:
                assert self._origin is not None, "what has no source does not change"
                self._data = read_part(*self._origin, self.sides)
            self._made_of = source
        return self._data

    @property
    def at_their_places(self) -> Anything | None:
        """The elements at their places in whole axes, and ones beside; None where nobody knows these."""
        return self._placed if self._origin is None else read_in_place(*self._origin, self.sides)

    def viewed(self, make: Callable[[Any], Any], sides: Sequence[Side | None]) -> Ragged:
        """A part that shows elements of this one."""
        return Ragged(make(self.data), sides, view=(self, make))

    def is_part(self, x: Tracer, items: Sequence[Any]) -> bool:
        """Whether this is what stands at an index of an array, read by the very same index."""
        if self._origin is None or self._origin[0] is not x or len(items) != len(self._origin[1]):
            return False
        return all(a is b for a, b in zip(items, self._origin[1], strict=True))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.sides)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        found: np.dtype[Any] = self._data.dtype
        return found

    @property
    def shape(self) -> tuple[Any, ...]:
        """The lengths of the axes, of which some are traced."""
        sizes = np.shape(self._data)
        return tuple([n if side is None else side.count for n, side in zip(sizes, self.sides, strict=True)])

    @property
    def size(self) -> Anything:
        """The number of elements, traced."""
        return math.prod(self.shape)

    def traced_length(self) -> Anything:
        """``len``"""
        return self.shape[0]

    def is_of_open_trace(self) -> bool:
        """Whether the elements, if they are its own, were made in the trace that is being recorded."""
        return self._origin is not None or self._data._recorder is active_recorder()

    @property
    def T(self) -> Ragged:
        """The part with its axes in reverse."""
        return self.viewed(np.transpose, self.sides[::-1])

    def copy(self, *_: object, **__: object) -> Ragged:
        """The elements as they are now."""
        return Ragged(self.data, self.sides, placed=self.at_their_places)

    def filled(self, value: Number) -> Anything:
        """The elements, with a value for those beyond the part."""
        out = self.data
        for axis, side in enumerate(self.sides):
            if side is not None:
                out = np.where(side.mask(self.ndim, axis), out, self.dtype.type(value))
        return out

    def filled_in_place(self, value: Number) -> Anything:
        """The elements at their places in whole axes, with a value beside; None where nobody knows these."""
        out = self.at_their_places
        for axis, side in enumerate(self.sides):
            if side is not None and out is not None:
                out = np.where(between(side, np.shape(out), axis), out, self.dtype.type(value))
        return out

    @property
    def is_best_in_place(self) -> bool:
        """Whether sums are best of whole axes: of what was computed there, and could begin anywhere.

        Of what begins an array, and of what is read for a sum alone, loops end where it does.
        """
        return self._placed is not None and all(
            side is None or (not isinstance(side.start, int) and size < 2 * side.most)
            for side, size in zip(self.sides, np.shape(self._placed), strict=True)
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Anything, **options: Anything) -> object:
        if ufunc is np.matmul and method == "__call__" and not options:
            return FUNCTIONS[np.matmul](*inputs)
        if method == "__call__" and ufunc.nout == 1 and ufunc.signature is None:
            outs = options.pop("out", ())
            if not options and (not outs or outs[0] is self):
                made = ELEMENTWISE[0](ufunc, inputs)
                return self._written(made) if outs else made
        raise refused(f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else ""))

    def _written(self, made: Ragged) -> Ragged:
        """The part after an operation in place, which the array that it is a part of sees as well."""
        if self._view is not None:
            raise refused("a write into a view")
        if self._origin is None:
            if not self.is_of_open_trace():
                raise refused("a write in a branch or a loop inside")
            self._data, self.sides, self._placed = made.data, made.sides, made._placed
            return self
        write_part(self._origin[0], self._origin[1], made)
        return self

    def __array_function__(
        self, function: Callable[..., Any], _: object, args: Sequence[Any], options: dict[str, Any]
    ) -> object:
        rule = FUNCTIONS.get(function)
        if rule is None or not options.keys() <= {"axis"}:
            raise refused(f"np.{function.__name__}")
        return rule(*args, **options)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What the user's code takes this for."""
        return np.ndarray

    def __getattr__(self, name: str) -> Anything:
        if name in METHODS:
            return partial(FUNCTIONS[getattr(np, name)], self)
        if hasattr(np.ndarray, name):
            raise refused(f".{name}")
        raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")

    def __array__(self, *_: object, **options: object) -> Array:
        raise refused("an array")

    def __iter__(self) -> Iterator[Array]:
        raise refused("iteration over")

    def __len__(self) -> int:
        raise refused("len")

    def __bool__(self) -> bool:
        raise refused("the truth")

    def __rmatmul__(self, other: ArrayLike) -> Anything:
        return FUNCTIONS[np.matmul](other, self)

    def __getitem__(self, index: Index) -> Anything:
        return item_of(self, index)

    def __setitem__(self, index: Index, value: ArrayLike) -> None:
        if self._origin is not None:
            if type(index) is slice and index == slice(None):
                write_part(self._origin[0], self._origin[1], value)
                return
            base: Any = self._origin[0]
            base[tuple(placed(self._origin[1], self.sides, index))] = value
            return
        if self._view is not None or self.ndim != 1 or not is_place(index):
            raise refused("a written element")
        (side,) = self.sides
        assert side is not None, "a vector whose length is traced"
        place = position(side, index)
        value = np.asarray(value, self.dtype) if np.ndim(value) else value
        self._data = np.where(numbers_below(side.most) == place, value, self.data)
        if self._placed is not None:
            here = numbers_below(np.shape(self._placed)[0]) == side.start + place
            self._placed = np.where(here, value, self._placed)


METHODS = frozenset(
    ["all", "any", "argmax", "argmin", "cumsum", "dot", "max", "mean", "min", "prod", "std", "sum", "var"]
)
"""Methods that are functions of NumPy's."""
FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""Functions of NumPy's that take such parts: entered where they are."""
ELEMENTWISE: list[Callable[..., Any]] = []
"""What computes a function of each element, likewise."""


# -- elements ---------------------------------------------------------------------------------------------


def is_place(index: Anything) -> bool:
    """Whether an index is one whole number."""
    if type(index) is Tracer:
        return not index.aval.shape and index.aval.dtype.kind in "iu"
    return isinstance(index, int | np.integer) and not isinstance(index, bool)


def position(side: Side, index: Anything) -> Anything:
    """The place of an element, from the start of the part; refused where it may be none of the part's."""
    low, high = interval_of(index)
    if high < 0 and side.least >= -low:
        return side.length + index
    if low < 0 or (high >= side.least and difference_interval(side.length, index)[0] < 1):
        raise refused("an element, which may be beyond its end,")
    return index


def placed(items: Sequence[Any], sides: Sequence[Side | None], index: Index) -> list[Any]:
    """The index into an array of what stands at places of a part of it."""
    given = list(index) if type(index) is tuple else [index]
    axes = iter(sides)
    found: list[Any] = []
    for item in items:
        if not isinstance(item, slice):
            found.append(item)
            continue
        side = next(axes)
        if not given:
            found.append(item)
            continue
        wanted = given.pop(0)
        if side is None and item == slice(None):
            found.append(wanted)
        elif side is not None and is_place(wanted):
            found.append(side.start + position(side, wanted))
        elif side is not None and type(wanted) is slice and not given:
            cut = cut_of(side, wanted)
            found.append(slice(side.start + cut.start, side.start + cut.start + cut.length))
        else:
            raise refused("a part")
    return [*found, *given]


def cut_of(side: Side, index: slice) -> Side:
    """What a slice takes of an axis of a part."""
    if index.step not in (None, 1):
        raise refused("a step")
    ends = []
    for bound, otherwise in ((index.start, 0), (index.stop, side.count)):
        low, high = (0, 0) if bound is None else interval_of(bound)
        if bound is None or low >= 0:
            ends.append(otherwise if bound is None else bound)
        elif high < 0:
            end = side.count + bound
            ends.append(end if side.least + low >= 0 else np.maximum(end, 0))
        else:
            raise refused("a bound that may be negative")
    found = side_between(ends[0], ends[1], side.count, side.most)
    if found is None:
        raise refused("nothing")
    return found


def item_of(x: Ragged, index: Anything) -> Anything:
    """``x[index]``: an element, or what shows elements of the part."""
    reverse = slice(None, None, -1)
    if x.ndim == 1 and type(index) is slice and index == reverse:
        return FUNCTIONS[np.flip](x)
    given = index if type(index) is tuple else (index,)
    if len(given) > x.ndim or any(not is_place(i) and type(i) is not slice for i in given):
        raise refused("an element")
    if x._origin is not None and not any(type(i) is slice and i != slice(None) for i in given[:-1]):
        base: Any
        base, items = x._origin
        missing = base.aval.ndim - len(items)
        return base[tuple(placed([*items, *[slice(None)] * missing], x.sides, index))]
    places: list[Any] = []
    sides: list[Side | None] = []
    for i, side in zip(given, x.sides, strict=False):
        if type(i) is slice and i == slice(None):
            places.append(i)
            sides.append(side)
        elif is_place(i):
            places.append(i if side is None else position(side, i))
        elif side is not None and x.ndim == 1:
            return cut(x, cut_of(side, i))
        else:
            raise refused("a part")
    left = [*sides, *x.sides[len(given) :]]
    if any(side is not None for side in left):
        return x.viewed(lambda data: data[tuple(places)], left)
    return x.data[tuple(places)]


def cut(x: Ragged, side: Side) -> Ragged:
    """A part of a vector."""
    (whole,) = x.sides
    assert whole is not None, "a vector whose length is traced"
    at = within(side.start + numbers_below(side.most), whole.most)
    return x.viewed(lambda data: Ragged(np.take(data, at), [side]).filled(1), [side])


# -- reading and writing ----------------------------------------------------------------------------------


def sides_of(shape: Sequence[int], items: Sequence[Any]) -> list[Side | None] | None:
    """For every item of an index the side that a slice with traced bounds takes; None where one cannot."""
    found: list[Side | None] = []
    for axis, item in enumerate(items):
        side = None
        if isinstance(item, slice) and has_traced_bounds(item):
            side = side_of(item, shape[axis])
            if side is None:
                return None
        elif not isinstance(item, slice | int | np.integer) and not (
            type(item) is Tracer and not item.aval.shape and item.aval.dtype.kind in "iu"
        ):
            return None
        found.append(side)
    return found


def read_part(x: Tracer, items: Sequence[Any], kept: Sequence[Side | None]) -> Anything:
    """The elements, and ones beyond the part."""
    sides = iter(kept)
    reading: list[Any] = []
    for axis, item in enumerate(items):
        side = next(sides) if isinstance(item, slice) else None
        if side is None:
            reading.append(item)
        elif isinstance(side.start, int):
            reading.append(slice(side.start, side.start + side.most))
        else:
            reading.append(Window(side.start, side.most, 1, x.aval.shape[axis] - 1))
    base: Anything = x
    windows = any(type(item) is Window for item in reading)
    data = READ[0](x, tuple(reading)) if windows else base[tuple(reading)]
    return Ragged(data, kept).filled(1)


def read_in_place(x: Tracer, items: Sequence[Any], kept: Sequence[Side | None]) -> Anything:
    """The elements of a part at their places, and ones beside."""
    base: Anything = x
    found = base[whole_axes(items)]
    for axis, side in enumerate(kept):
        if side is not None:
            found = np.where(between(side, found.shape, axis), found, found.dtype.type(1))
    return found


def whole_axes(items: Sequence[Any]) -> tuple[Any, ...]:
    """The index of whole axes in place of those that a slice with traced bounds is of."""
    return tuple(
        [slice(None) if isinstance(item, slice) and has_traced_bounds(item) else item for item in items]
    )


def between(side: Side, shape: Sequence[int], axis: int) -> ArrayLike:
    """Which places of a whole axis are in a part."""
    place = numbers_below(shape[axis])
    mask = place < side.start + side.length
    known_first = isinstance(side.start, int) and side.start <= 0
    return along(mask if known_first else mask & (place >= side.start), len(shape), axis)


READ: list[Callable[[Tracer, tuple[Any, ...]], Any]] = []
"""What reads windows: set by the module of indices, which knows plans."""


def write_part(x: Anything, items: Index, value: ArrayLike) -> None:
    """``x[items] = value`` with slices of traced lengths."""
    x, items = stepped.without_step(x, items if type(items) is tuple else (items,))
    if type(value) is Ragged and value.is_part(x, items):
        return  # ``x[:i] += y`` ends by storing the part that it has written
    sides = sides_of(x.aval.shape, items)
    if sides is None:
        raise refused("a write")
    kept = [s for s, item in zip(sides, items, strict=True) if isinstance(item, slice)]
    kept += [None] * (x.aval.ndim - len(items))
    whole = whole_axes(items)
    before: Any = x[whole]
    given: list[Side | None] = list(value.sides) if type(value) is Ragged else [None] * np.ndim(value)
    if before.ndim < len(given):
        raise refused("a write of more axes than there are")
    matched(kept, given, exact=True)
    data = placed_in(kept, before.shape, value, given)
    mask: Any = True
    for axis, side in enumerate(kept):
        if side is not None:
            mask = mask & between(side, before.shape, axis)
    x[whole] = np.where(mask, data, before)


def placed_in(
    kept: Sequence[Side | None], shape: Sequence[int], value: ArrayLike, given: Sequence[Side | None]
) -> Anything:
    """The elements of a value at their places in the whole axes that they are written to."""
    offset = len(shape) - len(given)
    found: Any = value.at_their_places if type(value) is Ragged else None
    if found is not None and is_placed_alike(np.shape(found), given, kept[offset:], shape[offset:]):
        return found
    data: Any = value.data if type(value) is Ragged else value
    for axis, side in enumerate(kept):
        if side is None or axis < offset:
            continue
        theirs = given[axis - offset]
        if theirs is not None:
            place = numbers_below(shape[axis]) - side.start
            data = np.take(data, within(place, theirs.most), axis=axis - offset)
        elif np.shape(data)[axis - offset] != 1:
            raise refused("a write of an array of known length")
    return data


def is_placed_alike(
    sizes: Sequence[int], given: Sequence[Side | None], kept: Sequence[Side | None], shape: Sequence[int]
) -> bool:
    """Whether elements stand in whole axes of these sizes, where these parts of them begin."""
    return all(
        theirs is None or (side is not None and n == size and difference(theirs.start, side.start) == 0)
        for theirs, side, n, size in zip(given, kept, sizes, shape, strict=True)
    )


def same_length(a: Side, b: Side) -> bool:
    """Whether two sides are known to have one length."""
    return difference(a.length, b.length) == 0


def matched(first: Sequence[Side | None], second: Sequence[Side | None], exact: bool = False) -> None:
    """Raise where sides at one place are not known to have one length."""
    for a, b in zip(first[::-1], second[::-1], strict=False):
        if a is not None and b is not None and not same_length(a, b):
            raise refused("parts of lengths that may differ, an operation")
        if exact and b is not None and a is None:
            raise refused("a write into another part")
