"""Dividing a Program between native code and the evaluator, equation by equation.

An equation that cannot be lowered by itself goes to the evaluator. The others are gathered into as few native
segments as their dependences allow.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad.compile.passes.kernel import make_kernel
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.ir.program import Equation, Literal, Program, Var
from funcgrad.types import Array


@dataclass(frozen=True)
class Reason:
    """Why an equation is left to the evaluator."""

    equation: Equation
    words: str


@dataclass(frozen=True)
class Segment:
    """A part of a Program as a Program of its own."""

    program: Program
    native: bool

    @property
    def defines(self) -> tuple[Var, ...]:
        """The variables that it makes."""
        return self.program.outputs  # type: ignore[return-value]

    def evaluate(self, *values: Array) -> Sequence[Any]:
        """Its outputs by NumPy."""
        (equation,) = self.program.equations
        env = dict(zip(self.program.inputs, values, strict=True))
        given = [a.value if isinstance(a, Literal) else env[a] for a in equation.inputs]
        try:
            with np.errstate(all="ignore"):
                out = equation.primitive.evaluate(*given)
        except Exception as error:
            if equation.source is not None:
                error.add_note(
                    f"while {equation.primitive.name} was evaluated for\n{equation.source.caret()}"
                )
            raise
        return out if equation.primitive.multiple else (out,)


def why_not(equation: Equation) -> str | None:
    """Why an equation has no native form; None if it has one."""
    inputs = tuple(dict.fromkeys(a for a in equation.inputs if isinstance(a, Var)))
    try:
        make_kernel(Program(inputs, (), (equation,), equation.outputs, "probe"))
    except NotLowered as error:
        return str(error)
    return None


def segments_of(program: Program) -> tuple[list[Segment], list[Reason]]:
    """The parts in order, and why equations were left to the evaluator."""
    reasons = {}
    verdicts: dict[Any, str | None] = {}
    for equation in program.equations:
        key = (equation.primitive, tuple([a.aval for a in equation.inputs]))
        if key not in verdicts:
            verdicts[key] = why_not(equation)
        if verdicts[key] is not None:
            reasons[equation] = Reason(equation, verdicts[key] or "")
    levels = levels_of(program, reasons)
    read = read_in_other_rounds(program, levels)
    rounds: dict[int, list[Equation]] = {}
    for equation, level in levels.items():
        rounds.setdefault(level, []).append(equation)
    segments = []
    for level, equations in sorted(rounds.items()):
        if level % 2 == 0:
            segments.append(Segment(part_of(program, equations, read, f"{program.name}_{level // 2}"), True))
            continue
        segments += [Segment(part_of(program, [e], e.outputs, e.primitive.name), False) for e in equations]
    return segments, list(reasons.values())


def levels_of(program: Program, evaluated: Container[Equation]) -> dict[Equation, int]:
    """The round of each equation: native equations have even rounds, the others odd ones of their own."""
    made: dict[Var, int] = {}
    levels: dict[Equation, int] = {}
    for equation in program.equations:
        before = max([made[a] for a in equation.inputs if isinstance(a, Var) and a in made], default=0)
        odd = before % 2
        level = before + (1 + odd if equation in evaluated else odd)
        levels[equation] = level
        made.update(dict.fromkeys(equation.outputs, level))
    return levels


def part_of(program: Program, equations: Sequence[Equation], read: Container[Var], name: str) -> Program:
    """The equations as a Program; it returns what is read outside of them."""
    inside = {v for e in equations for v in e.outputs}
    atoms = [a for e in equations for a in e.inputs if isinstance(a, Var)]
    inputs = tuple(dict.fromkeys([a for a in atoms if a not in inside]))
    outputs = tuple([v for e in equations for v in e.outputs if v in read])
    return Program(inputs, (), tuple(equations), outputs, name)


def read_in_other_rounds(program: Program, levels: dict[Equation, int]) -> set[Var]:
    """The variables that are results, or are read in another round than they are made in."""
    made = {v: level for e, level in levels.items() for v in e.outputs}
    read = {a for a in program.outputs if isinstance(a, Var)}
    for equation, level in levels.items():
        read.update([a for a in equation.inputs if isinstance(a, Var) and made.get(a) != level])
    return read
