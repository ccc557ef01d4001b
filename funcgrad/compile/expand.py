"""Replacing equations that hold or stand for a Program by that Program's equations."""

from __future__ import annotations

from funcgrad.ir.program import Atom, Equation, Program, Var
from funcgrad.transforms.call import Call


def expand(program: Program) -> Program:
    """An equal Program without calls of custom rules and checkpoints."""
    if not any(isinstance(e.primitive, Call) for e in program.equations):
        return program
    known: dict[Var, Atom] = {}
    captured = list(program.captured)
    equations: list[Equation] = []
    for equation in program.equations:
        inputs = tuple([known.get(a, a) for a in equation.inputs])  # type: ignore[arg-type]
        held = (
            equation.primitive.expansion([a.aval for a in inputs])
            if isinstance(equation.primitive, Call)
            else None
        )
        if held is None:
            equations.append(Equation(equation.primitive, inputs, equation.outputs, equation.source))
            continue
        inner = expand(held)
        env: dict[Var, Atom] = dict(zip(inner.inputs, inputs, strict=True))
        for v, array in inner.captured:
            env[v] = Var(v.aval, v.hint)
            captured.append((env[v], array))  # type: ignore[arg-type]
        for e in inner.equations:
            outputs = tuple([Var(v.aval, v.hint) for v in e.outputs])
            read = tuple([env.get(a, a) for a in e.inputs])  # type: ignore[arg-type]
            equations.append(Equation(e.primitive, read, outputs, e.source or equation.source))
            env.update(zip(e.outputs, outputs, strict=True))
        for v, atom in zip(equation.outputs, inner.outputs, strict=True):
            known[v] = env.get(atom, atom)  # type: ignore[arg-type]
    outputs = tuple([known.get(a, a) for a in program.outputs])  # type: ignore[arg-type]
    return Program(program.inputs, tuple(captured), tuple(equations), outputs, program.name)
