"""``while t < end`` where the numbers of Python's that decide come of one another alone.

Such a loop has a known number of trips, and no counter that says so. One trip is recorded; the few operations
of it by which those numbers follow from themselves are done here, trip by trip, until the condition fails.
Then it is a loop over a known number of items like any other, after which those numbers are numbers again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.python.blocks.appending import Appended
from funcgrad.api.python.blocks.branches import condition
from funcgrad.api.python.blocks.carried import FirstTripDiffers, Loop, with_objects
from funcgrad.api.python.blocks.cells import cells_of, listed, taken_apart
from funcgrad.api.python.blocks.known import is_traced, operations_of
from funcgrad.api.python.blocks.loops import INDEX, Items, Trip, finish_counted, recorded_trip, repeated
from funcgrad.api.python.blocks.recording import Place, with_places
from funcgrad.api.python.whole_numbers import outgrows
from funcgrad.errors import FuncgradError, TracedBranchError
from funcgrad.tracing.tracer import Tracer

if TYPE_CHECKING:
    from funcgrad.api.python.hooks import Hooks
    from funcgrad.ir.avals import Aval
    from funcgrad.tracing.recorder import Recorder

MOST_STEPS = 1_000_000
"""Operations that are done here to count trips; a loop that needs more is ended by traced values."""

MOST_FIRST_TRIPS = 2
"""Trips of a ``while`` before which it is tried whether the others can be one equation."""
FIRST_TRIPS = 64
"""A number that is multiplied at every trip outgrows 64 bits within these: no trips are counted then."""

_PYTHONS = {"b": bool, "i": int, "f": float, "c": complex}


class Recorded(NamedTuple):
    """A trip with the condition after it, and what puts a number of trips into the trace."""

    loop: Loop
    trip: Trip
    goes_on: object
    finish: Callable[[int], None]


def counted_while(hooks: Hooks, loop: Loop, test: Callable[[], Any]) -> bool:
    """Go through all that is left of a loop whose condition holds, as one equation; False where it cannot be.

    Raises FirstTripDiffers where it may be possible after another trip.
    """
    entry = loop.state.values()
    try:
        found = recorded(loop, entry, test)
        if not hooks.whole_numbers_wrap and outgrows(found.trip, 0, FIRST_TRIPS):
            return False
        numbers = Numbers.of(found)
        trips = None if numbers is None else numbers.trips()
    except FirstTripDiffers:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a recorded trip cannot do, an unrolled one may
        hooks.note(loop.block, loop.line, f"unrolled: {error}".splitlines()[0])
        return False
    if numbers is None or not is_worth_it(hooks, found.trip, FIRST_TRIPS if trips is None else trips):
        return False
    if trips is None:
        uncounted(hooks, loop, entry, test)
        return True
    hooks.note(loop.block, loop.line, f"a loop of {trips} trips that carries {listed(loop.carried)}")
    found.finish(trips)
    found.loop.state.bind(numbers.names())
    return True


def uncounted(hooks: Hooks, loop: Loop, entry: dict[str, Any], test: Callable[[], Any]) -> None:
    """Go through a loop of too many trips to be counted beforehand: as one that traced values end.

    Raises TracedBranchError where it cannot be recorded so: nobody would wait for so many trips one by one.
    """

    def run(_: Sequence[object]) -> tuple[()]:
        loop.block()
        return ()

    try:
        repeated(loop, entry, [], run, lambda _: test())[1]()
    except FuncgradError as reason:
        raise TracedBranchError(
            f"the while loop of line {loop.line} makes too many trips to be gone through one by one, "
            f"and cannot be kept a loop: {str(reason).splitlines()[0]}",
            source=here(),
            remedy="Count its trips: for k in range(n).",
        ) from reason
    hooks.note(loop.block, loop.line, f"a while loop of uncounted trips that carries {listed(loop.carried)}")


def is_number(x: object) -> bool:
    """Whether it is a number of Python's or NumPy's, and not traced."""
    return isinstance(x, int | float | complex | np.number | np.bool_)


def is_worth_it(hooks: Hooks, trip: Trip, trips: int) -> bool:
    """Whether the trips have more operations than are unrolled, some traced, and no number that outgrows."""
    if operations_of(trip) * trips <= hooks.unroll or not is_traced(trip, Items(trips, (), nothing)):
        return False
    return hooks.whole_numbers_wrap or not outgrows(trip, 0, trips)


def nothing(_: object, __: Sequence[object]) -> None:
    """A ``while`` binds no item."""


def recorded(given: Loop, before: dict[str, Any], test: Callable[[], Any]) -> Recorded:
    """A trip, and the condition after it, recorded once."""
    prepared: list[Recorded] = []

    def attempt(places: list[Tracer], objects: list[Place]) -> None:
        appended = Appended(objects)
        loop, entry = with_objects(given, before, [*appended.others, *appended.last])
        decided: list[object] = []

        def run(lead: list[Tracer], _: list[Tracer]) -> list[Any]:
            with appended.taken(cells_of(loop.block)):
                loop.block()
                decided[:] = [condition(test())]
            return [lead[0] + 1]  # type: ignore[operator]

        trip = recorded_trip(loop, entry, places, [INDEX], (), run, appended)

        def finish(trips: int) -> None:
            finish_counted(loop, entry, trip, places, (), 0, trips, appended)

        prepared[:] = [Recorded(loop, trip, decided[0], finish)]

    with_places(attempt)
    return prepared[0]


class Numbers:
    """The carried numbers that follow from one another alone, and what they are after each trip."""

    def __init__(self, found: Recorded, goes_on: int) -> None:
        recorder, trip = found.trip.traced.recorder, found.trip
        self.found = found
        self.goes_on = goes_on
        slots = [slot for slot in trip.carried.slots if slot.aval is not None]
        self.slots = {k: slot for k, slot in enumerate(slots, 1) if is_number(slot.start)}
        self.after = {k: trip.traced.outputs[k] for k in self.slots}
        self.constants = {i: x for i, x in recorder.values.items() if type(x) is not Tracer}
        self.known = self.constants.keys() | self.slots.keys()
        while True:
            self.known = following(recorder, self.constants.keys() | self.slots.keys())
            lost = [k for k, index in self.after.items() if index not in self.known]
            if not lost:
                break
            for k in lost:
                del self.slots[k], self.after[k]
        self.values: dict[int, Any] = {}

    @classmethod
    def of(cls, found: Recorded) -> Numbers | None:
        """The numbers that decide; None where something else does."""
        goes_on = found.goes_on
        if type(goes_on) is not Tracer or goes_on._recorder is not found.trip.traced.recorder:
            return None
        made = cls(found, goes_on._index)
        return made if made.goes_on in made.known and made.slots else None

    def trips(self) -> int | None:
        """How many trips there are; None where there are too many to be counted."""
        recorder = self.found.trip.traced.recorder
        plan = list(self.plan(recorder))
        env = dict(self.constants)
        avals: dict[int, Aval] = {k: recorder.avals[k] for k in self.slots}
        now = {k: avals[k].dtype.type(slot.start) for k, slot in self.slots.items()}
        with np.errstate(all="ignore"):
            for trip in range(1, MOST_STEPS // max(len(plan), 1)):
                env.update(now)
                for index in plan:
                    primitive, *operands = recorder.steps[index]
                    out = primitive.evaluate(*[env[k] for k in operands])
                    env.update(enumerate(out, index) if primitive.multiple else [(index, out)])
                now = {k: avals[k].dtype.type(env[index]) for k, index in self.after.items()}
                if not env[self.goes_on]:
                    self.values = now
                    return trip
        return None

    def plan(self, recorder: Recorder) -> Iterator[int]:
        """The operations that the numbers after a trip, and the condition, depend on."""
        needed: set[int] = set()
        stack = [self.goes_on, *self.after.values()]
        while stack:
            index = stack.pop()
            step = recorder.steps[index]
            if type(step) is int:
                index -= step
                step = recorder.steps[index]
            if index not in needed and index not in self.constants and type(step) is tuple:
                needed.add(index)
                stack += step[1:]
        yield from sorted(needed)

    def names(self) -> dict[str, Any]:
        """The names of those numbers, with what they are after the last trip."""
        values = self.found.trip.carried.values
        alone = {k: slot for k, slot in self.slots.items() if values[slot.name].treedef == ALONE}
        kept = {k: slot for k, slot in alone.items() if slot.name not in self.found.trip.invariant}
        return {slot.name: as_given(self.values[k], slot.start) for k, slot in kept.items()}


ALONE = taken_apart(0).treedef
"""The structure of a name that is bound to one number."""


def following(recorder: Recorder, given: set[int]) -> set[int]:
    """What of a trace follows from these values alone."""
    known = set(given)
    for index, step in enumerate(recorder.steps):
        if type(step) is int:
            if index - step in known:
                known.add(index)
        elif type(step) is tuple and all(k in known for k in step[1:]):
            known.add(index)
    return known


def as_given(value: np.generic, start: object) -> object:
    """A number of Python's where it began as one."""
    return value if isinstance(start, np.generic) else _PYTHONS[value.dtype.kind](value)
