"""Lists that a loop appends to: each trip writes what it appends, and the list gets it when the loop ends.

While a trip is recorded a stand-in takes the place of the list in the names of the function. It takes what
is appended, knows the last elements where they are asked for, and refuses everything else: a list that
grows is no value that a recorded trip could look at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.api.python.blocks.cells import namespaces_within, put
from funcgrad.api.python.blocks.recording import Block, OuterWrite, Place, current_block
from funcgrad.api.python.identity import containers_within, roots_of
from funcgrad.api.python.unbound import value_in
from funcgrad.errors import TracedBranchError
from funcgrad.ir.catalog import CATALOG
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Index

MOST_PER_TRIP = 64
"""How many elements a trip may append to one list."""


class Appending(Place):
    """A list that a loop appends to, and how many of its last elements a trip reads."""

    __slots__ = ("_last",)

    def __init__(self, owner: Anything, last: int = 0) -> None:
        super().__init__("append", owner, None)
        self._last = last

    @property
    def last(self) -> int:
        """How many of its last elements a trip reads."""
        return self._last

    @property
    def name(self) -> str:
        """A name that no other place has."""
        return f"list at {id(self._owner):x}"

    @property
    def owner(self) -> Anything:
        """The list, or the stand-in for it in a trip around this loop."""
        return self._owner


class Growing:
    """Stands in for a list while a trip that appends to it is recorded."""

    def __init__(self, place: Appending) -> None:
        self.place = place
        self.block: Block | None = None
        self.before: dict[int, Any] = {}
        """The last elements of the list at the start of the trip, by their negative index."""
        self.new: list[Any] = []
        self.conditions: list[Any] = []
        """For each new element whether it is one; None for those that are in every trip."""

    def begin(self) -> None:
        """Start a trip."""
        self.block = current_block()
        self.new, self.conditions = [], []

    @contextmanager
    def in_branch(self) -> Iterator[Growing]:
        """Within: a block of a branch, which appends to what the trip has appended before; given a copy."""
        before = self.block, self.new, self.conditions
        self.block, self.new, self.conditions = current_block(), [*self.new], [*self.conditions]
        try:
            yield self
        finally:
            self.block, self.new, self.conditions = before

    def take(self, value: object, condition: object) -> None:
        """Take an element, which is one where the condition holds; None is for always."""
        self._check()
        if len(self.new) >= MOST_PER_TRIP:
            raise refused(f"more than {MOST_PER_TRIP} elements are appended in a trip")
        self.new.append(value)
        self.conditions.append(condition)

    def append(self, value: object) -> None:
        """Take an element, if the trip itself appends it."""
        block = current_block()
        if block is not None and not all(block.made_here(x) for x in containers_within(value)):
            raise refused("a list or dict is appended that the trip has not made")
        self.take(value, None)

    def check_own(self, theirs: Collection[int]) -> None:
        """Raise where what is appended may change in another trip, by names that it has outside of this one.

        `theirs` are the arrays, by identity, that other trips know.
        """
        arrays = [x for x in tree.leaves(self.new) if type(x) is Tracer and x.aval.shape]
        if any(id(root) in theirs for x in arrays for root in (x, *roots_of(x))):
            raise refused("an array is appended that is written in place")

    def _check(self) -> None:
        block = current_block()
        if block is self.block:
            return
        place = Appending(self)
        if block is not None and place.name in block.known:
            raise refused("a list is reached past its name")
        raise OuterWrite((), [place])

    def __getitem__(self, index: Index) -> Anything:
        if type(index) is not int or index >= 0:
            raise refused("a list that grows is read at an index from its start")
        self._check_read(-index)
        if -index <= len(self.new):
            return self.new[index]
        wanted = -index - len(self.new)
        if wanted > self.place.last:
            raise OuterWrite((), [Appending(self.place.owner, wanted)])
        if -wanted not in self.before:
            raise IndexError("list index out of range")
        return self.before[-wanted]

    def _check_read(self, number: int) -> None:
        """Raise where it is traced which element the last but number - 1 is."""
        if any(x is not None for x in self.conditions[-number:]):
            raise refused("a list is read that a branch may have appended to")

    def recent(self, number: int) -> Anything:
        """The last element but number - 1, now; ValueError where there is none."""
        self._check_read(number)
        if number <= len(self.new):
            return self.new[-number]
        try:
            return self.before[len(self.new) - number]
        except KeyError:
            raise ValueError("nothing is there") from None

    def _refused(self, *_: object, **__: object) -> NoReturn:
        raise refused("a list that grows is looked at")

    __len__ = __iter__ = __setitem__ = __delitem__ = __contains__ = __add__ = __iadd__ = __bool__ = _refused
    __mul__ = __eq__ = __array__ = __getattr__ = _refused
    __hash__ = object.__hash__


class LastElement(Place):
    """One of the last elements of a list that grows, seen as the cell of a name."""

    __slots__ = ("_growing", "_number")

    def __init__(self, growing: Growing, number: int) -> None:
        super().__init__("last", growing, number)
        self._growing = growing
        self._number = number

    @property
    def name(self) -> str:
        """A name that no other place has."""
        return f"{self._growing.place.name}, {self._number} from its end"

    @property
    def cell_contents(self) -> Anything:
        """The element, in the trip that is recorded or in the list before."""
        if self._growing.block is not None:
            return self._growing.recent(self._number)
        try:
            return self._growing.place.owner[-self._number]
        except IndexError:
            raise ValueError("nothing is there") from None

    @cell_contents.setter
    def cell_contents(self, value: object) -> None:
        self._growing.before[-self._number] = value

    @cell_contents.deleter
    def cell_contents(self) -> None:
        self._growing.before.pop(-self._number, None)

    def check(self) -> None:
        """It is changed by appending alone."""


def refused(what: str) -> TracedBranchError:
    """The error for what a recorded trip cannot do with a list."""
    return TracedBranchError(
        f"{what} in a loop that is recorded",
        source=here(),
        remedy="Make an array before the loop, and write its elements.",
    )


def refuse_appending(places: Sequence[Place], what: str, line: int) -> None:
    """Raise where a block is not known to run a known number of times, and appends to a list."""
    if any(isinstance(place, Appending) for place in places):
        raise TracedBranchError(
            f"a list is appended to in {what} of line {line}, and how often is traced",
            source=here(),
            remedy="Keep a place for every element (fg.numpy.where(condition, x, 0.0)), add up as you go, "
            "or write into an array that is long enough; fg.numpy.nonzero takes a size=.",
        ).on_one_path()


def check_append(owner: object) -> None:
    """Raise OuterWrite where the block that is being recorded is not known to append to this list."""
    block = current_block()
    if block is None or block.made_here(owner):
        return
    place = Appending(owner)
    if place.name in block.known:
        raise refused("a list is reached past its name")
    raise OuterWrite((), [place])


def growing_lists(places: Sequence[Place], what: str, line: int) -> tuple[list[Growing], list[Place]]:
    """The lists, of trips around a branch, that it appends to, and the other places; raises for others."""
    found = [place for place in places if isinstance(place, Appending)]
    lists = [place for place in found if type(place.owner) is not Growing]
    block = current_block()
    if lists and (block is None or any(block.made_here(place.owner) for place in lists)):
        refuse_appending(lists, what, line)
    if lists:
        if block is not None and any(place.name in block.known and not place.last for place in lists):
            raise refused("a list is reached past its name")
        raise OuterWrite((), lists)
    return [place.owner for place in found], [place for place in places if not isinstance(place, Appending)]


class Appended:
    """What the trips of one loop append: the stand-ins, and the structure of a trip's elements."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.growing = [Growing(place) for place in places if isinstance(place, Appending)]
        self.others = [place for place in places if not isinstance(place, Appending)]
        self.treedef: Any = None
        self.n_leaves = 0
        self._conditions: list[list[Any]] = []
        self._kept: dict[tuple[int, int], Any] = {}
        self._also: dict[str, tuple[int, int]] = {}

    def note_names(self, values: Mapping[str, Any]) -> None:
        """Remember which names the trip leaves to arrays, lists or dicts that it has appended."""
        self._also = {
            name: (k, number)
            for k, growing in enumerate(self.growing)
            for number, (new, condition) in enumerate(zip(growing.new, growing.conditions, strict=True))
            for name, value in values.items()
            if (isinstance(value, list | dict) or np.ndim(value))
            and (new is value or (condition is not None and may_be(new, value)))
        }

    def other_names(self) -> dict[str, Any]:
        """What the last trip has appended, by the names that it has left it."""
        found = {}
        for name, (k, number) in self._also.items():
            later = [x for x in range(number, len(self._conditions[k])) if self._is_kept(k, x)]
            if self._is_kept(k, number):
                found[name] = self.growing[k].place.owner[-len(later)]
        return found

    def _is_kept(self, k: int, number: int) -> bool:
        """Whether the last trip has appended an element."""
        kept = self._kept.get((k, number))
        return kept is None or bool(kept[-1])

    @property
    def last(self) -> list[Place]:
        """The elements that go from trip to trip."""
        return [LastElement(x, k) for x in self.growing for k in range(1, x.place.last + 1)]

    @property
    def names(self) -> list[str]:
        """The names of the lists."""
        return [x.place.name for x in self.growing]

    @contextmanager
    def taken(self, cells: Mapping[str, Any]) -> Iterator[None]:
        """Within: a trip, in which names and attributes that are the lists are the stand-ins."""
        replaced: list[tuple[Any, Any]] = []
        held: list[tuple[dict[str, Any], str, Growing]] = []
        objects = namespaces_within(cells) if self.growing else []
        for growing in self.growing:
            growing.begin()
            owner = growing.place.owner
            for cell in cells.values():
                if value_in(cell) is owner:
                    replaced.append((cell, owner))
                    put(cell, growing)
            found = [(names, name) for names in objects for name, x in names.items() if x is owner]
            for names, name in found:
                held.append((names, name, growing))
                names[name] = growing
        try:
            yield
        finally:
            for cell, owner in replaced:
                put(cell, owner)
            for names, name, growing in held:
                if names.get(name) is growing:
                    names[name] = growing.place.owner

    def check_own(self, theirs: Collection[int]) -> None:
        """Raise where what a trip appends may change in another trip."""
        for growing in self.growing:
            growing.check_own(theirs)

    def leaves(self) -> list[Any]:
        """What the trip has appended, as leaves, and then the conditions; the trip is over."""
        found, self.treedef = tree.flatten([growing.new for growing in self.growing])
        self.n_leaves = len(found)
        self._conditions = [growing.conditions for growing in self.growing]
        for growing in self.growing:
            growing.block = None
        return [*found, *[x for row in self._conditions for x in row if x is not None]]

    @property
    def n_conditions(self) -> int:
        """How many elements are appended where a condition holds."""
        return sum(x is not None for row in self._conditions for x in row)

    def decide(self, conditions: Sequence[Any] | None, what: str, line: int) -> None:
        """Take what the conditions are in each trip; raise where that is not known."""
        if conditions is None:
            refuse_appending([x.place for x in self.growing], what, line)
        columns = iter(conditions or ())
        self._kept = {
            (k, number): next(columns)
            for k, row in enumerate(self._conditions)
            for number, x in enumerate(row)
            if x is not None
        }

    def give(self, rows: Sequence[Any], trips: int) -> None:
        """Append what all trips have written to the lists themselves."""
        columns = tree.unflatten(self.treedef, list(rows[: self.n_leaves]))
        for k, (growing, new) in enumerate(zip(self.growing, columns, strict=True)):
            owner = growing.place.owner
            if type(owner) is list:
                check_append(owner)
            every = np.ones((trips, len(new)), bool)
            for number in range(len(new)):
                if (k, number) in self._kept:
                    every[:, number] = self._kept[k, number]
            if all(isinstance(x, Tracer) for x in new) and len({x.aval for x in new}) == 1:
                # Rows of one array, so that an array made of the list is that array.
                together = new[0] if len(new) == 1 else interleaved(new)
                if not every.all():
                    together = together[np.flatnonzero(every)]
                for number in range(int(every.sum())):
                    owner.append(together[number])
                continue
            leaves, treedef = tree.flatten(new)
            for trip, row in enumerate(every):
                there = tree.unflatten(treedef, [x[trip] for x in leaves]) if row.any() else ()
                for value, kept in zip(there, row, strict=False):
                    if kept:
                        owner.append(value)


def may_be(chosen: object, value: object) -> bool:
    """Whether what a branch has appended may be this array."""
    arrays = type(chosen) is Tracer and type(value) is Tracer
    return arrays and any(root is value for root in roots_of(chosen))  # type: ignore[arg-type]


def interleaved(columns: Sequence[Any]) -> Anything:
    """The rows of several arrays, the first of each before the second of any."""
    stacked = CATALOG["stack"](1).bind(*columns)
    count, n, *rest = stacked.aval.shape
    return CATALOG["reshape"]((count * n, *rest)).bind(stacked)
