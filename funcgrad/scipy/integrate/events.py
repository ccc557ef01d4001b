"""The times of events: zeros along a trajectory that a solver has found, as solutions of equations.

SciPy says when they are; that each is a zero of its function says how it moves. The time at which a terminal
event ends the integration is the same, where none did it is the end of the span.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.numpy.elementwise.selection import where
from funcgrad.ops.arrays.structure import reshape
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.derived import applied, composed
from funcgrad.scipy.integrate.start import Start
from funcgrad.scipy.integrate.trajectory import FACTS, Trajectory, facts, reals
from funcgrad.scipy.optimize.options import found, report
from funcgrad.scipy.recorded import FLOAT, Known, scalar_function
from funcgrad.transforms.solved.implicit import Implicit
from funcgrad.transforms.solved.method import Method, Programs
from funcgrad.types import Array

Function = Callable[..., Any]

NUMBER = Aval((), FLOAT)
NONE = -1
"""The number of the event that ended the integration, where none did."""


@dataclass(frozen=True)
class Watch:
    """What makes a zero of its function an event, as SciPy reads it from the function."""

    terminal: Any
    direction: float


@dataclass(frozen=True)
class EventTimes(Implicit):
    """Zeros that are known already: each equation holds one time."""

    elementwise = True

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        return values[0], *report(True)


@dataclass(frozen=True)
class Occurrence(Method):
    """``end, start, state, parameters, parameters of every event -> a time, what ended the integration``

    The time is that of `which`, an event and one of its occurrences, or of the end of the integration. The
    Programs are the right-hand side, the one system of which the state holds copies, and the events.
    """

    trajectory: Trajectory
    watches: tuple[Watch, ...]
    which: tuple[int, int] | None
    differentiable = False

    def results(self, programs: Programs, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        return NUMBER, Aval((), np.int64), *FACTS

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        outcome, end, ended = searched(self.trajectory, programs, self.watches, values, None)
        return self.chosen(outcome.t_events, end), ended, *facts(outcome)

    def chosen(self, times: Sequence[Any], end: float) -> float:
        """The time that was asked for; raises IndexError where the event did not happen as often."""
        if self.which is None:
            return end
        event, k = self.which
        count = len(times[event])
        if not -count <= k < count:
            raise IndexError(f"t_events[{event}][{k}] of solve_ivp: event {event} happened {count} times")
        return float(times[event][k])


def searched(
    trajectory: Trajectory, programs: Programs, watches: Sequence[Watch], values: Sequence[Any], times: Array
) -> tuple[Any, float, int]:
    """SciPy's result with its events, when the integration ended, and which event ended it."""
    count = len(programs[0].inputs) + 1
    rest = list(values[count:])
    watched = []
    for program, watch in zip(programs[2:], watches, strict=True):
        size = len(program.inputs) - 2
        watched.append(with_values(program, watch, rest[:size]))
        rest = rest[size:]
    outcome = trajectory.outcome(programs[:2], values[:count], times, watched or None)
    if outcome.status != 1:
        return outcome, float(values[0]), NONE
    last = [
        (abs(t[-1] - float(values[1])), t[-1], k)
        for k, (t, watch) in enumerate(zip(outcome.t_events, watches, strict=True))
        if watch.terminal and len(t)
    ]
    _, end, ended = max(last)
    return outcome, float(end), ended


def with_values(program: Program, watch: Watch, constants: Sequence[Any]) -> Function:
    """The event as SciPy calls it."""

    def event(t: float, y: Array) -> float:
        return float(program.evaluate(np.float64(t), reals(y), *constants)[0])

    event.terminal = watch.terminal  # type: ignore[attr-defined]
    event.direction = watch.direction  # type: ignore[attr-defined]
    return event


class Events:
    """The functions whose zeros are looked for along a trajectory, recorded."""

    __slots__ = ("known", "start", "watches")

    def __init__(self, start: Start, functions: Sequence[Function], args: Sequence[Any]) -> None:
        avals = [NUMBER, aval_of(start.state).strong]
        self.known = [scalar_function(f, avals, "solve_ivp", args) for f in functions]
        self.watches = tuple(
            [Watch(getattr(f, "terminal", False), getattr(f, "direction", 0)) for f in functions]
        )
        self.start = start._replace(method=replace(start.method, cut=self.terminal))

    @property
    def terminal(self) -> bool:
        """Whether one of them ends the integration."""
        return any(bool(watch.terminal) for watch in self.watches)

    @property
    def programs(self) -> Programs:
        """The Programs that a search is handed."""
        return *self.start.programs, *[one.program for one in self.known]

    @property
    def values(self) -> list[Any]:
        """The inputs that a search is handed."""
        start, constants = self.start, [x for one in self.known for x in one.constants]
        return [start.ends[1], start.ends[0], start.state, *start.rhs.constants, *constants]

    def occurrence(self, which: tuple[int, int] | None) -> Sequence[Any]:
        """When, as numbers without derivatives, which need no values now."""
        return found(Occurrence(self.start.method, self.watches, which), self.programs, self.values)

    def times(self, event: int, times: Array, ended: Array = None) -> Array:
        """The times of an event as the zeros that they are, so that they have derivatives.

        With `ended`, which event ended the integration, it is an event that may not have happened.
        """
        start, known = self.start, self.known[event]
        end, begin, _, *rest = start.inputs(times)
        flag = [] if ended is None else [ended]
        equations = event_equations(start, known, aval_of(times).size, None if ended is None else event)
        given = [times, end, begin, *rest, *known.constants, *flag]
        return found(EventTimes("solve_ivp"), (equations,), given)[0]

    def ending(self, time: Array, ended: Array) -> Array:
        """The time at which the integration ended: of the event that ended it, or the end of the span."""
        moving: Any = self.start.ends[1]
        for k, watch in enumerate(self.watches):
            if watch.terminal:
                moving = where(ended == k, self.times(k, reshape(time, (1,)), ended)[0], moving)
        return moving


def event_equations(start: Start, known: Known, count: int, event: int | None) -> Program:
    """``times, end, start, state, parameters of the trajectory, of the event -> values of the event``

    With the number of the event another input says which one ended the integration; where it is another, the
    equations are those of the end of the span.
    """
    method, programs, fixed = start.method, start.programs, len(start.rhs.constants)
    size = len(known.constants)
    vector = Aval((count,), FLOAT)
    others = [aval_of(x).strong for x in (*start.ends[::-1], start.state, *start.rhs.constants)]
    flag = [] if event is None else [Aval((), np.int64)]
    avals = [vector, *others, *known.program.in_avals[2:], *flag]

    def values(times: Array, end: Array, begin: Array, state: Array, *rest: Array) -> list[Any]:
        constants, others = rest[:fixed], rest[fixed:]
        states = found(method, programs, [end, begin, times, state, *constants])[0]
        one = [applied(known.program, [times[k], states[k], *others[:size]])[0] for k in range(count)]
        values = np.stack(one)
        return [values if event is None else where(others[size] == event, values, times - end)]

    return composed(values, avals, "events")
