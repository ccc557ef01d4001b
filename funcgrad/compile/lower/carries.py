"""What a loop carries from trip to trip: locals for numbers, memory for arrays.

An array that a trip changes in parts is changed where it is. One that a trip makes anew is made beside the
old one, and the names of the two are exchanged at the end of the trip.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from funcgrad.compile.emit.loop_order import loops_of
from funcgrad.compile.emit.statements import NestWriter, Writer
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.held_programs import Given, Held
from funcgrad.compile.passes.scheduling.nests import Load, Nest, Store, squeezed, squeezed_view
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.taking_over import note_copy, taken_over
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Program, Var
from funcgrad.transforms.control.updates import only_added_to, unchanged_places
from funcgrad.types import Anything

if TYPE_CHECKING:
    from funcgrad.source import Source


class Carry:
    """The carry of one loop, as its lowering sees it."""

    def __init__(
        self,
        scheduler: Scheduler,
        body: Program,
        initial: Sequence[Atom],
        avals: Sequence[Aval],
        source: Anything,
    ) -> None:
        """Put the initial values where the loop changes them."""
        local = scheduler.local
        self.avals = avals
        self.starts: list[str | None] = []
        self.given: list[Given] = []
        self.own: set[Buffer] = set()
        """Memory that nobody else has a name for."""
        self.totals: set[Buffer] = set()
        """Memory that is a total while the loop runs."""
        stays = unchanged_places(body, len(avals))
        for k, (atom, aval) in enumerate(zip(initial, avals, strict=True)):
            if not aval.shape:
                self.starts.append(scheduler.scalar(atom))
                self.given.append(local.fresh("carry"))
                continue
            self.starts.append(None)
            view = taken_over(scheduler, atom) if k in stays else None
            if view is None:
                view = memory_with(scheduler, atom, aval, "carry", source)
                self.own.add(view.buffer)
            if k in stays and not view.buffer.is_total and is_plain_zero(scheduler, atom):
                view.buffer.is_total = only_added_to(body, k)
                self.totals.add(view.buffer)
            self.given.append(view)
        self.updates: list[tuple[str, str, Aval]] = []
        self.copies: list[tuple[View, View]] = []
        self.exchanged: list[tuple[str, str]] = []
        """Names of memory, and the names of what they mean from the next trip on."""
        self.beside: dict[int, View] = {}
        """Where a trip makes those arrays anew."""
        self.finals: list[Given] = list(self.given)
        """Where the results are when the loop has ended."""

    def results(self, scheduler: Scheduler, held: Held, atoms: Sequence[Atom]) -> None:
        """Note what the next trip starts with; `scheduler` is that of the program around the loop."""
        for buffer in self.totals:
            buffer.is_total = False
        moving: list[int] = []
        for k, (v, given, atom, aval) in enumerate(
            zip(held.program.inputs, self.given, atoms, self.avals, strict=False)
        ):
            if atom is v:
                continue
            if isinstance(given, str):
                self.updates.append((given, held.value(atom), aval))
            elif held.where(atom) != given:
                moving.append(k)
        mine = {view.buffer for view in [self.given[k] for k in moving] if isinstance(view, View)} & self.own
        taken: set[Buffer] = set()
        for k in moving:
            given = self.given[k]
            assert isinstance(given, View)
            found = held.where(atoms[k])
            free = held.scheduler.created | mine
            if (
                found is None
                or not found.is_whole
                or found.buffer not in free - taken
                or given.buffer not in mine
            ):
                found = held.scheduler.buffer_like(self.avals[k], "next")
                held.store(atoms[k], found)
            held.scheduler.created.discard(found.buffer)
            taken.add(found.buffer)
            if given.buffer in mine:
                self.exchanged.append((given.buffer.name, found.buffer.name))
                self.beside[k] = found
                self.finals[k] = scheduler.buffer_like(self.avals[k], "last")
            else:
                self.copies.append((given, found))

    def copy_instead(self) -> None:
        """Let arrays that a trip makes anew be copied back at its end: every name keeps its meaning."""
        for k, found in self.beside.items():
            given = self.finals[k] = self.given[k]
            assert isinstance(given, View)
            self.copies.append((given, found))
        self.exchanged.clear()

    def begin(self, writer: Writer) -> None:
        """Before the first trip."""
        for start, given, aval in zip(self.starts, self.given, self.avals, strict=True):
            if start is not None:
                writer.line(f"{given} = {cast_name(aval.dtype)}({start})")

    def end_trip(self, writer: Writer) -> None:
        """At the end of a trip. What is made of the old values is complete before any changes."""
        carried = {name for name, _, _ in self.updates}
        texts = []
        for name, value, aval in self.updates:
            if value in carried:
                text = writer.local.fresh("old")
                writer.line(f"{text} = {value}")
            else:
                text = value
            texts.append((name, text, aval))
        for name, text, aval in texts:
            writer.line(f"{name} = {cast_name(aval.dtype)}({text})")
        for target, source in self.copies:
            write_copy(writer, target, source)
        self._exchange(writer)

    def _exchange(self, writer: Writer) -> None:
        """Give the names of memory their new meanings; each block keeps exactly one name."""
        following = dict(self.exchanged)
        without = [name for name in following.values() if name not in following]
        unnamed = [name for name in following if name not in following.values()]
        following.update(zip(without, unnamed, strict=True))
        writer.local.exchanged += [frozenset(pair) for pair in following.items()]
        old = {name: writer.local.fresh("memory") for name in following}
        for name, kept in old.items():
            writer.line(f"{kept} = {name}")
        for name, source in following.items():
            writer.line(f"{name} = {old[source]}")

    def end(self, writer: Writer) -> None:
        """After the last trip: memory whose name has changed its meaning is known to the loop alone."""
        for given, final in zip(self.given, self.finals, strict=True):
            if isinstance(given, View) and isinstance(final, View) and given is not final:
                write_copy(writer, final, given)

    def views(self) -> list[View]:
        """The memory of the arrays, that of empty ones too, which no statement of a trip names."""
        copied = [view for pair in self.copies for view in pair]
        return [x for x in (*self.given, *self.finals, *self.beside.values()) if isinstance(x, View)] + copied

    def names(self) -> list[str]:
        """The locals it starts with."""
        return [start for start in self.starts if start is not None]

    def define(self, scheduler: Scheduler, outputs: Sequence[Var], position: int) -> None:
        """The final values as results."""
        define_given(scheduler, outputs, self.finals, position)


def define_given(scheduler: Scheduler, outputs: Sequence[Var], found: Sequence[Given], position: int) -> None:
    """Results that a step leaves in locals and in memory."""
    for v, given in zip(outputs, found, strict=True):
        if isinstance(given, str):
            scheduler.define_local(v, given, position)
        else:
            scheduler.define_view(v, given, position)


def is_plain_zero(scheduler: Scheduler, atom: Atom) -> bool:
    """Whether an array is nothing but zeros without a sign."""
    number = scheduler.nodes.number_everywhere(atom)
    return number is not None and bool(number.value == 0) and not np.signbit(number.value.real)


def memory_with(scheduler: Scheduler, atom: Atom, aval: Aval, hint: str, source: Source | None) -> View:
    """New memory with the elements of an array."""
    view = scheduler.buffer_like(aval, hint)
    shape = squeezed(aval.shape)
    note_copy(scheduler, atom, source)
    nest = scheduler.nest_for(shape, scheduler.bound(atom, shape))
    nest.body.append(Store(squeezed_view(view), scheduler.operand(atom, nest), None))
    return view


def write_copy(writer: Writer, target: View, source: View) -> None:
    """Copy an array."""
    store = Store(squeezed_view(target), Load(squeezed_view(source)), None)
    nest = Nest(-1, squeezed(target.shape), [store])
    NestWriter(writer, nest, loops_of(nest)).write()
