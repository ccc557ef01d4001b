"""Quantiles and distribution functions of ``scipy.stats``, as SciPy computes them by search or quadrature.

Owns the values alone. How they move follows from formulas that `funcgrad.scipy.stats` knows and says by
custom rules; the quantiles of counts are steps and do not move.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.errors import NotDifferentiableError
from funcgrad.ir.avals import Aval, aval_of
from funcgrad.ops.families import Pointwise
from funcgrad.tracing.samples import Sample, edge, positive, uniform
from funcgrad.types import Array, ArrayLike

FLOAT = np.dtype(np.float64)

AT_ADDRESS = frozenset({(law, method) for law in ("binom", "nbinom") for method in ("ppf", "isf")})
"""Quantiles that are one function of Boost's; points are inside of their range when they are asked for."""


class LawValue(Pointwise):
    """``scipy.stats.<law>.<method>(point, *shapes)``."""

    name = "law_value"
    not_exported = "it is computed by scipy.stats, which modules do not import"
    parameters = ("law", "method")
    kinds = "f"
    law: str
    method: str

    def __call__(self, *args: ArrayLike) -> Array:
        return self.apply(*args)

    @property
    def at_address(self) -> str:
        """The function of ``scipy.special`` that kernels call for it; empty where they call none."""
        return f"_{self.law}_{self.method}" if (self.law, self.method) in AT_ADDRESS else ""

    def _loop_dtypes(self, avals: tuple[Aval, ...]) -> tuple[np.dtype[Any], ...]:
        strong = [x.dtype for x in avals if not x.weak]
        dtype = np.result_type(*strong) if strong else FLOAT
        return (dtype if dtype == np.float32 else FLOAT,) * (len(avals) + 1)

    def evaluate(self, *values: Array) -> Array:
        law = getattr(import_module("scipy.stats"), self.law)
        dtype = self._loop_dtypes(tuple([aval_of(x) for x in values]))[-1]
        # Some of SciPy's methods (norminvgauss.sf) pair points with parameters before they are of one shape.
        return np.asarray(getattr(law, self.method)(*np.broadcast_arrays(*values)), dtype)[()]

    def on_arrays(self, *args: Array) -> Array:
        return self.evaluate(*args)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> None:
        return None

    def partial(self, i: int, primals: Sequence[Any], out: Array) -> Array | None:
        if self.method in ("ppf", "isf") and hasattr(getattr(import_module("scipy.stats"), self.law), "pmf"):
            return None
        raise NotDifferentiableError(
            f"the value of {self.law}.{self.method} has no derivative without its rule",
            remedy=f"Use fg.scipy.stats.{self.law}.{self.method}.",
        )

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(
                uniform(0.2, 0.8, 3),
                positive(3),
                params={"law": "poisson", "method": "ppf"},
                differentiable=False,
            ),
            Sample(
                edge(0.1, 0.5, 1.0),
                positive(),
                params={"law": "poisson", "method": "isf"},
                differentiable=False,
            ),
        )
