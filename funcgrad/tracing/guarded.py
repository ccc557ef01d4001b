"""Whether the user's code waits for an exception, and operations that raise theirs where it does.

A trace is evaluated when the traced function has returned, so what fails would raise after the ``try`` has
been left. Inside of one, an operation that may fail is evaluated at once, if its value is known.
"""

from __future__ import annotations

import builtins
from collections import ChainMap
from collections.abc import Iterator, Mapping
from functools import lru_cache
from inspect import getattr_static
from sys import _getframe
from types import CodeType, FrameType, FunctionType, ModuleType, SimpleNamespace

from funcgrad.source import is_library_code
from funcgrad.tracing.callers import all_steps
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Arrays

__all__ = ["evaluated_if_guarded", "has_handler", "is_awaited"]


def evaluated_if_guarded(out: object) -> Arrays:
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


def is_awaited(kinds: tuple[type[Exception], ...], frame: FrameType | None) -> bool:
    """Whether the user's code, below the nearest trace, would handle one of these exceptions, raised now.

    An ``except`` counts if its function names a class that catches one, anywhere, and if it asks for none.
    """
    while frame is not None and frame.f_code.co_qualname != "trace":
        code = frame.f_code
        if code.co_exceptiontable and not is_library_code(code):
            place = frame.f_lasti
            handlers = [h for start, end, h in handled_ranges(code) if start <= place < end]
            if any(h is None for h in handlers) or (
                True in handlers and names_one(kinds, code, values_seen_by(frame))
            ):
                return True
        frame = frame.f_back
    return False


def has_handler(kinds: tuple[type[Exception], ...], frame: FrameType | None) -> bool:
    """Whether the user's functions, below the nearest trace, have an ``except`` for one of these anywhere.

    Those that they call by name count as well: what is asked for here may be raised there.
    """
    seen: set[CodeType] = set()
    while frame is not None and frame.f_code.co_qualname != "trace":
        if catches(kinds, frame.f_code, values_seen_by(frame), seen):
            return True
        frame = frame.f_back
    return False


def values_seen_by(frame: FrameType) -> Mapping[str, object]:
    """What names stand for in a frame, but for those of Python itself."""
    return ChainMap(frame.f_locals, frame.f_globals)


def catches(
    kinds: tuple[type[Exception], ...], code: CodeType, values: Mapping[str, object], seen: set[CodeType]
) -> bool:
    """Whether a function of the user's, or one that it calls by name, has an ``except`` for one of these."""
    if code in seen or is_library_code(code):
        return False
    seen.add(code)
    if code.co_exceptiontable:
        handlers = [h for _, _, h in handled_ranges(code)]
        if None in handlers or (True in handlers and names_one(kinds, code, values)):
            return True
    called = [values.get(name) for name in (*code.co_names, *code.co_freevars, *code.co_varnames)]
    return any(catches(kinds, f.__code__, f.__globals__, seen) for f in called if type(f) is FunctionType)


def names_one(kinds: tuple[type[Exception], ...], code: CodeType, values: Mapping[str, object]) -> bool:
    """Whether a function names an exception, or a tuple of some, that catches one of `kinds`.

    A name that stands for nothing may be that of an attribute: ``except package.Error``.
    """
    names = (*code.co_names, *code.co_freevars, *code.co_varnames)
    found = {name: values.get(name, getattr(builtins, name, None)) for name in names}
    owners = [x for x in found.values() if isinstance(x, ModuleType | SimpleNamespace | type)]
    attributes = [getattr_static(owner, name, None) for owner in owners for name in code.co_names]
    return any(
        issubclass(kind, c) for x in (*found.values(), *attributes) for c in classes_in(x) for kind in kinds
    )


def classes_in(x: object) -> Iterator[type]:
    """A class that an ``except`` may name, or those of a tuple, and of tuples in it."""
    if isinstance(x, tuple):
        for member in x:
            yield from classes_in(member)
    elif isinstance(x, type) and issubclass(x, BaseException):
        yield x


@lru_cache(maxsize=1024)
def handled_ranges(code: CodeType) -> tuple[tuple[int, int, bool | None], ...]:
    """As `guarded_ranges`, each with whether an ``except`` asks for a class there; None where any will do.

    What ``with`` and ``finally`` do about exceptions is no answer to one: False.
    """
    steps = all_steps(code)
    return tuple(
        [
            (2 * start, 2 * (start + size), handles([s.name for s in steps if s.offset >= 2 * target]))
            for start, size, target, _ in zip(*[iter(varints(code.co_exceptiontable))] * 4, strict=True)
        ]
    )


def handles(names: list[str]) -> bool | None:
    """What the first instructions of a handler look for."""
    if names[0] != "PUSH_EXC_INFO" or names[1] == "WITH_EXCEPT_START":
        return False
    return None if names[1] == "POP_TOP" else True


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
