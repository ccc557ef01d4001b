"""What recording a function changes outside of it, which a compiled function or a recorded body would not.

What is recorded runs no Python later: a name, an attribute or a list stays as recording has left it. That is
right for counters of recordings, for logs, and for what each call sets anew. Where the next recording would
be another one, what was changed is a part of the result, and is refused. An array of NumPy's from outside
that is written in parts is refused in any case: the function may read the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

import numpy as np

from funcgrad.api.arguments import here
from funcgrad.api.python.outside import function_behind, places_changed_by
from funcgrad.api.python.recording import Place
from funcgrad.errors import FuncgradError, TracedBranchError, TracerAssignmentError
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.tracer import Tracer

__all__ = [
    "Kept",
    "keeping",
    "note_array",
    "note_attributes",
    "note_called",
    "note_cell",
    "note_elements",
    "note_set",
]

T = TypeVar("T")


class State:
    """Something that holds values, and the values that it held when it was first seen."""

    __slots__ = ("before", "owner")

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.before = self.now()

    def now(self) -> dict[Any, Any]:
        """What it holds."""
        raise NotImplementedError

    def put(self, held: Mapping[Any, Any]) -> None:
        """Have it hold this again."""
        raise NotImplementedError

    def spelled(self, key: Any) -> str:
        """How messages call one of its values."""
        raise NotImplementedError

    def moved(self) -> list[str]:
        """What holds something plain that it did not before; a traced value says so itself when used."""
        now, before = self.now(), self.before
        changed = [key for key, value in now.items() if before.get(key, now) is not value]
        gone = [key for key in before if key not in now]
        return [self.spelled(key) for key in [*gone, *changed] if type(now.get(key)) is not Tracer]


class Name(State):
    """A name of another function or of a module, or an attribute of what keeps no dict of them."""

    def now(self) -> dict[Any, Any]:
        """What it stands for."""
        try:
            return {self.owner.spelled: self.owner.cell_contents}
        except ValueError:
            return {}

    def put(self, held: Mapping[Any, Any]) -> None:
        """Bind it."""
        for value in held.values():
            self.owner.cell_contents = value

    def spelled(self, key: Any) -> str:
        """The name."""
        return str(key)


class SetAttribute(Place):
    """An attribute of what keeps no dict of its own for them: of a class, a module, an object with slots."""

    __slots__ = ()

    @property
    def spelled(self) -> str:
        """The attribute, as it is written."""
        return f"{getattr(self._owner, '__name__', type(self._owner).__name__)}.{self._key}"


class Attributes(State):
    """The attributes of an object of the user's."""

    def now(self) -> dict[Any, Any]:
        """What they are."""
        return dict(vars(self.owner))

    def put(self, held: Mapping[Any, Any]) -> None:
        """Set them."""
        own = vars(self.owner)
        own.clear()
        own.update(held)

    def spelled(self, key: Any) -> str:
        """The attribute, with the class of the object."""
        return f"{type(self.owner).__name__}.{key}"


class Elements(State):
    """The elements of a list, dict, set or deque."""

    def now(self) -> dict[Any, Any]:
        """What they are."""
        owner = self.owner
        if isinstance(owner, dict):
            return dict(owner)
        return dict(enumerate(owner)) if isinstance(owner, list | deque) else {x: x for x in owner}

    def put(self, held: Mapping[Any, Any]) -> None:
        """Have it hold these."""
        self.owner.clear()
        if isinstance(self.owner, list | deque):
            self.owner.extend(held.values())
        else:
            self.owner.update(held)

    def spelled(self, key: Any) -> str:
        """The kind of container, and what is in it where that is short."""
        return f"{type(self.owner).__name__}[{key!r}]"


class Kept:
    """What the recording of one function changes outside of it."""

    __slots__ = ("_made", "_outer", "_parts", "_states", "_whole")

    def __init__(self, outer: Kept | None) -> None:
        self._outer = outer
        self._states: dict[Hashable, State] = {}
        self._made: dict[int, Any] = {}
        self._parts: dict[int, tuple[Any, Any]] = {}
        self._whole: dict[int, Any] = {}

    def around(self) -> Iterator[Kept]:
        """This and those of the functions that are being recorded around it."""
        found: Kept | None = self
        while found is not None:
            yield found
            found = found._outer

    def made(self, x: Any) -> None:
        """Say that the function makes this itself, at every call."""
        self._made[id(x)] = x

    def note(self, key: Hashable, owner: Any, kind: type[State], identity: Any) -> None:
        """Remember what is held now, where it was not seen before."""
        if key not in self._states and id(identity) not in self._made:
            self._states[key] = kind(owner)

    def written(self, x: Any, whole: bool) -> None:
        """Remember that elements of an array are set; all of them, where that is said."""
        x = memory_of(x)
        if whole and id(x) not in self._parts:
            self._whole[id(x)] = x
        elif id(x) not in self._whole and id(x) not in self._parts:
            self._parts[id(x)] = x, here()

    def is_written(self, x: Any) -> bool:
        """Whether elements of the array have been set."""
        return id(memory_of(x)) in self._whole or id(memory_of(x)) in self._parts

    def refuse_baked(self, name: str, first: T, again: Callable[[], T], same: Callable[[T, T], bool]) -> None:
        """Raise if what recording has left behind would make another recording of the same function.

        Raises TracedBranchError for names, attributes and elements, TracerAssignmentError for arrays.
        """
        moved = [state for state in self._states.values() if state.moved()]
        parts = dict(self._parts)
        if not moved and not parts:
            return
        spelled = [x for state in moved for x in state.moved()]
        after = [state.now() for state in moved]
        self._parts.clear()
        try:
            differs = not same(first, again())
        finally:
            for state, held in zip(moved, after, strict=True):
                state.put(held)
        for key, (_, line) in parts.items():
            if key in self._parts:
                raise self._array_written(name, line)
        if differs and spelled:
            raise TracedBranchError(
                f"{name} changes `{spelled[0]}`, which is none of its own names, and a later call "
                "depends on it: compiled, it would stay what it was",
                source=here(),
                remedy="Take the value as an argument and return it, "
                "or set it anew when the function starts.",
            )

    @staticmethod
    def _array_written(name: str, line: Any) -> FuncgradError:
        return TracerAssignmentError(
            f"{name} writes into an array that it has from outside: recorded, it would do so once",
            source=line,
            remedy="Pass the array as an argument, which is written at every call, or write into a copy "
            "that is made inside.",
        )


_KEPT: ContextVar[Kept | None] = ContextVar("funcgrad_kept", default=None)


@contextmanager
def keeping() -> Iterator[Kept]:
    """Within: a function is recorded, and what it changes outside of itself is noted."""
    found = Kept(_KEPT.get())
    token = _KEPT.set(found)
    try:
        yield found
    finally:
        _KEPT.reset(token)


def note_called(function: Any) -> None:
    """Remember what a function that is about to be called can change: names, and objects within its reach."""
    kept = _KEPT.get()
    if kept is None:
        return
    waiting, seen = [function], {id(function)}
    while waiting:
        function = waiting.pop()
        plain = function_behind(function)
        if plain is None:
            continue
        for place in places_changed_by(function):
            for one in kept.around():
                one.note(place.name, place, Name, place.shared)
        if isinstance(function, MethodType):
            note_attributes(function.__self__)
        for x in within_reach(plain):
            note_attributes(x)
            if is_ours(plain) and isinstance(x, FunctionType | MethodType) and id(x) not in seen:
                seen.add(id(x))
                waiting.append(x)  # a body of the user's in a function of ours


def is_ours(function: FunctionType) -> bool:
    """Whether a function is one of this package's."""
    return (function.__module__ or "").partition(".")[0] == "funcgrad"


def within_reach(function: FunctionType) -> Iterator[Any]:
    """What the function's names from outside stand for."""
    for cell in function.__closure__ or ():
        if cell != EMPTY_CELL:
            yield cell.cell_contents
    if is_ours(function):
        return
    names = function.__globals__
    for name in function.__code__.co_names:
        if name in names:
            yield names[name]


EMPTY_CELL = CellType()

_NO_OBJECTS = (type, ModuleType, FunctionType, MethodType, Tracer, np.ndarray)


def note_attributes(x: Any) -> None:
    """Remember the attributes of an object of the user's, which are about to be changed or may be."""
    kept = _KEPT.get()
    if kept is None or isinstance(x, _NO_OBJECTS) or type(getattr(x, "__dict__", None)) is not dict:
        return
    if type(x).__module__.partition(".")[0] == "funcgrad":
        return
    for one in kept.around():
        one.note(id(x), x, Attributes, x)


def note_set(x: Any, name: str) -> None:
    """Remember an attribute that is about to be set: of an object, or of a class, a function or a module."""
    kept = _KEPT.get()
    if kept is None or type(x).__module__.partition(".")[0] == "funcgrad":
        return
    if type(getattr(x, "__dict__", None)) is dict and not isinstance(x, _NO_OBJECTS):
        note_attributes(x)
        return
    for one in kept.around():
        one.note((id(x), name), SetAttribute("attribute", x, name), Name, x)


def note_elements(x: Any) -> None:
    """Remember the elements of a list, dict, set or deque, which are about to be changed."""
    kept = _KEPT.get()
    if kept is not None and isinstance(x, list | dict | set | deque):
        for one in kept.around():
            one.note(("elements", id(x)), x, Elements, x)


def note_cell(cell: Any) -> None:
    """Say that the function which is being recorded makes this cell itself."""
    kept = _KEPT.get()
    if kept is not None:
        for one in kept.around():
            one.made(cell)


def note_array(x: Any, index: Any = ()) -> None:
    """Remember that elements of an array of NumPy's are about to be set."""
    kept = _KEPT.get()
    if kept is None or not isinstance(x, np.ndarray) or INSIDE.is_open(x):
        return
    whole = index is Ellipsis or index == () or (isinstance(index, slice) and index == slice(None))
    for one in kept.around():
        one.written(x, whole and memory_of(x) is x)


def memory_of(x: Any) -> Any:
    """The array of NumPy's whose memory this is."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x
