"""Array functions of several operations: on large arrays they run as Programs, compiled once it pays.

Small arrays are left to NumPy, and so are shapes that come once only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad.extend import Tracer
from funcgrad.torch.core.operand import Operand
from funcgrad.types import Anything, Array, Arrays

__all__ = ["Composed"]

SMALLEST = 4096
"""Elements of the first operand below which NumPy's calls cost little beside finding a Program."""

MOST_KINDS = 64
"""Kinds of operands a function keeps Programs for before it starts anew."""


class Composed:
    """An array function; arrays are operands, everything else belongs to the kind of call.

    >>> halves = Composed(lambda x, n: x / 2 + n)
    >>> print(halves(np.ones(2), 1), halves(np.ones(5000), 1)[:2])
    [1.5 1.5] [1.5 1.5]
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._programs: dict[Any, fg.Program] = {}
        self._seen: set[Any] = set()
        update_wrapper(self, function)

    def __call__(self, *args: Operand) -> Anything:
        if type(args[0]) is not np.ndarray or args[0].size < SMALLEST or Tracer in map(type, args):
            return self._function(*args)
        key = tuple([(x.shape, x.dtype) if type(x) is np.ndarray else (type(x), x) for x in args])
        program = self._programs.get(key)
        if program is None:
            if key not in self._seen:
                if len(self._seen) >= MOST_KINDS:
                    self._seen.clear()
                    self._programs.clear()
                self._seen.add(key)
                return self._function(*args)
            program = self._programs[key] = self._recorded(args)
        outs = program.evaluate(*[x for x in args if type(x) is np.ndarray])
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _recorded(self, args: tuple[Any, ...]) -> fg.Program:
        is_array = [type(x) is np.ndarray for x in args]

        def on_arrays(*arrays: Array) -> Arrays:
            left = iter(arrays)
            return self._function(*[next(left) if a else x for a, x in zip(is_array, args, strict=True)])

        return fg.make_program(on_arrays)(*[x for x in args if type(x) is np.ndarray])
