"""The gradient by one array or number, outside of any trace: the general way in a third of its calls.

Nothing around such a call can be captured or written, and its argument need not be asked what it is. Whatever
else comes goes the general way (`differentiate`), which gives the same results and errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.api.calling.calls import CACHE, Traced, index_in, name_of, recorded
from funcgrad.api.calling.handled import require_nothing_lost
from funcgrad.api.calling.results import scalar_output
from funcgrad.api.control_flow.loop_notices import MANY_OPERATIONS, notice_loop
from funcgrad.api.python.seen import Seen
from funcgrad.ir.avals import INTERNED, Aval, aval_of
from funcgrad.tracing.recorder import Recorder, active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, Result, Tree

Function = Callable[..., Any]

PYTHON_FLOAT = aval_of(0.0)


def straight(fun: Function, number: int, look: Seen, keeps_value: bool, general: Function) -> Function:
    """What `general` computes, the gradient of `fun` by argument `number`, and its value if it is kept."""
    kept = ("grad", keeps_value, (True,))
    name = name_of(fun)

    def value_and_gradient(*args: Tree, **kwargs: Tree) -> Result:
        x = args[number] if number < len(args) else None
        aval: Aval | None = None
        if type(x) is np.ndarray:
            aval = INTERNED.get((x.shape, x.dtype, False))
        elif type(x) is float:
            aval, x = PYTHON_FLOAT, np.float64(x)
        if aval is None or not aval.inexact or active_recorder() is not None:
            return general(*args, **kwargs)
        recorder, result, output = trace(fun, name, number, look, args, kwargs, aval, x)
        if recorder.refusals:
            require_nothing_lost(recorder, replaced(look, number, args, kwargs), [x], result)
        values = recorder.operand_values
        if len(recorder.values) == len(values):
            # Nothing has been evaluated while recording.
            key = kept, recorder.name, recorder.place(), 1, (), (output,), tuple(recorder.steps)
            program = CACHE.find(key)
            runner = None if program is None else program._runner
            if runner is not None:
                results = runner(*values)
                return (results[0], results[1]) if keeps_value else results[0]
        traced = Traced(recorder, 1, result, (output,))
        results = traced.run(traced.gradient((True,), keeps_value=keeps_value))
        return (results[0], results[1]) if keeps_value else results[0]

    return value_and_gradient


def trace(
    fun: Function,
    name: str,
    number: int,
    look: Seen,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    aval: Aval,
    x: Array,
) -> tuple[Recorder, Any, int]:
    """The record of a call with `x` traced, its result, and the index of that.

    Its name is that of the general one: by it the outermost frame of a trace is known.
    """
    with Recorder(name, "grad") as recorder:
        tracer = recorder.input(aval, x)
        called = look.now()
        if len(args) == 1 and not kwargs:
            result = recorded(recorder, fun, called, tracer)
        else:
            given = (*args[:number], tracer, *args[number + 1 :])
            result = recorded(recorder, fun, called, *given, **kwargs)
        if (
            type(result) is Tracer
            and result._recorder is recorder
            and result._view is None
            and result.aval.dtype.kind == "f"
            and not result.aval.shape
        ):
            output = result._index
        else:
            output = index_in(recorder, scalar_output(result, False, fun))
        if len(recorder.steps) > MANY_OPERATIONS:
            notice_loop(fun, recorder)
        return recorder, result, output


def replaced(look: Seen, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Function:
    """The call with another value for the argument."""

    def call(values: list[Any]) -> Result:
        return look.now()(*args[:number], values[0], *args[number + 1 :], **kwargs)

    return call
