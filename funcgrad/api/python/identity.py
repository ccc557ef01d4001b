"""Which array or list a name stands for after a traced branch, where changing it is changing another.

``c = a if t else b`` makes `c` another name of `a` or of `b`. The value of an array is a choice of theirs,
and so is what a write leaves: in `a` where the condition holds, in `b` where it does not. Lists and dicts are
chosen by their elements, and may be read but not changed afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from sys import _getframe
from types import FrameType
from typing import Any
from weakref import ref

from funcgrad.api.calling.arguments import here
from funcgrad.api.python.guarded.guards import current_guards
from funcgrad.errors import TracedBranchError
from funcgrad.ir.catalog import CATALOG
from funcgrad.ops.elementwise.selection import where
from funcgrad.source import is_library_code
from funcgrad.tracing.aliasing import Arm, ChosenAlias, as_chosen, assign, is_view
from funcgrad.tracing.python.escapes import PREFIX
from funcgrad.tracing.python.functions import CODES
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.recorder import Recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array


def is_own_part(x: object) -> bool:
    """Whether it is a part of a traced length, which knows where it is written and may be written here."""
    asked = getattr(type(x), "is_of_open_trace", None)
    return asked is not None and bool(asked(x))


class Whole:
    """An array that a name stands for where a condition holds."""

    __slots__ = ("_base", "_kept", "condition")

    def __init__(self, base: Tracer, condition: Array) -> None:
        self._base = ref(base)
        # A view may have no other name, and is still a part of an array that has.
        self._kept = base if is_view(base) and type(base._alias) is not ChosenAlias else None
        self.condition = condition

    @property
    def base(self) -> Tracer | None:
        """The array; None once nobody has it any more."""
        return self._base()

    def read(self, current: Tracer) -> Tracer:
        """The chosen array, which is this one where the condition holds."""
        base = self._base()
        return current if base is None else self._choice(base.frozen(), current)

    def write(self, value: Tracer) -> None:
        """Write the value where the condition holds."""
        base = self._base()
        if base is not None:
            assign(base, self._choice(value, base.frozen()))

    def _choice(self, here: Tracer, otherwise: Tracer) -> Tracer:
        found: Tracer = where(self.condition, here, otherwise)
        return found


class Part:
    """A part of an array, or an array of another dtype, that cannot be written through a choice."""

    __slots__ = ("_base", "_line")

    def __init__(self, base: Tracer, line: int) -> None:
        self._base = ref(base)
        self._line = line

    @property
    def base(self) -> Tracer | None:
        """The array that it is a part of; None once nobody has it any more."""
        return self._base()

    def read(self, current: Tracer) -> Tracer:
        """Refused: what was chosen has changed since."""
        raise self._refused("is read after the array has changed")

    def write(self, value: Tracer) -> None:
        """Refused."""
        raise self._refused("is written")

    def _refused(self, how: str) -> TracedBranchError:
        return TracedBranchError(
            f"what line {self._line} has chosen by a traced condition is a part of an array, and {how}",
            source=here(),
            remedy="Copy it where it is chosen, or write the array itself in both branches.",
        )


def shares_chosen(
    result: object, test: object, leaves: Sequence[Any], recorders: Sequence[Recorder | None], line: int
) -> None:
    """Have what was chosen between two leaves be these arrays, if they were there before the branch."""
    if type(result) is not Tracer or not result.aval.shape:
        return
    arms: list[Arm] = []
    for leaf, recorder, truth in zip(leaves, recorders, (True, False), strict=True):
        if INSIDE.is_open(leaf):
            INSIDE.becomes_traced(leaf)
        if type(leaf) is not Tracer:
            continue
        if leaf._recorder is recorder:
            arms += [Part(root, line) for root in roots_of(leaf) if root._recorder is not recorder]
        elif leaf.aval.strong == result.aval.strong:
            arms += whole_arms(leaf, test if truth else CATALOG["logical_not"]().bind(test))
        else:
            arms.append(Part(leaf, line))
    if arms:
        as_chosen(result, arms)


def shares_extreme(result: object, test: object, arrays: Sequence[Any], line: int) -> None:
    """Have what was chosen between two arrays by a comparison be these; of parts of arrays, refuse writes."""
    if type(result) is not Tracer or not result.aval.shape:
        return
    arms: list[Arm] = []
    for array, truth in zip(arrays, (True, False), strict=True):
        if INSIDE.is_open(array):
            INSIDE.becomes_traced(array)
        if type(array) is not Tracer:
            continue
        if is_view(array):
            arms += [Part(root, line) for root in roots_of(array)]
        else:
            arms += whole_arms(array, test if truth else CATALOG["logical_not"]().bind(test))
    if arms:
        as_chosen(result, arms)


def whole_arms(leaf: Tracer, condition: object) -> list[Arm]:
    """The array, and those that it may itself be another name of."""
    alias = leaf._alias
    arms: list[Arm] = [Whole(leaf, condition)]
    for arm in alias.living() if type(alias) is ChosenAlias else ():
        base = arm.base
        if isinstance(arm, Whole) and base is not None:
            arms.append(Whole(base, CATALOG["logical_and"]().bind(condition, arm.condition)))
        else:
            arms.append(arm)
    return arms


def roots_of(leaf: Tracer) -> list[Tracer]:
    """The arrays that an array is a part of, or may be another name of."""
    alias = leaf._alias
    if type(alias) is ChosenAlias:
        return [root for arm in alias.living() for root in roots_of(arm.base)]
    return roots_of(alias.base) if alias is not None and alias.base is not None else [leaf]


def same_arrays(values: Mapping[str, Any]) -> dict[str, str]:
    """For each name of an array that an earlier name stands for as well, that name."""
    first: dict[int, str] = {}
    found: dict[str, str] = {}
    for name, value in values.items():
        if type(value) is Tracer and value.aval.shape and first.setdefault(id(value), name) != name:
            found[name] = first[id(value)]
    return found


def other_name(x: Tracer, names: Collection[str]) -> str | None:
    """Another name, than these, that the function whose loop is recorded has for an array or a part of it."""
    wanted = {id(root) for root in (x, *roots_of(x))}
    frame: FrameType | None = _getframe(1)
    while frame is not None:
        code = frame.f_code
        if not is_library_code(code):
            for name, value in frame.f_locals.items():
                if type(value) is not Tracer or name in names or name.startswith(PREFIX):
                    continue
                if any(id(root) in wanted for root in (value, *roots_of(value))):
                    return name
            # A block has another function around it, whose names are meant as well.
            if not CODES.is_rewritten(code) or CODES.original(code) is not None:
                return None
        frame = frame.f_back
    return None


# -- lists and dicts ----------------------------------------------------------------------------------------


def note_chosen(containers: Sequence[Any], line: int) -> None:
    """Remember lists or dicts of which a traced condition has made one: from now on none may change."""
    guards = current_guards()
    if guards is None:
        raise TracedBranchError(
            f"a {type(containers[0]).__name__} is chosen by the traced condition of line {line}",
            source=here(),
            remedy="Choose between its elements, or compile the function with fg.jit.",
        )
    for x in containers:
        guards.chosen[id(x)] = x, line


def check_unchosen(x: object) -> None:
    """Raise where `x` is a list or dict that a traced condition has chosen, or chosen from."""
    guards = current_guards()
    found = guards.chosen.get(id(x)) if guards is not None and guards.chosen else None
    if found is not None:
        raise TracedBranchError(
            f"a {type(x).__name__} is changed here that the traced condition of line {found[1]} has chosen "
            "or chosen from, so another name may be the same object or not",
            source=here(),
            remedy="Copy it where it is chosen, or use arrays, which follow.",
        )


def containers_within(value: object) -> list[Any]:
    """The lists and dicts that a value is made of, itself first."""
    found: list[Any] = []
    stack = [value]
    while stack:
        x = stack.pop()
        if isinstance(x, list | dict):
            found.append(x)
        if isinstance(x, list | tuple | dict):
            stack += x.values() if isinstance(x, dict) else x
    return found


def contents(containers: Sequence[Any]) -> list[Any]:
    """Something that differs once one of them has been changed."""
    return [[id(y) for y in ((*x, *x.values()) if isinstance(x, dict) else x)] for x in containers]


def write_back(before: Anything, after: Anything) -> None:
    """Make a list or dict, and those in it, hold what another of its structure holds."""
    if isinstance(before, list):
        for k, x in enumerate(after):
            before[k] = written_back(before[k], x)
    else:
        for key, x in after.items():
            before[key] = written_back(before[key], x)


def written_back(before: object, after: object) -> object:
    """The old element, if it is a list or dict and holds the new one now; else the new one."""
    if not isinstance(before, list | dict):
        return after
    write_back(before, after)
    return before
