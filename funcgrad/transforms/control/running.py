"""Running control flow with NumPy: each loop is one Python function, made of a line per equation.

A body is written into its loop, so that a trip costs what its operations cost and little more. Owns how loops
are written; `funcgrad.ir.text.numpy_source` owns how an equation is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from funcgrad.ir.evaluate.buffers import Buffers, overwritten
from funcgrad.ir.evaluate.runner import FREED_ABOVE, last_uses
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ir.text.numpy_source import atom_source, equation_source, targets, tuple_source
from funcgrad.transforms.control.step import Step
from funcgrad.transforms.control.sweeps import Sweeps
from funcgrad.transforms.control.updates import unchanged_places
from funcgrad.types import AnyPrimitive

Run = Callable[..., tuple[Any, ...]]


class Writer:
    """The source of one function, and the objects that it names."""

    __slots__ = ("_constants", "_count", "_indent", "_lines", "_name")

    def __init__(self, name: str, parameters: Sequence[str]) -> None:
        self._name = name
        self._lines = [f"def run({', '.join(parameters)}):"]
        self._constants: dict[str, Any] = {"np": np}
        self._indent = 1
        self._count = 0

    def line(self, text: str) -> None:
        """Add a line at the current indentation."""
        self._lines.append("    " * self._indent + text)

    def block(self, head: str) -> None:
        """Add a line and indent what follows."""
        self.line(head)
        self._indent += 1

    def end_block(self) -> None:
        """Return to the indentation before the last block."""
        self._indent -= 1

    def names(self, count: int) -> list[str]:
        """New names."""
        start, self._count = self._count, self._count + count
        return [f"v{k}" for k in range(start, self._count)]

    def constant(self, value: object) -> str:
        """The name of an object."""
        name = f"c{len(self._constants)}"
        self._constants[name] = value
        return name

    def assign(self, names: Sequence[str], values: Sequence[str]) -> None:
        """Give the names these values, all at once."""
        pairs = [(name, value) for name, value in zip(names, values, strict=True) if name != value]
        if pairs:
            left, right = zip(*pairs, strict=True)
            self.line(f"{', '.join(left)} = {', '.join(right)}")

    def body(self, program: Program, inputs: Sequence[str], own: Collection[int] = ()) -> list[str]:
        """Write the Program's equations on the named inputs; returns how its outputs are written.

        The inputs at the places `own` may be written over.
        """
        names: dict[Any, str] = dict(zip(program.inputs, inputs, strict=True))
        names.update({v: self.constant(value) for v, value in program.captured})
        mine = [program.inputs[k] for k in own]
        last = last_uses(program, mine)
        in_place = overwritten(program, last, Buffers(program), mine)
        for k, equation in enumerate(program.equations):
            names.update(zip(equation.outputs, self.names(len(equation.outputs)), strict=True))
            if k in in_place:
                over = self.constant(equation.primitive.evaluate_over)
                text = f"{over}({', '.join(atom_source(a, names) for a in equation.inputs)})"
            else:
                text = equation_source(equation, names, self._evaluation, form="fast_expression")
            self.equation(equation, f"{targets(equation, names)} = {text}")
            atoms = dict.fromkeys((*equation.inputs, *equation.outputs))
            dropped = [
                v for v in atoms if type(v) is Var and last.get(v) == k and v.aval.nbytes >= FREED_ABOVE
            ]
            if dropped:
                self.line(f"del {', '.join(names[v] for v in dropped)}")
        return [atom_source(atom, names) for atom in program.outputs]

    def equation(self, equation: Equation, text: str) -> None:
        """Write an equation, whose text has just been made."""
        self.line(text)

    def _evaluation(self, primitive: AnyPrimitive) -> str:
        return self.constant(self.evaluation(primitive))

    def evaluation(self, primitive: AnyPrimitive) -> Callable[..., Any]:
        """What computes an equation that has no text of its own."""
        evaluate: Callable[..., Any] = primitive.evaluate
        return evaluate

    def function(self, results: Sequence[str]) -> Run:
        """The function that has been written; it returns a tuple of these."""
        self._indent = 1
        self.line(f"return {tuple_source(results)}")
        text, file = "\n".join(self._lines), f"<funcgrad evaluation of {self._name}>"
        exec(compile(text, file, "exec"), self._constants)
        run: Run = self._constants["run"]
        return run


Write = Callable[[str, Sequence[str]], Writer]
"""What makes the writer of a function of this name with these parameters."""


def numbered(letter: str, count: int) -> list[str]:
    """``x0, x1, ...``"""
    return [f"{letter}{k}" for k in range(count)]


def body_function(program: Program, write: Write = Writer) -> Run:
    """The Program as a function. Its results may be its arguments, and floating point may warn."""
    inputs = numbered("a", len(program.inputs))
    writer = write(program.name, inputs)
    return writer.function(writer.body(program, inputs))


def scan_function(step: Step, length: int, *, reverse: bool, write: Write = Writer) -> Run:
    """``carry, xs, consts -> final carry, ys`` for a fixed number of trips."""
    n_consts = len(step.program.inputs) - step.n_carry - step.n_xs
    carry, xs, consts = numbered("h", step.n_carry), numbered("x", step.n_xs), numbered("k", n_consts)
    ys, rows = numbered("y", step.n_ys), numbered("r", step.n_xs)
    writer = write(step.program.name, [*carry, *xs, *consts])
    own = unchanged_places(step.program, step.n_carry)
    for k in sorted(own):
        writer.line(f"{carry[k]} = {carry[k]}.copy()")
    for y, a in zip(ys, step.y_avals, strict=True):
        writer.line(f"{y} = np.empty({(length, *a.shape)}, {writer.constant(a.dtype)})")
    trips = f"range({length - 1}, -1, -1)" if reverse else f"range({length})"
    if rows:
        columns = ", ".join(f"{x}[::-1]" if reverse else x for x in xs)
        writer.block(f"for i, {', '.join(rows)} in zip({trips}, {columns}):")
    else:
        writer.block(f"for i in {trips}:")
    outs, written = step.results(writer.body(step.program, [*carry, *rows, *consts], own))
    for y, text in zip(ys, written, strict=True):
        writer.line(f"{y}[i] = {text}")
    writer.assign(carry, outs)
    writer.line("pass")
    return writer.function([*carry, *ys])


def sweeps_function(loop: Sweeps, write: Write = Writer) -> Run:
    """``carries, consts of the condition, consts -> results``, for as many trips as the condition says."""
    inputs = loop.inputs(numbered("a", len(loop.in_avals)))
    writer = write(loop.sweeps[0].program.name, inputs.flat)
    tapes = numbered("t", sum(sweep.step.n_ys for sweep in loop.sweeps))
    counts = any(not sweep.reads for sweep in loop.sweeps[1:])
    for tape in tapes:
        writer.line(f"{tape} = []; {tape}_append = {tape}.append")
    if counts:
        writer.line("n = 0")
    for k, (sweep, tape_numbers) in enumerate(zip(loop.sweeps, loop.tapes(), strict=True)):
        carry, rows = inputs.carries[k], numbered(f"r{k}_", len(sweep.reads))
        own = unchanged_places(sweep.program, sweep.n_carry)
        for place in sorted(own):
            writer.line(f"{carry[place]} = {carry[place]}.copy()")
        if k == 0:
            writer.block("while True:")
            (goes_on,) = writer.body(loop.cond, [*carry, *inputs.cond])
            writer.line(f"if not {goes_on}: break")
            if counts:
                writer.line("n += 1")
        elif rows:
            columns = [f"reversed(t{t})" if sweep.reverse else f"t{t}" for t in sweep.reads]
            writer.block(f"for {', '.join(rows)}, in zip({', '.join(columns)}):")
        else:
            writer.block("for _ in range(n):")
        step = sweep.step
        outs, written = step.results(writer.body(sweep.program, [*carry, *rows, *inputs.consts[k]], own))
        for t, text, a in zip(tape_numbers, written, step.y_avals, strict=True):
            # What lies in memory that the next trip changes is copied.
            copied = f"{text}.copy()" if own and a.shape else text
            writer.line(f"t{t}_append({copied})")
        writer.assign(carry, outs)
        writer.line("pass")
        writer.end_block()
        if sweep.reverse:
            for t in tape_numbers:
                writer.line(f"t{t}.reverse()")
    final = [name for part in inputs.carries for name in part]
    return writer.function([final[r] for r in loop.results])


def owned(values: Sequence[Any], held: Iterable[Any]) -> tuple[Any, ...]:
    """The values, copied where they share memory with `held` or with each other; scalars for rank 0."""
    results = []
    taken: list[Any] | None = None
    for x in values:
        own = x
        if isinstance(x, np.ndarray):
            if taken is None:
                taken = [y for y in held if isinstance(y, np.ndarray)]
            shared = not x.flags.writeable or any(np.may_share_memory(x, y) for y in taken)
            own = x[()] if not x.ndim else x.copy() if shared else x
            taken.append(own)
        results.append(own)
    return tuple(results)


def captured_arrays(*programs: Program) -> list[Any]:
    """The arrays that the Programs hold."""
    return [value for program in programs for _, value in program.captured]
