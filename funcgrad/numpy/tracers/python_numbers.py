"""What Python's own numbers raise for where NumPy's are infinite or NaN: division by zero, powers too large.

A traced number that stands for one of Python's raises it where the user's code waits for it
(``try: y = 1 / x`` … ``except ZeroDivisionError``). Nothing is asked anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any

import numpy as np

from funcgrad.source import is_library_code
from funcgrad.tracing.guarded import is_awaited
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Arrays

Operation = Callable[..., Any]


def is_pythons(x: ArrayLike) -> bool:
    """Whether it is a number of Python's, traced or not; an integer that has no value may be one."""
    if type(x) is not Tracer:
        return type(x) in (float, int)
    seen = x.aval
    if seen.shape or seen.dtype.kind not in "fi":
        return False
    return seen.weak or (seen.dtype.kind == "i" and not x.has_value())


def users_caller() -> FrameType | None:
    """The frame that wrote the operator, if it is the user's: ours know what they divide by."""
    frame: FrameType | None = _getframe(3)
    while frame is not None and frame.f_code.co_name == OPERATES:
        frame = frame.f_back
    return None if frame is None or is_library_code(frame.f_code) else frame


OPERATES = "operated"
"""What is called in place of operators where classes of the user's have some: it stands between."""


PLAIN: dict[Operation, Operation] = {}
"""Operations that ask something of numbers, and what they do with arrays."""


def dividing(operation: Operation) -> Operation:
    """A division, which raises ZeroDivisionError where Python's would and somebody waits for it."""

    def divide(x: ArrayLike, y: ArrayLike) -> Arrays:
        if is_pythons(x) and is_pythons(y):
            frame = users_caller()
            if frame is not None and is_awaited((ZeroDivisionError,), frame) and y == 0:
                raise ZeroDivisionError("division by zero")
        return operation(x, y)

    PLAIN[divide] = operation
    return divide


def raising_to_power(operation: Operation) -> Operation:
    """A power, which raises what Python's would where somebody waits for it."""

    def power(x: ArrayLike, y: ArrayLike, *modulus: ArrayLike) -> Array:
        found = operation(x, y, *modulus)
        if is_pythons(x) and is_pythons(y):
            frame = users_caller()
            if frame is not None and is_awaited((ZeroDivisionError, OverflowError), frame):
                if x == 0 and y < 0:
                    raise ZeroDivisionError("0.0 cannot be raised to a negative power")
                if np.isinf(found) and np.isfinite(x) and np.isfinite(y):
                    raise OverflowError("(34, 'Numerical result out of range')")
        return found

    return power
