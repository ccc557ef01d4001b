"""Which matrices have no factor: those for which NumPy raises LinAlgError, told without raising.

Asked where the user's code waits for that error and there is no value yet; see `numpy.algebra.awaited`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ops.linalg.cholesky import Cholesky
from funcgrad.ops.linalg.matrices import OnStacks, check_matrices, refusals
from funcgrad.ops.linalg.systems import Inv, LuFactors
from funcgrad.tracing.primitive import Primitive
from funcgrad.tracing.samples import Sample, fixed
from funcgrad.types import Array

FACTORED: dict[str, Primitive] = {"cholesky": Cholesky(), "solve": LuFactors(), "inv": Inv()}
"""What raises, by the name of NumPy's function."""


class HasNoFactor(OnStacks):
    """Whether NumPy's function of this name raises LinAlgError, for each square matrix."""

    name = "has_no_factor"
    not_exported = "whether a factor exists is told by NumPy's error, which compiled code does not raise"
    parameters: ClassVar[tuple[str, ...]] = ("of",)
    cubic = 1.0
    of: str

    def infer(self, *avals: Aval) -> Aval:
        check_matrices(self.of, avals[0], square=True)
        return Aval(avals[0].shape[:-2], np.dtype(bool))

    def bind(self, *inputs: Array) -> Array:
        """As of every primitive: this one never fails."""
        return Primitive.bind(self, *inputs)

    def expansion(self, *inputs: Array) -> None:
        """None: there is no other form."""

    def evaluate(self, *values: Array) -> Array:
        (a,) = values
        stack, n = a.shape[:-2], a.shape[-1]
        each = a.reshape(math.prod(stack), n, n)
        return np.array([self.fails(x) for x in each], bool).reshape(stack)[()]

    def fails(self, matrix: Array) -> bool:
        """Whether one matrix has none."""
        try:
            FACTORED[self.of].evaluate(matrix)
        except np.linalg.LinAlgError:
            return True
        return False

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(*primals), None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        two = np.array([[[1.0, 2.0], [2.0, 1.0]], [[2.0, 1.0], [1.0, 2.0]], [[1.0, 1.0], [1.0, 1.0]]])
        return tuple(
            [
                Sample(fixed(x), params={"of": of}, differentiable=False)
                for of, x in (("cholesky", two), ("solve", two[2]), ("inv", two.astype(np.float32)))
            ]
        )

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        return refusals(params={"of": "inv"})
