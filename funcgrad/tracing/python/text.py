"""Where a text goes that a traced number was written as: whether something reads a number in it again.

A text that Python makes of several is a plain `str`, made in C, and nothing of ours is asked when it is
read. So when a number is formatted, the code that asked is looked at from there on: its instructions are
followed, in the order in which they stand, as long as they make text of text, keep it in a variable, or hand
it back to the caller.
"""

from __future__ import annotations

import builtins
import string
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from types import CodeType, FrameType, FunctionType
from typing import NamedTuple

import numpy as np

from funcgrad.tracing.python.escapes import HOOKS
from funcgrad.tracing.python.instructions import (
    CALLS,
    Names,
    Running,
    Step,
    all_steps,
    is_subscript,
    looked_up,
    running_instruction,
    take_value,
)

READERS = {
    **{("builtins", name): f"{name}()" for name in ("float", "complex", "eval")},
    ("ast", "literal_eval"): "ast.literal_eval()",
    ("decimal", "Decimal"): "decimal.Decimal()",
    ("fractions", "Fraction"): "fractions.Fraction()",
    ("json", "loads"): "json.loads()",
    **{("numpy", name): f"np.{name}()" for name in ("fromstring", "genfromtxt", "loadtxt", "float64")},
    ("pandas", "to_numeric"): "pd.to_numeric()",
    ("", "astype"): "astype()",
}
"""What makes a number of a text, by module and name."""

TEMPLATES = frozenset({string.__file__})
"""Files of the standard library's that format in Python for whoever calls them."""

CHANGES = frozenset({"lower", "upper", "casefold", "replace", "translate", "sub", "encode", "decode"})
PADDING = frozenset({"strip", "lstrip", "rstrip", "center", "ljust", "rjust", "zfill", "dedent"})
FILLING = frozenset({"join", "format", "format_map", "substitute", "removeprefix", "removesuffix", "dumps"})
PARTS = frozenset(
    {"split", "rsplit", "splitlines", "partition", "findall", "match", "search", "group", "slice"}
)
HOLDING = frozenset({"array", "asarray", "getvalue", "read", "readline", "readlines"})
TEXT_METHODS = CHANGES | PADDING | FILLING | PARTS | HOLDING
"""What makes text of text, of any class or module."""

OF_TEXT = ("FORMAT_", "CONVERT_VALUE", "BUILD_", "LIST_", "GET_ITER")
"""Instructions that make text of text, and lists of it."""

KEEPING = frozenset({"append", "add", "insert", "extend", "appendleft", "write", "writelines"})
"""Methods by which a container or a stream keeps what it is given."""

MIXED = frozenset({"BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_SET", "BUILD_CONST_KEY_MAP"})
"""Instructions that make containers, in which other things may stand beside the text."""

COMBINING = frozenset({"add", "iadd", "mod", "imod", "mul", "imul"})
"""Operators that make text of text, by the names that rewritten code has for them."""

ANSWERING = frozenset({"compare", "truth", "not_", "contained"})
"""What rewritten code calls with a text and is answered yes or no."""

MAX_CALLERS = 8
"""How far a text is followed that functions return."""


class Way(NamedTuple):
    """Where a text goes within a function."""

    takers: tuple[tuple[tuple[Step, ...], tuple[int | str, ...]], ...]
    """The instructions that make the functions which it is given to, and as which arguments, or keywords."""
    converted: bool
    """Whether it is an array that is made one of numbers."""
    returned: bool
    """Whether it is handed back to the caller."""


NOWHERE = Way((), False, False)


def read_back(frame: FrameType) -> str:
    """Who is handed the text that the running instruction makes and reads a number in it; empty if nobody."""
    while frame.f_code.co_filename in TEMPLATES and frame.f_back is not None:
        frame = frame.f_back
    for taker in takers(frame, running_instruction(frame.f_code, frame.f_lasti).offset):
        name = READERS.get((getattr(taker, "__module__", ""), getattr(taker, "__name__", "")), "")
        if name:
            return name
    return ""


def printed(frame: FrameType, offset: int) -> bool:
    """Whether the result of the call at an offset is an argument of `print`."""
    return print in takers(frame, offset)


def takers(frame: FrameType, offset: int) -> Iterator[object]:
    """The functions that are given the text which an instruction makes, or text that it becomes a part of."""
    for _ in range(MAX_CALLERS):
        way = way_of(frame.f_code, offset)
        for steps, places in way.takers:
            taker = looked_up(steps, frame)
            yield taker
            if isinstance(taker, FunctionType):
                yield from takers_within(taker, places)
        if way.converted:
            yield np.ndarray.astype
        if not way.returned or frame.f_back is None:
            return
        frame = frame.f_back
        running = running_instruction(frame.f_code, frame.f_lasti)
        if running.name not in CALLS:
            return
        offset = running.offset


def takers_within(function: FunctionType, places: Sequence[int | str], depth: int = 3) -> Iterator[object]:
    """The functions that a function of Python's gives some of its arguments to, and those that these do."""
    code = function.__code__
    by_place = dict(enumerate(code.co_varnames[: code.co_argcount]))
    given = frozenset([k if isinstance(k, str) else by_place.get(k, "") for k in places])
    way = way_of(code, -1, given) if given else NOWHERE
    if way.converted:
        yield np.ndarray.astype
    names = Names({}, function.__globals__, vars(builtins))
    for steps, further in way.takers:
        taker = looked_up(steps, names)
        yield taker
        if depth and isinstance(taker, FunctionType):
            yield from takers_within(taker, further, depth - 1)


@lru_cache(maxsize=1024)
def way_of(code: CodeType, offset: int, given: frozenset[str] = frozenset()) -> Way:
    """Where the text goes that the instruction at an offset makes, or that arguments are given."""
    return _Text(code, offset, given).way()


class _Text:
    """A text on its way through a function."""

    def __init__(self, code: CodeType, offset: int, given: Iterable[str]) -> None:
        self.code = code
        self.offset = offset
        self.kept = set(given)
        """The variables that hold it."""

    def way(self) -> Way:
        """Its takers, in the order of the instructions."""
        takers = []
        converted = returned = False
        steps = all_steps(self.code)
        for k, step in enumerate(steps):
            if step.offset <= self.offset:
                continue
            if step.name.startswith(("STORE_FAST", "STORE_DEREF")):
                (self.kept.add if self.is_kept(stored(list(steps[:k]))) else self.kept.discard)(step.value)
            elif step.name == "STORE_SUBSCR":
                before = list(steps[:k])
                _, container, value = (take_value(before) for _ in range(3))
                self.keep_in(container, [value])
            elif step.name in ("RETURN_VALUE", "YIELD_VALUE", "LIST_APPEND"):
                # A comprehension is a function of its own in Python 3.11.
                listed = step.name == "LIST_APPEND" and self.code.co_name != "<listcomp>"
                returned |= not listed and self.stands_in(take_value(list(steps[:k])))
            elif step.name in CALLS and step.name != "PRECALL":
                call = running_instruction(self.code, step.offset)
                names = argument_names(call)
                places = [name for name, x in zip(names, call.arguments, strict=True) if self.stands_in(x)]
                if places:
                    takers.append((tuple(self.asked_about(call.function)), tuple(places)))
                owner, method = self.method_of(call.function)
                converted |= method == "astype" and self.stands_in(owner)
                if method in KEEPING:
                    self.keep_in(owner, call.arguments)
        return Way(tuple(takers), converted, returned)

    def is_kept(self, steps: Sequence[Step]) -> bool:
        """Whether instructions make the text, and no container in which it is one of several things."""
        return bool(steps) and steps[-1].name not in MIXED and self.stands_in(steps)

    def keep_in(self, container: Sequence[Step], values: Sequence[Sequence[Step]]) -> None:
        """A variable holds it when its elements do."""
        if len(container) == 1 and any(self.is_kept(x) for x in values):
            self.kept.add(container[0].value)

    def stands_in(self, steps: Sequence[Step]) -> bool:
        """Whether the text stands in the value that instructions make."""
        if not steps:
            return False
        last = steps[-1]
        if last.offset == self.offset:
            return True
        if last.name.startswith(("LOAD_FAST", "LOAD_DEREF")):
            return last.value in self.kept
        if last.name in CALLS:
            return self.stands_in_result(last)
        made_of = operands(steps)
        if is_subscript(last) or last.name == "BINARY_SLICE":
            return bool(made_of) and self.stands_in(made_of[0])  # not in what a key opens
        combines = last.name == "BINARY_OP" and str(last.value).rstrip("=") in ("+", "%", "*")
        return (combines or last.name.startswith(OF_TEXT)) and any(self.stands_in(x) for x in made_of)

    def stands_in_result(self, call: Step) -> bool:
        """Whether the text stands in what a call gives."""
        running = running_instruction(self.code, call.offset)
        given = running.arguments
        function = self.asked_about(running.function)
        if not function:
            return False
        hook = hook_called(function)
        if hook == "operated":
            name = given[0][-1].value if given[0] else ""
            return name in COMBINING and any(self.stands_in(x) for x in given[1:])
        if hook:
            return hook not in ANSWERING and bool(given) and self.stands_in(given[0])
        owner, method = self.method_of(function)
        if method in TEXT_METHODS:
            return self.stands_in(owner) or any(self.stands_in(x) for x in given)
        return function[-1].value in ("str", "format") and any(self.stands_in(x) for x in given)

    def asked_about(self, function: Sequence[Step]) -> Sequence[Step]:
        """What makes a function, where rewritten code asks what to call in its place."""
        if function and function[-1].name in CALLS:
            asking = running_instruction(self.code, function[-1].offset)
            if len(asking.arguments) == 1 and hook_called(asking.function) == "function":
                return asking.arguments[0]
        return function

    def method_of(self, function: Sequence[Step]) -> tuple[Sequence[Step], str]:
        """What makes the owner of a method, and its name; empty if it is none."""
        function = self.asked_about(function)
        last = function[-1] if function else None
        if last is None:
            return (), ""
        if last.name in ("LOAD_METHOD", "LOAD_ATTR"):
            return function[:-1], str(last.value)
        if last.name in CALLS:
            asking = running_instruction(self.code, last.offset)
            if hook_called(asking.function) == "attribute" and len(asking.arguments) == 2:
                owner, name = asking.arguments
                return owner, str(name[-1].value) if name else ""
        return (), ""


def hook_called(function: Sequence[Step]) -> str:
    """The name of the hook of rewritten code that instructions make; empty if they make another function."""
    steps = [step for step in function if step.name != "PUSH_NULL"]
    return str(steps[1].value) if len(steps) == 2 and steps[0].value == HOOKS else ""


def argument_names(call: Running) -> Sequence[int | str]:
    """Which arguments a call gives: by their place, or their keyword; -1 for a tuple of them."""
    count = len(call.arguments)
    if call.name == "CALL_FUNCTION_EX":
        return [-1] * count
    return [*range(count - len(call.keywords)), *call.keywords]


def operands(steps: Sequence[Step]) -> list[list[Step]]:
    """What makes each value that the last of the instructions takes."""
    rest = list(steps[:-1])
    found = []
    while rest:
        value = take_value(rest)
        if not value:
            break
        found.append(value)
    return found[::-1]


def stored(before: list[Step]) -> list[Step]:
    """What makes the value that is stored next, or the one that it is an element of."""
    while before and before[-1].name.startswith("STORE_FAST"):
        before.pop()  # of a tuple that was taken apart
    if before and before[-1].name in ("UNPACK_SEQUENCE", "FOR_ITER"):
        before.pop()
    return take_value(before)
