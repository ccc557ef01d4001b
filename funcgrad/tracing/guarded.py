"""Whether the user's code waits for an exception, and operations that raise theirs where it does.

A trace is evaluated when the traced function has returned, so what fails would raise after the ``try`` has
been left. Inside of one, an operation that may fail is evaluated at once, if its value is known.
"""

from __future__ import annotations

import builtins
import contextlib
from collections import ChainMap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dis import Instruction, get_instructions
from functools import lru_cache, partial
from sys import _getframe
from types import CellType, CodeType, FrameType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.source import Source, is_library_code, user_location
from funcgrad.tracing.python.functions import CODES
from funcgrad.tracing.python.instructions import all_steps, static_attribute
from funcgrad.tracing.reading import READER
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Arrays


def evaluated_if_guarded(out: object) -> Arrays:
    """The result of an operation, whose exception is raised now if the user's code may handle it."""
    first = out[0] if type(out) is tuple else out
    if type(first) is Tracer and is_guarded(_getframe(1)) and first.has_value():
        if READER.get() is None:
            first.concrete()
        else:
            first.evaluated_on_a_path()  # What comes out is no decision, and no guard of the path.
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
    """Whether the user's code, below the outermost trace, would handle one of these exceptions, raised now.

    An ``except`` counts if its function names a class that catches one, anywhere, and if it asks for none;
    so does ``contextlib.suppress``. A handler around a trace counts where that trace is part of another: a
    loop's body is one, and what it raises would come when the loop is run.
    """
    recorder = active_recorder()
    found, nested = False, recorder is not None and recorder.level > 0
    while frame is not None:
        if frame.f_code.co_qualname == "trace":
            if found or not nested:
                return found
        elif not found:
            found = awaits(kinds, frame)
        frame = frame.f_back
    return False


def awaits(kinds: tuple[type[Exception], ...], frame: FrameType) -> bool:
    """Whether a frame of the user's would handle one of these exceptions where it stands."""
    code = frame.f_code
    if not code.co_exceptiontable or is_library_code(code):
        return False
    handlers = [h for start, end, h in handled_ranges(code) if start <= frame.f_lasti < end]
    if None in handlers:
        return True
    return (True in handlers or (False in handlers and suppresses(frame))) and names_one(
        kinds, code, values_seen_by(frame)
    )


def suppresses(frame: FrameType) -> bool:
    """Whether a function speaks of ``contextlib.suppress``, by whatever name."""
    values = values_seen_by(frame)
    names = frame.f_code.co_names
    found = [values.get(name) for name in names]
    return any(x is suppress or (x is contextlib and "suppress" in names) for x in found)


def may_divide(frame: FrameType | None) -> bool:
    """Whether the user's functions below the nearest trace, or those they call by name, divide anywhere."""
    seen: set[CodeType] = set()
    while frame is not None and frame.f_code.co_qualname != "trace":
        if divides(frame.f_code, values_seen_by(frame), seen):
            return True
        frame = frame.f_back
    return False


def divides(code: CodeType, values: Mapping[str, object], seen: set[CodeType]) -> bool:
    """Whether a function of the user's, or one that it calls by name, has an operator that divides."""
    # Where a class of the user's divides, operators were rewritten into calls: asked is what the user wrote.
    code = CODES.original(code) or code
    if code in seen or is_library_code(code):
        return False
    seen.add(code)
    if "divmod" in code.co_names or any(i.argrepr.rstrip("=") in DIVISIONS for i in operators_of(code)):
        return True
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    called = [values.get(name) for name in (*code.co_names, *code.co_freevars, *code.co_varnames)]
    return any(divides(c, values, seen) for c in inner) or any(
        divides(f.__code__, f.__globals__, seen) for f in called if type(f) is FunctionType
    )


DIVISIONS = ("/", "//", "%", "**")
"""Operators by which Python's numbers raise ZeroDivisionError: a power with a negative exponent as well."""


@lru_cache(maxsize=1024)
def operators_of(code: CodeType) -> tuple[Instruction, ...]:
    """The binary operators of a function."""
    return tuple([i for i in get_instructions(code) if i.opname == "BINARY_OP"])


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


def handles_inside(function: Anything, kinds: tuple[type[Exception], ...], depth: int = 5) -> bool:
    """Whether a function of the user's, or one that it calls by name, would handle one of these.

    Functions of ours are looked into: one of the user's stands in their cells.
    """
    inner = function.func if isinstance(function, partial) else getattr(function, "__wrapped__", None)
    if inner is not None:
        return handles_inside(inner, kinds, depth)
    function = getattr(function, "__func__", function)
    if type(function) is not FunctionType:
        return False
    if not is_library_code(function.__code__):
        return catches(kinds, function.__code__, function.__globals__, set())
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
    return depth > 0 and any(handles_inside(held, kinds, depth - 1) for held in cells)


def cannot_raise(name: str, raised: type[Exception]) -> UnsupportedFunctionError:
    """The error for exceptions that are asked for, waited for, and would not come."""
    return UnsupportedFunctionError(
        f"{name} is asked to raise {raised.__name__}, and traced operations raise none",
        source=Source(*user_location()),
        remedy="Ask for what the handler is for: if np.isfinite(y), or if x > 0 before np.log(x).",
    )


def _always(default: object) -> bool:
    """Where NumPy keeps its note elsewhere, every trace asks."""
    return True


ERROR_STATE: Any = getattr(np._core.umath, "_extobj_contextvar", SimpleNamespace(get=_always))  # type: ignore[attr-defined]
"""NumPy's own note of what it does about errors; a context that has none does as NumPy does at first."""


def refuse_raised_errors(function: Anything) -> None:
    """Refuse to trace a function that handles errors which NumPy was told to raise, by ``np.seterr``.

    Asked where `ERROR_STATE` has something, for hot calls must not pay for the question.
    """
    if "raise" in np.geterr().values() and handles_inside(function, (FloatingPointError,)):
        raise cannot_raise("np.seterr", FloatingPointError)


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

    A name that stands for nothing may be that of an attribute, or further down: ``except np.linalg.Error``.
    """
    names = (*code.co_names, *code.co_freevars, *code.co_varnames)
    found: list[object] = [values.get(name, getattr(builtins, name, None)) for name in names]
    owners = {id(x): x for x in found if isinstance(x, OWNERS)}
    waiting = list(owners.values())
    while waiting:
        owner = waiting.pop()
        for x in [static_attribute(owner, name) for name in code.co_names]:
            found.append(x)
            if isinstance(x, OWNERS) and id(x) not in owners:
                owners[id(x)] = x
                waiting.append(x)
    return any(issubclass(kind, c) for x in found for c in classes_in(x) for kind in kinds)


OWNERS = (ModuleType, SimpleNamespace, type)
"""What may have an exception as its attribute."""


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
