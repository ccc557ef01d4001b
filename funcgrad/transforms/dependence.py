"""What depends on what, in a record and in a Program. Knows no rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.ir.program import Equation, Program, Var
from funcgrad.tracing.recorder import Recorder


class Dependent:
    """What depends on given values: the indices, and the first index of each step that does, in order."""

    __slots__ = ("indices", "steps")

    def __init__(self, indices: set[int], steps: list[int]) -> None:
        self.indices = indices
        self.steps = steps


def dependent_indices(recorder: Recorder, entries: Sequence[int]) -> Dependent:
    """Everything recorded so far that depends on `entries`."""
    indices = set(entries)
    order: list[int] = []
    avals = recorder.avals
    for index, step in enumerate(recorder.steps):
        if type(step) is not tuple or indices.isdisjoint(step[1:]):
            continue
        order.append(index)
        primitive, *operands = step
        if not primitive.multiple:
            indices.add(index)
            continue
        count = len(primitive.inferred(tuple([avals[i] for i in operands])))
        flags = primitive.dependent_results(tuple([i in indices for i in operands]))
        indices.update([index + k for k in range(count) if flags is None or flags[k]])
    return Dependent(indices, order)


def parted(program: Program, flags: Sequence[bool]) -> Program:
    """The Program, in which no equation computes both what depends on the flagged inputs and what does not.

    A loop that counts its trips while it adds up something linear becomes two: the transpose takes the second
    apart, and the first stays as it is.
    """
    dependent: set[Any] = {v for v, flag in zip(program.inputs, flags, strict=True) if flag}
    equations: list[Equation] = []
    for equation in program.equations:
        primitive, inputs = equation.primitive, equation.inputs
        moving = tuple([atom in dependent for atom in inputs])
        depends = primitive.dependent_results(moving) if primitive.multiple and any(moving) else None
        if depends is None or all(depends):
            equations.append(equation)
            dependent.update(equation.outputs if any(moving) else ())
            continue
        part, places = primitive.independent_part(moving)
        fixed = tuple([v for v, flag in zip(equation.outputs, depends, strict=True) if not flag])
        rest = tuple([v if flag else Var(v.aval) for v, flag in zip(equation.outputs, depends, strict=True)])
        equations.append(Equation(part, tuple([inputs[k] for k in places]), fixed, equation.source))
        equations.append(Equation(primitive, inputs, rest, equation.source))
        dependent.update(rest)
    return Program(program.inputs, program.captured, tuple(equations), program.outputs, program.name)


def computed_from(recorder: Recorder, entries: Sequence[int]) -> set[int]:
    """Everything recorded so far that cannot be computed without `entries`.

    Of a loop that counts its trips beside other things that is all results, the number of trips among them.
    """
    indices = set(entries)
    for index, step in enumerate(recorder.steps):
        if type(step) is int:
            if index - step in indices:
                indices.add(index)
        elif type(step) is tuple and not indices.isdisjoint(step[1:]):
            indices.add(index)
    return indices
