"""A function's instructions, as its bytecode has them: what runs, what makes a value, what a name stands for.

Values are only looked up in frames, never computed: no user code runs.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import CodeType, FrameType, ModuleType
from typing import NamedTuple

from funcgrad.types import AnyPrimitive, Anything

CALLS = frozenset({"CALL", "PRECALL", "CALL_KW", "CALL_FUNCTION_EX"})
"""Python 3.11 runs many calls at the PRECALL before the CALL."""


class Names(NamedTuple):
    """What names stand for where a function is not running yet."""

    f_locals: Mapping[str, Anything]
    f_globals: Mapping[str, Anything]
    f_builtins: Mapping[str, Anything]


class Step:
    """One instruction: its name, what it names, its place, and its effect on the stack."""

    __slots__ = ("effect", "name", "offset", "value")

    def __init__(self, name: str, value: Anything, offset: int, effect: int) -> None:
        self.name = name
        self.value = value
        self.offset = offset
        self.effect = effect


class Running:
    """An instruction: its name, operator and place, and for calls what made function and arguments."""

    __slots__ = ("arguments", "function", "keywords", "name", "offset", "operator")

    def __init__(
        self,
        name: str,
        offset: int,
        function: Sequence[Step] = (),
        arguments: Sequence[Sequence[Step]] = (),
        operator: AnyPrimitive = None,
        keywords: Sequence[str] = (),
    ) -> None:
        self.operator = operator
        self.name = name
        self.offset = offset
        self.function = function
        self.arguments = arguments
        self.keywords = keywords


@lru_cache(maxsize=1024)
def running_instruction(code: CodeType, lasti: int) -> Running:
    """The instruction at an offset."""
    steps = steps_until(code, lasti)
    if not steps:
        return Running("", lasti)
    last = steps.pop()
    if last.name not in CALLS:
        return Running(last.name, last.offset, operator=last.value)
    keywords: Sequence[str] = ()
    while steps and steps[-1].name in ("PRECALL", "KW_NAMES"):
        step = steps.pop()
        keywords = step.value if step.name == "KW_NAMES" else keywords
    count = last.value if isinstance(last.value, int) else 0
    if last.name == "CALL_KW":
        keywords = take_value(steps)[-1].value
    elif last.name == "CALL_FUNCTION_EX":
        count = 1 + (last.value & 1 if isinstance(last.value, int) else 0)
    arguments = [take_value(steps) for _ in range(count)]
    while steps and steps[-1].name == "PUSH_NULL":
        steps.pop()
    return Running(last.name, last.offset, take_value(steps), arguments[::-1], keywords=keywords)


def steps_until(code: CodeType, lasti: int) -> list[Step]:
    """The instructions up to and including the one at `lasti`, without those that do nothing."""
    return [step for step in all_steps(code) if step.offset <= lasti]


def steps_after(code: CodeType, offset: int, count: int) -> list[Step]:
    """The instructions behind the one at an offset, at most so many."""
    return [step for step in all_steps(code) if step.offset > offset][:count]


@lru_cache(maxsize=64)
def all_steps(code: CodeType) -> tuple[Step, ...]:
    """The instructions of a function, without those that do nothing."""
    steps = []
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in ("CACHE", "NOP", "EXTENDED_ARG", "RESUME", "NOT_TAKEN"):
            continue
        argument = instruction.arg if instruction.opcode >= dis.HAVE_ARGUMENT else None
        value = instruction.arg if name in CALLS else instruction.argval
        if isinstance(value, tuple) and "_FAST_" in name:
            # Since Python 3.13 one instruction may load or store two variables.
            kinds = name.split("_")[0], "LOAD" if "_LOAD_" in name else "STORE"
            for kind, variable_name in zip(kinds, value, strict=True):
                effect = 1 if kind == "LOAD" else -1
                steps.append(Step(f"{kind}_FAST", variable_name, instruction.offset, effect))
            continue
        if name == "BINARY_OP":
            value = instruction.argrepr
        elif name == "KW_NAMES":
            value = code.co_consts[instruction.arg or 0]
        steps.append(Step(name, value, instruction.offset, dis.stack_effect(instruction.opcode, argument)))
    return tuple(steps)


def take_value(steps: list[Step]) -> list[Step]:
    """Remove from the end the steps that leave one value on the stack; empty where they cannot be told."""
    taken: list[Step] = []
    depth = 0
    while steps and depth < 1:
        step = steps.pop()
        taken.append(step)
        depth += step.effect
    if taken and taken[-1].name in ("LOAD_METHOD", "LOAD_ATTR") and depth >= 1:
        # It leaves two values for the owner it takes: the method and, for the call, the owner again.
        return take_value(steps) + taken[::-1]
    # After a jump, what stands before is another branch of a conditional expression.
    joined = bool(steps) and "JUMP" in steps[-1].name and "BACKWARD" not in steps[-1].name
    return taken[::-1] if depth >= 1 and not joined else []


NOTHING = object()


def looked_up(steps: Sequence[Step], frame: FrameType | Names) -> Anything:
    """The value of a variable, an attribute of an instance or module, or an element of a list."""
    names = [step for step in steps if step.name != "PUSH_NULL"]
    if not names:
        return None
    first, *rest = names
    value = variable(first, frame)
    for k, step in enumerate(rest):
        if step.name in ("LOAD_ATTR", "LOAD_METHOD"):
            value = getattr(value, "__dict__", {}).get(step.value, NOTHING)
        elif step.name in ("LOAD_CONST", "LOAD_SMALL_INT") and rest[k + 1 :] and is_subscript(rest[k + 1]):
            value = element(value, step.value)
        elif not is_subscript(step):
            return None
        if value is NOTHING:
            return None
    return value


def is_subscript(step: Step) -> bool:
    """Whether the step reads an element; Python 3.14 counts that among the binary operators."""
    return step.name == "BINARY_SUBSCR" or (step.name == "BINARY_OP" and step.value == "[]")


def variable(step: Step, frame: FrameType | Names) -> Anything:
    """The value of a variable of the frame."""
    if not step.name.startswith("LOAD_") or not isinstance(step.value, str):
        return NOTHING
    for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
        if step.value in names:
            return names[step.value]
    return NOTHING


def element(value: Anything, key: Anything) -> Anything:
    """An element of a list, tuple or dict."""
    if type(value) in (list, tuple) and isinstance(key, int) and -len(value) <= key < len(value):
        return value[key]
    return value.get(key, NOTHING) if type(value) is dict and isinstance(key, str | int) else NOTHING


def is_comprehension(steps: Sequence[Step]) -> bool:
    """Whether the steps run a list comprehension: called as a function until Python 3.11, inlined later."""
    names = [step.name for step in steps]
    if "LIST_APPEND" in names or "FOR_ITER" in names:
        return True
    return names[-1] == "CALL" and "GET_ITER" in names[-3:] and "MAKE_FUNCTION" in names


_OF_EVERY_OWNER = frozenset([*dir(ModuleType), *dir(type)])
"""What modules and classes have because they are modules and classes."""


def static_attribute(owner: object, name: str) -> Anything:
    """What an object has under a name, or None; as `inspect.getattr_static`, at once of modules and classes.

    >>> static_attribute(dis, "opname") is dis.opname
    True
    """
    kind = type(owner)
    if name not in _OF_EVERY_OWNER:
        if kind is ModuleType:
            return vars(owner).get(name)
        if isinstance(owner, type) and kind is type:
            return next((vars(base)[name] for base in owner.__mro__ if name in vars(base)), None)
    return inspect.getattr_static(owner, name, None)
