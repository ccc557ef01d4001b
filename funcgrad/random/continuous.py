"""Samples of continuous distributions, differentiable by their parameters.

Each is a smooth function of its parameters and of standard samples that do not depend on them; a gamma sample
moves with its shape by the implicit derivative (see `funcgrad.ops.random.gamma_path`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.api.rules.custom import custom_jvp
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.structure import broadcast_to, cast, reshape, shape_of
from funcgrad.ops.elementwise.arithmetic import add, div, mul, neg, sub
from funcgrad.ops.elementwise.comparison import equal, greater
from funcgrad.ops.elementwise.elementary import sqrt
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.random.draws import (
    SampledProduct,
    SampledSoftmax,
    sampled_add,
    sampled_cholesky,
    sampled_exp,
    sampled_log,
    sampled_log1p,
    sampled_log_ndtr,
    sampled_logaddexp,
    sampled_logistic,
    sampled_ndtri_exp,
    sampled_sub,
)
from funcgrad.ops.random.gamma_path import gamma_path_slope
from funcgrad.ops.random.random_words import (
    RandomCauchy,
    RandomExponential,
    RandomGumbel,
    RandomLaplace,
    RandomLogistic,
    RandomNormal,
    RandomUniform,
    smallest,
)
from funcgrad.ops.random.rejection import RandomLogGamma
from funcgrad.ops.reducing.extremes import clip, maximum
from funcgrad.random.keys import checked, float_dtype, shape_argument, shape_for, split
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, DTypeLike, Number, ShapeLike

__all__ = [
    "beta",
    "cauchy",
    "chisquare",
    "dirichlet",
    "exponential",
    "gamma",
    "gumbel",
    "laplace",
    "loggamma",
    "logistic",
    "multivariate_normal",
    "normal",
    "student_t",
    "truncated_normal",
    "uniform",
]

# -- standard samples ---------------------------------------------------------------------------------------


def standard_uniform(key: ArrayLike, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Numbers from 0 up to, not including, 1."""
    return RandomUniform(shape, dtype).bind(checked(key))


def inner_uniform(key: ArrayLike, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Numbers between 0 and 1, neither of them included."""
    return maximum(standard_uniform(key, shape, dtype), smallest(dtype))


def standard_normal(key: ArrayLike, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Normal numbers with mean 0 and variance 1."""
    return RandomNormal(shape, dtype).bind(checked(key))


def parameter(x: ArrayLike, dtype: np.dtype[Any]) -> Array:
    """A parameter in the dtype of the samples."""
    return cast(asoperand(x), dtype)


# -- location and scale -------------------------------------------------------------------------------------


def uniform(
    key: ArrayLike,
    shape: ShapeLike = (),
    dtype: DTypeLike = float,
    minval: ArrayLike = 0.0,
    maxval: ArrayLike = 1.0,
) -> Array:
    """Numbers from `minval` up to, not including, `maxval`, all equally likely.

    >>> x = fg.random.uniform(fg.random.key(0), (1000,), minval=2.0, maxval=4.0)
    >>> bool(np.all((2 <= x) & (x < 4)))
    True
    """
    kind = float_dtype(dtype)
    low, high = parameter(minval, kind), parameter(maxval, kind)
    u = standard_uniform(key, shape_for(shape, low, high), kind)
    if isinstance(minval, int | float) and isinstance(maxval, int | float):
        return u if (minval, maxval) == (0, 1) else below(between(u, low, high), high)
    return between(u, low, high)


def between(u: ArrayLike, low: Number, high: Number) -> Array:
    """Numbers between 0 and 1, moved to between `low` and `high`."""
    return sampled_add(mul(u, sampled_sub(high, low)), low)


def below(x: ArrayLike, end: ArrayLike) -> Array:
    """The samples, none of which rounding may have lifted to the end."""
    return np.minimum(x, np.nextafter(end, -np.inf, dtype=end.dtype))


def normal(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = float) -> Array:
    """Normal numbers with mean 0 and variance 1; multiply and add for others.

    >>> loc = fg.grad(lambda loc: np.mean(loc + 2.0 * fg.random.normal(fg.random.key(0), (10,))))(3.0)
    >>> print(round(float(loc), 6))
    1.0
    """
    kind: np.dtype[Any] = np.dtype(dtype)
    if kind.kind == "c":
        part = kind.type(0).real.dtype
        real, imag = (standard_normal(k, shape_argument(shape), part) for k in split(key))
        return mul(add(real, mul(imag, kind.type(1j))), kind.type(math.sqrt(0.5)))
    return standard_normal(key, shape_argument(shape), float_dtype(kind))


def exponential(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = float) -> Array:
    """Exponential samples with mean 1.

    >>> bool(fg.random.exponential(fg.random.key(0)) >= 0)
    True
    """
    return RandomExponential(shape_argument(shape), float_dtype(dtype)).bind(checked(key))


def laplace(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = float) -> Array:
    """Laplace samples with mean 0 and scale 1: exponential to both sides.

    >>> fg.random.laplace(fg.random.key(0), (3,)).shape
    (3,)
    """
    return RandomLaplace(shape_argument(shape), float_dtype(dtype)).bind(checked(key))


def logistic(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = float) -> Array:
    """Logistic samples with mean 0 and scale 1.

    >>> fg.random.logistic(fg.random.key(0), (3,)).shape
    (3,)
    """
    return RandomLogistic(shape_argument(shape), float_dtype(dtype)).bind(checked(key))


def gumbel(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = float) -> Array:
    """Gumbel samples with location 0 and scale 1: the largest of many exponential ones, but for a shift.

    >>> fg.random.gumbel(fg.random.key(0), (3,)).shape
    (3,)
    """
    return RandomGumbel(shape_argument(shape), float_dtype(dtype)).bind(checked(key))


def cauchy(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = float) -> Array:
    """Cauchy samples with location 0 and scale 1.

    >>> fg.random.cauchy(fg.random.key(0), (3,)).shape
    (3,)
    """
    return RandomCauchy(shape_argument(shape), float_dtype(dtype)).bind(checked(key))


def truncated_normal(
    key: ArrayLike, lower: ArrayLike, upper: ArrayLike, shape: ShapeLike = None, dtype: DTypeLike = float
) -> Array:
    """Standard normal samples between two bounds, differentiable by both, far out in a tail as well.

    >>> x = fg.random.truncated_normal(fg.random.key(0), 8.0, 9.0, (100,))
    >>> bool(np.all((8 <= x) & (x <= 9)))
    True
    """
    kind = float_dtype(dtype)
    low, high = parameter(lower, kind), parameter(upper, kind)
    full = shape_for(shape, low, high)
    u = inner_uniform(key, full, kind)
    # Logarithms hold the probabilities of the lower tail, so what lies above 0 is drawn there.
    above = greater(low, 0.0)
    start, end = where(above, neg(high), low), where(above, neg(low), high)
    # Below no bound there is nothing, and it has no slope.
    unbounded = equal(start, -math.inf)
    below_start = where(unbounded, -math.inf, sampled_log_ndtr(where(unbounded, 0.0, start)))
    from_start = add(below_start, sampled_log1p(neg(u)))
    found = sampled_ndtri_exp(sampled_logaddexp(from_start, add(sampled_log_ndtr(end), sampled_log(u))))
    found = clip(found, broadcast_to(start, full), broadcast_to(end, full))
    return where(above, neg(found), found)


# -- gamma and its kin --------------------------------------------------------------------------------------


@custom_jvp
def log_gamma_samples(key: ArrayLike, shape: ShapeLike) -> Array:
    """Logarithms of gamma samples, for every element of an array of shapes in double precision."""
    return RandomLogGamma().bind(key, shape)


@log_gamma_samples.defjvp
def log_gamma_path(primals: ArrayLike, tangents: ArrayLike) -> tuple[Any, Any]:
    """The implicit derivative by the shapes."""
    key, shape = primals
    out = log_gamma_samples(key, shape)
    return out, mul(gamma_path_slope(shape, out), tangents[1])


def log_gamma_of(key: ArrayLike, a: ArrayLike, shape: ShapeLike) -> Array:
    """Logarithms of gamma samples in double precision."""
    alpha = parameter(a, np.dtype(np.float64))
    return log_gamma_samples(checked(key), broadcast_to(alpha, shape_for(shape, alpha)))


def loggamma(key: ArrayLike, a: ArrayLike, shape: ShapeLike = None, dtype: DTypeLike = float) -> Array:
    """Logarithms of gamma samples of shape `a`, however small: they do not underflow.

    >>> print(bool(fg.random.loggamma(fg.random.key(0), 1e-5) < -745))  # whose exponential is 0
    True
    """
    return cast(log_gamma_of(key, a, shape), float_dtype(dtype))


def gamma(key: ArrayLike, a: ArrayLike, shape: ShapeLike = None, dtype: DTypeLike = float) -> Array:
    """Gamma samples of shape `a` and scale 1, differentiable by `a`.

    >>> mean = lambda a: np.mean(fg.random.gamma(fg.random.key(0), a, (1000,)))
    >>> print(round(float(fg.grad(mean)(3.0)), 1))  # of the mean of the distribution, which is a
    1.0
    """
    return cast(sampled_exp(log_gamma_of(key, a, shape)), float_dtype(dtype))


def beta(
    key: ArrayLike, a: ArrayLike, b: ArrayLike, shape: ShapeLike = None, dtype: DTypeLike = float
) -> Array:
    """Beta samples, differentiable by both parameters.

    >>> x = fg.random.beta(fg.random.key(0), 0.5, 0.5, (100,))
    >>> bool(np.all((0 <= x) & (x <= 1)))
    True
    """
    full = shape_for(shape, asoperand(a), asoperand(b))
    first, second = split(key)
    odds = sub(log_gamma_of(first, a, full), log_gamma_of(second, b, full))
    return cast(sampled_logistic(odds), float_dtype(dtype))


def student_t(key: ArrayLike, df: ArrayLike, shape: ShapeLike = None, dtype: DTypeLike = float) -> Array:
    """Samples of Student's t with `df` degrees of freedom, by which they are differentiable.

    >>> fg.random.student_t(fg.random.key(0), 5.0, (3,)).shape
    (3,)
    """
    kind, half = float_dtype(dtype), div(parameter(df, np.dtype(np.float64)), 2.0)
    full = shape_for(shape, half)
    first, second = split(key)
    scale = sampled_exp(mul(sub(sampled_log(half), log_gamma_of(second, half, full)), 0.5))
    return mul(standard_normal(first, full, kind), cast(scale, kind))


def chisquare(key: ArrayLike, df: ArrayLike, shape: ShapeLike = None, dtype: DTypeLike = float) -> Array:
    """Chi-square samples with `df` degrees of freedom, by which they are differentiable.

    >>> bool(fg.random.chisquare(fg.random.key(0), 2.0) > 0)
    True
    """
    half = div(parameter(df, np.dtype(np.float64)), 2.0)
    return mul(gamma(key, half, shape, dtype), 2.0)


# -- several dimensions -------------------------------------------------------------------------------------


def dirichlet(key: ArrayLike, alpha: ArrayLike, shape: ShapeLike = None, dtype: DTypeLike = float) -> Array:
    """Dirichlet samples: numbers that add up to 1 along the last axis, differentiable by `alpha`.

    `shape` is that of the samples without their last axis.

    >>> x = fg.random.dirichlet(fg.random.key(0), np.array([0.5, 1.0, 2.0]), (4,))
    >>> print(x.shape, np.allclose(np.sum(x, axis=-1), 1.0))
    (4, 3) True
    """
    weights = parameter(alpha, np.dtype(np.float64))
    if not shape_of(weights):
        raise refused("dirichlet: alpha needs at least one axis")
    batch = shape_of(weights)[:-1]
    full = batch if shape is None else shape_argument(shape)
    samples = log_gamma_of(key, weights, (*full, shape_of(weights)[-1]))
    return cast(SampledSoftmax((len(full),)).bind(samples), float_dtype(dtype))


def multivariate_normal(
    key: ArrayLike,
    mean: ArrayLike,
    cov: ArrayLike,
    shape: ShapeLike = None,
    dtype: DTypeLike = float,
    method: str = "cholesky",
) -> Array:
    """Normal vectors with a mean and a covariance matrix, differentiable by both.

    `shape` is that of the samples without their last axis. A singular covariance needs ``method="eigh"``.

    >>> x = fg.random.multivariate_normal(fg.random.key(0), np.zeros(2), np.eye(2), (5,))
    >>> x.shape
    (5, 2)
    """
    kind = float_dtype(dtype)
    centre, matrix = parameter(mean, kind), parameter(cov, kind)
    if (
        not shape_of(centre)
        or len(shape_of(matrix)) < 2
        or shape_of(matrix)[-2:] != shape_of(centre)[-1:] * 2
    ):
        raise refused(
            f"multivariate_normal: a mean of shape {shape_of(centre)} and a covariance of shape "
            f"{shape_of(matrix)} do not belong together"
        )
    batch = np.broadcast_shapes(shape_of(centre)[:-1], shape_of(matrix)[:-2])
    full = batch if shape is None else shape_argument(shape)
    size = shape_of(centre)[-1]
    z = standard_normal(key, (*full, size), kind)
    spread = scattered(z, factor_of(matrix, method))
    return sampled_add(broadcast_to(centre, (*full, size)), spread)


def scattered(z: ArrayLike, factor: Number) -> Array:
    """Each row times its matrix; stacks of matrices belong to the last of the axes of stacks of rows."""
    stack, full = shape_of(factor)[:-2], shape_of(z)[:-1]
    outer, size = full[: len(full) - len(stack)], shape_of(z)[-1]
    inner = full[len(outer) :]
    rows = reshape(z, (math.prod(outer), *inner, size))
    matrices = broadcast_to(factor, (*inner, size, size))
    return reshape(
        np.moveaxis(SampledProduct().bind(np.moveaxis(rows, 0, -2), matrices), -2, 0), (*full, size)
    )


def factor_of(matrix: ArrayLike, method: str) -> Array:
    """A matrix whose product with its transpose is the covariance."""
    found: Any
    if method == "cholesky":
        return sampled_cholesky.bind(matrix)
    if method != "eigh":
        raise refused(f"multivariate_normal: method must be 'cholesky' or 'eigh', got {method!r}")
    values, found = np.linalg.eigh(matrix)
    # Rounding leaves eigenvalues of 0 a little above or below.
    positive = greater(values, 0.0)
    spread = where(positive, sqrt(where(positive, values, 1.0)), 0.0)
    return mul(found, np.expand_dims(spread, -2))
