"""The square root as norms need it: with a derivative of zero at zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ops.elementwise.arithmetic import div
from funcgrad.ops.elementwise.comparison import equal
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import Unary
from funcgrad.tracing.samples import Sample, edge, positive
from funcgrad.types import Array


class RootOfSquares(Unary):
    """Square root of a sum of squares.

    A norm has no derivative at zero; of its subgradients there the smallest is zero. So the derivative of
    this root at zero is zero, and not the infinity of `Sqrt`, which would meet the zero derivative of the
    squares and leave NaN.
    """

    name = "root_of_squares"
    ufunc = np.sqrt
    native = "sqrt({0})"
    cost = 4
    kinds = "f"

    def derivative(self, x: Array, out: Array) -> Array:
        # Divided by infinity, so that every higher derivative is zero there as well.
        return div(0.5, where(equal(out, 0.0), math.inf, out))

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(positive(3, 2)),
            Sample(positive()),
            Sample(edge(0.0, 1.0, 1e300, np.inf, np.nan), differentiable=False),
        )


root_of_squares = RootOfSquares()
