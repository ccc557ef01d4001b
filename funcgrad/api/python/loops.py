"""Loops of Python's as loops of ours: what a trip binds is carried from one to the next.

The types of what is carried are found by recording: Python's numbers give way to what they meet, and where
the first trip changes a type for good, as ``total = 0`` before ``total = total + row`` does, that trip is
done before the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.api.arguments import here
from funcgrad.api.calls import Traced
from funcgrad.api.control import bound
from funcgrad.api.control_types import joined, typed, with_output_dtypes
from funcgrad.api.python.appending import Appended, refuse_appending
from funcgrad.api.python.branches import condition
from funcgrad.api.python.cells import (
    UNBOUND,
    State,
    Value,
    aval_of_leaf,
    cells_of,
    is_numeric,
    is_same,
    other_cells,
    refuse_changed,
    shown,
    taken_apart,
)
from funcgrad.api.python.elements import ListPlace
from funcgrad.api.python.identity import (
    check_unchosen,
    containers_within,
    contents,
    other_name,
    same_arrays,
    write_back,
)
from funcgrad.api.python.outside import check_names_changed_by
from funcgrad.api.python.recording import Place, note_made, recorded_block, with_places
from funcgrad.errors import FuncgradError, ShapeError, TracedBranchError, TreeError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.tracing.aliasing import assign
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.python.escapes import PREFIX
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.while_loop import WhileLoop
from funcgrad.transforms.simplify import simplify_program

Function = Callable[..., Any]


class FirstTripDiffers(Exception):
    """Raised when the first trip changes a type for good; has the error for when it cannot be done apart."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Loop(NamedTuple):
    """What a loop is made of."""

    block: Function
    state: State
    """All names that a trip binds."""
    carried: tuple[str, ...]
    """Those that a trip, or what follows the loop, may read from the trip before."""
    after: tuple[str, ...]
    """Those that may be read once the loop has ended."""
    what: str
    line: int

    @property
    def name(self) -> str:
        """What the Program of a trip is called."""
        return f"{self.block.__code__.co_name.strip('<>')}_line_{self.line}"


def with_objects(loop: Loop, entry: dict[str, Any], objects: Sequence[Place]) -> tuple[Loop, dict[str, Any]]:
    """The loop that carries these places in objects as well, and what all it carries is before it."""
    extra = [place.name for place in objects]
    state = loop.state.with_objects(objects)
    wider = loop._replace(state=state, carried=(*loop.carried, *extra), after=(*loop.after, *extra))
    return wider, {**state.values(), **entry}


class Slot(NamedTuple):
    """One leaf of a carried name: a number or array, or something fixed."""

    name: str
    start: Any
    aval: Aval | None
    """None for what is fixed."""
    only_out: bool = False
    """Whether it is bound by the trips alone: what it starts as, no trip may read."""


class Carried:
    """The names that a loop carries, as slots."""

    def __init__(self, loop: Loop, entry: dict[str, Any]) -> None:
        self.loop = loop
        self.values = {name: taken_apart(entry[name]) for name in loop.carried}
        self.slots: list[Slot] = []
        for name, value in self.values.items():
            for leaf in value.leaves:
                self.slots.append(Slot(name, leaf, aval_of_leaf(leaf) if is_numeric(leaf) else None))
        self.same: dict[str, str] = {}
        """Names of arrays that another name stands for as well, before and after every trip."""
        self.ends_same: dict[str, str] = {}
        """The same after a trip."""
        self.pinned: dict[str, Any] = {}
        """Names of arrays from outside of the loop, before and after every trip."""
        self.ends_outside: dict[str, Any] = {}
        """The same after a trip."""
        self.late: dict[str, Value] = {}
        """Names that only a trip binds, with values of the structure that it binds them to."""

    @property
    def avals(self) -> list[Aval]:
        """The avals of what is carried."""
        return [slot.aval for slot in self.slots if slot.aval is not None]

    @property
    def starts(self) -> list[Any]:
        """What the loop starts from."""
        return [typed(asoperand(slot.start), slot.aval) for slot in self.slots if slot.aval is not None]

    def bound_to(self, leaves: Sequence[Any], *, late: bool) -> dict[str, Any]:
        """The names, with these leaves in the slots; names that only trips bind where asked for."""
        found = iter(leaves)
        row: dict[str, list[Any]] = {name: [] for name in (*self.values, *self.late)}
        for slot in self.slots:
            row[slot.name].append(slot.start if slot.aval is None else next(found))
        values = {name: value.rebuilt(row[name]) for name, value in self.values.items()}
        for name, value in self.late.items():
            values[name] = value.rebuilt(row[name]) if late else UNBOUND
        for name, other in self.same.items():
            values[name] = values[other]
        values.update(self.pinned)
        return values

    def after_trip(self, values: dict[str, Any], given: dict[str, Any]) -> list[Any]:
        """The leaves that a trip leaves in the slots, or Retyped where the slots must be others."""
        slots: list[Slot] = []
        leaves: list[Any] = []
        changed = False
        for name in self.loop.carried:
            value = taken_apart(values[name])
            mine = [slot for slot in self.slots if slot.name == name]
            if self.values[name].treedef is None:
                if value.treedef is None:
                    continue
                if name not in self.late:
                    changed = True
                    self.late[name] = value
                    mine = [late_slot(name, leaf) for leaf in value.leaves]
            expected = self.late.get(name, self.values[name])
            if value.treedef != expected.treedef:
                raise self._differs(name, given[name], values[name], TreeError)
            for slot, leaf in zip(mine, value.leaves, strict=True):
                slots.append(self._kept(slot, leaf, given, values))
                leaves += [leaf] if slot.aval is not None else []
                changed = changed or slots[-1] is not slot
        if changed:
            self.slots = slots
            raise Retyped
        return leaves

    def _kept(self, slot: Slot, leaf: Any, given: dict[str, Any], values: dict[str, Any]) -> Slot:
        """The slot, or one of the type that it must have."""
        if slot.aval is None:
            if is_same(slot.start, leaf):
                return slot
            raise self._differs(slot.name, given[slot.name], values[slot.name], TreeError)
        if not is_numeric(leaf):
            raise self._differs(slot.name, given[slot.name], values[slot.name], TreeError)
        got = aval_of_leaf(leaf)
        common = joined(slot.aval, got)
        if common is None:
            raise self._differs(slot.name, given[slot.name], values[slot.name], ShapeError)
        if common == slot.aval:
            return slot
        if slot.only_out:
            return slot._replace(aval=common, start=before_any_trip(common))
        return slot._replace(aval=common)

    def follow_identity(
        self,
        given: dict[str, Any],
        values: dict[str, Any],
        entry: dict[str, Any],
        before: dict[str, Any],
        outside: dict[str, Any],
    ) -> None:
        """Have names of one array stay names of one; raises where a trip writes and they do not.

        `outside` are the names that end a trip as arrays from outside of the loop.
        """
        at_start, at_end = same_arrays(entry), same_arrays(values)
        same = {name: other for name, other in at_start.items() if at_end.get(name) == other}
        pinned = {name: x for name, x in outside.items() if entry[name] is x}
        if same.keys() != self.same.keys() or pinned.keys() != self.pinned.keys():
            self.same, self.pinned = same, pinned
            raise Retyped
        self.ends_same, self.ends_outside = at_end, outside
        written = [
            name
            for name, x in given.items()
            if x is not UNBOUND and name not in pinned and fingerprint_of(x) != before[name]
        ]
        for name in written:
            parted = set(at_start.items()) ^ set(at_end.items())
            partner = next((x for pair in sorted(parted) if name in pair for x in pair if x != name), None)
            if partner is None and values.get(name) is not given[name]:
                # What is written under this name may have come from any that lets go of its array.
                left = [entry[x] for x in given if values.get(x) is not given[x] and is_array(entry[x])]
                partner = next(filter(None, [other_name(x, given) for x in left]), None)
            if partner is not None:
                raise self._parted(name, partner)
        for name, x in outside.items():
            if name not in pinned and entry[name] is not UNBOUND and x._recorder is active_recorder():
                raise self._parted(name, other_name(x, given) or "another name")

    def _parted(self, name: str, partner: str) -> FirstTripDiffers:
        return FirstTripDiffers(
            TracedBranchError(
                f"{self.loop.what} of line {self.loop.line} writes into `{name}`, which is the same array as "
                f"`{partner}` at one end of a trip and another at the other",
                source=here(),
                remedy="Copy the array before the loop, or keep it under one name.",
            )
        )

    def refuse_changed(self, names: set[str], given: dict[str, Any]) -> None:
        """Raise where a trip changes lists or dicts in place that it then lets go of: who else has them?"""
        for name in sorted(names):
            kind = type(given[name]).__name__
            raise FirstTripDiffers(
                TracedBranchError(
                    f"{self.loop.what} of line {self.loop.line} changes `{name}`, a {kind}, in place and "
                    "binds the name to another one",
                    source=here(),
                    remedy="Do one of the two, or use arrays.",
                )
            )

    def _differs(self, name: str, before: Any, after: Any, kind: type[FuncgradError]) -> FirstTripDiffers:
        spoken = "what is returned" if name.startswith(PREFIX) else f"`{name}`"
        return FirstTripDiffers(
            kind(
                f"{spoken} is {shown(before)} before {self.loop.what} of line {self.loop.line} and "
                f"{shown(after)} after a trip, and a loop must keep what it carries of one type",
                source=here(),
                remedy="Start with a value of the type it has later.",
            )
        )


class Retyped(Exception):
    """Raised when a trip has shown that slots must be of other types: it is recorded again."""


def late_slot(name: str, leaf: Any) -> Slot:
    """The slot for a leaf that only trips bind."""
    if not is_numeric(leaf):
        return Slot(name, leaf, None, True)
    aval = aval_of_leaf(leaf)
    return Slot(name, before_any_trip(aval), aval, True)


def before_any_trip(aval: Aval) -> Any:
    """What stands for a name that no trip has bound: NaN, so that reading it is seen; zero for integers."""
    return np.full(aval.shape, np.nan if aval.inexact else 0, aval.dtype)[()]


class Trip(NamedTuple):
    """A recorded trip: leading inputs (an index), the carry, the places, then rows; results in this order."""

    traced: Traced
    carried: Carried
    n_lead: int
    invariant: frozenset[str]
    """Names that a trip leaves as they are."""
    written: frozenset[str]
    """Names of arrays that a trip writes, and binds to nothing else."""
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


def recorded_trip(
    loop: Loop,
    entry: dict[str, Any],
    places: list[Tracer],
    lead: Sequence[Aval],
    rows: Sequence[Aval],
    run: Callable[[list[Tracer], list[Tracer]], Sequence[Any]],
    appended: Appended,
) -> Trip:
    """Record one trip: ``run(lead, rows)`` does it and returns what the leading inputs become.

    Inputs of the trace are lead, carry, rows and places; its results are lead, carry, what is appended to
    lists, and places.
    """
    carried = Carried(loop, entry)
    n = len(lead)
    known = [*loop.state.known, *appended.names]
    theirs = {id(x) for x in places}
    while True:
        kept: set[str] = set()
        invariant: set[str] = set()
        changed: set[str] = set()

        def trip(
            tracers: list[Tracer],
            kept: set[str] = kept,
            invariant: set[str] = invariant,
            changed: set[str] = changed,
        ) -> list[Any]:
            count = len(carried.avals)
            given = carried.bound_to(tracers[n : n + count], late=False)
            loop.state.bind(dict.fromkeys(loop.state.names, UNBOUND))
            loop.state.bind(given)
            try:
                before = {name: fingerprint_of(value) for name, value in given.items()}
                held = {name: containers_within(value) for name, value in given.items()}
                full = {name: contents(note_all_made(found)) for name, found in held.items()}
                others = other_cells({**cells_of(loop.block), **loop.state.cells})
                check_names_changed_by(loop.block)
                heads = run(tracers[:n], tracers[n + count :])
                refuse_changed(others, loop.what, loop.line)
                values = {name: value for name, value in loop.state.values().items() if name in given}
                kept |= {name for name, value in values.items() if value is given[name]}
                changed |= {name for name, found in held.items() if contents(found) != full[name]}
                invariant |= {name for name in kept if fingerprint_of(values[name]) == before[name]} - changed
                carried.refuse_changed(changed - kept, given)
                mine = {id(x) for name, x in given.items() if name not in carried.pinned}
                outside = {
                    name: x
                    for name, x in values.items()
                    if is_array(x) and id(x) not in mine and (id(x) in theirs or is_outer(x))
                }
                carried.follow_identity(given, values, entry, before, outside)
                appended.check_own(known_elsewhere(given, values, before, places))
                appended.note_names(values)
            finally:
                loop.state.bind(entry)
            return [*heads, *carried.after_trip(values, given), *appended.leaves()]

        avals = [*lead, *carried.avals, *rows]
        try:
            traced = recorded_block(trip, avals, places, loop.name, loop.what, loop.line, known=known)
        except Retyped:
            continue
        written = frozenset(kept - invariant)
        return Trip(traced, carried, n, frozenset(invariant), written, frozenset(changed), tuple(places))


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


def is_array(x: Any) -> bool:
    """Whether `x` is a traced array, which may have several names and be written."""
    return type(x) is Tracer and bool(x.aval.shape)


def is_outer(x: Tracer) -> bool:
    """Whether a tracer belongs to a trace around the one that is open."""
    return x._recorder is not active_recorder()


def fingerprint_of(value: Any) -> Any:
    """Something that differs once an array among the leaves has been written."""
    return [(id(x._recorder), x._index) for x in taken_apart(value).leaves if type(x) is Tracer]


# -- a known number of trips


class Items(NamedTuple):
    """What a loop goes over, as control flow sees it: an index, or rows of arrays, or both."""

    length: Any
    """An int, or a traced number."""
    rows: tuple[Any, ...]
    """Arrays, of which each trip takes a row."""
    item: Callable[[Any, Sequence[Any]], Any]
    """``item(k, rows)``: what the target of the loop is bound to in trip k."""


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
        rows = [a.with_shape(a.shape[1:]) for a in row_avals]

        def run(lead: list[Tracer], row: list[Tracer]) -> list[Any]:
            before = [x._index for x in row]
            with appended.taken(cells_of(loop.block)):
                loop.block(items.item(lead[0], row))
            if [x._index for x in row] != before:
                raise TracedBranchError(
                    f"{loop.what} of line {loop.line} writes into the rows that it goes over",
                    source=here(),
                    remedy="Go over a range, and write u[i].",
                )
            return [lead[0] + 1]  # type: ignore[operator]

        trip = recorded_trip(loop, entry, places, [INDEX], rows, run, appended)

        def finish() -> None:
            finish_counted(loop, entry, trip, places, arrays, first, trips, appended)

        prepared[:] = [(trip, finish)]

    with_places(attempt)
    return prepared[0]


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


# -- until something -----------------------------------------------------------------------------------------


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
    loop: Loop,
    entry: dict[str, Any],
    trip: Trip,
    decided: Traced,
    places: list[Tracer],
    lead: Sequence[Any],
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
