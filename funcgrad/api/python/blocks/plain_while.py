"""``while t < end`` where the numbers of Python's that decide come of one another alone.

Such a loop has a known number of trips, and no counter that says so. One trip is recorded; the few operations
of it by which those numbers follow from themselves are done here, trip by trip, until the condition fails.
Then it is a loop over a known number of items like any other, after which those numbers are numbers again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.python.blocks.appending import Appended
from funcgrad.api.python.blocks.branches import condition
from funcgrad.api.python.blocks.carried import FirstTripDiffers, Loop, with_objects
from funcgrad.api.python.blocks.cells import cells_of, listed, taken_apart
from funcgrad.api.python.blocks.following import Following
from funcgrad.api.python.blocks.known import is_traced, operations_of
from funcgrad.api.python.blocks.loops import (
    INDEX,
    Items,
    Trip,
    decide,
    finish_counted,
    recorded_trip,
    repeated,
)
from funcgrad.api.python.blocks.recording import Place, with_places
from funcgrad.api.python.whole_numbers import outgrows
from funcgrad.errors import FuncgradError, TracedBranchError
from funcgrad.tracing.tracer import Tracer

if TYPE_CHECKING:
    from funcgrad.api.python.hooks import Hooks

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
            decide(appended, loop, trip, 0, trips, ())
            finish_counted(loop, entry, trip, places, (), 0, trips, appended)

        prepared[:] = [Recorded(loop, trip, decided[0], finish)]

    with_places(attempt)
    return prepared[0]


class Numbers:
    """The carried numbers that decide about a ``while``, and what they are after its trips."""

    def __init__(self, found: Recorded, following: Following) -> None:
        self.found = found
        self.following = following

    @classmethod
    def of(cls, found: Recorded) -> Numbers | None:
        """The numbers that decide; None where something else does."""
        goes_on = found.goes_on
        if type(goes_on) is not Tracer or goes_on._recorder is not found.trip.traced.recorder:
            return None
        following = Following(found.trip, goes_on._index)
        return cls(found, following) if following.is_known(goes_on._index) and following.slots else None

    def trips(self) -> int | None:
        """How many trips there are; None where there are too many to be counted."""
        return self.following.trips()

    def names(self) -> dict[str, Any]:
        """The names of those numbers, with what they are after the last trip."""
        values, following = self.found.trip.carried.values, self.following
        alone = {k: slot for k, slot in following.slots.items() if values[slot.name].treedef == ALONE}
        kept = {k: slot for k, slot in alone.items() if slot.name not in self.found.trip.invariant}
        return {slot.name: as_given(following.values[k], slot.start) for k, slot in kept.items()}


ALONE = taken_apart(0).treedef
"""The structure of a name that is bound to one number."""


def as_given(value: np.generic, start: object) -> object:
    """A number of Python's where it began as one."""
    return value if isinstance(start, np.generic) else _PYTHONS[value.dtype.kind](value)
