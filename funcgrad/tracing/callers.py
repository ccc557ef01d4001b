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

import dis
import inspect
import string
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from types import CodeType, FrameType, ModuleType
from typing import Any

from funcgrad.tracing.python.escapes import HOOKS
from funcgrad.types import AnyPrimitive, Anything


class Use(Enum):
    """What is being done with a tracer."""

    STORED = "stored into a subscript"
    PASSED = "an argument of a call"
    LISTED = "an element of an argument of a call"
    UNKNOWN = "nothing that can be read"


_LISTS = frozenset({"BUILD_LIST", "BUILD_TUPLE", "LIST_EXTEND", "LIST_APPEND", "LIST_TO_TUPLE"})
_STORES = frozenset({"STORE_SUBSCR", "STORE_SLICE"})
_CALLS = frozenset({"CALL", "PRECALL", "CALL_KW", "CALL_FUNCTION_EX"})
"""Python 3.11 runs many calls at the PRECALL before the CALL."""
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
    if len(steps) > 3 and steps[-1].name in _CALLS and steps[0].value == HOOKS:
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
    return running.name in _CALLS and (
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


def printed(frame: FrameType, offset: int) -> bool:
    """Whether the result of the call at an offset is an argument of `print`."""
    return print in takers(frame, offset)


READERS = {
    **{("builtins", name): f"{name}()" for name in ("float", "complex", "eval")},
    ("ast", "literal_eval"): "ast.literal_eval()",
    ("decimal", "Decimal"): "decimal.Decimal()",
    ("fractions", "Fraction"): "fractions.Fraction()",
    ("json", "loads"): "json.loads()",
    **{("numpy", name): f"np.{name}()" for name in ("fromstring", "genfromtxt", "loadtxt", "float64")},
    ("pandas", "to_numeric"): "pd.to_numeric()",
}
"""What makes a number of a text, by module and name."""


TEMPLATES = frozenset({string.__file__})
"""Files of the standard library's that format in Python for whoever calls them."""


def read_back(frame: FrameType) -> str:
    """Who is handed the text that the running instruction makes and reads a number in it; empty if nobody."""
    while frame.f_code.co_filename in TEMPLATES and frame.f_back is not None:
        frame = frame.f_back
    offset = running_instruction(frame.f_code, frame.f_lasti).offset
    for taker in takers(frame, offset):
        name = READERS.get((getattr(taker, "__module__", ""), getattr(taker, "__name__", "")), "")
        if name:
            return name
    return ""


def takers(frame: FrameType, offset: int) -> Iterator[object]:
    """The functions that are given the text which an instruction makes, or text that it becomes a part of."""
    code = frame.f_code
    for step in steps_after(code, offset, 64):
        if step.name in _CALLS and step.name != "PRECALL":
            outer = running_instruction(code, step.offset)
            if any(hands_on(steps, offset, code) for steps in outer.arguments):
                yield looked_up(asked_about(outer.function, code), frame)


TEXT_STEPS = ("FORMAT_", "CONVERT_VALUE", "BUILD_STRING", "BUILD_LIST", "BUILD_TUPLE", "LOAD_CONST")
"""Instructions that make text of text, and lists to be joined."""

PLACES = ("LOAD_CONST", "LOAD_SMALL_INT", "BUILD_SLICE", "UNARY_NEGATIVE")
"""Instructions that make an index or a slice."""

KEEPING_HOOKS = ("function", "made", "item", "slice", "operated")
"""What rewritten code calls with a text: for a function, a list, its element, its part, or a sum with it."""

NO_STEPS = ("PRECALL", "PUSH_NULL", "KW_NAMES")
"""Instructions that are parts of calls."""

CHANGES = frozenset({"lower", "upper", "casefold", "replace", "translate", "sub", "encode", "decode"})
PADDING = frozenset({"strip", "lstrip", "rstrip", "center", "ljust", "rjust", "zfill", "dedent"})
FILLING = frozenset({"join", "format", "format_map", "substitute", "removeprefix", "removesuffix"})
PARTS = frozenset(
    {"split", "rsplit", "splitlines", "partition", "findall", "match", "search", "group", "slice"}
)
TEXT_METHODS = CHANGES | PADDING | FILLING | PARTS
"""What makes text of text, of any class or module."""


def hands_on(steps: Sequence[Step], offset: int, code: CodeType) -> bool:
    """Whether an argument is what the instruction at an offset makes, or text that it becomes a part of."""
    after = [step for step in steps if step.offset > offset]
    kept = [
        # A part of the text, where its place was loaded after it; else the text is a key.
        before.name.startswith(PLACES)
        if is_subscript(step) or step.name == "BINARY_SLICE"
        # The ends of a slice need no look.
        else step.name.startswith(PLACES) or keeps_text(step, offset, code)
        for before, step in pairwise([*[step for step in steps if step.offset == offset], *after])
    ]
    return any(step.offset == offset for step in steps) and all(kept)


def keeps_text(step: Step, offset: int, code: CodeType) -> bool:
    """Whether the text that was made at an offset stands in the result of a later instruction."""
    if step.name in ("LOAD_METHOD", "LOAD_ATTR"):
        return step.value in TEXT_METHODS
    if step.name in _CALLS and step.name not in NO_STEPS:
        call = running_instruction(code, step.offset)
        if call.function and call.function[0].value == HOOKS and call.function[-1].value in KEEPING_HOOKS:
            hook, made_of = call.function[-1].value, call.arguments[0]
            if hook == "operated":
                return bool(made_of) and made_of[-1].value in ("add", "iadd")
            return hook == "slice" or any(x.offset == offset for x in made_of)
        asked = asked_about(call.function, code)
        return bool(asked) and asked[-1].value in TEXT_METHODS
    adds = step.name == "BINARY_OP" and step.value in ("+", "%")
    return adds or step.value == HOOKS or step.name.startswith(TEXT_STEPS + NO_STEPS)


def asked_about(function: Sequence[Step], code: CodeType) -> Sequence[Step]:
    """What makes a function, where rewritten code asks what to call in its place."""
    if function and function[-1].name in _CALLS:
        asking = running_instruction(code, function[-1].offset)
        if len(asking.arguments) == 1 and asking.function[-1:] and asking.function[-1].value == "function":
            return asking.arguments[0]
    return function


def compares_elements(frame: FrameType) -> bool:
    """Whether the frame calls a C function, such as ``max`` or ``sorted``, and is at no branch of its own."""
    running = running_instruction(frame.f_code, frame.f_lasti)
    return running.name in _CALLS and called_function(frame) is not bool


# -- reading instructions ---------------------------------------------------------------------------------


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

    __slots__ = ("arguments", "function", "name", "offset", "operator")

    def __init__(
        self,
        name: str,
        offset: int,
        function: Sequence[Step] = (),
        arguments: Sequence[Sequence[Step]] = (),
        operator: AnyPrimitive = None,
    ) -> None:
        self.operator = operator
        self.name = name
        self.offset = offset
        self.function = function
        self.arguments = arguments


@lru_cache(maxsize=1024)
def running_instruction(code: CodeType, lasti: int) -> Running:
    """The instruction at an offset."""
    steps = steps_until(code, lasti)
    if not steps:
        return Running("", lasti)
    last = steps.pop()
    if last.name not in _CALLS:
        return Running(last.name, last.offset, operator=last.value)
    while steps and steps[-1].name in ("PRECALL", "KW_NAMES"):
        steps.pop()
    count = last.value if isinstance(last.value, int) else 0
    if last.name == "CALL_KW":
        take_value(steps)  # the tuple of keyword names
    elif last.name == "CALL_FUNCTION_EX":
        count = 1 + (last.value & 1 if isinstance(last.value, int) else 0)
    arguments = [take_value(steps) for _ in range(count)]
    while steps and steps[-1].name == "PUSH_NULL":
        steps.pop()
    return Running(last.name, last.offset, take_value(steps), arguments[::-1])


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
        value = instruction.arg if name in _CALLS else instruction.argval
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


# -- what an argument is ----------------------------------------------------------------------------------


def kind_of(steps: Sequence[Step], x: object, made_at: object, is_latest: bool, frame: FrameType) -> Use:
    """Whether the value of the steps is `x`, holds it, or cannot be told."""
    if not steps:
        return Use.UNKNOWN
    last = steps[-1]
    if last.name in _LISTS or is_comprehension(steps):
        return Use.LISTED
    makers = [
        step.offset for step in steps[-2 if last.name in _CALLS else -1 :] if step.name.startswith(_MAKERS)
    ]
    here = isinstance(made_at, tuple) and offset_in(frame.f_code, made_at) in makers
    if last.name in _CALLS:
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


def is_comprehension(steps: Sequence[Step]) -> bool:
    """Whether the steps run a list comprehension: called as a function until Python 3.11, inlined later."""
    names = [step.name for step in steps]
    if "LIST_APPEND" in names or "FOR_ITER" in names:
        return True
    return names[-1] == "CALL" and "GET_ITER" in names[-3:] and "MAKE_FUNCTION" in names


NOTHING = object()


def looked_up(steps: Sequence[Step], frame: FrameType) -> Anything:
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


def is_subscript(step: Step) -> bool:
    """Whether the step reads an element; Python 3.14 counts that among the binary operators."""
    return step.name == "BINARY_SUBSCR" or (step.name == "BINARY_OP" and step.value == "[]")


def variable(step: Step, frame: FrameType) -> Anything:
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
