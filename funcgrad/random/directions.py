"""Points of balls and orthogonal matrices, all equally likely."""

from __future__ import annotations

import math
import operator

import numpy as np

from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.structure import aval
from funcgrad.random.continuous import exponential, normal
from funcgrad.random.derived import generalized_normal
from funcgrad.random.keys import shape_argument, split
from funcgrad.types import Array, ArrayLike, DTypeLike, ShapeLike


def ball(key: ArrayLike, d: int, p: float = 2, shape: ShapeLike = (), dtype: DTypeLike = float) -> Array:
    """Points of the ball of radius 1 in `d` dimensions, of which ``sum(abs(x)**p)`` is the measure.

    Barthe, Guedon, Mendelson and Naor, "A probabilistic approach to the geometry of the l_p^n-ball", 2005.

    >>> x = fg.random.ball(fg.random.key(0), 3, shape=(100,))
    >>> bool(np.all(np.sum(x**2, axis=-1) <= 1))
    True
    """
    if not 0 < p < math.inf:
        raise refused(f"ball: p must be positive and finite, got {p}")
    first, second = split(key)
    full = shape_argument(shape)
    x = generalized_normal(first, p, (*full, operator.index(d)), dtype)
    beyond = exponential(second, full, dtype)
    return x / ((np.sum(np.abs(x) ** p, axis=-1) + beyond) ** (1.0 / p))[..., None]


def orthogonal(
    key: ArrayLike, n: int, shape: ShapeLike = (), dtype: DTypeLike = float, m: int | None = None
) -> Array:
    """Matrices of `n` rows and `m` (or `n`) columns, of which the fewer are orthonormal; complex ones too.

    Mezzadri, "How to generate random matrices from the classical compact groups", 2007.

    >>> q = fg.random.orthogonal(fg.random.key(0), 3)
    >>> bool(np.allclose(q @ q.T, np.eye(3)))
    True
    """
    columns = n if m is None else m
    z = normal(key, (*shape_argument(shape), max(n, columns), min(n, columns)), dtype)
    q, r = np.linalg.qr(z)
    diagonal = np.diagonal(r, axis1=-2, axis2=-1)
    sizes = np.abs(diagonal)
    # What a factorisation chooses, the signs of the diagonal of `r`, must not show.
    q = q * np.where(sizes == 0, 1.0, diagonal / np.where(sizes == 0, 1.0, sizes))[..., None, :]
    q = q.astype(aval(z).dtype)
    return np.swapaxes(q, -1, -2) if n < columns else q
