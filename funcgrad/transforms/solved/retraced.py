"""`retraced`: a check of adjoints, which go back along a trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import NotDifferentiableError
from funcgrad.tracing.samples import ErrorSample, Sample, fixed
from funcgrad.transforms.solved.checked import Checked
from funcgrad.types import Array, Arrays


class Retraced(Checked):
    """Its first input, the adjoint; raises where a retraced state is not where it was."""

    name = "retraced"
    not_exported = "its error belongs to solve_ivp, and solvers have no form outside of funcgrad"
    parameters = ("astray",)
    astray: float
    """How far from where it was, relative to its size, a retraced state may end."""

    def evaluate(self, *values: Array) -> Arrays:
        adjoint, now, before = values
        scale = np.max(abs(before), axis=-1, keepdims=True, initial=1e-12)
        if not np.all(abs(now - before) <= self.astray * scale):
            raise NotDifferentiableError(
                "the adjoint of solve_ivp cannot retrace the trajectory: backwards, the system is unstable",
                remedy="Use adjoint=False, which integrates sensitivities forwards, or more times in t_eval, "
                "or smaller tolerances.",
            )
        return adjoint

    @classmethod
    def samples(cls) -> Sequence[Any]:
        vector = fixed(np.array([1.0, 2.0]))
        return (Sample(vector, vector, vector, params={"astray": 1e-3}),)

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        vector, other = fixed(np.array([1.0, 2.0])), fixed(np.array([1.0, 3.0]))
        params = {"astray": 1e-3}
        return (
            ErrorSample(vector, vector, other, params=params, words="retrace", error=NotDifferentiableError),
        )
