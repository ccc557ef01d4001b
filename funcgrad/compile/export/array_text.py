"""Programs as NumPy's array expressions: the body of an exported function that needs no Numba.

Equations are written as `funcgrad.ir.numpy_source` writes them. Programs that an equation holds become
functions inside of the function, control flow becomes Python's, and what has no expression of NumPy's becomes
the loops that a kernel would have for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.compile.export.by_numpy import axes_of_one, is_by_numpy
from funcgrad.compile.export.portable import RESERVED, portable_text
from funcgrad.compile.export.special_functions import PREFIX, is_ufunc
from funcgrad.compile.passes.pipeline import NAMES_OF_KERNELS
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.ir.text.names import variable_names
from funcgrad.ir.text.numpy_source import (
    atom_source,
    equation_source,
    operand_sources,
    result_sources,
    targets,
    user_line,
)
from funcgrad.ir.text.spelling import subprograms
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.specials.table import Special
from funcgrad.transforms.control.conditional import Cond
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.while_loop import WhileLoop

_INDENT = "    "


class ArrayText:
    """The lines of one Program and of those that it holds, and the arrays that they refer to."""

    def __init__(self) -> None:
        self.captured: dict[str, tuple[Any, bool]] = {}
        self._taken: set[str] = {*NAMES_OF_KERNELS, *RESERVED}

    def fresh(self, stem: str) -> str:
        """A name that nothing has yet."""
        k, name = 1, stem
        while name in self._taken:
            k, name = k + 1, f"{stem}_{k}"
        self._taken.add(name)
        return name

    def body(self, program: Program) -> tuple[list[str], list[str], list[str]]:
        """Lines, the names of the inputs, and the texts of the results."""
        names = variable_names(program, self._taken)
        self._taken.update(names.values())
        lines: list[str] = []
        for v, array in program.captured:
            self.captured[names[v]] = np.asarray(array), False
        before = ""
        for equation in program.equations:
            comment = user_line(equation.source)
            if comment not in ("", before):
                lines.append(f"# {comment}")
            before = comment or before
            lines += self.equation_lines(equation, names)
        return lines, [names[v] for v in program.inputs], result_sources(program, names)

    def nested(self, program: Program, stem: str = "") -> tuple[str, list[str]]:
        """A held Program as a function: its name, and its lines."""
        name = self.fresh(stem or (program.name if program.name.isidentifier() else "part"))
        outer, self.captured = self.captured, {}
        lines, inputs, results = self.body(program)
        held, self.captured = self.captured, outer
        self.captured.update(held)
        returned = f"return ({', '.join(results)}{',' if len(results) == 1 else ''})"
        return name, [f"def {name}({', '.join(inputs)}):", *[_INDENT + x for x in (*lines, returned)], ""]

    def equation_lines(self, equation: Equation, names: dict[Var, str]) -> list[str]:
        """One equation."""
        primitive = equation.primitive
        avals = [a.aval for a in equation.inputs]
        atoms = [atom_source(a, names) for a in equation.inputs]
        outs = ", ".join([names[v] for v in equation.outputs])
        held = primitive.held_program(avals)
        if held is not None:
            name, lines = self.nested(held)
            return [*lines, f"{outs}{',' if len(equation.outputs) == 1 else ''} = {name}({', '.join(atoms)})"]
        writer = _WRITERS.get(type(primitive))
        if writer is not None and not (type(primitive) in _CONTROL and is_scalar_work(equation)):
            return list(writer(self, equation, atoms, [names[v] for v in equation.outputs]))
        if isinstance(primitive, Special) and is_ufunc(primitive):
            return [f"{outs} = {PREFIX}{primitive.function}({', '.join(atoms)})"]
        if is_by_numpy(equation) and avals[0].ndim == axes_of_one(primitive) and avals[0].dtype.char in "fd":
            return assigned(names, equation, primitive.exported_texts(atoms))
        target = targets(equation, names)
        statements = primitive.statements(target, operand_sources(equation, names), avals)
        if statements:
            return list(statements)
        text = equation_source(equation, names, no_callee)
        return [f"{target} = {text}"] if _MISSING not in text else self.loops(equation, names)

    def loops(self, equation: Equation, names: dict[Var, str]) -> list[str]:
        """What has no expression, as the loops that a kernel has for it, in a function of its own."""
        inputs = tuple(dict.fromkeys([a for a in equation.inputs if isinstance(a, Var)]))
        text = portable_text(Program(inputs, (), (equation,), equation.outputs, equation.primitive.name))
        name = self.fresh(f"{equation.primitive.name}_by_loops")
        parameters = [local or f"unused{k}" for k, (local, _) in enumerate(text.inputs)]
        lines = [f"def {name}({', '.join(parameters)}):"]
        for v, (local, flat) in zip(inputs, text.inputs, strict=True):
            if local and v.aval.shape:
                lines.append(f"    {local} = np.ascontiguousarray({local}){'.ravel()' if flat else ''}")
        for local, (array, flat) in text.captured.items():
            held = self.fresh(local)
            if held == local:  # a name of the function's own hides it
                held = self.fresh(local)
            self.captured[held] = array, flat
            lines.append(f"    {local} = {held}")
        lines += text.lines
        if text.may_fail:
            lines.append("    if failed[0] != 0:")
            lines.append('        raise IndexError("an index is out of bounds, or a matrix is singular")')
        single = len(text.results) == 1
        lines += [f"    return ({', '.join(text.results)}{',' if single else ''})", ""]
        given = ", ".join([names[v] for v in inputs])
        return [
            *lines,
            f"{', '.join([names[v] for v in equation.outputs])}{',' if single else ''} = {name}({given})",
        ]


_MISSING = "?"


def no_callee(primitive: object) -> str:
    """What stands for a primitive that has no expression."""
    return _MISSING


def assigned(names: dict[Var, str], equation: Equation, texts: Sequence[str]) -> list[str]:
    """Results by the texts of each, or of all of them together."""
    outs = [names[v] for v in equation.outputs]
    if len(texts) == len(outs):
        # A number stands for an array of it.
        found = [
            f"np.full({v.aval.shape}, {text}, np.{v.aval.dtype})" if text.isdigit() else text
            for v, text in zip(equation.outputs, texts, strict=True)
        ]
        return [f"{out} = {text}" for out, text in zip(outs, found, strict=True)]
    return [f"{', '.join(outs)} = {texts[0]}"]


def is_scalar_work(equation: Equation) -> bool:
    """Whether the Programs that an equation holds compute numbers, one after the other."""
    return all(of_scalars(held) for held in subprograms(equation))


def of_scalars(program: Program) -> bool:
    """Whether every result of every equation is a number, but for arrays that are changed in one place."""
    return all(
        (isinstance(e.primitive, Scatter) and all(not a.aval.shape for a in e.inputs[1:]))
        or all(not v.aval.shape for v in e.outputs)
        or (type(e.primitive) in _CONTROL and all(of_scalars(p) for p in subprograms(e)))
        for e in program.equations
    )


# -- what NumPy has no expression for ------------------------------------------------------------------------


def write_gather(text: ArrayText, equation: Equation, x: Sequence[str], outs: Sequence[str]) -> list[str]:
    """Elements or rows at positions."""
    axes = equation.primitive.axes
    first = (
        x[0] if axes == tuple(range(len(axes))) else f"np.moveaxis({x[0]}, {axes}, {tuple(range(len(axes)))})"
    )
    rest = equation.inputs[0].aval.ndim - len(axes)
    copied = ".copy()" if rest and all(not a.aval.shape for a in equation.inputs[1:]) else ""
    return [f"{outs[0]} = {first}[{', '.join(x[1:])}]{copied}"]


def write_scatter(text: ArrayText, equation: Equation, x: Sequence[str], outs: Sequence[str]) -> list[str]:
    """An array changed at positions."""
    primitive, (out,) = equation.primitive, outs
    axes = primitive.axes
    places = ", ".join(x[2:])
    view = (
        out if axes == tuple(range(len(axes))) else f"np.moveaxis({out}, {axes}, {tuple(range(len(axes)))})"
    )
    functions = {"add": "np.add", "mul": "np.multiply", "min": "np.minimum", "max": "np.maximum"}
    function = functions.get(primitive.mode)
    if function is None:
        return [f"{out} = {x[0]}.copy()", f"{view}[{places}] = {x[1]}"]
    return [f"{out} = {x[0]}.copy()", f"{function}.at({view}, ({places},), {x[1]})"]


def joined(names: Sequence[str]) -> str:
    """Names as the left-hand side of an assignment of a tuple."""
    return f"{', '.join(names)}{',' if len(names) == 1 else ''}" or "()"


def write_scan(text: ArrayText, equation: Equation, x: Sequence[str], outs: Sequence[str]) -> list[str]:
    """A loop over rows."""
    scan = equation.primitive
    step = scan.step
    parts = step.parts(x)
    finals, stacks = step.results(outs)
    name, lines = text.nested(step.program, f"{step.program.name}_step")
    t = text.fresh("t")
    _, y_avals = step.results([v.aval for v in equation.outputs])
    lines += [f"{f} = {c}" for f, c in zip(finals, parts.carry, strict=True)]
    lines += [f"{y} = np.empty({a.shape}, np.{a.dtype})" for y, a in zip(stacks, y_avals, strict=True)]
    turns = f"range({scan.length})"
    rows = [f"{x}[{t}]" for x in parts.xs]
    results = [*finals, *[f"{y}[{t}]" for y in stacks]]
    lines.append(f"for {t} in {f'reversed({turns})' if scan.reverse else turns}:")
    lines.append(f"    {joined(results)} = {name}({', '.join([*finals, *rows, *parts.consts])})")
    return lines


def write_while(text: ArrayText, equation: Equation, x: Sequence[str], outs: Sequence[str]) -> list[str]:
    """A loop that goes on while a condition holds."""
    loop = equation.primitive.loop
    (sweep,) = loop.sweeps
    inputs = loop.inputs(x)
    decides, lines = text.nested(loop.cond, "goes_on")
    name, more = text.nested(sweep.program, f"{sweep.program.name}_step")
    carry = [text.fresh("carry") for _ in range(sweep.n_carry)]
    lines += [*more, *[f"{c} = {start}" for c, start in zip(carry, inputs.carries[0], strict=True)]]
    lines.append(f"while {decides}({', '.join([*carry, *inputs.cond])})[0]:")
    lines.append(f"    {joined(carry)} = {name}({', '.join([*carry, *inputs.consts[0]])})")
    lines += [f"{out} = {carry[r]}" for out, r in zip(outs, loop.results, strict=True)]
    return lines


def write_cond(text: ArrayText, equation: Equation, x: Sequence[str], outs: Sequence[str]) -> list[str]:
    """One of several functions."""
    index, *operands = x
    branches = equation.primitive.branches
    lines: list[str] = []
    calls = []
    for branch in branches:
        name, more = text.nested(branch)
        lines += more
        calls.append(f"{joined(outs)} = {name}({', '.join(operands)})")
    if len(branches) == 1:
        return [*lines, calls[0]]
    if equation.inputs[0].aval.dtype.kind == "b":
        return [*lines, f"if {index}:", f"    {calls[1]}", "else:", f"    {calls[0]}"]
    for k, call in enumerate(calls):
        last = k == len(calls) - 1
        lines += ["else:" if last else f"{'if' if k == 0 else 'elif'} {index} <= {k}:", f"    {call}"]
    return lines


_CONTROL = (Scan, WhileLoop, Cond)
_WRITERS: dict[type, Any] = {
    Gather: write_gather,
    Scatter: write_scatter,
    Scan: write_scan,
    WhileLoop: write_while,
    Cond: write_cond,
}


class ArrayBody(NamedTuple):
    """The body of a function, with the names and texts of what goes in and comes out."""

    lines: list[str]
    inputs: list[str]
    results: list[str]
    captured: dict[str, tuple[Any, bool]]


def array_body(program: Program) -> ArrayBody:
    """The body for a Program; raises NotLowered for what has no form here."""
    text = ArrayText()
    lines, inputs, results = text.body(program)
    return ArrayBody([_INDENT + line if line else "" for line in lines], inputs, results, text.captured)
