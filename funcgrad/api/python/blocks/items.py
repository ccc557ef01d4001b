"""What a ``for`` goes over: numbers of a range, rows of an array, and pairs of these.

Each answers how many there are and how the k-th is made, so that a loop over it can be recorded. Python's
own containers and generators do not, and are gone through by Python.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.python.blocks.cells import is_undecided
from funcgrad.api.python.blocks.loops import Items
from funcgrad.api.python.blocks.numbered import Numbers, taken
from funcgrad.api.python.blocks.recording import note_made
from funcgrad.errors import DtypeError, TracedBranchError
from funcgrad.ops.arrays.windows import interval_of, note_interval
from funcgrad.ops.reducing.extremes import maximum, minimum
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, Number


class TracedRange:
    """``range`` with bounds that are traced."""

    def __init__(self, start: Number, stop: Number, step: Number) -> None:
        self.start, self.stop, self.step = start, stop, step

    def __iter__(self) -> Iterator[Any]:
        raise TracedBranchError(
            "only a for statement can go over a range with traced bounds",
            source=here(),
            remedy="Write the loop as a statement.",
        )

    def length(self) -> Number:
        """The number of items, traced."""
        step: Any = self.step
        if isinstance(self.step, Tracer):
            up = (self.stop - self.start + step - 1) // step
            down = (self.start - self.stop - step - 1) // -step
            return maximum(np.where(step > 0, up, down), 0)
        distance = self.stop - self.start if step > 0 else self.start - self.stop
        size = abs(step)
        trips = distance if size == 1 else (distance + (size - 1)) // size
        return maximum(trips, 0)

    def item(self) -> Callable[[Any, Sequence[Any]], Any]:
        """What makes the k-th number, and notes between which numbers it is."""
        start, stop = interval_of(self.start), interval_of(self.stop)
        within = (start[0], stop[1] - 1)
        if not isinstance(self.step, int):
            within = (-math.inf, math.inf)
        elif self.step < 0:
            within = (stop[0] + 1, start[1])

        def item(k: Number, rows: Sequence[Any]) -> Anything:
            number: Any = spaced(self.start, self.step, k)
            if type(number) is Tracer:
                note_interval(number, within)
            return number

        return item


class Zipped:
    """``zip`` and ``enumerate`` of what can be recorded."""

    def __init__(self, parts: Sequence[Any], counts_from: Number = None) -> None:
        self.parts = tuple(parts)
        self.counts_from = counts_from

    def __iter__(self) -> Iterator[Any]:
        if self.counts_from is not None:
            return builtins.enumerate(self.parts[0], self.counts_from)
        return builtins.zip(*self.parts, strict=False)


class Reversed:
    """``reversed`` of what can be recorded."""

    def __init__(self, whole: Array) -> None:
        self.whole = whole

    def __iter__(self) -> Iterator[Any]:
        yield from builtins.reversed(self.whole)


class Positions:
    """``np.ndindex`` and ``np.ndenumerate``: positions of an array in order, and its elements."""

    def __init__(self, shape: tuple[int, ...], elements: Anything = None) -> None:
        self.shape = shape
        self.elements = elements

    def __iter__(self) -> Iterator[Any]:
        for position in np.ndindex(*self.shape):
            yield position if self.elements is None else (position, self.elements[position])

    def items(self) -> Items:
        """Each by its number."""

        def item(k: Number, rows: Sequence[Any]) -> Anything:
            position: list[Any] = []
            step = 1
            for size in builtins.reversed(self.shape):
                position.append(k // step % size if step > 1 else k % size)
                step *= size
            found = tuple(position[::-1])
            return (found, rows[0]) if rows else found

        over = () if self.elements is None else (self.elements,)
        return Items(int(np.prod(self.shape)), tuple([x.ravel() for x in over]), item, over)


def positions(*shape: Number) -> object:
    """``np.ndindex``"""
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    return Positions(tuple([int(x) for x in sizes]))


def elements(x: object) -> Iterable[Any]:
    """``np.ndenumerate``"""
    return Positions(x.shape, x) if isinstance(x, Tracer | np.ndarray) else np.ndenumerate(x)


def traced_range(*bounds: Number) -> object:
    """``range``, whose bounds may be traced."""
    if not any(is_undecided(x) for x in bounds):
        return builtins.range(*[int(x) if isinstance(x, Tracer) else x for x in bounds])
    for x in bounds:
        if isinstance(x, Tracer) and (x.aval.dtype.kind not in "iu" or x.aval.shape):
            raise DtypeError(f"range takes integers, got {x.aval}", source=here())
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    return TracedRange(start, stop, step)


_RECORDABLE = (builtins.range, TracedRange, Zipped, Reversed, Positions, Numbers)


def recordable_items(x: object) -> bool:
    """Whether a loop over `x` can be recorded."""
    if isinstance(x, Tracer | np.ndarray):
        return bool(x.ndim)
    return isinstance(x, _RECORDABLE)


def zipped(*parts: object, strict: bool = False) -> object:
    """``zip``, which can be recorded where all its parts can."""
    if parts and not strict and all(recordable_items(x) for x in parts):
        return Zipped(parts)
    return note_made(builtins.zip(*parts, strict=strict))


def enumerated(iterable: Iterable[Any], start: Number = 0) -> object:
    """``enumerate``, which can be recorded where its argument can."""
    iterable = taken(iterable)
    return (
        Zipped([iterable], start)
        if recordable_items(iterable)
        else note_made(builtins.enumerate(iterable, start))
    )


def backwards(iterable: Anything) -> object:
    """``reversed``, which can be recorded where its argument can."""
    if isinstance(iterable, builtins.range):
        return iterable[::-1]
    if isinstance(iterable, TracedRange | Tracer | np.ndarray) and recordable_items(iterable):
        return Reversed(iterable)
    return note_made(builtins.reversed(iterable))


def items_of(x: Anything) -> Items:
    """The items of what can be recorded."""
    if isinstance(x, builtins.range):
        start, step = x.start, x.step
        return Items(len(x), (), lambda k, rows: spaced(start, step, k))
    if isinstance(x, TracedRange):
        return Items(x.length(), (), x.item())
    if isinstance(x, Tracer | np.ndarray):
        return Items(x.shape[0], (x,), lambda k, rows: rows[0])
    if isinstance(x, Positions | Numbers):
        return x.items()
    if isinstance(x, Reversed):
        return reversed_items(x.whole)
    inner = [items_of(part) for part in x.parts]
    return joined_items(inner, x.counts_from)


def spaced(start: Number, step: Number, k: Number) -> object:
    """``start + step * k``"""
    scaled = k if isinstance(step, int) and step == 1 else k * step
    return scaled if isinstance(start, int) and start == 0 else scaled + start


def reversed_items(x: Anything) -> Items:
    """The items from the last to the first."""
    if not isinstance(x, TracedRange):
        return Items(x.shape[0], (x[::-1],), lambda k, rows: rows[0])
    length = x.length()
    return Items(length, (), lambda k, rows: spaced(x.start, x.step, length - 1 - k))


def joined_items(inner: Sequence[Items], counts_from: object) -> Items:
    """Items of several taken together, as many as the shortest has; or numbered."""
    lengths = [one.length for one in inner]
    known = [x for x in lengths if isinstance(x, int)]
    if len(known) == len(lengths):
        length: Any = min(known)
    else:
        length = lengths[0]
        for x in lengths[1:]:
            length = minimum(length, x)
    cuts = [0]
    rows: list[Any] = []
    for one in inner:
        rows += [x[:length] if isinstance(length, int) else x for x in one.rows]
        cuts.append(len(rows))

    def item(k: Number, given: Sequence[Any]) -> Anything:
        parts = [one.item(k, given[a:b]) for one, a, b in zip(inner, cuts[:-1], cuts[1:], strict=True)]
        return tuple(parts) if counts_from is None else (spaced(counts_from, 1, k), parts[0])

    return Items(length, tuple(rows), item, tuple([x for one in inner for x in one.copied]))


def known_length(x: object) -> int | None:
    """The number of items where it is known."""
    if isinstance(x, builtins.range | Tracer | np.ndarray | Numbers):
        return len(x)
    if isinstance(x, Positions):
        return int(np.prod(x.shape))
    if isinstance(x, Reversed):
        return known_length(x.whole)
    if isinstance(x, Zipped):
        lengths = [known_length(part) for part in x.parts]
        return None if None in lengths else min([n for n in lengths if n is not None])
    return None
