"""Whole numbers that are known beforehand: what `itertools` and simple generators give, gone over by a loop.

``for i, j in itertools.combinations(range(n), 2)`` goes over pairs of numbers that depend on nothing traced.
They are listed when the loop is met, and every trip takes a row of them. So are those of a generator that
computes with whole numbers alone and calls nothing but `range` and its kin: nobody can tell whether it has
run before the loop or beside it.
"""

from __future__ import annotations

import builtins
import dis
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from inspect import GEN_CREATED, getgeneratorstate
from types import CodeType, FunctionType, GeneratorType
from typing import Any

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.python.blocks.loops import Items
from funcgrad.api.python.blocks.recording import note_made, refuse_change
from funcgrad.errors import TracedBranchError
from funcgrad.ops.arrays.windows import note_interval
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Number

MOST_ITEMS = 200_000
"""Items that are listed: more are gone through by Python."""
NEVER_UNROLLED = 3
"""As few items, or fewer, stay with Python."""


class Numbers:
    """Whole numbers that are known, or tuples of as many of them, which a loop goes over."""

    def __init__(self, known: Sequence[Any]) -> None:
        self._known = known

    def __iter__(self) -> Iterator[Any]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def items(self) -> Items:
        """Rows of the numbers: each is Python's own, whose dtype gives way to what it meets."""
        table = np.array(self._known, np.int64)
        columns = [table] if table.ndim == 1 else list(np.ascontiguousarray(table.T))
        spans = [(float(x.min()), float(x.max())) for x in columns]

        def item(_: Number, rows: Sequence[Any]) -> Anything:
            for row, span in zip(rows, spans, strict=True):
                if type(row) is Tracer:
                    note_interval(row, span)
            return rows[0] if table.ndim == 1 else tuple(rows)

        return Items(len(table), tuple(columns), item, whole=True)


class Numbered(Iterator[Any]):
    """An iterator over whole numbers that are known."""

    def __init__(self, known: Sequence[Any]) -> None:
        self._known = known
        self._at: int | None = 0

    def __next__(self) -> Anything:
        if self._at is None:
            raise TracedBranchError(
                "what goes over this iterator was made before, and may have left it anywhere",
                source=here(),
                remedy="Make another iterator, or a list.",
            )
        if self._at >= len(self._known):
            raise StopIteration
        self._at += 1
        return self._known[self._at - 1]

    def taken(self, at: int | None) -> Numbers | None:
        """All of the numbers, which leaves it there; None where some have been taken before."""
        if self._at != 0:
            return None
        self._at = at
        return Numbers(self._known)

    def emptied(self) -> Numbers | None:
        """All of the numbers, as a loop takes them that goes to the end."""
        return self.taken(len(self._known))


def taken(x: Anything) -> Anything:
    """The numbers of an iterator that has not begun, for something that goes over it; others as they are."""
    found = x.taken(None) if type(x) is Numbered else None
    return x if found is None else found


def are_whole(found: Sequence[Any]) -> bool:
    """Whether these are whole numbers of 64 bits, or tuples of as many of them."""
    first = found[0]
    if type(first) is tuple:
        n = len(first)
        return n > 0 and all(type(x) is tuple and len(x) == n and all(map(is_number, x)) for x in found)
    return all(map(is_number, found))


def is_number(x: object) -> bool:
    """Whether it is a whole number of Python's that 64 bits hold."""
    return type(x) is int and -(1 << 63) <= x < 1 << 63


def of_itertools(make: Callable[..., Iterator[Any]], count: Callable[..., float]) -> Callable[..., Any]:
    """A function of `itertools`, whose iterator is over known numbers where it is one over numbers."""

    def making(*args: Anything, **kwargs: Anything) -> Iterator[Any]:
        pools = [tuple(x) if type(x) in (range, list, tuple) else None for x in args]
        plain = bool(pools) and all(p is not None and len(p) and are_whole(p) for p in pools[:1])
        if make is itertools.product:
            plain = plain and all(p is not None and len(p) and are_whole(p) for p in pools)
        if plain and NEVER_UNROLLED < count(*args, **kwargs) <= MOST_ITEMS:
            found = tuple(make(*args, **kwargs))
            if are_whole(found):
                return Numbered(found)
        return make(*args, **kwargs)

    return making


def products(*pools: Sequence[Any], repeat: int = 1) -> float:
    """The number of items of ``itertools.product``."""
    return float(math.prod(len(x) for x in pools)) ** repeat


def choices(pool: Sequence[Any], r: int) -> float:
    """The number of items of ``itertools.combinations``."""
    return math.comb(len(pool), r)


def choices_again(pool: Sequence[Any], r: int) -> float:
    """The number of items of ``itertools.combinations_with_replacement``."""
    return math.comb(len(pool) + r - 1, r)


def orders(pool: Sequence[Any], r: int | None = None) -> float:
    """The number of items of ``itertools.permutations``."""
    return math.perm(len(pool), r)


ITERTOOLS: dict[Any, Callable[..., Any]] = {
    make: of_itertools(make, count)
    for make, count in (
        (itertools.product, products),
        (itertools.combinations, choices),
        (itertools.combinations_with_replacement, choices_again),
        (itertools.permutations, orders),
    )
}
"""What is called instead of functions that list their arguments when they are called."""


def numbered(iterable: Anything, may_end: bool) -> Anything:
    """What a loop goes over: the numbers that an iterator is known to give, or the iterator itself.

    A loop that may end before them leaves the iterator where Python does, and is gone through by Python.
    """
    if type(iterable) is Numbered:
        refuse_change(iterable, "an iterator from outside is gone through")
        known = None if may_end else iterable.emptied()
        return iterable if known is None else known
    if type(iterable) is not GeneratorType or may_end or not computes_alone(iterable):
        return iterable
    refuse_change(iterable, "an iterator from outside is gone through")
    found = tuple(itertools.islice(iterable, MOST_ITEMS + 1))
    if NEVER_UNROLLED < len(found) <= MOST_ITEMS and are_whole(found):
        return Numbers(found)
    return note_made(itertools.chain(found, iterable))


def computes_alone(generator: GeneratorType[Any, Any, Any]) -> bool:
    """Whether a generator that has not begun reads and calls nothing that anybody could change meanwhile."""
    code, frame = generator.gi_code, generator.gi_frame
    if frame is None or getgeneratorstate(generator) != GEN_CREATED or code.co_freevars:
        return False
    given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return all(never_changes(frame.f_locals.get(name)) for name in given) and reads_alone(
        code, frame.f_globals
    )


def of_numbers_alone(function: FunctionType, again: Callable[..., Any]) -> Callable[..., Any]:
    """A generator of the user's as it stands where it is given numbers, and what is called in its place else.

    As it stands it is known to be one that `numbered` may list: nothing in it has to be called otherwise.
    """
    code = function.__code__
    if code.co_freevars or not reads_alone(code, function.__globals__):
        return again

    def calling(*args: Anything, **kwargs: Anything) -> Anything:
        plain = all(map(never_changes, (*args, *kwargs.values())))
        return (function if plain else again)(*args, **kwargs)

    return calling


_RANGES = (type(iter(range(0))), type(iter(range(1 << 64))))


def never_changes(x: object) -> bool:
    """Whether nobody can change it."""
    if type(x) is tuple:
        return all(map(never_changes, x))
    return x is None or type(x) in (int, bool, str, float, range, *_RANGES)


_CALLED = frozenset(
    [
        *(range, len, enumerate, zip, min, max, abs, reversed, divmod, sum, int, tuple, pow, round),
        *(any, all, bool),
    ]
)


def reads_alone(code: CodeType, names: dict[str, Any]) -> bool:
    """Whether global names are functions of Python's that change nothing, or numbers; and none is bound."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            value = names.get(step.argval, getattr(builtins, step.argval, None))
            if not (type(value) in (int, range) or any(value is x for x in _CALLED)):
                return False
        elif step.opname in _LEAVING:
            return False
    return all(reads_alone(x, names) for x in code.co_consts if isinstance(x, CodeType))


_LEAVING = frozenset(
    [
        *("LOAD_ATTR", "LOAD_METHOD", "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "STORE_DEREF", "SEND"),
        *("IMPORT_NAME", "STORE_SUBSCR", "DELETE_SUBSCR", "DELETE_DEREF", "LOAD_CLASSDEREF", "RAISE_VARARGS"),
        *("GET_YIELD_FROM_ITER", "BEFORE_WITH", "SETUP_WITH"),
    ]
)
"""Instructions that read or change what is not the generator's own, or run what does."""
