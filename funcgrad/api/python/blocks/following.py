"""Numbers of a loop that follow from one another alone: done here, trip by trip, before the loop is.

They decide how many trips a ``while`` makes, and which trips append to a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.tracing.tracer import Tracer

if TYPE_CHECKING:
    from funcgrad.api.python.blocks.loops import Trip
    from funcgrad.ir.avals import Aval
    from funcgrad.tracing.recorder import Recorder

MOST_STEPS = 1_000_000
"""Operations that are done here; what needs more is left to traced values."""


def is_number(x: object) -> bool:
    """Whether it is a number of Python's or NumPy's, and not traced."""
    return isinstance(x, int | float | complex | np.number | np.bool_)


class Following:
    """The carried numbers of a trip that follow from themselves, and what they are after each.

    `given` are the rows of which each trip takes one, after the index and the carry: known arrays.
    """

    def __init__(self, trip: Trip, goes_on: int, first: int = 0, given: Sequence[Any] = ()) -> None:
        recorder = trip.traced.recorder
        self.operands = trip.traced.operands
        self.recorder, self.goes_on, self.first, self.given = recorder, goes_on, first, given
        slots = [slot for slot in trip.carried.slots if slot.aval is not None]
        self.first_row = 1 + len(slots)
        self.rows = {k: x for k, x in enumerate(given, self.first_row) if isinstance(x, np.ndarray)}
        self.slots = {k: slot for k, slot in enumerate(slots, 1) if is_number(slot.start)}
        self.after = {k: trip.traced.outputs[k] for k in self.slots}
        self.constants = {i: x for i, x in recorder.values.items() if type(x) is not Tracer}
        self.known: set[int] = set()
        while True:
            self.known = following(recorder, {0, *self.rows, *self.constants, *self.slots})
            lost = [k for k, index in self.after.items() if index not in self.known]
            if not lost:
                break
            for k in lost:
                del self.slots[k], self.after[k]
        self.values: dict[int, Any] = {}

    def is_known(self, index: int) -> bool:
        """Whether a value of the trace follows from these numbers alone."""
        return index in self.known

    def trips(self) -> int | None:
        """How many trips there are; None where there are too many to be counted."""
        plan = list(self.plan([self.goes_on]))
        for trip, env in enumerate(self.each(plan, MOST_STEPS // max(len(plan), 1)), 1):
            if not env[self.goes_on]:
                self.settle(plan)
                return trip
        return None

    def each(self, plan: Sequence[int], trips: int) -> Iterator[dict[int, Any]]:
        """The values of each trip, of which there are so many at most."""
        recorder = self.recorder
        env = dict(self.constants)
        avals: dict[int, Aval] = {k: recorder.avals[k] for k in self.slots}
        now = {k: avals[k].dtype.type(slot.start) for k, slot in self.slots.items()}
        with np.errstate(all="ignore"):
            for trip in range(self.first, self.first + trips):
                env.update(now)
                env[0] = recorder.avals[0].dtype.type(trip)
                env.update({k: x[trip] for k, x in self.rows.items()})
                for index in plan:
                    primitive, *operands = recorder.steps[index]
                    out = primitive.evaluate(*[env[k] for k in operands])
                    env.update(enumerate(out, index) if primitive.multiple else [(index, out)])
                self.values = now = {k: avals[k].dtype.type(env[index]) for k, index in self.after.items()}
                yield env

    def columns(self, wanted: Sequence[int], trips: int) -> list[Any] | None:
        """What these values are in each trip; None where they follow from others too, or take too long."""
        plan = list(self.plan(wanted))
        if not all(self.is_known(k) for k in wanted) or len(plan) * trips > MOST_STEPS:
            return None
        rows = [[env[k] for k in wanted] for env in self.each(plan, trips)]
        self.settle(plan)
        return list(np.array(rows, bool).reshape(trips, len(wanted)).T)

    def settle(self, plan: Sequence[int]) -> None:
        """Have the loop compute with the arrays that its trips were decided by as they are now.

        What somebody changes later is read once, as all else that decides what is recorded.
        """
        read = {k for index in plan for k in self.recorder.steps[index][1:]}
        kept = {id(x): x.copy() for k, x in self.constants.items() if k in read and np.ndim(x)}
        self.operands[:] = [kept.get(id(x), x) for x in self.operands]
        if isinstance(self.given, list):
            for k in read & self.rows.keys():
                self.given[k - self.first_row] = self.rows[k].copy()

    def plan(self, wanted: Sequence[int]) -> Iterator[int]:
        """The operations that the numbers after a trip, and what is wanted, depend on."""
        recorder = self.recorder
        needed: set[int] = set()
        stack = [*wanted, *self.after.values()]
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
