"""`room`: memory that holds nothing yet, for logs of which nobody knows how much will be used.

Its elements are whatever they are. Who records it sees to it that each is written before it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval, Shape
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.tracing.samples import Sample, fixed
from funcgrad.types import Array


class Room(Primitive):
    """An array that is not filled: what is never written of it is never touched, and costs no memory.

    The input is a number whose dtype it takes.
    """

    name = "room"
    parameters = ("shape",)
    pure = False
    shape: Shape

    def infer(self, *avals: Aval) -> Aval:
        return Aval(self.shape, avals[0].dtype)

    def evaluate(self, *values: Array) -> Array:
        return np.empty(self.shape, values[0].dtype)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(primals[0]), None

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return self.bind(inputs[0]), False

    @classmethod
    def samples(cls) -> Sequence[Any]:
        # What is there is not said: only a shape without elements can be compared.
        return (Sample(fixed(np.float64(0.0)), params={"shape": (0, 3)}, differentiable=False),)
