"""Recording a block: a trace of its own, the arrays it writes, and what may not happen in it.

A block runs once while it is recorded, whatever becomes of it later, so what it changes outside of itself
has to go in and come out: a *place*. An array of a trace around it is one, and so are attributes of objects
and elements of containers that were made outside. When a block is found to change one, it is recorded again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from io import IOBase
from types import FunctionType
from typing import Any, TypeVar

from funcgrad.api.calling.arguments import here
from funcgrad.api.calling.calls import Traced, trace
from funcgrad.errors import TracedBranchError
from funcgrad.ir.avals import Aval
from funcgrad.tracing.aliasing import assign, moved_back
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Result

T = TypeVar("T")
PATHS_CHANGE = (list, dict, set, deque, Iterator)
"""What one path may change, if nobody outside of the function holds it: those are looked at afterwards."""


class Block:
    """A block being recorded: what it has made itself, and may therefore change."""

    __slots__ = ("known", "line", "made", "outer", "what")

    def __init__(self, what: str, line: int, outer: Block | None, known: Iterable[str]) -> None:
        self.what = what
        self.line = line
        self.outer = outer
        self.made: dict[int, Any] = {}
        self.known = frozenset(known)
        """The places in objects and containers that go in and come out, by name."""

    def made_here(self, x: object) -> bool:
        """Whether `x` was made while this block is recorded."""
        return id(x) in self.made


_BLOCK: ContextVar[Block | None] = ContextVar("funcgrad_block", default=None)


def current_block() -> Block | None:
    """The innermost block that is being recorded, or None."""
    return _BLOCK.get()


def note_made(x: T) -> T:
    """Remember that `x` was made by the block that is being recorded."""
    block = _BLOCK.get()
    while block is not None:
        block.made[id(x)] = x
        block = block.outer
    return x


def refuse_change(x: object, how: str) -> None:
    """Raise where a block that is being recorded would change an object that was made outside of it."""
    block = _BLOCK.get()
    if block is not None and not block.made_here(x):
        error = TracedBranchError(
            f"{block.what} of line {block.line} is recorded once, and {how} here",
            source=here(),
            remedy="Let the block bind names or write arrays, which are carried; or loop over a known range.",
        )
        on_path = isinstance(x, PATHS_CHANGE) and not isinstance(x, IOBase)
        raise error.on_one_path() if on_path else error


class OuterWrite(BaseException):
    """Raised when a block changes what it was not known to change; no handler of the user's may catch it."""

    def __init__(self, roots: Sequence[Tracer], objects: Sequence[Place] = ()) -> None:
        super().__init__()
        self.roots = list(roots)
        self.objects = list(objects)


class Place:
    """An attribute of an object, or an element of a list or dict; seen as the cell of a name."""

    __slots__ = ("_key", "_kind", "_owner")

    @property
    def last(self) -> int:
        """How many of the last elements of a list are asked for; 0 for what is no list."""
        return 0

    def __init__(self, kind: str, owner: Anything, key: Anything) -> None:
        self._kind = kind
        self._owner = owner
        self._key = key

    @property
    def name(self) -> str:
        """A name that no other place has, and that messages show."""
        shown = f".{self._key}" if self._kind == "attribute" else f"[{self._key!r}]"
        return f"{type(self._owner).__name__}{shown} at {id(self._owner):x}"

    @property
    def names(self) -> tuple[str, ...]:
        """What a block that changes this place is known to change."""
        return (self.name,)

    @property
    def cell_contents(self) -> object:
        """What is there; ValueError where nothing is, as from an empty cell."""
        try:
            if self._kind == "attribute":
                return getattr(self._owner, self._key)
            return self._owner[self._key]
        except (AttributeError, LookupError):
            raise ValueError("nothing is there") from None

    @cell_contents.setter
    def cell_contents(self, value: object) -> None:
        if self._kind == "attribute":
            # A class that sets its attributes in its own way has done so before.
            own = isinstance(type(self._owner).__setattr__, FunctionType)
            (object.__setattr__ if own else setattr)(self._owner, self._key, value)
        else:
            self._owner[self._key] = value

    @cell_contents.deleter
    def cell_contents(self) -> None:
        if self._kind == "attribute":
            delattr(self._owner, self._key)
        elif isinstance(self._owner, dict):
            del self._owner[self._key]

    def check(self) -> None:
        """Raise OuterWrite where the block that is being recorded is not known to change this place."""
        block = _BLOCK.get()
        if block is None or block.made_here(self._owner) or block.known & {self.name, all_of(self._owner)}:
            return
        raise OuterWrite((), [self])


def all_of(owner: object) -> str:
    """The name of the place that is all elements of a list."""
    return f"list at {id(owner):x}[...]"


@contextmanager
def recording(what: str, line: int, known: Iterable[str]) -> Iterator[None]:
    """Within: a block of this kind is being recorded."""
    token = _BLOCK.set(Block(what, line, _BLOCK.get(), known))
    try:
        yield
    finally:
        _BLOCK.reset(token)


def with_places(attempt: Callable[[list[Tracer], list[Place]], T]) -> T:
    """What `attempt` returns, given all arrays of outer traces and places in objects that it changes."""
    places: list[Tracer] = []
    objects: dict[str, Place] = {}
    for _ in range(MOST_ATTEMPTS):
        try:
            return attempt(places, list(objects.values()))
        except OuterWrite as found:
            new = [x for x in found.objects if x.name not in objects or x.last > objects[x.name].last]
            if not new and not found.roots:
                # It is known here, so it is a block around this one that has to know of it.
                raise
            places = [*places, *found.roots]
            objects.update({place.name: place for place in found.objects})
    raise TracedBranchError(
        "a block that is recorded changes other objects each time that it is recorded",
        source=here(),
        remedy="Let the block bind names or write arrays, which are carried.",
    )


MOST_ATTEMPTS = 100
"""How often a block is recorded again for what it changes."""


def recorded_block(
    run: Callable[[list[Tracer]], Sequence[Any]],
    avals: Sequence[Aval],
    places: Sequence[Tracer],
    name: str,
    what: str,
    line: int,
    reads: Sequence[Tracer] = (),
    known: Iterable[str] = (),
) -> Traced:
    """Record ``run(tracers)``, which returns leaves; the places go in and come out last.

    What is computed from `reads` alone is computed by the block as well, and not before it. Whatever was
    bound or written is as before when this returns. Raises OuterWrite for further places.
    """

    def named() -> None:
        """Lends its name."""

    named.__name__ = name
    n = len(avals)
    roots_known = {id(place) for place in places}
    untouched: set[int] = set()

    def call(tracers: list[Tracer]) -> list[Any]:
        for place, tracer in zip(places, tracers[n:], strict=True):
            assign(place, tracer.frozen())
        lifted = [(x, lift(x)) for x in reads if id(x) not in roots_known]
        leaves = list(run(tracers[:n]))
        untouched.update([id(x) for x, index in lifted if x._index == index])
        return leaves

    def collect(leaves: list[Any]) -> list[Any]:
        return [*[asoperand(x) for x in leaves], *[place.frozen() for place in places]]

    every = [*avals, *[place.aval.strong for place in places]]
    with recording(what, line, known):
        traced, roots = traced_and_restored(named, call, every, collect, untouched=untouched)
    unknown = [x for x in roots if id(x) not in roots_known and id(x) not in untouched]
    if unknown:
        raise OuterWrite(unknown)
    return traced


def writing(places: Sequence[Tracer], function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of the places' values, and arguments, that returns its result and what it leaves there."""

    def called(values: Sequence[Tracer], *arguments: Anything) -> tuple[Any, list[Any]]:
        for place, value in zip(places, values, strict=True):
            assign(place, value.frozen())
        result = function(*arguments)
        return result, [place.frozen() for place in places]

    called.__name__ = getattr(function, "__name__", "body")
    return called


def written(places: Sequence[Tracer], values: Sequence[Any]) -> None:
    """Write what control flow has left in the places."""
    for place, value in zip(places, values, strict=True):
        assign(place, value)


def lift(x: Tracer) -> int:
    """Have `x` stand for itself in the block that is being recorded; returns its index there."""
    recorder = active_recorder()
    assert recorder is not None, "a block is being recorded"
    if x._recorder.closed or x._recorder is recorder:
        return x._index
    index = recorder.index_of(x)
    recorder.note_moved(x)
    x._recorder, x._index = recorder, index
    return index


def traced_and_restored(
    named: Callable[..., Any],
    call: Callable[[list[Tracer]], Any],
    avals: Sequence[Aval],
    collect: Callable[[Any], list[Any]],
    transform: str = "jit",
    untouched: Container[int] = (),
) -> tuple[Traced, list[Tracer]]:
    """Trace, and give written arrays of outer traces back what they were; returns these too."""
    opened: list[Any] = []

    def calling(tracers: list[Tracer]) -> Result:
        recorder = active_recorder()
        assert recorder is not None, "a trace is open"
        recorder.block = True
        opened.append(recorder)
        return call(tracers)

    roots: list[Tracer] = []
    try:
        found = trace(named, calling, avals, transform, collect, with_values=False, avals=avals)
    finally:
        for recorder in opened:
            roots = moved_back(recorder.moved or (), untouched)
    return found, roots
