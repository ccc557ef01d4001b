"""What transforms look at: `stop_gradient`, a value without a slope, and `departure`, the opposite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ops.families import Unary
from funcgrad.ops.native import of_any_kind
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.tracing.samples import Sample, edge, integers, normal
from funcgrad.types import Array


class StopGradient(Primitive):
    """The input, constant to every derivative."""

    name = "stop_gradient"
    aliases = True
    passes_on = True
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


class Departure(Unary):
    """How far the input has gone from where it is: 0, with derivative 1.

    It writes down a derivative that no value shows, such as that of minus infinity where a logarithm ends.
    Unlike ``x - stop_gradient(x)`` it is 0 for what is not finite, too, and known to be 0 without being run.
    """

    name = "departure"
    native = of_any_kind("{operand}(0)")
    keeps_weak = True

    def on_arrays(self, *args: Array) -> Array:
        (x,) = args
        return np.zeros_like(x)[()] if isinstance(x, np.ndarray | np.generic) else type(x)(0)

    def evaluate(self, *values: Array) -> Array:
        return np.zeros_like(values[0])

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str:
        return f"np.zeros_like({names[0]})"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(primals[0]), tangents[0] if primals[0].aval.inexact else None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        return (
            Sample(normal(3, 2), through=beside_its_place),
            Sample(edge(0.0, -0.0, np.inf, np.nan), differentiable=False),
            Sample(integers(-3, 3, 4), differentiable=False),
        )


def beside_its_place(primitive: Departure, x: Array) -> Array:
    """A function whose value shows its slope: that of ``x`` itself."""
    return stop_gradient(x) + primitive(x)


stop_gradient = StopGradient()
departure = Departure()
