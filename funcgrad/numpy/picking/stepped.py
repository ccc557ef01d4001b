"""Slices with traced bounds, as NumPy counts them: bounds from the end, and steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.ops.arrays.windows import has_traced_bounds, interval_of, note_interval
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything


def bound_of(x: Anything, n: int) -> Anything:
    """A bound of a slice of an axis of size n, counted from its start, as NumPy counts negative ones."""
    low, high = interval_of(x)
    if high < 0:
        x, low, high = x + n, low + n, high + n
    elif low < 0:
        x, low, high = np.where(x < 0, x + n, x), min(low + n, 0), max(high, n - 1)
    if low < 0:
        x, low = np.maximum(x, 0), 0
    if type(x) is Tracer and interval_of(x) != (low, high):
        note_interval(x, (low, high))
    return x


def without_step(x: Anything, items: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """An array and an index without the step that a slice of a traced length has: ``x[::2][:m]``.

    They are as given where no slice has one, or it starts at a traced place and the step is not -1.
    """
    for axis, item in enumerate(items):
        if not (isinstance(item, slice) and has_traced_bounds(item) and type(item.step) is int):
            continue
        n = x.aval.shape[axis]
        found = reversed_slice(item, n) if item.step == -1 else counted_slice(item, n)
        if found is not None:
            shown, part = found
            before = (slice(None),) * axis
            return without_step(x[(*before, shown)], (*items[:axis], part, *items[axis + 1 :]))
    return x, items


def counted_slice(item: slice, n: int) -> tuple[slice, slice] | None:
    """A slice with a step above 1, from a known place on: the elements at that step, and how many of them."""
    if item.step < 2 or not (item.start is None or type(item.start) is int):
        return None
    start = slice(item.start, None).indices(n)[0]
    stop = bound_of(item.stop, n)
    number = np.maximum(stop - start + (item.step - 1), 0) // item.step
    low, high = (max(x - start + item.step - 1, 0) // item.step for x in interval_of(stop))
    if type(number) is Tracer:
        note_interval(number, (low, high))
    return slice(start, None, item.step), slice(None, number)


def reversed_slice(item: slice, n: int) -> tuple[slice, slice] | None:
    """A slice with the step -1, between places of the array: the array in reverse, and a part of that."""
    ends: list[Any] = []
    for bound in (item.start, item.stop):
        low, high = (0, 0) if bound is None else interval_of(bound)
        if low < 0 or high >= n:
            return None
        ends.append(None if bound is None else n - 1 - bound)
    return slice(None, None, -1), slice(*ends)
