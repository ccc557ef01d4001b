"""Refusals that somebody's ``except`` has caught: does the function compute what it computes untraced?

``try: y = float(x)`` with ``except TypeError`` is how packages ask whether something is one number. The path
that a traced number takes there may compute the same as any other, or something else, without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.errors import WHEN_REFUSED, FuncgradError
from funcgrad.source import is_own_code
from funcgrad.tracing.recorder import Recorder, active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything


def is_swallowed(error: FuncgradError) -> bool:
    """Whether an error was caught outside of this library: in the outermost frame that it has reached."""
    entry = error.__traceback__
    return entry is not None and not is_own_code(entry.tb_frame.f_code)


def note_refusal(error: FuncgradError) -> None:
    """Have the innermost trace remember a refusal, and forget those that this library caught itself."""
    recorder = active_recorder()
    if recorder is not None:
        recorder.refusals = (*filter(is_swallowed, recorder.refusals), error)


WHEN_REFUSED.append(note_refusal)


def swallowed(recorder: Recorder) -> FuncgradError | None:
    """The first refusal that code around the library has caught, and gone on."""
    return next(filter(is_swallowed, recorder.refusals), None)


def require_nothing_lost(
    recorder: Recorder, call: Callable[[list[Any]], Any], values: Sequence[Any] | None, result: object
) -> None:
    """Raise a refusal that was caught, unless the function returns the same for plain values.

    Without values it is raised in any case; `jit` then records the path that values take.
    """
    error = swallowed(recorder)
    if error is None or (values is not None and is_same_untraced(call, values, result)):
        return
    raise error


def behind(error: FuncgradError, recorder: Recorder) -> FuncgradError:
    """What was caught before an error, and one path would get over; the error itself where nothing was."""
    first = swallowed(recorder)
    return first if first is not None and first.has_paths and not error.has_paths else error


def is_same_untraced(call: Callable[[list[Any]], Any], values: Sequence[Any], result: object) -> bool:
    """Whether the function, called with values, returns what the traced one has returned."""
    if any(type(x) is Tracer for x in values):
        return False
    try:
        plain = call(list(values))
    except Exception:  # noqa: BLE001 - whatever the function raises untraced, traced it has not
        return False
    found, wanted = tree.leaves(result), tree.leaves(plain)
    return len(found) == len(wanted) and all(map(is_equal, found, wanted))


def is_equal(found: Anything, wanted: Anything) -> bool:
    """Whether a result is the same number or array, up to rounding; what is no number is not compared."""
    if type(found) is Tracer:
        found = found.concrete()
    if np.asarray(wanted).dtype.kind not in "biufc":
        return True
    return np.shape(found) == np.shape(wanted) and bool(
        np.allclose(found, wanted, 1e-8, 1e-8, equal_nan=True)
    )
