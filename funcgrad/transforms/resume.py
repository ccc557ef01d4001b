"""Resuming: a transformed Program takes over values that were evaluated while it was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.ir.program import Equation, Program, Var
from funcgrad.tracing.recorder import Recorder


def resume_program(program: Program, recorder: Recorder, n_inputs: int, known: Sequence[int]) -> Program:
    """The Program with further inputs, the values at the indices `known` of the recording.

    Equations are matched to recorded steps by what they compute: same primitive, same operands.
    """
    heads = [*range(n_inputs), *(index for index, _ in recorder.operands)]
    index_of: dict[Any, int] = dict(zip(program.inputs, heads, strict=False))
    recorded = {step: index for index, step in enumerate(recorder.steps) if type(step) is tuple}
    given: dict[int, Var] = {index: Var(recorder.avals[index]) for index in known}
    renamed: dict[Any, Var] = {}
    equations: list[Equation] = []
    for equation in program.equations:
        step = (equation.primitive, *[index_of.get(atom, -1) for atom in equation.inputs])
        index = recorded.get(step)
        if index is not None:
            for offset, v in enumerate(equation.outputs):
                index_of[v] = index + offset
                if index + offset in given:
                    renamed[v] = given[index + offset]
        inputs = tuple([renamed.get(atom, atom) for atom in equation.inputs])
        equations.append(Equation(equation.primitive, inputs, equation.outputs, equation.source))
    outputs = tuple([renamed.get(atom, atom) for atom in program.outputs])
    extra = tuple([given[index] for index in known])
    return Program((*program.inputs, *extra), program.captured, tuple(equations), outputs, program.name)
