"""Calls: equations that hold a Program, and what every such equation does alike.

Owns evaluation, typing and batching of a held Program. What a derivative of the call means is said by
`custom` and `checkpoint`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.errors import ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.ops.families import aval, listed
from funcgrad.ops.structure import broadcast
from funcgrad.tracing.primitive import Flags, Primitive
from funcgrad.transforms.batching import batch_program


class Call(Primitive):
    """An equation whose value is that of a held Program on the same inputs."""

    multiple = True
    program: Program

    def infer(self, *avals: Aval) -> tuple[Aval, ...]:
        """The avals of the Program's outputs; raises ShapeError where the inputs are not the Program's."""
        expected = self.program.in_avals
        given = avals[: len(expected)]
        if [(a.shape, a.dtype) for a in given] != [(a.shape, a.dtype) for a in expected]:
            raise ShapeError(f"{self.name} of {listed(given)}: {self.program.name} takes {listed(expected)}")
        return self.program.out_avals

    def evaluate(self, *values: Any) -> Any:
        """Run the Program with NumPy."""
        return self.program.evaluate(*values)

    def expansion(self, avals: Sequence[Aval]) -> Program | None:
        """The held Program itself."""
        return self.program

    def inexact_outputs(self) -> tuple[bool, ...]:
        """Which outputs have tangents."""
        return tuple([a.inexact for a in self.program.out_avals])


def batched_program(program: Program, size: int, batched: Flags) -> Program:
    """The held Program over a batch axis of its flagged inputs; every output has the axis."""
    return batch_program(program, size, batched)


def with_batch_axis(size: int, inputs: Sequence[Any], batched: Flags) -> list[Any]:
    """Inputs that all have a batch axis 0."""
    full = []
    for x, flag in zip(inputs, batched, strict=True):
        shape = aval(x).shape
        full.append(x if flag else broadcast(x, (size, *shape), tuple(range(1, len(shape) + 1))))
    return full
