"""Moments of samples, estimates of those of their distribution, and entropy from distances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.stats.descriptive import kurtosis, skew
from funcgrad.scipy.stats.of_samples.outcomes import DescribeResult, DirectionalStats
from funcgrad.scipy.stats.of_samples.statistic import Axis, along_last, floats, kept, statistic
from funcgrad.types import Array, ArrayLike

__all__ = [
    "describe",
    "differential_entropy",
    "directional_stats",
    "gstd",
    "kstat",
    "kstatvar",
    "lmoment",
    "zmap",
]


@statistic
def describe(
    a: ArrayLike, axis: int | None = 0, ddof: int = 1, bias: bool = True, nan_policy: str = "propagate"
) -> DescribeResult:
    """How many elements there are, the least and the largest, mean, variance, skewness and kurtosis.

    >>> print(fg.grad(lambda x: fg.scipy.stats.describe(x).variance)(np.array([1.0, 2.0, 6.0])))
    [-2. -1.  3.]
    """
    x = floats(a)
    n = math.prod(shape_of(x)) if axis is None else shape_of(x)[axis]
    if math.prod(shape_of(x)) == 0:
        raise ValueError("The input must not be empty.")
    ends = fnp.min(x, axis), fnp.max(x, axis)
    spread = fnp.var(x, axis, ddof=ddof)
    return DescribeResult(
        n, ends, fnp.mean(x, axis), spread, skew(x, axis, bias), kurtosis(x, axis, True, bias)
    )


@statistic
def gstd(
    a: ArrayLike, axis: Axis = 0, ddof: int = 1, *, keepdims: bool = False, nan_policy: str = "propagate"
) -> Array:
    """The geometric standard deviation.

    >>> print(fg.grad(fg.scipy.stats.gstd)(np.array([1.0, 4.0])).round(3))
    [-1.885  0.471]
    """
    return fnp.exp(fnp.std(fnp.log(floats(a)), axis, ddof=ddof, keepdims=keepdims))


@statistic
def zmap(
    scores: ArrayLike, compare: ArrayLike, axis: int | None = 0, ddof: int = 0, nan_policy: str = "propagate"
) -> Array:
    """Scores less the mean of a sample, over its standard deviation.

    >>> sample = np.array([0.0, 2.0])
    >>> print(fg.grad(lambda x: fg.scipy.stats.zmap(x, sample)[0])(np.array([3.0, 4.0])))
    [1. 0.]
    """
    sample = floats(compare)
    mean = fnp.mean(sample, axis, keepdims=True)
    return (floats(scores) - mean) / fnp.std(sample, axis, ddof=ddof, keepdims=True)


@statistic
def kstat(
    data: ArrayLike, n: int = 2, *, axis: Axis = None, nan_policy: str = "propagate", keepdims: bool = False
) -> Array:
    """The unbiased estimate of a cumulant, of order 1 to 4.

    >>> print(fg.grad(fg.scipy.stats.kstat)(np.array([1.0, 2.0, 6.0])))
    [-2. -1.  3.]
    """
    if not 1 <= n <= 4:
        raise ValueError("k-statistics only supported for 1<=n<=4")
    x = floats(data)
    return kept(cumulant(along_last(x, axis), int(n)), x, axis, keepdims)


def cumulant(x: Array, order: int) -> Array:
    """The k-statistic along the last axis, from sums of powers of what is left without the mean.

    Fisher, Moments and product moments of sampling distributions, 1930. Those of orders 2 to 4 do not change
    when the sample is shifted, so the sum of the first powers is 0.
    """
    n = float(shape_of(x)[-1])
    mean = fnp.mean(x, -1)
    if order == 1:
        return mean
    away = x - mean[..., None]
    second, third, fourth = (fnp.sum(away**k, -1) for k in (2, 3, 4))
    if order == 2:
        return second / (n - 1.0)
    if order == 3:
        return n * third / ((n - 1.0) * (n - 2.0))
    above = n * (n + 1.0) * fourth - 3.0 * (n - 1.0) * second * second
    return above / ((n - 1.0) * (n - 2.0) * (n - 3.0))


@statistic
def kstatvar(
    data: ArrayLike, n: int = 2, *, axis: Axis = None, nan_policy: str = "propagate", keepdims: bool = False
) -> Array:
    """The unbiased estimate of the variance of `kstat`, of order 1 or 2.

    >>> print(fg.grad(lambda x: fg.scipy.stats.kstatvar(x, 1))(np.array([1.0, 3.0])))
    [-1.  1.]
    """
    x = floats(data)
    lines = along_last(x, axis)
    count = float(shape_of(lines)[-1])
    if n == 1:
        found = cumulant(lines, 2) / count
    elif n == 2:
        second, fourth = cumulant(lines, 2), cumulant(lines, 4)
        found = (2.0 * count * second**2 + (count - 1.0) * fourth) / (count * (count + 1.0))
    else:
        raise ValueError("Only n=1 or n=2 supported.")
    return kept(found, x, axis, keepdims)


def shifted_legendre(count: int) -> Array:
    """The coefficients that make L-moments of moments weighted by probability, a row for each order.

    Hosking, L-moments, 1990, equation 2.9.
    """
    return np.array(
        [
            [(-1.0) ** (r - k) * math.comb(r, k) * math.comb(r + k, k) for k in range(count)]
            for r in range(count)
        ]
    )


@statistic
def lmoment(
    sample: ArrayLike,
    order: ArrayLike | None = None,
    *,
    axis: int | None = 0,
    sorted: bool = False,
    standardize: bool = True,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    """L-moments of a sample; from the third one on over the second.

    >>> f = lambda x: fg.scipy.stats.lmoment(x, order=2)
    >>> print(fg.grad(f)(np.array([1.0, 2.0, 4.0])).round(3))
    [-0.333  0.     0.333]
    """
    orders = np.array([1, 2, 3, 4]) if order is None else np.asarray(order)
    if (
        orders.size == 0
        or not np.issubdtype(orders.dtype, np.integer)
        or np.any(orders <= 0)
        or orders.ndim > 1
    ):
        raise ValueError("`order` must be a scalar or a non-empty array of positive integers.")
    x = floats(sample)
    lines = along_last(x, axis)
    lines = lines if sorted else fnp.sort(lines, -1)
    found = l_moments(lines, int(orders.max()), standardize)
    chosen = [kept(found[k - 1], x, axis, keepdims) for k in np.atleast_1d(orders)]
    return fnp.stack(chosen) if orders.ndim else chosen[0]


def l_moments(ordered: Array, count: int, standardize: bool) -> list[Array]:
    """The first L-moments along the last axis; NaN where there are fewer elements."""
    n = shape_of(ordered)[-1]
    weights = np.array(
        [[math.comb(i, r) / math.comb(n - 1, r) if r < n else 0.0 for i in range(n)] for r in range(count)]
    )
    found = fnp.mean(ordered[..., None, :] * (shifted_legendre(count) @ weights), -1)
    moments = [found[..., k] if k < n else found[..., 0] * np.nan for k in range(count)]
    return [m / moments[1] if standardize and k >= 2 else m for k, m in enumerate(moments)]


@statistic
def directional_stats(samples: ArrayLike, *, axis: int = 0, normalize: bool = True) -> DirectionalStats:
    """The mean of directions, and the length of the mean of unit vectors.

    >>> f = lambda x: fg.scipy.stats.directional_stats(x).mean_resultant_length
    >>> print(fg.grad(f)(np.array([[1.0, 0.0], [0.0, 1.0]])).round(3))
    [[0.    0.354]
     [0.354 0.   ]]
    """
    x = floats(samples)
    if len(shape_of(x)) < 2:
        raise ValueError(
            f"samples must at least be two-dimensional. Instead samples has shape: {shape_of(x)}"
        )
    x = fnp.moveaxis(x, axis, 0)
    if normalize:
        x = x / length(x)
    mean = fnp.mean(x, 0)
    size = length(mean)
    return DirectionalStats(mean / size, size[..., 0])


def length(x: Array) -> Array:
    """The lengths of vectors along the last axis."""
    return fnp.sqrt(fnp.sum(x * x, -1, keepdims=True))


@statistic
def differential_entropy(
    values: ArrayLike,
    *,
    window_length: int | None = None,
    base: float | None = None,
    axis: int = 0,
    method: str = "auto",
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    """The entropy of a continuous distribution, estimated from the distances between elements of a sample.

    >>> f = lambda x: fg.scipy.stats.differential_entropy(x, window_length=1)
    >>> print(fg.grad(f)(np.array([1.0, 2.0, 4.0])))
    [-0.5   0.25  0.25]
    """
    x = floats(values)
    lines = fnp.sort(along_last(x, axis), -1)
    n = shape_of(lines)[-1]
    window = math.floor(math.sqrt(n) + 0.5) if window_length is None else window_length
    if base is not None and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    chosen = method.lower()
    if chosen == "auto":
        chosen = "van es" if n <= 10 else "ebrahimi" if n <= 1000 else "vasicek"
    if chosen not in ESTIMATES:
        raise ValueError(f"`method` must be one of {set(ESTIMATES) | {'auto'}}")
    if not 2 <= 2 * window < n:  # SciPy has no number for windows that do not fit.
        return kept(fnp.mean(lines, -1) * np.nan, x, axis, keepdims)
    found = ESTIMATES[chosen](lines, n, window)
    return kept(found if base is None else found / math.log(base), x, axis, keepdims)


def padded(x: Array, n: int, window: int) -> tuple[Array, Any]:
    """Elements so many places before and behind each one, at most those at the ends."""
    places = np.arange(n)
    return x[..., np.minimum(places + window, n - 1)], x[..., np.maximum(places - window, 0)]


def vasicek(x: Array, n: int, window: int) -> Array:
    """Vasicek's estimate (1976)."""
    behind, before = padded(x, n, window)
    return fnp.mean(fnp.log(n / (2.0 * window) * (behind - before)), -1)


def ebrahimi(x: Array, n: int, window: int) -> Array:
    """Ebrahimi's estimate (1994), which makes less of windows that the ends cut."""
    behind, before = padded(x, n, window)
    place = np.arange(1.0, n + 1.0)
    inner = np.minimum(np.minimum(1.0 + (place - 1.0) / window, 1.0 + (n - place) / window), 2.0)
    return fnp.mean(fnp.log(n * (behind - before) / (inner * window)), -1)


def van_es(x: Array, n: int, window: int) -> Array:
    """Van Es' estimate (1992)."""
    logs = fnp.log((n + 1.0) / window * (x[..., window:] - x[..., :-window]))
    constant = np.sum(1.0 / np.arange(window, n + 1.0)) + math.log(window) - math.log(n + 1.0)
    return fnp.sum(logs, -1) / (n - window) + constant


def correa(x: Array, n: int, window: int) -> Array:
    """Correa's estimate (1995): slopes of lines through windows."""
    steps = np.arange(-window, window + 1)
    windows = x[..., np.clip(np.arange(n) + steps[:, None], 0, n - 1)]
    away = windows - fnp.mean(windows, -2, keepdims=True)
    above = fnp.sum(away * steps[:, None], -2)
    return -fnp.mean(fnp.log(above / (n * fnp.sum(away * away, -2))), -1)


ESTIMATES = {"vasicek": vasicek, "ebrahimi": ebrahimi, "van es": van_es, "correa": correa}
