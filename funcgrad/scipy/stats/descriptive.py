"""Statistics of samples: standard scores, skewness, kurtosis, and densities by kernels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.errors import NotDifferentiableError, UnsupportedFunctionError
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.scipy.linalg import solve_triangular
from funcgrad.scipy.originals import known_value, originals_of
from funcgrad.scipy.reals import require_real
from funcgrad.scipy.softmax import logsumexp
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Option

scipys = originals_of("stats")
"""SciPy's functions and classes by name."""


def traced(x: ArrayLike) -> Array:
    """The sample as an operand of floating-point numbers; None where it is not traced."""
    operand = asoperand(x)
    if not isinstance(operand, Tracer):
        return None
    return operand if aval(operand).inexact else cast(operand, np.float64)


def refuse_nan_policy(name: str, policy: str, x: ArrayLike) -> None:
    """Raise for what leaves out elements by their values, and for a NaN where it is to be raised for."""
    if policy not in ("raise", "propagate", "omit"):
        raise ValueError("nan_policy must be one of {'raise', 'propagate', 'omit'}.")
    known = known_value(x) if policy == "raise" else None
    if known is not None and np.isnan(known).any():
        raise ValueError("The input contains nan values")
    if policy != "propagate" and known is None:
        raise UnsupportedFunctionError(
            f"scipy.stats.{name} with nan_policy={policy!r} is not supported on traced values",
            source=Source(*user_location()),
            remedy="Leave the elements out before, by an index.",
        )


def zscore(a: ArrayLike, axis: int | None = 0, ddof: int = 0, nan_policy: str = "propagate") -> Array:
    """The elements less their mean, over their standard deviation.

    >>> x = np.array([1.0, 2.0, 4.0])
    >>> print(fg.grad(lambda x: fg.scipy.stats.zscore(x)[0])(x).round(3))
    [ 0.229 -0.344  0.115]
    """
    x = traced(a)
    if x is None:
        return scipys("zscore")(a, axis, ddof, nan_policy)
    refuse_nan_policy("zscore", nan_policy, x)
    # A deviation that is rounding alone is none: as SciPy, NaN where all elements are equal.
    same = fnp.max(x, axis, keepdims=True) == fnp.min(x, axis, keepdims=True) if aval(x).size else False
    deviation = fnp.where(same, np.nan, fnp.std(x, axis, ddof=ddof, keepdims=True))
    return (x - fnp.mean(x, axis, keepdims=True)) / deviation


def moments(x: ArrayLike, axis: int | None, order: int, keepdims: bool) -> tuple[Any, Any, int]:
    """The second central moment, another one, and of how many elements they are."""
    require_real(x, "skewness or kurtosis")
    mean = fnp.mean(x, axis, keepdims=True)
    away = x - mean
    count = aval(x).size if axis is None else shape_of(x)[axis]
    square = away * away
    power = square * (away if order == 3 else square)
    second = fnp.mean(square, axis, keepdims=True)
    known = second > (np.finfo(aval(x).dtype).eps * mean) ** 2  # Less is rounding of equal elements.
    found = [fnp.where(known, second, np.nan), fnp.mean(power, axis, keepdims=True)]
    return *[v if keepdims else fnp.squeeze(v, axis) for v in found], count


def skew(
    a: ArrayLike,
    axis: int | None = 0,
    bias: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """The skewness of a sample; NaN where all elements are equal.

    >>> print(fg.grad(fg.scipy.stats.skew)(np.array([1.0, 2.0, 4.0])).round(3))
    [ 0.442 -0.663  0.221]
    """
    x = traced(a)
    if x is None:
        return scipys("skew")(a, axis, bias, nan_policy, keepdims=keepdims)
    refuse_nan_policy("skew", nan_policy, x)
    second, third, n = moments(x, axis, 3, keepdims)
    found = third / second**1.5
    return found if bias or n < 3 else math.sqrt((n - 1.0) * n) / (n - 2.0) * found


def kurtosis(
    a: ArrayLike,
    axis: int | None = 0,
    fisher: bool = True,
    bias: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """The kurtosis of a sample, after Fisher (0 for normal numbers) or after Pearson (3).

    >>> print(fg.grad(fg.scipy.stats.kurtosis)(np.array([1.0, 2.0, 4.0, 4.5])).round(3))
    [-0.305  0.481 -0.274  0.097]
    """
    x = traced(a)
    if x is None:
        return scipys("kurtosis")(a, axis, fisher, bias, nan_policy, keepdims=keepdims)
    refuse_nan_policy("kurtosis", nan_policy, x)
    second, fourth, n = moments(x, axis, 4, keepdims)
    found = fourth / second**2
    if not bias and n > 3:
        found = ((n * n - 1.0) * found - 3.0 * (n - 1.0) ** 2) / ((n - 2.0) * (n - 3.0)) + 3.0
    return found - 3.0 if fisher else found


def rankdata(
    a: ArrayLike, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate"
) -> Array:
    """Ranks, which are whole numbers: they have no derivative, and asking for one raises.

    >>> print(fg.scipy.stats.rankdata(np.array([3.0, 1.0, 2.0])))
    [3. 1. 2.]
    """
    if traced(a) is not None:
        raise NotDifferentiableError(
            "scipy.stats.rankdata of traced values: ranks are constant between jumps",
            remedy="Rank np.asarray(fg.stop_gradient(x)) where no gradient is meant to flow.",
        )
    return scipys("rankdata")(a, method, axis=axis, nan_policy=nan_policy)


class gaussian_kde:
    """A density made of normal ones around the elements of a sample, differentiable by sample and points.

    >>> sample = np.array([0.0, 1.0, 3.0])
    >>> print(fg.grad(lambda x: fg.scipy.stats.gaussian_kde(sample)(x)[0])(1.0).round(4))
    -0.0136
    """

    def __init__(self, dataset: ArrayLike, bw_method: Option = None, weights: ArrayLike = None) -> None:
        given = fnp.asarray(asoperand(dataset))
        self.dataset = fnp.atleast_2d(given if aval(given).inexact else given * 1.0)
        self.d, self.n = shape_of(self.dataset)
        if self.d * self.n < 2:
            raise ValueError("`dataset` input should have multiple elements.")
        counted = np.full(self.n, 1.0) if weights is None else fnp.asarray(asoperand(weights)) * 1.0
        self.weights = counted / fnp.sum(counted)
        self.neff = 1.0 / fnp.sum(self.weights * self.weights)
        self.set_bandwidth(bw_method)

    def set_bandwidth(self, bw_method: Option = None) -> None:
        """Choose the width of the kernels: "scott", "silverman", a number, or a function of this object."""
        if bw_method is None or bw_method == "scott":
            factor = self.neff ** (-1.0 / (self.d + 4.0))
        elif isinstance(bw_method, str):
            if bw_method != "silverman":
                raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar or a callable.")
            factor = (self.neff * (self.d + 2.0) / 4.0) ** (-1.0 / (self.d + 4.0))
        else:
            factor = bw_method(self) if callable(bw_method) else bw_method
        self.factor = factor
        away = self.dataset - fnp.sum(self.weights * self.dataset, 1)[:, None]
        spread = (self.weights * away) @ away.T / (1.0 - fnp.sum(self.weights * self.weights))
        self.covariance = spread * factor * factor
        self._triangle = fnp.linalg.cholesky(self.covariance)

    def logpdf(self, x: ArrayLike) -> Array:
        """The logarithm of the density at points, one in each column."""
        points = fnp.atleast_2d(fnp.asarray(asoperand(x)) * 1.0)
        d, m = shape_of(points)
        if d != self.d:
            if d != 1 or m != self.d:
                raise ValueError(f"points have dimension {d}, dataset has dimension {self.d}")
            points = fnp.reshape(points, (self.d, 1))
        here, there = [solve_triangular(self._triangle, v, lower=True) for v in (points, self.dataset)]
        away = here[:, :, None] - there[:, None, :]
        size = fnp.sum(fnp.log(fnp.diagonal(self._triangle))) + 0.5 * self.d * np.log(2.0 * np.pi)
        return logsumexp(fnp.log(self.weights) - 0.5 * fnp.sum(away * away, 0), axis=1) - size

    def evaluate(self, points: ArrayLike) -> Array:
        """The density at points, one in each column."""
        return fnp.exp(self.logpdf(points))

    __call__ = pdf = evaluate

    def __getattr__(self, name: str) -> Anything:
        plain: Any = scipys("gaussian_kde")
        if name.startswith("_") or not hasattr(plain, name):
            raise AttributeError(name)
        if recorder_of([self.dataset, self.weights, asoperand(self.factor)]) is not None:
            raise UnsupportedFunctionError(
                f"gaussian_kde.{name} of a traced sample is not supported",
                source=Source(*user_location()),
                remedy="It has logpdf and pdf.",
            )
        return getattr(plain(self.dataset, float(self.factor), self.weights), name)
