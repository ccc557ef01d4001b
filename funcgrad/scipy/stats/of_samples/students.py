"""Student's tests of means, of one sample and of two."""

from __future__ import annotations

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.stats.distributions import distribution
from funcgrad.scipy.stats.of_samples.outcomes import SignificanceResult, TtestResult, with_attributes
from funcgrad.scipy.stats.of_samples.statistic import Axis, along_last, floats, kept, refuse, statistic, tail
from funcgrad.types import Array, ArrayLike, Option

__all__ = ["ttest_1samp", "ttest_ind", "ttest_ind_from_stats", "ttest_rel"]


def after_student(
    estimate: Array,
    error: Array,
    df: Array,
    alternative: str,
    x: Array,
    axis: Axis,
    keepdims: bool,
    expected: Array = 0.0,
) -> TtestResult:
    """The outcome of a test: how far the estimate is off in standard errors, and the probability of that."""
    t = (estimate - expected) / error
    probability = tail(t, distribution("t"), alternative, df)
    shaped = [kept(v, x, axis, keepdims) for v in (t, probability, t * 0.0 + df, estimate, t * 0.0 + error)]
    return with_attributes(
        TtestResult,
        *shaped[:2],
        df=shaped[2],
        estimate=shaped[3],
        standard_error=shaped[4],
        alternative=alternative,
    )


@statistic
def ttest_1samp(
    a: ArrayLike,
    popmean: ArrayLike,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> TtestResult:
    """Whether a sample has a given mean.

    >>> f = lambda x: fg.scipy.stats.ttest_1samp(x, 0.0).statistic
    >>> print(fg.grad(f)(np.array([1.0, 3.0])))
    [ 1.5 -0.5]
    """
    x = floats(a)
    lines = along_last(x, axis)
    n = shape_of(lines)[-1]
    expected = floats(popmean)
    if len(shape_of(expected)) > 0 and isinstance(axis, int):
        if shape_of(expected)[axis] != 1:
            raise ValueError("`popmean.shape[axis]` must equal 1.")
        expected = fnp.squeeze(expected, axis)
    error = fnp.sqrt(fnp.var(lines, -1, ddof=1) / n)
    mean = fnp.mean(lines, -1)
    return after_student(mean, error, n - 1.0, alternative, x, axis, keepdims, expected)


@statistic
def ttest_rel(
    a: ArrayLike,
    b: ArrayLike,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> TtestResult:
    """Whether the differences of two related samples have the mean 0.

    >>> f = lambda x: fg.scipy.stats.ttest_rel(x, np.array([1.0, 2.0])).statistic
    >>> print(fg.grad(f)(np.array([2.0, 5.0])))
    [ 1.5 -0.5]
    """
    first, second = floats(a), floats(b)
    lines = along_last(first, axis), along_last(second, axis)
    n = shape_of(lines[0])[-1]
    if n != shape_of(lines[1])[-1]:
        raise ValueError("unequal length arrays")
    away = lines[0] - lines[1]
    error = fnp.sqrt(fnp.var(away, -1, ddof=1) / n)
    return after_student(fnp.mean(away, -1), error, n - 1.0, alternative, first, axis, keepdims)


def pooled(spreads: list[Array], n: list[float], equal_var: bool) -> tuple[Array, Array]:
    """The standard error of a difference of means and its degrees of freedom, Welch's if variances differ."""
    if equal_var:
        df = n[0] + n[1] - 2.0
        shared = ((n[0] - 1.0) * spreads[0] + (n[1] - 1.0) * spreads[1]) / df
        return fnp.sqrt(shared * (1.0 / n[0] + 1.0 / n[1])), df
    parts = [v / k for v, k in zip(spreads, n, strict=True)]
    total = parts[0] + parts[1]
    df = total**2 / (parts[0] ** 2 / (n[0] - 1.0) + parts[1] ** 2 / (n[1] - 1.0))
    return fnp.sqrt(total), fnp.where(fnp.isnan(df), 1.0, df)


def trimmed_moments(lines: Array, trim: float) -> tuple[Array, Array, float]:
    """The mean of the inner part of a sample, its variance after Winsor, and its size (Yuen, 1974)."""
    n = shape_of(lines)[-1]
    cut = int(n * trim)
    ordered = fnp.sort(lines, -1)
    winsorized = ordered[..., np.clip(np.arange(n), cut, n - 1 - cut)]
    left = n - 2.0 * cut
    spread = fnp.var(winsorized, -1, ddof=1) * ((n - 1.0) / (left - 1.0))
    return fnp.mean(ordered[..., cut : n - cut], -1), spread, left


@statistic
def ttest_ind(
    a: ArrayLike,
    b: ArrayLike,
    *,
    axis: Axis = 0,
    equal_var: bool = True,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    trim: float = 0,
    method: Option = None,
    keepdims: bool = False,
) -> TtestResult:
    """Whether two samples have one mean.

    >>> f = lambda x: fg.scipy.stats.ttest_ind(x, np.array([1.0, 2.0])).statistic
    >>> print(fg.grad(f)(np.array([2.0, 5.0])).round(3))
    [ 0.696 -0.063]
    """
    if not 0 <= trim < 0.5:
        raise ValueError("Trimming percentage should be 0 <= `trim` < .5.")
    if method is not None:
        raise refuse("ttest_ind with a method", "Leave method out: the statistic is the same.")
    first, second = floats(a), floats(b)
    lines = [along_last(first, axis), along_last(second, axis)]
    found = [trimmed_moments(x, trim) for x in lines]
    error, df = pooled([v for _, v, _ in found], [n for _, _, n in found], equal_var)
    return after_student(found[0][0] - found[1][0], error, df, alternative, first, axis, keepdims)


@statistic
def ttest_ind_from_stats(
    mean1: ArrayLike,
    std1: ArrayLike,
    nobs1: ArrayLike,
    mean2: ArrayLike,
    std2: ArrayLike,
    nobs2: ArrayLike,
    equal_var: bool = True,
    alternative: str = "two-sided",
) -> SignificanceResult:
    """Whether two samples have one mean, of which mean, standard deviation and size are known.

    >>> f = lambda m: fg.scipy.stats.ttest_ind_from_stats(m, 1.0, 8, 0.0, 1.0, 8).statistic
    >>> print(fg.grad(f)(0.5).round(3))
    2.0
    """
    spreads = [floats(std1) ** 2, floats(std2) ** 2]
    error, df = pooled(spreads, [floats(nobs1), floats(nobs2)], equal_var)
    t = (floats(mean1) - floats(mean2)) / error
    return SignificanceResult(t, tail(t, distribution("t"), alternative, df))
