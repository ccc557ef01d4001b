"""`upheld`: an array, if what a solver that is written out takes for granted holds; else its error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.tracing.samples import Sample, fixed, normal
from funcgrad.transforms.call import with_batch_axis
from funcgrad.types import Array

ERRORS: dict[str, type[Exception]] = {"ValueError": ValueError, "RuntimeError": RuntimeError}


class Upheld(Primitive):
    """The first input; raises where the second, a truth or an array of them, does not hold."""

    name = "upheld"
    not_exported = "its error belongs to a solver, and solvers have no form outside of funcgrad"
    parameters = ("error", "words")
    aliases = True
    error: str
    """The name of the exception."""
    words: str

    def infer(self, *avals: Aval) -> Aval:
        return avals[0]

    def evaluate(self, *values: Array) -> Array:
        x, holds = values
        if not np.all(holds):
            raise ERRORS[self.error](self.words)
        return x

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(*primals), tangents[0]

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return self.bind(*with_batch_axis(size, inputs, batched)), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (Sample(normal(3), fixed(np.bool_(True)), params={"error": "ValueError", "words": "no root"}),)


def upheld(x: Array, holds: Array, error: str, words: str) -> Array:
    """`x`, where `holds` is true; raises the error of that name, with these words, where it is not."""
    held: Array = Upheld(error, words).bind(x, holds)
    return held
