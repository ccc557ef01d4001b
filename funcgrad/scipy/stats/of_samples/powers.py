"""Power transformations of samples, after Box and Cox and after Yeo and Johnson, and their likelihoods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.optimize import minimize_scalar
from funcgrad.scipy.originals import at_hand
from funcgrad.scipy.special import boxcox as boxcox_of
from funcgrad.scipy.special import boxcox1p
from funcgrad.scipy.stats.of_samples.statistic import Axis, along_last, floats, kept, refuse, statistic
from funcgrad.types import Anything, Array, ArrayLike, Option

__all__ = ["boxcox", "boxcox_llf", "yeojohnson", "yeojohnson_llf"]


@statistic
def boxcox_llf(
    lmb: ArrayLike, data: ArrayLike, *, axis: Axis = 0, keepdims: bool = False, nan_policy: str = "propagate"
) -> Array:
    """The logarithm of the likelihood of Box and Cox's transformation.

    >>> x = np.array([1.0, 2.0, 4.0])
    >>> print(fg.grad(lambda p: fg.scipy.stats.boxcox_llf(p, x))(0.5).round(3))
    -0.295
    """
    x = floats(data)
    return kept(likelihood_of_boxcox(lmb, along_last(x, axis)), x, axis, keepdims)


def likelihood_of_boxcox(lmb: ArrayLike, lines: Array) -> Array:
    """Over their geometric mean the elements lose the Jacobian, and powers of them stay in range."""
    logs = fnp.log(lines)
    total = fnp.sum(logs, -1)
    n = shape_of(lines)[-1]
    centred = fnp.exp(logs - total[..., None] / n)
    return -total - 0.5 * n * fnp.log(fnp.var(boxcox_of(centred, lmb), -1))


@statistic
def boxcox(
    x: ArrayLike, lmbda: ArrayLike | None = None, alpha: float | None = None, optimizer: Option = None
) -> Anything:
    """Box and Cox's transformation, or of the likeliest exponent, which is then returned too.

    >>> f = lambda x: fg.scipy.stats.boxcox(x)[1]
    >>> print(fg.grad(f)(np.array([1.0, 2.0, 5.0])).round(3))
    [-1.192  0.934 -0.135]
    """
    sample = floats(x)
    if lmbda is not None:
        return boxcox_of(sample, lmbda)
    if alpha is not None or optimizer is not None:
        raise refuse("boxcox with alpha or optimizer", "Find the interval by fg.scipy.optimize.brentq.")
    if len(shape_of(sample)) != 1:
        raise ValueError("Data must be 1-dimensional.")
    known = at_hand(x)
    if known is not None and np.any(known <= 0):
        raise ValueError("Data must be positive.")
    if known is not None and np.all(known == known[0]):
        raise ValueError("Data must not be constant.")
    found = likeliest(likelihood_of_boxcox, sample)
    return boxcox_of(sample, found), found


def likeliest(likelihood: Callable[[Any, Array], Array], sample: Array) -> Array:
    """The exponent where a likelihood is largest."""
    return minimize_scalar(lambda p: -likelihood(p, sample), bracket=(-2.0, 2.0)).x


def yeojohnson_of(x: Array, lmbda: ArrayLike) -> Array:
    """Yeo and Johnson's transformation (2000): Box and Cox's of 1 + x, and of 1 - x on the other side."""
    away = fnp.abs(x)
    return fnp.where(x >= 0.0, boxcox1p(away, lmbda), -boxcox1p(away, 2.0 - lmbda))


def likelihood_of_yeojohnson(lmb: ArrayLike, lines: Array) -> Array:
    """The logarithm of the likelihood along the last axis."""
    spread = fnp.var(yeojohnson_of(lines, lmb), -1)
    jacobian = fnp.sum(fnp.sign(lines) * fnp.log1p(fnp.abs(lines)), -1)
    return -0.5 * shape_of(lines)[-1] * fnp.log(spread) + (lmb - 1.0) * jacobian


@statistic
def yeojohnson_llf(
    lmb: ArrayLike, data: ArrayLike, *, axis: Axis = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> Array:
    """The logarithm of the likelihood of Yeo and Johnson's transformation.

    >>> x = np.array([-1.0, 2.0, 4.0])
    >>> print(fg.grad(lambda p: fg.scipy.stats.yeojohnson_llf(p, x))(0.5).round(3))
    0.791
    """
    x = floats(data)
    return kept(likelihood_of_yeojohnson(lmb, along_last(x, axis)), x, axis, keepdims)


@statistic
def yeojohnson(x: ArrayLike, lmbda: ArrayLike | None = None) -> Anything:
    """Yeo and Johnson's transformation, of the exponent that is likeliest if none is given.

    >>> f = lambda x: fg.scipy.stats.yeojohnson(x, 0.5)[0]
    >>> print(fg.grad(f)(np.array([-1.0, 2.0])).round(3))
    [1.414 0.   ]
    """
    sample = floats(x)
    if lmbda is not None:
        return yeojohnson_of(sample, lmbda)
    found = likeliest(likelihood_of_yeojohnson, sample)
    return yeojohnson_of(sample, found), found
