"""Loops of Python's as loops of ours: what a trip binds is carried from one to the next.

The types of what is carried are found by recording: Python's numbers give way to what they meet, and where
the first trip changes a type for good, as ``total = 0`` before ``total = total + row`` does, that trip is
done before the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.calling.calls import Traced
from funcgrad.api.control_flow.binding import bound
from funcgrad.api.control_flow.control_types import typed, with_output_dtypes
from funcgrad.api.python.blocks.appending import Appended, refuse_appending
from funcgrad.api.python.blocks.branches import condition
from funcgrad.api.python.blocks.carried import (
    Carried,
    Loop,
    Retyped,
    fingerprint_of,
    is_array,
    is_outer,
    with_objects,
)
from funcgrad.api.python.blocks.cells import aval_of_leaf, cells_of, other_cells, refuse_changed, taken_apart
from funcgrad.api.python.blocks.following import Following
from funcgrad.api.python.blocks.layouts import changed_layouts, note_layouts
from funcgrad.api.python.blocks.outside import check_names_changed_by
from funcgrad.api.python.blocks.recording import Place, note_made, recorded_block, with_places
from funcgrad.api.python.elements import ListPlace
from funcgrad.api.python.identity import check_unchosen, containers_within, contents, write_back
from funcgrad.api.python.unbound import UNBOUND
from funcgrad.errors import TracedBranchError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.ops.arrays.windows import note_interval
from funcgrad.tracing.aliasing import assign, memory_of
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.undoing import tangents as _tangents  # noqa: F401 - entered in the catalog
from funcgrad.transforms.control.while_loop import WhileLoop
from funcgrad.transforms.simplify import simplify_program

Run = Callable[[list[Tracer], list[Tracer]], Sequence[Any]]
"""Does a trip with its leading inputs and rows, and returns what the leading inputs become."""


class Trip(NamedTuple):
    """A recorded trip: leading inputs (an index), the carry, the places, then rows; results in this order."""

    traced: Traced
    carried: Carried
    n_lead: int
    invariant: frozenset[str]
    """Names that a trip leaves as they are."""
    written: frozenset[str]
    """Names of arrays that a trip writes, and binds to nothing else."""
    touched: frozenset[str]
    """Names of what a trip writes into, whatever they are bound to in the end."""
    changed: frozenset[str]
    """Names of lists and dicts that a trip changes, and binds to nothing else."""
    places: tuple[Tracer, ...]
    """Arrays of outer traces that a trip writes."""

    @property
    def has_list_of_whole_numbers(self) -> bool:
        """Whether it changes elements of such a list at traced indices."""
        cells = self.carried.loop.state.cells
        slots = [x for x in self.carried.slots if isinstance(cells.get(x.name), ListPlace)]
        return any(x.aval is not None and x.aval.dtype.kind == "i" for x in slots)

    @property
    def constants(self) -> list[Any]:
        """What a trip reads beside its inputs."""
        return self.traced.operands[self.traced.n_inputs :]


class Attempt:
    """One recording of a trip, and what is seen there: names kept, changed, written into, or moved."""

    def __init__(
        self,
        carried: Carried,
        entry: dict[str, Any],
        places: Sequence[Tracer],
        n_lead: int,
        run: Run,
        appended: Appended,
        unknown: set[str],
    ) -> None:
        self.carried, self.entry, self.places, self.n_lead = carried, entry, places, n_lead
        self.run, self.appended, self.unknown = run, appended, unknown
        self.kept, self.invariant, self.changed, self.touched, self.moved = [set[str]() for _ in range(5)]

    def trip(self, tracers: list[Tracer]) -> list[Any]:
        """The results of a trip: what leads, the carry, and what is appended."""
        carried, loop, n = self.carried, self.carried.loop, self.n_lead
        count = len(carried.avals)
        inputs = [x._index for x in tracers[n : n + count]]
        given = carried.bound_to(tracers[n : n + count], late=False)
        loop.state.bind(dict.fromkeys(loop.state.names, UNBOUND))
        loop.state.bind(given)
        note_layouts(given, self.entry, self.unknown)
        try:
            before = {name: fingerprint_of(value) for name, value in given.items()}
            held = {name: containers_within(value) for name, value in given.items()}
            full = {name: contents(note_all_made(found)) for name, found in held.items()}
            others = other_cells({**cells_of(loop.block), **loop.state.cells})
            check_names_changed_by(loop.block)
            heads = self.run(tracers[:n], tracers[n + count :])
            refuse_changed(others, loop.what, loop.line)
            values = {name: value for name, value in loop.state.values().items() if name in given}
            self.changed |= {name for name, found in held.items() if contents(found) != full[name]}
            self.look(given, values, before)
        finally:
            loop.state.bind(self.entry)
        return [*heads, *carried.after_trip(values, given, inputs), *self.appended.leaves()]

    def look(self, given: dict[str, Any], values: dict[str, Any], before: dict[str, Any]) -> None:
        """See what a trip has made of the names that it was given."""
        self.kept |= {name for name, value in values.items() if value is given[name]}
        self.touched |= {name for name, value in given.items() if fingerprint_of(value) != before[name]}
        same = {name for name in self.kept if fingerprint_of(values[name]) == before[name]}
        self.invariant |= same - self.changed
        self.carried.refuse_changed(self.changed - self.kept, given)
        mine = {id(x) for name, x in given.items() if name not in self.carried.pinned}
        theirs = {id(x) for x in self.places}
        outside = {
            name: x
            for name, x in values.items()
            if is_array(x) and id(x) not in mine and (id(x) in theirs or is_outer(x))
        }
        self.carried.follow_identity(given, values, self.entry, before, outside)
        self.appended.check_own(known_elsewhere(given, values, before, self.places))
        self.appended.note_names(values)
        self.moved |= changed_layouts(given, values) - self.unknown


def recorded_trip(
    loop: Loop,
    entry: dict[str, Any],
    places: list[Tracer],
    lead: Sequence[Aval],
    rows: Sequence[Aval],
    run: Run,
    appended: Appended,
) -> Trip:
    """Record one trip: ``run(lead, rows)`` does it and returns what the leading inputs become.

    Inputs of the trace are lead, carry, rows and places; its results are lead, carry, what is appended to
    lists, and places.
    """
    carried = Carried(loop, entry)
    known = [*loop.state.known, *appended.names]
    unknown: set[str] = set()
    while True:
        seen = Attempt(carried, entry, places, len(lead), run, appended, unknown)
        avals = [*lead, *carried.avals, *rows]
        try:
            traced = recorded_block(seen.trip, avals, places, loop.name, loop.what, loop.line, known=known)
        except Retyped:
            continue
        if seen.moved:
            unknown |= seen.moved
            continue
        invariant, written = frozenset(seen.invariant), frozenset(seen.kept - seen.invariant)
        seen_in = (invariant, written, frozenset(seen.touched), frozenset(seen.changed))
        return Trip(traced, carried, len(lead), *seen_in, tuple(places))


def known_elsewhere(
    given: dict[str, Any], values: dict[str, Any], before: dict[str, Any], places: Sequence[Tracer]
) -> set[int]:
    """Arrays, by identity, that another trip may write: those that are carried, if a trip writes any."""
    if not places and all(fingerprint_of(x) == before[name] for name, x in given.items()):
        return set()
    carried = [leaf for x in (*given.values(), *values.values()) for leaf in taken_apart(x).leaves]
    return {id(x) for x in (*carried, *places) if type(x) is Tracer}


def note_all_made(containers: list[Any]) -> list[Any]:
    """The argument; what a trip is given stands for it alone while it is recorded."""
    return [note_made(x) for x in containers]


# -- a known number of trips


class Items(NamedTuple):
    """What a loop goes over, as control flow sees it: an index, or rows of arrays, or both."""

    length: Any
    """An int, or a traced number."""
    rows: tuple[Any, ...]
    """Arrays, of which each trip takes a row."""
    item: Callable[[Any, Sequence[Any]], Any]
    """``item(k, rows)``: what the target of the loop is bound to in trip k."""
    copied: tuple[Any, ...] = ()
    """Arrays of which the rows may be copies."""
    whole: bool = False
    """Whether the rows are whole numbers of Python's."""


def counted(
    loop: Loop, entry: dict[str, Any], items: Items, first: int, trips: int
) -> tuple[Trip, Callable[[], None]]:
    """Record a loop over a known number of items, from `first` on; returns what puts it into the trace."""
    prepared: list[tuple[Trip, Callable[[], None]]] = []
    given, before = loop, entry

    def attempt(places: list[Tracer], objects: list[Place]) -> None:
        appended = Appended(objects)
        loop, entry = with_objects(given, before, [*appended.others, *appended.last])
        arrays = [asoperand(x) for x in items.rows]
        row_avals = [aval_of_leaf(x) for x in arrays]
        rows = [INDEX if items.whole else a.with_shape(a.shape[1:]) for a in row_avals]

        def run(lead: list[Tracer], row: list[Tracer]) -> list[Any]:
            before = [x._index for x in row]
            note_interval(lead[0], (first, first + trips - 1))
            with appended.taken(cells_of(loop.block)):
                loop.block(items.item(lead[0], row))
            if [x._index for x in row] != before:
                refuse_written(loop)
            return [lead[0] + 1]  # type: ignore[operator]

        trip = recorded_trip(loop, entry, places, [INDEX], rows, run, appended)
        touched = memories([places, *[entry[name] for name in trip.touched]])
        if touched & memories([*arrays, *items.copied]):
            refuse_written(loop)
        decide(appended, loop, trip, first, trips, arrays)

        def finish() -> None:
            finish_counted(loop, entry, trip, places, arrays, first, trips, appended)

        prepared[:] = [(trip, finish)]

    with_places(attempt)
    return prepared[0]


def decide(appended: Appended, loop: Loop, trip: Trip, first: int, trips: int, arrays: Sequence[Any]) -> None:
    """Find out which trips append what a branch does; raises where traced values decide that."""
    n = appended.n_conditions
    if not n:
        return
    begun = 1 + len(trip.carried.avals) + appended.n_leaves
    wanted = trip.traced.outputs[begun : begun + n]
    known = Following(trip, wanted[0], first, arrays).columns(wanted, trips)
    appended.decide(known, loop.what, loop.line)


def memories(values: Sequence[Any]) -> set[int]:
    """The arrays, by identity, whose memory these values are, or are parts of."""
    leaves = [x for value in values for x in taken_apart(value).leaves]
    return {id(memory_of(x)) for x in leaves if type(x) is Tracer}


def refuse_written(loop: Loop) -> NoReturn:
    """Rows are read before the first trip: they would miss what the trips write."""
    raise TracedBranchError(
        f"{loop.what} of line {loop.line} writes into the rows that it goes over",
        source=here(),
        remedy="Go over a range, and write u[i].",
    )


INDEX = Aval((), np.dtype(np.int64), True)


def finish_counted(
    loop: Loop,
    entry: dict[str, Any],
    trip: Trip,
    places: list[Tracer],
    arrays: Sequence[Any],
    first: int,
    trips: int,
    appended: Appended,
) -> None:
    """Record the equation of a counted loop, and bind what it leaves."""
    carried = trip.carried
    n_carry, n_rows, n_places = 1 + len(carried.avals), len(arrays), len(places)
    outputs = trip.traced.outputs
    n_last = len(outputs) - n_places
    written = tuple([trip.traced.recorder.avals[k].strong for k in outputs[n_carry:n_last]])
    targets = (INDEX, *carried.avals, *[place.aval.strong for place in places], *written)

    def build(program: Program) -> Scan:
        inputs, outs = program.inputs, program.outputs
        # A scan takes its carry first, and the places are part of it.
        place_inputs = inputs[n_carry + n_rows : n_carry + n_rows + n_places]
        heads = (*inputs[:n_carry], *place_inputs, *inputs[n_carry : n_carry + n_rows])
        ordered = (*heads, *inputs[n_carry + n_rows + n_places :])
        results = (*outs[:n_carry], *outs[n_last:], *outs[n_carry:n_last])
        held = Program(ordered, program.captured, program.equations, results, program.name)
        body = simplify_program(with_output_dtypes(held, targets))
        primitive: Scan = Scan(body, n_carry + n_places, n_rows, trips, False)
        return primitive

    key = ("for", n_carry, n_rows, n_places, trips, targets)
    primitive = trip.traced.transformed(key, build)
    starts = [*carried.starts, *[typed(place.frozen(), place.aval) for place in places]]
    rest = arrays if not first else [x[first:] for x in arrays]
    outs = bound(primitive, [INDEX.dtype.type(first), *starts, *rest, *trip.constants])
    bind_results(loop, entry, trip, outs[1:n_carry], places, outs[n_carry : n_carry + n_places])
    appended.give(outs[n_carry + n_places :], trips)
    loop.state.bind(appended.other_names())


def bind_results(
    loop: Loop,
    entry: dict[str, Any],
    trip: Trip,
    outs: Sequence[Any],
    places: Sequence[Tracer],
    place_outs: Sequence[Any],
) -> None:
    """Bind the names, and write the places, as the last trip has left them."""
    values = trip.carried.bound_to(outs, late=True)
    for name in trip.invariant:
        values[name] = entry[name]
    for place, value in zip(places, place_outs, strict=True):
        assign(place, value)
    for name in trip.changed:
        # So that other names of the list see what was changed, too.
        check_unchosen(entry[name])
        write_back(entry[name], values[name])
        values[name] = entry[name]
    for name in trip.written:
        # Other names of the array see what was written, too.
        if type(entry[name]) is Tracer and type(values[name]) is Tracer:
            assign(entry[name], values[name])
            values[name] = entry[name]
    for name, other in trip.carried.ends_same.items():
        values[name] = values[other]
    values.update(trip.carried.ends_outside)
    loop.state.leave(values)


def repeated(
    loop: Loop,
    entry: dict[str, Any],
    lead: Sequence[tuple[Any, Aval]],
    run: Callable[[list[Tracer]], Sequence[Any]],
    test: Callable[[list[Tracer]], Any],
) -> tuple[Trip, Callable[[], None]]:
    """Record a loop while a condition holds; `lead` are numbers of ours (an index) and their avals.

    ``run(lead)`` does a trip and returns what they become; ``test(lead)`` is the condition.
    """
    prepared: list[tuple[Trip, Callable[[], None]]] = []
    given, before = loop, entry

    def attempt(places: list[Tracer], objects: list[Place]) -> None:
        refuse_appending(objects, given.what, given.line)
        loop, entry = with_objects(given, before, objects)
        lead_avals = [a for _, a in lead]

        def do(heads: list[Tracer], _: list[Tracer]) -> Sequence[Any]:
            return run(heads)

        trip = recorded_trip(loop, entry, places, lead_avals, (), do, Appended(()))
        n = len(lead)

        def deciding(tracers: list[Tracer]) -> list[Any]:
            loop.state.bind(dict.fromkeys(loop.state.names, UNBOUND))
            loop.state.bind(trip.carried.bound_to(tracers[n:], late=False))
            try:
                return [condition(test(tracers[:n]))]
            finally:
                loop.state.bind(entry)

        avals = [*lead_avals, *trip.carried.avals]
        decided = recorded_block(
            deciding, avals, places, loop.name, loop.what, loop.line, known=loop.state.known
        )
        starts = [x for x, _ in lead]
        prepared[:] = [(trip, lambda: finish_repeated(loop, entry, trip, decided, places, starts))]

    with_places(attempt)
    return prepared[0]


def finish_repeated(
    loop: Loop, entry: dict[str, Any], trip: Trip, decided: Traced, places: list[Tracer], lead: Sequence[Any]
) -> None:
    """Record the equation of a loop that goes on while a condition holds, and bind what it leaves."""
    carried, n_lead, n_places = trip.carried, trip.n_lead, len(places)
    n = n_lead + len(carried.avals)
    lead_avals = trip.traced.recorder.avals[:n_lead]
    targets = (*lead_avals, *carried.avals, *[place.aval.strong for place in places])
    spare_count = len(decided.operands) - decided.n_inputs
    test = decided.transformed(("while", n, n_places), lambda program: simplify_program(only_first(program)))

    def build(program: Program) -> WhileLoop:
        body = simplify_program(with_output_dtypes(program, targets))
        made: WhileLoop = WhileLoop(test, body)
        return made

    primitive = trip.traced.transformed(("while", test, n, n_places, targets), build)
    starts = [typed(asoperand(x), a) for x, a in zip(lead, lead_avals, strict=True)]
    starts += [*carried.starts, *[typed(place.frozen(), place.aval) for place in places]]
    constants = decided.operands[decided.n_inputs :]
    assert len(constants) == spare_count, "the constants of the condition stand after its inputs"
    outs = bound(primitive, [*starts, *constants, *trip.constants])
    bind_results(loop, entry, trip, outs[n_lead:n], places, outs[n:])


def only_first(program: Program) -> Program:
    """The Program with its first output only: a condition hands the places on, which nobody needs."""
    return Program(program.inputs, program.captured, program.equations, program.outputs[:1], program.name)
