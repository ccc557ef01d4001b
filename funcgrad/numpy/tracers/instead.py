"""What is called instead of a function in the user's code, asked for while a trace is open.

Until something has to be called instead, nothing of it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinMethodType, MethodType
from typing import Any

import numpy as np

from funcgrad.config import WHEN_PACKAGES_CHANGE
from funcgrad.later import Later
from funcgrad.numpy.tracers.mattering import matters
from funcgrad.tracing.aliasing import note_shown
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, ArrayLike

# Open arrays are behind it, and most of NumPy's constructors.
made_inside = Later("funcgrad.numpy.tracers.made_inside")

Function = Callable[..., Any]

_INSTEAD: dict[int, tuple[Any, Function | None]] = {}


def instead_of(function: object) -> Function | None:
    """What is called instead of a function that is no user's; None where it is called as it is."""
    if active_recorder() is None:
        return None
    found = _INSTEAD.get(id(function))
    if found is not None and found[0] is function:
        return found[1]
    if type(function) is MethodType:  # it is made at every access: there is nothing to be remembered
        of_method: Function | None = made_inside.made_for_method(function)
        return of_method
    if type(function) is BuiltinMethodType and type(function.__self__) is np.ndarray:
        of_array: Function | None = made_inside.array_method(function)
        return of_array
    if len(_INSTEAD) >= _MOST:
        _INSTEAD.clear()
    found = _INSTEAD[id(function)] = (
        function,
        made_inside.made_for(function) if matters(function) else None,
    )
    return found[1]


_MOST = 2048


def joiner(x: ArrayLike) -> Anything:
    """What stands in for ``np.r_`` and ``np.c_``; anything else as it is."""
    return made_inside.joiner(x) if x is np.r_ or x is np.c_ else x


def opened(x: ArrayLike) -> Anything:
    """An array that has just been made, as an open one."""
    return made_inside.opened(x)


def becomes_traced(x: ArrayLike) -> bool:
    """Whether it is traced: while nothing has been opened there is nothing that could become so."""
    return type(x) is Tracer


WHEN_PACKAGES_CHANGE.append(_INSTEAD.clear)

INSIDE.instead_of = instead_of
INSIDE.matters = matters
INSIDE.joiner = joiner
INSIDE.opened = opened
INSIDE.becomes_traced = becomes_traced
INSIDE.shown = note_shown
