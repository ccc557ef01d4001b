"""Whether the code that is running may still write into an array, read from its bytecode.

A trace is evaluated when the traced function has returned, so an array that the function uses, and then
refills, must be copied; large constant data must not be. Code is looked through once: what it may write is a
list of names, whose values are looked up when an array is captured, or *anything*, where that cannot be told.
Nothing is evaluated but names and attributes: no user code runs.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from funcgrad.source import is_library_code
from funcgrad.tracing.python.functions import CODES
from funcgrad.tracing.python.instructions import (
    Step,
    all_steps,
    looked_up,
    running_instruction,
    static_attribute,
    take_value,
)
from funcgrad.types import Anything


def may_be_overwritten(x: object, frame: FrameType | None, last: str) -> bool:
    """Whether user code on the stack, up to a frame that runs the function `last` of ours, may write `x`."""
    while frame is not None:
        # What was rewritten reads as the user wrote it; a block runs inside of the function it is part of.
        code = CODES.original(frame.f_code)
        if code is not None and not is_library_code(code):
            found = writes_of(code, frame.f_globals)
            if found.anything or any(reaches(target, x, frame) for target in found.targets):
                return True
        elif frame.f_code.co_qualname == last:
            return False
        frame = frame.f_back
    return False


def may_write(function: FunctionType) -> bool:
    """Whether a function's code may write into any array that it did not make."""
    code = CODES.original(function.__code__)
    found = ANYTHING if code is None else writes_of(code, function.__globals__)
    return found.anything or bool(found.targets)


class Target(NamedTuple):
    """Something that is written, or called: a name in a frame, or among the globals of a function."""

    steps: tuple[Step, ...]
    names: Mapping[str, Any] | None
    settled: bool
    """Whether the name cannot come to stand for another array later."""
    is_call: bool = False


class Writes(NamedTuple):
    """What code may write into."""

    targets: tuple[Target, ...]
    anything: bool


NOTHING = Writes((), False)
ANYTHING = Writes((), True)


def reaches(target: Target, x: object, frame: FrameType) -> bool:
    """Whether a target, as it is now, is memory of `x`; True where it cannot be told."""
    if target.is_call:
        value = called_value(target.steps, frame)
        found = ANYTHING if value is None else called_writes(value, frame.f_globals)
        return found.anything or any(reaches(inner, x, frame) for inner in found.targets)
    if target.names is not None:
        value = static_value(target.steps, target.names)
    else:
        value = looked_up(target.steps, frame)
    if isinstance(value, np.ndarray):
        return np.may_share_memory(value, x) or not target.settled
    # Unbound names that are bound to new arrays only cannot come to mean this one.
    return not target.settled


def called_value(steps: Sequence[Step], frame: FrameType) -> Anything:
    """The function that a frame calls by a local name or as a method; None where it is not known yet."""
    if len(steps) == 1:
        return looked_up(steps, frame)
    owner = looked_up(steps[:-1], frame)
    own = getattr(owner, "__dict__", {})
    if isinstance(own, dict) and steps[-1].value in own:
        return own[steps[-1].value]
    return None if owner is None else static_attribute(type(owner), str(steps[-1].value))


# -- looking through code ---------------------------------------------------------------------------------

_SEEN: dict[tuple[int, int], tuple[CodeType, Mapping[str, Any], Writes]] = {}
"""By the ids of code and of its globals, which are kept: codes of two modules may be equal."""
_MOST = 4096


class Reading:
    """What one question goes through: functions that call each other are read once, and end there."""

    def __init__(self) -> None:
        self.begun: dict[tuple[int, int], Writes] = {}
        self.leant_on: set[tuple[int, int]] = set()
        """What was taken for an answer before it was one: who leans on it knows only a part."""


def writes_of(code: CodeType, names: Mapping[str, Any], reading: Reading | None = None) -> Writes:
    """What the code, and the functions that it calls by name, may write into.

    >>> def f(x):
    ...     buffer[:] = np.sin(x)
    >>> [target.steps[-1].value for target in writes_of(f.__code__, globals()).targets]
    ['buffer']
    """
    key = id(code), id(names)
    known = _SEEN.get(key)
    if known is not None:
        return known[2]
    whole = reading is None
    if reading is None:
        reading = Reading()
    elif key in reading.begun:
        reading.leant_on.add(key)
        return reading.begun[key]
    before, reading.leant_on = reading.leant_on, set()
    reading.begun[key] = NOTHING
    found = reading.begun[key] = Reader(code, names, reading).writes()
    reading.leant_on.discard(key)
    # Whoever begins has gone through all there is.
    if whole or not reading.leant_on:
        if len(_SEEN) >= _MOST:
            _SEEN.clear()
        _SEEN[key] = code, names, found
    reading.leant_on |= before
    return found


class Reader:
    """Reads the instructions of one function."""

    def __init__(self, code: CodeType, names: Mapping[str, Any], reading: Reading) -> None:
        self._code = code
        self._names = names
        self._reading = reading
        self._steps = list(all_steps(code))
        self._unsettled = frozenset(self._rebound_names())

    def writes(self) -> Writes:
        """Everything that the code may write."""
        targets: dict[tuple[Any, ...], Target] = {}
        for found in self._all():
            if found.anything:
                return ANYTHING
            for target in found.targets:
                key = (tuple([(s.name, s.value) for s in target.steps]), id(target.names), target.is_call)
                targets[key] = target
        return Writes(tuple(targets.values()), False)

    def _all(self) -> Iterator[Writes]:
        for place, step in enumerate(self._steps):
            before = self._steps[:place]
            if step.name in ("STORE_SUBSCR", "STORE_SLICE"):
                yield self._stored(before, step)
            elif step.name == "BINARY_OP" and str(step.value).endswith("="):
                yield self._in_place(before)
            elif step.name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX"):
                yield self._called(step)
            elif isinstance(step.value, tuple) and any(writes_by_keyword(word) for word in step.value):
                yield ANYTHING
        for constant in self._code.co_consts:
            if isinstance(constant, CodeType):
                yield outside(writes_of(constant, self._names, self._reading))

    def _stored(self, before: list[Step], store: Step) -> Writes:
        if before and before[-1].name == "SWAP":
            # The end of ``a[k] += v``, whose beginning copied array and index.
            while before and before[-1].name == "SWAP":
                before.pop()
            take_value(before)
            copies = [k for k, step in enumerate(before) if step.name == "COPY"]
            before = self._steps[: self._first_copy(copies, before)]
        for _ in range(2 if store.name == "STORE_SLICE" else 1):
            take_value(before)
        return self._written(take_value(before))

    @staticmethod
    def _first_copy(copies: Sequence[int], before: Sequence[Step]) -> int:
        """Where the last run of copies begins."""
        k = len(copies) - 1
        while k > 0 and copies[k - 1] == copies[k] - 1:
            k -= 1
        return copies[k] if copies else len(before)

    def _in_place(self, before: list[Step]) -> Writes:
        take_value(before)
        if (before and before[-1].name in ("BINARY_SUBSCR", "BINARY_SLICE")) or is_copied_item(before):
            return NOTHING  # seen where it is stored
        if len(before) > 1 and before[-1].name == "LOAD_ATTR" and before[-2].name == "COPY":
            attribute = before[-1]
            owner = take_value(before[:-2])
            return self._written([*owner, attribute] if owner else [])
        return self._written(take_value(before))

    def _written(self, steps: Sequence[Step]) -> Writes:
        steps = [step for step in steps if step.name != "PUSH_NULL"]
        if not steps or not is_path(steps):
            return NOTHING if steps and steps[-1].name in _NEW_CONTAINERS else ANYTHING
        settled = steps[0].value not in self._unsettled or "_FAST" not in steps[0].name
        return Writes((Target(tuple(steps), None, settled),), False)

    def _called(self, call: Step) -> Writes:
        running = running_instruction(self._code, call.offset)
        steps = [step for step in running.function if step.name != "PUSH_NULL"]
        if not steps:
            return ANYTHING
        method = steps[-1].value if steps[-1].name in ("LOAD_ATTR", "LOAD_METHOD") else None
        value = static_value(steps, self._names)
        if value is not None:
            if isinstance(call.value, int) and is_given_out(value, call.value):
                return ANYTHING
            return outside(called_writes(value, self._names, self._reading))
        if method in _WRITING_METHODS:
            return self._written(steps[:-1])
        if method in _READING_METHODS or self._returns_ours(steps):
            return NOTHING
        return Writes((Target(tuple(steps), None, False, True),), False) if is_path(steps) else ANYTHING

    def _returns_ours(self, steps: Sequence[Step]) -> bool:
        """Whether what is called was returned by a transform or another function of a library."""
        if steps[-1].name not in ("CALL", "CALL_KW"):
            return False
        inner = running_instruction(self._code, steps[-1].offset).function
        value = static_value([step for step in inner if step.name != "PUSH_NULL"], self._names)
        return value is not None and not called_writes(value, self._names, self._reading).anything

    def _rebound_names(self) -> Iterator[str]:
        """Local names that are bound to anything but new values: they may come to stand for any array."""
        for place, step in enumerate(self._steps):
            if step.name == "STORE_FAST" and not self._is_new(self._steps[:place]):
                yield step.value

    def _is_new(self, before: list[Step]) -> bool:
        value = take_value(before)
        if not value:
            return False
        last = value[-1]
        if last.name in _NEW_CONTAINERS or last.name.startswith(("BINARY_OP", "UNARY_", "COMPARE_")):
            return True
        if last.name not in ("CALL", "CALL_KW"):
            return last.name == "LOAD_CONST"
        function = running_instruction(self._code, last.offset).function
        name = function[-1].value if function else None
        return name in _NEW_ARRAYS or isinstance(getattr(np, str(name), None), np.ufunc)


_NEW_CONTAINERS = frozenset({"BUILD_LIST", "BUILD_MAP", "BUILD_SET", "BUILD_TUPLE", "BUILD_CONST_KEY_MAP"})
_NEW_ARRAYS = frozenset(
    f"{name}{like}"
    for name in ("zeros", "ones", "empty", "full", "eye", "arange", "linspace", "copy", "dict", "list", "sum")
    for like in ("", "_like")
)
_WRITING_METHODS = frozenset(
    ["fill", "sort", "put", "itemset", "partition", "resize", "byteswap", "setfield", "__setitem__"]
)
DRAWING_METHODS = frozenset(
    [
        *("beta", "binomial", "bit_generator", "bytes", "chisquare", "choice", "dirichlet", "exponential"),
        *("f", "gamma", "geometric", "gumbel", "hypergeometric", "integers", "laplace", "logistic"),
        *("lognormal", "logseries", "multinomial", "multivariate_hypergeometric", "multivariate_normal"),
        *("negative_binomial", "noncentral_chisquare", "noncentral_f", "normal", "pareto", "permutation"),
        *("permuted", "poisson", "power", "random", "rayleigh", "spawn", "standard_cauchy"),
        *("standard_exponential", "standard_gamma", "standard_normal", "standard_t", "triangular", "uniform"),
        *("vonmises", "wald", "weibull", "zipf"),
    ]
)
"""Methods of ``np.random.Generator``, written out: to import `numpy.random` takes 10 ms."""
_READING_METHODS = DRAWING_METHODS | frozenset(
    name
    for kind in (np.ndarray, list, dict, str, set, tuple, float)
    for name in dir(kind)
    if name not in _WRITING_METHODS
)
_WRITERS = frozenset(
    [
        "copyto",
        "put",
        "place",
        "putmask",
        "fill_diagonal",
        "put_along_axis",
        "shuffle",
        "at",
        "setitem",
        "map",
    ]
)


def writes_by_keyword(word: object) -> bool:
    """Whether an option of this name has a function write into an argument."""
    return isinstance(word, str) and (word == "out" or word.startswith("overwrite_"))


def is_given_out(function: object, count: int) -> bool:
    """Whether so many positional arguments reach ``out``: ``np.add(a, 1, a)``, ``np.round(a, 0, a)``."""
    if isinstance(function, np.ufunc):
        return count > function.nin
    inner = getattr(function, "_implementation", None)
    code = getattr(inner, "__code__", None)
    if code is not None:
        return "out" in code.co_varnames[: min(count, code.co_argcount)]
    # `np.dot(a, b, out)` and `np.concatenate(parts, axis, out)` are of C and show no names.
    return inner is not None and count > 2


def is_copied_item(steps: Sequence[Step]) -> bool:
    """Whether the steps end with the element that ``a[k] += v`` reads (Python 3.14 reads by BINARY_OP)."""
    return len(steps) > 1 and steps[-1].name == "BINARY_OP" and steps[-2].name == "COPY"


def is_path(steps: Sequence[Step]) -> bool:
    """Whether the steps load a name, and attributes of it."""
    return steps[0].name.startswith("LOAD_") and all(
        step.name in ("LOAD_ATTR", "LOAD_METHOD") for step in steps[1:]
    )


def outside(found: Writes) -> Writes:
    """What a function may write, seen from its caller, who knows nothing of its variables."""
    return ANYTHING if found.anything or any(target.names is None for target in found.targets) else found


# -- what is called ---------------------------------------------------------------------------------------


def static_value(steps: Sequence[Step], names: Mapping[str, Any]) -> Anything:
    """The value of a global name or of attributes of modules; None where it is none."""
    if not steps or not is_path(steps) or steps[0].name not in ("LOAD_GLOBAL", "LOAD_NAME"):
        return None
    value = names.get(steps[0].value, getattr(builtins, str(steps[0].value), None))
    for step in steps[1:]:
        if not isinstance(value, ModuleType | type):
            return None
        value = static_attribute(value, step.value)
    return value


def called_writes(function: object, names: Mapping[str, Any], reading: Reading | None = None) -> Writes:
    """What a call of the function may write."""
    function = getattr(function, "__func__", function) if isinstance(function, MethodType) else function
    if isinstance(function, staticmethod | classmethod):
        function = function.__func__
    if isinstance(function, FunctionType):
        if is_library_code(function.__code__):
            return ANYTHING if function.__name__ in _WRITERS else NOTHING
        code = CODES.original(function.__code__)
        found = ANYTHING if code is None else writes_of(code, function.__globals__, reading)
        return by_globals(found, function.__globals__)
    if isinstance(function, type):
        made = static_attribute(function, "__init__")
        return called_writes(made, names, reading) if isinstance(made, FunctionType) else NOTHING
    if (
        isinstance(function, BuiltinFunctionType | np.ufunc)
        or type(function).__name__ == "_ArrayFunctionDispatcher"
    ):
        return ANYTHING if getattr(function, "__name__", "") in _WRITERS else NOTHING
    package = str(type(function).__module__).split(".")[0]
    return NOTHING if package in ("funcgrad", "functools", "operator") else ANYTHING


def by_globals(found: Writes, names: Mapping[str, Any]) -> Writes:
    """The targets of a function that is not running: its global names are looked up where it stands."""
    if found.anything or any(not is_global(target) for target in found.targets):
        return ANYTHING
    return Writes(tuple([t if t.names else t._replace(names=names) for t in found.targets]), False)


def is_global(target: Target) -> bool:
    """Whether the target is a global name of its function, or of the function that it comes from."""
    return target.names is not None or target.steps[0].name in ("LOAD_GLOBAL", "LOAD_NAME")
