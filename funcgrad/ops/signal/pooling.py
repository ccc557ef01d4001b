"""Where in every window the largest element is. Constant as far as derivatives go: reading there is not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.slicing import Pad, Slice
from funcgrad.ops.arrays.structure import broadcast, cast, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import add
from funcgrad.ops.elementwise.comparison import greater, isnan
from funcgrad.ops.elementwise.logic import logical_and, logical_not, logical_or
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.signal.convolution_plan import Geometry, Ints, Pairs, dilated
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.tracing.samples import ErrorSample, Sample, distinct, edge, integers
from funcgrad.types import Array

MOST_COMPARED = 32
"""Places along the sides of a window, together, up to which kernels compare them one by one."""

MOST_AT_ONCE = 9
"""Places of a window up to which, with channels that come last, they are compared in one loop."""


class WindowArgMax(Primitive):
    """For every window, the position of its first largest element.

    Windows lie over the last axes but for the `trailing` ones (channels, which so stay neighbours in memory).
    Positions count the elements of these axes in row-major order. The first NaN counts as largest. Padding is
    never chosen; a window of nothing else is refused.
    """

    name = "window_argmax"
    parameters = ("window", "strides", "padding", "dilation", "trailing")
    kinds: ClassVar[str] = "f"
    window: Ints
    strides: Ints
    padding: Pairs
    dilation: Ints
    trailing: int

    def split(self, shape: Ints) -> tuple[Ints, Ints, Ints]:
        """The sizes of the axes before the windows', of theirs, and of those after them."""
        stop = len(shape) - self.trailing
        start = stop - len(self.window)
        return shape[:start], shape[start:stop], shape[stop:]

    @property
    def geometry(self) -> Geometry:
        """The parameters as those of a convolution."""
        return Geometry(self.strides, self.padding, (1,) * len(self.strides), self.dilation)

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        ndim = len(self.window)
        if x.ndim < ndim + self.trailing or any(len(entry) != ndim for entry in self.geometry):
            raise ShapeError(f"{self.name} of {x}: a window {self.window} and its parameters do not fit")
        before, sizes, after = self.split(x.shape)
        positions = self.geometry.positions(sizes, self.window)
        for a, (n, count) in enumerate(zip(sizes, positions, strict=True)):
            if any(not len(inside(self, a, i, n)) for i in (0, count - 1)[: count or 0]):
                raise ShapeError(f"{self.name} of {x}: a window of {self.window} lies in the padding alone")
        return Aval((*before, *positions, *after), np.dtype(np.intp))

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        return float(outputs[0].size * math.prod(self.window))

    def evaluate(self, *values: Array) -> Array:
        (x,) = values
        before, sizes, after = self.split(x.shape)
        counts = self.geometry.positions(sizes, self.window)
        whole = (slice(None),) * self.trailing
        # The place in the window comes first: small numbers, in the order in memory that the input has.
        shape = (*before, *counts, *after)
        best = np.full_like(x, lowest(x.dtype), shape=shape)
        place = np.zeros_like(x, np.uint8 if math.prod(self.window) <= 256 else np.intp, shape=shape)
        if any(low > 0 for low, _ in self.padding):
            place[...] = self.over_trailing(first_places(self, counts))
        has_nan = x.dtype.kind == "f" and bool(np.isnan(x).any())
        for k, offset in enumerate(product(*[range(n) for n in self.window])):
            read, written = slices(self, offset, sizes, counts)
            there: tuple[Any, ...] = (..., *written, *whole)
            part, held, chosen = x[(..., *read, *whole)], best[there], place[there]
            better = part > held
            if has_nan:
                better |= np.isnan(part) & ~np.isnan(held)
            np.maximum(held, part, out=held)
            # Places ascend, so the larger number is the later one, and no branch is needed.
            np.maximum(chosen, np.multiply(better, k, dtype=place.dtype), out=chosen)
        begins, steps = self.begins_and_steps(sizes, counts)
        out = steps.reshape(-1)[place]
        out += self.over_trailing(begins)
        return out

    def over_trailing(self, array: Array) -> Array:
        """What there is for each window, as many axes further in front."""
        return array.reshape(array.shape + (1,) * self.trailing)

    def expansion(self, *inputs: Array) -> Array | None:
        """Places compared one after the other along one axis at a time, the last first.

        So as many comparisons are made as the sides of a window are long together, and those along the last
        axis run over neighbours in memory. Where channels are the neighbours, the places of small windows are
        compared in one go, and nothing is stored in between. None for large windows and cropped inputs.
        """
        (x,) = inputs
        shape = shape_of(x)
        _, sizes, _ = self.split(shape)
        counts = self.geometry.positions(sizes, self.window)
        if sum(self.window) > MOST_COMPARED or 0 in shape or any(min(pair) < 0 for pair in self.padding):
            return None
        # Half as wide as positions are, like float32: as many of both are computed at once.
        small = np.dtype(np.int32 if math.prod(sizes) < 2**31 else np.intp)
        padded = any(max(pair) > 0 for pair in self.padding)
        best: Any = self.surrounded(x) if padded else x
        at: Any = None
        ndim = len(sizes)
        steps = [self.dilation[a] * math.prod(sizes[a + 1 :]) for a in range(ndim)]
        first = np.zeros((), np.intp)
        at_once = self.trailing > 0 and math.prod(self.window) <= MOST_AT_ONCE
        for axes in [range(ndim)] if at_once else [range(a, a + 1) for a in reversed(range(ndim))]:
            for axis in reversed(axes):
                first = np.add.outer(first_along(self, axis, counts[axis]) * steps[axis], first)
            begin = first.astype(small) if padded else None
            best, at = self.along(axes, best, at, [small.type(steps[a]) for a in axes], begin)
        begins, _ = self.begins_and_steps(sizes, counts)
        return add(cast(at, np.dtype(np.intp)), self.over_trailing(begins))

    def along(
        self, axes: range, x: Array, at: Array | None, steps: Sequence[Any], begin: Array | None
    ) -> tuple[Any, Any]:
        """The largest elements of windows over these axes, and how far from the windows' begin they stand.

        `at` is how far those of `x` stand along later axes, and `begin` how far the first that is not in the
        padding, if there is any. Of equal elements the one that comes first along these axes is taken, which
        for windows over all axes is the first in row-major order.
        """
        shape = shape_of(x)
        place = len(shape) - self.trailing - len(self.window) + axes.start
        spans = [dilated(self.window[a], self.dilation[a]) for a in axes]
        counts = [
            (n - span) // self.strides[a] + 1 for n, span, a in zip(shape[place:], spans, axes, strict=False)
        ]
        before, after = shape[:place], shape[place + len(axes) :]
        best: Any = None
        found: Any = None
        if begin is not None:
            best = np.asarray(lowest(x.aval.dtype), x.aval.dtype)[()]
            found = broadcast(begin, (*before, *counts, *after), tuple(range(place, place + begin.ndim)))
        for offset in product(*[range(self.window[a]) for a in axes]):
            read = [
                (k * self.dilation[a], n, self.strides[a])
                for k, n, a in zip(offset, counts, axes, strict=True)
            ]
            part_of = Slice((*everything(before), *read, *everything(after)))
            part, there = part_of.get(x), distance(offset, steps)
            if at is not None:
                there = add(part_of.get(at), there) if any(offset) else part_of.get(at)
            if best is None:
                best, found = part, there
                continue
            better = greater(part, best)
            if x.aval.dtype.kind == "f":
                better = logical_or(better, logical_and(isnan(part), logical_not(isnan(best))))
            best, found = where(better, part, best), where(better, there, found)
        if not np.ndim(found):
            found = broadcast(np.asarray(found), shape_of(best), ())
        return best, found

    def surrounded(self, x: Array) -> Array:
        """`x` with padding that is never chosen: no element is below it."""
        before, sizes, after = self.split(shape_of(x))
        index = [(low, n, 1) for n, (low, _) in zip(sizes, self.padding, strict=True)]
        total = tuple([n + low + high for n, (low, high) in zip(sizes, self.padding, strict=True)])
        is_inside = np.zeros(total, bool)
        is_inside[tuple([slice(low, low + n) for low, n, _ in index])] = True
        shape = (*before, *total, *after)
        padded = Pad(shape, (*everything(before), *index, *everything(after))).bind(x)
        axes = tuple(range(len(before), len(before) + len(total)))
        return where(broadcast(is_inside, shape, axes), padded, lowest(x.aval.dtype))

    def begins_and_steps(self, sizes: Ints, counts: Ints) -> tuple[Any, Any]:
        """Where the windows begin, and how far their places lie from there, in the flat input."""
        begins, steps = np.zeros((), np.intp), np.zeros((), np.intp)
        for axis, (n, count) in enumerate(zip(sizes, counts, strict=True)):
            starts = np.arange(count) * self.strides[axis] - self.padding[axis][0]
            begins = np.add.outer(begins * n, starts)
            steps = np.add.outer(steps * n, np.arange(self.window[axis]) * self.dilation[axis])
        return begins, steps

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(*primals), None

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return self.bind(inputs[0]), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        one = {"window": (2,), "strides": (2,), "padding": ((0, 0),), "dilation": (1,), "trailing": 0}
        two = one | {"window": (2, 3), "strides": (1, 2), "padding": ((1, 0), (1, 1)), "dilation": (2, 1)}
        inner = two | {"padding": ((0, 0), (0, 0)), "trailing": 1}
        return (
            Sample(distinct(2, 6), params=one, differentiable=False),
            Sample(distinct(2, 4, 5), params=two, differentiable=False),
            Sample(distinct(2, 4, 5, 3), params=two | {"trailing": 1}, differentiable=False),
            Sample(distinct(4, 5, 3), params=inner, differentiable=False),
            Sample(edge(1.0, 1.0, np.nan, 2.0, -np.inf, -np.inf), params=one, differentiable=False),
            Sample(
                edge(-np.inf, -np.inf, np.nan, 2.0, -np.inf, -np.inf),
                params=one | {"window": (3,), "padding": ((1, 1),)},
                differentiable=False,
            ),
            Sample(integers(0, 3, 7), params=one | {"strides": (3,)}, differentiable=False),
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"window": (2,), "strides": (1,), "padding": ((3, 0),), "dilation": (1,), "trailing": 0}
        return (
            ErrorSample(distinct(5), params=params, words="padding alone", error=ShapeError),
            ErrorSample(distinct(), params=params, words="do not fit", error=ShapeError),
            ErrorSample(distinct(5), params=params | {"trailing": 1}, words="do not fit", error=ShapeError),
        )


def first_places(pooling: WindowArgMax, counts: Ints) -> Array:
    """The first place in every window that is not in the padding."""
    places: Any = 0
    for axis, (count, k) in enumerate(zip(counts, pooling.window, strict=True)):
        places = np.add.outer(np.asarray(places) * k, first_along(pooling, axis, count))
    return places


def distance(offset: Sequence[int], steps: Sequence[Any]) -> Array:
    """How far a place stands from the window's begin, in the type of the steps."""
    return steps[0].dtype.type(sum([k * int(step) for k, step in zip(offset, steps, strict=True)]))


def first_along(pooling: WindowArgMax, axis: int, count: int) -> Array:
    """`first_places` of windows over one axis."""
    starts = np.arange(count) * pooling.strides[axis] - pooling.padding[axis][0]
    return np.where(starts < 0, -(starts // pooling.dilation[axis]), 0)


def lowest(dtype: np.dtype[Any]) -> Array:
    """A number that no element is below."""
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


def inside(pooling: WindowArgMax, axis: int, position: int, n: int) -> range:
    """The elements of an axis, `n` long, that a window at `position` has."""
    start = position * pooling.strides[axis] - pooling.padding[axis][0]
    step = pooling.dilation[axis]
    skipped = max(0, -(start // step)) if start < 0 else 0
    return range(start + skipped * step, min(n, start + (pooling.window[axis] - 1) * step + 1), step)


def slices(
    pooling: WindowArgMax, offset: tuple[int, ...], sizes: Ints, counts: Ints
) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """The elements at one place of all windows, and the positions of the windows that have them."""
    read, written = [], []
    for k, n, count, s, d, (low, _) in zip(
        offset, sizes, counts, pooling.strides, pooling.dilation, pooling.padding, strict=True
    ):
        start = k * d - low
        first = max(0, -(start // s))
        stop = min(count, (n - 1 - start) // s + 1)
        stop = max(first, stop)
        read.append(
            slice(start + first * s, start + (stop - 1) * s + 1 if stop > first else start + first * s, s)
        )
        written.append(slice(first, stop))
    return tuple(read), tuple(written)


def everything(sizes: Ints) -> list[tuple[int, int, int]]:
    """Whole axes as starts, sizes and steps."""
    return [(0, n, 1) for n in sizes]


def flat_windows(x: Array, start: int, ndim: int) -> Array:
    """`x` with `ndim` of its axes, from one on, made one."""
    shape = shape_of(x)
    size = math.prod(shape[start : start + ndim])
    return reshape(x, (*shape[:start], size, *shape[start + ndim :]))
