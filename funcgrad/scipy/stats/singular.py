"""Normal densities on the subspace of a plain matrix of covariances that is singular, as SciPy has them."""

from __future__ import annotations

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.scipy.stats.laws.parts import HALF_LOG_TAU
from funcgrad.types import Array

__all__ = ["Subspace", "smallest"]


def smallest(eigenvalues: Array) -> float:
    """The eigenvalue up to which SciPy takes a symmetric matrix for singular."""
    found: float = 1e6 * np.finfo(float).eps * np.max(np.abs(eigenvalues), initial=0.0)
    return found


class Subspace:
    """What a singular matrix of covariances leaves: the directions in which there is a density."""

    def __init__(self, cov: Array) -> None:
        values, vectors = np.linalg.eigh(cov)
        limit = smallest(values)
        if values.min() < -limit:
            raise ValueError("The input matrix must be symmetric positive semidefinite.")
        inside = values > limit
        self.white = vectors[:, inside] / np.sqrt(values[inside])
        self.normals = vectors[:, ~inside]
        self.tolerance = 1e3 * limit
        self.offset = -0.5 * np.sum(np.log(values[inside])) - HALF_LOG_TAU * inside.sum()

    def logpdf(self, away: Array) -> Array:
        """The logarithm of the density so far from the mean; minus infinity outside of the subspace."""
        white, residual = away @ self.white, away @ self.normals
        is_outside = fnp.sum(residual * residual, -1) >= self.tolerance**2
        return fnp.where(is_outside, -np.inf, self.offset - 0.5 * fnp.sum(white * white, -1))
