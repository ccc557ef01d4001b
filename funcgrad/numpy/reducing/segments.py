"""Reductions of rows by the number of the segment that they belong to, as ``jax.ops.segment_sum``."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.ops.arrays.indexing import Scatter
from funcgrad.ops.arrays.structure import aval, shape_of
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike


def segments_of(segment_ids: ArrayLike, num_segments: int | None) -> tuple[Any, int]:
    """The numbers of segments, and how many there are: one more than the largest, if that is known."""
    numbers = asoperand(segment_ids)
    if num_segments is None:
        num_segments = int(np.max(numbers)) + 1
    return numbers, num_segments


def reduced(
    mode: str, start: ArrayLike, data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None
) -> Array:
    """The rows of each segment, combined; rows of a negative number, or of one too large, are left out."""
    x = asoperand(data)
    numbers, count = segments_of(segment_ids, num_segments)
    # One segment more takes what belongs to none.
    numbers = np.where((numbers >= 0) & (numbers < count), numbers, count)
    shape = (count + 1, *shape_of(x)[1:])
    out = np.full(shape, start, aval(x).dtype)
    return Scatter(mode, (0,), False).bind(out, x, numbers)[:count]


def segment_sum(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
) -> Array:
    """The sum of the rows of each segment.

    >>> print(fg.segment_sum(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 0]), 2))
    [4. 2.]
    """
    return reduced("add", 0, data, segment_ids, num_segments)


def segment_prod(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
) -> Array:
    """The product of the rows of each segment, 1 where there are none.

    >>> print(fg.segment_prod(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 0]), 2))
    [3. 2.]
    """
    return reduced("mul", 1, data, segment_ids, num_segments)


def segment_max(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
) -> Array:
    """The largest elements of each segment, minus infinity where there are none.

    >>> print(fg.segment_max(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 0]), 2))
    [3. 2.]
    """
    return reduced("max", lowest(data), data, segment_ids, num_segments)


def segment_min(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
) -> Array:
    """The smallest elements of each segment, infinity where there are none.

    >>> print(fg.segment_min(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 0]), 2))
    [1. 2.]
    """
    return reduced("min", highest(data), data, segment_ids, num_segments)


def lowest(data: ArrayLike) -> Array:
    """What is below all numbers of the dtype, or the smallest of them."""
    dtype = aval(asoperand(data)).dtype
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def highest(data: ArrayLike) -> Array:
    """What is above all numbers of the dtype, or the largest of them."""
    dtype = aval(asoperand(data)).dtype
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max
