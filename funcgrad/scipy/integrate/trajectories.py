"""Initial value problems: `solve_ivp` and `odeint`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.errors import ConcretizationError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.numpy.joining import concatenate
from funcgrad.ops.families import aval as aval_of
from funcgrad.ops.structure import reshape
from funcgrad.scipy.derived import applied, composed
from funcgrad.scipy.integrate.event_times import EventTimes
from funcgrad.scipy.integrate.native import integrated
from funcgrad.scipy.integrate.trajectory import Trajectory, scipys
from funcgrad.scipy.optimize.options import IN_A_TRACE, found, frozen
from funcgrad.scipy.recorded import (
    FLOAT,
    Known,
    as_args,
    is_plain,
    real_scalar,
    real_vector,
    scalar_function,
    vector_function,
)
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer

__all__ = ["odeint", "solve_ivp"]

Function = Callable[..., Any]

METHODS = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
NUMBER = Aval((), FLOAT)


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

    def at(self, times: Any, end: Any = None) -> Sequence[Any]:
        """States at the times, and the report."""
        stop = self.ends[1] if end is None else end
        return found(self.method, self.programs, [stop, self.ends[0], times, self.state, *self.rhs.constants])

    def parameters(self, end: Any) -> list[Any]:
        """The inputs of the trajectory but for the times."""
        return [end, self.ends[0], self.state, *self.rhs.constants]


class DenseOutput:
    """``sol(t)``: the states at any times between the ends, differentiable by the times as well."""

    __slots__ = ("_start",)

    def __init__(self, start: Start) -> None:
        self._start = start

    def __call__(self, t: Any) -> Any:
        """States at a time, or in columns at every time of a vector, which must be sorted."""
        shape = aval_of(np.asarray(t) if isinstance(t, list | tuple) else t).shape
        times = real_vector(t, "the solution")
        states = self._start.at(times)[0]
        return states.T if shape else states[0]


def solve_ivp(
    fun: Function,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    *,
    adjoint: bool | None = None,
    native: bool = False,
    **options: Any,
) -> Any:
    """The solution of an initial value problem, by `scipy.integrate.solve_ivp`; SciPy's object for results.

    Differentiable in the start, the span, `t_eval` and all that `fun` depends on. Derivatives are integrated
    forwards beside the states, or backwards where there are many parameters; `adjoint` says which. Without
    `t_eval` the times are those of the solver's steps, which need values: in `jit` and `vmap` give `t_eval`.
    The times of events are differentiable, too.

    With ``native=True`` a solver of our own takes the steps (Dormand and Prince's, or for methods for stiff
    systems a Rosenbrock method, Rodas4): `fg.jit` compiles it whole, and under `vmap` each trajectory has
    steps of its own. It takes `rtol`, `atol`, `first_step`, `max_step` and `max_steps`.

    >>> def height(v):
    ...     fly = lambda t, y: [y[1], -9.81]
    ...     return fg.scipy.integrate.solve_ivp(fly, (0.0, 1.0), [0.0, v], t_eval=[1.0]).y[0, 0]
    >>> print(round(height(10.0), 6), round(fg.grad(height)(10.0), 6))
    5.095 1.0

    The time of an event:

    >>> def landing(v):
    ...     down = lambda t, y: y[0] + 1e-9
    ...     down.terminal = True
    ...     fly = lambda t, y: [y[1], -9.81]
    ...     return fg.scipy.integrate.solve_ivp(fly, (0.0, 9.0), [0.0, v], events=down).t_events[0][0]
    >>> print(round(landing(10.0), 4), round(fg.grad(landing)(10.0), 4))
    2.0387 0.2039
    """
    extra = () if args is None else as_args(args)
    if native:
        refused = dense_output or events is not None
        times, states, ok, tried = integrated(fun, t_span, y0, method, t_eval, extra, refused, options)
        return solution(times, states, ok, np.where(ok, 0, -1), tried, None)
    if is_plain(t_span, y0, t_eval, extra, options.get("rtol"), options.get("atol")):
        return scipys("solve_ivp")(
            fun, t_span, y0, method, t_eval, dense_output, events, vectorized, args, **options
        )
    if method not in METHODS:
        raise ValueError(f"`method` must be one of {METHODS} inside a trace.")
    options.pop("jac", None), options.pop("jac_sparsity", None)
    t0, tf = (real_scalar(t, "solve_ivp") for t in t_span)
    rhs, state = right_hand_side(fun, y0, "solve_ivp", extra)
    start = Start(Trajectory(method, frozen(hashable_tolerances(options)), adjoint), rhs, (t0, tf), state)
    watched = [] if events is None else events if isinstance(events, list | tuple) else [events]
    if t_eval is None or watched:
        return with_steps(start, watched, extra, t_eval, dense_output, options)
    times = real_vector(t_eval, "solve_ivp")
    states, success, status, nfev = start.at(times)
    return solution(times, states, success, status, nfev, start if dense_output else None)


def hashable_tolerances(options: dict[str, Any]) -> dict[str, Any]:
    """The options, with tolerances of single states as tuples."""
    atol = options.get("atol")
    if atol is None or not np.ndim(atol):
        return options
    return {**options, "atol": tuple(float(x) for x in np.asarray(atol))}


def solution(
    times: Any, states: Any, success: Any, status: Any, nfev: Any, dense: Start | None, **events: Any
) -> Any:
    """SciPy's object for results."""
    return scipys("_ivp").ivp.OdeResult(
        t=times,
        y=states.T,
        sol=None if dense is None else DenseOutput(dense),
        t_events=events.get("t_events"),
        y_events=events.get("y_events"),
        nfev=nfev,
        njev=0,
        nlu=0,
        status=status,
        message=IN_A_TRACE,
        success=success,
    )


def right_hand_side(fun: Function, y0: Any, what: str, args: Sequence[Any]) -> tuple[Known, Any]:
    """The recorded right-hand side and the state at the start; raises for what is no real vector."""
    given = asoperand(y0)
    if aval_of(given).ndim > 1:
        raise ShapeError("`y0` must be 1-dimensional.")
    state = real_vector(given, what)
    seen = aval_of(state).strong
    rhs = vector_function(fun, [NUMBER, seen], what, args)
    if rhs.program.out_avals[0].shape != seen.shape:
        raise ShapeError(
            f"the right-hand side given to {what} must return {seen.size} slopes, one for each state, and "
            f"returned {rhs.program.out_avals[0].size}"
        )
    return rhs, state


# -- steps and events, which need values ---------------------------------------------------------------------


def concrete(x: Any, what: str) -> Any:
    """The value of what may be traced; raises ConcretizationError where there is none."""
    if not isinstance(x, Tracer):
        return x
    try:
        return x.concrete()
    except ConcretizationError:
        raise ConcretizationError(
            f"{what} of solve_ivp are as many as the values say, and no values exist under this transform",
            source=Source(*user_location()),
            remedy="Give the times in t_eval, and leave out events; native=True has its own steps.",
        ) from None


def with_steps(
    start: Start, events: Sequence[Function], args: Sequence[Any], t_eval: Any, dense: bool, options: Any
) -> Any:
    """The solution at the solver's own steps, or with events: found with values first, then recorded."""
    what = "the events" if events else "the steps"
    t0, tf, state = (concrete(x, what) for x in (*start.ends, start.state))
    constants = [concrete(x, what) for x in start.rhs.constants]
    program = start.rhs.program
    watched = [event_function(e, start, args) for e in events]

    def slope(t: float, y: Any) -> Any:
        return program.evaluate(np.float64(t), np.asarray(y, float), *constants)[0]

    wanted = None if t_eval is None else concrete(real_vector(t_eval, "solve_ivp"), what)
    seen = scipys("solve_ivp")(
        slope,
        (float(t0), float(tf)),
        state,
        start.method.solver,
        wanted,
        False,
        [e.with_values(what) for e in watched] or None,
        **options,
    )
    stopped = seen.status == 1
    end = seen.t[-1] if not stopped else max_time(seen, watched)
    t_events, y_events = [], []
    for event, times in zip(watched, seen.t_events or (), strict=True):
        at = event.times(times, end) if len(times) else times
        t_events.append(at)
        y_events.append(start.at(at, end)[0] if len(times) else np.zeros((0, len(state))))
    if wanted is not None:
        times = real_vector(t_eval, "solve_ivp")[: len(seen.t)]
    else:
        last = start.ends[1]
        if stopped:
            last = next(t[-1] for t, found_ in zip(t_events, seen.t_events, strict=True) if end in found_)
        times = concatenate([reshape(start.ends[0], (1,)), seen.t[1:-1], reshape(last, (1,))])
    states, success, _, nfev = start.at(times, end)
    extra = {"t_events": t_events, "y_events": y_events} if events else {}
    begun = start if not stopped else start._replace(ends=(start.ends[0], end))
    return solution(times, states, success, seen.status, nfev, begun if dense else None, **extra)


def max_time(seen: Any, watched: Sequence[Event]) -> Any:
    """When a terminal event ended the integration."""
    found_ = [t[-1] for e, t in zip(watched, seen.t_events, strict=True) if e.terminal and len(t)]
    return max(found_, key=lambda t: abs(t - seen.t[0]))


class Event:
    """A function whose zeros are looked for along a trajectory."""

    __slots__ = ("_function", "_known", "_start", "terminal")

    def __init__(self, function: Function, known: Known, start: Start) -> None:
        self._function = function
        self._known = known
        self._start = start
        self.terminal = getattr(function, "terminal", False)

    def with_values(self, what: str) -> Function:
        """The event as SciPy calls it."""
        constants = [concrete(x, what) for x in self._known.constants]
        program = self._known.program

        def event(t: float, y: Any) -> float:
            return float(program.evaluate(np.float64(t), np.asarray(y, float), *constants)[0])

        for name in ("terminal", "direction"):
            if hasattr(self._function, name):
                setattr(event, name, getattr(self._function, name))
        return event

    def times(self, times: Any, end: Any) -> Any:
        """The times as the zeros that they are, so that they have derivatives."""
        start = self._start
        inputs = start.parameters(np.float64(end))
        equations = event_equations(start, self._known.program, len(times), inputs)
        return found(EventTimes("solve_ivp"), (equations,), [times, *inputs, *self._known.constants])[0]


def event_function(event: Function, start: Start, args: Sequence[Any]) -> Event:
    """An event, recorded."""
    known = scalar_function(event, [NUMBER, aval_of(start.state).strong], "solve_ivp", args)
    return Event(event, known, start)


def event_equations(start: Start, event: Program, count: int, inputs: Sequence[Any]) -> Program:
    """``times, parameters of the trajectory, parameters of the event -> values of the event``"""
    method, programs = start.method, start.programs
    n = len(inputs)

    def values(times: Any, *rest: Any) -> list[Any]:
        (end, begin, state, *constants), others = rest[:n], rest[n:]
        states = found(method, programs, [end, begin, times, state, *constants])[0]
        one = [applied(event, [times[k], states[k], *others])[0] for k in range(count)]
        return [np.stack(one)]

    avals = [Aval((count,), FLOAT), *[aval_of(x).strong for x in inputs], *event.in_avals[2:]]
    return composed(values, avals, "events")


# -- the older interface -------------------------------------------------------------------------------------


def odeint(
    func: Function,
    y0: Any,
    t: Any,
    args: Any = (),
    Dfun: Any = None,
    col_deriv: bool = False,
    full_output: bool = False,
    ml: Any = None,
    mu: Any = None,
    rtol: Any = None,
    atol: Any = None,
    tcrit: Any = None,
    h0: float = 0.0,
    hmax: float = 0.0,
    hmin: float = 0.0,
    ixpr: bool = False,
    mxstep: int = 0,
    mxhnil: int = 0,
    mxordn: int = 12,
    mxords: int = 5,
    printmessg: bool = False,
    tfirst: bool = False,
) -> Any:
    """States of an initial value problem at the times `t`, by LSODA; see `solve_ivp`.

    >>> def decayed(rate):
    ...     return fg.scipy.integrate.odeint(lambda y, t: -rate * y, [1.0], [0.0, 1.0])[-1, 0]
    >>> print(round(decayed(2.0), 5), round(fg.grad(decayed)(2.0), 5))
    0.13534 -0.13534
    """
    if is_plain(y0, t, args):
        return scipys("odeint")(
            func, y0, t, as_args(args), Dfun, col_deriv, full_output, ml, mu, rtol, atol, tcrit,
            h0, hmax, hmin, ixpr, mxstep, mxhnil, mxordn, mxords, printmessg, tfirst,
        )  # fmt: skip
    given = {"rtol": rtol, "atol": atol, "h0": h0, "hmax": hmax, "hmin": hmin, "mxstep": mxstep}
    options = {key: value for key, value in given.items() if value}
    times = real_vector(t, "odeint")

    def slope(now: Any, y: Any, *rest: Any) -> Any:
        return func(now, y, *rest) if tfirst else func(y, now, *rest)

    slope.__name__ = getattr(func, "__name__", "slope")
    rhs, state = right_hand_side(slope, y0, "odeint", as_args(args))
    method = Trajectory("odeint", frozen(hashable_tolerances(options)))
    start = Start(method, rhs, (times[0], times[-1]), state)
    states = start.at(times)[0]
    return (states, {"message": IN_A_TRACE}) if full_output else states
