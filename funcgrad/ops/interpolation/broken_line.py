"""Broken lines: the value of one at many positions, and the transpose of that by the heights of its points.

Each position comes with its piece: 0 before the first point, k between points k - 1 and k, and as many as
there are points after the last; before and after, the line is level. Both operations make one pass through
the positions in blocks that stay in the cache, where gathers one by one would make ten.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import DtypeError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.arrays.movement import concatenate, take_axis, take_span
from funcgrad.ops.arrays.searching import LONG
from funcgrad.ops.arrays.sorting import AddAlongAxis, TakeAlongAxis
from funcgrad.ops.arrays.structure import aval, broadcast, cast, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import add, div, mul, neg, sub
from funcgrad.ops.elementwise.comparison import equal
from funcgrad.ops.elementwise.logic import logical_and
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import added
from funcgrad.ops.reducing.extremes import clip, maximum, minimum
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, fixed, integers, normal, real_part, uniform
from funcgrad.types import Array

BLOCK = 1 << 16


def inner_slopes(points: Array, heights: Array) -> Array:
    """The slope between each two neighbouring points; 0 where they coincide."""
    count = shape_of(points)[0] - 1
    rise = sub(take_span(heights, 0, 1, count), take_span(heights, 0, 0, count))
    run = sub(take_span(points, 0, 1, count), take_span(points, 0, 0, count))
    return slopes_of(rise, run)


def slopes_of(rise: Array, run: Array) -> Array:
    """``rise / run``; 0 where `run` is."""
    level = equal(run, 0.0)
    return where(level, 0.0, div(rise, where(level, 1.0, run)))


def beside(positions: Array, pieces: Array, points: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Which points are before and after each position, the position between all points, and both points.

    Before all points and after all, both are the nearest.
    """
    last, take = shape_of(points)[0] - 1, Gather((0,))
    before, after = maximum(minimum(sub(pieces, 1), last), 0), maximum(minimum(pieces, last), 0)
    low, high = (broadcast(take_axis(points, 0, k), shape_of(positions), ()) for k in (0, last))
    return before, after, clip(positions, low, high), take.bind(points, before), take.bind(points, after)


def between(at: Array, start: Array, end: Array, base: Array, top: Array) -> Array:
    """The height at a position on a piece from one point to another.

    As NumPy's, it is that of the point where the position is the point, and is reckoned from the other
    point where a height or a point that is infinite leaves no number.
    """
    slope = slopes_of(sub(top, base), sub(end, start))
    found = add(base, mul(slope, sub(at, start)))
    back = add(top, mul(slope, sub(at, end)))
    level = where(logical_and(equal(base, top), equal(at, at)), base, back)
    found = where(equal(found, found), found, where(equal(back, back), back, level))
    return where(equal(at, start), base, found)


def slopes_at(pieces: Array, points: Array, heights: Array) -> Array:
    """The slope of the line on each piece."""
    zero = np.zeros(1, aval(heights).dtype)
    table = concatenate([zero, cast(inner_slopes(points, heights), zero.dtype), zero], 0)
    return Gather((0,)).bind(table, pieces)


def known_slopes(points: Array, heights: Array) -> Array:
    """`inner_slopes` of arrays."""
    run = np.diff(points)
    level = run == 0
    return np.where(level, 0, np.diff(heights) / np.where(level, 1, run))


class OnLine(Primitive):
    """What the two operations share: positions, their pieces, and points."""

    kinds: ClassVar[str] = "fc"
    on_line: ClassVar[str]
    """What exported modules call."""

    def check(self, positions: Aval, pieces: Aval, points: Aval) -> None:
        """Raise for positions, pieces and points that do not belong together."""
        if positions.shape != pieces.shape:
            raise ShapeError(f"{self.name}: positions {positions} and pieces {pieces} differ in shape")
        if points.ndim != 1 or not points.size:
            raise ShapeError(f"{self.name} needs a vector of points, got {points}")
        if pieces.dtype != np.dtype(np.intp):
            raise DtypeError(f"{self.name}: pieces must be numbered by {np.dtype(np.intp)}, got {pieces}")
        if positions.dtype != points.dtype or points.dtype.kind != "f":
            raise DtypeError(f"{self.name}: {positions} and {points} must be of one real dtype")

    def line_calls(self, given: Sequence[Aval], out: Aval) -> Sequence[tuple[str, str]]:
        return ((self.on_line, f"{given[1].size}, {given[-1].size}"),)


class BrokenLine(OnLine):
    """The height of a broken line at positions of which the pieces are given."""

    name = "broken_line"
    on_line = "heights_on_line"

    def infer(self, *avals: Aval) -> Aval:
        positions, pieces, points, heights = avals
        self.check(positions, pieces, points)
        if heights.shape != points.shape:
            raise ShapeError(f"{self.name}: points {points} and heights {heights} differ in shape")
        if heights.dtype not in (points.dtype, np.result_type(points.dtype, np.complex64)):
            raise DtypeError(f"{self.name}: {heights} must be cast to the precision of {points} first")
        return positions.with_dtype(heights.dtype).strong

    def evaluate(self, *values: Array) -> Array:
        positions, pieces, points, heights = values
        start, height = np.append(points[:1], points), np.append(heights[:1], heights)
        slope = np.concatenate([[0], known_slopes(points, heights), [0]]).astype(heights.dtype)
        flat, piece = np.reshape(positions, -1), np.reshape(pieces, -1)
        out = np.empty(flat.shape, heights.dtype)
        room, along = np.empty((2, BLOCK), points.dtype), np.empty(BLOCK, heights.dtype)
        for first in range(0, len(flat), BLOCK):
            here, result = piece[first : first + BLOCK], out[first : first + BLOCK]
            (distance, origin), product = room[:, : len(here)], along[: len(here)]
            # Level pieces reach to infinity, and 0 times infinity is not 0.
            np.clip(flat[first : first + BLOCK], points[0], points[-1], out=distance)
            np.take(start, here, mode="clip", out=origin)
            np.subtract(distance, origin, out=distance)
            np.take(slope, here, mode="clip", out=product)
            np.multiply(product, distance, out=product)
            np.take(height, here, mode="clip", out=result)
            np.add(result, product, out=result)
            odd = np.flatnonzero(result != result)  # noqa: PLR0124
            if odd.size:
                result[odd] = beside_infinities(flat[first + odd], here[odd], points, heights)
        return out.reshape(positions.shape)[()]

    def expansion(self, *inputs: Array) -> Array | None:
        positions, pieces, points, heights = inputs
        if aval(positions).size >= LONG:
            return None
        before, after, at, start, end = beside(positions, pieces, points)
        base, top = (Gather((0,)).bind(heights, place) for place in (before, after))
        return between(at, start, end, base, top)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        positions, pieces, points, heights = primals
        x_dot, _, points_dot, heights_dot = tangents
        moved = x_dot
        if points_dot is not None:
            # Moving the points moves the line sideways, by what a broken line through the movements says.
            moved = added(moved, neg(self.bind(positions, pieces, points, points_dot)))
        total = None if moved is None else mul(moved, slopes_at(pieces, points, heights))
        if heights_dot is not None:
            total = added(total, self.bind(positions, pieces, points, heights_dot))
        return self.bind(*primals), total

    def linear_in(self, flags: Flags) -> bool:
        return flags == (False, False, False, True)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return None, None, None, SpreadOnLine().bind(cotangent, *inputs[:3])

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        (positions, pieces), tables = with_batch_axis(size, inputs[:2], batched[:2]), inputs[2:]
        if not any(batched[2:]):
            return self.bind(positions, pieces, *tables), True
        shape = shape_of(positions)
        rows = [reshape(x, (size, math.prod(shape[1:]))) for x in (positions, pieces)]
        found = heights_of_rows(*rows, *with_batch_axis(size, tables, batched[2:]))
        return reshape(found, shape), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        points, pieces = fixed_real(-1.0, 0.5, 2.0, 2.5), fixed(np.array([0, 1, 2, 3, 4, 2]))
        at = fixed_real(-2.0, 0.1, 0.7, 2.1, 3.0, 1.9)
        return (
            Sample(at, pieces, points, normal(4)),
            Sample(real_part(uniform(0.6, 1.9, 2, 3)), fixed(np.full((2, 3), 2)), points, normal(4)),
            Sample(real_part(uniform(0.6, 1.9)), fixed(np.array(2)), points, normal(4)),
            Sample(at, integers(0, 2, 6), fixed_real(0.0), normal(1), differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        x, two = real_part(normal(3)), real_part(normal(2))
        piece = integers(0, 2, 3)
        return (
            ErrorSample(x, integers(0, 2, 4), two, normal(2), words="differ in shape", error=ShapeError),
            ErrorSample(x, piece, two, normal(3), words="differ in shape", error=ShapeError),
            ErrorSample(x, piece, real_part(normal()), normal(), words="vector of points", error=ShapeError),
            ErrorSample(x, x, two, normal(2), words="pieces must be", error=DtypeError),
            ErrorSample(x, piece, two, integers(0, 2, 2), words="must be cast", error=DtypeError),
            ErrorSample(piece, piece, piece, normal(3), words="one real dtype", error=DtypeError),
        )


class SpreadOnLine(OnLine):
    """For each point the sum of the values at the positions beside it, each shared between its two points."""

    name = "spread_on_line"
    on_line = "spread_on_line"

    def infer(self, *avals: Aval) -> Aval:
        values, positions, pieces, points = avals
        self.check(positions, pieces, points)
        if values.shape != positions.shape:
            raise ShapeError(f"{self.name}: values {values} and positions {positions} differ in shape")
        if values.dtype not in (points.dtype, np.result_type(points.dtype, np.complex64)):
            raise DtypeError(f"{self.name}: {values} must be cast to the precision of {points} first")
        return points.with_dtype(values.dtype).strong

    def evaluate(self, *values: Array) -> Array:
        amount, positions, pieces, points = values
        if amount.dtype.kind == "c":
            parts = [self.evaluate(part, positions, pieces, points) for part in (amount.real, amount.imag)]
            return (parts[0] + 1j * parts[1]).astype(amount.dtype)
        count = len(points)
        start = np.append(points[:1], points)
        scale = np.concatenate([[0], known_slopes(points, np.arange(count)), [0]]).astype(points.dtype)
        flat, piece, weight = (np.reshape(x, -1) for x in (positions, pieces, amount))
        total, shared = np.zeros((2, count + 1))
        room = np.empty((2, BLOCK), points.dtype)
        for first in range(0, len(flat), BLOCK):
            here, value = piece[first : first + BLOCK], weight[first : first + BLOCK]
            share, other = room[:, : len(here)]
            np.clip(flat[first : first + BLOCK], points[0], points[-1], out=share)
            np.take(start, here, mode="clip", out=other)
            np.subtract(share, other, out=share)
            np.take(scale, here, mode="clip", out=other)
            np.multiply(share, other, out=share)
            np.multiply(share, value, out=share)
            add_counts(total, here, value, count + 1)
            add_counts(shared, here, share, count + 1)
        # A piece gives to the point before it what it does not give to the one after.
        out = (total - shared)[1:]
        out[0] += total[0]
        out[1:] += shared[1:-1]
        return out.astype(amount.dtype)

    def expansion(self, *inputs: Array) -> Array | None:
        values, positions, pieces, points = inputs
        if aval(positions).size >= LONG:
            return None
        before, after, at, start, end = beside(positions, pieces, points)
        share = mul(values, slopes_of(sub(at, start), sub(end, start)))
        zeros = broadcast(aval(values).dtype.type(0), shape_of(points), ())
        spread = Scatter("add", (0,), False)
        return spread.bind(spread.bind(zeros, sub(values, share), before), share, after)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        values, positions, pieces, points = primals
        values_dot, x_dot, _, points_dot = tangents
        out = self.bind(*primals)
        total = None if values_dot is None else self.bind(values_dot, *primals[1:])
        moved = x_dot
        if points_dot is not None:
            moved = added(moved, neg(BrokenLine().bind(positions, pieces, points, points_dot)))
        if moved is not None:
            total = added(total, turned(mul(values, moved), pieces, points))
        return out, total

    def linear_in(self, flags: Flags) -> bool:
        return flags == (True, False, False, False)

    def transpose(self, cotangent: Array, *inputs: Array) -> tuple[Any, ...]:
        return BrokenLine().bind(*inputs[1:], cotangent), None, None, None

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        *parts, points = with_batch_axis(size, inputs, batched)
        values, positions, pieces = (reshape(x, (size, math.prod(shape_of(x)[1:]))) for x in parts)
        return spread_of_rows(values, positions, pieces, points), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        points, pieces = fixed_real(-1.0, 0.5, 2.0, 2.5), fixed(np.array([0, 1, 2, 3, 4, 2]))
        at = fixed_real(-2.0, 0.1, 0.7, 2.1, 3.0, 1.9)
        return (
            Sample(normal(6), at, pieces, points),
            Sample(normal(2, 3), real_part(uniform(0.6, 1.9, 2, 3)), fixed(np.full((2, 3), 2)), points),
            Sample(normal(), real_part(uniform(0.6, 1.9)), fixed(np.array(2)), points),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        x, two, piece = real_part(normal(3)), real_part(normal(2)), integers(0, 2, 3)
        return (
            ErrorSample(normal(2), x, piece, two, words="differ in shape", error=ShapeError),
            ErrorSample(integers(0, 2, 3), x, piece, two, words="must be cast", error=DtypeError),
        )


# -- parts --------------------------------------------------------------------------------------------------


def beside_infinities(at: Array, pieces: Array, points: Array, heights: Array) -> Array:
    """`between` of arrays, for the few positions where a height or a point that is infinite needs it."""
    last = len(points) - 1
    before, after = np.clip(pieces - 1, 0, last), np.clip(pieces, 0, last)
    at = np.clip(at, points[0], points[-1])
    base, top = heights[before], heights[after]
    run = points[after] - points[before]
    slope = np.where(run == 0, 0, (top - base) / np.where(run == 0, 1, run))
    back = top + slope * (at - points[after])
    level = np.where((base == top) & ~np.isnan(at), base, back)
    return np.where(at == points[before], base, np.where(np.isnan(back), level, back))


def add_counts(total: Array, piece: Array, value: Array, count: int) -> None:
    """Add each value to the total of its piece; many totals are not gone through for every block."""
    if count < BLOCK:
        total += np.bincount(piece, value, count)
    else:
        np.add.at(total, piece, value)


def turned(values: Array, pieces: Array, points: Array) -> Array:
    """The transpose of `slopes_at` by the heights: from each piece to its two points, with opposite signs."""
    count = shape_of(points)[0]
    zeros = broadcast(aval(values).dtype.type(0), (count + 1,), ())
    found = Gather((0,)).transpose_into(zeros, values, zeros, pieces)
    run = sub(take_span(points, 0, 1, count - 1), take_span(points, 0, 0, count - 1))
    level = equal(run, 0.0)
    per_piece = where(level, 0.0, div(take_span(found, 0, 1, count - 1), where(level, 1.0, run)))
    end = np.zeros(1, aval(per_piece).dtype)
    return sub(concatenate([end, per_piece], 0), concatenate([per_piece, end], 0))


def with_batch_axis(size: int, inputs: Sequence[Any], batched: Flags) -> list[Any]:
    """The inputs, all of them with a batch axis."""
    return [
        x if flag else broadcast(x, (size, *shape_of(x)), tuple(range(1, len(shape_of(x)) + 1)))
        for x, flag in zip(inputs, batched, strict=True)
    ]


def tables_of_rows(points: Array, heights: Array) -> tuple[Any, Any]:
    """Where each piece starts, and its slope, for every row of points."""
    size, count = shape_of(points)
    run = sub(take_span(points, 1, 1, count - 1), take_span(points, 1, 0, count - 1))
    rise = sub(take_span(heights, 1, 1, count - 1), take_span(heights, 1, 0, count - 1))
    level = equal(run, 0.0)
    end = np.zeros((size, 1), aval(heights).dtype)
    slopes = cast(where(level, 0.0, div(rise, where(level, 1.0, run))), end.dtype)
    starts = concatenate([take_span(points, 1, 0, 1), points], 1)
    return starts, concatenate([end, slopes, end], 1)


def within(positions: Array, points: Array) -> Array:
    """Each position between the first of the points and the last, row by row."""
    shape, count = shape_of(positions), shape_of(points)[1]
    low, high = (broadcast(take_axis(points, 1, k), shape, (0,)) for k in (0, count - 1))
    return clip(positions, low, high)


def heights_of_rows(positions: Array, pieces: Array, points: Array, heights: Array) -> Array:
    """`BrokenLine` where every row has points and heights of its own."""
    take, last = TakeAlongAxis(1, False), shape_of(points)[1] - 1
    places = maximum(minimum(sub(pieces, 1), last), 0), maximum(minimum(pieces, last), 0)
    ends = [take.bind(table, place) for table in (points, heights) for place in places]
    return between(within(positions, points), *ends)


def spread_of_rows(values: Array, positions: Array, pieces: Array, points: Array) -> Array:
    """`SpreadOnLine` where every row has points of its own."""
    size, count = shape_of(points)
    places = np.arange(count, dtype=aval(points).dtype)
    starts, scales = tables_of_rows(points, broadcast(places, (size, count), (1,)))
    take = TakeAlongAxis(1, False)
    distance = sub(within(positions, points), take.bind(starts, pieces))
    share = mul(distance, take.bind(scales, pieces))
    zeros = broadcast(aval(values).dtype.type(0), (size, count + 1), ())
    spread = AddAlongAxis(1, False)
    total, shared = (spread.bind(zeros, x, pieces) for x in (values, mul(values, share)))
    before = take_span(sub(total, shared), 1, 1, count)
    after = concatenate([take_span(total, 1, 0, 1), take_span(shared, 1, 1, count - 1)], 1)
    return add(before, after)


def fixed_real(*values: float) -> Callable[..., Any]:
    """These numbers, in the real dtype of the same precision as the sample's."""

    def draw_real(rng: np.random.Generator, dtype: np.dtype[Any]) -> Array:
        return np.array(values, np.zeros((), dtype).real.dtype)

    return draw_real
