"""Distances between samples and to distributions, by their distribution functions; and expectiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.adopted import adopted_function
from funcgrad.scipy.stats.distributions import distribution
from funcgrad.scipy.stats.of_samples.outcomes import CramerVonMisesResult
from funcgrad.scipy.stats.of_samples.statistic import Axis, along_last, floats, kept, statistic
from funcgrad.types import Array, ArrayLike

__all__ = ["cramervonmises", "energy_distance", "expectile", "wasserstein_distance"]


def weighed(values: ArrayLike, weights: ArrayLike | None, what: str) -> tuple[Array, Array]:
    """A sample, and weights of its elements that sum to 1."""
    sample = floats(values)
    if len(shape_of(sample)) != 1 or shape_of(sample)[0] == 0:
        raise ValueError("Distribution can't be empty.")
    if weights is None:
        return sample, np.full(shape_of(sample), 1.0 / shape_of(sample)[0])
    given = floats(weights)
    if shape_of(given) != shape_of(sample):
        raise ValueError(f"{what} values and weights must have the same length")
    return sample, given / fnp.sum(given)


def steps_between(
    u_values: ArrayLike, v_values: ArrayLike, u_weights: ArrayLike | None, v_weights: ArrayLike | None
) -> tuple[Array, Array]:
    """The distances between the elements of both samples in order, and what the functions differ by there."""
    (u, from_u), (v, from_v) = weighed(u_values, u_weights, "First"), weighed(v_values, v_weights, "Second")
    together = fnp.concatenate([u, v])
    order = fnp.argsort(together, kind="stable")
    heights = fnp.cumsum(fnp.take(fnp.concatenate([from_u, -from_v]), order))
    return fnp.diff(fnp.take(together, order)), heights[:-1]


@statistic
def wasserstein_distance(
    u_values: ArrayLike,
    v_values: ArrayLike,
    u_weights: ArrayLike | None = None,
    v_weights: ArrayLike | None = None,
) -> Array:
    """How far one sample has to be moved to become the other: the area between distribution functions.

    >>> f = lambda x: fg.scipy.stats.wasserstein_distance(x, np.array([1.0, 3.0]))
    >>> print(fg.grad(f)(np.array([2.0, 5.0])))
    [0.5 0.5]
    """
    widths, heights = steps_between(u_values, v_values, u_weights, v_weights)
    return fnp.sum(fnp.abs(heights) * widths)


@statistic
def energy_distance(
    u_values: ArrayLike,
    v_values: ArrayLike,
    u_weights: ArrayLike | None = None,
    v_weights: ArrayLike | None = None,
) -> Array:
    """The energy distance of two samples: of Cramér and von Mises', the root of twice the square.

    >>> f = lambda x: fg.scipy.stats.energy_distance(x, np.array([1.0, 3.0]))
    >>> print(fg.grad(f)(np.array([2.0, 5.0])).round(3))
    [0.204 0.204]
    """
    widths, heights = steps_between(u_values, v_values, u_weights, v_weights)
    return fnp.sqrt(2.0 * fnp.sum(heights * heights * widths))


@statistic
def expectile(a: ArrayLike, alpha: float = 0.5, *, weights: ArrayLike | None = None) -> Array:
    """The number that differences to the elements over it weigh alpha from, and to those under it 1 - alpha.

    >>> print(fg.grad(lambda x: fg.scipy.stats.expectile(x, 0.8))(np.array([1.0, 2.0, 6.0])).round(3))
    [0.167 0.167 0.667]
    """
    if not 0 <= alpha <= 1:
        raise ValueError("The expectile level alpha must be in the range [0, 1].")
    sample = fnp.reshape(floats(a), (-1,))
    given = np.ones(shape_of(floats(a))) if weights is None else floats(weights)
    order = fnp.argsort(sample)
    weighing = fnp.reshape(fnp.broadcast_to(given, shape_of(floats(a))), (-1,))
    x, w = fnp.take(sample, order), fnp.take(weighing, order)
    # If as many elements lie under it, it is this mean: one of them is where it has to be.
    below = [fnp.concatenate([np.zeros(1), fnp.cumsum(v)]) for v in (w * x, w)]
    above, under = (v[-1] * alpha + v * (1.0 - 2.0 * alpha) for v in below)
    found = above / under
    outside = (
        fnp.concatenate([fnp.array([-math.inf]), x]) - found,
        found - fnp.concatenate([x, fnp.array([math.inf])]),
    )
    return found[fnp.argmin(fnp.maximum(fnp.maximum(*outside), 0.0))]


@statistic
def cramervonmises(
    rvs: ArrayLike,
    cdf: str | Callable[..., Array],
    args: Sequence[ArrayLike] = (),
    *,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> CramerVonMisesResult:
    """How far a sample is from a distribution, by squares of differences; traced ones have no probability.

    >>> f = lambda x: fg.scipy.stats.cramervonmises(x, "norm").statistic
    >>> print(fg.grad(f)(np.array([-1.0, 0.5])).round(3))
    [-0.044 -0.041]
    """
    x = floats(rvs)
    lines = fnp.sort(along_last(x, axis), -1)
    n = shape_of(lines)[-1]
    if n <= 1:  # SciPy has no number for so few.
        return CramerVonMisesResult(kept(fnp.sum(lines, -1) * np.nan, x, axis, keepdims))
    function = distribution(cdf).cdf if isinstance(cdf, str) else adopted_function(cdf) or cdf
    heights = function(lines, *args)
    expected = (2.0 * np.arange(1.0, n + 1.0) - 1.0) / (2.0 * n)
    found = 1.0 / (12.0 * n) + fnp.sum((expected - heights) ** 2, -1)
    return CramerVonMisesResult(kept(found, x, axis, keepdims))
