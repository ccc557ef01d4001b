"""Whether the user's code waits for an exception, and operations that raise theirs where it does.

A trace is evaluated when the traced function has returned, so what fails would raise after the ``try`` has
been left. Inside of one, an operation that may fail is evaluated at once, if its value is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from sys import _getframe
from types import CodeType, FrameType
from typing import Any

from funcgrad.source import is_library_code
from funcgrad.tracing.tracer import Tracer

__all__ = ["evaluated_if_guarded"]


def evaluated_if_guarded(out: Any) -> Any:
    """The result of an operation, whose exception is raised now if the user's code may handle it."""
    first = out[0] if type(out) is tuple else out
    if type(first) is Tracer and is_guarded(_getframe(1)) and first.has_value():
        first.concrete()
    return out


def is_guarded(frame: FrameType | None) -> bool:
    """Whether a frame of the user's, below the nearest trace, runs inside of a ``try`` or ``with``."""
    while frame is not None and frame.f_code.co_qualname != "trace":
        code = frame.f_code
        if code.co_exceptiontable and not is_library_code(code):
            place = frame.f_lasti
            if any(start <= place < end for start, end in guarded_ranges(code)):
                return True
        frame = frame.f_back
    return False


@lru_cache(maxsize=1024)
def guarded_ranges(code: CodeType) -> tuple[tuple[int, int], ...]:
    """The ranges of instructions that have a handler, as byte offsets."""
    numbers = list(varints(code.co_exceptiontable))
    return tuple(
        [(2 * start, 2 * (start + size)) for start, size, _, _ in zip(*[iter(numbers)] * 4, strict=True)]
    )


def varints(table: bytes) -> Iterator[int]:
    """The numbers of an exception table: six bits a byte, the first of each number marked.

    As in CPython's Objects/exception_handling_notes.txt.

    >>> list(varints(bytes([0x80 | 0x40 | 1, 2, 0x80 | 3])))
    [66, 3]
    """
    value, going = 0, False
    for byte in table:
        value = (value << 6) | (byte & 63) if going else byte & 63
        going = bool(byte & 64)
        if not going:
            yield value
