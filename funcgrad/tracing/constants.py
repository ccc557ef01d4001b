"""Whether a traced value has a derivative to lose, read from the record of what it was computed from.

A value has none where nothing differentiable leads to it: constants of the trace, integers and booleans,
whatever stands behind `stop_gradient` or a rounding. Knows no rule of any operation but that it severs.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from funcgrad.ir.avals import Aval

if TYPE_CHECKING:
    from funcgrad.tracing.recorder import Recorder
    from funcgrad.tracing.tracer import Tracer


def is_constant(x: Tracer) -> bool:
    """Whether no derivative by an input of any open trace flows through `x`.

    >>> seen = []
    >>> def f(x):
    ...     seen.append((is_constant(x), is_constant(2.0 * fg.stop_gradient(x)), is_constant(np.floor(x))))
    ...     return x
    >>> _ = fg.grad(f)(1.5)
    >>> seen
    [(False, True, True)]
    """
    x = x.frozen()
    return not varies(x._recorder, x._index)


def compares_varying(x: Tracer) -> bool:
    """Whether a truth value was computed from something that a derivative flows through."""
    x = x.frozen()
    step = x._recorder.steps[x._index]
    operands = step[1:] if isinstance(step, tuple) else ()
    return any(varies(x._recorder, j) for j in operands)


def comes_of_inputs(x: Tracer) -> bool:
    """Whether `x` was computed from an input of an open trace, differentiably or not."""
    x = x.frozen()
    return enters(x._recorder, x._index)


def enters(recorder: Recorder, index: int) -> bool:
    """Whether the value at an index was computed from an input of its trace, or of an outer one."""
    seen: set[int] = set()
    waiting = [index]
    while waiting:
        i = waiting.pop()
        if i in seen:
            continue
        seen.add(i)
        step = recorder.steps[i]
        if type(step) is int:
            step = recorder.steps[i - step]
        if type(step) is not Aval:
            waiting += step[1:]
        elif not is_captured(recorder, i) or captured_enters(recorder, i):
            return True
    return False


def captured_enters(recorder: Recorder, index: int) -> bool:
    """Whether a captured value is a traced one that was computed from an input."""
    value: Any = recorder.values.get(index)
    return hasattr(value, "_recorder") and enters(value._recorder, value._index)


def is_captured(recorder: Recorder, index: int) -> bool:
    """Whether a value that enters the trace is no input of it."""
    place = bisect_left(recorder.operands, (index, False))
    return bool(recorder.operands[place : place + 1]) and recorder.operands[place][0] == index


def varies(recorder: Recorder, index: int) -> bool:
    """Whether the value at an index depends, differentiably, on an input of its trace or of an outer one.

    What was found is remembered: numbers that are read one by one cost one look each.
    """
    known = recorder.varying
    if known is None:
        known = recorder.varying = {}
    stack = [index]
    while stack:
        i = stack[-1]
        operands = () if i in known else operands_of(recorder, i)
        if operands is None:
            known[i] = enters_varying(recorder, i)
        missing = [j for j in operands or () if j not in known]
        if missing:
            stack += missing
            continue
        if i not in known:
            known[i] = any(known[j] for j in operands or ())
        stack.pop()
    return known[index]


def operands_of(recorder: Recorder, index: int) -> tuple[int, ...] | None:
    """What a derivative of the value at an index would come from; None for a value that enters the trace."""
    if not recorder.avals[index].inexact:
        return ()
    step = recorder.steps[index]
    if type(step) is int:
        step = recorder.steps[index - step]
    if type(step) is Aval:
        return None
    return () if step[0].severs else step[1:]


def enters_varying(recorder: Recorder, index: int) -> bool:
    """Whether an input, or a captured tracer, brings a derivative into the trace."""
    value: Any = recorder.values.get(index)
    if not is_captured(recorder, index):
        return True
    return hasattr(value, "_recorder") and varies(value._recorder, value._index)
