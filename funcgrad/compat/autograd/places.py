"""Items of a sequence, replaced by place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from funcgrad.types import ArrayLike

__all__ = ["subval", "subvals"]


def subvals(x: Sequence[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """The items of `x`, with others at the given places.

    >>> subvals((1, 2, 3), [(0, 5)])
    (5, 2, 3)
    """
    found = list(x)
    for k, value in ivs:
        found[k] = value
    return tuple(found)


def subval(x: Sequence[Any], i: int, v: ArrayLike) -> tuple[Any, ...]:
    """The items of `x`, with another one at place `i`."""
    return subvals(x, [(i, v)])
