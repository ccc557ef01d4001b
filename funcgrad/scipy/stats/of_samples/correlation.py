"""Two samples beside each other: coefficients of correlation, and the line through them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.api.derivatives.differentiate import stop_gradient
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.originals import at_hand
from funcgrad.scipy.stats.distributions import distribution
from funcgrad.scipy.stats.of_samples.outcomes import (
    LinregressResult,
    PearsonRResult,
    SignificanceResult,
    with_attributes,
)
from funcgrad.scipy.stats.of_samples.statistic import Axis, along_last, floats, kept, refuse, statistic, tail
from funcgrad.types import Array, ArrayLike, Option

__all__ = ["linregress", "pearsonr", "pointbiserialr"]


def of_one_rank(x: Array, y: Array) -> tuple[Array, Array]:
    """Both samples with as many axes as the one that has more."""
    ndim = max(len(shape_of(x)), len(shape_of(y)))
    padded = [fnp.reshape(v, (1,) * (ndim - len(shape_of(v))) + shape_of(v)) for v in (x, y)]
    return padded[0], padded[1]


def paired(x: ArrayLike, y: ArrayLike, axis: int | None) -> tuple[Array, Array]:
    """Two samples of as many elements along their last axis."""
    first, second = floats(x), floats(y)
    if axis is not None:
        first, second = of_one_rank(first, second)
    first, second = along_last(first, axis), along_last(second, axis)
    if shape_of(first)[-1] != shape_of(second)[-1]:
        raise ValueError("`x` and `y` must have the same length along `axis`.")
    return first, second


def correlation(x: Array, y: Array) -> Array:
    """The coefficient of two samples along their last axes; NaN where one of them is constant."""
    away = []
    for v in (x, y):
        constant = fnp.all(v == v[..., :1], -1, keepdims=True)
        # Shrunk first and then over the largest difference, squares neither overflow nor vanish.
        size = stop_gradient(fnp.max(fnp.abs(v), -1, keepdims=True))
        shrunk = v / fnp.where(size > 0.0, size, 1.0)
        centred = shrunk - fnp.mean(shrunk, -1, keepdims=True)
        largest = stop_gradient(fnp.max(fnp.abs(centred), -1, keepdims=True))
        away.append(fnp.where(constant, np.nan, centred / fnp.where(largest > 0.0, largest, 1.0)))
    lengths = fnp.sqrt(fnp.sum(away[0] ** 2, -1)) * fnp.sqrt(fnp.sum(away[1] ** 2, -1))
    return fnp.clip(fnp.sum(away[0] * away[1], -1) / lengths, -1.0, 1.0)


@statistic
def pearsonr(
    x: ArrayLike, y: ArrayLike, *, alternative: str = "two-sided", method: Option = None, axis: int | None = 0
) -> PearsonRResult:
    """Pearson's coefficient of correlation, and the probability of one as far from 0.

    >>> x, y = np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 4.0])
    >>> print(fg.grad(lambda x: fg.scipy.stats.pearsonr(x, y).statistic)(x).round(3))
    [-0.092  0.138 -0.046]
    """
    if method is not None:
        raise refuse("pearsonr with a method", "Leave method out: the statistic is the same.")
    first, second = paired(x, y, axis)
    n = shape_of(first)[-1]
    if n < 2:
        raise ValueError("`x` and `y` must have length at least 2.")
    r = correlation(first, second)
    if n == 2:
        r, probability = fnp.round(r), fnp.where(fnp.isnan(r), np.nan, 1.0)
    else:
        half = 0.5 * n - 1.0
        probability = tail(r, distribution("beta"), alternative, half, half, -1.0, 2.0)
    return with_attributes(PearsonRResult, r, probability, n=n, alternative=alternative)


@statistic
def pointbiserialr(
    x: ArrayLike, y: ArrayLike, *, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> SignificanceResult:
    """The correlation of a sample with one of zeros and ones.

    >>> groups = np.array([0, 0, 1, 1])
    >>> f = lambda y: fg.scipy.stats.pointbiserialr(groups, y).statistic
    >>> print(fg.grad(f)(np.array([1.0, 2.0, 3.0, 6.0])).round(3))
    [-0.019 -0.076  0.134 -0.038]
    """
    first, second = paired(x, y, axis)
    r, probability = pearsonr(first, second, axis=-1)
    ranked = floats(y)
    return SignificanceResult(kept(r, ranked, axis, keepdims), kept(probability, ranked, axis, keepdims))


@statistic
def linregress(
    x: ArrayLike,
    y: ArrayLike,
    alternative: str = "two-sided",
    *,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> LinregressResult:
    """The line of least squares through points, with its correlation and its standard errors.

    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 4.0])
    >>> print(fg.grad(lambda y: fg.scipy.stats.linregress(x, y).slope)(y))
    [-0.5  0.   0.5]
    """
    whole = of_one_rank(floats(x), floats(y))
    first, second = (along_last(v, axis) for v in whole)
    n = shape_of(first)[-1]
    if n == 0 or shape_of(second)[-1] == 0:
        raise ValueError("Inputs must not be empty.")
    if n != shape_of(second)[-1]:
        raise ValueError(
            "all the input array dimensions except for the concatenation axis must match exactly"
        )
    known = at_hand(x)
    if n > 1 and known is not None and np.any(np.ptp(known, axis) == 0.0):
        raise ValueError("Cannot calculate a linear regression if all x values are identical")
    line = line_through(first, second, n, alternative)
    shaped = [kept(v, whole[0], axis, keepdims) for v in line]
    return with_attributes(LinregressResult, *shaped[:5], intercept_stderr=shaped[5])


def line_through(x: Array, y: Array, n: int, alternative: str) -> list[Any]:
    """Slope, intercept, correlation, probability and both standard errors along the last axes."""
    mean = fnp.mean(x, -1)
    away, other = x - mean[..., None], y - fnp.mean(y, -1, keepdims=True)
    xx, xy, yy = (fnp.mean(v, -1) for v in (away * away, away * other, other * other))
    flat = yy == 0.0
    r = fnp.where(flat, np.nan, fnp.clip(xy / fnp.sqrt(xx * fnp.where(flat, 1.0, yy)), -1.0, 1.0))
    slope = xy / xx
    intercept = fnp.mean(y, -1) - slope * mean
    if n == 2:
        same = y[..., 0] == y[..., 1]
        return [slope, intercept, r, fnp.where(same, 1.0, 0.0), 0.0 * slope, 0.0 * slope]
    df = n - 2.0
    tiny = 1e-20  # Where the points lie on a line, the probability is 0 rather than undefined.
    t = r * fnp.sqrt(df / ((1.0 - r + tiny) * (1.0 + r + tiny)))
    probability = tail(t, distribution("t"), alternative, df)
    error = fnp.sqrt((1.0 - r * r) * yy / xx) / math.sqrt(df)
    return [slope, intercept, r, probability, error, error * fnp.sqrt(xx + mean * mean)]
