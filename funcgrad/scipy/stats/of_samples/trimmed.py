"""Statistics of the inner part of a sample: between limits, between quantiles, without its ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.originals import at_hand
from funcgrad.scipy.stats.of_samples.statistic import Axis, along_last, floats, kept, refuse, statistic
from funcgrad.types import Array, ArrayLike

__all__ = [
    "iqr",
    "median_abs_deviation",
    "quantile",
    "scoreatpercentile",
    "tmax",
    "tmean",
    "tmin",
    "trim1",
    "trim_mean",
    "trimboth",
    "tsem",
    "tstd",
    "tvar",
]

Limits = Sequence[float | None] | None

NORMAL_QUARTILE = 0.6744897501960817
"""The upper quartile of the normal distribution."""


def inside(x: Array, limits: Limits, inclusive: Sequence[bool]) -> Array:
    """Which elements lie between limits, of which None is none; NaN lies outside of every limit."""
    low, high = limits if limits is not None else (None, None)
    found = fnp.ones_like(x) == 1.0
    if low is not None:
        found = found & (x >= low if inclusive[0] else x > low)
    if high is not None:
        found = found & (x <= high if inclusive[1] else x < high)
    return found


def between(
    a: ArrayLike, limits: Limits, inclusive: Sequence[bool], axis: Axis
) -> tuple[Array, Array, Array, Array]:
    """A sample, its lines, which of their elements count, and how many those are."""
    known = at_hand(a)
    if known is not None and not np.any(inside(np.asarray(known), limits, inclusive)):
        raise ValueError("No array values within given limits")
    x = floats(a)
    lines = along_last(x, axis)
    counted = inside(lines, limits, inclusive) | fnp.isnan(lines)  # A NaN makes NaN of the whole line.
    return x, lines, counted, fnp.sum(fnp.where(counted, 1.0, 0.0), -1)


@statistic
def tmean(
    a: ArrayLike,
    limits: Limits = None,
    inclusive: Sequence[bool] = (True, True),
    axis: Axis = None,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    """The mean of the elements between limits.

    >>> f = lambda x: fg.scipy.stats.tmean(x, (0.0, 3.0))
    >>> print(fg.grad(f)(np.array([1.0, 2.0, 4.0])))
    [0.5 0.5 0. ]
    """
    x, lines, counted, n = between(a, limits, inclusive, axis)
    found = fnp.sum(fnp.where(counted, lines, 0.0), -1) / fnp.where(n == 0.0, np.nan, n)
    return kept(found, x, axis, keepdims)


def variance(lines: Array, counted: Array, n: Array, ddof: float) -> Array:
    """The variance of the elements that count; NaN where there are too few."""
    mean = fnp.sum(fnp.where(counted, lines, 0.0), -1) / fnp.where(n == 0.0, 1.0, n)
    away = fnp.where(counted, lines - mean[..., None], 0.0)
    return fnp.sum(away * away, -1) / fnp.where(n > ddof, n - ddof, np.nan)


@statistic
def tvar(
    a: ArrayLike,
    limits: Limits = None,
    inclusive: Sequence[bool] = (True, True),
    axis: Axis = 0,
    ddof: int = 1,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    """The variance of the elements between limits.

    >>> print(fg.grad(fg.scipy.stats.tvar)(np.array([1.0, 2.0, 6.0])))
    [-2. -1.  3.]
    """
    x, lines, counted, n = between(a, limits, inclusive, axis)
    return kept(variance(lines, counted, n, ddof), x, axis, keepdims)


@statistic
def tstd(
    a: ArrayLike,
    limits: Limits = None,
    inclusive: Sequence[bool] = (True, True),
    axis: Axis = 0,
    ddof: int = 1,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    """The standard deviation of the elements between limits.

    >>> print(fg.grad(fg.scipy.stats.tstd)(np.array([1.0, 3.0])).round(4))
    [-0.7071  0.7071]
    """
    x, lines, counted, n = between(a, limits, inclusive, axis)
    return kept(fnp.sqrt(variance(lines, counted, n, ddof)), x, axis, keepdims)


@statistic
def tsem(
    a: ArrayLike,
    limits: Limits = None,
    inclusive: Sequence[bool] = (True, True),
    axis: Axis = 0,
    ddof: int = 1,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    """The standard error of the mean of the elements between limits.

    >>> print(fg.grad(fg.scipy.stats.tsem)(np.array([1.0, 3.0])))
    [-0.5  0.5]
    """
    x, lines, counted, n = between(a, limits, inclusive, axis)
    return kept(fnp.sqrt(variance(lines, counted, n, ddof) / n), x, axis, keepdims)


@statistic
def tmin(
    a: ArrayLike,
    lowerlimit: float | None = None,
    axis: Axis = 0,
    inclusive: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """The least of the elements that are not under a limit; NaN where there is none.

    >>> print(fg.grad(lambda x: fg.scipy.stats.tmin(x, 1.5))(np.array([1.0, 2.0, 4.0])))
    [0. 1. 0.]
    """
    return extreme(a, (lowerlimit, None), inclusive, axis, keepdims, fnp.min, math.inf)


@statistic
def tmax(
    a: ArrayLike,
    upperlimit: float | None = None,
    axis: Axis = 0,
    inclusive: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """The largest of the elements that are not over a limit; NaN where there is none.

    >>> print(fg.grad(lambda x: fg.scipy.stats.tmax(x, 3.0))(np.array([1.0, 2.0, 4.0])))
    [0. 1. 0.]
    """
    return extreme(a, (None, upperlimit), inclusive, axis, keepdims, fnp.max, -math.inf)


def extreme(
    a: ArrayLike,
    limits: Limits,
    inclusive: bool,
    axis: Axis,
    keepdims: bool,
    of: Callable[..., Any],
    elsewhere: float,
) -> Array:
    """The least or the largest element between limits."""
    x, lines, counted, n = between(a, limits, (inclusive, inclusive), axis)
    found = fnp.where(n == 0.0, np.nan, of(fnp.where(counted, lines, elsewhere), -1))
    return kept(found, x, axis, keepdims)


def without_ends(x: Array, axis: int | None, lower: int, upper: int) -> Array:
    """The sorted elements from one place to another along an axis."""
    ordered = fnp.sort(fnp.reshape(x, (-1,)) if axis is None else x, 0 if axis is None else axis)
    place = 0 if axis is None else axis % len(shape_of(ordered))
    return ordered[(slice(None),) * place + (slice(lower, upper),)]


@statistic
def trim_mean(
    a: ArrayLike,
    proportiontocut: float,
    axis: Axis = 0,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    """The mean without a proportion of the elements at both ends.

    >>> print(fg.grad(lambda x: fg.scipy.stats.trim_mean(x, 0.25))(np.array([1.0, 9.0, 4.0, 3.0])))
    [0.  0.  0.5 0.5]
    """
    x = floats(a)
    lines = along_last(x, axis)
    n = shape_of(lines)[-1]
    cut = int(proportiontocut * n)
    if 2 * cut > n:
        raise ValueError("Proportion too big.")
    return kept(fnp.mean(without_ends(lines, -1, cut, n - cut), -1), x, axis, keepdims)


@statistic
def trimboth(a: ArrayLike, proportiontocut: float, axis: int | None = 0) -> Array:
    """The sample in order, without a proportion of the elements at both ends; SciPy's order is unspecified.

    >>> f = lambda x: np.sum(fg.scipy.stats.trimboth(x, 0.25))
    >>> print(fg.grad(f)(np.array([1.0, 9.0, 4.0, 3.0])))
    [0. 0. 1. 1.]
    """
    x = floats(a)
    n = math.prod(shape_of(x)) if axis is None else shape_of(x)[axis]
    cut = int(proportiontocut * n)
    if 2 * cut >= n:
        raise ValueError("Proportion too big.")
    return without_ends(x, axis, cut, n - cut)


@statistic
def trim1(a: ArrayLike, proportiontocut: float, tail: str = "right", axis: int | None = 0) -> Array:
    """The sample in order, without a proportion of the elements at one end; SciPy's order is unspecified.

    >>> f = lambda x: np.sum(fg.scipy.stats.trim1(x, 0.25))
    >>> print(fg.grad(f)(np.array([1.0, 9.0, 4.0, 3.0])))
    [1. 0. 1. 1.]
    """
    x = floats(a)
    n = math.prod(shape_of(x)) if axis is None else shape_of(x)[axis]
    cut = int(proportiontocut * n)
    if tail.lower() not in ("left", "right"):
        raise ValueError("tail must be 'left' or 'right'.")
    return without_ends(x, axis, 0, n - cut) if tail.lower() == "right" else without_ends(x, axis, cut, n)


@statistic
def quantile(
    x: ArrayLike,
    p: ArrayLike,
    *,
    method: str = "linear",
    axis: int | None = 0,
    nan_policy: str = "propagate",
    keepdims: bool | None = None,
    weights: ArrayLike | None = None,
) -> Array:
    """A quantile, by one of the methods of `np.quantile`.

    >>> print(fg.grad(lambda x: fg.scipy.stats.quantile(x, 0.25))(np.array([1.0, 2.0, 4.0])))
    [0.5 0.5 0. ]
    """
    if weights is not None or method == "harrell-davis" or method.startswith("round"):
        raise refuse(f"quantile with weights, or of method {method!r}", "Use a method of np.quantile.")
    sample = floats(x)
    several = np.ndim(p) > 0
    if several and (len(shape_of(sample)) > 1 or np.ndim(p) > 1) and axis is not None:
        raise refuse("quantile with several p for each line", "Call it for each p, or use np.quantile.")
    found = fnp.quantile(sample, p, axis, method=method)
    if several:
        return found
    return kept(found, sample, axis, bool(keepdims))


@statistic
def iqr(
    x: ArrayLike,
    axis: Axis = None,
    rng: tuple[float, float] = (25, 75),
    scale: float | str = 1.0,
    nan_policy: str = "propagate",
    interpolation: str = "linear",
    keepdims: bool = False,
) -> Array:
    """The distance between two percentiles of a sample.

    >>> print(fg.grad(fg.scipy.stats.iqr)(np.array([1.0, 2.0, 4.0])))
    [-0.5  0.   0.5]
    """
    if isinstance(scale, str):
        if scale.lower() != "normal":
            raise ValueError(f"{scale} not a valid scale for `iqr`")
        scale = 2.0 * NORMAL_QUARTILE
    if len(rng) != 2:
        raise TypeError("`rng` must be a two element sequence.")
    if np.isnan(rng).any():
        raise ValueError("`rng` must not contain NaNs.")
    if min(rng) < 0 or max(rng) > 100:
        raise ValueError("Elements of `rng` must be in the range [0, 100].")
    sample = floats(x)
    lines = along_last(sample, axis)
    low, high = (fnp.percentile(lines, q, -1, method=interpolation) for q in sorted(rng))
    return kept((high - low) / scale, sample, axis, keepdims)


@statistic
def scoreatpercentile(
    a: ArrayLike,
    per: ArrayLike,
    limit: tuple[float, float] | tuple[()] = (),
    interpolation_method: str = "fraction",
    axis: int | None = None,
) -> Array:
    """The score at a percentile.

    >>> print(fg.grad(lambda x: fg.scipy.stats.scoreatpercentile(x, 25))(np.array([1.0, 2.0, 4.0])))
    [0.5 0.5 0. ]
    """
    if limit:
        raise refuse("scoreatpercentile with a limit", "Take the elements that are wanted by an index.")
    methods = {"fraction": "linear", "lower": "lower", "higher": "higher"}
    if interpolation_method not in methods:
        raise ValueError("interpolation_method can only be 'fraction', 'lower' or 'higher'")
    return fnp.percentile(floats(a), per, axis, method=methods[interpolation_method])


@statistic
def median_abs_deviation(
    x: ArrayLike,
    axis: Axis = 0,
    center: Callable[..., Any] | None = None,
    scale: float | str = 1.0,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """The median of the distances to the median.

    >>> print(fg.grad(fg.scipy.stats.median_abs_deviation)(np.array([1.0, 2.0, 4.0])))
    [-1.  1.  0.]
    """
    middle = fnp.median if center is None else center
    if not callable(middle):
        raise TypeError(f"The argument 'center' must be callable. The given value {center!r} is not.")
    if isinstance(scale, str):
        if scale.lower() != "normal":
            raise ValueError(f"{scale} is not a valid scale value.")
        scale = NORMAL_QUARTILE
    sample = floats(x)
    lines = along_last(sample, axis)
    away = fnp.abs(lines - fnp.expand_dims(middle(lines, axis=-1), -1))
    return kept(fnp.median(away, -1) / scale, sample, axis, keepdims)
