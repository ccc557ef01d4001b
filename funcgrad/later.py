"""Modules that are imported when they are first used, named at the top of the file like all others.

For what is slow to import and seldom needed: Numba behind the compiler, half of SciPy, a command that was not
given. What stands above a module, or in a circle with it, is no case for this: `tests/test_house.py` follows
these names as it follows imports, and asks that what is taken from them is there.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from funcgrad.collector import CollectorPaused
from funcgrad.types import Anything


class Later:
    """A module that is imported when one of its names is first asked for.

    >>> fractions = Later("fractions")
    >>> fractions.Fraction(1, 3)
    Fraction(1, 3)
    """

    __slots__ = ("_module", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: Any = None

    def __repr__(self) -> str:
        return f"Later({self._name!r})"

    def __getattr__(self, name: str) -> Anything:
        if name.startswith("__"):  # Whoever looks through the names of a file imports nothing by it.
            raise AttributeError(name)
        if self._module is None:
            with CollectorPaused():
                self._module = import_module(self._name)
        return getattr(self._module, name)
