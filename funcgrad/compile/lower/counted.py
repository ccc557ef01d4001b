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
from funcgrad.compile.lower.held_programs import Held
from funcgrad.compile.passes.scheduling.ranges import Counter, growth_of
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.steady import TRIP
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Literal, Program, Var


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
def counted_run(
    writer: Writer, turn: str, count: str, flops: float, spans: Sequence[Span] = ()
) -> Iterator[None]:
    """``for turn in range(count)``, in runs of trips, each of which is paid for when it has been made.

    A run ends where one of the indices that are asked for before it comes to be counted from the other end.
    """
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
        write_spans(writer, spans, start, stop, count)
        with writer.block(f"for {turn} in range({start}, {stop}):"):
            yield
        pay(writer, f"({stop} - {start})", flops)


# -- steady indices -------------------------------------------------------------------------------------


class Span(NamedTuple):
    """An index that is asked for before the trips."""

    first: str
    """What it is in the first trip."""
    pace: int
    """What each trip adds."""
    size: str
    shift: str
    """The local that the trips add to it, if it may count from the end."""


class Spans(NamedTuple):
    """All of a loop, the locals that say where they begin, and the flag."""

    each: tuple[Span, ...] = ()
    names: tuple[str, ...] = ()
    views: tuple[View, ...] = ()


def spans_of(scheduler: Scheduler, held: Held, starts: Mapping[int, str]) -> Spans:
    """The indices that a scheduled body leaves to be asked for; its inputs begin with `starts`."""
    steady = held.scheduler.ranges.steady
    if steady is None or not steady.asked:
        return Spans()
    begin = {held.program.inputs[k]: text for k, text in starts.items()}
    texts = [begin[x] if isinstance(x, Var) and x in begin else scheduler.scalar(x) for x in steady.units]
    spans = []
    for form, size, shift in steady.asked.values():
        times = dict(form.terms)
        pace = times.pop(TRIP, 0)
        terms = [(count, texts[unit - 1]) for unit, count in times.items()]
        spans.append(Span(sum_text(scheduler, form.number, terms), pace, scheduler.local.symbol(size), shift))
    flag = View.whole(scheduler.local.failure_flag(), ())
    return Spans(tuple(spans), tuple([x for x in texts if x not in begin.values()]), (flag,))


def sum_text(scheduler: Scheduler, number: int, terms: Sequence[tuple[int, str]]) -> str:
    """A number, and so many of each of some locals."""
    found = ""
    for count, text in terms:
        if text not in ("0", "i64(0)"):
            factor = "" if abs(count) == 1 else f"{whole_text(scheduler, abs(count))} * "
            found += f" {'-' if count < 0 else '+'} {factor}{text}"
    return whole_text(scheduler, number) + found


def whole_text(scheduler: Scheduler, number: int) -> str:
    """A whole number."""
    return scheduler.literal(Literal(np.int64(number), Aval((), np.dtype(np.int64))))


SIGNS = {1: " + ", -1: " - "}


def write_spans(writer: Writer, spans: Sequence[Span], start: str, stop: str, count: str) -> None:
    """Ask for the indices of a run of trips; where one would be out of bounds the loop ends before it."""
    if not spans:
        return
    local, ends = writer.local, []
    for span in spans:
        first = local.fresh("first")
        trips = f"{SIGNS[span.pace]}{start}" if span.pace else ""
        writer.line(f"{first} = i64({span.first}{trips})")
        ends.append((span, first))
        if span.shift:
            write_shift(writer, span, first, start, stop)
    wrong = []
    for span, first in ends:
        names = [first]
        if span.shift:
            writer.line(f"{first} = i64({first} + {span.shift})")
        if span.pace:
            names.append(local.fresh("last"))
            writer.line(f"{names[1]} = i64({first}{SIGNS[span.pace]}({stop} - {start} - 1))")
        wrong += [f"({name} < 0) | ({name} >= {span.size})" for name in names]
    with writer.block(f"if {' | '.join(wrong)}:"):
        writer.line(f"{local.failure_flag().name}[0] = 1")
        writer.line(f"{start} = {count}")
        writer.line(f"{stop} = {count}")


def write_shift(writer: Writer, span: Span, first: str, start: str, stop: str) -> None:
    """What is added to an index in a run, which ends where its sign changes."""
    writer.line(f"{span.shift} = 0")
    with writer.block(f"if {first} < 0:"):
        writer.line(f"{span.shift} = {span.size}")
        if span.pace > 0:
            writer.line(f"{stop} = min({stop}, {start} - {first})")
    if span.pace < 0:
        with writer.block("else:"):
            writer.line(f"{stop} = min({stop}, {start} + {first} + 1)")


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


def paces_in(body: Program, n_carry: int) -> dict[int, int]:
    """What each trip adds to parts of the carry."""
    whole = [k for k in range(n_carry) if body.inputs[k].aval.dtype == np.int64]
    growths = {k: growth_of(body, k) for k in whole}
    return {k: growth for k, growth in growths.items() if growth is not None}


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
