"""Parts of arrays at a traced place whose length is known: ``x[i - 1 : i + 2]``, ``a[i : i + 3, j : j + 3]``.

A slice is cut off where the array ends, and counts from the end where a bound is negative, so its length
depends on values. It does not where the bounds differ by a number, and lie within the array for all that a
counter of a loop can be: what is known of counters is in `Recorder.spans`, and followed through sums here.
Such a part is read and written at positions, and is a view, as in NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Index, Number

if TYPE_CHECKING:
    from funcgrad.tracing.recorder import Recorder


Interval = tuple[float, float]
UNBOUNDED: Interval = (-math.inf, math.inf)
DEEPEST = 30
"""How many operations are followed back."""


class Window(NamedTuple):
    """The positions ``start + step * k`` along an axis, for k below `size`, and none beyond `last`."""

    start: Number
    size: int
    step: int
    last: int | None = None

    def positions(self, before: int, after: int) -> ArrayLike:
        """As an index array, with axes of size one before and after."""
        offsets = numbers_below(self.size, self.step).reshape((1,) * before + (self.size,) + (1,) * after)
        places = self.start + offsets
        if self.last is not None:
            places = np.minimum(places, self.last)
        if isinstance(places, np.ndarray):
            places.setflags(write=False)  # that they cannot change spares the check of every position
        return places


def numbers_below(n: int, step: int = 1) -> Array:
    """The numbers from 0 to n - 1, times a step, which cannot change.

    Compiled, those of step one are no array, but the variable of a loop.
    """
    numbers = np.arange(n) * step
    numbers.setflags(write=False)
    return numbers


def has_traced_bounds(index: Index) -> bool:
    """Whether a slice has a bound of which no value exists."""
    return (type(index.start) is Tracer and not index.start.has_value()) or (
        type(index.stop) is Tracer and not index.stop.has_value()
    )


def window_of(index: slice, n: int) -> Window | None:
    """What a slice takes of an axis of size n; None where that depends on values."""
    step = 1 if index.step is None else index.step
    if type(step) is not int or step == 0:
        return None
    ends = (0, n) if step > 0 else (n - 1, None)
    start = ends[0] if index.start is None else index.start
    stop = ends[1] if index.stop is None else index.stop
    if stop is None:
        return None
    distance = difference(stop, start)
    size = len(range(0, distance or 0, step))
    if not size:
        return None
    lowest, highest = interval_of(start)
    last = (size - 1) * step
    within = lowest + min(last, 0) >= 0 and highest + max(last, 0) < n
    return Window(start, size, step) if within and interval_of(stop)[0] >= 0 else None


# -- what is known of whole numbers ----------------------------------------------------------------------


def interval_of(x: object) -> Interval:
    """The least and the largest value that a whole number may have; infinities where nothing is known."""
    if type(x) is Tracer:
        return interval_at(x._recorder, x._index, DEEPEST) if is_whole(x) else UNBOUNDED
    return (int(x), int(x)) if isinstance(x, int | np.integer) else UNBOUNDED


def may_be_outside(index: Tracer, n: int) -> bool:
    """Whether a traced index can be out of bounds, for what is known of the counters of loops."""
    lowest, highest = interval_of(index)
    return lowest < -n or highest >= n


def note_interval(x: Tracer, interval: Interval) -> None:
    """Remember between which numbers a counter is."""
    if x._recorder.spans is None:
        x._recorder.spans = {}
    x._recorder.spans[x._index] = interval


def is_whole(x: Tracer) -> bool:
    """Whether a tracer is one whole number."""
    return not x.aval.shape and x.aval.dtype.kind in "iu"


def interval_at(
    recorder: Recorder, index: int, depth: int, seen: dict[int, Interval] | None = None
) -> Interval:
    """The interval of what is at an index of a trace; `seen` has those that were asked for on the way."""
    if recorder.spans is not None and index in recorder.spans:
        return recorder.spans[index]
    seen = {} if seen is None else seen
    if index not in seen:
        seen[index] = interval_of_step(recorder, index, depth, seen)
    return seen[index]


def interval_of_step(recorder: Recorder, index: int, depth: int, seen: dict[int, Interval]) -> Interval:
    """The interval of what a step of a trace gives."""
    step = recorder.steps[index]
    if type(step) is not tuple:
        given = recorder.values.get(index)
        return interval_of(given.item() if isinstance(given, np.generic) else given)
    if not depth:
        return UNBOUNDED
    name, operands = extreme_at(recorder, index) or (step[0].name, step[1:])
    if any(recorder.avals[k].shape or recorder.avals[k].dtype.kind not in "iu" for k in operands):
        return UNBOUNDED
    found = [interval_at(recorder, k, depth - 1, seen) for k in operands]
    return combined(name, found)


def combined(name: str, of: Sequence[Interval]) -> Interval:
    """The interval of the result of an operation on whole numbers."""
    if name == "cast":
        return of[0]
    if name == "neg":
        return -of[0][1], -of[0][0]
    rule = RULES.get(name)
    return rule(*of[0], *of[1]) if rule is not None else UNBOUNDED


def product(a: float, b: float, c: float, d: float) -> Interval:
    """Of a product."""
    if not all(map(math.isfinite, (a, b, c, d))):
        return UNBOUNDED
    corners = (a * c, a * d, b * c, b * d)
    return min(corners), max(corners)


def quotient(a: float, b: float, c: float, d: float) -> Interval:
    """Of a whole quotient."""
    return (a // c, b // c) if 0 < c == d and math.isfinite(a) and math.isfinite(b) else UNBOUNDED


RULES: Mapping[str, Callable[[float, float, float, float], Interval]] = {
    "add": lambda a, b, c, d: (a + c, b + d),
    "sub": lambda a, b, c, d: (a - d, b - c),
    "maximum": lambda a, b, c, d: (max(a, c), max(b, d)),
    "minimum": lambda a, b, c, d: (min(a, c), min(b, d)),
    "mul": product,
    "floor_divide": quotient,
    "remainder": lambda a, b, c, d: (0, d - 1) if 0 < c == d else UNBOUNDED,
}
"""The interval of a result from the least and the largest value of both operands."""


class Unknown:
    """A whole number that sums are not followed through: by its trace and index there, or how it is made."""

    __slots__ = ("interval", "made")

    def __init__(self, made: Hashable, interval: Interval) -> None:
        self.made = made
        self.interval = interval

    def __eq__(self, other: object) -> bool:
        return type(other) is Unknown and self.made == other.made

    def __hash__(self) -> int:
        return hash(self.made)


Sum = tuple[dict[Unknown, int], int]
"""How often each number is in a sum, and what is added."""


def difference(x: object, y: object) -> int | None:
    """``x - y`` where that is the same number whatever the traced values are, else None."""
    parts, total = sum_of(x)
    others, less = sum_of(y)
    keys = {*parts, *others}
    return total - less if all(parts.get(k, 0) == others.get(k, 0) for k in keys) else None


def sum_of(x: object) -> Sum:
    """A whole number as a sum."""
    if type(x) is Tracer and is_whole(x):
        return sum_at(x._recorder, x._index, DEEPEST)
    if isinstance(x, int | np.integer):
        return {}, int(x)
    return {Unknown((0, id(x)), UNBOUNDED): 1}, 0


def sum_at(recorder: Recorder, index: int, depth: int, seen: dict[Any, Sum] | None = None) -> Sum:
    """What is at an index of a trace as a sum; `seen` has those that were asked for on the way."""
    seen = {} if seen is None else seen
    if (index, depth) not in seen:
        found = followed(recorder, index, depth, seen)
        seen[index, depth] = alone(recorder, index) if found is None else found
    return seen[index, depth]


def followed(recorder: Recorder, index: int, depth: int, seen: dict[Any, Sum]) -> Sum | None:
    """The sum that a step gives; None where it is not followed through."""
    step = recorder.steps[index]
    if type(step) is not tuple or not depth or step[0].name not in (*LINEAR, *COMPARED):
        return None
    avals = [recorder.avals[k] for k in step[1:]]
    if any(a.shape or a.dtype.kind not in "biu" for a in avals):
        return None
    compared = step[0].name in COMPARED
    further = min(depth, MOST_COMPARED) - 1 if compared else depth - 1
    sums = [sum_at(recorder, k, further, seen) for k in step[1:]]
    if not compared:
        return sum_of_step(step[0].name, sums)
    made = (step[0].name, *[(frozenset(parts.items()), total) for parts, total in sums])
    return {Unknown(made, interval_at(recorder, index, DEEPEST)): 1}, 0


def alone(recorder: Recorder, index: int) -> Sum:
    """What is at an index of a trace as a number, or as one that nothing is known of."""
    given = recorder.values.get(index)
    if isinstance(given, np.integer):
        return {}, int(given)
    if type(given) is Tracer and is_whole(given):
        return sum_of(given)
    interval = (
        interval_at(recorder, index, DEEPEST) if recorder.avals[index].dtype.kind in "iu" else UNBOUNDED
    )
    return {Unknown((id(recorder), index), interval): 1}, 0


MOST_COMPARED = 4
"""How deep in one another numbers are looked at that are known by how they are made."""


def sum_of_step(name: str, sums: Sequence[Sum]) -> Sum | None:
    """What an operation makes of sums; None for a product of two that nothing is known of."""
    if name == "cast":
        return sums[0]
    if name == "neg":
        return {k: -count for k, count in sums[0][0].items()}, -sums[0][1]
    (a, m), (b, n) = sums
    if name != "mul":
        sign = 1 if name == "add" else -1
        return {k: a.get(k, 0) + sign * b.get(k, 0) for k in {*a, *b}}, m + sign * n
    if a and b:
        return None
    scaled, factor = (b, m) if not a else (a, n)
    return {k: factor * count for k, count in scaled.items()}, m * n


LINEAR = frozenset(["add", "sub", "mul", "neg", "cast"])
"""Operations that sums are followed through."""
COMPARED = frozenset(
    [
        *("minimum", "maximum", "where", "less", "less_equal", "greater", "greater_equal"),
        *("floor_divide", "remainder"),
    ]
)
"""Operations that give the same number wherever they are given the same."""


def named(recorder: Recorder, index: int) -> Hashable:
    """What is at an index of a trace: a number, or where it is."""
    given = recorder.values.get(index)
    if isinstance(given, np.integer):
        return int(given)
    return stands_at(given) if type(given) is Tracer else (id(recorder), index)


def stands_at(x: Tracer) -> Hashable:
    """Where in which trace a tracer is."""
    return id(x._recorder), x._index


def extreme_at(recorder: Recorder, index: int) -> tuple[str, tuple[int, ...]] | None:
    """``minimum`` or ``maximum`` and its operands, where a whole number is one; ``min(a, b)`` is a choice."""
    step = recorder.steps[index]
    if type(step) is not tuple:
        return None
    name, *operands = step[0].name, *step[1:]
    if name in ("minimum", "maximum"):
        return name, tuple(operands)
    asked = recorder.steps[operands[0]] if name == "where" else None
    if type(asked) is not tuple or asked[0].name.partition("_")[0] not in ("less", "greater"):
        return None
    first, second = [named(recorder, k) for k in asked[1:]]
    chosen = [named(recorder, k) for k in operands[1:]]
    if chosen not in ([first, second], [second, first]):
        return None
    least = (asked[0].name[0] == "l") == (chosen[0] == first)
    return "minimum" if least else "maximum", tuple(operands[1:])


def difference_interval(x: object, y: object, depth: int = 2) -> Interval:
    """Between which numbers ``x - y`` is, also where one is the lesser or the greater of two others."""
    known = difference(x, y)
    if known is not None:
        return known, known
    (a, b), (c, d) = interval_of(x), interval_of(y)
    low, high = interval_of_sum(sum_of_step("sub", [sum_of(x), sum_of(y)]))
    low, high = max(low, a - d), min(high, b - c)
    for pick, name in ((min, "minimum"), (max, "maximum")) if depth else ():
        found = [difference_interval(part, y, depth - 1) for part in operands_of(x, name)]
        if found:
            low, high = max(low, pick([i[0] for i in found])), min(high, pick([i[1] for i in found]))
    for pick, name in ((max, "minimum"), (min, "maximum")) if depth else ():
        found = [difference_interval(x, part, depth - 1) for part in operands_of(y, name)]
        if found:
            low, high = max(low, pick([i[0] for i in found])), min(high, pick([i[1] for i in found]))
    return low, high


def interval_of_sum(found: Sum | None) -> Interval:
    """Between which numbers a sum is."""
    if found is None:
        return UNBOUNDED
    low = high = float(found[1])
    for number, count in found[0].items():
        a, b = number.interval
        if count:
            low += count * (a if count > 0 else b)
            high += count * (b if count > 0 else a)
    return low, high


def operands_of(x: object, name: str) -> list[Tracer]:
    """What a whole number was computed from by this operation; nothing where it was by another."""
    if type(x) is not Tracer or not is_whole(x):
        return []
    found = extreme_at(x._recorder, x._index)
    if found is None or found[0] != name:
        return []
    return [Tracer(x._recorder, k, x._recorder.avals[k]) for k in found[1]]


def natural_order(kept: Sequence[str]) -> tuple[int, ...]:
    """The axes of what is gathered, windows first, in the order of the index: "window" or "span" for each."""
    windows = kept.count("window")
    counts = {"window": 0, "span": windows}
    order: list[int] = []
    for kind in kept:
        order.append(counts[kind])
        counts[kind] += 1
    return tuple(order)
