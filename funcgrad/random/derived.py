"""Distributions that are a short formula away from others."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from funcgrad.api.rules.custom import custom_jvp
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.sorting import AddAlongAxis
from funcgrad.ops.arrays.structure import broadcast_to, cast, shape_of
from funcgrad.ops.elementwise.arithmetic import add, div, mul, neg, sub
from funcgrad.ops.elementwise.comparison import greater_equal, less
from funcgrad.ops.elementwise.elementary import sqrt
from funcgrad.ops.elementwise.rounding import ceil
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.random.draws import sampled_add, sampled_exp, sampled_log, sampled_log1p, sampled_sub
from funcgrad.ops.reducing.extremes import maximum
from funcgrad.ops.specials.errors import erfcx
from funcgrad.random.continuous import (
    exponential,
    gumbel,
    inner_uniform,
    log_gamma_of,
    parameter,
    standard_normal,
)
from funcgrad.random.discrete import places_of, rademacher
from funcgrad.random.keys import float_dtype, shape_argument, shape_for, split
from funcgrad.types import Array, ArrayLike, DTypeLike, Number, ShapeLike

__all__ = [
    "double_sided_maxwell",
    "f",
    "generalized_normal",
    "geometric",
    "lognormal",
    "maxwell",
    "multinomial",
    "pareto",
    "rayleigh",
    "triangular",
    "wald",
    "weibull_min",
]

FLOAT = np.dtype(np.float64)


def lognormal(
    key: ArrayLike, sigma: Number = 1.0, shape: ShapeLike = None, dtype: DTypeLike = float
) -> Array:
    """Samples whose logarithm is normal with standard deviation `sigma`, by which they are differentiable.

    >>> bool(fg.random.lognormal(fg.random.key(0)) > 0)
    True
    """
    kind = float_dtype(dtype)
    spread = parameter(sigma, kind)
    return sampled_exp(mul(standard_normal(key, shape_for(shape, spread), kind), spread))


def pareto(key: ArrayLike, b: ArrayLike, shape: ShapeLike = None, dtype: DTypeLike = float) -> Array:
    """Pareto samples from 1 on, whose tail falls as ``x**-b``; differentiable by `b`.

    >>> bool(fg.random.pareto(fg.random.key(0), 2.0) >= 1)
    True
    """
    kind = float_dtype(dtype)
    power = parameter(b, kind)
    return sampled_exp(div(exponential(key, shape_for(shape, power), kind), power))


def rayleigh(
    key: ArrayLike, scale: ArrayLike = 1.0, shape: ShapeLike = None, dtype: DTypeLike = float
) -> Array:
    """The length of a vector of two normal numbers, times `scale`, by which it is differentiable.

    >>> bool(fg.random.rayleigh(fg.random.key(0), 2.0) >= 0)
    True
    """
    kind = float_dtype(dtype)
    size = parameter(scale, kind)
    return mul(sqrt(mul(exponential(key, shape_for(shape, size), kind), 2.0)), size)


def weibull_min(
    key: ArrayLike,
    scale: ArrayLike,
    concentration: ArrayLike,
    shape: ShapeLike = None,
    dtype: DTypeLike = float,
) -> Array:
    """Weibull samples, differentiable by both parameters.

    >>> bool(fg.random.weibull_min(fg.random.key(0), 2.0, 1.5) >= 0)
    True
    """
    kind = float_dtype(dtype)
    size, power = parameter(scale, kind), parameter(concentration, kind)
    log_exponential = neg(gumbel(key, shape_for(shape, size, power), kind))
    return mul(sampled_exp(div(log_exponential, power)), size)


def f(
    key: ArrayLike, dfnum: ArrayLike, dfden: ArrayLike, shape: ShapeLike = None, dtype: DTypeLike = float
) -> Array:
    """Samples of Fisher's F: the quotient of two mean squares, differentiable by their degrees of freedom.

    >>> bool(fg.random.f(fg.random.key(0), 3.0, 5.0) > 0)
    True
    """
    above, below = div(parameter(dfnum, FLOAT), 2.0), div(parameter(dfden, FLOAT), 2.0)
    full = shape_for(shape, above, below)
    first, second = split(key)
    quotient = sampled_exp(sampled_sub(log_gamma_of(first, above, full), log_gamma_of(second, below, full)))
    return cast(mul(quotient, div(below, above)), float_dtype(dtype))


def generalized_normal(
    key: ArrayLike, p: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = float
) -> Array:
    """Samples whose density falls as ``exp(-abs(x)**p)``, differentiable by `p`.

    >>> fg.random.generalized_normal(fg.random.key(0), 4.0, (3,)).shape
    (3,)
    """
    kind, part = float_dtype(dtype), div(1.0, parameter(p, FLOAT))
    full = shape_for(shape, part)
    first, second = split(key)
    size = sampled_exp(mul(log_gamma_of(first, part, full), part))
    return cast(mul(size, rademacher(second, full, FLOAT)), kind)


def maxwell(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = float) -> Array:
    """The length of a vector of three normal numbers.

    >>> bool(fg.random.maxwell(fg.random.key(0)) >= 0)
    True
    """
    z = standard_normal(key, (*shape_argument(shape), 3), float_dtype(dtype))
    return sqrt(np.sum(mul(z, z), axis=-1))


def double_sided_maxwell(
    key: ArrayLike, loc: ArrayLike, scale: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = float
) -> Array:
    """Maxwell samples to both sides of `loc`, times `scale`; differentiable by both.

    As in JAX the axes of the parameters come after `shape`.

    >>> fg.random.double_sided_maxwell(fg.random.key(0), np.zeros(2), 1.0, (3,)).shape
    (3, 2)
    """
    kind = float_dtype(dtype)
    centre, size = parameter(loc, kind), parameter(scale, kind)
    full = (*shape_argument(shape), *shape_for(None, centre, size))
    first, second = split(key)
    return sampled_add(mul(mul(maxwell(first, full, kind), rademacher(second, full, kind)), size), centre)


def triangular(
    key: ArrayLike,
    left: ArrayLike,
    mode: ArrayLike,
    right: ArrayLike,
    shape: ShapeLike = None,
    dtype: DTypeLike = float,
) -> Array:
    """Samples whose density rises from `left` to `mode` and falls to `right`; differentiable by all three.

    >>> x = fg.random.triangular(fg.random.key(0), -1.0, 0.0, 3.0, (100,))
    >>> bool(np.all((-1 <= x) & (x <= 3)))
    True
    """
    kind = float_dtype(dtype)
    low, top, high = parameter(left, kind), parameter(mode, kind), parameter(right, kind)
    u = inner_uniform(key, shape_for(shape, low, top, high), kind)
    width = sub(high, low)
    rises = less(u, div(sub(top, low), width))
    up = sampled_add(sqrt(mul(mul(u, width), sub(top, low))), low)
    return where(rises, up, sampled_sub(high, sqrt(mul(mul(sub(1.0, u), width), sub(high, top)))))


@custom_jvp
def inverse_gaussian_of(mean: ArrayLike, z: ArrayLike, u: ArrayLike) -> Array:
    """An inverse Gaussian sample of scale 1, of a normal and a uniform number (Michael et al., 1976).

    Their smaller root, a difference of large terms, is the quotient by the larger one here.
    """
    half = mul(mul(mul(z, z), mean), 0.5)
    factor = add(add(half, 1.0), sqrt(mul(half, add(half, 2.0))))
    return where(less(u, div(factor, add(factor, 1.0))), div(mean, factor), mul(mean, factor))


@inverse_gaussian_of.defjvp
def inverse_gaussian_path(primals: ArrayLike, tangents: ArrayLike) -> tuple[Any, Any]:
    """The implicit derivative, ``-(dF/dmean) / (dF/dx)``, in which the root that was chosen plays no part."""
    mean, z, u = primals
    x = inverse_gaussian_of(mean, z, u)
    root = sqrt(x)
    mills = mul(erfcx(mul(div(add(div(x, mean), 1.0), root), math.sqrt(0.5))), math.sqrt(0.5 * math.pi))
    return x, mul(mul(mul(div(2.0, mul(mean, mean)), mul(x, root)), mills), tangents[0])


def wald(key: ArrayLike, mean: ArrayLike, shape: ShapeLike = None, dtype: DTypeLike = float) -> Array:
    """Inverse Gaussian samples with scale 1, differentiable by their mean.

    >>> slope = fg.grad(lambda m: np.mean(fg.random.wald(fg.random.key(0), m, (4000,))))(0.5)
    >>> print(round(float(slope), 1))
    1.0
    """
    kind = float_dtype(dtype)
    centre = parameter(mean, kind)
    full = shape_for(shape, centre)
    first, second = split(key)
    return inverse_gaussian_of(
        broadcast_to(centre, full), standard_normal(first, full, kind), inner_uniform(second, full, kind)
    )


def geometric(key: ArrayLike, p: ArrayLike, shape: ShapeLike = None, dtype: DTypeLike = np.int64) -> Array:
    """How many trials it takes to succeed, each trial succeeding with probability `p`.

    >>> bool(fg.random.geometric(fg.random.key(0), 0.3) >= 1)
    True
    """
    chance = parameter(p, FLOAT)
    u = inner_uniform(key, shape_for(shape, chance), FLOAT)
    certain = greater_equal(chance, 1.0)
    trials = ceil(div(sampled_log(u), sampled_log1p(neg(where(certain, 0.5, chance)))))
    return cast(where(certain, 1.0, maximum(trials, 1.0)), dtype)


def multinomial(key: ArrayLike, n: Number, p: ArrayLike, dtype: DTypeLike = np.int64) -> Array:
    """How often each of several outcomes comes in `n` trials, with probabilities `p`.

    >>> print(fg.random.multinomial(fg.random.key(0), 5, [0.2, 0.8]).sum())
    5
    """
    chances = parameter(p, FLOAT)
    if len(shape_of(chances)) != 1:
        raise refused(
            f"multinomial takes one vector of probabilities, got {shape_of(chances)}", "Use fg.vmap."
        )
    count, trials = shape_of(chances)[0], operator.index(n)
    places = places_of(key, count, trials, True, chances)
    counts = AddAlongAxis(0, False).bind(np.zeros(count, np.int64), np.ones(trials, np.int64), places)
    return cast(add(counts, 0), dtype)
