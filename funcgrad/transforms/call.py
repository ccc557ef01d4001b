"""Calls: equations that hold a Program, and what every such equation does alike.

Owns evaluation, typing, batching and transposition of a held Program. What a derivative of the call means
is said by `custom` and `checkpoint`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.errors import NotDifferentiableError, ProgramError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ir.check import check_linear
from funcgrad.ir.program import Program, Var
from funcgrad.ops.arrays.structure import broadcast
from funcgrad.ops.families import aval, listed
from funcgrad.tracing.primitive import Flags, Linear, Primitive
from funcgrad.tracing.recorder import recorder_of
from funcgrad.transforms.batching import batch_program
from funcgrad.transforms.linearize import zeros_like
from funcgrad.transforms.replay import inline
from funcgrad.transforms.transpose import transpose_program
from funcgrad.types import Array, Arrays


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

    def evaluate(self, *values: Array) -> Arrays:
        """Run the Program with NumPy; inputs after its own are those of rules."""
        return self.program.evaluate(*values[: len(self.program.inputs)])

    def held_program(self, avals: Sequence[Aval]) -> Program | None:
        """The held Program, which leaves alone the inputs after its own."""
        held = self.program
        unused = tuple([Var(a) for a in avals[len(held.inputs) :]])
        if not unused:
            return held
        return Program((*held.inputs, *unused), held.captured, held.equations, held.outputs, held.name)

    def linear_in(self, flags: Flags) -> bool:
        """Whether the held Program is linear in the flagged inputs together."""
        try:
            check_linear(*fixed_first(self.program, flags))
        except ProgramError:
            return False
        return True

    def transpose(self, cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        """The transpose of the held Program: where a call is linear, its rule has nothing to add."""
        held = inputs[: len(self.program.inputs)]
        flags = [isinstance(x, Linear) for x in held]
        program, n_fixed = fixed_first(self.program, flags)
        try:
            check_linear(program, n_fixed)
        except ProgramError as error:
            raise NotDifferentiableError(
                f"{self.name} of a value that must be linear: {error.args[0]}",
                source=error.source,
                remedy="A custom_jvp rule must be linear in its tangents, also in what it calls.",
            ) from None
        recorder = recorder_of([bar for bar in cotangent if bar is not None])
        assert recorder is not None, "a transpose rule runs on tracers"
        bars = [
            zeros_like(recorder, a.strong) if bar is None else bar
            for bar, a in zip(cotangent, self.program.out_avals, strict=True)
        ]
        fixed = [x for x, linear in zip(held, flags, strict=True) if not linear]
        found = iter(inline(recorder, transpose_program(program, n_fixed), [*fixed, *bars]))
        return tuple([next(found) if isinstance(x, Linear) else None for x in inputs])

    def inexact_outputs(self) -> tuple[bool, ...]:
        """Which outputs have tangents."""
        return tuple([a.inexact for a in self.program.out_avals])


def fixed_first(program: Program, linear: Sequence[bool]) -> tuple[Program, int]:
    """The Program with its linear inputs after the others, and how many others there are."""
    fixed = [v for v, flag in zip(program.inputs, linear, strict=False) if not flag]
    moving = [v for v, flag in zip(program.inputs, linear, strict=False) if flag]
    turned = Program((*fixed, *moving), program.captured, program.equations, program.outputs, program.name)
    return turned, len(fixed)


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
