"""What may be called in place of what the user's functions call, as the layer of NumPy's functions says.

That layer stands above those that run the user's functions, and enters its answers here while it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.types import Anything


def unchanged(x: object) -> Anything:
    """The argument."""
    return x


def nothing(_: object) -> Anything:
    """None."""
    return None


def unnoted(_base: object, _made: object) -> None:
    """Nothing."""


def alike(_first: object, _second: object) -> bool:
    """Whether they lie alike: all do where no layer says how."""
    return True


class Inside:
    """The answers; until they are entered, everything is called as it is."""

    __slots__ = (
        "becomes_traced",
        "instead_of",
        "is_open",
        "joiner",
        "lie_alike",
        "lie_like",
        "matters",
        "opened",
        "plain",
        "shown",
    )

    def __init__(self) -> None:
        self.instead_of: Callable[[Any], Any] = nothing
        """What is called instead of a function that is no user's; None where it is called as it is."""
        self.matters: Callable[[Any], bool] = bool
        """Whether anything may be."""
        self.joiner: Callable[[Any], Any] = unchanged
        """What stands in for ``np.r_`` and ``np.c_``; anything else as it is."""
        self.opened: Callable[[Any], Any] = unchanged
        """An array that has just been made, as an open one; also in tuples and lists."""
        self.is_open: Callable[[Any], Any] = nothing
        """Whether something is an open array."""
        self.plain: Callable[[Any], Any] = unchanged
        """The array of NumPy's that an open one holds; anything else as it is."""
        self.becomes_traced: Callable[[Any], Any] = nothing
        """Makes an open array a traced one; does nothing to others, and returns whether it did."""
        self.lie_like: Callable[[Any, Any], None] = unnoted
        """Has a traced array lie in memory as another array does; nobody knows how, for None."""
        self.lie_alike: Callable[[Any, Any], bool] = alike
        """Whether two arrays are known to lie in memory in the same way."""
        self.shown: Callable[[Any, Any], None] = unnoted
        """Notes that other code was given an array of NumPy's for a traced one, and may keep it."""


INSIDE = Inside()
