"""`upheld`: an array, if what a solver that is written out takes for granted holds; else its error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.tracing.samples import Sample, fixed, normal
from funcgrad.transforms.solved.checked import Checked
from funcgrad.types import Array

ERRORS: dict[str, type[Exception]] = {"ValueError": ValueError, "RuntimeError": RuntimeError}


class Upheld(Checked):
    """The first input; raises where the second, a truth or an array of them, does not hold."""

    name = "upheld"
    parameters = ("error", "words")
    error: str
    """The name of the exception."""
    words: str

    def evaluate(self, *values: Array) -> Array:
        x, holds = values
        if not np.all(holds):
            raise ERRORS[self.error](self.words)
        return x

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (Sample(normal(3), fixed(np.bool_(True)), params={"error": "ValueError", "words": "no root"}),)


def upheld(x: Array, holds: Array, error: str, words: str) -> Array:
    """`x`, where `holds` is true; raises the error of that name, with these words, where it is not."""
    held: Array = Upheld(error, words).bind(x, holds)
    return held
