"""Identities that mean something to a transform: `stop_gradient`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.ir.avals import Aval
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.tracing.samples import Sample, integers, normal
from funcgrad.types import Array


class StopGradient(Primitive):
    """The input, constant to every derivative."""

    name = "stop_gradient"
    aliases = True
    severs = True

    def __call__(self, x: Array) -> Array:
        return self.bind(x)

    def infer(self, *avals: Aval) -> Aval:
        return avals[0]

    def evaluate(self, *values: Array) -> Array:
        return values[0]

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return names[0]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(primals[0]), None

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        return self.bind(inputs[0]), True

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return Sample(normal(3), differentiable=False), Sample(integers(0, 3, 2), differentiable=False)


stop_gradient = StopGradient()
