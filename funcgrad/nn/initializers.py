"""First values of parameters, named as in ``jax.nn.initializers``: functions of a key, a shape and a dtype.

Variances follow Glorot and Bengio (2010), He et al. (2015) and LeCun et al. (1998).

>>> weights = fg.nn.initializers.glorot_uniform()(fg.random.key(0), (3, 5))
>>> weights.shape, bool((abs(weights) <= np.sqrt(6.0 / 8.0)).all())
((3, 5), True)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad import random
from funcgrad.types import Array, ArrayLike, DTypeLike

__all__ = [
    "constant",
    "delta_orthogonal",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

Initializer = Callable[..., Any]
WITHIN_TWO = 0.87962566103423978
"""The standard deviation of a normal distribution that is cut at two."""


def zeros(key: ArrayLike, shape: Sequence[int], dtype: DTypeLike = float) -> Array:
    """Zeros.

    >>> print(fg.nn.initializers.zeros(fg.random.key(0), (2,)))
    [0. 0.]
    """
    return np.zeros(tuple(shape), dtype)


def ones(key: ArrayLike, shape: Sequence[int], dtype: DTypeLike = float) -> Array:
    """Ones.

    >>> print(fg.nn.initializers.ones(fg.random.key(0), (2,)))
    [1. 1.]
    """
    return np.ones(tuple(shape), dtype)


def constant(value: ArrayLike, dtype: DTypeLike = float) -> Initializer:
    """One value everywhere.

    >>> print(fg.nn.initializers.constant(2.0)(fg.random.key(0), (2,)))
    [2. 2.]
    """

    def init(key: Array, shape: Sequence[int], dtype: DTypeLike = dtype) -> Array:
        return np.full(tuple(shape), value, dtype)

    return init


def uniform(scale: float = 0.01, dtype: DTypeLike = float) -> Initializer:
    """Evenly between 0 and `scale`.

    >>> bool((fg.nn.initializers.uniform(0.1)(fg.random.key(0), (9,)) < 0.1).all())
    True
    """

    def init(key: Array, shape: Sequence[int], dtype: DTypeLike = dtype) -> Array:
        return scale * random.uniform(key, tuple(shape), dtype)

    return init


def normal(stddev: float = 0.01, dtype: DTypeLike = float) -> Initializer:
    """Normal numbers of this standard deviation.

    >>> fg.nn.initializers.normal(0.1)(fg.random.key(0), (2, 3)).shape
    (2, 3)
    """

    def init(key: Array, shape: Sequence[int], dtype: DTypeLike = dtype) -> Array:
        return stddev * random.normal(key, tuple(shape), dtype)

    return init


def truncated_normal(
    stddev: float = 0.01, dtype: DTypeLike = float, lower: float = -2.0, upper: float = 2.0
) -> Initializer:
    """Normal numbers of this standard deviation before they were cut at `lower` and `upper` times it.

    >>> bool((abs(fg.nn.initializers.truncated_normal(1.0)(fg.random.key(0), (9,))) <= 2.0).all())
    True
    """

    def init(key: Array, shape: Sequence[int], dtype: DTypeLike = dtype) -> Array:
        return stddev * random.truncated_normal(key, lower, upper, tuple(shape), dtype)

    return init


def fans(shape: Sequence[int], in_axis: int, out_axis: int) -> tuple[float, float]:
    """How many numbers come into an output, and how many outputs a number goes to."""
    if len(shape) < 2:
        raise ValueError(f"an array of shape {tuple(shape)} has no fans: it needs two axes at least")
    window = math.prod(shape) / shape[in_axis] / shape[out_axis]
    return shape[in_axis] * window, shape[out_axis] * window


def variance_scaling(
    scale: float,
    mode: str,
    distribution: str,
    in_axis: int = -2,
    out_axis: int = -1,
    dtype: DTypeLike = float,
) -> Initializer:
    """Numbers whose variance is `scale` divided by the fan that the mode names.

    >>> init = fg.nn.initializers.variance_scaling(1.0, "fan_in", "uniform")
    >>> bool((abs(init(fg.random.key(0), (3, 5))) <= 1.0).all())
    True
    """
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise ValueError(f"invalid mode for variance scaling initializer: {mode}")
    if distribution not in ("normal", "truncated_normal", "uniform"):
        raise ValueError(f"invalid distribution for variance scaling initializer: {distribution}")

    def init(key: Array, shape: Sequence[int], dtype: DTypeLike = dtype) -> Array:
        come, go = fans(shape, in_axis, out_axis)
        deviation = math.sqrt(scale / {"fan_in": come, "fan_out": go, "fan_avg": (come + go) / 2.0}[mode])
        if distribution == "normal":
            return deviation * random.normal(key, tuple(shape), dtype)
        if distribution == "uniform":
            return deviation * math.sqrt(3.0) * random.uniform(key, tuple(shape), dtype, -1.0, 1.0)
        return deviation / WITHIN_TWO * random.truncated_normal(key, -2.0, 2.0, tuple(shape), dtype)

    return init


glorot_uniform = xavier_uniform = partial(variance_scaling, 1.0, "fan_avg", "uniform")
glorot_normal = xavier_normal = partial(variance_scaling, 1.0, "fan_avg", "truncated_normal")
lecun_uniform = partial(variance_scaling, 1.0, "fan_in", "uniform")
lecun_normal = partial(variance_scaling, 1.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = partial(variance_scaling, 2.0, "fan_in", "uniform")
he_normal = kaiming_normal = partial(variance_scaling, 2.0, "fan_in", "truncated_normal")


def delta_orthogonal(scale: float = 1.0, column_axis: int = -1, dtype: DTypeLike = float) -> Initializer:
    """A window of a convolution that is orthogonal in its middle and 0 elsewhere (Xiao et al., 2018).

    >>> window = fg.nn.initializers.delta_orthogonal()(fg.random.key(0), (3, 3, 2, 4))
    >>> bool(np.allclose(window[1, 1] @ window[1, 1].T, np.eye(2))), float(abs(window[0]).max())
    (True, 0.0)
    """

    def init(key: Array, shape: Sequence[int], dtype: DTypeLike = dtype) -> Array:
        if len(shape) not in (3, 4, 5) or shape[-1] < shape[-2]:
            raise ValueError(
                "delta_orthogonal takes three to five sizes, the last not below the one before it, got "
                f"{tuple(shape)}"
            )
        middle = random.orthogonal(key, shape[-1], (), dtype)[: shape[-2]]
        around = [((n - 1) // 2, n - 1 - (n - 1) // 2) for n in shape[:-2]]
        window = middle[(None,) * len(around)]
        return scale * fnp.pad(window, [*around, (0, 0), (0, 0)])

    return init


def orthogonal(scale: float = 1.0, column_axis: int = -1, dtype: DTypeLike = float) -> Initializer:
    """A matrix whose rows, or columns if there are fewer of them, are orthonormal, times `scale`.

    >>> q = fg.nn.initializers.orthogonal()(fg.random.key(0), (3, 3))
    >>> bool(np.allclose(q @ q.T, np.eye(3)))
    True
    """

    def init(key: Array, shape: Sequence[int], dtype: DTypeLike = dtype) -> Array:
        if len(shape) < 2:
            raise ValueError("orthogonal initializer requires at least a 2D shape")
        columns = shape[column_axis]
        rows = math.prod(shape) // columns
        q = random.orthogonal(key, rows, (), dtype, columns)
        rest = [size for axis, size in enumerate(shape) if axis != column_axis % len(shape)]
        return scale * fnp.moveaxis(q.reshape((*rest, columns)), -1, column_axis)

    return init


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
