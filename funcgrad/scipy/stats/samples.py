"""Samples that are functions of a key and of parameters: by `fg.random`, otherwise by quantiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import random
from funcgrad.numpy import where
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.types import Anything, Array, ShapeLike

SAMPLERS: dict[str, Callable[..., Any]] = {
    "norm": random.normal,
    "expon": random.exponential,
    "laplace": random.laplace,
    "logistic": random.logistic,
    "cauchy": random.cauchy,
    "gumbel_r": random.gumbel,
}
"""Distributions without shapes that have a sampler."""

SHAPED: dict[str, Callable[..., Any]] = {
    "gamma": random.gamma,
    "beta": random.beta,
    "t": random.student_t,
    "chi2": random.chisquare,
    "poisson": random.poisson,
}
"""Distributions whose sampler takes the shape parameters, then the shape of the sample."""


def samples(dist: Anything, key: Array, size: ShapeLike, at: Anything) -> Array:
    """Samples of a distribution, of this size or of the common shape of its parameters."""
    common = np.broadcast_shapes(*[shape_of(x) for x in (*at.shapes, at.loc, at.scale)])
    shape = common if size is None else (size,) if isinstance(size, int) else tuple(size)
    if np.broadcast_shapes(shape, common) != shape:
        raise ValueError(f"parameters of shape {common} do not broadcast to samples of size {shape}")
    return at.placed(standard_samples(dist, key, shape, at))


def standard_samples(dist: Anything, key: Array, shape: tuple[int, ...], at: Anything) -> Array:
    """Samples of the standard form."""
    if dist.name in SAMPLERS:
        return SAMPLERS[dist.name](key, shape)
    if dist.name in SHAPED:
        return SHAPED[dist.name](key, *at.shapes, shape=shape)
    u = random.uniform(key, shape)
    # 0 is drawn once in 2**53 times, and is no probability of a number.
    return dist.ppf(where(u == 0.0, 2.0**-54, u), *at.shapes)
