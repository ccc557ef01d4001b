"""Programs as rows: an equation in each, typed, beside the user's line; Programs inside them folded.

A page is made of one or several listings. It numbers the variables, so that hovering one marks its definition
and its uses, and it has a number of rows to spend: of long Programs the middle is folded, and what is beyond
the number is left out and counted.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from funcgrad.display.arrays import array_words
from funcgrad.display.costs import Cost, bytes_of, cost_of, cost_of_program, count_words, size_words
from funcgrad.display.html import EMPTY, Markup, escaped, joined, tag
from funcgrad.display.sources import expression_of, is_backward, source_cell, source_title
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ir.text.names import variable_names
from funcgrad.ir.text.printing import block_names
from funcgrad.ir.text.spelling import context_of, literal_text, parameter_text, subprograms

ROWS = 500
"""Rows of a page, those that are folded among them."""
HEAD, TAIL = 40, 20
"""Rows of a long Program that are shown at its beginning and its end."""
MOST_OPERANDS = 12
MOST_MARKED = 400
"""Variables that are marked on hover."""
LONGEST_PARAMETER = 90
SOURCE_WIDTH = 34
"""Characters of the user's line that are always seen."""

Columns = tuple[int, int]

LISTING_CSS = """
table.fg-rows {
    table-layout:fixed; width:100%; border-collapse:collapse; border:0; margin:0; font:inherit;
    color:inherit; background:none;
}
table.fg-rows tr {background:none; border:0}
table.fg-rows tr:hover {background:var(--fg-raised)}
table.fg-rows td {
    padding:1px 8px 1px 6px; border:0; text-align:left; vertical-align:top; font:inherit; color:inherit;
    background:none; max-width:none; white-space:normal; overflow-wrap:anywhere; line-height:1.5;
}
table.fg-rows td.fg-def {border-left:3px solid var(--fg-faint); padding-left:8px}
.fg-typed {white-space:nowrap}
table.fg-rows td.fg-op {padding-left:1.6em; text-indent:-1em}
table.fg-rows td.fg-src {white-space:nowrap; overflow:hidden; text-overflow:ellipsis}
table.fg-rows tr.fg-forward > td.fg-def {border-left-color:var(--fg-forward)}
table.fg-rows tr.fg-backward > td.fg-def {border-left-color:var(--fg-backward)}
table.fg-rows tr.fg-constant > td.fg-def {border-left-color:var(--fg-constant)}
table.fg-rows tr.fg-result > td.fg-def {border-left-color:var(--fg-leaf)}
.fg-forward > .fg-op .fg-name {color:var(--fg-forward)}
.fg-backward > .fg-op .fg-name {color:var(--fg-backward)}
.fg-constant .fg-word {color:var(--fg-constant)}
.fg-input .fg-word {color:var(--fg-dim)}
.fg-result .fg-word {color:var(--fg-leaf)}
.fg-name {font-weight:600}
.fg-type, .fg-param, .fg-eq {color:var(--fg-dim)}
.fg-lit {color:var(--fg-number)}
.fg-var {border-radius:2px; cursor:default}
table.fg-rows tr.fg-vanished > td.fg-def, table.fg-rows tr.fg-vanished > td.fg-op {
    text-decoration:line-through; opacity:0.65; background:var(--fg-warning-soft);
}
table.fg-rows tr.fg-appeared > td.fg-def, table.fg-rows tr.fg-appeared > td.fg-op {
    background:var(--fg-leaf-soft);
}
details.fg-fold {margin:1px 0}
details.fg-fold > summary {cursor:pointer; color:var(--fg-dim); padding:1px 6px; list-style-position:inside}
details.fg-fold > summary:hover {color:var(--fg-ink); background:var(--fg-raised)}
details.fg-held {margin:2px 0 4px 1.6em; border-left:1px solid var(--fg-faint)}
details.fg-more {display:inline}
details.fg-more > summary {
    display:inline; cursor:pointer; color:var(--fg-dim); text-decoration:underline dotted; white-space:nowrap;
}
.fg-gone {color:var(--fg-dim); padding:2px 8px; font-style:italic}
"""


@dataclass
class Page:
    """What the listings of one page share: numbers for variables, rows left, and costs that are known."""

    rows: int = ROWS
    variables: int = 0
    costs: dict[Program, Cost] = field(default_factory=dict)

    def number(self) -> int:
        """A number for one more variable."""
        self.variables += 1
        return self.variables

    def spend(self, rows: int) -> int:
        """How many of so many rows may be shown."""
        granted = min(rows, self.rows)
        self.rows -= granted
        return granted

    def marks(self, body: Markup) -> tuple[str, str]:
        """A class for the root, and the rules that mark a variable wherever it stands while it is hovered."""
        own = f"fg-{blake2b(body.encode(), digest_size=4).hexdigest()}"
        shown = range(1, min(self.variables, MOST_MARKED) + 1)
        if not shown:
            return own, ""
        selectors = ",".join([f".{own}:has(.fv{k}:hover) .fv{k}" for k in shown])
        return own, f"{selectors}{{background:var(--fg-mark)}}"


def counted(number: int, word: str) -> str:
    """A number and what it counts.

    >>> counted(1, "equation"), counted(2, "equation"), counted(3, "branch")
    ('1 equation', '2 equations', '3 branches')
    """
    ending = "" if number == 1 else "es" if word.endswith(("ch", "sh", "s")) else "s"
    return f"{number} {word}{ending}"


class Listing:
    """One Program: its variables under the names and numbers that they have on the page."""

    __slots__ = (
        "_backward",
        "_blocks",
        "_held",
        "_marked",
        "_names",
        "_numbers",
        "_origins",
        "_page",
        "_program",
        "_uses",
    )

    def __init__(
        self,
        program: Program,
        page: Page,
        marked: Container[Equation] = (),
        mark: str = "vanished",
        *,
        backward: bool = False,
        held: bool = False,
    ) -> None:
        self._program = program
        self._page = page
        self._backward = backward
        self._held = held
        self._marked = (marked, mark)
        self._blocks = block_names(program)
        self._names = variable_names(program, self._blocks.values())
        self._numbers: dict[Var, int] = {}
        self._origins: dict[Var, str] = dict.fromkeys(program.inputs, "an input")
        self._origins.update({v: "captured" for v, _ in program.captured})
        self._origins.update({v: f"from {e.primitive.name}" for e in program.equations for v in e.outputs})
        self._uses: dict[Var, int] = {}
        for equation in program.equations:
            for atom in equation.inputs:
                if isinstance(atom, Var):
                    self._uses[atom] = self._uses.get(atom, 0) + 1

    # -- the whole ------------------------------------------------------------------------------------------

    def signature(self, name: str) -> Markup:
        """The name, the typed inputs and the types of the results."""
        inputs = shortened([self.typed(v) for v in self._program.inputs], MOST_OPERANDS)
        results = shortened([tag("span", str(a), class_="fg-type") for a in self._program.out_avals], 8)
        arrow = tag("span", " → ", class_="fg-eq")
        return joined([tag("span", name, class_="fg-name"), "(", inputs, ")", arrow, results])

    def rows(self) -> Markup:
        """All rows, as tables with columns of one width; the middle of a long Program is folded."""
        program = self._program
        granted = self._page.spend(len(program.equations))
        first, folded, last = parts_of(len(program.equations), granted)
        equations = program.equations
        columns = self._columns()
        head = [self._inputs_row()] if self._held else []
        head += [self._captured_row(v, x) for v, x in program.captured]
        shown = [*head, *self._equation_rows(equations[:first])]
        pieces = []
        if folded or first + folded + last < len(equations):
            pieces.append(table(columns, shown))
            pieces.append(self._folded(equations[first : len(equations) - last], folded, columns))
            shown = []
        rest = equations[len(equations) - last :] if last else ()
        pieces.append(table(columns, [*shown, *self._equation_rows(rest), self._return_row()]))
        return joined(pieces)

    def _folded(self, equations: Sequence[Equation], granted: int, columns: Columns) -> Markup:
        left_out = len(equations) - granted
        words = f"{counted(len(equations), 'equation')} more"
        cost = sum([cost_of(e, self._page.costs) for e in equations], Cost())
        summary = tag("summary", f"… {words}: {cost_words(cost)}")
        inside = [table(columns, self._equation_rows(equations[:granted]))] if granted else []
        if left_out:
            gone = f"… {counted(left_out, 'equation')} not shown here; print the Program for all of them"
            inside.append(tag("div", gone, class_="fg-gone"))
        return tag("details", summary, joined(inside), class_="fg-fold")

    def _columns(self) -> Columns:
        """The widths of the first two columns, in characters: the same in every table of the Program."""
        equations = self._program.equations[:HEAD] + self._program.equations[-TAIL:]
        heads = [", ".join([f"{self._names[v]}: {v.aval}" for v in e.outputs[:2]]) for e in equations]
        width = min(max([len(head) for head in heads], default=0) + 3, 44)
        operations = max([operation_width(e, self._names) for e in equations], default=0)
        second = min(max(operations + 4, 24), 64)
        return max(width, 14), second

    # -- rows -----------------------------------------------------------------------------------------------

    def _equation_rows(self, equations: Iterable[Equation]) -> list[Markup]:
        rows: list[Markup] = []
        held_before: set[Program] = set()
        before = None
        for equation in equations:
            source = equation.source
            place = None if source is None else (str(source), expression_of(source))
            rows.append(self._equation_row(equation, again=place is not None and place == before))
            before = place
            for held in subprograms(equation):
                if held not in held_before:
                    held_before.add(held)
                    rows.append(self._held_row(equation, held))
        return rows

    def _equation_row(self, equation: Equation, *, again: bool) -> Markup:
        targets = shortened([self.typed(v) for v in equation.outputs], 3)
        classes = "fg-backward" if self._is_backward(equation) else "fg-forward"
        marked, mark = self._marked
        if equation in marked:
            classes += f" fg-{mark}"
        return tag(
            "tr",
            tag("td", targets, class_="fg-def"),
            tag("td", self._operation(equation), class_="fg-op"),
            tag("td", source_cell(equation.source, again=again), class_="fg-src"),
            class_=classes,
            title=self._title(equation),
        )

    def _is_backward(self, equation: Equation) -> bool:
        """As its source says; where it has none, as the equation says that holds this Program."""
        return self._backward if equation.source is None else is_backward(equation.source)

    def _operation(self, equation: Equation) -> Markup:
        context = context_of(equation)
        operands: list[str] = [self._atom(atom, context) for atom in equation.inputs]
        operands += [
            tag("span", cut(f"{key}={parameter_text(value, self._blocks)}"), class_="fg-param")
            for key, value in equation.params.items()
        ]
        name = tag("span", equation.primitive.name, class_="fg-name")
        return joined([tag("span", "= ", class_="fg-eq"), name, "(", shortened(operands, MOST_OPERANDS), ")"])

    def _held_row(self, equation: Equation, held: Program) -> Markup:
        inner = Listing(held, self._page, backward=self._is_backward(equation), held=True)
        types = f": {counted(len(held.inputs), 'input')} → {counted(len(held.outputs), 'output')}, "
        words = (
            f"{types}{counted(len(held), 'equation')}, {cost_words(cost_of_program(held, self._page.costs))}"
        )
        role = role_of(equation, held)
        label = tag("span", f"{role} " if role else "", class_="fg-param")
        name = tag("span", self._blocks[held], class_="fg-name")
        summary = tag("summary", label, name, words, title=signature(held)[:1000])
        fold = tag("details", summary, inner.rows(), class_="fg-fold fg-held")
        return tag("tr", tag("td", fold, colspan="3"))

    def _inputs_row(self) -> Markup:
        inputs = shortened([self.typed(v) for v in self._program.inputs], MOST_OPERANDS)
        word = tag("span", "inputs ", class_="fg-word")
        return tag("tr", tag("td", word, inputs, class_="fg-def", colspan="3"), class_="fg-input")

    def _captured_row(self, v: Var, value: object) -> Markup:
        words = array_words(value)
        word, equals = tag("span", "captured ", class_="fg-word"), tag("span", " = ", class_="fg-eq")
        return tag(
            "tr",
            tag("td", word, self.typed(v), equals, words, class_="fg-def", colspan="3"),
            class_="fg-constant",
            title=f"{v.aval}, {size_words(bytes_of(v.aval))}: {words}",
        )

    def _return_row(self) -> Markup:
        results = shortened([self._atom(atom, None) for atom in self._program.outputs], MOST_OPERANDS)
        word = tag("span", "return ", class_="fg-word")
        return tag("tr", tag("td", word, results, class_="fg-def", colspan="3"), class_="fg-result")

    # -- words ----------------------------------------------------------------------------------------------

    def typed(self, v: Var) -> Markup:
        """A variable where it is defined, with its type."""
        kind = tag("span", f": {v.aval}", class_="fg-type")
        return tag("span", self._variable(v), kind, class_="fg-typed")

    def _variable(self, v: Var) -> Markup:
        number = self._numbers.get(v)
        if number is None:
            number = self._numbers[v] = self._page.number()
        uses = self._uses.get(v, 0)
        origin = self._origins.get(v, "not defined")
        words = f"{self._names[v]}: {v.aval}, {size_words(bytes_of(v.aval))}, {origin}, "
        words += f"used {counted(uses, 'time')}"
        return tag("span", self._names[v], class_=f"fg-var fv{number}", title=words)

    def _atom(self, atom: Atom, context: object) -> Markup:
        if isinstance(atom, Literal):
            return tag("span", literal_text(atom, context), class_="fg-lit", title=str(atom.aval))  # type: ignore[arg-type]
        return self._variable(atom)

    def _title(self, equation: Equation) -> str:
        types = ", ".join([f"{v.aval} ({size_words(bytes_of(v.aval))})" for v in equation.outputs[:4]])
        more = f", {len(equation.outputs) - 4} more" if len(equation.outputs) > 4 else ""
        reads = ", ".join([str(atom.aval) for atom in equation.inputs[:8]])
        lines = [
            f"{equation.primitive.name}({reads}) → {types}{more}",
            cost_words(cost_of(equation, self._page.costs)),
        ]
        if equation.source is not None:
            way = "backward, for" if is_backward(equation.source) else "forward, from"
            lines += [way, source_title(equation.source)]
        return "\n".join(lines)


# -- pieces -------------------------------------------------------------------------------------------------


def signature(program: Program) -> str:
    """The signature as plain text.

    >>> from funcgrad.ir.text.parsing import parse
    >>> signature(parse("program f(x: f64[3]): y: f64[3] = mul(x, 2.0) return y"))
    'f(f64[3]) → f64[3]'
    """
    inputs = ", ".join([str(a) for a in program.in_avals])
    return f"{program.name}({inputs}) → {', '.join([str(a) for a in program.out_avals])}"


def parts_of(count: int, granted: int) -> tuple[int, int, int]:
    """How many rows stand at the beginning, folded in the middle, and at the end, of `granted` ones.

    >>> parts_of(10, 10), parts_of(300, 300), parts_of(3000, 100), parts_of(300, 5)
    ((10, 0, 0), (40, 240, 20), (40, 40, 20), (5, 0, 0))
    """
    if count <= HEAD + TAIL and granted == count:
        return count, 0, 0
    first = min(HEAD, granted)
    last = min(TAIL, granted - first)
    return first, granted - first - last, last


def table(columns: Columns, rows: Sequence[Markup]) -> Markup:
    """Rows of equations. Where there is little room, it is scrolled, and the source is not lost."""
    widths = [tag("col", style=f"width:{width}ch") for width in columns]
    group = tag("colgroup", joined([*widths, tag("col")]))
    narrowest = f"min-width:{sum(columns) + SOURCE_WIDTH}ch"
    return tag("table", group, tag("tbody", joined(rows)), class_="fg-rows", style=narrowest)


def shortened(items: Sequence[str], most: int) -> Markup:
    """Items with commas between them; those beyond `most` are folded.

    >>> shortened(["a", "b"], 2)
    'a, b'
    """
    if len(items) <= most + 1:
        return joined(items, ", ")
    rest = joined(items[most:], ", ")
    fold = tag("details", tag("summary", f"{len(items) - most} more"), rest, class_="fg-more")
    return joined([joined(items[:most], ", "), ", ", fold])


def cut(text: str) -> Markup:
    """The text, without its middle where it is long; all of it on hover."""
    if len(text) <= LONGEST_PARAMETER:
        return escaped(text)
    half = LONGEST_PARAMETER // 2
    return tag("span", f"{text[:half]} … {text[-half // 2 :]}", title=text[:1000])


def operation_width(equation: Equation, names: dict[Var, str]) -> int:
    """About as many characters as the operation takes."""
    operands = [6 if isinstance(atom, Literal) else len(names[atom]) + 2 for atom in equation.inputs]
    params = [len(key) + 10 for key in equation.params]
    return len(equation.primitive.name) + 4 + sum(operands) + sum(params)


def cost_words(cost: Cost) -> str:
    """Operations and traffic."""
    trip = "" if cost.complete else " for each trip of a loop"
    moved = f"{size_words(cost.bytes_moved)} moved"
    if not cost.flops:
        return f"no arithmetic, {moved}" if cost.bytes_moved else "no arithmetic, no memory moved"
    return f"{count_words(cost.flops)} flops, {moved}{trip}"


def role_of(equation: Equation, held: Program) -> str:
    """The name of the parameter that is or holds the Program."""
    for key, value in equation.params.items():
        if value is held:
            return key
        if isinstance(value, tuple) and held in value:
            return f"{key}[{value.index(held)}]"
    return EMPTY
