"""Kernels as many functions of moderate size: what repeats in their text is written once, and called.

Unrolled loops, layers and steps make the same loops again and again, of other memory and other sizes, and
LLVM's time grows faster than the length of a function. Groups of statements that recur (`repeats`) become
functions of the names they read, which return the numbers that are read after them. What does not repeat
becomes functions of moderate size as well, where there is much of it. Operations and their order stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from funcgrad.compile.emit.frames import MOST_RESULTS, Cut, Frame, HandedOn
from funcgrad.compile.emit.repeats import LARGEST_GROUP, MOST_ARGUMENTS, SHORTEST_GROUP, Chain, Group
from funcgrad.compile.emit.statement_tree import (
    Roles,
    Settings,
    Statement,
    code_in,
    margin_of,
    names_in,
    parsed,
    text_of,
)

SHORTEST_TEXT = 160
"""Lines up to which LLVM is quick enough with the text as it is."""

SHORTEST_BODY = 24
"""Lines of a loop's body whose inner loops may become functions."""


def in_functions(
    bodies: Sequence[Sequence[str]], fresh: Callable[[], str], frame: Frame | None = None
) -> tuple[list[list[str]], list[list[str]]]:
    """The bodies of a kernel's functions with calls for what repeats, and the functions that are called.

    Numbers that parts of the first body hand on may lie in a `frame`.

    >>> loop = "    for i in range(n0):\\n        {0}[i] = {1}[i] * 2.0\\n        {2}[i] = {0}[i]\\n"
    >>> body = "".join(loop.format(f"a{k}", f"b{k}", f"c{k}") for k in range(60)).splitlines()
    >>> names = iter(["double1", "double2"])
    >>> (body,), functions = in_functions([body], lambda: next(names))
    >>> len(body) < 60, functions[0][0].startswith("def double1(n0, ")
    (True, True)
    """
    if sum(map(len, bodies)) <= SHORTEST_TEXT:
        return [list(body) for body in bodies], []
    division = Division([parsed(body) for body in bodies], fresh, frame)
    division.run()
    return [text_of(body) for body in division.bodies], division.functions


@dataclass(eq=False, slots=True)
class Place:
    """A block of statements: that of a function, or of a loop in it."""

    body: int
    """The function's number."""
    statements: list[Statement]
    depth: int


@dataclass(frozen=True, slots=True)
class Interface:
    """What a function takes and returns, as places among the names of its group."""

    taken: tuple[int, ...]
    returned: tuple[int, ...]


class Division:
    """The functions of a kernel while others are taken out of them."""

    def __init__(
        self, bodies: list[list[Statement]], fresh: Callable[[], str], frame: Frame | None = None
    ) -> None:
        self.bodies = bodies
        self.fresh = fresh
        self.frame = frame
        self.functions: list[list[str]] = []

    def run(self) -> None:
        """Take out what repeats, in the innermost blocks first, and then divide what is left."""
        places = [place for b, body in enumerate(self.bodies) for place in places_of(b, body)]
        for depth in sorted({place.depth for place in places}, reverse=True):
            self.share([place for place in places if place.depth == depth])
        for b, body in enumerate(self.bodies):
            if len(text_of(body)) > LARGEST_GROUP:
                self.divide(Place(b, body, 0), stays, LARGEST_GROUP // 4)
            if len(names_in(code_in(body))) > LARGEST_GROUP:
                # What is left only calls then, and LLVM need not look for anything in it.
                self.divide(Place(b, body, 0), stays_or_calls, 0)

    def share(self, places: Sequence[Place]) -> None:
        """Replace what recurs in these blocks by calls."""
        for place in places:
            for statement in place.statements:
                statement.read()
        totals = [names_in(code_in(body)) for body in self.bodies]
        settings = Settings(self.bodies)
        chain = Chain([place.statements for place in places], [totals[place.body] for place in places])
        chain.join()
        calls: dict[int, dict[int, tuple[int, Statement]]] = {}
        for same in chain.recurring():
            model = same[0]
            if not model.loops and (places[model.block].depth or model.lines < SHORTEST_GROUP):
                continue
            interface = self.interface(places, same, totals, settings)
            if interface is not None:
                for group, call in zip(same, self.made(places, same, interface), strict=True):
                    calls.setdefault(group.block, {})[group.first] = group.last, call
        for number, found in calls.items():
            places[number].statements[:] = with_calls(places[number].statements, found)

    def divide(self, place: Place, apart: Callable[[Statement], bool], most: int) -> None:
        """Make functions of runs of more than `most` lines, between statements that are `apart`."""
        for statement in place.statements:
            statement.read()
        totals = [names_in(code_in(body)) for body in self.bodies]
        settings = Settings(self.bodies)
        frame = self.frame if place.body == 0 else None

        def cuts(in_memory: frozenset[str]) -> Iterator[Cut]:
            for run in runs_of(place.statements, totals[place.body], apart, in_memory):
                group = group_of(place.statements, run)
                if group.lines <= most or apart(place.statements[run.start]):
                    continue
                interface = self.crossing([place], [group], totals, settings)
                if interface is not None:
                    names = [
                        tuple([group.names[k] for k in ks]) for ks in (interface.taken, interface.returned)
                    ]
                    yield Cut(group.first, group.last, *names)

        if frame is None:
            fitting = [cut for cut in cuts(frozenset()) if cut.fits()]
            handed = HandedOn(place.statements, fitting, {}, {})
        else:
            found = list(cuts(frame.possible))
            if not frame.fit(place.statements, found):
                found = list(cuts(frozenset()))
            handed = frame.hand_on(place.statements, found)
        calls = {place.statements[cut.first]: self.cut_out(handed, cut) for cut in handed.cuts}
        place.statements[:] = [calls.get(statement, statement) for statement in handed.outside()]

    def cut_out(self, handed: HandedOn, cut: Cut) -> Statement:
        """Write the function of a cut; the call of it."""
        name = self.fresh()
        lines = handed.lines(cut)
        margin = margin_of(lines[0])
        taken, returned = (", ".join(names) for names in handed.crossing(cut))
        self.functions.append(function(name, taken, lines, returned))
        text = f"{returned} = {name}({taken})" if returned else f"{name}({taken})"
        return Statement(handed.statements[cut.first].comments, [" " * margin + text])

    def made(
        self, places: Sequence[Place], same: Sequence[Group], interface: Interface
    ) -> Iterator[Statement]:
        """Write the function of a group; the call for each of those that are the same."""
        name = self.fresh()
        model = same[0]
        lines = text_of(members(places, model))
        margin = margin_of(lines[0])
        taken = ", ".join([model.names[k] for k in interface.taken])
        returned = ", ".join([model.names[k] for k in interface.returned])
        self.functions.append(function(name, taken, lines, returned))
        for group in same:
            arguments = ", ".join([group.names[k] for k in interface.taken])
            results = ", ".join([group.names[k] for k in interface.returned])
            text = f"{results} = {name}({arguments})" if results else f"{name}({arguments})"
            yield Statement(members(places, group)[0].comments, [" " * margin + text])

    def interface(
        self,
        places: Sequence[Place],
        same: Sequence[Group],
        totals: Sequence[Counter[str]],
        settings: Settings,
    ) -> Interface | None:
        """What a function for these groups takes and returns; None where they cannot be one."""
        found = self.crossing(places, same, totals, settings)
        if found is None or len(found.returned) > MOST_RESULTS:
            return None
        return None if len(found.taken) > MOST_ARGUMENTS + MOST_RESULTS else found

    def crossing(
        self,
        places: Sequence[Place],
        same: Sequence[Group],
        totals: Sequence[Counter[str]],
        settings: Settings,
    ) -> Interface | None:
        """What a function for these groups takes and returns, however much; None where that is not known."""
        model = same[0]
        roles = Roles(code_in(members(places, model)))
        numbers = {name: k for k, name in enumerate(model.names)}
        settable = [numbers[name] for name in roles.assigned if name not in roles.turns]
        returned: set[int] = set()
        for group in same:
            total, inside = totals[places[group.block].body], names_in(code_in(members(places, group)))
            returned.update([k for k in settable if total[group.names[k]] > inside[group.names[k]]])
        taken = {numbers[name] for name in roles.read_first}
        for k in returned - taken:
            if not roles.assigned[model.names[k]]:
                # It may keep the value that it had, if it had one.
                for group in same:
                    place = places[group.block]
                    if not settings.precede(place.body, group.names[k], place.statements[group.first]):
                        return None
                taken.add(k)
        return Interface(tuple(sorted(taken)), tuple(sorted(returned)))


def places_of(number: int, body: list[Statement], depth: int = 0) -> Iterator[Place]:
    """The blocks of a function that may be divided: its own, and those of long loops."""
    if depth == 0 or len(text_of(body)) >= SHORTEST_BODY:
        yield Place(number, body, depth)
    for statement in body:
        if statement.body:
            yield from places_of(number, statement.body, depth + 1)


def function(name: str, taken: str, lines: Sequence[str], returned: str) -> list[str]:
    """The lines of a function."""
    margin = margin_of(lines[0])
    ending = [f"    return {returned}"] if returned else []
    return [f"def {name}({taken}):", *["    " + line[margin:] for line in lines], *ending]


def members(places: Sequence[Place], group: Group) -> list[Statement]:
    """The statements of a group."""
    return places[group.block].statements[group.first : group.last + 1]


def with_calls(statements: Sequence[Statement], calls: dict[int, tuple[int, Statement]]) -> list[Statement]:
    """The statements, with calls in the place of groups."""
    found = []
    k = 0
    while k < len(statements):
        last, statement = calls.get(k, (k, statements[k]))
        found.append(statement)
        k = last + 1
    return found


def stays(statement: Statement) -> bool:
    """Whether a statement must stay where it is."""
    return statement.stays


def stays_or_calls(statement: Statement) -> bool:
    """Whether a statement must stay where it is, or does nothing but call, read and copy."""
    return statement.stays or statement.only_calls


def runs_of(
    statements: Sequence[Statement],
    total: Counter[str],
    apart: Callable[[Statement], bool],
    in_memory: frozenset[str],
) -> Iterator[range]:
    """The statements in runs of moderate length; one that is `apart` is a run of its own."""
    first, lines = 0, 0
    names: frozenset[str] = frozenset()
    for k, statement in enumerate(statements):
        public = statement.public(total) - in_memory
        wide = len(names | public) > MOST_ARGUMENTS
        if first < k and (apart(statement) or wide or lines + statement.length > LARGEST_GROUP):
            yield range(first, k)
            first, lines, names = k, 0, frozenset()
        lines += statement.length
        names |= public
        if apart(statement):
            yield range(first, k + 1)
            first, lines, names = k + 1, 0, frozenset()
    if first < len(statements):
        yield range(first, len(statements))


def group_of(statements: Sequence[Statement], run: range) -> Group:
    """A run of statements as a group."""
    names = tuple(dict.fromkeys([name for k in run for name in statements[k].names]))
    lines = sum(statements[k].length for k in run)
    return Group(-1, names, frozenset(), 0, run.start, run.stop - 1, lines, loops=False)
