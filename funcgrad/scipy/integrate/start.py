"""An initial value problem with all that it depends on, and the results that SciPy's object holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.ir.program import Program
from funcgrad.ops.elementwise.complexes import make_complex
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.integrate.trajectory import Trajectory, scipys
from funcgrad.scipy.optimize.options import IN_A_TRACE, found
from funcgrad.scipy.recorded import Known, real_vector
from funcgrad.types import Array, ArrayLike, ScipyResult


class Start(NamedTuple):
    """An initial value problem with what it depends on."""

    method: Trajectory
    rhs: Known
    ends: tuple[Any, Any]
    state: Any

    @property
    def programs(self) -> tuple[Program, Program]:
        """The right-hand side, which is the one system there is."""
        return self.rhs.program, self.rhs.program

    def at(self, times: ArrayLike) -> Sequence[Any]:
        """States at the times as users see them, and the report."""
        states, *report = found(self.method, self.programs, self.inputs(times))
        return self.shown(states), *report

    def shown(self, states: Array) -> Array:
        """States as users see them: complex ones of their parts, which follow each other in the last axis."""
        if not self.method.paired:
            return states
        n = aval_of(self.state).size // 2
        return make_complex.bind(states[..., :n], states[..., n:])

    def inputs(self, times: ArrayLike) -> list[Any]:
        """The inputs of the trajectory."""
        return [self.ends[1], self.ends[0], times, self.state, *self.rhs.constants]


class DenseOutput:
    """``sol(t)``: the states at any times between the ends, differentiable by the times as well."""

    __slots__ = ("_start",)

    def __init__(self, start: Start) -> None:
        self._start = start

    def __call__(self, t: Array) -> Array:
        """States at a time, or in columns at every time of a vector, which must be sorted."""
        shape = aval_of(np.asarray(t) if isinstance(t, list | tuple) else t).shape
        times = real_vector(t, "the solution")
        states = self._start.at(times)[0]
        return states.T if shape else states[0]


def solution(
    times: ArrayLike,
    states: Array,
    report: Sequence[Any],
    dense: Start | None,
    message: str = IN_A_TRACE,
    **events: object,
) -> ScipyResult:
    """SciPy's object for results; the report is success, status and what was counted."""
    success, status, nfev, njev, nlu = report
    return scipys("_ivp").ivp.OdeResult(
        t=times,
        y=states,
        sol=None if dense is None else DenseOutput(dense),
        t_events=events.get("t_events"),
        y_events=events.get("y_events"),
        nfev=nfev,
        njev=njev,
        nlu=nlu,
        status=status,
        message=message,
        success=success,
    )
