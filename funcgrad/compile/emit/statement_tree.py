"""The text of a kernel's function as a tree of statements: which names each has, and what it does with them.

Knows the words of the kernel language as far as it takes to tell names from them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\w|\s*\()")
_FIXED = frozenset(
    [
        *("and", "or", "not", "in", "is", "if", "else", "elif", "for", "while", "break", "continue"),
        *("return", "pass", "True", "False", "NAN", "INF", "math", "np"),
    ]
)
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_]\w*(?:, [A-Za-z_]\w*)*) = ")
_LOOP = re.compile(r"\s*for ([A-Za-z_]\w*) in ")
_STAYS = re.compile(
    r"\b(?:return|parallel|break|continue|poll|malloc|realloc|free|(?:shifted|stack_\w+|as_\w+)(?=\())\b"
    r"|(?<![\w.])[pn]\["
)
"""What must stay where it is: leaving the function, its tables, memory and views that are made."""


_CALLS = re.compile(r"\s*(?:if .*:|else:|[A-Za-z_]\w*\(.*\)|[A-Za-z_]\w* = [A-Za-z_]\w*(?:\[\w+\])?)")
"""A line that computes nothing by itself."""

_RETURNED = re.compile(r"\s*[A-Za-z_][\w, ]* = \w+_group\d+\(.*\)")
"""What a function made of statements returns."""

_CALLS_GROUP = re.compile(r"\s*(?:[A-Za-z_][\w, ]* = )?\w+_group\d+\([^()]*\)")
"""A call of a function made of statements."""


class Line:
    """A line without its comment: its names in order, the text between them, and what it does with them."""

    __slots__ = ("assigned", "between", "margin", "names", "read", "turn")

    def __init__(self, text: str) -> None:
        self.names: list[str] = _NAME.findall(text)
        self.between = _NAME.split(text)
        self.margin = margin_of(text)
        setting, loop = _ASSIGNMENT.match(text), _LOOP.match(text)
        self.assigned: list[str] = setting.group(1).split(", ") if setting else []
        self.read = self.names[len(self.assigned) :]
        self.turn: str = loop.group(1) if loop else ""


@dataclass(eq=False, slots=True)
class Statement:
    """A line or a compound statement; comments belong to the statement that follows them.

    A loop has its body as statements; a branch is kept as lines.
    """

    comments: list[str]
    lines: list[str]
    """The line, all lines of a branch, or the head of a loop."""
    body: list[Statement] = field(default_factory=list)
    template: str = ""
    """The text without its names and its comments."""
    names: tuple[str, ...] = ()
    """Its names in order, each once."""
    length: int = 0
    """Lines, but comments."""
    set_here: frozenset[str] = frozenset()
    """The names that it sets before it reads them."""
    counted: Counter[str] = field(default_factory=Counter)
    """How often each name stands in it."""
    own: list[Line] | None = None
    """Its own lines as they were looked through, which is done once."""
    known: list[Line] | None = None
    """All its lines as they were when it was last read."""

    def text(self) -> Iterator[str]:
        """All its lines."""
        yield from self.comments
        yield from self.lines
        for statement in self.body:
            yield from statement.text()

    def code(self) -> list[Line]:
        """All its lines without comments."""
        if self.own is None:
            self.own = lines_of(self.lines)
        return [*self.own, *code_in(self.body)] if self.body else self.own

    def read(self) -> None:
        """Find its template, its names and its length, again where statements of a loop may have changed."""
        if self.length and not self.body:
            return
        code = self.code()
        if code == self.known:
            return
        self.known = code
        found: dict[str, int] = {}
        templates = []
        for line in code:
            parts = [line.between[0]]
            for name, after in zip(line.names, line.between[1:], strict=True):
                parts += [
                    name if name in _FIXED else f"\0{found.setdefault(name, len(found))} ",
                    after,
                ]
            templates.append("".join(parts))
        self.template = "\n".join(templates)
        self.names = tuple(found)
        self.length = len(code)
        roles, self.counted = Roles(code), names_in(code)
        self.set_here = frozenset({*roles.assigned, *roles.turns} - roles.read_first)

    def public(self, total: Counter[str]) -> frozenset[str]:
        """The names that it may share with what is around it, where names stand `total` times in all."""
        here, inside = self.set_here, self.counted
        return frozenset([name for name in self.names if name not in here or total[name] > inside[name]])

    @property
    def loops(self) -> bool:
        """Whether it is a loop, or holds one."""
        return "for " in self.template or "while " in self.template

    @property
    def stays(self) -> bool:
        """Whether it must stay where it is."""
        return _STAYS.search(self.template) is not None

    @property
    def calls_group(self) -> bool:
        """Whether it is a call of a function made of statements, and nothing else."""
        return len(self.lines) == 1 and not self.body and _CALLS_GROUP.fullmatch(self.lines[0]) is not None

    @property
    def only_calls(self) -> bool:
        """Whether it does nothing but call functions, read numbers and copy them."""
        return not self.body and all(
            _CALLS.fullmatch(line) or _RETURNED.fullmatch(line) for line in code_of(self.lines)
        )


def code_of(lines: Iterator[str] | Sequence[str]) -> list[str]:
    """The lines without comments."""
    return [line.partition("  # ")[0] for line in lines if not line.lstrip().startswith("#")]


def lines_of(lines: Sequence[str]) -> list[Line]:
    """The lines without comments, looked through."""
    return [Line(text) for text in code_of(lines)]


def margin_of(line: str) -> int:
    """The indentation of a line."""
    return len(line) - len(line.lstrip())


def parsed(lines: Sequence[str]) -> list[Statement]:
    """The statements of a block.

    >>> loop, last = parsed(["    for i in range(n0):", "        # why", "        x[i] = y", "    z = 1"])
    >>> loop.body[0].comments, last.lines
    (['        # why'], ['    z = 1'])
    """
    found: list[Statement] = []
    waiting: list[str] = []
    k = 0
    while k < len(lines):
        line = lines[k]
        margin, text = margin_of(line), line.lstrip()
        if text.startswith("#"):
            waiting.append(line)
            k += 1
            continue
        stop = k + 1
        while stop < len(lines) and margin_of(lines[stop]) > margin:
            stop += 1
        inner = list(lines[k + 1 : stop])
        if text.startswith(("else:", "elif ")):
            found[-1].lines += [*waiting, line, *inner]
        elif text.startswith(("for ", "while ")):
            found.append(Statement(waiting, [line], parsed(inner)))
        else:
            found.append(Statement(waiting, [line, *inner]))
        waiting = []
        k = stop
    return found


def text_of(statements: Sequence[Statement]) -> list[str]:
    """All lines of statements."""
    return [line for statement in statements for line in statement.text()]


def code_in(statements: Sequence[Statement]) -> list[Line]:
    """All lines of statements without comments."""
    return [line for statement in statements for line in statement.code()]


def names_in(code: Sequence[Line]) -> Counter[str]:
    """How often each name stands in some lines."""
    return Counter([name for line in code for name in line.names])


class Roles:
    """What lines do with each name."""

    def __init__(self, code: Sequence[Line]) -> None:
        self.assigned: dict[str, bool] = {}
        """The names that are set, and whether some setting of them is certain to happen."""
        self.turns: set[str] = set()
        """The variables of loops."""
        self.read_first: set[str] = set()
        """The names that are read before they are set, if ever they are."""
        margin = min([line.margin for line in code])
        for line in code:
            for name in line.read:
                known = name in _FIXED or name in self.assigned or name in self.turns
                if not known and name != line.turn:
                    self.read_first.add(name)
            for name in line.assigned:
                self.assigned[name] = self.assigned.get(name, False) or line.margin == margin
            if line.turn:
                self.turns.add(line.turn)


class Settings:
    """Where names are first set in functions whose text stays as it is meanwhile."""

    def __init__(self, bodies: Sequence[Sequence[Statement]]) -> None:
        self._bodies = bodies
        self._known: dict[int, tuple[dict[str, int], dict[Statement, int]]] = {}

    def precede(self, body: int, name: str, statement: Statement) -> bool:
        """Whether a name is set in the text of a function before a statement in it, wherever that stands.

        >>> body = parsed(["    x = 1", "    for i in range(x):", "        y = i", "        x = y"])
        >>> last = body[1].body[1]
        >>> [Settings([body]).precede(0, name, last) for name in ("x", "y", "i", "z")]
        [True, True, False, False]
        """
        if body not in self._known:
            self._known[body] = first_settings(self._bodies[body])
        settings, beginnings = self._known[body]
        return settings.get(name, beginnings[statement]) < beginnings[statement]


def first_settings(body: Sequence[Statement]) -> tuple[dict[str, int], dict[Statement, int]]:
    """The number of the statement that first sets each name, and the number of each statement."""
    settings: dict[str, int] = {}
    beginnings: dict[Statement, int] = {}

    def walk(statements: Sequence[Statement]) -> None:
        for statement in statements:
            beginnings[statement] = len(beginnings)
            for line in lines_of(statement.lines) if statement.own is None else statement.own:
                for name in line.assigned:
                    settings.setdefault(name, beginnings[statement])
            walk(statement.body)

    walk(body)
    return settings, beginnings
