"""Histograms: how often values fall into bins, or the sum of their weights there.

Counts are piecewise constant, so only weights (and, with ``density``, the widths of traced bins) carry
derivatives. How many bins there are must be known; where they are need not be.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.ir.steps import as_source
from funcgrad.numpy.arrays.ranges import linspace
from funcgrad.numpy.arrays.shapes import as_array
from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.picking.sorting import known_value, needed_value
from funcgrad.numpy.reducing.axes import refused
from funcgrad.numpy.reducing.cumulative import diff
from funcgrad.ops.arrays.movement import take_axis
from funcgrad.ops.arrays.sorting import AddAlongAxis, SearchSorted
from funcgrad.ops.arrays.structure import (
    aval,
    broadcast,
    cast,
    primitive_called,
    reduce_sum,
    reshape,
    shape_of,
)
from funcgrad.ops.elementwise.arithmetic import add, div, mul, sub
from funcgrad.ops.elementwise.comparison import equal, greater_equal, less
from funcgrad.ops.elementwise.logic import logical_or
from funcgrad.ops.elementwise.selection import where
from funcgrad.source import user_location
from funcgrad.tracing.recorder import recorder_of
from funcgrad.types import Array, ArrayLike, Arrays

FLOAT = np.dtype(np.float64)


@implements(np.histogram)
def histogram(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: ArrayLike = None,
    density: bool | None = None,
    weights: ArrayLike = None,
) -> Arrays:
    """How many values fall into each bin (or the sum of their weights), and the edges of the bins.

    A bin holds its left edge, and the last one its right edge too. ``density`` divides by the width of the
    bin and the total.

    >>> def peak(weights):
    ...     return fg.numpy.histogram([0.5, 1.5, 1.7], bins=2, range=(0.0, 2.0), weights=weights)[0][1]
    >>> print(fg.grad(peak)(np.ones(3)))
    [0. 1. 1.]
    """
    if untraced(a, bins, range, weights):
        return np.histogram(a, bins, range, density, weights)
    values = flat(a)
    edges = edges_of(values, bins, range, weights, "np.histogram")
    count = shape_of(edges)[0] - 1
    totals = summed_in_slots(slots(values, edges), count, weight_of(weights, values))
    if not density:
        return totals, edges
    return div(totals, mul(diff(edges), reduce_sum(totals, (0,)))), edges


@implements(np.histogram_bin_edges)
def histogram_bin_edges(
    a: ArrayLike, bins: ArrayLike = 10, range: ArrayLike = None, weights: ArrayLike = None
) -> Array:
    """The edges of the bins of a histogram.

    >>> print(fg.numpy.histogram_bin_edges(np.array([1.0, 3.0]), bins=2))
    [1. 2. 3.]
    """
    if untraced(a, bins, range, weights):
        return np.histogram_bin_edges(a, bins, range, weights)
    return edges_of(flat(a), bins, range, weights, "np.histogram_bin_edges")


@implements(np.histogram2d)
def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: ArrayLike = 10,
    range: ArrayLike = None,
    density: bool | None = None,
    weights: ArrayLike = None,
) -> Arrays:
    """How many points of the plane fall into each rectangle, and the edges along both axes.

    >>> counts, _, _ = fg.numpy.histogram2d([0.1, 0.9, 0.8], [0.5, 0.1, 0.2], bins=2)
    >>> print(counts)
    [[0. 1.]
     [2. 0.]]
    """
    if untraced(x, y, bins, range, weights):
        return np.histogram2d(x, y, bins, range, density, weights)
    if shape_of(as_array(x)) != shape_of(as_array(y)):
        raise refused("x and y must have the same length.")
    single = not isinstance(bins, str) and np.ndim(known_shape(bins)) > 0 and len(bins) not in (1, 2)
    counts, edges = histogramdd([x, y], [bins, bins] if single else bins, range, density, weights)
    return counts, edges[0], edges[1]


def known_shape(bins: object) -> Array:
    """Zeros of the shape of the `bins` argument, which may be a list of several lengths or traced."""
    if isinstance(bins, list | tuple):
        return np.zeros(len(bins))
    return np.zeros(shape_of(as_array(bins)))


@implements(np.histogramdd)
def histogramdd(
    sample: ArrayLike,
    bins: ArrayLike = 10,
    range: ArrayLike = None,
    density: bool | None = None,
    weights: ArrayLike = None,
) -> Arrays:
    """How many points (rows of an array, or one vector for each coordinate) fall into each cell of a grid.

    >>> counts, edges = fg.numpy.histogramdd(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.2]]), bins=2)
    >>> print(counts)
    [[0. 1.]
     [2. 0.]]
    """
    if untraced(sample, bins, range, weights):
        return np.histogramdd(sample, bins, range, density, weights)
    columns = coordinates(sample)
    per_axis = list(bins) if isinstance(bins, list | tuple | np.ndarray) else [bins] * len(columns)
    ranges = [None] * len(columns) if range is None else list(range)
    if len(per_axis) != len(columns):
        raise refused("The dimension of bins must be equal to the dimension of the sample x.")
    if len(ranges) != len(columns):
        raise refused("range argument must have one entry per dimension")
    edges = [
        edges_of(x, wanted, span, None, "np.histogramdd")
        for x, wanted, span in zip(columns, per_axis, ranges, strict=True)
    ]
    shape = tuple([shape_of(e)[0] - 1 for e in edges])
    weight = np.float64(1.0) if weights is None else cast(flat(weights), FLOAT)
    totals = reshape(summed_in_slots(cells(columns, edges), int(np.prod(shape)), weight), shape)
    if density:
        for axis, e in enumerate(edges):
            totals = div(totals, broadcast(diff(e), shape, (axis,)))
        totals = div(
            totals, reduce_sum(mul(totals, volumes(edges, shape)), tuple(np.arange(len(shape)).tolist()))
        )
    return totals, edges


def volumes(edges: Sequence[Any], shape: tuple[int, ...]) -> Array:
    """The volume of each cell."""
    product: Any = 1.0
    for axis, e in enumerate(edges):
        product = mul(product, broadcast(diff(e), shape, (axis,)))
    return product


# -- parts --------------------------------------------------------------------------------------------------


def untraced(*arguments: ArrayLike) -> bool:
    """Whether no argument is traced, or holds what is."""
    operands: list[Any] = []
    for x in arguments:
        operands.extend(x if isinstance(x, list | tuple) else [x])
    return recorder_of(operands) is None and all(
        recorder_of(x) is None for x in operands if isinstance(x, list | tuple)
    )


def flat(x: ArrayLike) -> Array:
    """An array as a vector; truth values as numbers."""
    x = as_array(x)
    if aval(x).dtype.kind == "b":
        x = cast(x, np.uint8)
    return reshape(x, (aval(x).size,))


def coordinates(sample: ArrayLike) -> list[Any]:
    """The coordinates of points: columns of an array, or the vectors that are given."""
    if isinstance(sample, list | tuple):
        return [flat(x) for x in sample]
    x = as_array(sample)
    if len(shape_of(x)) == 1:
        return [x]
    return [take_axis(x, 1, k) for k in np.arange(shape_of(x)[1]).tolist()]


def edges_of(values: ArrayLike, bins: ArrayLike, range: ArrayLike, weights: ArrayLike, name: str) -> Array:
    """The edges of the bins: those given, or equally spaced ones over the range or over all values."""
    if aval(values).dtype.kind == "c":
        raise DtypeError(f"{name} of complex values", source=as_source(user_location()))
    if isinstance(bins, str):
        if weights is not None:
            raise refused("Automated estimation of the number of bins is not supported for weighted data")
        return np.histogram_bin_edges(needed_value(values, f"{name} with bins={bins!r}"), bins, range)
    given = as_array(bins)
    if len(shape_of(given)) == 1:
        known = known_value(given)
        if known is not None and np.any(known[:-1] > known[1:]):
            raise refused("`bins` must increase monotonically, when an array")
        return given
    if len(shape_of(given)) > 1:
        raise refused("`bins` must be 1d, when an array")
    count = operator.index(bins)
    if count < 1:
        raise refused("`bins` must be positive, when an integer")
    low, high = ends_of(values, range)
    return linspace(low, high, count + 1)


def ends_of(values: ArrayLike, range: ArrayLike) -> tuple[Any, Any]:
    """The first and the last edge; half a unit to both sides of a single value."""
    if range is not None:
        low, high = range
        known = [known_value(as_array(x)) for x in (low, high)]
        if all(x is not None for x in known):
            if known[0] > known[1]:
                raise refused("max must be larger than min in range parameter.")
            if not np.all(np.isfinite(known)):
                raise refused(f"supplied range of [{known[0]}, {known[1]}] is not finite")
    elif not aval(values).size:
        low, high = 0.0, 1.0
    else:
        low, high = [primitive_called(f"reduce_{which}", (0,)).bind(values) for which in ("min", "max")]
    low, high = mul(low, 1.0), mul(high, 1.0)
    alone = equal(low, high)
    return where(alone, sub(low, 0.5), low), where(alone, add(high, 0.5), high)


def slots(values: ArrayLike, edges: ArrayLike) -> Array:
    """The number of the bin of each value; for those in none the number of bins."""
    count = shape_of(edges)[0] - 1
    dtype = np.promote_types(aval(values).dtype, aval(edges).dtype)
    values, edges = cast(values, dtype), cast(edges, dtype)
    slot = sub(SearchSorted("right").bind(edges, values), 1)
    slot = where(equal(values, take_axis(edges, 0, count)), count - 1, slot)
    # NaN and what lies beyond the last edge are searched for in vain, and get this number already.
    return where(logical_or(less(slot, 0), greater_equal(slot, count)), count, slot)


def cells(columns: Sequence[Any], edges: Sequence[Any]) -> Array:
    """The number of the cell of each point in row-major order; for those in none the number of cells."""
    cell: Any = None
    outside: Any = None
    total = 1
    for x, e in zip(columns, edges, strict=True):
        count = shape_of(e)[0] - 1
        slot = slots(x, e)
        missed = equal(slot, count)
        cell = slot if cell is None else add(mul(cell, count), slot)
        outside = missed if outside is None else logical_or(outside, missed)
        total *= count
    return where(outside, total, cell)


def weight_of(weights: ArrayLike, values: ArrayLike) -> Array:
    """The weights of the values, the number 1 where none are given."""
    if weights is None:
        return np.intp(1)
    found = flat(weights)
    if shape_of(found) != shape_of(values):
        raise refused("weights should have the same shape as a.")
    return found


def summed_in_slots(slot: ArrayLike, count: int, weight: ArrayLike) -> Array:
    """The sum of the weights in each slot but the one beyond the last."""
    dtype = aval(weight).dtype
    weights = weight if shape_of(weight) else broadcast(weight, shape_of(slot), ())
    totals = AddAlongAxis(0, False).bind(np.zeros(count + 1, dtype), weights, slot)
    return totals[:count]
