"""`pad`: an array with something around it, in NumPy's modes.

Modes that repeat elements read them by position; modes that compute what stands outside (ramps, means,
extremes) do so from a part along one axis after the other, as NumPy does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.numpy.arrays.joining import concatenate
from funcgrad.numpy.arrays.movement import take_along
from funcgrad.numpy.arrays.ranges import linspace
from funcgrad.numpy.arrays.shapes import as_array
from funcgrad.numpy.arrays.views import flip
from funcgrad.numpy.dispatch import implements
from funcgrad.ops.arrays.movement import take_axis, take_span
from funcgrad.ops.arrays.slicing import Pad
from funcgrad.ops.arrays.structure import aval, broadcast_to, cast, shape_of
from funcgrad.ops.elementwise.arithmetic import mul, sub
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Option

__all__ = ["pad"]

Width = tuple[int, int]


@implements(np.pad)
def pad(array: ArrayLike, pad_width: ArrayLike, mode: object = "constant", **kwargs: object) -> Array:
    """An array with `pad_width` elements before and after it along each axis.

    Modes: ``constant``, ``edge``, ``reflect``, ``symmetric``, ``wrap``, ``linear_ramp``, ``maximum``,
    ``minimum``, ``mean``, ``median``, ``empty``, with NumPy's options; or a function that writes.

    >>> print(fg.numpy.pad([1.0, 2.0, 3.0], 1, mode="reflect"))
    [2. 1. 2. 3. 2.]
    """
    x = as_array(array)
    widths = pairs_of(pad_width, len(shape_of(x)), "pad_width")
    if any(width < 0 for pair in widths for width in pair):
        raise ValueError("index can't contain negative values")
    options = dict(kwargs)
    found = padded(x, widths, mode, options)
    if options:
        raise ValueError(f"unsupported keyword arguments for mode {mode!r}: {set(options)}")
    return found.copy() if found is x else found


def padded(x: ArrayLike, widths: list[Width], mode: object, options: dict[str, Any]) -> Array:
    """The padded array; options that the mode knows are taken out of `options`."""
    ndim = len(shape_of(x))
    if mode in ("constant", "empty"):
        values = values_of(options.pop("constant_values", 0) if mode == "constant" else 0, ndim)
        return with_constants(x, widths, values)
    if mode in ("edge", "wrap") or (
        mode in ("reflect", "symmetric") and options.pop("reflect_type", "even") == "even"
    ):
        return with_elements(x, widths, mode)
    if mode in ("reflect", "symmetric"):
        return with_odd_reflections(x, widths, mode)
    if mode == "linear_ramp":
        return with_ramps(x, widths, values_of(options.pop("end_values", 0), ndim))
    if mode in STATISTICS:
        lengths = options.pop("stat_length", None)
        sizes = [(None, None)] * ndim if lengths is None else pairs_of(lengths, ndim, "stat_length")
        return with_statistics(x, widths, STATISTICS[mode], sizes)
    if callable(mode):
        given = dict(options)
        options.clear()
        return with_function(x, widths, mode, given)
    raise ValueError(f"mode '{mode}' is not supported")


def pairs_of(given: object, ndim: int, what: str) -> list[Any]:
    """An option as one (before, after) pair of ints for each axis."""
    if isinstance(given, dict):
        axes = {axis % ndim: np.broadcast_to(pair, (2,)) for axis, pair in given.items()}
        return [tuple(map(int, axes.get(k, (0, 0)))) for k in range(ndim)]
    numbers = np.asarray(given)
    if numbers.dtype.kind not in "iu":
        raise TypeError(f"`{what}` must be of integral type.")
    return [tuple(map(int, pair)) for pair in np.broadcast_to(numbers, (ndim, 2))]


def values_of(given: object, ndim: int) -> list[tuple[Any, Any]]:
    """An option as one (before, after) pair of scalars for each axis; the scalars may be traced."""
    values = as_array(given)
    if not shape_of(values):
        return [(values, values)] * ndim
    full = broadcast_to(values, (ndim, 2))
    return [(full[k, 0], full[k, 1]) for k in range(ndim)]


def with_constants(x: ArrayLike, widths: list[Width], values: list[tuple[Any, Any]]) -> Array:
    """One axis after the other, so that later axes own the corners."""
    for axis, (width, pair) in enumerate(zip(widths, values, strict=True)):
        if not any(width):
            continue
        shape = list(shape_of(x))
        spans = [(0, n, 1) for n in shape]
        spans[axis] = (width[0], shape[axis], 1) if shape[axis] else (0, 0, 1)
        shape[axis] += sum(width)
        if all(type(v) is not Tracer and not np.any(v) for v in pair):
            x = Pad(tuple(shape), tuple(spans)).bind(x)
            continue
        dtype = aval(x).dtype
        sides = [
            broadcast_to(cast(value, dtype), (*shape[:axis], size, *shape[axis + 1 :]))
            for value, size in zip(pair, width, strict=True)
        ]
        x = concatenate([sides[0], x, sides[1]], axis)
    return x


def with_elements(x: ArrayLike, widths: list[Width], mode: Option) -> Array:
    """What NumPy does with positions, done with the elements there."""
    for axis, width in enumerate(widths):
        if any(width):
            x = take_along(x, np.pad(np.arange(shape_of(x)[axis]), width, mode=mode), axis)
    return x


def with_odd_reflections(x: ArrayLike, widths: list[Width], mode: str) -> Array:
    """Reflected through the edges: outside stands twice the edge less the element reflected."""
    for axis, width in enumerate(widths):
        n = shape_of(x)[axis]
        if n == 1:
            x = with_elements(x, [width if k == axis else (0, 0) for k in range(len(widths))], "edge")
            continue
        left, right = width
        while left or right:
            x, done = reflected_once(x, axis, (left, right), n, mode)
            left, right = left - done[0], right - done[1]
    return x


def reflected_once(x: ArrayLike, axis: int, width: Width, n: int, mode: str) -> tuple[Any, Width]:
    """`x` with as much on both sides as one reflection gives, in whole periods of the original length `n`."""
    length = shape_of(x)[axis]
    skip = 1 if mode == "reflect" else 0  # whether the edge itself is not repeated
    period = n - skip
    most = (length - skip) // period * period
    counts = min(most, width[0]), min(most, width[1])
    edges = take_span(x, axis, 0, 1), take_span(x, axis, length - 1, 1)
    parts = [x]
    if counts[0]:
        mirrored = take_span(x, axis, counts[0] + skip - 1, counts[0], -1)
        parts.insert(0, sub(mul(edges[0], 2), mirrored))
    if counts[1]:
        mirrored = take_span(x, axis, length - 1 - skip, counts[1], -1)
        parts.append(sub(mul(edges[1], 2), mirrored))
    return concatenate(parts, axis), counts


def with_ramps(x: ArrayLike, widths: list[Width], values: list[tuple[Any, Any]]) -> Array:
    """From the edge in equal steps to a value at the far end."""
    for axis, (width, pair) in enumerate(zip(widths, values, strict=True)):
        n = shape_of(x)[axis]
        sides = []
        for count, end, at in zip(width, pair, (0, n - 1), strict=True):
            edge = take_axis(x, axis, at)
            sides.append(linspace(end, edge, count, endpoint=False, dtype=aval(x).dtype, axis=axis))
        x = concatenate([sides[0], x, flip(sides[1], axis)], axis)
    return x


def with_function(
    x: ArrayLike, widths: list[Width], function: Callable[..., Any], options: dict[str, Any]
) -> Array:
    """What the user's function writes outside: it is given each line along each axis, zeros around it."""
    zeros = values_of(0, len(widths))
    padded = with_constants(x, widths, zeros).copy()
    for axis, width in enumerate(widths):
        shape = shape_of(padded)
        for at in np.ndindex(*shape[:axis], *shape[axis + 1 :]):
            function(padded[(*at[:axis], slice(None), *at[axis:])], width, axis, options)
    return padded


STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": np.max,
    "minimum": np.min,
    "mean": np.mean,
    "median": np.median,
}


def with_statistics(
    x: ArrayLike, widths: list[Width], statistic: Callable[..., Any], lengths: list[Any]
) -> Array:
    """A statistic of the elements near the edge, or of all of them."""
    dtype = aval(x).dtype
    for axis, (width, near) in enumerate(zip(widths, lengths, strict=True)):
        shape = shape_of(x)
        n = shape[axis]
        counts = [n if length is None else min(length, n) for length in near]
        sides = []
        for count, start, size in zip(counts, (0, n - counts[1]), width, strict=True):
            found = statistic(take_span(x, axis, start, count), axis=axis, keepdims=True)
            if dtype.kind in "iu" and aval(found).dtype.kind == "f":
                found = np.round(found)
            sides.append(broadcast_to(cast(found, dtype), (*shape[:axis], size, *shape[axis + 1 :])))
        x = concatenate([sides[0], x, sides[1]], axis)
    return x
