"""Comparisons of tuples and lists that hold traced values: by elements, the first that differ decide."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.api.python.blocks.cells import is_undecided
from funcgrad.types import Anything, Array

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "is_": operator.is_,
    "is_not": operator.is_not,
}

_STRICT = {"le": "lt", "ge": "gt"}


def ordered(name: str, x: Anything, y: Anything) -> Array:
    """``x < y`` and its kin, and ``x == y``; Python would ask a traced element for its truth."""
    if not (are_sequences(x, y) and (holds_undecided(x) or holds_undecided(y))):
        return COMPARISONS[name](x, y)
    if name == "ne":
        equal = ordered("eq", x, y)
        return np.logical_not(equal) if is_undecided(equal) else not equal
    if name == "eq" and len(x) != len(y):
        return False
    found: Any = COMPARISONS[name](len(x), len(y))
    for one, other in reversed(list(zip(x, y, strict=False))):
        found = both(one is other or ordered("eq", one, other), found)
        if name != "eq":
            found = either(ordered(_STRICT.get(name, name), one, other), found)
    return found


def are_sequences(x: Anything, y: Anything) -> bool:
    """Whether both are tuples, or lists, which compare as Python's do."""
    if not isinstance(x, tuple | list):  # Nearly all comparisons are of numbers.
        return False
    kind = tuple if isinstance(x, tuple) else list
    return isinstance(y, kind) and type(x).__eq__ is type(y).__eq__ is kind.__eq__


def holds_undecided(x: Anything) -> bool:
    """Whether a traced value without a value of its own is an element, at any depth."""
    return any(is_undecided(k) or (isinstance(k, tuple | list) and holds_undecided(k)) for k in x)


def both(x: Anything, y: Anything) -> Array:
    """``x and y``, of truths of which some are known."""
    if is_undecided(x) and is_undecided(y):
        return np.logical_and(x, y)
    x, y = (y, x) if is_undecided(x) else (x, y)
    return y if x else False


def either(x: Anything, y: Anything) -> Array:
    """``x or y``, of truths of which some are known."""
    if is_undecided(x) and is_undecided(y):
        return np.logical_or(x, y)
    x, y = (y, x) if is_undecided(x) else (x, y)
    return True if x else y
