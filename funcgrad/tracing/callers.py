"""What the code that called into NumPy was doing, read from its bytecode.

NumPy asks a tracer for its array in the same words whether it is given the tracer or a list that holds
it, and asks for a float when one is stored into an array. Only the instruction that is running tells
these apart:

- a store (``a[0] = t``) is known by the instruction itself;
- a call is given *the tracer itself* when one of its arguments is a variable, an attribute or an element
  that is the tracer, or the result of the instruction that made it;
- a call is given *a list* when an argument is a list or tuple display, a comprehension, or a variable
  that holds anything else;
- where none of this can be read (the result of a call, a conditional expression) nothing is known, and
  the caller of this module does what keeps gradients.

Knows nothing of tracers but their identity and where they were made. Values are only looked up in frames,
never computed: no user code runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from funcgrad.tracing.python.escapes import HOOKS
from funcgrad.tracing.python.instructions import (
    CALLS,
    Step,
    is_comprehension,
    looked_up,
    running_instruction,
    steps_after,
)
from funcgrad.tracing.python.text import printed
from funcgrad.types import Anything


class Use(Enum):
    """What is being done with a tracer."""

    STORED = "stored into a subscript"
    PASSED = "an argument of a call"
    LISTED = "an element of an argument of a call"
    UNKNOWN = "nothing that can be read"


_LISTS = frozenset({"BUILD_LIST", "BUILD_TUPLE", "LIST_EXTEND", "LIST_APPEND", "LIST_TO_TUPLE"})
_STORES = frozenset({"STORE_SUBSCR", "STORE_SLICE"})
_MAKERS = ("BINARY_", "UNARY_", "COMPARE_OP", "PRECALL", "CALL")
"""Instructions whose result is a tracer made by them, if it was made at their place."""


def use_of(x: object, made_at: object, is_latest: bool, frame: FrameType) -> Use:
    """What the frame is doing with `x`, which was made at ``made_at``, a (code, offset) or None."""
    instruction = running_instruction(frame.f_code, frame.f_lasti)
    if instruction.name in _STORES:
        return Use.STORED
    if not instruction.arguments:
        return Use.UNKNOWN
    seen = [kind_of(argument, x, made_at, is_latest, frame) for argument in instruction.arguments]
    if Use.PASSED in seen:
        return Use.PASSED
    return Use.LISTED if Use.LISTED in seen else Use.UNKNOWN


def called_function(frame: FrameType) -> Anything:
    """The function that the frame is calling, if it is a name or an attribute of a module; else None."""
    function = running_instruction(frame.f_code, frame.f_lasti).function
    return looked_up(function, frame) if function else None


def asked_function(frame: FrameType, lasti: int) -> Anything:
    """The function that a frame calls at an instruction, also where the call was rewritten to ask for it."""
    function = running_instruction(frame.f_code, lasti).function
    steps = [step for step in function if step.name not in ("PUSH_NULL", "PRECALL")]
    if len(steps) > 3 and steps[-1].name in CALLS and steps[0].value == HOOKS:
        return looked_up(steps[2:-1], frame)
    return looked_up(steps, frame) if steps else None


def called_method(frame: FrameType) -> str | None:
    """The name of the method that the frame is calling; None where it calls no attribute."""
    function = running_instruction(frame.f_code, frame.f_lasti).function
    last = function[-1] if function else None
    return last.value if last is not None and last.name in ("LOAD_METHOD", "LOAD_ATTR") else None


def called_name(frame: FrameType) -> str:
    """What the frame calls, as the user spells it: ``stats.norm.pdf``; ``""`` where it is no dotted name."""
    steps = [s for s in running_instruction(frame.f_code, frame.f_lasti).function if s.name != "PUSH_NULL"]
    if not steps or not all(s.name.startswith("LOAD_") and isinstance(s.value, str) for s in steps):
        return ""
    return ".".join([s.value for s in steps])


def formats(frame: FrameType) -> bool:
    """Whether the frame runs a ``%``: what asks for a number there is ``"%.3f" % x``."""
    instruction = running_instruction(frame.f_code, frame.f_lasti)
    return instruction.name == "BINARY_OP" and instruction.operator in ("%", "%=")


_SHOWS = frozenset({"FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "CONVERT_VALUE"})
_DECIDES = frozenset({"COMPARE_OP", "CONTAINS_OP", "TO_BOOL", "UNARY_NOT"})
_SIMPLE_LOADS = frozenset(
    {"LOAD_CONST", "LOAD_SMALL_INT", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_GLOBAL", "LOAD_DEREF"}
)


def only_decides_or_shows(frame: FrameType) -> bool:
    """Whether the result of the running call is compared, branched on, formatted or printed, and no more.

    So it is in ``if float(x) < 1``, ``f"{float(x):.3f}"`` and ``print(x.item())``.
    """
    running = running_instruction(frame.f_code, frame.f_lasti)
    return running.name in CALLS and (
        consumed_by_control(frame.f_code, running.offset) or printed(frame, running.offset)
    )


@lru_cache(maxsize=1024)
def consumed_by_control(code: CodeType, offset: int) -> bool:
    """Whether what comes behind the call at an offset compares its result, branches on it or shows it."""
    first, second = (*steps_after(code, offset, 2), None, None)[:2]
    if first is None:
        return False
    if first.name in _SHOWS or first.name in _DECIDES or ("JUMP" in first.name and "_IF_" in first.name):
        return True
    if second is None or first.name not in _SIMPLE_LOADS:
        return False
    return second.name == "COMPARE_OP" or (second.name in _SHOWS and first.name == "LOAD_CONST")


def compares_elements(frame: FrameType) -> bool:
    """Whether the frame calls a C function, such as ``max`` or ``sorted``, and is at no branch of its own."""
    running = running_instruction(frame.f_code, frame.f_lasti)
    return running.name in CALLS and called_function(frame) is not bool


# -- what an argument is ----------------------------------------------------------------------------------


def kind_of(steps: Sequence[Step], x: object, made_at: object, is_latest: bool, frame: FrameType) -> Use:
    """Whether the value of the steps is `x`, holds it, or cannot be told."""
    if not steps:
        return Use.UNKNOWN
    last = steps[-1]
    if last.name in _LISTS or is_comprehension(steps):
        return Use.LISTED
    makers = [
        step.offset for step in steps[-2 if last.name in CALLS else -1 :] if step.name.startswith(_MAKERS)
    ]
    here = isinstance(made_at, tuple) and offset_in(frame.f_code, made_at) in makers
    if last.name in CALLS:
        return Use.PASSED if returns_tracer(last, x, here and is_latest, frame) else Use.UNKNOWN
    if here:
        return Use.PASSED
    value = looked_up(steps, frame)
    if value is x:
        return Use.PASSED
    return Use.LISTED if isinstance(value, list | tuple) else Use.UNKNOWN


def offset_in(code: CodeType, place: tuple[Any, ...]) -> int | None:
    """The offset of the instruction at a place; None if it is in other code.

    A call of Python code leaves the place behind the instruction, among its inline caches.
    """
    return running_instruction(code, place[1]).offset if place and place[0] is code else None


def returns_tracer(call: Step, x: object, made_last: bool, frame: FrameType) -> bool:
    """Whether the call is of a method of a tracer, or of a function of NumPy's or ours that made `x` last.

    Functions like `list` and `map` return many of what they made.
    """
    function = running_instruction(frame.f_code, call.offset).function
    if not function:
        return False
    if type(looked_up(function[:-1], frame)) is type(x):
        return True
    found = looked_up(function, frame)
    module = getattr(found, "__module__", None) or type(found).__module__
    return made_last and module.split(".")[0] in ("numpy", "funcgrad")
