"""`linear_sum_assignment`: who gets what; the derivative of the cost follows by indexing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.optimize.options import found, scipys
from funcgrad.scipy.recorded import is_plain
from funcgrad.tracing.lists import asoperand
from funcgrad.transforms.solved.method import Method, Programs
from funcgrad.types import ArrayLike, Arrays


@dataclass(frozen=True)
class Assignment(Method):
    """`scipy.optimize.linear_sum_assignment`: positions, which have no derivative."""

    maximize: bool

    differentiable = False

    def results(self, programs: Programs, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        if avals[0].ndim != 2:
            raise ValueError(f"expected a matrix (2-D array), got a {avals[0].ndim} array")
        positions = Aval((min(avals[0].shape),), np.int64)
        return positions, positions

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        rows, columns = scipys("linear_sum_assignment")(values[0], self.maximize)
        return rows, columns


def linear_sum_assignment(cost_matrix: ArrayLike, maximize: bool = False) -> Arrays:
    """Rows and columns of the cheapest assignment, by `scipy.optimize.linear_sum_assignment`.

    Positions have no derivative; the cost ``cost_matrix[rows, columns].sum()`` has.

    >>> def cost(c):
    ...     return c[fg.scipy.optimize.linear_sum_assignment(c)].sum()
    >>> print(fg.grad(cost)(np.array([[4.0, 1.0], [2.0, 0.5]])))
    [[0. 1.]
     [1. 0.]]
    """
    if is_plain(cost_matrix):
        return scipys("linear_sum_assignment")(cost_matrix, maximize)
    cost = asoperand(cost_matrix)
    aval_of(cost)
    return tuple(found(Assignment(bool(maximize)), (), [cost]))
