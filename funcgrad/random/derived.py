"""Distributions that are a short formula away from others."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arithmetic import add, div, mul, neg
from funcgrad.ops.comparison import greater_equal
from funcgrad.ops.draws import sampled_exp, sampled_log, sampled_log1p
from funcgrad.ops.elementary import sqrt
from funcgrad.ops.extremes import maximum
from funcgrad.ops.rounding import ceil
from funcgrad.ops.selection import where
from funcgrad.ops.sorting import AddAlongAxis
from funcgrad.ops.structure import cast, shape_of
from funcgrad.random.continuous import exponential, gumbel, inner_uniform, parameter, standard_normal
from funcgrad.random.discrete import places_of
from funcgrad.random.keys import float_dtype, shape_for
from funcgrad.types import Array, ArrayLike, DTypeLike, ShapeLike

FLOAT = np.dtype(np.float64)


def lognormal(key: ArrayLike, sigma: Any = 1.0, shape: ShapeLike = None, dtype: DTypeLike = float) -> Array:
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


def multinomial(key: ArrayLike, n: Any, p: ArrayLike, dtype: DTypeLike = np.int64) -> Array:
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
