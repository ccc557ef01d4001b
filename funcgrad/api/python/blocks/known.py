"""Loops over a known number of items: unrolled while that is cheap, recorded where it is not.

A loop is kept a loop when its trips together have more operations than the hooks say, something in it is
traced, and a trip can be recorded at all; otherwise it is gone through by Python, and a note says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from funcgrad.api.python.blocks import items
from funcgrad.api.python.blocks.carried import FirstTripDiffers, Loop
from funcgrad.api.python.blocks.cells import is_numeric, is_undecided, listed
from funcgrad.api.python.blocks.loops import INDEX, Items, Trip, counted, repeated
from funcgrad.api.python.builtin_functions import item_of
from funcgrad.api.python.whole_numbers import outgrows, programs_of
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.indexing import Scatter
from funcgrad.ops.arrays.windows import interval_of, note_interval
from funcgrad.ops.contraction import DotGeneral
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import AnyPrimitive, Anything

if TYPE_CHECKING:
    from funcgrad.api.python.hooks import Hooks
    from funcgrad.api.python.statement_notes import LoopSite

SHORT = 3
"""Loops of so few trips are unrolled without a look at them."""


def known_loop(
    hooks: Hooks, loop: Loop, iterable: Anything, length: int, goes_on: Callable[[], Any] | None
) -> None:
    """Go through the items, by Python or as one equation."""
    if hooks.decided.get(site(loop), length <= SHORT):
        unrolled(hooks, loop, iterable, goes_on)
        return
    entry = loop.state.values()
    try:
        prepared = prepare(hooks, loop, entry, iterable, length, goes_on, 0)
    except FirstTripDiffers:
        prepared = None
        first_apart(hooks, loop, iterable, length, goes_on)
        return
    except Exception as error:  # noqa: BLE001 - whatever a recorded trip cannot do, an unrolled one may
        note(hooks, loop, f"unrolled, {length} trips: {error}".splitlines()[0])
        prepared = None
    if prepared is None:
        unrolled(hooks, loop, iterable, goes_on)
    else:
        prepared()


def unrolled(hooks: Hooks, loop: Loop, iterable: Anything, goes_on: Callable[[], Any] | None) -> None:
    """Go through the items by Python; once it is traced whether to go on, every trip is done if so."""
    found = items.items_of(iterable)
    hooks.loops.setdefault(site(loop), set()).add((found.length, True))
    for k, item in enumerate(iterable):
        if goes_on is not None and k:
            still = goes_on()
            if is_undecided(still):
                rest_traced(hooks, loop, found, k, goes_on)
                return
            if not still:
                return
        loop.block(item)


def rest_traced(hooks: Hooks, loop: Loop, found: Items, first: int, goes_on: Callable[[], Any]) -> None:
    """The trips from the `first` on, once it is traced whether there are any."""
    prepare_while(hooks, loop, loop.state.values(), found, found.length, goes_on, first)()


def first_apart(
    hooks: Hooks, loop: Loop, iterable: Anything, length: int, goes_on: Callable[[], Any] | None
) -> None:
    """The first trip by Python, the others as one equation, if they can be."""
    found = items.items_of(iterable)
    loop.block(next(iter(iterable)))
    if goes_on is not None:
        still = goes_on()
        if is_undecided(still):
            rest_traced(hooks, loop, found, 1, goes_on)
            return
        if not still:
            return
    entry = loop.state.values()
    try:
        prepared = prepare(hooks, loop, entry, iterable, length, goes_on, 1)
    except Exception as error:  # noqa: BLE001 - whatever a recorded trip cannot do, an unrolled one may
        reason = error.error if isinstance(error, FirstTripDiffers) else error
        note(hooks, loop, f"unrolled, {length} trips: {reason}".splitlines()[0])
        prepared = None
    if prepared is not None:
        prepared()
        return
    for k, item in enumerate(iterable):
        if not k:
            continue
        if goes_on is not None:
            still = goes_on()
            if is_undecided(still):
                rest_traced(hooks, loop, found, k, goes_on)
                return
            if not still:
                return
        loop.block(item)


def prepare(
    hooks: Hooks,
    loop: Loop,
    entry: dict[str, Any],
    iterable: object,
    length: int,
    goes_on: Callable[[], Any] | None,
    first: int,
) -> Callable[[], None] | None:
    """The loop from an item on, ready to be recorded; None where it is better unrolled."""
    found = items.items_of(iterable)
    ready: Callable[[], None] | None
    if goes_on is not None:
        trip, ready = prepare_while_with_trip(hooks, loop, entry, found, length, goes_on, first)
    else:
        trip, ready = counted(loop, entry, found, first, length - first)
        if not hooks.whole_numbers_wrap and outgrows(trip, first, length - first, found):
            note(hooks, loop, f"unrolled, {length} trips: a whole number in it outgrows 64 bits, or is none")
            return None
    operations = operations_of(trip) * (length - first)
    if site(loop) not in hooks.decided and operations <= hooks.unroll:
        note(hooks, loop, f"unrolled, {length} trips of {operations / max(length - first, 1):.0f} operations")
        return None
    if not is_traced(trip, found):
        note(hooks, loop, f"done by Python, {length} trips: nothing in it is traced")
        return None
    note(hooks, loop, f"a loop of {length} trips that carries {listed(loop.carried)}")
    hooks.loops.setdefault(site(loop), set()).add((length, False))
    return ready


def operations_of(trip: Trip) -> float:
    """The operations of a trip, with those of the control flow in it.

    One on arrays counts an eighth: unrolled they are fused with their neighbours, which saves more. Writing
    an element is a whole one, however long the array.
    """
    recorder = trip.traced.recorder
    total = 0.0
    for index, step in enumerate(recorder.steps):
        if type(step) is tuple:
            primitive, *inputs = step
            fused = recorder.avals[index].size >= LONG and not (
                isinstance(primitive, Scatter)
                or is_small_product(primitive, [recorder.avals[k] for k in inputs])
            )
            total += (0.125 if fused else 1.0) + operations_inside(primitive)
    return total


LONG = 32
"""The number of elements from which an array is worth fusing."""

SMALL_PRODUCT = 8192
"""Multiplications of a product of two matrices that is quick as one of them."""


def is_small_product(primitive: AnyPrimitive, inputs: Sequence[Aval]) -> bool:
    """Whether this is a product with a vector, or of small matrices.

    Nothing is fused with it, and the gradient of a loop makes one product of those that all trips add up.
    """
    if not isinstance(primitive, DotGeneral):
        return False
    x, y = inputs
    common = frozenset(primitive.labels.x).intersection(primitive.labels.y)
    shared = math.prod([n for n, a in zip(x.shape, primitive.labels.x, strict=True) if a in common])
    return min(x.size, y.size) <= shared or x.size * y.size <= SMALL_PRODUCT * shared


def operations_inside(primitive: object) -> int:
    """The operations of the Programs that a primitive holds."""
    return sum(
        [
            CONTROL + sum(1 + operations_inside(e.primitive) for e in x.equations)
            for x in programs_of(primitive)
        ]
    )


CONTROL = 4
"""What entering a block costs, in operations."""


def is_traced(trip: Trip, found: Items) -> bool:
    """Whether anything that goes into the loop has no value yet."""
    reads = [*trip.constants, *found.rows]
    for value in trip.carried.values.values():
        reads += [x for x in value.leaves if is_numeric(x)]
    return any(is_undecided(x) for x in reads if isinstance(x, Tracer)) or bool(trip.places)


def prepare_while_with_trip(
    hooks: Hooks,
    loop: Loop,
    entry: dict[str, Any],
    found: Items,
    length: int,
    goes_on: Callable[[], Any],
    first: int,
) -> tuple[Trip, Callable[[], None]]:
    """A loop over items that may end before them."""

    last = interval_of(length)[1] - 1

    def run(lead: Sequence[Any]) -> list[Any]:
        note_interval(lead[0], (first, last))
        loop.block(found.item(lead[0], [item_of(x, lead[0]) for x in found.rows]))
        return [lead[0] + 1]

    def test(lead: Sequence[Any]) -> Anything:
        return hooks.and_(lead[0] < length, goes_on)

    return repeated(loop, entry, [(first, INDEX)], run, test)


def prepare_while(*args: Anything) -> Callable[[], None]:
    """As `prepare_while_with_trip`, without the trip."""
    return prepare_while_with_trip(*args)[1]


def site(loop: Loop) -> LoopSite:
    """The file and the line of a loop."""
    return loop.block.__code__.co_filename, loop.line


def note(hooks: Hooks, loop: Loop, text: str) -> None:
    """Remember what has become of a loop."""
    hooks.note(loop.block, loop.line, text)
