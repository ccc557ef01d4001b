"""SciPy's checks of what `solve_ivp` is given, of everything that is known before it is solved.

What is traced is checked by SciPy when it has a value. The words are SciPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import isclass
from typing import Any

import numpy as np

from funcgrad.errors import ConcretizationError, UnsupportedFunctionError
from funcgrad.ops.families import aval as aval_of
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import ArrayLike, ExtraArguments, Option

NATIVE_METHODS = ("RK45", "Rodas4")


def method_name(method: Option) -> str:
    """The method by its name, also where its class is given; raises ValueError for what is none."""
    known = import_module("scipy.integrate._ivp.ivp").METHODS
    if isinstance(method, str) and method in known:
        return method
    if not isclass(method) or not issubclass(method, import_module("scipy.integrate").OdeSolver):
        raise ValueError(f"`method` must be one of {known} or OdeSolver class.")
    for name, kind in known.items():
        if kind is method:
            return str(name)
    raise UnsupportedFunctionError(
        f"solve_ivp with a solver of another class, {method.__name__}, has no derivatives",
        source=Source(*user_location()),
        remedy=f"Choose one of SciPy's methods: {', '.join(known)}.",
    )


def check_complex(method: str) -> None:
    """Raise ValueError for a method that has real states alone."""
    if method in ("Radau", "LSODA"):
        raise ValueError(
            "`y0` is complex, but the chosen solver does not support integration in a complex domain."
        )


def native_method(method: Option) -> str:
    """A method that is ours; raises ValueError by name for others."""
    if method in NATIVE_METHODS:
        return str(method)
    raise ValueError(
        "`method` of solve_ivp with native=True must be 'RK45' (Dormand and Prince's pair) or 'Rodas4' (of "
        f"Rosenbrock's kind, for stiff systems), got {method!r}: without native=True SciPy's methods serve"
    )


def unpacked(args: ExtraArguments) -> tuple[Any, ...]:
    """The further arguments; raises TypeError for what is no sequence."""
    try:
        return () if args is None else (*args,)
    except TypeError as error:
        raise TypeError(
            f"Supplied 'args' cannot be unpacked. Please supply `args` as a tuple (e.g. `args=({args},)`)"
        ) from error


def events_of(events: Option) -> Sequence[Callable[..., Any]]:
    """The events in a sequence; raises ValueError where it is not said well what ends the integration."""
    return () if events is None else import_module("scipy.integrate._ivp.ivp").prepare_events(events)[0]


def check_times(t_span: Sequence[Any], t_eval: ArrayLike) -> None:
    """Raise ValueError for times that are not in order, or not within the span."""
    times = asoperand(t_eval)
    if aval_of(times).ndim != 1:
        raise ValueError("`t_eval` must be 1-dimensional.")
    if any(isinstance(x, Tracer) for x in (times, *t_span)):
        return
    times, (t0, tf) = np.asarray(times), [float(t) for t in t_span]
    if np.any(times < min(t0, tf)) or np.any(times > max(t0, tf)):
        raise ValueError("Values in `t_eval` are not within `t_span`.")
    steps = np.diff(times)
    if (tf > t0 and np.any(steps <= 0)) or (tf < t0 and np.any(steps >= 0)):
        raise ValueError("Values in `t_eval` are not properly sorted.")


def check_options(options: dict[str, Any], t_span: Sequence[Any], size: int) -> None:
    """Raise ValueError for steps and tolerances that SciPy does not take, and for traced ones."""
    for name in ("rtol", "atol", "first_step", "max_step", "min_step"):
        if isinstance(asoperand(options.get(name, 0.0)), Tracer):
            raise ConcretizationError(
                f"{name} of solve_ivp says how it is solved, has no derivative, and is traced",
                source=Source(*user_location()),
                remedy=f"Give a number that does not depend on what is traced, or in un-jitted code "
                f"{name}=np.asarray(fg.stop_gradient(x)).",
            )
    first, largest = options.get("first_step"), options.get("max_step")
    if largest is not None and largest <= 0:
        raise ValueError("`max_step` must be positive.")
    if first is not None and first <= 0:
        raise ValueError("`first_step` must be positive.")
    known = not any(isinstance(t, Tracer) for t in t_span)
    if first is not None and known and first > abs(float(t_span[1]) - float(t_span[0])):
        raise ValueError("`first_step` exceeds bounds.")
    atol = np.asarray(options.get("atol", 0.0))
    if atol.ndim > 0 and atol.shape != (size,):
        raise ValueError("`atol` has wrong shape.")
    if np.any(atol < 0):
        raise ValueError("`atol` must be positive.")
