"""What the blocks of an ``if`` append to the lists of a loop around it, as names that the condition chooses.

Where both append as many elements, each is a choice. Where they do not, an element is NaN on the other path,
and the list has it in the trips in which the condition holds: the loop must know those when it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from funcgrad.api.python.blocks.appending import Growing, refused
from funcgrad.api.python.blocks.cells import Value, taken_apart
from funcgrad.api.python.identity import containers_within, roots_of
from funcgrad.ir.catalog import CATALOG
from funcgrad.tracing.python.escapes import PREFIX
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything

ELEMENT, CONDITION = PREFIX + "appended", PREFIX + "whether_appended"


class Element(NamedTuple):
    """An element that a block appends to a list: its name, and that of its own condition, if it has one."""

    name: str
    condition: str | None
    number: int
    """Which of the lists."""
    block: int | None
    """Which of the blocks appends it; None where each does."""


class Noted:
    """What one block appends, by names that are given to it."""

    def __init__(self, growing: Sequence[Growing]) -> None:
        self._growing = growing
        self._begun = [0] * len(growing)

    @contextmanager
    def within(self) -> Iterator[None]:
        """Within: the block is run."""
        with ExitStack() as stack:
            for growing in self._growing:
                stack.enter_context(growing.in_branch())
            self._begun = [len(growing.new) for growing in self._growing]
            yield

    def names(self, left: Mapping[str, Any]) -> dict[str, Any]:
        """The elements by name, and their conditions; `left` are the other names that the block leaves."""
        found: dict[str, Any] = {}
        mine = {id(x) for value in left.values() for x in (*containers_within(value), *own_arrays(value))}
        for number, (growing, begun) in enumerate(zip(self._growing, self._begun, strict=True)):
            for k, (value, asked) in enumerate(zip(growing.new, growing.conditions, strict=True)):
                if k < begun:
                    continue
                if any(id(x) in mine for x in (*containers_within(value), *own_arrays(value))):
                    raise refused("what a branch appends has another name, by which it may change,")
                found[f"{ELEMENT}_{number}_{k - begun}"] = value
                if asked is not None:
                    found[f"{CONDITION}_{number}_{k - begun}"] = asked
        return found


class AppendedByEither:
    """What either block of an ``if`` appends, in order."""

    def __init__(self, growing: Sequence[Growing], outcomes: Sequence[Any]) -> None:
        self._growing = growing
        self.elements: list[Element] = []
        for number in range(len(growing)):
            found = [[x for x in outcome.values if is_of(x, number)] for outcome in outcomes]
            if found[0] == found[1] and not any(x.startswith(CONDITION) for x in found[0]):
                self.elements += [Element(name, None, number, None) for name in found[0]]
                continue
            for block, (names, outcome) in enumerate(zip(found, outcomes, strict=True)):
                self.elements += apart(names, number, block, outcome)
        for outcome in outcomes:
            for name in (*self.names, *self.conditions):
                outcome.values.setdefault(name, Value(None, ()))
                outcome.numbers.setdefault(name, ())

    @property
    def names(self) -> list[str]:
        """The names of the elements."""
        return [x.name for x in self.elements]

    @property
    def conditions(self) -> list[str]:
        """The names of conditions of branches inside of these."""
        return [x.condition for x in self.elements if x.condition is not None]

    def give(self, values: Mapping[str, Any], conditions: Sequence[Any], asked: Anything) -> None:
        """Have the lists take the elements; `conditions` are those of branches inside of these."""
        inner = iter(conditions)
        for x in self.elements:
            holds = None
            if x.condition is not None:
                holds = next(inner)
            elif x.block is not None:
                holds = asked if x.block == 0 else CATALOG["logical_not"]().bind(asked)
            self._growing[x.number].take(values[x.name], holds)


def own_arrays(value: object) -> list[Tracer]:
    """The arrays that the block which is being recorded has made, and that a value holds or is a part of."""
    recorder = active_recorder()
    arrays = [x for x in taken_apart(value).leaves if type(x) is Tracer and x.aval.shape]
    return [root for x in arrays for root in (x, *roots_of(x)) if root._recorder is recorder]


def is_of(name: str, number: int) -> bool:
    """Whether a name is of an element, or its condition, of this list."""
    return name.startswith((f"{ELEMENT}_{number}_", f"{CONDITION}_{number}_"))


def apart(names: Sequence[str], number: int, block: int, outcome: Anything) -> list[Element]:
    """The elements of one block alone, which get names that the other block has not."""
    found = []
    for name in names:
        own = f"{name}_{block}"
        outcome.values[own] = outcome.values.pop(name)
        outcome.numbers[own] = outcome.numbers.pop(name)
        if name.startswith(ELEMENT):
            condition = name.replace(ELEMENT, CONDITION, 1)
            found.append(Element(own, f"{condition}_{block}" if condition in names else None, number, block))
    return found
