"""Programs as text: one line per equation, types where variables are defined, the user's lines beside them.

Owns the layout and nothing else; `spelling` writes single values, `names` invents names, and `parsing`
reads the text back.

    program loss(w: f64[3], x: f64[3]):
      a: f64[3] = mul(w, x)               # train.py:7
      b: f64[] = reduce_sum(a, axes=(0,)) # train.py:8
      return b

A Program that is a parameter stands above the equation that uses it, under its own name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ir.text.names import Names, variable_names
from funcgrad.ir.text.spelling import captured_text, context_of, literal_text, parameter_text, subprograms
from funcgrad.types import AnyPrimitive, Anything

WIDTH = 100
INDENT = "  "
COMMENT_COLUMN = 72
"""Comments are aligned, but no further to the right than this; longer lines push their own."""


class Line(NamedTuple):
    """A line of text and the comment beside it."""

    text: str
    comment: str = ""


def program_text(program: Program, *, sources: bool = True) -> str:
    """The Program as text; with `sources`, the user's file and line beside each equation.

    >>> from funcgrad.ir.text.parsing import parse
    >>> program = parse("program f(x: f64[3]): y: f64[3] = mul(x, 2.0) return y")
    >>> print(program_text(program))
    program f(x: f64[3]):
      a: f64[3] = mul(x, 2.0)
      return a
    """
    return "\n".join(Layout(program, sources).lines(Names().of_program(program), ""))


def equation_text(program: Program, equation: Equation) -> str:
    """One equation of a Program, under the names that the whole Program has; for messages."""
    layout = Layout(program, sources=False)
    return " ".join(part.strip() for part in layout.equation_lines(equation, ""))


class Layout:
    """How one Program is laid out: the names of its variables and of the Programs it holds."""

    __slots__ = ("_blocks", "_names", "_parameters", "_program", "_sources")

    def __init__(self, program: Program, sources: bool) -> None:
        self._program = program
        self._sources = sources
        self._blocks = block_names(program)
        self._names = variable_names(program, self._blocks.values())
        self._parameters: dict[Any, list[str]] = {}

    def lines(self, name: str, indent: str) -> list[str]:
        """The whole Program, at an indentation."""
        program, inner = self._program, indent + INDENT
        typed_inputs = [self._typed(v) for v in program.inputs]
        lines = wrapped(f"{indent}program {name}(", typed_inputs, "):", indent)
        lines += [f"{inner}captured {self._typed(v)} = {captured_text(x)}" for v, x in program.captured]
        body: list[Line] = []
        printed: set[Program] = set()
        for equation in program.equations:
            for held in subprograms(equation):
                if held not in printed:
                    printed.add(held)
                    block = Layout(held, self._sources).lines(self._blocks[held], inner)
                    body += [Line(text) for text in block]
            first, *rest = self.equation_lines(equation, inner)
            body += [Line(first, self._comment(equation)), *[Line(text) for text in rest]]
        lines += with_comments(body)
        return lines + self._return_lines(inner)

    def _return_lines(self, indent: str) -> list[str]:
        results = [self._atom(atom, None) for atom in self._program.outputs]
        short = f"{indent}return {', '.join(results)}"
        if results and len(short) <= WIDTH:
            return [short]
        return wrapped(f"{indent}return (", results, ")", indent)

    def equation_lines(self, equation: Equation, indent: str) -> list[str]:
        """One equation: a line, or several where it is long."""
        targets = [self._typed(v) for v in equation.outputs]
        head = indent + ", ".join(targets)
        lines: list[str] = []
        if not targets or (len(targets) > 1 and len(head) > WIDTH // 2):
            *lines, head = wrapped(f"{indent}(", targets, ")", indent)
        context = context_of(equation)
        operands = [self._atom(atom, context) for atom in equation.inputs]
        parameters = self._parameters_of(equation.primitive)
        return lines + wrapped(f"{head} = {equation.primitive.name}(", operands + parameters, ")", indent)

    def _typed(self, v: Var) -> str:
        return f"{self._names[v]}: {v.aval}"

    def _atom(self, atom: Atom, context: Anything) -> str:
        return literal_text(atom, context) if isinstance(atom, Literal) else self._names[atom]

    def _parameters_of(self, primitive: AnyPrimitive) -> list[str]:
        found = self._parameters.get(primitive)
        if found is None:
            params, blocks = primitive.params.items(), self._blocks
            found = [f"{key}={parameter_text(value, blocks)}" for key, value in params]
            self._parameters[primitive] = found
        return found

    def _comment(self, equation: Equation) -> str:
        source = equation.source if self._sources else None
        return "" if source is None else str(source).rpartition(" in ")[0]


def block_names(program: Program) -> dict[Program, str]:
    """A name for each Program that the parameters hold: its own, numbered where it is taken."""
    names = Names()
    found: dict[Program, str] = {}
    for equation in program.equations:
        for held in subprograms(equation):
            if held not in found:
                found[held] = names.of_program(held)
    return found


def wrapped(head: str, items: Sequence[str], tail: str, indent: str) -> list[str]:
    """``head item, item, ... tail`` in one line if it fits, else with the items below, in full lines."""
    one = f"{head}{', '.join(items)}{tail}"
    if len(one) <= WIDTH or not items:
        return [one]
    margin = indent + 2 * INDENT
    lines = [head]
    row = margin
    for k, item in enumerate(items):
        word = item if k == len(items) - 1 else f"{item},"
        if row != margin and len(row) + 1 + len(word) > WIDTH:
            lines.append(row)
            row = margin
        row += word if row == margin else f" {word}"
    return [*lines, row, indent + tail]


def with_comments(lines: Sequence[Line]) -> list[str]:
    """The lines with their comments in one column."""
    widths = [len(text) for text, comment in lines if comment and len(text) < COMMENT_COLUMN]
    column = max(widths, default=0)
    return [f"{text:<{column}}  # {comment}" if comment else text for text, comment in lines]
