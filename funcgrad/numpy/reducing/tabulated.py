"""Functions known at some points: interpolation between them, their derivative, and unwrapped phases."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ir.steps import as_source
from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.reducing.axes import is_given, normalized_axes, normalized_axis, refused, traced
from funcgrad.numpy.reducing.cumulative import diff
from funcgrad.ops.arrays import sorting as ops
from funcgrad.ops.arrays.indexing import Gather
from funcgrad.ops.arrays.movement import concatenate, take_axis, take_span
from funcgrad.ops.arrays.sorting import ArgSort
from funcgrad.ops.arrays.structure import aval, broadcast, cast, move_axis, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import add, div, mul, sub
from funcgrad.ops.elementwise.comparison import equal, greater, less
from funcgrad.ops.elementwise.floats import nextafter
from funcgrad.ops.elementwise.logic import logical_and
from funcgrad.ops.elementwise.magnitude import absolute
from funcgrad.ops.elementwise.rounding import remainder
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.interpolation.broken_line import BrokenLine
from funcgrad.ops.reducing.cumulative import CumSum
from funcgrad.source import user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, Arrays, AxisLike

__all__ = ["ediff1d", "gradient", "interp", "unwrap"]

FLOAT, COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)

# -- interpolation ------------------------------------------------------------------------------------------


@implements(np.interp)
def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike = None,
    right: ArrayLike = None,
    period: ArrayLike = None,
) -> Array:
    """The broken line through the points ``(xp, fp)`` at `x`, in double precision, as NumPy's.

    Beyond the points it is constant. At a point its derivative is that of the piece to the right, at the last
    one that of the piece to the left.

    >>> print(fg.grad(lambda x: fg.numpy.interp(x, [0.0, 1.0, 3.0], [0.0, 2.0, 3.0]))(2.0))
    0.5
    """
    operand = traced(x, xp, fp, left, right, period)
    if operand is None:
        return np.interp(x, xp, fp, left, right, period)
    points, heights = asoperand(xp), asoperand(fp)
    heights = cast(heights, COMPLEX if aval(heights).dtype.kind == "c" else FLOAT)
    if aval(operand).dtype.kind == "c" or aval(points).dtype.kind == "c":
        raise DtypeError(
            "interp: positions must be real, and there are complex ones", source=as_source(user_location())
        )
    points, at = cast(points, FLOAT), cast(operand, FLOAT)
    if len(shape_of(points)) != 1 or shape_of(points) != shape_of(heights):
        raise refused(
            f"interp: fp and xp must be vectors of one length, got {aval(heights)} and {aval(points)}"
        )
    if not shape_of(points)[0]:
        raise refused("interp: array of sample points is empty")
    if period is not None:
        at, points, heights = wrapped(at, points, heights, period)
        left = right = None
    found = on_broken_line(at, points, heights)
    if left is not None:
        found = where(less(at, take_axis(points, 0, 0)), left, found)
    if right is not None:
        found = where(greater(at, take_axis(points, 0, shape_of(points)[0] - 1)), right, found)
    return cast(found, aval(heights).dtype)


def on_broken_line(at: ArrayLike, points: ArrayLike, heights: ArrayLike) -> Array:
    """The value at each position, level beyond the points; with a single point, its height."""
    if shape_of(points)[0] == 1:
        return broadcast(take_axis(heights, 0, 0), shape_of(at), ())
    pieces = ops.SearchSorted("right").bind(closed(points), at)
    return BrokenLine().bind(at, pieces, points, heights)


def closed(points: ArrayLike) -> Array:
    """The points, the last one moved up by the least there is, so that it ends the piece to its left.

    Where the last two coincide there is no such piece.
    """
    count = shape_of(points)[0]
    last = take_span(points, 0, count - 1, 1)
    before = take_span(points, 0, count - 2, 1)
    end = where(equal(last, before), last, nextafter(last, np.inf))
    return concatenate([take_span(points, 0, 0, count - 1), end], 0)


def wrapped(at: ArrayLike, points: ArrayLike, heights: ArrayLike, period: ArrayLike) -> tuple[Any, Any, Any]:
    """The positions and points within one period, the points in order and with a neighbour on both sides."""
    period = absolute(asoperand(period))
    if shape_of(period):
        raise refused("interp: period must be a number")
    points = remainder(points, period)
    order = ArgSort(0).bind(points)
    take = Gather((0,))
    points, heights = take.bind(points, order), take.bind(heights, order)
    count = shape_of(points)[0]
    ends = [(sub, count - 1), (add, 0)]
    before, after = [operation(take_span(points, 0, k, 1), period) for operation, k in ends]
    heights_beside = [take_span(heights, 0, k, 1) for _, k in ends]
    return (
        remainder(at, period),
        concatenate([before, points, after], 0),
        concatenate([heights_beside[0], heights, heights_beside[1]], 0),
    )


# -- derivatives --------------------------------------------------------------------------------------------


@implements(np.gradient)
def gradient(f: ArrayLike, *varargs: ArrayLike, axis: AxisLike = None, edge_order: int = 1) -> Arrays:
    """The derivative of a sampled function along each axis, by parabolas through neighbouring samples.

    `varargs` are spacings or sample points, one for all axes or one for each. At the edges it is the slope
    to the neighbour, or with ``edge_order=2`` that of the parabola.

    >>> print(fg.numpy.gradient(np.array([0.0, 1.0, 4.0, 9.0]), edge_order=2))
    [0. 2. 4. 6.]
    """
    x = traced(f, *varargs)
    if x is None:
        options: Any = {"axis": axis, "edge_order": edge_order}
        return np.gradient(f, *varargs, **options)
    axes = normalized_axes(axis, len(shape_of(x)))
    if isinstance(axis, tuple):
        axes = tuple([normalized_axis(a, len(shape_of(x))) for a in axis])
    if edge_order not in (1, 2):
        raise refused("'edge_order' greater than 2 not supported")
    spacings = [asoperand(h) for h in varargs] or [1.0]
    if len(spacings) == 1 and not shape_of(spacings[0]):
        spacings *= len(axes)
    if len(spacings) != len(axes):
        raise DtypeError("invalid number of arguments", source=as_source(user_location()))
    x = x if aval(x).inexact else cast(x, FLOAT)
    found = [slopes_along(x, h, a, edge_order) for h, a in zip(spacings, axes, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def slopes_along(x: ArrayLike, spacing: ArrayLike, axis: int, edge_order: int) -> Array:
    """The derivative along one axis."""
    count = shape_of(x)[axis]
    if count < edge_order + 1:
        raise refused(
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required."
        )
    moved = move_axis(x, axis, 0)
    widths = widths_of(spacing, moved)
    slopes = div(sub(moved[1:], moved[:-1]), widths)
    # The parabola through three samples has the mean of the two slopes for its slope in the middle, each
    # weighted by the width of the other piece, and at its ends leads or lags by as much.
    if shape_of(widths):
        shares = div(widths[:-1], add(widths[:-1], widths[1:]))
        middle = add(slopes[:-1], mul(shares, sub(slopes[1:], slopes[:-1])))
    else:
        # Of the two neighbours alone: what is not finite in the middle is none of its slope.
        shares, middle = 0.5, div(sub(moved[2:], moved[:-2]), mul(widths, 2.0))
    first, last = slopes[:1], slopes[-1:]
    if edge_order == 2:
        share, rest = (shares[:1], sub(1.0, shares[-1:])) if shape_of(shares) else (shares, shares)
        first = sub(first, mul(share, sub(slopes[1:2], first)))
        last = add(last, mul(rest, sub(last, slopes[-2:-1])))
    joined = concatenate([cast(part, aval(x).dtype) for part in (first, middle, last)], 0)
    return move_axis(joined, 0, axis)


def widths_of(spacing: ArrayLike, moved: ArrayLike) -> Array:
    """The distance between samples: a number, or an array that broadcasts against their differences."""
    shape = shape_of(spacing)
    if not shape:
        return spacing
    if len(shape) != 1:
        raise refused("distances must be either scalars or 1d")
    if shape[0] != shape_of(moved)[0]:
        raise refused("when 1d, distances must match the length of the corresponding dimension")
    points = spacing if aval(spacing).inexact else cast(spacing, FLOAT)
    return reshape(diff(points), (shape[0] - 1, *[1] * (len(shape_of(moved)) - 1)))


@implements(np.ediff1d)
def ediff1d(ary: ArrayLike, to_end: ArrayLike = None, to_begin: ArrayLike = None) -> Array:
    """The differences of neighbours in the flattened array, between what is given for the ends.

    >>> print(fg.numpy.ediff1d(np.array([1.0, 4.0, 9.0]), to_end=0.0))
    [3. 5. 0.]
    """
    x = traced(ary, to_end, to_begin)
    if x is None:
        return np.ediff1d(ary, to_end, to_begin)
    flat = reshape(x, (aval(x).size,))
    dtype = aval(flat).dtype
    ends = [asoperand(end) if is_given(end) else None for end in (to_begin, to_end)]
    for end in ends:
        if end is not None and not aval(end).weak and not np.can_cast(aval(end).dtype, dtype, "same_kind"):
            raise DtypeError(
                f"ends of dtype {aval(end).dtype} must be compatible with an array of dtype {dtype}",
                source=as_source(user_location()),
            )
    parts = [None if end is None else reshape(cast(end, dtype), (aval(end).size,)) for end in ends]
    found = diff(flat) if aval(flat).size > 1 else take_span(flat, 0, 0, 0)
    return concatenate([part for part in (parts[0], found, parts[1]) if part is not None], 0)


@implements(np.unwrap)
def unwrap(
    p: ArrayLike, discont: ArrayLike = None, axis: int = -1, *, period: ArrayLike = 2 * np.pi
) -> Array:
    """The phases with whole periods added, so that no jump is more than half of a period.

    >>> print(fg.numpy.unwrap(np.array([0.0, 3.0, -3.0])))
    [0.         3.         3.28318531]
    """
    x = traced(p, discont)
    if x is None:
        return np.unwrap(p, discont, axis, period=period)
    axis = normalized_axis(axis, len(shape_of(x)))
    if not shape_of(x)[axis]:
        return x
    dtype = np.result_type(aval(x).dtype, type(period)(period)) if not aval(x).inexact else aval(x).dtype
    # As NumPy: the differences are taken in the dtype of the phases, where small integers wrap.
    steps, x = cast(diff(x, axis=axis), dtype), cast(x, dtype)
    half, is_odd = divmod(period, 2) if dtype.kind in "iu" else (period / 2, 0)
    short = add(remainder(add(steps, half), period), -half)
    if not is_odd:
        # A jump of exactly half a period keeps its sign.
        short = where(logical_and(equal(short, -half), greater(steps, 0)), half, short)
    change = where(less(absolute(steps), half if discont is None else discont), 0, sub(short, steps))
    first = take_span(x, axis, 0, 1)
    rest = take_span(x, axis, 1, shape_of(x)[axis] - 1)
    return concatenate([first, add(rest, CumSum(axis, False).bind(cast(change, dtype)))], axis)
