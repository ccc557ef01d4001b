"""Python's own functions that call what they are handed: `map`, `functools.reduce`, ``sorted(key=)``."""

from __future__ import annotations

import builtins
import functools
import itertools
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from funcgrad.types import Anything

Function = Callable[..., Any]

TAKE_FUNCTIONS: frozenset[Function] = frozenset(
    [
        *(builtins.map, builtins.filter, builtins.sorted, builtins.min, builtins.max, functools.reduce),
        *(itertools.accumulate, itertools.dropwhile, itertools.filterfalse, itertools.groupby),
        *(itertools.starmap, itertools.takewhile),
    ]
)
"""Functions of Python's own that call what they are handed, where nobody sees the call."""


FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType, functools.partial)
"""The types of what may be handed to them and need another function in its place."""


def needs_a_key(function: object) -> bool:
    """Whether it calls something only where it is given a ``key``, and is called everywhere without one."""
    return function is builtins.min or function is builtins.max


def handing(function: Function, again: Function) -> Function:
    """The function, which is handed ``again(f)`` in place of a function f, of Python's or of C's.

    >>> list(handing(map, lambda f: lambda x: 10 * f(x))(lambda x: x + 1, [1, 2]))
    [20, 30]
    """

    def instead(x: object) -> object:
        return again(x) if isinstance(x, FUNCTIONS) else x

    def call(*args: Anything, **kwargs: Anything) -> Anything:
        named = {key: instead(x) for key, x in kwargs.items()}
        return function(*map(instead, args), **named)

    return call
