"""`profile`: where the time of a function goes, by equation or step of a kernel, and by the user's lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ParamSpec

from funcgrad import tree
from funcgrad.api.calling.calls import as_value, name_of, trace
from funcgrad.api.inspection.profile_result import Profile
from funcgrad.api.jit import JittedFunction
from funcgrad.api.python.seen import seen
from funcgrad.ir.avals import aval_of
from funcgrad.ir.program import Program
from funcgrad.later import Later
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import Result

# The compiler is behind it.
profile_rows = Later("funcgrad.api.inspection.profile_rows")

Function = Callable[..., Any]
P = ParamSpec("P")


def profile(fun: Callable[P, Any], *, seconds: float = 0.5) -> Callable[P, Profile]:
    """A function of `fun`'s arguments that returns where the time goes, by the user's lines.

    A jitted function is measured as native code, step of kernel by step of kernel; any other is evaluated by
    NumPy, equation by equation, also inside of loops. Measuring goes on for about so many `seconds`, after a
    warm-up; the times are medians. ``print`` the result, look at it in a notebook, or `save` it as a page.

    Raises TypeError where no argument is an array or a number: nothing would be recorded; ValueError for
    `seconds` below 0 or without end.

    >>> import numpy as np
    >>> def f(x):
    ...     y = np.sin(x)
    ...     return np.sum(y * x)
    >>> found = profile(f, seconds=0.01)(np.ones(1000))
    >>> [row.name for row in found.rows]
    ['sin', 'mul', 'reduce_sum']
    >>> [line.text for line in found.by_line()]
    ['y = np.sin(x)', 'return np.sum(y * x)']
    """
    if not callable(fun):
        raise TypeError(f"profile expects a function, got a {type(fun).__name__}: {fun!r}")
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"profile: seconds is how long to measure, and it is {seconds!r}")

    def profiled(*args: P.args, **kwargs: P.kwargs) -> Profile:
        program, values, compiled = recorded(fun, args, kwargs)
        measure = profile_rows.of_kernels if compiled else profile_rows.of_equations
        found: Profile = measure(name_of(fun), program, values, seconds)
        called = profile_rows.call_seconds(fun, args, kwargs, seconds) or 0.0
        # What is called often is compiled, and then no call is evaluated that could be timed.
        at_least = 0.0 if compiled and called else found.run_seconds
        return replace(found, call_seconds=max(called, at_least))

    return profiled


def recorded(fun: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Program, list[Any], bool]:
    """The Program of a call, the values of its inputs, and whether it runs as native code."""
    if isinstance(fun, JittedFunction):
        fresh = JittedFunction(fun._fun, fun._options)
        _, dynamic = fresh._divided(args, kwargs)
        return fresh.program(*args, **kwargs), [as_value(x) for x in tree.leaves(dynamic)], True
    leaves, treedef = tree.flatten((args, kwargs))
    dynamic_places = [k for k, leaf in enumerate(leaves) if is_array(leaf)]
    if not dynamic_places:
        raise TypeError("profile: no argument is an array or a number, so there is nothing to record")
    given = [leaves[k] for k in dynamic_places]

    def call(tracers: list[Tracer]) -> Result:
        filled = list(leaves)
        for k, tracer in zip(dynamic_places, tracers, strict=True):
            filled[k] = tracer
        new_args, new_kwargs = tree.unflatten(treedef, filled)
        return seen(fun)(*new_args, **new_kwargs)

    # With values: what is not jitted may branch on them, and does so here as it does outside.
    traced = trace(fun, call, given, "profile", tree.leaves, avals=[aval_of(x) for x in given])
    recorder = traced.recorder
    program = simplify_program(recorder.program(range(len(given)), traced.outputs))
    return program, [as_value(x) for x in given], recorder.native


def is_array(leaf: object) -> bool:
    """Whether an argument is recorded, or passed as it is."""
    try:
        aval_of(leaf)
    except TypeError:
        return False
    return True
