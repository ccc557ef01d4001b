"""`regular`: a Jacobian that must be invertible for there to be a derivative."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.errors import NotDifferentiableError
from funcgrad.tracing.samples import ErrorSample, Sample, fixed
from funcgrad.transforms.solved.checked import Checked
from funcgrad.types import Array

ROUNDING = 8.0
"""Singular means a reciprocal condition number below this many units in the last place, times the size."""


class Regular(Checked):
    """A stack of square matrices; raises where one is singular, or belongs to what is no solution."""

    name = "regular"
    parameters = ("what",)
    what: str

    def evaluate(self, *values: Array) -> Array:
        matrix, solved = values
        if not np.all(solved):
            raise NotDifferentiableError(
                f"{self.what} has not found a solution, and its derivative was asked for",
                remedy="Look at its result without derivatives, where success, status and message say what "
                "happened, and give it another start, tolerance or number of iterations.",
            )
        if np.size(matrix) and is_singular(np.asarray(matrix)):
            raise NotDifferentiableError(
                f"the Jacobian of the equations behind {self.what} is singular at the solution, which has no "
                "derivative there",
                remedy="The solution is not isolated, or turns at a fold, or a constraint is one too many: "
                "change the problem, or stop the gradient with fg.stop_gradient.",
            )
        return matrix

    @classmethod
    def samples(cls) -> Sequence[Any]:
        matrix = fixed(np.array([[2.0, 0.5], [0.1, 1.0]]))
        numbers, solved = fixed(np.array([[[2.0]], [[-0.5]]])), fixed(np.array([True, True]))
        params = {"what": "root"}
        return (Sample(matrix, fixed(np.bool_(True)), params=params), Sample(numbers, solved, params=params))

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        params = {"what": "root"}
        singular = fixed(np.array([[1.0, 2.0], [2.0, 4.0]]))
        yes, no = fixed(np.bool_(True)), fixed(np.bool_(False))
        error = NotDifferentiableError
        return (
            ErrorSample(singular, yes, params=params, words="singular", error=error),
            ErrorSample(fixed(np.zeros((2, 1, 1))), yes, params=params, words="singular", error=error),
            ErrorSample(fixed(np.eye(2)), no, params=params, words="not found a solution", error=error),
        )


SMALL = 48
"""Rows up to which singular values say how near a matrix is to a singular one; beyond, its triangles."""


def is_singular_factor(matrix: Array) -> bool:
    """Whether LAPACK's estimate of the condition says that a matrix is singular to rounding."""
    lapack = import_module("scipy.linalg.lapack")
    factors, _, failed = lapack.dgetrf(matrix.astype(np.float64))
    if failed:
        return True
    reciprocal, _ = lapack.dgecon(factors, np.linalg.norm(matrix, 1))
    return bool(reciprocal <= ROUNDING * np.finfo(matrix.dtype).eps)


def is_singular(matrix: Array) -> bool:
    """Whether any matrix of the stack is singular to rounding, whatever the units of its rows and columns."""
    if not np.all(np.isfinite(matrix)):
        return True
    rows = np.max(abs(matrix), axis=-1, keepdims=True)
    if not np.all(rows):
        return True
    scaled = matrix / rows
    columns = np.max(abs(scaled), axis=-2, keepdims=True)
    if not np.all(columns):
        return True
    size = matrix.shape[-1]
    if size == 1:
        return False
    if size > SMALL:
        return any(is_singular_factor(m) for m in (scaled / columns).reshape(-1, size, size))
    singular_values = np.linalg.svd(scaled / columns, compute_uv=False)
    least = ROUNDING * size * np.finfo(matrix.dtype).eps
    return bool(np.any(singular_values[..., -1] <= least * singular_values[..., 0]))
