"""Distribution functions of normal vectors: SciPy's value, and derivatives by conditioning.

A step of x_i lets in the face on which that coordinate is x_i: its density times the probability of the
others given it. Covariances act through second derivatives, dF = 1/2 sum_ij H_ij dC_ij (R. L. Plackett,
A reduction formula for normal multivariate integrals, Biometrika 41, 1954). Both are probabilities of fewer
coordinates, so that every order of derivative is right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.api.batch import vmap
from funcgrad.api.control_flow.callback import pure_callback
from funcgrad.api.rules.custom import custom_jvp
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.originals import original
from funcgrad.scipy.special import ndtr
from funcgrad.types import Array, ArrayLike

__all__ = ["probability_below", "probability_between"]

FLOAT = np.dtype(np.float64)
FAR = 40.0
"""Standard deviations at which nothing is left of a normal density; infinite limits are brought there."""

Accuracy = tuple[Any, float, float, Any]
"""SciPy's `maxpts`, `abseps`, `releps`, and the seed of its random numbers."""


def scipys_value(accuracy: Accuracy, z: ArrayLike, cov: ArrayLike) -> Array:
    """SciPy's probability that a centred normal vector is below z in every coordinate."""

    def value(z: Array, cov: Array) -> Array:
        maxpts, abseps, releps, seed = accuracy
        function = original("stats", "multivariate_normal").cdf
        found = function(
            z, None, cov, maxpts=maxpts, abseps=abseps, releps=releps, rng=np.random.default_rng(seed)
        )
        return np.asarray(found, FLOAT)

    return pure_callback(value, Aval((), FLOAT), z, cov)


def below(accuracy: Accuracy, z: ArrayLike, cov: ArrayLike) -> ArrayLike:
    """The probability that a centred normal vector is below z in every coordinate."""
    size = shape_of(z)[0]
    if size == 0:
        return 1.0
    if size == 1:
        return ndtr(z[0] / fnp.sqrt(cov[0, 0]))
    return of_several(accuracy, z, cov)


of_several = custom_jvp(scipys_value, nondiff_argnums=(0,))


@of_several.defjvp
def of_several_jvp(accuracy: Accuracy, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """By the faces, and by the edges between two of them."""
    (z, cov), (z_dot, cov_dot) = primals, tangents
    every = range(shape_of(z)[0])
    faces = [on_face(accuracy, z, cov, [i]) for i in every]
    edges = {(i, j): on_face(accuracy, z, cov, [i, j]) for i in every for j in range(i)}
    moved = sum(face * z_dot[i] for i, face in enumerate(faces))
    for (i, j), edge in edges.items():
        moved = moved + 0.5 * edge * (cov_dot[i, j] + cov_dot[j, i])
    for i in every:
        bent = sum(cov[i, j] * edges[max(i, j), min(i, j)] for j in every if j != i)
        moved = moved - 0.5 * (z[i] * faces[i] + bent) / cov[i, i] * cov_dot[i, i]
    return of_several(accuracy, z, cov), moved


def on_face(accuracy: Accuracy, z: ArrayLike, cov: ArrayLike, held: list[int]) -> Array:
    """The density of the coordinates that are held, at z, times the probability of the others given them."""
    rest = [k for k in range(shape_of(z)[0]) if k not in held]
    own, across, at = cov[np.ix_(held, held)], cov[np.ix_(rest, held)], z[held]
    weights = fnp.linalg.solve(own, at)
    density = fnp.exp(-0.5 * (at @ weights)) / fnp.sqrt((2.0 * math.pi) ** len(held) * fnp.linalg.det(own))
    if not rest:
        return density
    left = cov[np.ix_(rest, rest)] - across @ fnp.linalg.solve(own, across.T)
    return density * below(accuracy, z[rest] - across @ weights, left)


def probability_below(x: ArrayLike, mean: ArrayLike, cov: ArrayLike, accuracy: Accuracy) -> ArrayLike:
    """The distribution function at points with their coordinates along the last axis."""
    deviations = fnp.sqrt(fnp.diagonal(cov))
    away = x - mean
    far = FAR * deviations
    z = fnp.where(fnp.isfinite(away), away, fnp.where(away > 0.0, far, -far))
    rows = fnp.reshape(z, (-1, shape_of(mean)[0]))
    if len(shape_of(z)) == 1:
        return below(accuracy, z, cov)
    return fnp.reshape(vmap(lambda row: below(accuracy, row, cov))(rows), shape_of(z)[:-1])


def probability_between(
    lower: ArrayLike, x: ArrayLike, mean: ArrayLike, cov: ArrayLike, accuracy: Accuracy
) -> Array:
    """The probability of the box from `lower` to x: the corners, with a sign for each lower coordinate."""
    total = 0.0
    for corner in product((False, True), repeat=shape_of(mean)[0]):
        at = fnp.where(np.array(corner), lower, x)
        total = total + (-1.0) ** sum(corner) * probability_below(at, mean, cov, accuracy)
    return total
