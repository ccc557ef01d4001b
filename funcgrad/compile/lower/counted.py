"""While loops that go on while a counter, which grows by one, is below a bound: they count their trips.

Written as ranges, in runs between which signals are asked for: LLVM vectorises these, as it does no loop that
looks at a condition and at the budget in every trip.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from funcgrad.compile.emit.interruptible_loops import pay, trips_between_polls
from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.carries import Carry
from funcgrad.compile.passes.scheduling.ranges import Counter, growth_of
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.program import Atom, Literal, Program


def bound_of_trips(body: Program, deciding: Program, consts: Sequence[Atom]) -> tuple[int, Atom] | None:
    """The place of the counter in the carry, and the bound below which it goes on, one of the `consts`.

    None for a loop that something else ends.
    """
    n_carry = len(deciding.inputs) - len(consts)
    decides = deciding.outputs[0]
    for equation in deciding.equations:
        if equation.outputs[0] is not decides or equation.primitive.name != "less":
            continue
        left, right = equation.inputs
        if left not in deciding.inputs[:n_carry] or left.aval.dtype != np.int64:
            return None
        place = deciding.inputs.index(left)
        if growth_of(body, place) != 1:
            return None
        if isinstance(right, Literal):
            return place, right
        if right in deciding.inputs[n_carry:] and right.aval.dtype == np.int64:
            return place, consts[deciding.inputs.index(right) - n_carry]
    return None


@contextmanager
def counted_run(writer: Writer, turn: str, count: str, flops: float) -> Iterator[None]:
    """``for turn in range(count)``, in runs of trips, each of which is paid for when it has been made."""
    local = writer.local
    if local.portable:
        with writer.block(f"for {turn} in range({count}):"):
            yield
        return
    start, stop = local.fresh("start"), local.fresh("stop")
    run = local.number(trips_between_polls(flops), np.dtype(np.int64))
    writer.line(f"{stop} = 0")
    with writer.block(f"while {stop} < {count}:"):
        writer.line(f"{start} = {stop}")
        writer.line(f"{stop} = min({start} + {run}, {count})")
        with writer.block(f"for {turn} in range({start}, {stop}):"):
            yield
        pay(writer, f"({stop} - {start})", flops)


# -- logs ----------------------------------------------------------------------------------------------


class Limits(NamedTuple):
    """How far the counters of a loop may go, by which its trips index logs without looking."""

    starts: tuple[tuple[str, Counter], ...]
    """What each begins with."""
    views: tuple[View, ...]
    """The flag that is raised where they go further."""


def counters_in(body: Program, n_carry: int) -> dict[int, Counter]:
    """The counters in the carry of a loop that knows how many trips there are."""
    growths = {k: growth_of(body, k) for k in range(n_carry) if body.inputs[k].aval.dtype == np.int64}
    return {k: Counter(growth) for k, growth in growths.items() if growth in (1, -1)}


def limits_of(scheduler: Scheduler, carry: Carry, counters: Mapping[int, Counter]) -> Limits:
    """The limits that the body, which is scheduled, has put on counters."""
    starts = [(carry.starts[k], counter) for k, counter in counters.items() if counter.limits]
    views = (View.whole(scheduler.local.failure_flag(), ()),) if starts else ()
    return Limits(tuple([(start, x) for start, x in starts if start is not None]), views)


@contextmanager
def within_limits(writer: Writer, limits: Limits, count: str) -> Iterator[None]:
    """The loop; where a counter would go too far there are no trips, and NumPy evaluates the program."""
    if not limits.starts:
        yield
        return
    wrong = " | ".join([too_far(writer, start, counter, count) for start, counter in limits.starts])
    (flag,) = limits.views
    with writer.block(f"if ({count} > 0) & ({wrong}):"):
        writer.line(f"{flag.buffer.name}[0] = 1")
    with writer.block("else:"):
        yield


def too_far(writer: Writer, start: str, counter: Counter, count: str) -> str:
    """The text that asks whether an index leaves its log within so many trips."""
    offsets = [offset for offset, _ in counter.limits]
    size = writer.local.symbol(min(n for _, n in counter.limits))
    least, most = f"{start} + {min(offsets)}", f"{start} + {max(offsets)}"
    if counter.growth > 0:
        most = f"{most} + {count} - 1"
    else:
        least = f"{least} - {count} + 1"
    return f"({least} < 0) | ({most} >= {size})"
