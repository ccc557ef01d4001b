"""What is called instead of a library's function in a function that has been rewritten.

The layers that have such functions enter them here while they are imported. A stand-in is a function, and
a condition on the arguments of the call under which it stands in; otherwise the library's own runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.types import Anything

Function = Callable[..., Any]
Condition = Callable[[tuple[Any, ...], dict[str, Any]], bool]

_STAND_INS: dict[Any, tuple[Function, Condition]] = {}


def always(_args: tuple[Any, ...], _kwargs: dict[str, Any]) -> bool:
    """Stands in for every call."""
    return True


def stands_in(theirs: object, ours: Anything, condition: Condition = always) -> None:
    """Enter a function that stands in for a library's under a condition on its arguments."""
    _STAND_INS[theirs] = ours, condition


def stand_in_for(function: Anything) -> Function | None:
    """What is called instead of a library's function; None where it is called as it is."""
    found = _STAND_INS.get(function)
    if found is None:
        return None
    ours, condition = found

    def standing_in(*args: Anything, **kwargs: Anything) -> Anything:
        return ours(*args, **kwargs) if condition(args, kwargs) else function(*args, **kwargs)

    return standing_in
