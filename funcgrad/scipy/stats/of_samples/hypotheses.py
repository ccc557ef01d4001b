"""Tests of hypotheses whose statistics are smooth, with the probabilities of their statistics."""

from __future__ import annotations

import math

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.originals import at_hand
from funcgrad.scipy.special import rel_entr
from funcgrad.scipy.stats.descriptive import kurtosis, skew
from funcgrad.scipy.stats.distributions import distribution
from funcgrad.scipy.stats.of_samples.outcomes import SignificanceResult
from funcgrad.scipy.stats.of_samples.statistic import Axis, along_last, floats, kept, statistic, tail
from funcgrad.scipy.stats.of_samples.trimmed import trim_mean
from funcgrad.types import Array, ArrayLike

__all__ = [
    "bartlett",
    "chisquare",
    "combine_pvalues",
    "f_oneway",
    "jarque_bera",
    "kurtosistest",
    "levene",
    "normaltest",
    "power_divergence",
    "skewtest",
]


def outcome(found: Array, probability: Array, x: Array, axis: Axis, keepdims: bool) -> SignificanceResult:
    """A statistic and its probability, in the place of what they were found along."""
    return SignificanceResult(kept(found, x, axis, keepdims), kept(probability, x, axis, keepdims))


def several(samples: tuple[ArrayLike, ...], axis: Axis) -> tuple[Array, list[Array], list[float]]:
    """The first of some samples, all of them by lines, and how many elements each line has."""
    if len(samples) < 2:
        raise TypeError(f"at least two inputs are required; got {len(samples)}.")
    given = [floats(x) for x in samples]
    lines = [along_last(x, axis) for x in given]
    return given[0], lines, [float(shape_of(x)[-1]) for x in lines]


@statistic
def f_oneway(
    *samples: ArrayLike,
    axis: Axis = 0,
    equal_var: bool = True,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> SignificanceResult:
    """Whether samples have one mean: analysis of variance, Welch's where variances are not taken to be equal.

    >>> f = lambda x: fg.scipy.stats.f_oneway(x, np.array([1.0, 3.0])).statistic
    >>> print(fg.grad(f)(np.array([2.0, 5.0])).round(3))
    [0.781 0.142]
    """
    first, lines, n = several(samples, axis)
    means = [fnp.mean(x, -1) for x in lines]
    squares = [fnp.sum((x - m[..., None]) ** 2, -1) for x, m in zip(lines, means, strict=True)]
    groups = len(lines)
    if equal_var:
        total = sum(n)
        middle = sum((k * m for k, m in zip(n, means, strict=True)), 0.0) / total
        between = sum((k * (m - middle) ** 2 for k, m in zip(n, means, strict=True)), 0.0)
        below = sum(squares, 0.0) / (total - groups)
        found, free = between / (groups - 1.0) / below, total - groups
    else:
        weights = [k * (k - 1.0) / s for k, s in zip(n, squares, strict=True)]
        whole = sum(weights, 0.0)
        middle = sum((w * m for w, m in zip(weights, means, strict=True)), 0.0) / whole
        above = sum((w * (m - middle) ** 2 for w, m in zip(weights, means, strict=True)), 0.0)
        lost = sum(((1.0 - w / whole) ** 2 / (k - 1.0) for w, k in zip(weights, n, strict=True)), 0.0)
        scale = groups * groups - 1.0
        found = above / (groups - 1.0) / (1.0 + 2.0 * (groups - 2.0) / scale * lost)
        free = scale / (3.0 * lost)
    probability = distribution("f").sf(found, groups - 1.0, free)
    return outcome(found, probability, first, axis, keepdims)


@statistic
def bartlett(
    *samples: ArrayLike, axis: Axis = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> SignificanceResult:
    """Whether normal samples have one variance.

    >>> f = lambda x: fg.scipy.stats.bartlett(x, np.array([1.0, 3.0, 4.0])).statistic
    >>> print(fg.grad(f)(np.array([2.0, 5.0, 4.0])).round(3))
    [0. 0. 0.]
    """
    if len(samples) < 2:
        raise ValueError("Must enter at least two input sample vectors.")
    first, lines, n = several(samples, axis)
    groups, total = float(len(lines)), sum(n)
    spreads = [fnp.var(x, -1, ddof=1) for x in lines]
    pooled = sum(((k - 1.0) * v for k, v in zip(n, spreads, strict=True)), 0.0) / (total - groups)
    logs = sum(((k - 1.0) * fnp.log(v) for k, v in zip(n, spreads, strict=True)), 0.0)
    above = (total - groups) * fnp.log(pooled) - logs
    correction = sum(1.0 / (k - 1.0) for k in n) - 1.0 / (total - groups)
    found = above / (1.0 + correction / (3.0 * (groups - 1.0)))
    probability = distribution("chi2").sf(found, groups - 1.0)
    return outcome(fnp.maximum(found, 0.0), probability, first, axis, keepdims)


@statistic
def levene(
    *samples: ArrayLike,
    center: str = "median",
    proportiontocut: float = 0.05,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> SignificanceResult:
    """Whether samples have one variance, by distances to their centres.

    >>> f = lambda x: fg.scipy.stats.levene(x, np.array([1.0, 3.0, 4.0]), center="mean").statistic
    >>> print(fg.grad(f)(np.array([2.0, 7.0, 4.0])).round(3))
    [-0.073  0.765 -0.693]
    """
    if center not in ("mean", "median", "trimmed"):
        raise ValueError("center must be 'mean', 'median' or 'trimmed'.")
    if len(samples) < 2:
        raise ValueError("Must provide at least two samples.")
    first, lines, _ = several(samples, axis)
    away = []
    for x in lines:
        if center == "trimmed":
            middle = trim_mean(x, proportiontocut, axis=-1)
        else:
            middle = fnp.median(x, -1) if center == "median" else fnp.mean(x, -1)
        away.append(fnp.abs(x - middle[..., None]))
    found, probability = f_oneway.__wrapped__(*away, axis=-1)  # type: ignore[attr-defined]
    return outcome(found, probability, first, axis, keepdims)


LAMBDAS = {
    "pearson": 1.0,
    "log-likelihood": 0.0,
    "freeman-tukey": -0.5,
    "mod-log-likelihood": -1.0,
    "neyman": -2.0,
    "cressie-read": 2.0 / 3.0,
}
"""The exponents that have names."""


@statistic
def power_divergence(
    f_obs: ArrayLike,
    f_exp: ArrayLike | None = None,
    ddof: int = 0,
    axis: Axis = 0,
    lambda_: str | float | None = None,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> SignificanceResult:
    """How far frequencies are from those expected, by Cressie and Read's family.

    >>> f = lambda x: fg.scipy.stats.power_divergence(x, lambda_="log-likelihood").statistic
    >>> print(fg.grad(f)(np.array([1.0, 3.0])).round(3))
    [-1.386  0.811]
    """
    return divergence(f_obs, f_exp, ddof, axis, lambda_, keepdims, True)


@statistic
def chisquare(
    f_obs: ArrayLike,
    f_exp: ArrayLike | None = None,
    ddof: int = 0,
    axis: Axis = 0,
    *,
    sum_check: bool = True,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> SignificanceResult:
    """How far frequencies are from those expected: the sum of squares over what is expected.

    >>> print(fg.grad(lambda x: fg.scipy.stats.chisquare(x).statistic)(np.array([1.0, 3.0])))
    [-1.25  0.75]
    """
    return divergence(f_obs, f_exp, ddof, axis, "pearson", keepdims, sum_check)


def divergence(
    f_obs: ArrayLike,
    f_exp: ArrayLike | None,
    ddof: int,
    axis: Axis,
    lambda_: str | float | None,
    keepdims: bool,
    sum_check: bool,
) -> SignificanceResult:
    """The statistic of a member of Cressie and Read's family, and its probability."""
    if isinstance(lambda_, str) and lambda_ not in LAMBDAS:
        raise ValueError(f"invalid string for lambda_: {lambda_!r}. Valid strings are {list(LAMBDAS)}")
    power = 1.0 if lambda_ is None else LAMBDAS[lambda_] if isinstance(lambda_, str) else float(lambda_)
    x = floats(f_obs)
    observed = along_last(x, axis)
    if f_exp is None:
        expected = fnp.mean(observed, -1, keepdims=True)
    else:
        expected = along_last(floats(f_exp), axis)
        if sum_check:
            require_equal_sums(f_obs, f_exp, axis)
    if power == 1.0:
        terms = (observed - expected) ** 2 / expected
    elif power == 0.0:
        terms = 2.0 * rel_entr(observed, expected)
    elif power == -1.0:
        terms = 2.0 * rel_entr(expected, observed)
    else:
        terms = observed * ((observed / expected) ** power - 1.0) * (2.0 / (power * (power + 1.0)))
    found = fnp.sum(terms, -1)
    probability = distribution("chi2").sf(found, shape_of(observed)[-1] - 1.0 - ddof)
    return outcome(found, probability, x, axis, keepdims)


def require_equal_sums(observed: ArrayLike, expected: ArrayLike, axis: Axis) -> None:
    """Raise ValueError where frequencies that have values do not sum to what is expected."""
    known = at_hand(observed), at_hand(expected)
    if known[0] is None or known[1] is None:
        return
    axes = axis if axis is None or isinstance(axis, int) else tuple(axis)
    sums = [np.sum(np.asarray(v), axes) for v in known]
    tolerance = math.sqrt(np.finfo(np.result_type(np.asarray(known[0]), np.float32)).eps)
    if np.any(np.abs(sums[0] - sums[1]) > tolerance * np.minimum(*sums)):
        raise ValueError(
            "For each axis slice, the sum of the observed frequencies must agree with the sum of the "
            f"expected frequencies to a relative tolerance of {tolerance}"
        )


@statistic
def jarque_bera(
    x: ArrayLike, *, axis: Axis = None, nan_policy: str = "propagate", keepdims: bool = False
) -> SignificanceResult:
    """Whether a sample has the skewness and kurtosis of normal numbers.

    >>> f = lambda x: fg.scipy.stats.jarque_bera(x).statistic
    >>> print(fg.grad(f)(np.array([1.0, 2.0, 4.0, 9.0])).round(3))
    [ 0.146 -0.048 -0.166  0.068]
    """
    sample = floats(x)
    lines = along_last(sample, axis)
    found = shape_of(lines)[-1] / 6.0 * (skew(lines, -1) ** 2 + kurtosis(lines, -1) ** 2 / 4.0)
    return outcome(found, distribution("chi2").sf(found, 2.0), sample, axis, keepdims)


def skewness_score(lines: Array) -> Array:
    """D'Agostino's transformation of skewness to a normal number (1970)."""
    n = float(shape_of(lines)[-1])
    if n < 8:
        return skew(lines, -1) * np.nan
    y = skew(lines, -1) * math.sqrt((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0)))
    beta = 3.0 * (n * n + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0)
    beta /= (n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0)
    squared = math.sqrt(2.0 * (beta - 1.0)) - 1.0
    scale = math.sqrt(2.0 / (squared - 1.0))
    return fnp.arcsinh(y / scale) / math.sqrt(0.5 * math.log(squared))


def kurtosis_score(lines: Array) -> Array:
    """Anscombe and Glynn's transformation of kurtosis to a normal number (1983)."""
    n = float(shape_of(lines)[-1])
    if n < 5:
        return kurtosis(lines, -1) * np.nan
    mean = 3.0 * (n - 1.0) / (n + 1.0)
    spread = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0) ** 2 * (n + 3.0) * (n + 5.0))
    x = (kurtosis(lines, -1, fisher=False) - mean) / math.sqrt(spread)
    third = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0))
    third *= math.sqrt(6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0)))
    a = 6.0 + 8.0 / third * (2.0 / third + math.sqrt(1.0 + 4.0 / third**2))
    below = 1.0 + x * math.sqrt(2.0 / (a - 4.0))
    below = fnp.where(below == 0.0, np.nan, below)
    root = fnp.sign(below) * ((1.0 - 2.0 / a) / fnp.abs(below)) ** (1.0 / 3.0)
    return (1.0 - 2.0 / (9.0 * a) - root) / math.sqrt(2.0 / (9.0 * a))


@statistic
def skewtest(
    a: ArrayLike,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> SignificanceResult:
    """Whether a sample is as symmetric as normal numbers.

    >>> f = lambda x: fg.scipy.stats.skewtest(x).statistic
    >>> print(fg.grad(f)(np.arange(8.0) ** 2).round(3))
    [ 0.03   0.024  0.007 -0.015 -0.035 -0.041 -0.019  0.048]
    """
    x = floats(a)
    found = skewness_score(along_last(x, axis))
    return outcome(found, tail(found, distribution("norm"), alternative), x, axis, keepdims)


@statistic
def kurtosistest(
    a: ArrayLike,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> SignificanceResult:
    """Whether a sample has the kurtosis of normal numbers.

    >>> f = lambda x: fg.scipy.stats.kurtosistest(x).statistic
    >>> print(fg.grad(f)(np.arange(6.0) ** 2).round(3))
    [ 0.047  0.059  0.043 -0.084 -0.238  0.173]
    """
    x = floats(a)
    found = kurtosis_score(along_last(x, axis))
    return outcome(found, tail(found, distribution("norm"), alternative), x, axis, keepdims)


@statistic
def normaltest(
    a: ArrayLike, axis: Axis = 0, nan_policy: str = "propagate", *, keepdims: bool = False
) -> SignificanceResult:
    """Whether a sample has the skewness and the kurtosis of normal numbers.

    >>> f = lambda x: fg.scipy.stats.normaltest(x).statistic
    >>> print(fg.grad(f)(np.arange(8.0) ** 2).round(3))
    [ 0.061  0.047  0.008 -0.038 -0.07  -0.067 -0.016  0.074]
    """
    x = floats(a)
    lines = along_last(x, axis)
    found = skewness_score(lines) ** 2 + kurtosis_score(lines) ** 2
    return outcome(found, distribution("chi2").sf(found, 2.0), x, axis, keepdims)


@statistic
def combine_pvalues(
    pvalues: ArrayLike,
    method: str = "fisher",
    weights: ArrayLike | None = None,
    *,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> SignificanceResult:
    """One probability for several tests of one hypothesis.

    >>> f = lambda p: fg.scipy.stats.combine_pvalues(p).pvalue
    >>> print(fg.grad(f)(np.array([0.1, 0.5])).round(3))
    [1.498 0.3  ]
    """
    x = floats(pvalues)
    p = along_last(x, axis)
    n = float(shape_of(p)[-1])
    if method == "fisher":
        found = -2.0 * fnp.sum(fnp.log(p), -1)
        probability = distribution("chi2").sf(found, 2.0 * n)
    elif method == "pearson":
        found = 2.0 * fnp.sum(fnp.log1p(-p), -1)
        probability = distribution("chi2").cdf(-found, 2.0 * n)
    elif method == "mudholkar_george":
        found = fnp.sum(fnp.log1p(-p) - fnp.log(p), -1)
        free = 5.0 * n + 4.0
        scale = math.sqrt(3.0 / n) / math.pi * math.sqrt(free / (free - 2.0))
        probability = distribution("t").sf(found * scale, free)
    elif method == "tippett":
        found = fnp.min(p, -1)
        probability = distribution("beta").cdf(found, 1.0, n)
    elif method == "stouffer":
        w = fnp.ones_like(p) if weights is None else along_last(floats(weights), axis)
        found = fnp.sum(w * distribution("norm").isf(p), -1) / fnp.sqrt(fnp.sum(w * w, -1))
        probability = distribution("norm").sf(found)
    else:
        known = "'fisher', 'pearson', 'mudholkar_george', 'tippett', and 'stouffer'"
        raise ValueError(f"Invalid method {method!r}. Valid methods are {known}")
    return outcome(found, probability, x, axis, keepdims)
