"""Checks of what solvers take for granted: their first input as it is, or an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.ir.avals import Aval
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.transforms.call import with_batch_axis


class Checked(Primitive):
    """An operation that hands its first input on where the others say that it may; its derivative is that."""

    not_exported = "its error belongs to a solver, and solvers have no form outside of funcgrad"
    aliases = True

    def infer(self, *avals: Aval) -> Aval:
        return avals[0]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(*primals), tangents[0]

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return self.bind(*with_batch_axis(size, inputs, batched)), True
