"""Loops over many numbers, each of which goes on until it is done by itself: `vmap` of a while.

The numbers are *lanes*. A tile of them, which fits into the nearest cache, makes its trips until all of its
lanes are done, and not until all of the batch are; threads share the tiles. Signals are asked for after a
round of so many trips of every tile. Knows nothing of how a batch came about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from funcgrad.compile.emit.interruptible_loops import trips_between_polls, write_poll, write_trip
from funcgrad.compile.emit.loop_order import loops_of
from funcgrad.compile.emit.statements import NestWriter, Writer
from funcgrad.compile.lower.carries import Carry
from funcgrad.compile.lower.held_programs import Given, Held
from funcgrad.compile.lower.trips.shared import SharedTrips, is_self_contained
from funcgrad.compile.passes.arranging.dividing import CHUNKS, FLOPS_PER_SECOND, SHORTEST
from funcgrad.compile.passes.scheduling.nests import Let, Nest, Reduce, Special, Store, squeezed_view
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.ops.reducing.reductions import ReduceAny

TILE = 256
"""Lanes of a tile: a few arrays of them fit into 32 kilobytes."""

FEWEST_LANES = 1024
"""Lanes from which they are divided into tiles."""

FEWEST_TRIPS = 16
"""Trips of a round, at least; most loops to convergence make less, and are done after the first."""


@dataclass(frozen=True)
class Lanes:
    """A loop over lanes."""

    carry: Carry
    held: Held
    mask: View
    """Which lanes go on."""
    nests: Sequence[Nest]
    consts: Sequence[tuple[Given, Aval]]

    @property
    def count(self) -> int:
        """How many lanes there are."""
        return self.mask.buffer.size

    @property
    def flops(self) -> float:
        """Operations of a trip of all lanes."""
        return sum(nest.flops for nest in self.nests)


def lanes_of(
    deciding: Program, carry: Carry, held: Held, consts: Sequence[tuple[Given, Aval]]
) -> Lanes | None:
    """The lanes of a loop that is lowered; None where it is no loop over lanes, or there are few of them."""
    mask = mask_of(deciding)
    given = None if mask is None else carry.given[mask]
    nests = [step for step in held.scheduler.steps if isinstance(step, Nest) and step.body]
    if (
        held.scheduler.local.portable
        or not isinstance(given, View)
        or given.buffer.size < FEWEST_LANES
        or len(nests) != len([s for s in held.scheduler.steps if not isinstance(s, Nest) or s.body])
        or carry.updates
        or carry.copies
        or not all(is_by_lanes(nest, given.buffer.size) for nest in nests)
        or not all(isinstance(x, View) and x.is_whole for x in (*carry.given, *carry.beside.values()))
    ):
        return None
    return Lanes(carry, held, given, nests, consts)


def mask_of(deciding: Program) -> int | None:
    """The part of the carry that says which lanes go on, where the loop goes on while any of it is set."""
    if len(deciding.equations) != 1:
        return None
    (e,) = deciding.equations
    if not isinstance(e.primitive, ReduceAny) or e.outputs[0] is not deciding.outputs[0]:
        return None
    whole = len(e.primitive.axes) == len(e.inputs[0].aval.shape) and e.inputs[0] in deciding.inputs
    return deciding.inputs.index(e.inputs[0]) if whole else None


def is_by_lanes(nest: Nest, count: int) -> bool:
    """Whether a nest treats every lane by itself, at one place of memory for each."""
    loops = loops_of(nest)
    if not nest.shape:
        return all(isinstance(s, Let) for s in nest.body)
    return (
        not nest.ordered
        and not nest.fills
        and len(loops) == 1
        and loops[0].size == count
        and not any(isinstance(s, Reduce) for s in nest.body)
        and all(not view.base and not view.offset for view, _ in nest.views())
        and all(view.strides[loops[0].axes[-1]] == 1 for view, _ in nest.views())
    )


def emit_lanes(lanes: Lanes, step: Callable[[], Special]) -> Callable[[Writer], None]:
    """What writes the loop, between what its carry begins and ends with; `step` is the one it is."""

    def emit(writer: Writer) -> None:
        if not write_shared_lanes(writer, lanes, step()):
            write_tiles(writer, lanes, "0", writer.local.symbol(lanes.count), rounds=False)

    return emit


def write_shared_lanes(writer: Writer, lanes: Lanes, step: Special) -> bool:
    """Write the loop as rounds of chunks of lanes; False, and nothing written, where it cannot be shared."""
    local = writer.local
    few = lanes.flops * FEWEST_TRIPS / 2 < SHORTEST * FLOPS_PER_SECOND
    if not writer.is_outermost or few:
        return False
    shared = SharedTrips(local.fresh("lanes"), {})
    for given, aval in lanes.consts:
        if isinstance(given, str) and given.isidentifier() and given not in local.numbers.values():
            shared.cells[given] = local.scratch(aval.dtype, 1, given)
    inner = Writer(local)
    inner.polls = False
    count = local.symbol(lanes.count)
    with inner.block("for chunk in range(begin, end):"):
        inner.line(f"first = chunk * {count} // {CHUNKS}")
        inner.line(f"last = (chunk + 1) * {count} // {CHUNKS}")
        write_tiles(inner, lanes, "first", "last", rounds=True)
    if inner.functions or not is_self_contained(inner.lines, local, shared):
        return False
    step.scratch = (*step.scratch, *shared.memory())
    for name, cell in shared.cells.items():
        writer.line(f"{cell.name}[0] = {name}")
    with writer.block("while True:"):
        writer.line(f"parallel({shared.name}, p, n, 0, {CHUNKS}, 1)")
        write_leaving_when_done(writer, lanes, "0", count)
        write_poll(writer)
    writer.functions.append((shared, inner.lines))
    return True


def write_tiles(writer: Writer, lanes: Lanes, first: str, last: str, *, rounds: bool) -> None:
    """The trips of each tile between two lanes: as many as it takes, or those of a round."""
    local = writer.local
    block, stop = (local.fresh(stem) for stem in ("tile", "past"))
    with writer.block(f"for {block} in range({first}, {last}, {TILE}):"):
        writer.line(f"{stop} = min({block} + {TILE}, {last})")
        trips = local.fresh("trips")
        if rounds:
            run = max(trips_between_polls(lanes.flops), FEWEST_TRIPS)
            writer.line(f"{trips} = 0")
            head = f"while {trips} < {local.number(run, np.dtype(np.int64))}:"
        with writer.block(head if rounds else "while True:"):
            write_leaving_when_done(writer, lanes, block, stop)
            if rounds:
                writer.line(f"{trips} = {trips} + 1")
            else:
                write_trip(writer, lanes.flops / max(lanes.count / TILE, 1.0))
            nests, copies = in_place(lanes)
            for nest in nests:
                maker = NestWriter(writer, nest, loops_of(nest))
                if not maker.loops:
                    maker.write()
                    continue
                with writer.block(f"for {maker.variables[0]} in range({block}, {stop}):"):
                    maker.level(1, [])
            for given, found in copies:
                with writer.block(f"for i in range({block}, {stop}):"):
                    writer.line(f"{given.buffer.name}[i] = {found.buffer.name}[i]")


def in_place(lanes: Lanes) -> tuple[Sequence[Nest], Sequence[tuple[View, View]]]:
    """The nests, and what is copied after them; what is stored when all has been read, is stored in place."""
    copies = lanes.carry.copies
    *before, nest = lanes.nests
    if any(each.shape for each in before):
        return lanes.nests, copies
    first = min([k for k, s in enumerate(nest.body) if isinstance(s, Store)], default=0)
    stores = [
        s for s in nest.body[first:] if isinstance(s, Store) and isinstance(s.operand, str) and not s.when
    ]
    targets = {found.buffer: given for given, found in copies}
    if first + len(stores) != len(nest.body) or not all(s.view.buffer in targets for s in stores):
        return lanes.nests, copies
    body = [*nest.body[:first], *[s._replace(view=squeezed_view(targets[s.view.buffer])) for s in stores]]
    return [*before, Nest(nest.position, nest.shape, body)], ()


def write_leaving_when_done(writer: Writer, lanes: Lanes, first: str, last: str) -> None:
    """Leave a loop when no lane between two goes on."""
    going = writer.local.fresh("going")
    writer.line(f"{going} = False")
    with writer.block(f"for i in range({first}, {last}):"):
        writer.line(f"{going} = {going} | {lanes.mask.buffer.name}[i]")
    with writer.block(f"if not {going}:"):
        writer.line("break")
