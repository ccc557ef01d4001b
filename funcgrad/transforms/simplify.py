"""Simplification: dead equations, common subexpressions, and operations that do nothing."""

from __future__ import annotations

from collections.abc import Hashable
from operator import is_
from typing import Any

import numpy as np

from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ops.arrays.structure import Broadcast
from funcgrad.ops.families import Pointwise
from funcgrad.tracing.primitive import Primitive


def simplify_program(program: Program) -> Program:
    """An equal Program without repeated, idle or unused equations; itself where nothing changes."""
    if program.is_simple:
        return program
    known: dict[Var, Atom] = {}
    scalars: dict[Var, Atom] = {}
    seen: dict[Any, Equation] = {}
    equations: list[Equation] = []
    for original in program.equations:
        equation = original
        inputs, primitive = equation.inputs, equation.primitive
        if not known.keys().isdisjoint(inputs):
            inputs = tuple([known.get(atom, atom) for atom in inputs])  # type: ignore[arg-type]
        pointwise, spreads, may_be_idle = KINDS[type(primitive)]
        if pointwise and scalars:
            inputs = with_scalars(inputs, equation.outputs[0], scalars)
        idle = primitive.simplify(inputs) if may_be_idle else None
        if idle is not None and idle.aval.shape == equation.outputs[0].aval.shape:
            known[equation.outputs[0]] = idle
            continue
        literals = [atom for atom in inputs if type(atom) is Literal]
        if literals and pointwise and len(literals) == len(inputs):
            known[equation.outputs[0]] = folded(primitive, inputs, equation.outputs[0])
            continue
        if spreads and not inputs[0].aval.shape:
            scalars[equation.outputs[0]] = inputs[0]
        key = (primitive, *([atom_key(atom) for atom in inputs] if literals else inputs))
        twin = seen.get(key)
        if twin is not None and primitive.pure:
            known.update(zip(equation.outputs, twin.outputs, strict=True))
            continue
        if inputs is not equation.inputs:
            equation = Equation(primitive, inputs, equation.outputs, equation.source)
        seen[key] = equation
        equations.append(equation)
    outputs = tuple([known.get(atom, atom) for atom in program.outputs])  # type: ignore[arg-type]
    left = live(equations, outputs)
    if len(left) == len(program.equations) and all(map(is_, left, program.equations)):
        program.is_simple = True
        return program
    made = Program(program.inputs, program.captured, left, outputs, program.name)
    # What is left has been looked at with its operands as they are; only loops may be others now.
    made.is_simple = {*map(id, left)} <= {*map(id, equations)}
    return made


class Kinds(dict[type, tuple[bool, bool, bool]]):
    """By class whether operations are pointwise, whether they spread what they are given, and may be idle."""

    def __missing__(self, cls: type[Primitive]) -> tuple[bool, bool, bool]:
        may_be_idle = cls.simplify is not Primitive.simplify
        found = self[cls] = (issubclass(cls, Pointwise), issubclass(cls, Broadcast), may_be_idle)
        return found


KINDS = Kinds()


def folded(primitive: Pointwise, inputs: tuple[Any, ...], out: Var) -> Literal:
    """The literal that an operation on literals makes."""
    with np.errstate(all="ignore"):
        value = primitive.evaluate(*[atom.value for atom in inputs])
    return Literal(out.aval.dtype.type(value), out.aval)


def with_scalars(inputs: tuple[Any, ...], out: Var, scalars: dict[Var, Atom]) -> tuple[Any, ...]:
    """The operands of a pointwise operation, scalars instead of scalars spread over a shape.

    One operand must keep the full shape, for the result to have it.
    """
    shape = out.aval.shape
    if not shape or not any(atom in scalars for atom in inputs):
        return inputs
    if all(atom in scalars or atom.aval.shape != shape for atom in inputs):
        return inputs
    return tuple([scalars.get(atom, atom) for atom in inputs])


def atom_key(atom: object) -> Hashable:
    """What makes two atoms the same: identity for variables, type and bits for literals."""
    if type(atom) is Literal:
        return atom.aval, atom.value.tobytes()
    return atom


def live(equations: list[Equation], outputs: tuple[Any, ...]) -> tuple[Equation, ...]:
    """The equations that the outputs depend on; loops without what they carry for nobody."""
    needed = set(outputs)
    kept = []
    for whole in reversed(equations):
        outs = whole.outputs
        if outs[0] in needed if len(outs) == 1 else not needed.isdisjoint(outs):
            partly = whole.primitive.multiple and not needed.issuperset(whole.outputs)
            equation = needed_part(whole, needed) if partly else whole
            kept.append(equation)
            needed.update(equation.inputs)
    kept.reverse()
    return tuple(kept)


def needed_part(equation: Equation, needed: set[Any]) -> Equation:
    """The equation without results that nothing needs, where its primitive can leave them out."""
    part = equation.primitive.needed_part(tuple([v in needed for v in equation.outputs]))
    if part is None:
        return equation
    primitive, inputs, outputs = part
    atoms, made = [equation.inputs[k] for k in inputs], [equation.outputs[k] for k in outputs]
    return Equation(primitive, tuple(atoms), tuple(made), equation.source)
