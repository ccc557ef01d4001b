"""Solvers that can be written out as loops of native code, in place of calls of SciPy's or NumPy's.

Only where all of such a loop has a native form: one that NumPy runs trip by trip takes longer than the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from funcgrad.compile.passes.kernel import make_kernel
from funcgrad.compile.passes.pipeline import rewritten
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.ir.program import Atom, Equation, Program
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.solved.solving import Solved


def for_kernels(program: Program) -> Program:
    """The Program as kernels are made of it, or of its parts."""
    return rewritten(with_solver_loops(program))


def with_solver_loops(program: Program) -> Program:
    """An equal Program in which solvers are loops, where these have a native form."""
    loops = {e: found for e in program.equations if (found := native_loop(e)) is not None}
    if not loops:
        return program
    known: dict[Any, Atom] = {}
    equations: list[Equation] = []
    captured = list(program.captured)
    for e in program.equations:
        renamed = renamed_equation(e, known)
        loop = loops.get(e)
        if loop is None:
            equations.append(renamed)
            continue
        captured.extend(loop.captured)
        inside: dict[Any, Atom] = dict(zip(loop.inputs, renamed.inputs, strict=True))
        equations += [renamed_equation(each, inside, e) for each in loop.equations]
        outs = [inside.get(x, x) for x in loop.outputs]
        known.update(zip(e.outputs, outs, strict=True))
    outputs = tuple([known.get(x, x) for x in program.outputs])
    return simplify_program(Program(program.inputs, tuple(captured), tuple(equations), outputs, program.name))


def renamed_equation(e: Equation, known: Mapping[Any, Atom], around: Equation | None = None) -> Equation:
    """The equation of what its inputs are called; one without a line has that of the equation around it."""
    source = e.source if around is None else e.source or around.source
    return Equation(e.primitive, tuple([known.get(x, x) for x in e.inputs]), e.outputs, source)


def native_loop(equation: Equation) -> Program | None:
    """The loop of a solver that has one, all of it native."""
    if not isinstance(equation.primitive, Solved):
        return None
    loop = equation.primitive.written_out([x.aval for x in equation.inputs])
    if loop is None:
        return None
    try:
        make_kernel(rewritten(loop))
    except NotLowered:
        return None
    return loop
