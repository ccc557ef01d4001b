"""Pictures of Programs: equations as boxes, values as lines between them.

Owns what becomes a box. A small Program shows every equation; a larger one folds what only changes the
form of a value into the lines, then stands for its equations by the user's lines and functions. What reverse
mode computes stands apart, in a colour of its own. Programs inside equations are drawn in their boxes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

from funcgrad.display.drawing.diagram import (
    Diagram,
    Drawn,
    Link,
    Node,
    drawn,
    headed,
    side_by_side,
    small,
    title,
)
from funcgrad.display.drawing.grouping import loops, runs
from funcgrad.display.drawing.layered import Edge, edges_to_cut
from funcgrad.display.drawing.svg import Picture, picture
from funcgrad.display.equation_words import Words, direction_of, held_programs
from funcgrad.ir.program import Atom, Equation, Program, Var
from funcgrad.ir.program import Literal as Constant

__all__ = ["program_graph"]

Collapse = Literal["equation", "line", "function"]

FOLDED_FROM = 32
"""Equations of a Program from which on changes of form are part of the lines."""
FORMS = frozenset(("broadcast", "reshape", "permute", "cast", "stop_gradient"))
"""Operations that change the form of one value."""
MOST_PILLS = 8
"""Inputs, constants or outputs that are drawn one by one; more are put together by where they go."""
MOST_LINES = 3
"""Lines from one box to another that are drawn one by one."""
DEEPEST = 2
"""How far Programs inside Programs are drawn."""


def program_graph(
    program: Program,
    *,
    direction: Literal["down", "right"] = "down",
    collapse: Collapse | None = None,
    most: int = 40,
    nested: bool = True,
) -> Picture:
    """The picture of a Program.

    `collapse` says what a box stands for: an ``"equation"``, a ``"line"`` of the user's, or a ``"function"``;
    left out, the most detailed of them that needs at most `most` boxes. With `nested`, the Programs that
    equations hold (loops, branches, custom rules) are drawn inside their boxes. Hovering over a box shows
    the equation, shapes, dtypes, bytes, and the user's line. Raises ValueError for other options.

    >>> program = fg.make_program(fg.grad(lambda w, x: np.sum(np.tanh(x @ w))))(np.ones(3), np.ones((2, 3)))
    >>> program_graph(program)
    <Picture of function: 5 equations>
    """
    if direction not in ("down", "right"):
        raise ValueError(f"direction is 'down' or 'right', not {direction!r}")
    if collapse not in (None, "equation", "line", "function"):
        raise ValueError(f"collapse is 'equation', 'line', 'function' or None, not {collapse!r}")
    sideways = direction == "right"
    kinds: set[str] = set()
    found = Pictured(program, collapse, most, DEEPEST if nested else 0, sideways, kinds).drawn()
    count = len(program.equations)
    label = f"{program.name}: {count} equation{'s' if count != 1 else ''}"
    return picture(*found, label, [entry for entry in LEGEND if entry[0] in kinds])


LEGEND = (
    ("leaf", "pill", "input"),
    ("constant", "cut", "constant"),
    ("forward", "box", "forward"),
    ("backward", "box", "backward"),
    ("plain", "box", "both"),
    ("result", "double", "output"),
)
"""What kinds of boxes there are, with their outlines and words."""


class Pictured:
    """How one Program becomes a diagram."""

    def __init__(
        self,
        program: Program,
        collapse: Collapse | None,
        most: int,
        depth: int,
        sideways: bool,
        kinds: set[str],
    ) -> None:
        self.program = program
        self.most = most
        self.depth = depth
        self.sideways = sideways
        self.kinds = kinds
        """The kinds of all boxes, those of Programs inside boxes too."""
        self.words = Words(program)
        self.stands_for: dict[Atom, Atom] = {}
        """Values whose equation is folded into the lines, with the value it changes the form of."""
        equations = list(program.equations)
        if (len(equations) >= FOLDED_FROM and collapse is None) or collapse in ("line", "function"):
            equations = self.without_forms(equations)
        self.equations = equations
        self.sources = sources_of(equations)
        self.collapse, self.groups = self.chosen(collapse)

    # -- what becomes a box ------------------------------------------------------------------------------

    def without_forms(self, equations: Iterable[Equation]) -> list[Equation]:
        """The equations but those that only change the form of a value, which is noted."""
        kept = []
        results = set(self.program.outputs)
        for equation in equations:
            (*_, first) = reversed(equation.inputs) if equation.inputs else (None,)
            single = len(equation.inputs) == 1 and len(equation.outputs) == 1
            if single and equation.primitive.name in FORMS and equation.outputs[0] not in results:
                assert first is not None
                self.stands_for[equation.outputs[0]] = self.stands_for.get(first, first)
            else:
                kept.append(equation)
        return kept

    def chosen(self, collapse: Collapse | None) -> tuple[str, list[list[int]]]:
        """What boxes stand for, and the numbers of the equations in each."""
        each = [[k] for k in range(len(self.equations))]
        if collapse == "equation" or (collapse is None and len(each) <= self.most):
            return "equation", each
        before = self.before()
        ways: list[tuple[str, Callable[[Sequence[Hashable], Any], list[int]], list[Hashable]]] = []
        if collapse != "function":
            ways += [("line", runs, self.lines()), ("line", loops, self.lines())]
        if collapse != "line":
            ways += [("function", runs, self.functions()), ("function", loops, self.functions())]
        found = [(name, members(gather(keys, before))) for name, gather, keys in ways]
        found += [("equation", each)] if collapse is None else []
        counts = [len(groups) for _, groups in found]
        fitting = [n for n in counts if n <= self.most]
        # Twice as many boxes say more than so few that nothing of the structure is left.
        if max(fitting, default=0) < self.most / 6:
            fitting += [min([n for n in counts if self.most < n <= 2 * self.most], default=0)]
        return found[counts.index(max(fitting) or min(counts))]

    def before(self) -> list[list[int]]:
        """For each equation, the equations whose results it uses."""
        made: dict[Atom, int] = {}
        found = []
        for k, equation in enumerate(self.equations):
            uses = [made.get(self.stands_for.get(atom, atom)) for atom in equation.inputs]
            found.append([u for u in uses if u is not None])
            made.update(dict.fromkeys(equation.outputs, k))
        return found

    def lines(self) -> list[Hashable]:
        """The user's line behind each equation, and its direction."""
        return [
            (direction_of(e), (s.file, s.line, s.function) if s is not None else None)
            for e, s in zip(self.equations, self.sources, strict=True)
        ]

    def functions(self) -> list[Hashable]:
        """The user's function behind each equation, and its direction."""
        return [
            (direction_of(e), (s.file, s.function) if s is not None else None)
            for e, s in zip(self.equations, self.sources, strict=True)
        ]

    # -- boxes -------------------------------------------------------------------------------------------

    def drawn(self) -> Drawn:
        """The Program as a diagram."""
        diagram = Boxes(self).diagram()
        self.kinds.update([node.kind for node in diagram.nodes])
        return drawn(diagram, self.sideways)

    def group_node(self, group: Sequence[int]) -> Node:
        """The box of some equations."""
        equations = [self.equations[k] for k in group]
        sources = [self.sources[k] for k in group]
        only = equations[0] if len(equations) == 1 else None
        if only is not None and (self.collapse != "line" or sources[0] is None or held_programs(only)):
            return self.equation_node(only)
        ways = {direction_of(equation) for equation in equations}
        kind = ways.pop() if len(ways) == 1 else "plain"
        places = {(s.file, s.line) if s is not None else None for s in sources}
        if self.collapse == "line" and len(places) == 1:
            rows = self.words.line_group(equations, sources[0])
        else:
            rows = self.words.function_group(equations, sources)
        tooltip = self.words.group_tooltip(equations) if only is None else self.words.tooltip(only)
        return Node(kind, tuple(rows), tooltip)

    def equation_node(self, equation: Equation) -> Node:
        """The box of one equation, with the Programs it holds."""
        rows = self.words.equation(equation, self.stands_for, len(self.equations) <= FOLDED_FROM)
        inside = None
        held = held_programs(equation)
        if held and self.depth:
            parts = [(role, self.inside(inner)) for role, inner in held]
            inside = side_by_side([headed(part, role) if role else part for role, part in parts])
        elif held:
            count = sum([len(inner.equations) for _, inner in held])
            rows.append(small(f"holds {count} equation{'s' if count != 1 else ''}"))
        return Node(direction_of(equation), tuple(rows), self.words.tooltip(equation), inside=inside)

    def inside(self, inner: Program) -> Drawn:
        """The diagram of a Program that an equation holds."""
        most = max(self.most // 2, 12)
        return Pictured(inner, None, most, self.depth - 1, self.sideways, self.kinds).drawn()


class Boxes:
    """The boxes and lines of a Program, once it is known what boxes stand for."""

    def __init__(self, pictured: Pictured) -> None:
        self.of = pictured
        self.words = pictured.words
        self.nodes: list[Node] = []
        self.links: dict[tuple[int, int, int], list[Var]] = {}
        """For each line, as (source, target, value), the values it carries."""
        self.made: dict[Atom, tuple[int, int]] = {}
        """Where each value comes from: a box, and the number of the value there."""
        self.alone = pictured.collapse == "equation"

    def diagram(self) -> Diagram:
        """All of them."""
        of, program = self.of, self.of.program
        groups = of.groups
        owner = {k: n for n, group in enumerate(groups) for k in group}
        readers = self.readers(owner)
        self.heads(program.inputs, readers, "leaf", "pill", "inputs")
        self.constants(readers)
        first = len(self.nodes)
        for group in groups:
            self.nodes.append(of.group_node(group))
        for k, equation in enumerate(of.equations):
            for j, v in enumerate(equation.outputs):
                self.made[v] = first + owner[k], j if len(groups[owner[k]]) == 1 else 0
        for k, equation in enumerate(of.equations):
            for atom in equation.inputs:
                self.link(atom, first + owner[k])
        self.results(program.outputs)
        return Diagram(self.nodes, self.lines())

    def readers(self, owner: dict[int, int]) -> dict[Atom, tuple[int, ...]]:
        """For each value, the boxes that use it."""
        found: dict[Atom, dict[int, None]] = {}
        for k, equation in enumerate(self.of.equations):
            for atom in equation.inputs:
                found.setdefault(self.of.stands_for.get(atom, atom), {})[owner[k]] = None
        for atom in self.of.program.outputs:
            found.setdefault(atom, {})[-1] = None
        return {atom: tuple(sorted(boxes)) for atom, boxes in found.items()}

    def heads(
        self, found: Sequence[Var], readers: dict[Atom, tuple[int, ...]], kind: str, outline: str, noun: str
    ) -> None:
        """Boxes for inputs: one for each, or one for those that go to the same places."""
        together: dict[Hashable, list[Var]] = {}
        for v in found:
            key = readers.get(v, ()) if len(found) > MOST_PILLS else v
            together.setdefault(key, []).append(v)
        for some in together.values():
            for v in some:
                self.made[v] = len(self.nodes), 0
            self.nodes.append(self.pill(some, kind, outline, noun))

    def pill(self, some: Sequence[Var], kind: str, outline: str, noun: str) -> Node:
        """The box of some inputs or outputs."""
        if len(some) == 1:
            rows = (title(self.words.names[some[0]]), small(str(some[0].aval)))
        else:
            names = ", ".join([self.words.names[v] for v in some[:4]])
            rows = (title(names + (", …" if len(some) > 4 else "")), small(f"{len(some)} {noun}"))
        return Node(kind, rows, self.words.values(some), outline)

    def constants(self, readers: dict[Atom, tuple[int, ...]]) -> None:
        """Boxes for captured arrays."""
        captured = self.of.program.captured
        if len(captured) > MOST_PILLS:
            self.heads([v for v, _ in captured], readers, "constant", "cut", "constants")
            return
        for v, value in captured:
            self.made[v] = len(self.nodes), 0
            rows, tooltip = self.words.constant(v, value)
            self.nodes.append(Node("constant", rows, tooltip, "cut"))

    def results(self, outputs: Sequence[Atom]) -> None:
        """Boxes for outputs: one for each, or one for those that come from the same place."""
        together: dict[Hashable, list[Var]] = {}
        for k, atom in enumerate(outputs):
            if isinstance(atom, Constant):
                rows = (title(str(atom.value)), small(f"output {k}: {atom.aval}"))
                self.nodes.append(Node("result", rows, "a constant", "double"))
                continue
            key = self.made[atom][0] if len(outputs) > MOST_PILLS else atom
            some = together.setdefault(key, [])
            if atom not in some:
                some.append(atom)
        numbers = {atom: k for k, atom in reversed(list(enumerate(outputs)))}
        for some in together.values():
            node = self.pill(some, "result", "double", "outputs")
            if len(some) == 1 and len(outputs) > 1:
                node = replace(node, rows=(*node.rows, small(f"output {numbers[some[0]]}", "fg-faded")))
            self.nodes.append(node)
            for v in some:
                self.link(v, len(self.nodes) - 1)

    def link(self, atom: Atom, target: int) -> None:
        """Note that a box uses a value."""
        atom = self.of.stands_for.get(atom, atom)
        if isinstance(atom, Constant) or atom not in self.made:
            return
        source, value = self.made[atom]
        if source != target:
            carried = self.links.setdefault((source, target, value), [])
            if atom not in carried:
                carried.append(atom)

    def lines(self) -> list[Link]:
        """The lines: those that would run past very many boxes are left to the names in the boxes."""
        links = self.bundled()
        edges = [Edge(*key) for key in links]
        cut = edges_to_cut(len(self.nodes), edges, 400 + 4 * len(self.nodes))
        return [
            Link(source, target, self.nodes[source].kind, self.words.values(carried), value, wide=value < 0)
            for k, ((source, target, value), carried) in enumerate(links.items())
            if k not in cut
        ]

    def bundled(self) -> dict[tuple[int, int, int], list[Var]]:
        """The lines, with one for all values where there are many between two boxes."""
        between = Counter([(source, target) for source, target, _ in self.links])
        found: dict[tuple[int, int, int], list[Var]] = {}
        for (source, target, value), carried in self.links.items():
            many = between[source, target] > MOST_LINES
            found.setdefault((source, target, -1 if many else value), []).extend(carried)
        return found


def sources_of(equations: Sequence[Equation]) -> list[Any]:
    """The user's line behind each equation; what has none belongs to what was computed before it."""
    found: list[Any] = []
    last = None
    for equation in equations:
        last = equation.source if equation.source is not None else last
        found.append(last)
    return found


def members(groups: Sequence[int]) -> list[list[int]]:
    """The steps of each group."""
    found: list[list[int]] = [[] for _ in range(max(groups, default=-1) + 1)]
    for step, group in enumerate(groups):
        found[group].append(step)
    return found


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
