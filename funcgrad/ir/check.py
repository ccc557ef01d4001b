"""Whether a Program is well formed: scoping, types, and linearity. Changes nothing, evaluates nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from funcgrad.errors import FuncgradError, ProgramError
from funcgrad.ir.avals import Aval, aval_of
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ir.text.printing import equation_text
from funcgrad.ir.text.spelling import subprograms

MOST_ZEROS = 8
"""Of so many operands that are zero every choice is tried."""


def check_program(program: Program) -> None:
    """Raise ProgramError unless every variable is defined once and before use, and every type is right.

    Programs that are parameters are checked too.

    >>> from funcgrad.ir.text.parsing import parse
    >>> check_program(parse("program f(x: f64[3]): y: f64[2] = sin(x) return y"))
    Traceback (most recent call last):
    funcgrad.errors.ProgramError: program f, equation 1: sin of f64[3] is f64[3], not f64[2]
        a: f64[2] = sin(x)
    """
    Checker(program).check()


def check_linear(program: Program, n_fixed: int) -> None:
    """Raise ProgramError unless the Program is linear in the inputs after the first `n_fixed`.

    The proof is structural: every equation must be linear in those of its inputs that depend on the linear
    inputs or are zero, as its primitive says, and every output must depend on them or be zero.

    >>> from funcgrad.ir.text.parsing import parse
    >>> check_linear(parse("program f(x: f64[], t: f64[]): y: f64[] = mul(x, t) return y"), 1)
    """
    LinearChecker(program, n_fixed).check()


class Findings:
    """Raises what is wrong with a Program, with the equation and the user's line behind it."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def fault(self, seen: str) -> ProgramError:
        """The error for the Program as a whole."""
        return ProgramError(f"program {self._program.name}: {seen}")

    def fault_in(self, number: int, seen: str) -> ProgramError:
        """The error for an equation; numbers start at 1."""
        equation = self._program.equations[number - 1]
        return ProgramError(
            f"program {self._program.name}, equation {number}: {seen}\n"
            f"    {equation_text(self._program, equation)}",
            source=equation.source,
        )


class Checker(Findings):
    """Checks scoping and types, equation by equation."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._defined: set[Var] = set()
        self._checked: set[Program] = set()

    def check(self) -> None:
        """Check the whole Program."""
        self._check_heads()
        for number, equation in enumerate(self._program.equations, 1):
            self._check_scope(number, equation)
            self._check_types(number, equation)
            self._check_held(equation)
            self._defined.update(equation.outputs)
        for k, atom in enumerate(self._program.outputs, 1):
            if isinstance(atom, Var) and atom not in self._defined:
                raise self.fault(f"output {k} is not defined")
            wrong = None if isinstance(atom, Var) else literal_fault(atom)
            if wrong:
                raise self.fault(f"output {k} is {wrong}")

    def _check_heads(self) -> None:
        for k, v in enumerate(self._program.inputs, 1):
            if v in self._defined:
                raise self.fault(f"input {k} is an input twice")
            self._defined.add(v)
        for k, (v, value) in enumerate(self._program.captured, 1):
            if v in self._defined:
                raise self.fault(f"captured array {k} stands for a variable that is defined already")
            self._defined.add(v)
            found = aval_of(value) if isinstance(value, np.ndarray | np.generic) else value.aval
            if not same_type(found, v.aval):
                raise self.fault(f"captured array {k} is {found}, not {v.aval}")

    def _check_scope(self, number: int, equation: Equation) -> None:
        for k, atom in enumerate(equation.inputs, 1):
            if isinstance(atom, Var):
                if atom not in self._defined:
                    raise self.fault_in(number, f"operand {k} is used before it is defined")
            elif wrong := literal_fault(atom):
                raise self.fault_in(number, f"operand {k} is {wrong}")
        for k, v in enumerate(equation.outputs):
            if v in self._defined or v in equation.outputs[:k]:
                raise self.fault_in(number, f"result {k + 1} is defined a second time")

    def _check_types(self, number: int, equation: Equation) -> None:
        primitive = equation.primitive
        avals = tuple([atom.aval for atom in equation.inputs])
        try:
            inferred = primitive.inferred(avals)
        except FuncgradError as error:
            raise self.fault_in(number, error.seen) from error
        except (TypeError, ValueError, IndexError) as error:
            # What a rule raises that was given too few or too many operands.
            raise self.fault_in(number, f"{primitive.name} does not take {len(avals)} operands") from error
        expected = inferred if primitive.multiple else (inferred,)
        if len(expected) != len(equation.outputs):
            seen = f"{primitive.name} has {len(expected)} results, not {len(equation.outputs)}"
            raise self.fault_in(number, seen)
        for found, v in zip(expected, equation.outputs, strict=True):
            if not same_type(found, v.aval):
                given = ", ".join(map(str, avals))
                raise self.fault_in(number, f"{primitive.name} of {given} is {found}, not {v.aval}")

    def _check_held(self, equation: Equation) -> None:
        for held in subprograms(equation):
            if held not in self._checked:
                self._checked.add(held)
                check_program(held)


def same_type(one: Aval, other: Aval) -> bool:
    """Whether shape and dtype agree. Weakness matters to promotion, which is over when types are known."""
    return one.shape == other.shape and one.dtype == other.dtype


def literal_fault(literal: Literal) -> str:
    """What is wrong with a literal, or an empty string."""
    if literal.aval.shape:
        return f"a literal of type {literal.aval}, and literals are scalars"
    found = np.asarray(literal.value)
    if found.shape or found.dtype != literal.aval.dtype:
        return f"a literal of type {literal.aval} with the value {literal.value!r}"
    return ""


class LinearChecker(Findings):
    """Follows which variables depend on the linear inputs, and which are zero."""

    def __init__(self, program: Program, n_fixed: int) -> None:
        super().__init__(program)
        self._dependent: set[Any] = set(program.inputs[n_fixed:])
        self._zero: set[Any] = {v for v, value in program.captured if is_zero(value)}

    def check(self) -> None:
        """Check the whole Program."""
        for number, equation in enumerate(self._program.equations, 1):
            self._check_equation(number, equation)
        for k, atom in enumerate(self._program.outputs, 1):
            if atom not in self._dependent and not self._is_zero(atom):
                raise self.fault(f"output {k} is a constant, and a linear function has none but zero")

    def _is_zero(self, atom: Atom) -> bool:
        return is_zero(atom.value) if isinstance(atom, Literal) else atom in self._zero

    def _check_equation(self, number: int, equation: Equation) -> None:
        primitive = equation.primitive
        moving = tuple([atom in self._dependent for atom in equation.inputs])
        zero = tuple([self._is_zero(atom) for atom in equation.inputs])
        if not any(moving):
            if any(zero) and primitive.linear_in(zero):
                self._zero.update(results_of(equation, zero))
            return
        flags = next((flags for flags in linear_choices(moving, zero) if primitive.linear_in(flags)), None)
        if flags is None:
            places = ", ".join(str(k) for k, flag in enumerate(moving, 1) if flag)
            raise self.fault_in(number, f"{primitive.name} is not linear in operand {places}")
        depends, at_all = (results_of(equation, given) for given in (moving, flags))
        for v in depends:
            if not v.aval.inexact:
                raise self.fault_in(number, f"the result {v.aval} cannot be linear in anything")
        self._dependent.update(depends)
        # Linear in what is zero, and in nothing else.
        self._zero.update(set(at_all).difference(depends))


def linear_choices(moving: Sequence[bool], zero: Sequence[bool]) -> Iterator[tuple[bool, ...]]:
    """The operands that may be taken for linear: all that move, and any of those that are zero.

    ``t + 0`` needs the zero among them, ``t * 0`` must not have it.
    """
    if sum(zero) > MOST_ZEROS:
        yield tuple(moving)
        yield tuple([m or z for m, z in zip(moving, zero, strict=True)])
        return
    yield from product(*[[True] if m else [False, True][: 1 + z] for m, z in zip(moving, zero, strict=True)])


def results_of(equation: Equation, flags: tuple[bool, ...]) -> tuple[Var, ...]:
    """The results that depend on the flagged operands."""
    depends = equation.primitive.dependent_results(flags)
    if depends is None:
        return equation.outputs
    return tuple([v for v, flag in zip(equation.outputs, depends, strict=True) if flag])


def is_zero(value: object) -> bool:
    """Whether a captured array or a literal is zero everywhere."""
    return isinstance(value, np.ndarray | np.generic | int | float | complex) and not np.any(value)
