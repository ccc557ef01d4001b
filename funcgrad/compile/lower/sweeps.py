"""Lowering of sweeps: a loop whose trips are counted as it runs, and further loops over the same trips.

What the loop leaves for later sweeps goes to *tapes*, memory that doubles when it is full: a loop without a
bound on its trips can be differentiated in reverse, natively.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from funcgrad.compile.emit.interruptible_loops import Turns, flops_of, write_leaving
from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.carries import Carry, define_given
from funcgrad.compile.lower.counted import bound_of_trips, counted_run, paces_in, spans_of
from funcgrad.compile.lower.held_programs import (
    Given,
    Held,
    given_atoms,
    prepared,
    special_of,
    write_decision,
)
from funcgrad.compile.passes.scheduling.lowerings import lowers
from funcgrad.compile.passes.scheduling.ranges import growth_of
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.compile.runtime.callers.call_layout import Left
from funcgrad.ir.avals import Aval, dtype_name
from funcgrad.ir.program import Atom, Equation, Program
from funcgrad.ir.ranges import Range
from funcgrad.transforms.control.sweeps import Inputs, Sweep, Sweeps
from funcgrad.transforms.control.while_loop import WhileSweeps

FIRST_CAPACITY = 64
"""Trips for which there is room at first."""


class Tape:
    """One entry for every trip, in memory that is asked for while the program runs."""

    def __init__(self, scheduler: Scheduler, aval: Aval) -> None:
        local = scheduler.local
        self.aval = aval
        block = local.block(local.fresh("tape"), aval.dtype, 0, "tape")
        self.view = View.whole(block, (1, *aval.shape))

    @property
    def name(self) -> str:
        """The local that points at it."""
        return self.view.buffer.name

    def bytes_of(self, writer: Writer, entries: str) -> str:
        """The text of the number of bytes of that many entries."""
        each = max(math.prod(self.aval.shape), 1) * self.aval.dtype.itemsize
        return f"{entries} * {writer.local.symbol(each)}"

    def begin(self, writer: Writer, entries: str) -> None:
        """Ask for memory."""
        if writer.local.portable:
            each = max(math.prod(self.aval.shape), 1)
            writer.line(f"{self.name} = np.empty({entries} * {each}, np.{self.aval.dtype})")
            return
        writer.line(
            f"{self.name} = as_{dtype_name(self.aval.dtype)}(malloc({self.bytes_of(writer, entries)}))"
        )
        with writer.block(f"if is_null({self.name}):"):
            write_leaving(writer, Left.NO_MEMORY)
        writer.cleanups.append(f"free({self.name})")

    def grow(self, writer: Writer, entries: str) -> None:
        """Ask for more."""
        if writer.local.portable:
            each = max(math.prod(self.aval.shape), 1)
            writer.line(f"{self.name} = grown({self.name}, {entries} * {each})")
            return
        more = f"realloc({self.name}, {self.bytes_of(writer, entries)})"
        grown = writer.local.fresh("grown")
        writer.line(f"{grown} = as_{dtype_name(self.aval.dtype)}({more})")
        with writer.block(f"if is_null({grown}):"):
            write_leaving(writer, Left.NO_MEMORY)
        writer.line(f"{self.name} = {grown}")

    def end(self, writer: Writer) -> None:
        """Give the memory back."""
        if writer.local.portable:
            return
        writer.cleanups.remove(f"free({self.name})")
        writer.line(f"free({self.name})")


class Paced:
    """What a tape would hold that grows by one number from trip to trip: computed, and not kept."""

    def __init__(self, start: str, growth: int) -> None:
        self.start, self.growth = start, growth

    def at(self, row: str) -> str:
        """The text of its entry for a trip."""
        grown = row if self.growth == 1 else f"{self.growth} * {row}"
        return f"i64({self.start} + {grown})"


class Pass:
    """One sweep, scheduled: its step and what it carries, reads and writes."""

    def __init__(
        self,
        scheduler: Scheduler,
        sweep: Sweep,
        body: Program,
        ranges: Sequence[Range | None],
        carry: Carry,
        consts: Sequence[Given],
        tapes: Sequence[Tape | Paced],
        row: str,
        count: str,
        atoms: Sequence[Atom],
        *,
        first: bool,
    ) -> None:
        step = sweep.step
        self.paced: list[tuple[str, Paced]] = []
        """Locals that are what changes at a steady pace."""
        rows = [self._entry(scheduler, tapes[k], row) for k in sweep.reads]
        self.sweep, self.carry, self.row = sweep, carry, row
        given, around = [*carry.given, *rows, *consts], [*[None] * (len(carry.given) + len(rows)), *atoms]
        paces = {} if first else paces_in(body, len(carry.given))
        begin = {k: text for k, text in enumerate(carry.starts) if text is not None and k in paces}
        steady = dict(self.paced)
        for k, name in enumerate(rows if not first else (), len(carry.given)):
            if isinstance(name, str):
                paces[k] = -steady[name].growth if sweep.reverse else steady[name].growth
                begin[k] = steady[name].at(f"({count} - 1)" if sweep.reverse else "0")
        self.held = Held(scheduler, body, given, ranges, range(len(carry.given)), around, paces=paces)
        carried, written = step.results(self.held.program.outputs)
        made = self.writes = [
            (paced_as(body, carry, atom) if first else None) or Tape(scheduler, atom.aval) for atom in written
        ]
        self.tapes = [tape for tape in made if isinstance(tape, Tape)]
        for atom, tape in zip(written, made, strict=True):
            if isinstance(tape, Tape):
                self.held.store(atom, tape.view.at(row))
        carry.results(scheduler, self.held, carried)
        self.spans = spans_of(scheduler, self.held, begin)
        self.held.finish()

    def _entry(self, scheduler: Scheduler, tape: Tape | Paced, row: str) -> Given:
        if isinstance(tape, Tape):
            return tape.view.at(row)
        name = scheduler.local.fresh("paced")
        self.paced.append((name, tape))
        return name


def paced_as(body: Program, carry: Carry, atom: Atom) -> Paced | None:
    """How an entry grows, if it is a counter of the loop's."""
    if atom not in body.inputs[: len(carry.starts)] or atom.aval.dtype != np.int64:
        return None
    place = body.inputs.index(atom)
    growth, start = growth_of(body, place), carry.starts[place]
    return None if growth is None or start is None else Paced(start, growth)


@lowers(WhileSweeps)
def lower_sweeps(scheduler: Scheduler, equation: Equation) -> None:
    """The loop, and the sweeps over its trips."""
    loop, local = equation.primitive.loop, scheduler.local
    inputs = loop.inputs(equation.inputs)
    count, capacity, turn, row = (local.fresh(stem) for stem in ("trips", "capacity", "t", "row"))
    bodies = [
        prepared(local, sweep.program, [*[None] * (sweep.n_carry + len(sweep.reads)), *consts])
        for sweep, consts in zip(loop.sweeps, inputs.consts, strict=True)
    ]
    carries = [
        Carry(scheduler, body, initial, sweep.step.carry_avals, equation.source)
        for sweep, body, initial in zip(loop.sweeps, bodies, inputs.carries, strict=True)
    ]
    deciding = prepared(local, loop.cond, [*[None] * loop.sweeps[0].n_carry, *inputs.cond])
    unknown: list[Range | None] = [None] * len(deciding.inputs)
    decides = Held(scheduler, deciding, [*carries[0].given, *given_atoms(scheduler, inputs.cond)], unknown)
    condition = decides.value(decides.program.outputs[0])
    decides.finish()
    passes = passes_of(scheduler, loop, inputs, bodies, carries, (count, row))
    tapes = [tape for each in passes for tape in each.tapes]
    first, *others = passes
    ends, pace = bound_of_trips(bodies[0], deciding, inputs.cond), pace_of(bodies[0], carries[0])
    stop = None if ends is None or pace is None or first.tapes else scheduler.scalar(ends[1])
    start = None if ends is None else carries[0].starts[ends[0]]

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        for carry in carries:
            carry.begin(writer)
        if pace is not None and start is not None and stop is not None:
            write_count(writer, count, start, stop, pace)
        else:
            write_loop(writer, first, decides, condition, count, capacity)
        for each in others:
            write_sweep(writer, each, count, turn)
        for carry in carries:
            carry.end(writer)
        for tape in tapes:
            tape.end(writer)

    views = [view for carry in carries for view in carry.views()]
    views += [view for each in passes for view in each.spans.views]
    names = [name for each in passes for name in each.spans.names]
    names += [name for carry in carries for name in carry.names()] + ([] if stop is None else [stop])
    held = [decides, *[each.held for each in passes]]
    position = special_of(scheduler, "while_sweeps", emit, held, views, names)
    finals = [given for carry in carries for given in carry.finals]
    define_given(scheduler, equation.outputs, [finals[r] for r in loop.results], position)


def passes_of(
    scheduler: Scheduler,
    loop: Sweeps,
    inputs: Inputs[Atom],
    bodies: Sequence[Program],
    carries: Sequence[Carry],
    names: tuple[str, str],
) -> list[Pass]:
    """The sweeps, scheduled; the names count the trips of the first, and are the trip of the others."""
    passes: list[Pass] = []
    tapes: list[Tape | Paced] = []
    for k, (sweep, carry) in enumerate(zip(loop.sweeps, carries, strict=True)):
        consts = given_atoms(scheduler, inputs.consts[k])
        ranges: list[Range | None] = [None] * (sweep.n_carry + len(sweep.reads))
        ranges += [scheduler.ranges.of(x) for x in inputs.consts[k]]
        row = names[min(k, 1)]
        passes.append(
            Pass(
                scheduler,
                sweep,
                bodies[k],
                ranges,
                carry,
                consts,
                tapes,
                row,
                names[0],
                inputs.consts[k],
                first=not k,
            )
        )
        tapes += passes[-1].writes
    return passes


def pace_of(body: Program, carry: Carry) -> list[tuple[str, Paced]] | None:
    """What the parts of a carry are after so many trips, where trips do nothing but count."""
    found: list[tuple[str, Paced]] = []
    for v, atom, given in zip(body.inputs, body.outputs, carry.given, strict=False):
        paced = paced_as(body, carry, v)
        if atom is v:
            continue
        if paced is None or not isinstance(given, str):
            return None
        found.append((given, paced))
    return found


def write_count(writer: Writer, count: str, start: str, stop: str, pace: Sequence[tuple[str, Paced]]) -> None:
    """The number of trips of a loop that does nothing but count, and what it counts to."""
    writer.line(f"{count} = select({stop} > {start}, {stop} - {start}, 0)")
    for name, paced in pace:
        writer.line(f"{name} = {paced.at(count)}")


def write_loop(writer: Writer, first: Pass, decides: Held, condition: str, count: str, capacity: str) -> None:
    """The loop itself, which counts its trips; its tapes grow with them."""
    flops = flops_of([*decides.scheduler.steps, *first.held.scheduler.steps])
    turns = Turns(writer, count, flops)
    writer.line(f"{count} = 0")
    writer.line(f"{capacity} = {FIRST_CAPACITY}")
    turns.begin(capacity)
    for tape in first.tapes:
        tape.begin(writer, capacity)
    with writer.block("while True:"):
        write_decision(writer, decides, condition, first.held)
        with writer.block(f"if {count} == {turns.next}:"):
            with writer.block(f"if {count} == {capacity}:"):
                writer.line(f"{capacity} = {capacity} * 2")
                for tape in first.tapes:
                    tape.grow(writer, capacity)
            turns.poll(capacity)
        first.held.emit(writer)
        first.carry.end_trip(writer)
        writer.line(f"{count} = {count} + 1")
    turns.end()


def write_sweep(writer: Writer, each: Pass, count: str, turn: str) -> None:
    """A later sweep over the trips, in either direction."""
    for tape in each.tapes:
        tape.begin(writer, f"({count} + 1)")
    with counted_run(writer, turn, count, flops_of(each.held.scheduler.steps), each.spans.each):
        writer.line(f"{each.row} = {f'{count} - 1 - {turn}' if each.sweep.reverse else turn}")
        for name, paced in each.paced:
            writer.line(f"{name} = {paced.at(each.row)}")
        each.held.emit(writer)
        each.carry.end_trip(writer)
