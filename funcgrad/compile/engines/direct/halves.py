"""One module of LLVM assembly to two that are compiled on two cores, and find one another where they lie.

Knows the text that `translate` writes. A function that is called in a loop stays with the one that calls it,
so that LLVM knows of it what it would: others are called from afar, and so are all those that are called by a
function which is not optimised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

HASTY = 16
"""Lines of a function that is not optimised that take as long as one of another."""

_HEAD = re.compile(r'^define (?:internal )?(.*?@"?([^"(]+)"?\(.*\)) ([^()]*#0) \{$')
_CALL = re.compile(r'\bcall [^@]*@"?([^"(]+)"?\(')
_ENTERED, _LEFT = re.compile(r"(?:for|while)\d+:"), re.compile(r"(?:end|done)\d+:")
_NAMED = re.compile(r'@"?([\w.]+)"?')


class Definition(NamedTuple):
    """A function of the text."""

    name: str
    lines: Sequence[str]
    called: frozenset[str]
    named: frozenset[str]
    """What it calls in loops, and all that it names."""

    @property
    def optimised(self) -> bool:
        """Whether LLVM looks at it for more than a moment."""
        return "optnone" not in self.lines[0]

    @property
    def weight(self) -> int:
        """About how long it takes, in lines."""
        return len(self.lines) if self.optimised else len(self.lines) // HASTY

    def declared(self) -> str:
        """What a module says that calls it and does not have it."""
        return f"declare {parts_of(self.lines[0])[0]}"

    def text(self, offered: bool) -> str:
        """Its text; found by the other module if it is `offered`."""
        if not offered or not self.lines[0].startswith("define internal "):
            return "\n".join(self.lines)
        head = "define hidden " + self.lines[0].removeprefix("define internal ")
        return "\n".join([head, *self.lines[1:]])


def parts_of(head: str) -> tuple[str, str]:
    """The result, symbol and arguments of a function's first line, and the symbol alone."""
    found = _HEAD.match(head)
    assert found is not None, head
    return found[1], found[2]


class Half(NamedTuple):
    """A module, and its functions that others call."""

    text: str
    exported: tuple[str, ...]


def halves(text: str, exported: Sequence[str], least: int) -> tuple[Half, ...]:
    """A module as two of about the same weight; as it is where one would have less than `least` lines."""
    first, definitions, last = sections(text)
    groups = sorted(together(definitions), key=weight, reverse=True)
    divided: tuple[list[Definition], list[Definition]] = ([], [])
    for group in groups:
        min(divided, key=weight).extend(group)
    if min(weight(half) for half in divided) < least:
        return (Half(text, tuple(exported)),)
    return tuple([half_of(half, definitions, (first, last), exported) for half in divided])


def half_of(
    half: Sequence[Definition],
    definitions: Sequence[Definition],
    around: tuple[Sequence[str], Sequence[str]],
    exported: Sequence[str],
) -> Half:
    """The module of some of the definitions, which declares what it needs of the others."""
    own = {x.name for x in half}
    asked = frozenset().union(*[x.named for x in definitions if x.name not in own])
    needed = frozenset().union(*[x.named for x in half])
    there = [x.declared() for x in definitions if x.name in needed and x.name not in own]
    bodies = [x.text(x.name in asked) for x in definitions if x.name in own]
    offered = [x.name for x in half if x.name in asked or x.name in exported]
    return Half("\n".join([*around[0], *there, *bodies, *around[1], ""]), tuple(offered))


def weight(definitions: Iterable[Definition]) -> int:
    """About how long they take, in lines."""
    return sum([x.weight for x in definitions])


def sections(text: str) -> tuple[list[str], list[Definition], list[str]]:
    """The lines before the functions, the functions, and the lines after them."""
    lines = text.splitlines()
    starts = [k for k, line in enumerate(lines) if line.startswith("define ")]
    ends = [k + 1 for k, line in enumerate(lines) if line == "}"]
    names = {parts_of(lines[k])[1] for k in starts}
    definitions = []
    for start, end in zip(starts, ends, strict=True):
        body = lines[start:end]
        inside = "\n".join([line for line in body[1:] if "@" in line])
        named = names & {found[1] for found in _NAMED.finditer(inside)}
        called = called_in_loops(body) & names
        definitions.append(Definition(parts_of(body[0])[1], body, called, frozenset(named)))
    return lines[: starts[0]] if starts else lines, definitions, lines[ends[-1] :] if ends else []


def called_in_loops(body: Sequence[str]) -> frozenset[str]:
    """What a function calls in its loops."""
    found = []
    depth = 0
    for line in body:
        if not line.startswith(" "):
            depth += bool(_ENTERED.fullmatch(line)) - bool(_LEFT.fullmatch(line))
        elif depth and "call " in line:
            found += _CALL.findall(line)
    return frozenset(found)


def together(definitions: Sequence[Definition]) -> list[list[Definition]]:
    """The definitions in groups of those that are to be compiled in view of one another."""
    group = {x.name: {x.name} for x in definitions}
    for x in definitions:
        for name in x.called if x.optimised else ():
            if group[name] is not group[x.name]:
                group[x.name] |= group[name]
                for member in group[x.name]:
                    group[member] = group[x.name]
    found: dict[int, list[Definition]] = {}
    for x in definitions:
        found.setdefault(id(group[x.name]), []).append(x)
    return list(found.values())
