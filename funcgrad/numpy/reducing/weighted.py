"""Quantiles of weighted samples, by the one method that knows weights: the inverted distribution function.

A quantile is the first element up to which the weights reach its share of them all. So it moves with that
element, and not with the weights.
"""

from __future__ import annotations

import math

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.ir.steps import as_source
from funcgrad.numpy.picking.sorting import known_value
from funcgrad.numpy.reducing.axes import Axes, existing_axes, refused
from funcgrad.ops.arrays.movement import take_axis
from funcgrad.ops.arrays.sorting import ArgSort, SearchSorted, TakeAlongAxis
from funcgrad.ops.arrays.structure import aval, broadcast, cast, move_axis, permute, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import div
from funcgrad.ops.elementwise.comparison import equal, isnan
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.reducing.cumulative import CumSum
from funcgrad.ops.reducing.extremes import minimum
from funcgrad.source import user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, AxisLike

FLOAT = np.dtype(np.float64)


def weighted_quantile(
    x: ArrayLike,
    q: ArrayLike,
    axis: AxisLike,
    method: str,
    keepdims: bool,
    weights: ArrayLike,
    *,
    skip_nan: bool,
) -> Array:
    """The quantiles of levels `q` over `axis`, those of several levels along new first axes."""
    if method != "inverted_cdf":
        raise refused(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    shape = shape_of(x)
    axes = existing_axes(axis, len(shape))
    if 0 in [shape[a] for a in axes]:
        raise refused(f"no quantile of no elements: {aval(x)}")
    values, shares = (rows_of(part, axes) for part in (x, fitting(weights, x, axis, axes)))
    if skip_nan and aval(values).inexact:
        shares = where(isnan(values), 0.0, shares)
    order = ArgSort(1).bind(values)
    take = TakeAlongAxis(1, True)
    values, shares = take.bind(values, order), take.bind(shares, order)
    rows, count = shape_of(values)
    reached = CumSum(1, False).bind(shares)
    whole = take_axis(reached, 1, count - 1)
    none = equal(whole, 0.0)
    reached = div(reached, broadcast(where(none, 1.0, whole), (rows, count), (0,)))
    # An element before which there is no weight, and which has none, is no quantile of level 0.
    reached = where(equal(reached, 0.0), -1.0, reached)
    levels = reshape(cast(q, FLOAT), (aval(q).size,))
    wanted = broadcast(levels, (rows, aval(q).size), (1,))
    place = minimum(SearchSorted("left").bind(reached, wanted), count - 1)
    found = TakeAlongAxis(1, False).bind(values, place)
    if aval(values).inexact and not skip_nan:
        last = take_axis(values, 1, count - 1)
        found = where(broadcast(isnan(last), shape_of(found), (0,)), np.nan, found)
    rest = tuple([1 if a in axes else n for a, n in enumerate(shape) if keepdims or a not in axes])
    return reshape(move_axis(found, 1, 0), (*shape_of(q), *rest))


def rows_of(x: ArrayLike, axes: Axes) -> Array:
    """The elements over `axes` together as rows, one for each place in the other axes."""
    shape = shape_of(x)
    rest = [a for a in range(len(shape)) if a not in axes]
    count = math.prod([shape[a] for a in rest])
    return reshape(permute(x, (*rest, *axes)), (count, math.prod([shape[a] for a in axes])))


def fitting(weights: ArrayLike, x: ArrayLike, axis: AxisLike, axes: Axes) -> Array:
    """The weights in the shape of the sample; raises for others, and for negative ones that are known."""
    found = cast(asoperand(weights), FLOAT)
    known = known_value(found)
    if known is not None and np.any(known < 0):
        raise refused("Weights must be non-negative.")
    shape = shape_of(x)
    if shape_of(found) == shape:
        return found
    if axis is None:
        raise WeightsError(
            "Axis must be specified when shapes of a and weights differ.", source=as_source(user_location())
        )
    if shape_of(found) != tuple([shape[a] for a in axes]):
        raise refused("Shape of weights must be consistent with shape of a along specified axis.")
    return broadcast(found, shape, axes)


class WeightsError(ShapeError, TypeError):
    """Raised for weights of another shape than the sample without an axis."""
