"""What recording a function changes outside of it, which a compiled function or a recorded body would not.

What is recorded runs no Python later: a name, an attribute or a list stays as recording has left it. That is
right for counters of recordings, for logs, and for what each call sets anew. Where the next recording would
be another one, what was changed is a part of the result, and is refused. So is an array of NumPy's from
outside that is written, unless it is filled anew, whatever it held: then it is filled at every call. And so
are draws from a generator of random numbers, which would be those of the first call for ever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, TypeVar
from weakref import ProxyTypes

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.python.blocks.outside import function_behind, places_changed_by
from funcgrad.api.python.guarded.held import Attributes, Elements, Name, SetAttribute, State
from funcgrad.api.python.guarded.watched import (
    Watched,
    every_name,
    generator_classes,
    global_generators,
    is_same_standing,
    met,
    standing,
)
from funcgrad.errors import (
    ConcretizationError,
    EscapedTracerError,
    FuncgradError,
    TracedBranchError,
    TracerAssignmentError,
)
from funcgrad.source import is_library_code
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Index

T = TypeVar("T")
DRAWN_OUTSIDE = (
    "Draw outside and pass the numbers as an argument, make the generator inside from a seed, "
    "or draw by fg.random with a key."
)
"""What to do instead of drawing from a generator that goes on from call to call."""


class Kept:
    """What the recording of one function changes outside of it."""

    __slots__ = (
        *(
            "_generators",
            "_line",
            "_looking",
            "_made",
            "_outer",
            "_parts",
            "_states",
            "_visited",
            "_watched",
            "_whole",
            "_stood",
        ),
        *("clock", "filled", "iterators", "unseeded"),
    )

    def __init__(self, outer: Kept | None) -> None:
        self._outer = outer
        self._states: dict[Hashable, State] = {}
        self._made: dict[int, Any] = {}
        self._parts: dict[int, tuple[Any, Any]] = {}
        self._whole: dict[int, Any] = {}
        self._watched: dict[int, Watched] = {}
        self._generators = False
        self.unseeded = set[int]()
        """Generators that the function makes of no seed, by identity; they are watched."""
        self._visited: dict[int, Any] = {}
        self._looking: list[Watched] = []
        self._line: Any = None
        self._stood: dict[int, tuple[Any, ...]] = {}
        self.iterators: dict[int, Any] = {}
        """Those within reach that the function did not make."""
        self.clock = False
        """Whether a clock has been read."""
        self.filled: list[tuple[Any, Any]] = []
        """Arrays from outside that every call fills anew, and with what."""

    def around(self) -> Iterator[Kept]:
        """This and those of the functions that are being recorded around it."""
        found: Kept | None = self
        while found is not None:
            yield found
            found = found._outer

    def made(self, x: object) -> None:
        """Say that the function makes this itself, at every call."""
        self._made[id(x)] = x

    def note(self, key: Hashable, owner: object, kind: type[State], identity: object) -> None:
        """Remember what is held now, where it was not seen before."""
        if key not in self._states and id(identity) not in self._made:
            self._states[key] = kind(owner)

    def written(self, x: object, whole: bool) -> None:
        """Remember that elements of an array are set; all of them, where that is said."""
        x = memory_of(x)
        if whole and id(x) not in self._parts:
            self._whole[id(x)] = x
        elif id(x) not in self._whole and id(x) not in self._parts:
            self._parts[id(x)] = x, here()

    def is_written(self, x: object) -> bool:
        """Whether elements of the array have been set."""
        return id(memory_of(x)) in self._whole or id(memory_of(x)) in self._parts

    # -- what the function can reach ---------------------------------------------------------------------

    def look(self) -> None:
        """Remember the line, unless the call before has changed an array that is looked for."""
        if self._looking and any(one.moved() for one in self._looking):
            self._looking = []
        elif self._looking:
            self._line = here()

    def visit(self, function: FunctionType, values: Sequence[Any]) -> None:
        """Watch what a function that is about to be called can reach."""
        if id(function) not in self._visited:
            self._visited[id(function)] = function
            self.watch(met(values, function))

    def watch(self, found: Iterable[Any]) -> None:
        """Watch these, and remember iterators."""
        kinds = (np.ndarray, *generator_classes())
        for x in found:
            if not isinstance(x, kinds):
                if id(x) not in self._made and id(x) not in self.iterators:
                    self.iterators[id(x)] = x
                    self._stood[id(x)] = standing(x)
            elif id(x) not in self._watched:
                self._watched[id(x)] = Watched(x)

    def watch_generators(self) -> None:
        """Watch those that `np.random` and `random` draw from."""
        self._generators = True
        self.watch(global_generators())

    def _meet_late(self) -> None:
        """Take that of `np.random` for moved where it came with an import while the function was recorded."""
        for x in global_generators() if self._generators else ():
            if id(x) not in self._watched:
                self._watched[id(x)] = late = Watched(x)
                late.before = None

    def has_changed(self) -> bool:
        """Whether anything outside of the function is no longer what it was."""
        self._meet_late()
        states, watched = self._states.values(), self._watched.values()
        return bool(self._parts) or any(x.moved() for x in states) or any(x.moved() for x in watched)

    # -- when the function has been recorded -------------------------------------------------------------

    def refuse_baked(self, name: str, first: T, again: Callable[[], T], same: Callable[[T, T], bool]) -> None:
        """Raise if what recording has left behind would make another recording of the same function.

        Names, attributes and elements then hold again what they held before, and no traced values.

        Raises TracedBranchError for names, attributes and elements, TracerAssignmentError for arrays,
        ConcretizationError for generators of random numbers and for clocks.
        """
        try:
            self._refuse_baked(name, first, again, same)
        except FuncgradError:
            for state in self._states.values():
                if state.moved():
                    state.put(state.before)
            raise

    def _refuse_baked(
        self, name: str, first: T, again: Callable[[], T], same: Callable[[T, T], bool]
    ) -> None:
        for key, x in self.iterators.items():
            if not is_same_standing(self._stood[key], standing(x)):
                raise going_on(x)
        self._meet_late()
        states = [state for state in self._states.values() if state.moved()]
        before = [one for one in self._watched.values() if one.moved()]
        if not states and not before and not self._parts and not self.clock:
            return
        if any(id(one.x) in self.unseeded for one in before):
            raise self._drawn(name)
        spelled = [x for state in states for x in state.moved()]
        parts = dict(self._parts)
        left = [Watched(one.x) for one in before]

        def differs() -> bool:
            return self._differ(states, left, lambda: same(first, again()))

        different = differs()
        outside = [one for one in left if id(one.x) in self._watched and id(one.x) not in self._made]
        generators = [one for one in outside if not one.is_array]
        if generators and (different or self._move_always(generators, differs)):
            raise self._drawn(name)
        outside = [one for one in outside if one.is_array]
        lines = [line for key, (_, line) in parts.items() if key in self._parts]
        baked = different or any(one.moved() for one in outside)
        if lines or (outside and (baked or not self._are_filled(before, outside, differs))):
            for one in before:
                one.put_back()
            raise self._array_written(name, lines[0] if lines else self._line)
        if different and spelled:
            raise self._changes(name, spelled[0])
        if different and self.clock:
            raise self._clock_read(name)

    @staticmethod
    def _move_always(generators: Sequence[Watched], differs: Callable[[], bool]) -> bool:
        """Whether other recordings move them too, or are others: other threads may draw from them as well."""
        for _ in range(3):
            if not any(one.moved() for one in generators):
                return False
            for one in generators:
                one.before = one.now()
            if differs():
                return True
        return True

    def _differ(self, states: Sequence[State], left: Sequence[Watched], same: Callable[[], bool]) -> bool:
        """Whether another recording is another one; names are afterwards what the first has left."""
        after = [state.now() for state in states]
        self._parts.clear()
        self._watched.clear()
        self._visited.clear()
        self._looking, self._line = [one for one in left if one.is_array], None
        try:
            return not same()
        except EscapedTracerError:
            return True  # it computes with what the recording before has left
        finally:
            self._looking = []
            for state, held in zip(states, after, strict=True):
                state.put(held)

    def _are_filled(
        self, before: Sequence[Watched], arrays: Sequence[Watched], differs: Callable[[], bool]
    ) -> bool:
        """Whether arrays are filled with the same elements whatever they held, or are no longer written.

        Other recordings, which begin with what they held and with other elements yet, say so.
        """
        contents = [one.x.copy() for one in arrays]
        try:
            for one in before:
                one.put_back()
            if not differs() and not any(one.moved() for one in before):
                return True
            for one in arrays:
                one.scramble()
            filled = not differs() and not any(one.moved() for one in arrays)
        except Exception:  # noqa: BLE001 - whatever other elements lead to, it depends on them
            return False
        finally:
            for one, held in zip(arrays, contents, strict=True):
                np.copyto(one.x, held)
        self.filled += [(one.x, held) for one, held in zip(arrays, contents, strict=True) if filled]
        return filled

    @staticmethod
    def _changes(name: str, spelled: str) -> FuncgradError:
        return TracedBranchError(
            f"{name} changes `{spelled}`, which is none of its own names, and a later call "
            "depends on it: compiled, it would stay what it was",
            source=here(),
            remedy="Take the value as an argument and return it, or set it anew when the function starts.",
        )

    @staticmethod
    def _clock_read(name: str) -> FuncgradError:
        return ConcretizationError(
            f"{name} computes with what a clock shows, which is read once, while it is recorded",
            source=here(),
            remedy="Read the clock outside of the function and pass the time as an argument.",
        )

    @staticmethod
    def _drawn(name: str) -> FuncgradError:
        return ConcretizationError(
            f"{name} draws from a generator of random numbers that was made outside of it, or from no seed, "
            "and is recorded once: every call would see the numbers of the first",
            source=here(),
            remedy=DRAWN_OUTSIDE,
        )

    @staticmethod
    def _array_written(name: str, line: Anything) -> FuncgradError:
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


def note_called(function: object) -> None:
    """Remember what a function that is about to be called can change: names, and objects within its reach."""
    kept = _KEPT.get()
    if kept is None:
        return
    for one in kept.around():
        one.look()
    waiting, seen = [function], {id(function)}
    while waiting:
        function = transformed_by(waiting.pop())
        plain = function_behind(function)
        if plain is None:
            continue
        for place in places_changed_by(function):
            for one in kept.around():
                one.note(place.name, place, Name, place.shared)
        reach = [*within_reach(plain), *([] if plain is function else [owner_of(function)])]
        if not is_ours(plain):
            for one in kept.around():
                one.visit(plain, reach)
        for x in reach:
            note_attributes(x)
            if is_ours(plain) and isinstance(x, FunctionType | MethodType) and id(x) not in seen:
                seen.add(id(x))
                waiting.append(x)  # a body of the user's in a function of ours


def watch_from_now(x: object) -> None:
    """Have a generator that was made from no seed watched as one from outside."""
    kept = _KEPT.get()
    for one in () if kept is None else kept.around():
        one.watch([x])
        one.unseeded.add(id(x))


def note_reachable(function: object) -> None:
    """Remember what a function can change that is run as it is, and the functions that it may call."""
    waiting, seen = [function], set[int]()
    while waiting and len(seen) < MOST_REACHED:
        plain = function_behind(transformed_by(waiting.pop()))
        if plain is None or id(plain) in seen or is_ours(plain) or is_library_code(plain.__code__):
            continue
        seen.add(id(plain))
        note_called(plain)
        waiting += within_reach(plain)


MOST_REACHED = 100
"""How many functions are looked at that a function which is run as it is may call."""


def transformed_by(function: object) -> object:
    """The function that a transform, or a transform of one, transforms; others as they are."""
    made_by = getattr(function, "_made_by", None)
    return function if made_by is None else transformed_by(made_by[1][0])


def owner_of(function: object) -> object:
    """The object that a method is of, or a callable object itself."""
    return function.__self__ if isinstance(function, MethodType) else function


def is_ours(function: FunctionType) -> bool:
    """Whether a function is one of this package's."""
    return (function.__module__ or "").partition(".")[0] == "funcgrad"


def held_by(function: object) -> list[Any]:
    """What names, containers and objects within the function's reach hold: others once one has changed."""
    found: list[Any] = []
    waiting: list[Any] = [function]
    seen: dict[int, Any] = {}
    while waiting and len(seen) < MOST_HELD:
        x = waiting.pop()
        found.append(x)
        if issubclass(type(x), ProxyTypes):  # what it stands for may be gone
            continue
        plain = function_behind(x) if isinstance(x, FunctionType | MethodType | partial) else None
        if id(x) in seen or isinstance(x, (*_NO_OBJECTS[:2], Tracer, np.ndarray)):
            continue
        seen[id(x)] = x
        if isinstance(x, MethodType):
            waiting.append(x.__self__)
        if plain is not None:
            waiting += () if is_library_code(plain.__code__) else within_reach(plain)
        elif isinstance(x, list | tuple | dict | set | frozenset | deque):
            found.append(len(x))
            # At once: other threads may add to it meanwhile.
            waiting += [*(x.values() if isinstance(x, dict) else x)][:MOST_HELD]
        elif type(x).__module__.startswith("funcgrad.api.python."):
            continue  # The hooks of a rewritten function remember what they were asked.
        elif type(x).__module__.startswith("funcgrad.api.") and hasattr(x, "__wrapped__"):
            waiting.append(
                x.__wrapped__
            )  # What a jitted function keeps of its own is no state of the user's.
        elif type(getattr(x, "__dict__", None)) is dict:
            waiting += vars(x).values()
    return found


def is_held_still(function: object, before: list[Any]) -> bool:
    """Whether all that was held by the function is held by it now."""
    now = held_by(function)
    return len(now) == len(before) and all(
        x is y or (type(x) is int and x == y) for x, y in zip(now, before, strict=True)
    )


MOST_HELD = 1000
"""How many objects are looked at for what they hold."""


def within_reach(function: FunctionType) -> Iterator[Any]:
    """What the function's names from outside stand for."""
    for cell in function.__closure__ or ():
        if cell != EMPTY_CELL:
            yield cell.cell_contents
    if is_ours(function):
        return
    names = function.__globals__
    for name in every_name(function.__code__):
        if name in names:
            yield names[name]


EMPTY_CELL = CellType()

_NO_OBJECTS = (type, ModuleType, FunctionType, MethodType, Tracer, np.ndarray)


def note_attributes(x: object) -> None:
    """Remember the attributes of an object of the user's, which are about to be changed or may be."""
    kept = _KEPT.get()
    if kept is None or isinstance(x, _NO_OBJECTS) or type(getattr(x, "__dict__", None)) is not dict:
        return
    if type(x).__module__.partition(".")[0] == "funcgrad":
        return
    for one in kept.around():
        one.note(id(x), x, Attributes, x)


def note_set(x: object, name: str) -> None:
    """Remember an attribute that is about to be set: of an object, or of a class, a function or a module."""
    kept = _KEPT.get()
    if kept is None or type(x).__module__.partition(".")[0] == "funcgrad":
        return
    if type(getattr(x, "__dict__", None)) is dict and not isinstance(x, _NO_OBJECTS):
        note_attributes(x)
        return
    for one in kept.around():
        one.note((id(x), name), SetAttribute("attribute", x, name), Name, x)


def note_elements(x: object) -> None:
    """Remember the elements of a list, dict, set or deque, which are about to be changed."""
    kept = _KEPT.get()
    if kept is not None and isinstance(x, list | dict | set | deque):
        for one in kept.around():
            one.note(("elements", id(x)), x, Elements, x)


def note_own(x: T) -> T:
    """Say that the function which is being recorded makes this cell or container itself."""
    kept = _KEPT.get()
    if kept is not None:
        for one in kept.around():
            one.made(x)
    return x


def note_seeded(generator: object) -> None:
    """Say that the function which is being recorded seeds a generator, whose numbers are the same then."""
    kept = _KEPT.get()
    if kept is not None:
        for one in kept.around():
            one.made(generator)


def note_clock() -> None:
    """Say that the function which is being recorded reads a clock."""
    kept = _KEPT.get()
    if kept is not None:
        for one in kept.around():
            one.clock = True


def has_iterators() -> bool:
    """Whether the function that is being recorded can reach an iterator which it did not make."""
    kept = _KEPT.get()
    return kept is not None and any(one.iterators for one in kept.around())


def refuse_going_on(x: object) -> None:
    """Raise ConcretizationError for an iterator from outside, which each call would find further on."""
    kept = _KEPT.get()
    if kept is not None and any(id(x) in one.iterators for one in kept.around()):
        raise going_on(x)


def going_on(x: object) -> ConcretizationError:
    """The error for an iterator from outside, which each call would find further on."""
    return ConcretizationError(
        f"a {type(x).__name__} from outside is advanced, and this function is recorded once: every call "
        "would see what the first has found",
        source=here(),
        remedy="Take the next item outside and pass it as an argument, or make the iterator inside.",
    )


def note_array(x: object, index: Index = ()) -> None:
    """Remember that elements of an array of NumPy's are about to be set."""
    kept = _KEPT.get()
    if kept is None or not issubclass(type(x), np.ndarray) or INSIDE.is_open(x):
        return
    whole = index is Ellipsis or (isinstance(index, (tuple, slice)) and index in ((), slice(None)))
    for one in kept.around():
        one.written(x, whole and memory_of(x) is x)


def memory_of(x: Anything) -> object:
    """The array of NumPy's whose memory this is."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x
