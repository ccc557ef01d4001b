"""Comparisons, which are constant almost everywhere and have no derivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ops.families import Binary
from funcgrad.tracing.samples import Sample, edge, integers, normal


class Comparison(Binary):
    """Two operands, a boolean result."""

    def partial(self, i: int, primals: Sequence[Any], out: Any) -> Any:
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), normal(3, 2), differentiable=False),
            Sample(normal(3), normal(), differentiable=False),
            Sample(integers(0, 3, 4), integers(0, 3, 4), differentiable=False),
            Sample(edge(0.0, np.nan, np.inf), edge(-0.0, np.nan, np.inf), differentiable=False),
        )


class Equal(Comparison):
    """``x == y``."""

    name = "equal"
    ufunc = np.equal
    symbol = "=="


class NotEqual(Comparison):
    """``x != y``."""

    name = "not_equal"
    ufunc = np.not_equal
    symbol = "!="


class Less(Comparison):
    """``x < y``."""

    name = "less"
    ufunc = np.less
    symbol = "<"


class LessEqual(Comparison):
    """``x <= y``."""

    name = "less_equal"
    ufunc = np.less_equal
    symbol = "<="


class Greater(Comparison):
    """``x > y``."""

    name = "greater"
    ufunc = np.greater
    symbol = ">"


class GreaterEqual(Comparison):
    """``x >= y``."""

    name = "greater_equal"
    ufunc = np.greater_equal
    symbol = ">="


equal = Equal()
not_equal = NotEqual()
less = Less()
less_equal = LessEqual()
greater = Greater()
greater_equal = GreaterEqual()
