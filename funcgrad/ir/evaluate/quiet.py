"""Evaluation in which NumPy says nothing of division by zero, overflow or invalid values.

As ``with np.errstate(all="ignore")``, which takes 1.3 µs. NumPy keeps what is ignored in a variable of the
context: where one of that name is found, it is set and reset directly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar, copy_context
from typing import Any

import numpy as np

Run = Callable[..., tuple[Any, ...]]
Quietly = Callable[[Run, Sequence[Any]], tuple[Any, ...]]


def numpys_variable() -> tuple[ContextVar[Any], Any] | None:
    """NumPy's variable for what it ignores, and its value where that is everything; None if not found."""
    with np.errstate(all="ignore"):
        found = [(var, value) for var, value in copy_context().items() if var.name == "numpy.ufunc.extobj"]
    if len(found) != 1:
        return None
    variable, ignoring = found[0]
    token = variable.set(ignoring)
    try:
        works = set(np.geterr().values()) == {"ignore"}
    finally:
        variable.reset(token)
    return (variable, ignoring) if works else None


def quietly_by(known: tuple[ContextVar[Any], Any] | None) -> Quietly:
    """What calls a function on arguments while NumPy ignores everything."""
    if known is None:
        return quietly_by_numpy
    variable, ignoring = known

    def quietly(function: Run, args: Sequence[Any]) -> tuple[Any, ...]:
        token = variable.set(ignoring)
        try:
            return function(*args)
        finally:
            variable.reset(token)

    return quietly


def quietly_by_numpy(function: Run, args: Sequence[Any]) -> tuple[Any, ...]:
    """As documented by NumPy."""
    with np.errstate(all="ignore"):
        return function(*args)


quietly = quietly_by(numpys_variable())
"""Call a function on arguments while NumPy ignores everything."""
