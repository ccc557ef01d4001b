"""What may be computed of parts of arrays whose length is traced: functions of each element, reductions,
products, and what joins parts. Elements beyond a part count for nothing. Imported when a first part is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.numpy.picking.ragged import (
    ELEMENTWISE,
    FUNCTIONS,
    Ragged,
    Side,
    is_placed_alike,
    matched,
    read_part,
    refused,
    same_length,
    sides_of,
    within,
)
from funcgrad.numpy.picking.stepped import without_step
from funcgrad.ops.arrays.windows import difference_interval, note_interval, numbers_below
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, ArrayLike, Index


def part_of(x: Tracer, index: Index) -> Ragged | None:
    """``x[index]`` with slices of traced lengths; None where they may mean something else."""
    items = index if type(index) is tuple else (index,)
    if len(items) > x.aval.ndim or x.aval.dtype.kind not in "fc":
        return None
    x, items = without_step(x, items)
    sides = sides_of(x.aval.shape, items)
    if sides is None:
        return None
    kept = [s for s, item in zip(sides, items, strict=True) if isinstance(item, slice)]
    kept += [None] * (x.aval.ndim - len(items))
    return Ragged(read_part(x, items, kept), kept, (x, items))


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
    return Ragged(function(*values), sides, placed=placed_alike(function, inputs, sides))


def placed_alike(
    function: Callable[..., Any], inputs: Sequence[Any], sides: Sequence[Side | None]
) -> Anything | None:
    """A function of each element at its place in whole axes; None where parts begin elsewhere."""
    values: list[Any] = [x.at_their_places if type(x) is Ragged else x for x in inputs]
    if any(value is None for value in values):
        return None
    parts = [(x.sides, np.shape(v)) for x, v in zip(inputs, values, strict=True) if type(x) is Ragged]
    sizes = [0] * len(sides)
    for theirs, shape in parts:
        for axis, (side, size) in enumerate(zip(theirs, shape, strict=True), len(sides) - len(theirs)):
            sizes[axis] = sizes[axis] if side is None else size
    for theirs, shape in parts:
        offset = len(sides) - len(theirs)
        if not is_placed_alike(shape, theirs, sides[offset:], sizes[offset:]):
            return None
    return function(*values)


def reduced(x: Ragged, function: Callable[..., Any], neutral: float, axis: int | None) -> Anything:
    """A reduction, to which elements beyond the part contribute nothing."""
    if x.is_best_in_place and (axis is None or x.ndim == 1):
        return function(x.filled_in_place(neutral), axis=axis)
    return without(x, function(x.filled(neutral), axis=axis), axis)


def variance(x: Ragged, axis: int | None = None) -> Anything:
    """``np.var`` of a vector."""
    return (abs(x - mean(x, axis)) ** 2).mean()


def mean(x: Ragged, axis: int | None = None) -> Anything:
    """``np.mean`` of a vector; of none it is NaN, as NumPy's."""
    side = x.sides[0]
    if x.ndim != 1 or side is None or axis not in (None, 0, -1):
        raise refused("the mean along an axis")
    return reduced(x, np.sum, 0, None) / side.count


def running(x: Ragged, axis: int | None = None) -> Ragged:
    """``np.cumsum`` of a vector."""
    if x.ndim != 1 or axis not in (None, 0, -1):
        raise refused("np.cumsum of more than one axis")
    return Ragged(Ragged(np.cumsum(x.filled(0)), x.sides).filled(1), x.sides)


def differences(x: Ragged) -> Anything:
    """``np.diff`` of a vector."""
    if x.ndim != 1:
        raise refused("np.diff of more than one axis")
    return x[1:] - x[:-1]


def joined(parts: Sequence[Any], axis: int | None = 0) -> Anything:
    """``np.concatenate`` of vectors, one after another; an array where the whole has a known length."""
    if any(np.ndim(x.data if type(x) is Ragged else x) != 1 for x in parts):
        raise refused("np.concatenate of more than one axis")
    counts = [x.traced_length() if type(x) is Ragged else len(x) for x in parts]
    mosts = [np.shape(x.data)[0] if type(x) is Ragged else len(x) for x in parts]
    total: Any = sum(counts[1:], counts[0])
    least, greatest = difference_interval(total, 0)
    most = int(min(sum(mosts), greatest))
    dtype = np.result_type(*[x.dtype for x in parts])
    found: Any = np.ones(most, dtype)
    places, first = numbers_below(most), 0
    for part, count, size in zip(parts, counts, mosts, strict=True):
        if size:
            at = places - first
            data = np.take(part.data if type(part) is Ragged else part, within(at, size))
            found = np.where((at >= 0) & (at < count), data, found)
        first = first + count
    return found if least == most else Ragged(found, [Side(0, total, most, least)])


def appended(x: ArrayLike, values: ArrayLike, axis: int | None = None) -> Anything:
    """``np.append`` to a vector."""
    return joined([y if type(y) is Ragged else np.ravel(y) for y in (x, values)], axis)


def without(x: Ragged, found: ArrayLike, axis: int | None) -> Anything:
    """What a reduction leaves: an array, or a part where other lengths are traced."""
    if axis is None:
        return found
    at = axis % x.ndim
    sides = [*x.sides[:at], *x.sides[at + 1 :]]
    return Ragged(found, sides) if any(side is not None for side in sides) else found


def extreme(x: Ragged, function: Callable[..., Any], neutral: float, axis: int | None) -> Anything:
    """The greatest or least element, of parts that are known not to be empty."""
    if x.dtype.kind != "f" or any(s is not None and s.least < 1 for s in x.sides):
        raise refused(f"np.{function.__name__}, where it may be empty,")
    return reduced(x, function, neutral, axis)


def place_of_extreme(x: Ragged, function: Callable[..., Any], neutral: float, axis: int | None) -> Anything:
    """Where the first greatest or least element of a vector is; of no element NumPy raises."""
    side = checked_vector(x, f"np.{function.__name__}", axis)
    found = function(x.filled(bool(neutral > 0) if x.dtype.kind == "b" else neutral))
    note_interval(found, (0, side.most - 1))
    return found


def ordered(x: Ragged, axis: int | None = -1) -> Ragged:
    """``np.sort`` of a vector: what is beyond is sorted behind it, where NaN is."""
    checked_vector(x, "np.sort", axis, least=0)
    return Ragged(Ragged(np.sort(x.filled(np.nan)), x.sides).filled(1), x.sides)


def median(x: Ragged, axis: int | None = None) -> Anything:
    """``np.median`` of a vector: the middle element, or half of the sum of two; NaN where one is NaN."""
    side = checked_vector(x, "np.median", axis)
    found = np.sort(x.filled(np.nan))
    low, high, last = (
        np.take(found, within(at, side.most))
        for at in ((side.length - 1) // 2, side.length // 2, side.length - 1)
    )
    middle = np.where(side.length % 2 == 1, low, (low + high) / 2)
    return np.where(np.isnan(last), last, middle)


def checked_vector(x: Ragged, name: str, axis: int | None, least: int = 1) -> Side:
    """The one axis of a vector of real numbers that is known to have so many elements; else refused."""
    side = x.sides[0]
    if x.ndim != 1 or side is None or axis not in (None, 0, -1) or x.dtype.kind not in "fb"[: 1 + least]:
        raise refused(f"{name} of more than one axis, or of other numbers,")
    if side.least < least:
        raise refused(f"{name}, where it may be empty,")
    return side


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
    placed = product_in_place(a, b, left, right)
    if any(side is not None for side in sides):
        return Ragged(x @ y, sides, placed=placed)
    return x @ y if placed is None or not is_best_in_place(a, b) else placed


def product_in_place(
    a: ArrayLike, b: ArrayLike, left: Sequence[Side | None], right: Sequence[Side | None]
) -> Anything | None:
    """``a @ b`` of elements at their places in whole axes; None where parts begin elsewhere."""
    x, y = (p.filled_in_place(0) if type(p) is Ragged else p for p in (a, b))
    if x is None or y is None:
        return None
    inner = is_placed_alike(np.shape(x)[-1:], left[-1:], right[:1], np.shape(y)[:1])
    return x @ y if inner else None


def is_best_in_place(*factors: Anything) -> bool:
    """Whether a product of parts is best of whole axes: one of them was computed there."""
    return any(type(x) is Ragged and x.is_best_in_place for x in factors)


def outer(a: ArrayLike, b: ArrayLike) -> Ragged:
    """``np.outer``"""
    sides = [x.sides[0] if type(x) is Ragged else None for x in (a, b)]
    x, y = (p.data if type(p) is Ragged else p for p in (a, b))
    if np.ndim(x) != 1 or np.ndim(y) != 1:
        raise refused("np.outer of more than one axis")
    places: list[Any] = [p.at_their_places if type(p) is Ragged else p for p in (a, b)]
    placed = None if any(p is None for p in places) else np.outer(*places)
    return Ragged(np.outer(x, y), sides, placed=placed)


def flipped(x: Ragged, axis: int | None = None) -> Ragged:
    """``np.flip`` of a vector."""
    if x.ndim != 1 or axis not in (None, 0, -1):
        raise refused("np.flip of more than one axis")
    (side,) = x.sides
    assert side is not None, "a vector whose length is traced"
    at = within(side.length - 1 - numbers_below(side.most), side.most)
    return x.viewed(lambda data: Ragged(np.take(data, at), x.sides).filled(1), x.sides)


def norm(x: Ragged, order: float | None = None, axis: int | None = None) -> Anything:
    """``np.linalg.norm``: the square root of the sum of squares, to which what is beyond adds nothing."""
    if order is not None and not (order == 2 and (x.ndim == 1 or axis is not None)):
        raise refused(f"np.linalg.norm of order {order}")
    return reduced(x, np.linalg.norm, 0, axis)


FUNCTIONS.update(
    {
        np.sum: lambda a, axis=None: reduced(a, np.sum, 0, axis),
        np.prod: lambda a, axis=None: reduced(a, np.prod, 1, axis),
        np.any: lambda a, axis=None: reduced(a, np.any, 0, axis),
        np.all: lambda a, axis=None: reduced(a, np.all, 1, axis),
        np.max: lambda a, axis=None: extreme(a, np.max, -math.inf, axis),
        np.min: lambda a, axis=None: extreme(a, np.min, math.inf, axis),
        np.amax: lambda a, axis=None: extreme(a, np.max, -math.inf, axis),
        np.amin: lambda a, axis=None: extreme(a, np.min, math.inf, axis),
        np.argmax: lambda a, axis=None: place_of_extreme(a, np.argmax, -math.inf, axis),
        np.argmin: lambda a, axis=None: place_of_extreme(a, np.argmin, math.inf, axis),
        np.sort: ordered,
        np.median: median,
        np.count_nonzero: lambda a, axis=None: reduced(a != 0, np.sum, 0, axis),
        np.mean: mean,
        np.var: variance,
        np.std: lambda a, axis=None: np.sqrt(variance(a, axis)),
        np.cumsum: running,
        np.diff: differences,
        np.concatenate: joined,
        np.hstack: joined,
        np.append: appended,
        np.where: lambda *args: elementwise(np.where, args),
        np.clip: lambda *args: elementwise(np.clip, args),
        np.matmul: product,
        np.dot: product,
        np.inner: product,
        np.outer: outer,
        np.flip: flipped,
        np.linalg.norm: norm,
        np.copy: lambda a: a.copy(),
        np.transpose: lambda a: a.T,
        np.size: lambda a: a.size,
        np.shape: lambda a: a.shape,
        np.ndim: lambda a: a.ndim,
    }
)
ELEMENTWISE.append(elementwise)


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
