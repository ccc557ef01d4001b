"""Statistics that sum a sample up: means of other kinds, circular ones, spreads, moments, and entropy.

Each is SciPy's own on what is not traced.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.ops.elementwise.arithmetic import strong_product
from funcgrad.scipy.special import entr, rel_entr
from funcgrad.scipy.stats.descriptive import refuse_nan_policy, scipys, zscore
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, DTypeLike

__all__ = [
    "circmean",
    "circstd",
    "circvar",
    "entropy",
    "gmean",
    "gzscore",
    "hmean",
    "moment",
    "pmean",
    "sem",
    "variation",
]

Axis = int | Sequence[int] | None


def operands(
    name: str, nan_policy: str, *given: ArrayLike | None, dtype: DTypeLike = None
) -> list[Any] | None:
    """The samples as floating-point operands, those that are None as they are; None if none is traced."""
    found = [None if x is None else asoperand(x) for x in given]
    if not any(isinstance(x, Tracer) for x in found):
        return None
    for x in found:
        if x is not None:
            refuse_nan_policy(name, nan_policy, x)
    arrays = [None if x is None else fnp.asarray(x) for x in found]
    return [None if x is None else cast(x, dtype) if dtype else as_floats(x) for x in arrays]


def as_floats(x: Array) -> Array:
    """An array of floating-point numbers."""
    return x if aval(x).inexact else cast(x, np.float64)


def count_along(x: Array, axis: Axis) -> int:
    """How many elements there are along an axis, along several, or in all."""
    shape = shape_of(x)
    axes = range(len(shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    return math.prod([shape[k] for k in axes])


def mean_of(x: Array, axis: Axis, weights: Array | None, keepdims: bool) -> Array:
    """The mean, weighted or not."""
    if weights is None:
        return fnp.mean(x, axis, keepdims=keepdims)
    return fnp.average(x, axis, weights, keepdims=keepdims)


def gmean(
    a: ArrayLike,
    axis: Axis = 0,
    dtype: DTypeLike = None,
    weights: ArrayLike | None = None,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    """The geometric mean.

    >>> print(fg.grad(fg.scipy.stats.gmean)(np.array([1.0, 4.0])))
    [1.   0.25]
    """
    given = operands("gmean", nan_policy, a, weights, dtype=dtype)
    if given is None:
        options: dict[str, Any] = {"nan_policy": nan_policy, "keepdims": keepdims}
        return scipys("gmean")(a, axis, dtype, weights, **options)
    x, w = given
    return fnp.exp(mean_of(fnp.log(x), axis, w, keepdims))


def hmean(
    a: ArrayLike,
    axis: Axis = 0,
    dtype: DTypeLike = None,
    *,
    weights: ArrayLike | None = None,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    """The harmonic mean; NaN where an element is negative.

    >>> print(fg.grad(fg.scipy.stats.hmean)(np.array([1.0, 4.0])))
    [1.28 0.08]
    """
    given = operands("hmean", nan_policy, a, weights, dtype=dtype)
    if given is None:
        options: dict[str, Any] = {"weights": weights, "nan_policy": nan_policy, "keepdims": keepdims}
        return scipys("hmean")(a, axis, dtype, **options)
    x, w = given
    return 1.0 / mean_of(1.0 / fnp.where(x < 0.0, np.nan, x), axis, w, keepdims)


def pmean(
    a: ArrayLike,
    p: ArrayLike,
    *,
    axis: Axis = 0,
    dtype: DTypeLike = None,
    weights: ArrayLike | None = None,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    """The power mean of exponent `p`, a number; NaN where an element is negative.

    >>> print(fg.grad(lambda x: fg.scipy.stats.pmean(x, 2))(np.array([1.0, 7.0])))
    [0.1 0.7]
    """
    given = operands("pmean", nan_policy, a, weights, dtype=dtype)
    options: dict[str, Any] = {"weights": weights, "nan_policy": nan_policy, "keepdims": keepdims}
    if isinstance(p, Tracer):
        raise UnsupportedFunctionError(
            "scipy.stats.pmean with a traced exponent is not supported",
            source=Source(*user_location()),
            remedy="Use np.mean(x ** p) ** (1 / p).",
        )
    if given is None:
        return scipys("pmean")(a, p, axis=axis, dtype=dtype, **options)
    if not isinstance(p, int | float):
        raise ValueError("Power mean only defined for exponent of type int or float.")
    if p == 0:
        return gmean(a, axis, dtype, **options)
    if math.isinf(p):
        raise NotImplementedError("Power mean only implemented for finite `p`")
    x, w = given
    return mean_of(fnp.where(x < 0.0, np.nan, x) ** float(p), axis, w, keepdims) ** (1.0 / p)


def mean_direction(x: Array, period: float, axis: Axis, keepdims: bool) -> tuple[Array, Array]:
    """The mean sine and cosine of a sample on a circle."""
    angle = x * (2.0 * math.pi / period)
    sine, cosine = fnp.sin(angle), fnp.cos(angle)
    return fnp.mean(sine, axis, keepdims=keepdims), fnp.mean(cosine, axis, keepdims=keepdims)


def circmean(
    samples: ArrayLike,
    high: float = 2.0 * math.pi,
    low: float = 0.0,
    axis: Axis = None,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """The mean on a circle that `low` and `high` are one point of.

    >>> print(fg.grad(fg.scipy.stats.circmean)(np.array([0.1, 6.2])).round(3))
    [0.5 0.5]
    """
    given = operands("circmean", nan_policy, samples)
    if given is None:
        return scipys("circmean")(samples, high, low, axis, nan_policy, keepdims=keepdims)
    period = high - low
    sine, cosine = mean_direction(given[0], period, axis, keepdims)
    return (fnp.arctan2(sine, cosine) * (period / (2.0 * math.pi)) - low) % period + low


def resultant(x: Array, period: float, axis: Axis, keepdims: bool) -> Array:
    """The length of the mean direction, which rounding must not make larger than 1."""
    return fnp.minimum(fnp.hypot(*mean_direction(x, period, axis, keepdims)), 1.0)


def circvar(
    samples: ArrayLike,
    high: float = 2.0 * math.pi,
    low: float = 0.0,
    axis: Axis = None,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """The variance on a circle that `low` and `high` are one point of.

    >>> print(fg.grad(fg.scipy.stats.circvar)(np.array([0.0, 1.0])).round(3))
    [-0.24  0.24]
    """
    given = operands("circvar", nan_policy, samples)
    if given is None:
        return scipys("circvar")(samples, high, low, axis, nan_policy, keepdims=keepdims)
    return 1.0 - resultant(given[0], high - low, axis, keepdims)


def circstd(
    samples: ArrayLike,
    high: float = 2.0 * math.pi,
    low: float = 0.0,
    axis: Axis = None,
    nan_policy: str = "propagate",
    *,
    normalize: bool = False,
    keepdims: bool = False,
) -> Array:
    """The standard deviation on a circle that `low` and `high` are one point of.

    >>> print(fg.grad(fg.scipy.stats.circstd)(np.array([0.0, 1.0])).round(3))
    [-0.534  0.534]
    """
    given = operands("circstd", nan_policy, samples)
    if given is None:
        options = {"normalize": normalize, "keepdims": keepdims}
        return scipys("circstd")(samples, high, low, axis, nan_policy, **options)
    period = high - low
    found = fnp.sqrt(-2.0 * fnp.log(resultant(given[0], period, axis, keepdims)))
    return found if normalize else found * (period / (2.0 * math.pi))


def sem(
    a: ArrayLike, axis: Axis = 0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False
) -> Array:
    """The standard error of the mean.

    >>> print(fg.grad(fg.scipy.stats.sem)(np.array([1.0, 3.0])))
    [-0.5  0.5]
    """
    given = operands("sem", nan_policy, a)
    if given is None:
        return scipys("sem")(a, axis, ddof, nan_policy, keepdims=keepdims)
    return fnp.std(given[0], axis, ddof=ddof, keepdims=keepdims) / math.sqrt(count_along(given[0], axis))


def variation(
    a: ArrayLike, axis: Axis = 0, nan_policy: str = "propagate", ddof: int = 0, *, keepdims: bool = False
) -> Array:
    """The coefficient of variation: the standard deviation over the mean.

    >>> print(fg.grad(fg.scipy.stats.variation)(np.array([1.0, 3.0])))
    [-0.375  0.125]
    """
    given = operands("variation", nan_policy, a)
    if given is None:
        return scipys("variation")(a, axis, nan_policy, ddof, keepdims=keepdims)
    [x] = given
    if ddof == count_along(x, axis):
        # As SciPy: infinite with the sign of the mean, for what varies at all.
        mean, spread = fnp.mean(x, axis, keepdims=keepdims), fnp.std(x, axis, keepdims=keepdims)
        return fnp.where(spread > 0.0, fnp.copysign(np.inf, mean), np.nan)
    return fnp.std(x, axis, ddof=ddof, keepdims=keepdims) / fnp.mean(x, axis, keepdims=keepdims)


def moment(
    a: ArrayLike,
    order: ArrayLike = 1,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    *,
    center: ArrayLike | None = None,
    keepdims: bool = False,
) -> Array:
    """The moment of an order, or of several along a new first axis, about the mean or a `center`.

    >>> print(fg.grad(lambda x: fg.scipy.stats.moment(x, 2))(np.array([1.0, 3.0])))
    [-1.  1.]
    """
    given = operands("moment", nan_policy, a, center)
    if given is None:
        return scipys("moment")(a, order, axis, nan_policy, center=center, keepdims=keepdims)
    x, about = given
    orders = np.asarray(order)
    if not orders.size or orders.ndim > 1:
        raise ValueError("`order` must be a scalar or a non-empty 1D array.")
    if np.any(orders != np.round(orders)):
        raise ValueError("All elements of `order` must be integral.")
    away = x - (fnp.mean(x, axis, keepdims=True) if about is None else about)
    found = [
        # Of order 1 about the mean it is 0 by definition, whatever is rounded.
        fnp.mean(0.0 * x if about is None and k == 1 else away ** int(k), axis, keepdims=keepdims)
        for k in orders.reshape(-1)
    ]
    return fnp.stack(found) if orders.ndim else found[0]


def gzscore(a: ArrayLike, *, axis: int | None = 0, ddof: int = 0, nan_policy: str = "propagate") -> Array:
    """The standard scores of the logarithms.

    >>> print(fg.grad(lambda x: fg.scipy.stats.gzscore(x)[0])(np.array([1.0, 2.0, 8.0])).round(3))
    [ 0.33  -0.248  0.021]
    """
    given = operands("gzscore", nan_policy, a)
    if given is None:
        return scipys("gzscore")(a, axis=axis, ddof=ddof, nan_policy=nan_policy)
    return zscore(fnp.log(given[0]), axis, ddof, nan_policy)


def shares(x: Array, axis: Axis) -> Array:
    """`x` over its sum; what is 0 of it does not move with the sum, however steep it is there."""
    total = fnp.sum(x, axis, keepdims=True)
    none = total == 0.0
    return strong_product(x, 1.0 / fnp.where(none, 1.0, total)) + fnp.where(none, math.nan, 0.0)


def entropy(
    pk: ArrayLike,
    qk: ArrayLike | None = None,
    base: float | None = None,
    axis: Axis = 0,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:
    """The entropy of probabilities, or theirs relative to others; both are scaled so that they add up to 1.

    >>> print(fg.grad(fg.scipy.stats.entropy)(np.array([0.25, 0.75])).round(3))
    [ 0.824 -0.275]
    """
    given = operands("entropy", nan_policy, pk, qk)
    if given is None:
        return scipys("entropy")(pk, qk, base, axis, nan_policy=nan_policy, keepdims=keepdims)
    if base is not None and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    p, q = given if given[1] is None else fnp.broadcast_arrays(*given)
    p = shares(p, axis)
    terms = entr(p) if q is None else rel_entr(p, shares(q, axis))
    found = fnp.sum(terms, axis, keepdims=keepdims)
    return found if base is None else found / math.log(base)
