"""Searching a long array of values in one sorted table, several times faster than `np.searchsorted`.

A binary search of random values mispredicts half of its branches. Here the range of the table is cut into
equal buckets, many for each element: the bucket of a value says where to start, a step ends the search, and
the few values in crowded buckets are searched for as usual. Values go in blocks that stay in the cache.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.types import Array, Option

LONG = 1 << 15
"""From this many values on it pays to sort the table into buckets."""

SHORT_TABLE, LONG_TABLE = 8, 1 << 20
"""Tables with fewer elements are searched fast anyhow; buckets of longer ones leave the cache."""

BUCKETS_PER_ELEMENT = 16
FEWEST_BUCKETS, MOST_BUCKETS = 1 << 8, 1 << 21
BLOCK = 1 << 16
STEPS = 1


def searchsorted(table: Array, values: Array, side: Option) -> Array:
    """``np.searchsorted`` of a vector.

    >>> table, values = np.linspace(0.0, 1.0, 100), np.linspace(-0.1, 1.1, LONG)
    >>> bool(np.all(searchsorted(table, values, "left") == np.searchsorted(table, values)))
    True
    """
    if values.size >= LONG and SHORT_TABLE <= len(table) <= LONG_TABLE and table.dtype in FLOATS:
        low, high = table[0], table[-1]
        if low < high and math.isfinite(low) and math.isfinite(high):
            with np.errstate(over="ignore"):
                wanted = 1 << math.ceil(math.log2(BUCKETS_PER_ELEMENT * len(table)))
                count = min(max(wanted, FEWEST_BUCKETS), MOST_BUCKETS)
                scale = table.dtype.type(count) / (high - low)
            if 0 < scale < math.inf:
                return Buckets(table, scale, count).positions(values, side)
    return np.searchsorted(table, values, side)


FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class Buckets:
    """A sorted table, and for each of equal parts of its range the first element there.

    The bucket of a number grows with the number, rounding and all, so an element of a lower bucket is smaller
    than a value, and one of a higher bucket larger.
    """

    def __init__(self, table: Array, scale: Array, count: int) -> None:
        self.table, self.scale = table, scale
        self.last = table.dtype.type(count - 1)
        found = np.empty(len(table), np.int32)
        self.bucket(table, np.empty_like(table), found)
        self.first = np.searchsorted(found, np.arange(count, dtype=np.int32)).astype(np.int32)
        # Nothing is before NaN: what has come to the end of the table stays there.
        self.ended = np.append(table, table.dtype.type(np.nan))

    def bucket(self, values: Array, scaled: Array, out: Array) -> None:
        """The bucket of each value, none of which is NaN; `scaled` is room for intermediate results."""
        np.subtract(values, self.table[0], out=scaled)
        np.multiply(scaled, self.scale, out=scaled)
        np.clip(scaled, 0, self.last, out=scaled)
        out[...] = scaled

    def positions(self, values: Array, side: str) -> Array:
        """Where the values belong: before equal elements (``left``) or after them (``right``)."""
        flat = np.reshape(values, -1)
        out = np.empty(flat.shape, np.intp)
        room = [np.empty(BLOCK, dtype) for dtype in (self.table.dtype, np.int32, np.bool_)]
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(flat), BLOCK):
                part = flat[start : start + BLOCK]
                self.block(part, out[start : start + BLOCK], [x[: len(part)] for x in room], side)
        return out.reshape(values.shape)

    def block(self, values: Array, out: Array, room: list[Any], side: Option) -> None:
        """The positions of one block of values."""
        element, bucket, is_before = room
        np.not_equal(values, values, out=is_before)
        if is_before.any():
            out[...] = np.searchsorted(self.table, values, side)
            return
        compare = np.less_equal if side == "right" else np.less
        self.bucket(values, element, bucket)
        np.take(self.first, bucket, mode="clip", out=bucket)
        out[...] = bucket
        for step in range(STEPS + 1):
            np.take(self.ended, out, mode="clip", out=element)
            compare(element, values, out=is_before)
            if step < STEPS:
                np.add(out, is_before, out=out)
        late = np.flatnonzero(is_before)
        if len(late):
            out[late] = np.searchsorted(self.table, values[late], side)
