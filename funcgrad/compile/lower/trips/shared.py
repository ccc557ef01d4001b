"""Loops of the user's whose trips threads share: chunks of a run of trips, each with what it adds for itself.

There are as many chunks as in other loops (`passes/dividing`), whatever the number of threads, and what they
have added is added up in their order, so results do not depend on the number of threads. Signals are asked
for between runs, and in long trips by the loops within them. What is refused here runs as one loop: loops
inside others, short ones, and those whose text needs more of the kernel around them than arrays and numbers.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from funcgrad.compile.emit.interruptible_loops import (
    trips_between_polls,
    write_leaving,
    write_poll,
)
from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.emit.symbols import Locals
from funcgrad.compile.language.rows import NAMES
from funcgrad.compile.lower.carries import Carry
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.held_programs import Given, Held
from funcgrad.compile.lower.trips.independent import Kept, Part
from funcgrad.compile.passes.arranging.dividing import CHUNKS, FLOPS_PER_SECOND, SHORTEST, private_size
from funcgrad.compile.passes.scheduling.nests import Special
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.compile.runtime.callers.call_layout import Left
from funcgrad.ir.avals import Aval

LARGEST_ADDED = 1 << 16
"""Elements up to which every chunk has memory of its own to add to, all arrays together."""

LARGEST_SCRATCH = 1 << 22
"""Bytes of memory for values in between up to which every chunk has its own."""

LARGEST_OF_ALL = 1 << 30
"""The same of all chunks together, where trips are few and long."""

LONGEST_TRIP = 5e7
"""Operations of one trip from which loops within it ask for signals: Ctrl-C cannot wait for its end."""

ANYBODYS = ("index", "failure")
"""What is no memory, and the flag that any trip may set."""

REFUSED = re.compile(r"\breturn\b|\b(?:poll|malloc|realloc|free|call_pointers|parallel)\(")
"""What leaves the kernel, holds memory, or calls code that may not run on several threads."""

REFUSED_IN_LONG_TRIPS = re.compile(REFUSED.pattern.replace("poll|", ""))
"""The same where trips ask for signals: only Python's main thread is told of any."""

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_MADE = re.compile(r"^\s*(?:for )?(\w+(?:, \w+)*) (?:=|in) ", re.M)


@dataclass(eq=False)
class SharedTrips:
    """The function of a loop whose trips are shared, and the memory of its chunks."""

    name: str
    rows: dict[Buffer, int]
    """Memory for values in between, of which every chunk has its own, and the elements of one."""
    cells: dict[str, Buffer] = field(default_factory=dict)
    """Numbers that the function reads, and the memory that passes them."""
    counters: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Counters: what the function calls their first value, and what each trip adds."""
    private: dict[Buffer, Buffer] = field(default_factory=dict)
    """Arrays that the trips add to, and the memory for what each chunk adds."""
    partial: dict[str, Buffer] = field(default_factory=dict)
    """Numbers that the trips add to, and the memory for those of the chunks."""
    tiles: Mapping[Buffer, int] = field(default_factory=dict)
    stopped: Buffer | None = None
    """A number that is set when a trip is to be left, because a signal's handler has raised an exception."""

    def memory(self) -> list[View]:
        """All memory but that of the rows."""
        made = [*self.cells.values(), *self.private.values(), *self.partial.values()]
        made += [] if self.stopped is None else [self.stopped]
        return [View.whole(buffer, (buffer.size,)) for buffer in made]


@dataclass(frozen=True)
class Trips:
    """A loop, and what is known of it when it is written."""

    carry: Carry
    kept: Sequence[Part]
    held: Held
    consts: Sequence[tuple[Given, Aval]]
    stacks: Sequence[View]
    """Of which every trip writes a row of its own."""
    made: int
    """How many blocks of memory there were before the body was scheduled."""
    length: int
    flops: float
    """Operations of a trip."""

    @property
    def chunks(self) -> int:
        """Into how many chunks a run of trips is divided."""
        return CHUNKS if self.length >= 2 * CHUNKS else min(self.length, CHUNKS)

    def are_worth_sharing(self) -> bool:
        """Whether there is work enough, and the chunks' own memory is small beside it."""
        flops, long = self.flops * self.length, SHORTEST * FLOPS_PER_SECOND
        added = sum(v.buffer.size for v in self.arrays)
        return (
            (self.length >= 2 * CHUNKS or (self.length >= 2 and self.flops >= long))
            and flops >= long
            and flops >= 8 * self.chunks * added
            and added <= LARGEST_ADDED
            and all(v.is_whole for v in self.arrays)
            and not self.carry.exchanged
            and not self.carry.copies
        )

    @property
    def arrays(self) -> list[View]:
        """The arrays that trips add to."""
        pairs = zip(self.carry.given, self.kept, strict=True)
        return [given for given, kept in pairs if isinstance(given, View) and kept is Kept.ADDED]

    def scratch(self, local: Locals) -> list[Buffer] | None:
        """Memory that a trip uses for values in between; None where it writes into other memory as well."""
        own = set(local.buffers[self.made :])
        shared = {view.buffer for view in (*self.arrays, *self.stacks)}
        found: dict[Buffer, None] = {}
        for view, written in self.held.views():
            if written and view.buffer not in shared and view.buffer.role not in ANYBODYS:
                if view.buffer not in own or view.buffer.role != "scratch":
                    return None
                found[view.buffer] = None
        each = sum(b.nbytes for b in found)
        few = self.length < 2 * CHUNKS and each * self.chunks <= LARGEST_OF_ALL
        return list(found) if each <= LARGEST_SCRATCH or few else None


def write_shared(writer: Writer, trips: Trips, step: Special, turn: str, reversed_turn: str) -> bool:
    """Write the loop as runs of chunks; False, and nothing written, where it cannot be shared.

    `reversed_turn` is the local for the row of a loop that begins with the last one, or empty.
    """
    local = writer.local
    if local.portable or not writer.is_outermost or not trips.are_worth_sharing():
        return False
    scratch = trips.scratch(local)
    if scratch is None:
        return False
    rows = {buffer: private_size(buffer) for buffer in scratch}
    shared = SharedTrips(local.fresh("trips"), rows)
    make_memory(local, trips, shared)
    inner = Writer(local)
    inner.polls, inner.stopped = False, "" if shared.stopped is None else shared.stopped.name
    with inner.block("for chunk in range(begin, end):"):
        write_chunk(inner, trips, shared, turn, reversed_turn)
    if inner.functions or not is_self_contained(inner.lines, local, shared):
        return False
    for buffer, size in rows.items():
        buffer.size = size * trips.chunks
    step.scratch = (*step.scratch, *shared.memory())
    write_runs(writer, trips, shared)
    writer.functions.append((shared, inner.lines))
    return True


def make_memory(local: Locals, trips: Trips, shared: SharedTrips) -> None:
    """What passes numbers to the function, and what each chunk adds to."""
    carry, chunks = trips.carry, trips.chunks
    if trips.flops > LONGEST_TRIP:
        shared.stopped = local.scratch(np.dtype(np.int64), 1, "stopped")
    for name in ("block", "stop"):
        shared.cells[name] = local.scratch(np.dtype(np.int64), 1, name)
    for given, aval in trips.consts:
        if isinstance(given, str) and given.isidentifier() and given not in local.numbers.values():
            shared.cells[given] = local.scratch(aval.dtype, 1, given)
    for given, kept, aval in zip(carry.given, trips.kept, carry.avals, strict=True):
        if isinstance(kept, int):
            start = local.fresh("counted")
            shared.counters[str(given)] = start, kept
            shared.cells[start] = local.scratch(aval.dtype, 1, start)
        elif isinstance(given, str):
            where = shared.cells if kept is Kept.SAME else shared.partial
            where[given] = local.scratch(aval.dtype, 1 if kept is Kept.SAME else chunks, given)
        elif kept is Kept.ADDED:
            size = chunks * private_size(given.buffer)
            shared.private[given.buffer] = local.scratch(aval.dtype, size, given.buffer.name)


def write_chunk(writer: Writer, trips: Trips, shared: SharedTrips, turn: str, reversed_turn: str) -> None:
    """The trips of one chunk of a run, with what they add in memory and locals of the chunk's own."""
    local = writer.local
    chunks = number_of_chunks(local, trips)
    writer.line(f"first = block + chunk * (stop - block) // {chunks}")
    writer.line(f"last = block + (chunk + 1) * (stop - block) // {chunks}")
    for buffer in (*shared.rows, *shared.private):
        each = local.symbol(private_size(buffer))
        writer.line(f"{buffer.name} = shifted({buffer.name}_all, chunk * {each})")
    for name, partial in shared.partial.items():
        writer.line(f"{name} = {partial.name}[chunk]")
    for name, (start, by) in shared.counters.items():
        writer.line(f"{name} = {cast_name(shared.cells[start].dtype)}({start} + first * {local.symbol(by)})")
    with writer.block(f"for {turn} in range(first, last):"):
        if reversed_turn:
            writer.line(f"{reversed_turn} = {local.symbol(trips.length)} - 1 - {turn}")
        trips.held.emit(writer)
        trips.carry.end_trip(writer)
    for name, partial in shared.partial.items():
        writer.line(f"{partial.name}[chunk] = {name}")


def number_of_chunks(local: Locals, trips: Trips) -> str:
    """The text of it: where it comes from the number of trips, it is no part of the kernel."""
    return str(CHUNKS) if trips.length >= 2 * CHUNKS else local.symbol(trips.chunks)


def write_runs(writer: Writer, trips: Trips, shared: SharedTrips) -> None:
    """The runs, after what the chunks begin with and before what they have added is added up."""
    local, k = writer.local, writer.local.fresh("q")
    names = {start: name for name, (start, _) in shared.counters.items()}
    for name, cell in shared.cells.items():
        if name not in ("block", "stop"):
            writer.line(f"{cell.name}[0] = {names.get(name, name)}")
    for memory in (*shared.private.values(), *shared.partial.values()):
        with writer.loop(k, memory.size):
            writer.line(f"{memory.name}[{k}] = {cast_name(memory.dtype)}(0)")
    count, run = (
        local.symbol(trips.length),
        local.number(trips.chunks * trips_between_polls(trips.flops), np.dtype(np.int64)),
    )
    chunks = number_of_chunks(local, trips)
    start, stop = shared.cells["block"].name, shared.cells["stop"].name
    writer.line(f"{stop}[0] = 0")
    if shared.stopped is not None:
        writer.line(f"{shared.stopped.name}[0] = 0")
    with writer.block(f"while {stop}[0] < {count}:"):
        writer.line(f"{start}[0] = {stop}[0]")
        writer.line(f"{stop}[0] = min({start}[0] + {run}, {count})")
        writer.line(f"parallel({shared.name}, p, n, 0, {chunks}, 1)")
        if shared.stopped is not None:
            with writer.block(f"if {shared.stopped.name}[0] != 0:"):
                write_leaving(writer, Left.INTERRUPTED)
        write_poll(writer, f"{stop}[0] < {count}")
    for name, (start, by) in shared.counters.items():
        writer.line(f"{name} = {cast_name(shared.cells[start].dtype)}({name} + {count} * {local.symbol(by)})")
    for name, partial in shared.partial.items():
        with writer.block(f"for {k} in range({chunks}):"):
            writer.line(f"{name} = {sum_of(partial.dtype, name, f'{partial.name}[{k}]')}")
    for target, private in shared.private.items():
        each, chunk = local.symbol(private_size(target)), local.fresh("q")
        with writer.loop(k, target.size), writer.block(f"for {chunk} in range({chunks}):"):
            element = f"{target.name}[{k}]"
            total = sum_of(target.dtype, element, f"{private.name}[{chunk} * {each} + {k}]")
            writer.line(f"{element} = {total}")


def sum_of(dtype: np.dtype[np.generic], x: str, y: str) -> str:
    """The sum of two numbers."""
    return f"{cast_name(dtype)}({x} + {y})"


def is_self_contained(lines: Sequence[str], local: Locals, shared: SharedTrips) -> bool:
    """Whether a function that holds these lines knows all their names, and does not leave its trips."""
    code = "\n".join([line.partition("#")[0] for line in lines])
    if (REFUSED if shared.stopped is None else REFUSED_IN_LONG_TRIPS).search(code):
        return False
    known = {*NAMES, *keyword.kwlist, *local.symbols.values(), *local.numbers.values(), *shared.cells}
    known.update(("range", "min", "max", "abs", "complex", "NAN", "INF", "begin", "end"))
    known.update([buffer.name for buffer in local.buffers])
    known.update([f"{buffer.name}_all" for buffer in (*shared.rows, *shared.private)])
    for names in _MADE.findall(code):
        known.update(names.split(", "))
    return known.issuperset(_NAME.findall(code))
