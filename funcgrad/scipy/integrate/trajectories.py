"""Initial value problems: `solve_ivp` and `odeint`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.errors import ConcretizationError, ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.numpy.arrays.joining import concatenate
from funcgrad.ops.arrays.structure import reshape
from funcgrad.ops.elementwise.complexes import make_complex
from funcgrad.ops.families import aval as aval_of
from funcgrad.scipy.integrate.checks import (
    check_complex,
    check_options,
    check_times,
    events_of,
    method_name,
    native_method,
    unpacked,
)
from funcgrad.scipy.integrate.events import NONE, Events, searched
from funcgrad.scipy.integrate.native import integrated
from funcgrad.scipy.integrate.start import Start, solution
from funcgrad.scipy.integrate.trajectory import Trajectory, facts, scipys
from funcgrad.scipy.integrate.unlisted import Unlisted
from funcgrad.scipy.optimize.options import IN_A_TRACE, frozen
from funcgrad.scipy.recorded import FLOAT, Known, as_args, is_plain, real_scalar, real_vector, vector_function
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, ExtraArguments, Number, Option, ScipyResult

Function = Callable[..., Any]

NUMBER = Aval((), FLOAT)


def solve_ivp(
    fun: Function,
    t_span: ArrayLike,
    y0: ArrayLike,
    method: Option = "RK45",
    t_eval: ArrayLike = None,
    dense_output: bool = False,
    events: Option = None,
    vectorized: bool = False,
    args: ExtraArguments = None,
    *,
    adjoint: bool | None = None,
    native: bool = False,
    **options: Option,
) -> ScipyResult:
    """The solution of an initial value problem, by `scipy.integrate.solve_ivp`; SciPy's object for results.

    Differentiable in the start, the span, `t_eval` and all that `fun` depends on. Derivatives are integrated
    forwards beside the states, or backwards where there are many parameters; `adjoint` says which. The times
    of events are differentiable, too. Without `t_eval` the times are those of the solver's steps, as many as
    the values say: in `jit` and `vmap` the ends can be taken (``y[:, -1]``), and single events
    (``t_events[0][0]``, an IndexError where it did not happen).

    With ``native=True`` a solver of our own takes the steps, Dormand and Prince's ("RK45") or for stiff
    systems a Rosenbrock method ("Rodas4"): `fg.jit` compiles it whole, and under `vmap` each trajectory has
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
    if native:
        extra = unpacked(args)
        refused = dense_output or events is not None
        check_problem(t_span, y0, t_eval, options)
        method = native_method(method)
        times, states, ok, tried = integrated(fun, t_span, y0, method, t_eval, extra, refused, options)
        return solution(times, states.T, [ok, np.where(ok, 0, -1), tried, 0, 0], None)
    if is_plain(t_span, y0, t_eval, args, options.get("rtol"), options.get("atol")):
        return scipys("solve_ivp")(
            fun, t_span, y0, method, t_eval, dense_output, events, vectorized, args, **options
        )
    method, extra, watched = method_name(method), unpacked(args), events_of(events)
    check_problem(t_span, y0, t_eval, options)
    if vectorized:
        fun = of_columns(fun)
    options.pop("jac", None), options.pop("jac_sparsity", None)
    t0, tf = (real_scalar(t, "solve_ivp") for t in t_span)
    paired = aval_of(asoperand(y0)).dtype.kind == "c"
    if paired:
        check_complex(method)
        fun, y0, watched = of_parts(fun), parts_of(y0), [of_parts(event, ()) for event in watched]
    rhs, state = right_hand_side(fun, y0, "solve_ivp", extra)
    trajectory = Trajectory(method, frozen(hashable_tolerances(options)), adjoint, paired=paired)
    start = Start(trajectory, rhs, (t0, tf), state)
    if t_eval is None or watched:
        return with_steps(Events(start, watched, extra), t_eval, dense_output)
    times = real_vector(t_eval, "solve_ivp")
    states, *report = start.at(times)
    return solution(times, states.T, report, start if dense_output else None)


def check_problem(t_span: ArrayLike, y0: ArrayLike, t_eval: ArrayLike, options: dict[str, Any]) -> None:
    """Raise SciPy's errors for what can be seen before anything is solved."""
    _, _ = t_span
    state = aval_of(asoperand(y0))
    if state.ndim != 1:
        raise ValueError("`y0` must be 1-dimensional.")
    if t_eval is not None:
        check_times(t_span, t_eval)
    check_options(options, t_span, state.size)


def of_columns(fun: Function) -> Function:
    """A right-hand side that takes states in columns, of one state; ``vectorized=True`` says that it does."""

    def slope(t: Array, y: Array, *args: Array) -> Array:
        return reshape(asoperand(fun(t, reshape(y, (aval_of(y).size, 1)), *args)), aval_of(y).shape)

    slope.__name__ = getattr(fun, "__name__", "slope")
    return slope


def parts_of(y: ArrayLike) -> Array:
    """The real parts of complex numbers followed by the imaginary ones."""
    value = asoperand(y)
    return concatenate([np.real(value), np.imag(value)])


def of_parts(fun: Function, returned: tuple[()] | None = None) -> Function:
    """A function of time and complex states as one of their parts; of the parts of what it returns, too."""

    def call(t: Array, z: Array, *args: Array) -> Array:
        n = aval_of(z).size // 2
        value = fun(t, make_complex.bind(z[:n], z[n:]), *args)
        return parts_of(value) if returned is None else value

    for name in ("__name__", "terminal", "direction"):
        if hasattr(fun, name):
            setattr(call, name, getattr(fun, name))
    return call


def hashable_tolerances(options: dict[str, Any]) -> dict[str, Any]:
    """The options, with tolerances of single states as tuples."""
    atol = options.get("atol")
    if atol is None or not np.ndim(atol):
        return options
    return {**options, "atol": tuple(float(x) for x in np.asarray(atol))}


def right_hand_side(fun: Function, y0: ArrayLike, what: str, args: Sequence[Any]) -> tuple[Known, Any]:
    """The recorded right-hand side and the state at the start; raises for what is no real vector."""
    given = asoperand(y0)
    if aval_of(given).ndim > 1:
        raise ShapeError("Initial condition y0 must be one-dimensional.")
    state = real_vector(given, what)
    seen = aval_of(state).strong
    rhs = vector_function(fun, [NUMBER, seen], what, args)
    if rhs.program.out_avals[0].shape != seen.shape:
        raise ShapeError(
            f"the right-hand side given to {what} must return {seen.size} slopes, one for each state, and "
            f"returned {rhs.program.out_avals[0].size}"
        )
    return rhs, state


# -- steps and events, which values decide on --------------------------------------------------------------


def with_steps(events: Events, t_eval: ArrayLike, dense: bool) -> Array:
    """The solution at the solver's own steps, or with events: found with values first, then recorded."""
    start = events.start
    wanted = None if t_eval is None else real_vector(t_eval, "solve_ivp")
    try:
        values = [concrete(x) for x in events.values]
        given = concrete(wanted)
    except ConcretizationError:
        return without_values(events, wanted, dense)
    seen, _, ended = searched(start.method, events.programs, events.watches, values, given)
    t_events, y_events = [], []
    for k, times in enumerate(seen.t_events or ()):
        # SciPy's states at no time are a vector without elements.
        t_events.append(events.times(k, times) if len(times) else times)
        y_events.append(start.at(t_events[-1])[0] if len(times) else np.zeros(0, seen.y.dtype))
    if wanted is not None:
        times = wanted[: len(seen.t)]
    else:
        last = start.ends[1] if ended == NONE else t_events[ended][-1]
        times = concatenate([reshape(start.ends[0], (1,)), seen.t[1:-1], reshape(last, (1,))])
    states = start.at(times)[0].T
    extra = {"t_events": t_events, "y_events": y_events} if events.known else {}
    return solution(times, states, facts(seen), start if dense else None, seen.message, **extra)


def concrete(x: ArrayLike) -> Array:
    """The value of what may be traced; raises ConcretizationError where there is none."""
    return x.concrete() if isinstance(x, Tracer) else x


ENDS = (
    "Its ends are known: take y[:, -1], y[:, 0], t[-1]. For other times give t_eval, or dense_output=True "
    "and call sol(t)."
)
OCCURRENCES = "Its elements are known: take t_events[0][0], y_events[0][-1]."
CUT_SHORT = "Leave out t_eval, or the terminal event: times after it are left out, as many as values say."


def without_values(events: Events, t_eval: ArrayLike, dense: bool) -> Array:
    """The solution where no values exist yet: what has a known shape, and the rest one by one."""
    start = events.start
    shape = aval_of(start.shown(start.state)).shape
    last = start.ends[1]
    if events.terminal:
        time, ended, *report = events.occurrence(None)
        last = events.ending(time, ended)
    else:
        _, *report = start.at(reshape(last, (1,)))

    def time_at(k: int) -> Array:
        return start.ends[0] if k == 0 else last

    def state_at(k: int) -> Array:
        return start.shown(start.state) if k == 0 else start.at(reshape(last, (1,)))[0][0]

    extra = occurrences(events) if events.known else {}
    if t_eval is not None and not events.terminal:
        states, *report = start.at(t_eval)
        return solution(t_eval, states.T, report, start if dense else None, **extra)
    remedy, places = (ENDS, (0, -1)) if t_eval is None else (CUT_SHORT, ())
    times = Unlisted("t of solve_ivp", remedy, time_at, (), 0, places)
    states = Unlisted("y of solve_ivp", remedy, state_at, shape, 1, places)
    return solution(times, states, report, start if dense else None, **extra)


def occurrences(events: Events) -> dict[str, Any]:
    """The times of events and the states there, each computed when it is taken."""
    start = events.start

    def moments(event: int) -> Unlisted:
        kept: dict[int, Any] = {}

        def at(k: int) -> Array:
            if k not in kept:
                kept[k] = events.times(event, reshape(events.occurrence((event, k))[0], (1,)))
            return kept[k][0]

        return Unlisted(f"t_events[{event}] of solve_ivp", OCCURRENCES, at)

    def states(event: int, times: Unlisted) -> Unlisted:
        def at(k: int) -> Array:
            return start.at(reshape(times[k], (1,)))[0][0]

        return Unlisted(
            f"y_events[{event}] of solve_ivp", OCCURRENCES, at, aval_of(start.shown(start.state)).shape
        )

    t_events = [moments(k) for k in range(len(events.known))]
    return {"t_events": t_events, "y_events": [states(k, t) for k, t in enumerate(t_events)]}


# -- the older interface -------------------------------------------------------------------------------------


def odeint(
    func: Function,
    y0: ArrayLike,
    t: ArrayLike,
    args: ExtraArguments = (),
    Dfun: Callable[..., Any] | None = None,
    col_deriv: bool = False,
    full_output: bool = False,
    ml: Number = None,
    mu: Number = None,
    rtol: ArrayLike = None,
    atol: ArrayLike = None,
    tcrit: ArrayLike = None,
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
) -> Array:
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

    def slope(now: Array, y: Array, *rest: Array) -> Array:
        return func(now, y, *rest) if tfirst else func(y, now, *rest)

    slope.__name__ = getattr(func, "__name__", "slope")
    rhs, state = right_hand_side(slope, y0, "odeint", as_args(args))
    method = Trajectory("odeint", frozen(hashable_tolerances(options)))
    start = Start(method, rhs, (times[0], times[-1]), state)
    states = start.at(times)[0]
    return (states, {"message": IN_A_TRACE}) if full_output else states
