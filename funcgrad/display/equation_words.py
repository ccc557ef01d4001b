"""What a picture says about an equation and about a group of them: titles, types, and what hovering shows.

The names are those of the printed Program, so that text and picture can be read side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.display.costs import Cost, bytes_of, cost_of, count_words, size_words
from funcgrad.display.drawing.diagram import Row, small, title
from funcgrad.display.drawing.svg import shortened
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ir.text.names import variable_names
from funcgrad.ir.text.printing import Layout, block_names
from funcgrad.ir.text.spelling import captured_text, context_of, literal_text, parameter_text, programs_in
from funcgrad.types import Anything, Array

if TYPE_CHECKING:
    from funcgrad.source import Source


MOST_OPERANDS = 4
MOST_LINES = 8
MOST_CHARACTERS = 44


def held_programs(equation: Equation) -> list[tuple[str, Program]]:
    """The Programs that an equation runs, and what they are to it: of a custom rule, the function alone."""
    primitive = equation.primitive
    if primitive.name in ("custom_jvp", "custom_vjp"):
        return [("", primitive.program)]
    found = []
    for key, value in equation.params.items():
        programs = list(programs_in(value))
        for k, program in enumerate(programs):
            found.append((f"{key}[{k}]" if len(programs) > 1 else key, program))
    return found


def direction_of(equation: Equation) -> str:
    """``forward``, or ``backward`` for what reverse mode computes."""
    return "backward" if equation.source is not None and equation.source.backward else "forward"


class Words:
    """The words for one Program."""

    def __init__(self, program: Program) -> None:
        self.blocks = block_names(program)
        self.names = variable_names(program, self.blocks.values())
        self.layout = Layout(program, sources=False)

    # -- values ------------------------------------------------------------------------------------------

    def typed(self, v: Var) -> str:
        """A variable with its type."""
        return f"{self.names[v]}: {v.aval}"

    def value(self, v: Var) -> str:
        """What hovering over a value shows."""
        return f"{self.typed(v)}\n{size_words(bytes_of(v.aval))}"

    def values(self, found: Sequence[Var]) -> str:
        """What hovering over a line that stands for several values shows."""
        if len(found) == 1:
            return self.value(found[0])
        total = size_words(sum([bytes_of(v.aval) for v in found]))
        rows = [self.typed(v) for v in found[:12]]
        more = [f"… and {len(found) - 12} more"] if len(found) > 12 else []
        return "\n".join([f"{len(found)} values, {total}", *rows, *more])

    def constant(self, v: Var, value: Array) -> tuple[tuple[Row, ...], str]:
        """The rows of a captured array, and what hovering over it shows."""
        aval = v.aval
        few = aval.size <= 4
        rows = [title(self.names[v], f" = {shortened(captured_text(value), 28)}" if few else "")]
        rows.append(small(f"{aval}"))
        text = f"captured {self.value(v)}"
        if isinstance(value, np.ndarray) and value.size and value.dtype.kind in "fiu":
            # Not a number in a constant is worth seeing, and no reason to warn.
            with np.errstate(all="ignore"):
                text += f"\nfrom {value.min():.4g} to {value.max():.4g}, mean {value.mean():.4g}"
        return tuple(rows), text

    # -- equations ---------------------------------------------------------------------------------------

    def equation(self, equation: Equation, stands_for: Mapping[Atom, Atom], params: bool) -> list[Row]:
        """The rows of an equation's box."""
        context = context_of(equation)
        operands = [self._operand(stands_for.get(atom, atom), context) for atom in equation.inputs]
        if len(operands) > MOST_OPERANDS:
            operands = [*operands[: MOST_OPERANDS - 1], f"… {len(operands)}"]
        rows = [title(equation.primitive.name, f"({', '.join(operands)})")]
        rows += [small(shortened(self.typed(v), MOST_CHARACTERS)) for v in equation.outputs[:3]]
        if len(equation.outputs) > 3:
            rows.append(small(f"… {len(equation.outputs)} results"))
        if params:
            rows += [small(text, "fg-faded") for text in self.parameters(equation)]
        return rows

    def _operand(self, atom: Atom, context: Anything) -> str:
        if isinstance(atom, Literal):
            return shortened(literal_text(atom, context), 12)
        return self.names[atom]

    def parameters(self, equation: Equation) -> list[str]:
        """The parameters that are no Programs, in at most two short lines."""
        found = [
            f"{key}={parameter_text(value, self.blocks)}"
            for key, value in equation.params.items()
            if not isinstance(value, Program) and not any(isinstance(x, Program) for x in _items(value))
        ]
        lines: list[str] = []
        for text in found:
            if lines and len(lines[-1]) + len(text) < 30:
                lines[-1] += f", {text}"
            else:
                lines.append(text)
        return [shortened(line, MOST_CHARACTERS) for line in lines[:2]]

    def tooltip(self, equation: Equation) -> str:
        """What hovering over an equation shows: its text, types, bytes, cost, and the user's line."""
        lines = [line.strip() for line in self.layout.equation_lines(equation, "")]
        size = size_words(sum([bytes_of(v.aval) for v in equation.outputs]))
        lines.append(
            f"{', '.join([str(v.aval) for v in equation.outputs])} · {size} · {_flops(cost_of(equation))}"
        )
        return "\n".join([*lines, *_where(equation)])

    # -- groups ------------------------------------------------------------------------------------------

    def line_group(self, equations: Sequence[Equation], source: Source | None) -> list[Row]:
        """The rows of a box for equations of one line: the user's own words."""
        text = source.text.strip() if source is not None else ""
        backward = " backward" if _direction(equations) == "backward" else ""
        place = "without a line" if source is None else f"{source.function}, line {source.line}{backward}"
        head = text.splitlines()[0] if text else place
        rows = [Row(((shortened(head, MOST_CHARACTERS), "fg-strong"),), "fg-title")]
        what = _count(equations) if len(equations) > 1 else equations[0].primitive.name
        return [*rows, small(f"{place} · {what}" if text else what)]

    def function_group(self, equations: Sequence[Equation], sources: Sequence[Any]) -> list[Row]:
        """The rows of a box for equations of whole functions: their names, and their lines with counts."""
        functions = list(dict.fromkeys([s.function for s in sources if s is not None]))
        head = " ⇄ ".join(functions[:3]) + (" …" if len(functions) > 3 else "") or "without a line"
        way = _direction(equations)
        rows = [
            title(shortened(head, MOST_CHARACTERS)),
            small(f"{way or 'forward and backward'} · {_count(equations)}"),
        ]
        lines: Counter[tuple[str, int, str, str]] = Counter()
        for equation, source in zip(equations, sources, strict=True):
            if source is not None:
                lines[source.file, source.line, direction_of(equation), _first_line(source)] += 1
        shown = sorted(lines, key=lambda line: (line[0], line[1], line[2] == "backward"))
        if len(shown) > MOST_LINES:
            shown = sorted(sorted(shown, key=lambda line: -lines[line])[:MOST_LINES], key=shown.index)
        width = max([len(str(line[1])) for line in shown], default=0)
        for line in shown:
            text = shortened(line[3] or "…", MOST_CHARACTERS - 6)
            colour = f"fg-{line[2]}" if way is None else ""
            rows.append(
                Row(
                    ((f"{line[1]:>{width}}  ", "fg-dim"), (text, colour), (f"  ×{lines[line]}", "fg-dim")),
                    left=True,
                )
            )
        if len(lines) > len(shown):
            rows.append(small(f"… {len(lines) - len(shown)} more lines"))
        return rows

    def group_tooltip(self, equations: Sequence[Equation]) -> str:
        """What hovering over a group shows: operations by count, bytes and cost."""
        counts = Counter([equation.primitive.name for equation in equations])
        listed = [f"{name} × {n}" for name, n in counts.most_common(10)]
        written = size_words(sum([bytes_of(v.aval) for equation in equations for v in equation.outputs]))
        total = sum([cost_of(equation) for equation in equations], Cost())
        more = [f"… and {len(counts) - 10} more operations"] if len(counts) > 10 else []
        where = _where(equations[0])[:1]
        return "\n".join(
            [f"{_count(equations)}, {written} of results, {_flops(total)}", *listed, *more, *where]
        )


def _items(value: Anything) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else ()


def _direction(equations: Sequence[Equation]) -> str | None:
    """The direction of all equations, None where they have two."""
    ways = {direction_of(equation) for equation in equations}
    return ways.pop() if len(ways) == 1 else None


def _count(equations: Sequence[Equation]) -> str:
    return f"{len(equations)} equation{'s' if len(equations) != 1 else ''}"


def _flops(cost: Cost) -> str:
    return f"{count_words(cost.flops)} flops{'' if cost.complete else ' a trip'}"


def _first_line(source: Source) -> str:
    lines = source.text.strip().splitlines()
    return lines[0] if lines else ""


def _where(equation: Equation) -> list[str]:
    source = equation.source
    if source is None:
        return []
    place = f"{'backward of ' if source.backward else ''}{source}"
    text = _first_line(source)
    return [place, f"  {text}"] if text else [place]
