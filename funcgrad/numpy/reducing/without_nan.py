"""Reductions of what is not NaN: NaN counts for nothing, in derivatives too.

Where there is nothing but NaN, sums are 0 and products 1, and everything else is NaN; but the position of an
extreme of nothing is -1, where NumPy raises.
"""

from __future__ import annotations

import numpy as np

from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.elementwise.selection import limits_of
from funcgrad.numpy.reducing.axes import (
    given,
    is_given,
    mask_for,
    normalized_axes,
    stored,
    traced,
    with_kept_axes,
)
from funcgrad.numpy.reducing.cumulative import accumulated
from funcgrad.numpy.reducing.reductions import (
    ALL,
    FMAX,
    FMIN,
    PROD,
    SUM,
    Rule,
    position_of_extreme,
    reduced,
    reduced_with_options,
)
from funcgrad.numpy.reducing.statistics import freedom, mean_of, squared_size, variance_of
from funcgrad.ops.arrays.structure import aval, broadcast, broadcast_to, cast, shape_of
from funcgrad.ops.elementwise.arithmetic import div, sub
from funcgrad.ops.elementwise.comparison import isnan, less_equal
from funcgrad.ops.elementwise.logic import logical_and, logical_not
from funcgrad.ops.elementwise.selection import where as select
from funcgrad.ops.reducing import cumulative
from funcgrad.ops.reducing import reductions as ops
from funcgrad.ops.reducing.norms import root_of_squares
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, AxisLike, DTypeLike

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def replaced(x: ArrayLike, value: ArrayLike) -> Array:
    """`x` with a number in place of NaN."""
    return select(isnan(x), aval(x).dtype.type(value), x) if aval(x).inexact else x


def counted(x: ArrayLike, where: ArrayLike) -> Array:
    """Which elements count: those that are not NaN, and among them those of the mask."""
    numbers = logical_not(isnan(x))
    if where is True:
        return numbers
    return logical_and(numbers, broadcast_to(mask_for(where, shape_of(x)), shape_of(x)))


# -- sums and products --------------------------------------------------------------------------------------


@implements(np.nansum)
def nansum(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Array = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Array:
    """The sum over `axis` of what is not NaN.

    >>> print(fg.grad(fg.numpy.nansum)(np.array([1.0, np.nan])))
    [1. 0.]
    """
    x = traced(a, out, initial, where)
    if x is None:
        return np.nansum(a, axis, dtype, out, keepdims, where=where, **given(initial=initial))
    found = reduced_with_options(SUM, replaced(x, 0), axis, dtype, keepdims, initial, where)
    return stored(found, out, "np.nansum")


@implements(np.nanprod)
def nanprod(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Array = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Array:
    """The product over `axis` of what is not NaN.

    >>> print(fg.grad(fg.numpy.nanprod)(np.array([2.0, np.nan, 3.0])))
    [3. 0. 2.]
    """
    x = traced(a, out, initial, where)
    if x is None:
        return np.nanprod(a, axis, dtype, out, keepdims, where=where, **given(initial=initial))
    found = reduced_with_options(PROD, replaced(x, 1), axis, dtype, keepdims, initial, where)
    return stored(found, out, "np.nanprod")


@implements(np.nancumsum)
def nancumsum(a: ArrayLike, axis: AxisLike = None, dtype: DTypeLike = None, out: Array = None) -> Array:
    """The sum of the elements so far along `axis` that are not NaN.

    >>> print(fg.numpy.nancumsum(np.array([1.0, np.nan, 2.0])))
    [1. 1. 3.]
    """
    x = traced(a, out)
    if x is None:
        return np.nancumsum(a, axis, dtype, out)
    return stored(accumulated(cumulative.CumSum, replaced(x, 0), axis, dtype), out, "np.nancumsum")


@implements(np.nancumprod)
def nancumprod(a: ArrayLike, axis: AxisLike = None, dtype: DTypeLike = None, out: Array = None) -> Array:
    """The product of the elements so far along `axis` that are not NaN.

    >>> print(fg.numpy.nancumprod(np.array([2.0, np.nan, 3.0])))
    [2. 2. 6.]
    """
    x = traced(a, out)
    if x is None:
        return np.nancumprod(a, axis, dtype, out)
    return stored(accumulated(cumulative.CumProd, replaced(x, 1), axis, dtype), out, "np.nancumprod")


# -- extremes -----------------------------------------------------------------------------------------------


@implements(np.nanmax)
def nanmax(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Array = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Array:
    """The largest element over `axis` that is not NaN; NaN of nothing else.

    >>> print(fg.grad(fg.numpy.nanmax)(np.array([1.0, np.nan, 3.0])))
    [0. 0. 1.]
    """
    x = traced(a, out, initial, where)
    if x is None:
        return np.nanmax(a, axis, out, keepdims, where=where, **given(initial=initial))
    return stored(reduced_with_options(FMAX, x, axis, None, keepdims, initial, where), out, "np.nanmax")


@implements(np.nanmin)
def nanmin(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Array = None,
    keepdims: bool = False,
    initial: ArrayLike = None,
    where: ArrayLike = True,
) -> Array:
    """The smallest element over `axis` that is not NaN; NaN of nothing else.

    >>> print(fg.grad(fg.numpy.nanmin)(np.array([1.0, np.nan, 3.0])))
    [1. 0. 0.]
    """
    x = traced(a, out, initial, where)
    if x is None:
        return np.nanmin(a, axis, out, keepdims, where=where, **given(initial=initial))
    return stored(reduced_with_options(FMIN, x, axis, None, keepdims, initial, where), out, "np.nanmin")


def losing(rule: Rule, x: ArrayLike) -> Array:
    """`x` with what is never the extreme in place of NaN."""
    if not aval(x).inexact:
        return x
    least, greatest = limits_of(np.empty(0, aval(x).dtype).real.dtype)
    return replaced(x, least if rule is FMAX else greatest)


@implements(np.nanargmax)
def nanargmax(a: ArrayLike, axis: AxisLike = None, out: Array = None, *, keepdims: bool = False) -> Array:
    """The position of the largest element that is not NaN; of a traced array, -1 where all are NaN.

    >>> print(fg.numpy.nanargmax(np.array([1.0, np.nan, 3.0])))
    2
    """
    x = traced(a, out)
    if x is None:
        return np.nanargmax(a, axis, out, keepdims=keepdims)
    found = position_of_extreme(ops.ArgMax, losing(FMAX, x), axis, keepdims)
    return stored(minus_one_of_nothing(found, x, axis, keepdims), out, "np.nanargmax")


@implements(np.nanargmin)
def nanargmin(a: ArrayLike, axis: AxisLike = None, out: Array = None, *, keepdims: bool = False) -> Array:
    """The position of the smallest element that is not NaN; of a traced array, -1 where all are NaN.

    >>> print(fg.numpy.nanargmin(np.array([1.0, np.nan, 3.0])))
    0
    """
    x = traced(a, out)
    if x is None:
        return np.nanargmin(a, axis, out, keepdims=keepdims)
    found = position_of_extreme(ops.ArgMin, losing(FMIN, x), axis, keepdims)
    return stored(minus_one_of_nothing(found, x, axis, keepdims), out, "np.nanargmin")


def minus_one_of_nothing(found: ArrayLike, x: ArrayLike, axis: AxisLike, keepdims: bool) -> Array:
    """The positions, -1 where all elements are NaN."""
    if not aval(x).inexact:
        return found
    return select(reduced(ALL, isnan(x), axis, keepdims), np.intp(-1), found)


# -- averages and spreads -----------------------------------------------------------------------------------


@implements(np.nanmean)
def nanmean(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Array = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Array:
    """The mean over `axis` of what is not NaN; NaN of nothing else.

    >>> print(fg.grad(fg.numpy.nanmean)(np.array([1.0, np.nan, 3.0])))
    [0.5 0.  0.5]
    """
    x = traced(a, out, where)
    if x is None:
        return np.nanmean(a, axis, dtype, out, keepdims, where=where)
    if not aval(x).inexact:
        return stored(mean_of(x, axis, dtype, keepdims, where), out, "np.nanmean")
    check_inexact(dtype)
    axes = normalized_axes(axis, aval(x).ndim)
    return stored(mean_of_counted(x, axes, dtype, keepdims, counted(x, where)), out, "np.nanmean")


def check_inexact(dtype: DTypeLike) -> None:
    """Raise TypeError for a dtype that cannot hold what is made of floating-point numbers."""
    if dtype is not None and not np.issubdtype(dtype, np.inexact):
        raise TypeError("If a is inexact, then dtype must be inexact")


def mean_of_counted(
    x: ArrayLike, axes: tuple[int, ...], dtype: DTypeLike, keepdims: bool, counts: ArrayLike
) -> Array:
    """The mean of the elements that count."""
    total = reduced_with_options(SUM, x, axes, dtype, keepdims, None, counts)
    return cast(div(total, reduced(SUM, counts, axes, keepdims)), aval(total).dtype)


@implements(np.nanvar)
def nanvar(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Array = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike = None,
    correction: float | None = None,
) -> Array:
    """The variance over `axis` of what is not NaN; NaN where that is no more than `ddof` elements.

    >>> print(fg.numpy.nanvar(np.array([1.0, np.nan, 3.0])))
    1.0
    """
    x = traced(a, out, where, mean)
    if x is None:
        options = given(mean=mean, correction=correction)
        return np.nanvar(a, axis, dtype, out, ddof, keepdims, where=where, **options)
    found = spread_of(x, axis, dtype, freedom(ddof, correction), keepdims, where, mean)
    return stored(found, out, "np.nanvar")


@implements(np.nanstd)
def nanstd(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Array = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike = None,
    correction: float | None = None,
) -> Array:
    """The standard deviation over `axis` of what is not NaN; its gradient is zero where it is zero.

    >>> print(fg.numpy.nanstd(np.array([1.0, np.nan, 3.0])))
    1.0
    """
    x = traced(a, out, where, mean)
    if x is None:
        options = given(mean=mean, correction=correction)
        return np.nanstd(a, axis, dtype, out, ddof, keepdims, where=where, **options)
    squared = spread_of(x, axis, dtype, freedom(ddof, correction), keepdims, where, mean)
    return stored(cast(root_of_squares(squared), aval(squared).dtype), out, "np.nanstd")


def spread_of(
    x: ArrayLike,
    axis: AxisLike,
    dtype: DTypeLike,
    ddof: float,
    keepdims: bool,
    where: ArrayLike,
    mean: ArrayLike,
) -> Array:
    """The variance of a traced array without NaN."""
    seen = aval(x)
    if not seen.inexact:
        return variance_of(x, axis, dtype, ddof, keepdims, where, mean)
    axes = normalized_axes(axis, seen.ndim)
    counts = counted(x, where)
    if is_given(mean):
        center = asoperand(mean)
    else:
        kept = tuple([a for a in range(seen.ndim) if a not in axes])
        center = broadcast(mean_of_counted(x, axes, dtype, False, counts), seen.shape, kept)
    squares = squared_size(sub(x, center))
    total = reduced_with_options(SUM, squares, axes, dtype, False, None, counts)
    free = sub(reduced(SUM, counts, axes, False), ddof)
    nothing = aval(total).dtype.type(np.nan)
    found = select(less_equal(free, 0), nothing, cast(div(total, free), aval(total).dtype))
    return with_kept_axes(found, seen.shape, axes) if keepdims else found
