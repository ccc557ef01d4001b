"""Loops of exported modules that take two elements a turn, where one alone waits for itself.

Of a loop around a chain of functions (``log(exp(tanh(sin(x))))``) kernels have LLVM take two vectors a turn
(`engines/direct/interleaving`). Numba has no word for that. So each line of the loop's body becomes one for
two elements, of the two halves of its range, in a function of its own; an odd element that is left is its own
partner. A call of the body for each of the two would not do: LLVM leaves one after the other, and a turn is
longer than a processor looks ahead.

Only long loops are taken, and chunks of them, whose turns may run in any order. What is looked for here is
that they may run side by side: a turn writes into its own elements, and carries sums only.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import pairwise

from funcgrad.compile.engines.direct.interleaving import waits_for_itself
from funcgrad.compile.export.library import INLINED
from funcgrad.compile.export.threads import IN_ANY_ORDER

CHUNK = re.compile(r"( *)for (\w+) in range\(0 if first < 0 else first, last\):")
"""The loop of a chunk, as `threads` writes it."""

WHOLE = re.compile(rf"( *)for (\w+) in range\((.+)\):{IN_ANY_ORDER}")
"""A long loop that is not divided."""

NAME = "two_elements"


@dataclass(frozen=True)
class Turn:
    """A turn of a loop whose turns may run side by side."""

    variable: str
    lines: Sequence[str]
    """The body without the steps of sums, comments and all."""
    own: frozenset[str]
    """What a turn assigns."""
    read: Sequence[str]
    """What it reads that was there before."""
    sums: Sequence[tuple[str, str]]
    """What is summed, and what a turn adds to it."""


def side_by_side(function: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines of a function whose chunks take two elements a turn where that pays, and what these call."""
    lines: list[str] = []
    sources: list[str] = []
    known = names_of(function)
    k = 0
    while k < len(function):
        head = CHUNK.fullmatch(function[k]) or WHOLE.fullmatch(function[k])
        end = k + 1
        while head is not None and end < len(function) and function[end].startswith(f"{head[1]}    "):
            end += 1
        turn = None if head is None else turn_of(head[2], function[k + 1 : end], known)
        if head is None or turn is None:
            lines.append(function[k].removesuffix(IN_ANY_ORDER))
            k += 1
            continue
        name = f"{NAME}{len(sources) + 1}" if sources else NAME
        sources.append(source_of(name, turn))
        pairs = pairs_of_chunk(name, turn) if head.re is CHUNK else pairs_of_whole(name, turn, head[3])
        lines += [head[1] + line for line in pairs]
        k = end
    return lines, sources


def names_of(function: Sequence[str]) -> set[str]:
    """The parameters of a function and all that it assigns."""
    (tree,) = ast.parse("\n".join(function)).body
    assert isinstance(tree, ast.FunctionDef)
    stored = {x.id for x in ast.walk(tree) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    return stored | {x.arg for x in tree.args.args}


def turn_of(variable: str, body: Sequence[str], known: set[str]) -> Turn | None:
    """The body of a loop as a turn; None where turns may not run side by side or need not."""
    statements = ast.parse(textwrap.dedent("\n".join(body))).body
    sums = {name: term for s in statements for name, term in added(s)}
    rest = [s for s in statements if not added(s)]
    nodes = [x for s in rest for x in ast.walk(s)]
    names = [x for x in nodes if isinstance(x, ast.Name)]
    own = [x.id for x in names if isinstance(x.ctx, ast.Store)]
    if len(sums) + len(rest) < len(statements) or len({*own}) < len(own) or not waits_for_itself(rest):
        return None
    made = {"j", "half", NAME, *[f"{name}_j" for name in (*own, *sums)], *[f"{x}_{variable}" for x in sums]}
    if made & (known | {x.id for x in names}) or any(isinstance(x, ast.keyword) for x in nodes):
        return None
    if {*sums} & {x.id for x in names} or not reads_after_writes(rest, set(own)):
        return None
    terms = [(name, term.id if isinstance(term, ast.Name) else "") for name, term in sums.items()]
    if not writes_own_elements(variable, rest) or any(term not in own for _, term in terms):
        return None
    read = [x.id for x in names if x.id in known and x.id not in own and x.id != variable]
    lines = [line for line in textwrap.dedent("\n".join(body)).split("\n") if not is_sum(line, sums)]
    lines = [x for x, after in pairwise([*lines, "#"]) if not (x.startswith("#") and after.startswith("#"))]
    return Turn(variable, lines, frozenset(own), [*dict.fromkeys(read)], terms)


def added(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """The name of a sum and what is added to it, of a line ``total = plus(total, x)``; else nothing."""
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Name(id="plus"), args=[ast.Name(id=again), term]),
        ) if name == again:
            return [(name, term)]
    return []


def is_sum(line: str, sums: Container[str]) -> bool:
    """Whether a line is the step of a sum."""
    return line.partition(" = ")[0] in sums


def reads_after_writes(statements: Sequence[ast.stmt], own: set[str]) -> bool:
    """Whether every line assigns one thing, and names of a turn are read after they are assigned."""
    done: set[str] = set()
    for s in statements:
        if not isinstance(s, ast.Assign) or len(s.targets) != 1:
            return False
        if not isinstance(s.targets[0], ast.Name | ast.Subscript):
            return False
        read = {x.id for x in ast.walk(s) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)}
        if (read & own) - done:
            return False
        done |= {x.id for x in s.targets if isinstance(x, ast.Name)}
    return True


def writes_own_elements(variable: str, statements: Sequence[ast.stmt]) -> bool:
    """Whether arrays that are written are touched at one index only, which no other turn has."""
    nodes = [x for s in statements for x in ast.walk(s)]
    places = [x for x in nodes if isinstance(x, ast.Subscript)]
    written = {ast.unparse(x.value) for x in places if isinstance(x.ctx, ast.Store)}
    for name in written:
        indices = {ast.unparse(x.slice) for x in places if ast.unparse(x.value) == name}
        uses = sum(isinstance(x, ast.Name) and x.id == name for x in nodes)
        if indices != {variable} or uses != sum(ast.unparse(x.value) == name for x in places):
            return False
    return True


def source_of(name: str, turn: Turn) -> str:
    """The function of two turns, line by line."""
    second = re.compile(rf"(?<![\w.])({'|'.join(sorted(turn.own)) or '(?!)'})\b")
    index = re.compile(rf"(?<![\w.]){turn.variable}\b")

    def of_second(text: str) -> str:
        return index.sub("j", second.sub(r"\1_j", text))

    parameters = [turn.variable, "j", *turn.read]
    lines = [
        f"@{INLINED}",
        f"def {name}({', '.join(parameters)}):",
        f'    """Elements {turn.variable} and j: while one waits for a result, the other is computed."""',
    ]
    for line in turn.lines:
        target, _, value = line.partition(" = ")
        both = f"{target}, {of_second(target)} = {value}, {of_second(value)}"
        lines.append(f"    {line if line.startswith('#') else both}")
    if turn.sums:
        terms = [text for _, term in turn.sums for text in (term, of_second(term))]
        lines.append(f"    return {', '.join(terms)}")
    return "\n".join(lines)


def pairs_of_chunk(name: str, turn: Turn) -> list[str]:
    """The loops of a chunk over pairs, and over the element without a partner."""
    start = "0 if first < 0 else first"
    return [
        "half = (last - first) // 2",
        "half = 0 if half < 0 else half",
        *loop_of_pairs(name, turn, f"{start}, first + half"),
        *loop_of_last(name, turn, f"{start} + 2 * half, last"),
    ]


def pairs_of_whole(name: str, turn: Turn, size: str) -> list[str]:
    """The same of a loop over all of a range."""
    return [
        f"half = {size if size.isidentifier() or size.isdigit() else f'({size})'} // 2",
        "half = 0 if half < 0 else half",
        *loop_of_pairs(name, turn, "half"),
        *loop_of_last(name, turn, f"2 * half, {size}"),
    ]


def loop_of_pairs(name: str, turn: Turn, turns: str) -> list[str]:
    """The loop over the first half, whose elements have theirs in the second."""
    variable = turn.variable
    totals = [total for total, _ in turn.sums]
    return [
        f"for {variable} in range({turns}):",
        f"    {call_of(name, turn, f'{variable} + half')}",
        *[f"    {total} = plus(plus({total}, {total}_{variable}), {total}_j)" for total in totals],
    ]


def loop_of_last(name: str, turn: Turn, turns: str) -> list[str]:
    """The loop over what is left, at most one element."""
    variable = turn.variable
    return [
        f"for {variable} in range({turns}):",
        f"    {call_of(name, turn, variable)}",
        *[f"    {total} = plus({total}, {total}_{variable})" for total, _ in turn.sums],
    ]


def call_of(name: str, turn: Turn, second: str) -> str:
    """The call for an element and another."""
    given = [f"{total}_{k}" for total, _ in turn.sums for k in (turn.variable, "j")]
    stored = f"{', '.join(given)} = " if given else ""
    return f"{stored}{name}({', '.join([turn.variable, second, *turn.read])})"
