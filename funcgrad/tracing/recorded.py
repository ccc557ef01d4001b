"""What a trace has recorded: its steps, the values of them that are asked for, and the Program they make.

Every value of a trace is an index. ``steps[index]`` says where it comes from: an `Aval` for an input,
literal or captured array; ``(primitive, *input indices)`` for the first result of an operation; the
offset back to that first result for its further results. The list of steps *is* the fingerprint of the
trace: it holds no floating-point literal, no captured data and no source line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import ConcretizationError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ir.steps import as_source
from funcgrad.source import Source
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array


class NoValue:
    """Stands for the value of an input that has none (under `vmap` and `make_program`)."""

    __slots__ = ()


NO_VALUE = NoValue()


class Recorded:
    """The list of steps, with what is known of each; `funcgrad.tracing.recorder` makes it grow."""

    __slots__ = ("avals", "name", "operands", "sources", "steps", "transform", "values")
    name: str
    transform: str
    steps: list[Any]
    avals: list[Aval]
    sources: list[Any]
    values: dict[int, Any]
    operands: list[tuple[int, bool]]
    """The index of every literal and captured array, in order, and whether it is a literal."""

    # -- lazy evaluation -------------------------------------------------------------------------------

    def value_of(self, index: int) -> Array:
        """The concrete value at `index`, evaluating what it depends on once.

        Raises ConcretizationError where an input has no value.
        """
        values = self.values
        value = values.get(index, NO_VALUE)
        if value is NO_VALUE:
            needed = self._unevaluated(index)
            with np.errstate(all="ignore"):
                for i in needed:
                    self._evaluate_step(i)
            value = values[index]
        if type(value) is Tracer:
            # Not stored: the operand list still has to name the outer tracer.
            return value._recorder.value_of(value._index)
        return value

    def why_unknown(self, index: int) -> str:
        """Why there is no value at `index`, in words; ``""`` where there is one. Evaluates nothing."""
        visited: set[int] = set()
        stack = [index]
        while stack:
            i = stack.pop()
            value = self.values.get(i, NO_VALUE)
            if type(value) is Tracer:
                why = value._recorder.why_unknown(value._index)
                if why:
                    return why
            if i in visited or value is not NO_VALUE:
                continue
            visited.add(i)
            step = self.steps[i]
            if type(step) is int:
                step = self.steps[i - step]
            if type(step) is Aval:
                return self._has_no_values()
            stack.extend(step[1:])
        return ""

    def _has_no_values(self) -> str:
        return f"no value exists under {self.transform or 'this transform'}"

    def _unevaluated(self, index: int) -> list[int]:
        needed: set[int] = set()
        stack = [index]
        while stack:
            i = stack.pop()
            step = self.steps[i]
            if type(step) is int:
                i -= step
                step = self.steps[i]
            if i in needed or i in self.values:
                continue
            if type(step) is Aval:
                # The words, and the transform that knows no value, go into the error that names the line.
                raise ConcretizationError(self._has_no_values())
            needed.add(i)
            stack.extend(step[1:])
        return sorted(needed)

    def _evaluate_step(self, index: int) -> None:
        primitive, *inputs = self.steps[index]
        out = primitive.evaluate(*[self.value_of(i) for i in inputs])
        if primitive.multiple:
            for offset, value in enumerate(out):
                self.values[index + offset] = value
        else:
            self.values[index] = out

    # -- finishing -------------------------------------------------------------------------------------

    def fingerprint(self, outputs: tuple[int, ...]) -> tuple[Any, ...]:
        """A hashable key of the structure: equal keys mean equal lifted Programs."""
        return tuple(self.steps), outputs

    def place(self) -> tuple[str, int] | None:
        """Where the last operation was written: file and first line of its function.

        Equal functions in two places have Programs of their own, whose equations name their own lines.
        """
        location = self.sources[-1] if self.sources else None
        if type(location) is not tuple or not location:
            return None
        code = location[0]
        return code.co_filename, code.co_firstlineno

    def program(self, inputs: Sequence[int], outputs: Sequence[int], *, lifted: bool = False) -> Program:
        """The recorded Program from `inputs` to `outputs`; values before the inputs are not computed.

        Lifted, every literal and captured array is a further input, in the order of `operands`;
        otherwise literals stand in their equations and arrays are `captured`.
        """
        needed = self._needed(inputs, outputs)
        atoms: dict[int, Any] = {i: Var(self.avals[i]) for i in inputs}
        extra: list[Var] = []
        captured: list[tuple[Var, Any]] = []
        for index, is_literal in self.operands:
            if index in atoms:
                continue
            aval, value = self.avals[index], self.values[index]
            if lifted:
                atoms[index] = var = Var(aval)
                extra.append(var)
            elif is_literal:
                atoms[index] = Literal(value, aval)
            elif needed[index]:
                atoms[index] = var = Var(aval)
                captured.append((var, value))
        equations = self._equations(atoms, [i for i, is_needed in enumerate(needed) if is_needed])
        heads = tuple([atoms[i] for i in inputs]) + tuple(extra)
        results: tuple[Atom, ...] = tuple([atoms[i] for i in outputs])
        return Program(heads, tuple(captured), equations, results, self.name)

    def _needed(self, inputs: Sequence[int], outputs: Sequence[int]) -> bytearray:
        """For each step whether the outputs need it, with the inputs given; of several results the first."""
        steps, given = self.steps, set(inputs)
        used, needed = bytearray(len(steps)), bytearray(len(steps))
        for i in outputs:
            used[i] = True
        for i in range(max(outputs, default=-1), -1, -1):
            step = steps[i]
            if used[i] and i not in given:
                if type(step) is int:
                    needed[i - step] = True
                    continue
                needed[i] = True
            if needed[i] and type(step) is tuple:
                if len(step) == 3:
                    _, j, k = step
                    used[j] = used[k] = True
                else:
                    for j in step[1:]:
                        used[j] = True
        return needed

    def _equations(self, atoms: dict[int, Any], needed: Sequence[int]) -> tuple[Equation, ...]:
        equations = []
        steps, avals, sources = self.steps, self.avals, self.sources
        lines: dict[int, Source | None] = {}
        for index in needed:
            step = steps[index]
            if type(step) is not tuple:
                continue
            primitive = step[0]
            inputs = tuple([atoms[i] for i in step[1:]])
            if primitive.multiple:
                made = primitive.inferred(tuple([avals[i] for i in step[1:]]))
                outs = tuple([Var(avals[index + k]) for k in range(len(made))])
                for k, var in enumerate(outs):
                    atoms.setdefault(index + k, var)
            else:
                atoms[index] = out = Var(avals[index])
                outs = (out,)
            # Steps of one line have one location, and need one Source.
            location = sources[index]
            key = id(location)
            if key not in lines:
                lines[key] = as_source(location)
            equations.append(Equation(primitive, inputs, outs, lines[key]))
        return tuple(equations)
