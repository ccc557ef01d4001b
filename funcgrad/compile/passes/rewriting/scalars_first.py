"""Numbers that follow from arguments alone come first, so that loops over arrays need not wait for them.

A loop is written where the first of its equations stands. What needs a number that is known only later gets
a loop of its own, and all that both loops touch goes through memory twice. Knows nothing of loops.
"""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad.compile.passes.scheduling.lowerings import lowering_of
from funcgrad.compile.passes.scheduling.views import MOVES
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ops.families import Pointwise


def scalars_first(program: Program) -> Program:
    """An equal Program whose equations of numbers that need no array's loop stand before the others."""
    late: set[Var] = set()
    first: list[Equation] = []
    others: list[Equation] = []
    for equation in program.equations:
        if (
            not equation.outputs[0].aval.shape
            and is_of_numbers(equation)
            and late.isdisjoint(equation.inputs)
        ):
            first.append(equation)
        else:
            others.append(equation)
            late.update(equation.outputs)
    if not first or not others:
        return program
    equations: Sequence[Equation] = (*first, *others)
    return Program(program.inputs, program.captured, tuple(equations), program.outputs, program.name)


def is_of_numbers(equation: Equation) -> bool:
    """Whether an equation makes one number of others, or of an element of an array."""
    primitive = equation.primitive
    for v in equation.outputs:
        if v.aval.shape:
            return False
    return type(primitive) in MOVES or (isinstance(primitive, Pointwise) and lowering_of(primitive) is None)
