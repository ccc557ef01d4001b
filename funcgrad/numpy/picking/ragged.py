"""Parts of arrays whose length follows the counter of a loop: ``a[i, :j] @ a[j, :j]``, ``y[:k] += ...``.

What is traced has a shape, and such a part has none. It is computed with as an array of the greatest length
it can have, whose elements beyond the part are ones that nobody reads: sums, products and extremes leave
them out, and a write reaches the part alone. Elementwise functions, reductions and products of parts that are
known to have one length are what is needed in triangular loops; anything else is refused, and the loop then
unrolled, as it is where bounds may be negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from funcgrad.errors import ConcretizationError, FuncgradError
from funcgrad.ir.steps import as_source
from funcgrad.ops.arrays.windows import Window, difference, has_traced_bounds, interval_of
from funcgrad.source import user_location
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Index, Number


class Side(NamedTuple):
    """An axis of a part: where it starts and how long it is, both traced, and how long it is at most."""

    start: Any
    length: Any
    most: int

    def mask(self, ndim: int, axis: int) -> ArrayLike:
        """Which positions along the axis are in the part."""
        return along(np.arange(self.most) < self.length, ndim, axis)


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
    """What a slice takes of an axis of size n; None where a bound may be negative, or a step is given."""
    if index.step not in (None, 1):
        return None
    start = 0 if index.start is None else index.start
    stop = n if index.stop is None else index.stop
    first, last = interval_of(start), interval_of(stop)
    if first[0] < 0 or last[0] < 0:
        return None
    if last[1] > n:
        stop = np.minimum(stop, n)
    most = int(min(n, last[1] - first[0]))
    return Side(start, stop - start, most) if most > 0 else None


class Ragged(NDArrayOperatorsMixin):
    """A part of a traced array, with at least one axis whose length is traced."""

    __slots__ = ("_data", "_made_of", "_origin", "sides")
    __array_priority__ = 2000

    def __init__(
        self,
        data: ArrayLike,
        sides: Sequence[Side | None],
        origin: tuple[Tracer, Sequence[Any]] | None = None,
    ) -> None:
        self._data = data
        self.sides = tuple(sides)
        self._origin = origin
        self._made_of = None if origin is None else stands_for(origin[0])

    @property
    def data(self) -> Anything:
        """The elements, and ones beyond; as they are now, if this is a part of an array that was written."""
        if self._origin is not None and self._made_of != stands_for(self._origin[0]):
            x, index = self._origin
            self._data = read_part(x, index, self.sides)
            self._made_of = stands_for(x)
        return self._data

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
    def T(self) -> Ragged:
        """The part with its axes in reverse."""
        return Ragged(np.transpose(self.data), self.sides[::-1])

    def copy(self) -> Ragged:
        """The elements as they are now."""
        return Ragged(self.data, self.sides)

    def filled(self, value: Number) -> Anything:
        """The elements, with a value for those beyond the part."""
        out = self.data
        for axis, side in enumerate(self.sides):
            if side is not None:
                out = np.where(side.mask(self.ndim, axis), out, np.asarray(value, self.dtype))
        return out

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Anything, **options: Anything) -> object:
        if ufunc is np.matmul and method == "__call__" and not options:
            return product(*inputs)
        if method == "__call__" and ufunc.nout == 1 and ufunc.signature is None:
            outs = options.pop("out", ())
            if not options and (not outs or outs[0] is self):
                made = elementwise(ufunc, inputs)
                return self._written(made) if outs else made
        raise refused(f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else ""))

    def _written(self, made: Ragged) -> Ragged:
        """The part after an operation in place, which the array that it is a part of sees as well."""
        if self._origin is None:
            self._data, self.sides = made.data, made.sides
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

    def sum(self, axis: int | None = None) -> Anything:
        """The sum of the elements, or along an axis."""
        return reduced(self, np.sum, 0, axis)

    def prod(self, axis: int | None = None) -> Anything:
        """The product of the elements."""
        return reduced(self, np.prod, 1, axis)

    def max(self, axis: int | None = None) -> Anything:
        """The greatest element."""
        return extreme(self, np.max, -math.inf, axis)

    def min(self, axis: int | None = None) -> Anything:
        """The least element."""
        return extreme(self, np.min, math.inf, axis)

    def mean(self) -> Anything:
        """The mean of the elements of a vector."""
        side = self.sides[0]
        if self.ndim != 1 or side is None or interval_of(side.length)[0] < 1:
            raise refused("the mean")
        return self.sum() / side.length

    def dot(self, other: ArrayLike) -> Anything:
        """``self @ other``"""
        return product(self, other)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What the user's code takes this for."""
        return np.ndarray

    def __getattr__(self, name: str) -> Anything:
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
        return product(other, self)

    def __getitem__(self, index: Index) -> Anything:
        reverse = slice(None, None, -1)
        if self.ndim == 1 and (index == reverse if type(index) is slice else False):
            return flipped(self)
        raise refused("an element")

    def __setitem__(self, index: Index, value: ArrayLike) -> None:
        if type(index) is slice and index == slice(None) and self._origin is not None:
            write_part(self._origin[0], self._origin[1], value)
            return
        raise refused("a written element")


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


def part_of(x: Tracer, index: Index) -> Ragged | None:
    """``x[index]`` with slices of traced lengths; None where they may mean something else."""
    items = index if type(index) is tuple else (index,)
    if len(items) > x.aval.ndim or x.aval.dtype.kind not in "fc":
        return None
    sides = sides_of(x.aval.shape, items)
    if sides is None:
        return None
    kept = [s for s, item in zip(sides, items, strict=True) if isinstance(item, slice)]
    kept += [None] * (x.aval.ndim - len(items))
    return Ragged(read_part(x, items, kept), kept, (x, items))


def read_part(x: Tracer, items: Sequence[Any], kept: Sequence[Side | None]) -> Anything:
    """The elements, and ones beyond the part."""
    sides = iter(kept)
    reading: list[Any] = []
    for axis, item in enumerate(items):
        side = next(sides) if isinstance(item, slice) else None
        reading.append(item if side is None else Window(side.start, side.most, 1, x.aval.shape[axis] - 1))
    data = READ[0](x, tuple(reading))
    return Ragged(data, kept).filled(1)


READ: list[Callable[[Tracer, tuple[Any, ...]], Any]] = []
"""What reads windows: set by the module of indices, which knows plans."""


def write_part(x: Anything, items: Index, value: ArrayLike) -> None:
    """``x[items] = value`` with slices of traced lengths."""
    items = items if type(items) is tuple else (items,)
    if type(value) is Ragged and value.is_part(x, items):
        return  # ``x[:i] += y`` ends by storing the part that it has written
    sides = sides_of(x.aval.shape, items)
    if sides is None:
        raise refused("a write")
    kept = [s for s, item in zip(sides, items, strict=True) if isinstance(item, slice)]
    kept += [None] * (x.aval.ndim - len(items))
    whole = tuple([item if side is None else slice(None) for item, side in zip(items, sides, strict=True)])
    before: Any = x[whole]
    ndim = before.ndim
    given: list[Side | None] = list(value.sides) if type(value) is Ragged else [None] * np.ndim(value)
    data: Any = value.data if type(value) is Ragged else value
    offset = ndim - len(given)
    if offset < 0:
        raise refused("a write of more axes than there are")
    matched(kept, given, exact=True)
    mask: Any = True
    for axis, side in enumerate(kept):
        if side is None:
            continue
        place = np.arange(before.shape[axis]) - side.start
        mask = mask & along((place >= 0) & (place < side.length), ndim, axis)
        theirs = given[axis - offset] if axis >= offset else None
        if theirs is not None:
            data = np.take(data, within(place, theirs.most), axis=axis - offset)
        elif axis >= offset and np.shape(data)[axis - offset] != 1:
            raise refused("a write of an array of known length")
    x[whole] = np.where(mask, data, before)


# -- computing --------------------------------------------------------------------------------------------


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


def elementwise(function: Callable[..., Any], inputs: Sequence[Any]) -> Ragged:
    """A function of each element."""
    parts = [x for x in inputs if type(x) is Ragged]
    ndim = max([x.ndim if type(x) is Ragged else np.ndim(x) for x in inputs])
    sides: list[Side | None] = [None] * ndim
    for part in parts:
        matched(sides, part.sides)
        for k, side in enumerate(part.sides, ndim - part.ndim):
            mine = sides[k]
            if side is not None and (mine is None or side.most < mine.most):
                sides[k] = side
    values: list[Any] = []
    for x in inputs:
        data = x.data if type(x) is Ragged else x
        shape = np.shape(data)
        for k, side in enumerate(sides):
            axis = k - ndim + len(shape)
            if side is None or axis < 0 or shape[axis] == 1 == side.most:
                continue
            theirs = x.sides[axis] if type(x) is Ragged else None
            if theirs is not None:
                data = data[(slice(None),) * axis + (slice(side.most),)]
            elif shape[axis] != 1:
                raise refused("with an array of known length an operation")
        values.append(data)
    return Ragged(function(*values), sides)


def reduced(x: Ragged, function: Callable[..., Any], neutral: float, axis: int | None) -> Anything:
    """A reduction, to which elements beyond the part contribute nothing."""
    return without(x, function(x.filled(neutral), axis=axis), axis)


def without(x: Ragged, found: ArrayLike, axis: int | None) -> Anything:
    """What a reduction leaves: an array, or a part where other lengths are traced."""
    if axis is None:
        return found
    at = axis % x.ndim
    sides = [*x.sides[:at], *x.sides[at + 1 :]]
    return Ragged(found, sides) if any(side is not None for side in sides) else found


def extreme(x: Ragged, function: Callable[..., Any], neutral: float, axis: int | None) -> Anything:
    """The greatest or least element, of parts that are known not to be empty."""
    if x.dtype.kind != "f" or any(s is not None and interval_of(s.length)[0] < 1 for s in x.sides):
        raise refused(f"np.{function.__name__}, where it may be empty,")
    return reduced(x, function, neutral, axis)


def product(a: ArrayLike, b: ArrayLike) -> Anything:
    """``a @ b``: what is summed over is left out beyond the part."""
    left = list(a.sides) if type(a) is Ragged else [None] * np.ndim(a)
    right = list(b.sides) if type(b) is Ragged else [None] * np.ndim(b)
    if not 1 <= len(left) <= 2 or not 1 <= len(right) <= 2:
        raise refused("np.matmul of more than two axes")
    inner, other = left[-1], right[0]
    x: Any = a.filled(0) if type(a) is Ragged else a
    y: Any = b.filled(0) if type(b) is Ragged else b
    if (inner is None) != (other is None):
        raise refused("with an array of known length a product")
    if inner is not None and other is not None:
        if not same_length(inner, other):
            raise refused("parts of lengths that may differ, a product")
        most = min(inner.most, other.most)
        x, y = x[..., :most], y[:most]
    sides = [*left[:-1], *right[1:]]
    found = x @ y
    return Ragged(found, sides) if any(side is not None for side in sides) else found


def outer(a: ArrayLike, b: ArrayLike) -> Ragged:
    """``np.outer``"""
    sides = [x.sides[0] if type(x) is Ragged else None for x in (a, b)]
    x, y = (p.data if type(p) is Ragged else p for p in (a, b))
    if np.ndim(x) != 1 or np.ndim(y) != 1:
        raise refused("np.outer of more than one axis")
    return Ragged(np.outer(x, y), sides)


def flipped(x: Ragged, axis: int | None = None) -> Ragged:
    """``np.flip`` of a vector."""
    if x.ndim != 1 or axis not in (None, 0, -1):
        raise refused("np.flip of more than one axis")
    (side,) = x.sides
    assert side is not None, "a vector whose length is traced"
    at = within(side.length - 1 - np.arange(side.most), side.most)
    return Ragged(Ragged(np.take(x.data, at), x.sides).filled(1), x.sides)


def norm(x: Ragged, order: float | None = None, axis: int | None = None) -> Anything:
    """``np.linalg.norm``: the square root of the sum of squares, to which what is beyond adds nothing."""
    if order is not None and not (order == 2 and (x.ndim == 1 or axis is not None)):
        raise refused(f"np.linalg.norm of order {order}")
    return reduced(x, np.linalg.norm, 0, axis)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: lambda a, axis=None: a.sum(axis),
    np.prod: lambda a, axis=None: a.prod(axis),
    np.max: lambda a, axis=None: a.max(axis),
    np.min: lambda a, axis=None: a.min(axis),
    np.amax: lambda a, axis=None: a.max(axis),
    np.amin: lambda a, axis=None: a.min(axis),
    np.mean: lambda a: a.mean(),
    np.dot: product,
    np.inner: product,
    np.outer: outer,
    np.flip: flipped,
    np.linalg.norm: norm,
    np.copy: lambda a: a.copy(),
    np.transpose: lambda a: a.T,
}
"""Functions of NumPy's that take such parts."""


def reflected(function: np.ufunc) -> Callable[[Ragged, ArrayLike], Ragged]:
    """An operator with a part on the right: NumPy would ask what is on the left first."""

    def operate(self: Ragged, other: ArrayLike) -> Ragged:
        return elementwise(function, (other, self))

    return operate


for _name, _function in {
    "radd": np.add,
    "rsub": np.subtract,
    "rmul": np.multiply,
    "rtruediv": np.true_divide,
    "rpow": np.power,
}.items():
    setattr(Ragged, f"__{_name}__", reflected(_function))
