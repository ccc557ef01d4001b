"""Loops that can be left before they end: on a signal such as Ctrl-C, or where there is no more memory.

A kernel with such loops returns 0, or why it was left. Signals are asked for after `POLL_EVERY` operations or
so, never within a run of trips that LLVM may want to vectorise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.emit.symbols import Locals
from funcgrad.compile.runtime.callers.call_layout import Left
from funcgrad.compile.runtime.machine.offsets import SIGNALS_IS_SET, SIGNALS_POLL_OF_STAGES

POLL_EVERY = 1_000_000
"""Operations between two looks at the clock: less than a millisecond. The look takes about 0.03 µs."""

STOPPING = frozenset({"scan", "while_loop", "while_sweeps", "cond"})
"""The kinds of step that may leave the kernel."""


def trips_between_polls(flops: float) -> int:
    """How many trips of that many operations go by between two polls: a power of two."""
    return 1 << max(int(POLL_EVERY / max(flops, 1.0)), 1).bit_length() - 1


def write_leaving(writer: Writer, why: Left) -> None:
    """Give back what the kernel holds, and return."""
    for line in reversed(writer.cleanups):
        writer.line(line)
    writer.line(f"return {int(why)}")


def write_poll(writer: Writer, condition: str = "") -> None:
    """Leave if a signal's handler has raised an exception, which is the caller's to pass on."""
    signals = writer.local.signals().name
    first = f"{condition} and " if condition else ""
    with writer.block(f"if {first}poll({signals}[0], {signals}) != 0:"):
        write_leaving(writer, Left.INTERRUPTED)


@contextmanager
def counted_loop(writer: Writer, turn: str, length: int, flops: float) -> Iterator[None]:
    """``for turn in range(length)``, in runs of trips between which signals are asked for.

    A loop that ends before that is a plain one, which LLVM compiles sooner.
    """
    local = writer.local
    count = local.symbol(length)
    if local.portable or not (writer.polls or writer.stopped) or flops * length <= POLL_EVERY:
        with writer.block(f"for {turn} in range({count}):"):
            yield
        return
    start, stop = local.fresh("start"), local.fresh("stop")
    run = _number(local, trips_between_polls(flops))
    writer.line(f"{stop} = 0")
    with writer.block(f"while {stop} < {count}:"):
        writer.line(f"{start} = {stop}")
        writer.line(f"{stop} = min({start} + {run}, {count})")
        with writer.block(f"for {turn} in range({start}, {stop}):"):
            yield
        if writer.stopped:
            write_end_of_loop(writer, stop, count)
        else:
            write_poll(writer, f"{stop} < {count}")


def write_end_of_loop(writer: Writer, stop: str, count: str) -> None:
    """In a function that threads run: end the loop if a handler has raised, and have others end theirs."""
    signals, stopped = writer.local.signals().name, writer.stopped
    asking, seeing = SIGNALS_POLL_OF_STAGES // 8, SIGNALS_IS_SET // 8
    with writer.block(f"if {stop} < {count} and poll({signals}[{asking}], {signals}) != 0:"):
        writer.line(f"{stopped}[0] = 1")
    # What another thread has written is read by a function: LLVM might read it once for all trips.
    with writer.block(f"if {stopped}[0] != 0 or poll({signals}[{seeing}], {stopped}) != 0:"):
        writer.line(f"{stop} = {count}")


class Turns:
    """When a loop that counts its trips turns aside: to ask for signals, or because a capacity is reached.

    The trip itself makes one comparison for both.
    """

    def __init__(self, writer: Writer, count: str, flops: float) -> None:
        local = writer.local
        self.writer, self.count, self.flops = writer, count, flops
        self.trips = _number(local, trips_between_polls(flops))
        self.next, self.polled = local.fresh("turning"), local.fresh("polling")

    def begin(self, capacity: str) -> None:
        """Before the loop."""
        if self.writer.local.portable:
            self.next = capacity
            return
        self.writer.line(f"{self.polled} = {self.trips}")
        self._set_next(capacity)

    def poll(self, capacity: str) -> None:
        """Where the count is `next`, and the capacity has been seen to."""
        if self.writer.local.portable:
            return
        with self.writer.block(f"if {self.count} == {self.polled}:"):
            self.writer.line(f"{self.polled} = {self.polled} + {self.trips}")
            write_poll(self.writer)
        self._set_next(capacity)

    def end(self) -> None:
        """After the loop: pay for its trips, which may have been too few to poll, but are made many times."""
        _pay(self.writer, f"min({self.count}, {self.trips}) * {_cost(self.writer.local, self.flops)}")

    def _set_next(self, capacity: str) -> None:
        self.writer.line(f"{self.next} = min({capacity}, {self.polled})")


def write_trip(writer: Writer, flops: float) -> None:
    """In a trip of a loop whose trips nobody counts: pay for it, and poll when all is spent."""
    _pay(writer, _cost(writer.local, flops))


def pay(writer: Writer, trips: str, flops: float) -> None:
    """After that many trips: pay for them, and poll when all is spent."""
    _pay(writer, f"{trips} * {_cost(writer.local, flops)}")


def _pay(writer: Writer, cost: str) -> None:
    if writer.local.portable:
        return
    budget = writer.local.budget()
    writer.line(f"{budget} = {budget} - {cost}")
    with writer.block(f"if {budget} < 0:"):
        writer.line(f"{budget} = {POLL_EVERY}")
        write_poll(writer)


def _cost(local: Locals, flops: float) -> str:
    return _number(local, max(int(flops), 1))


def _number(local: Locals, value: int) -> str:
    """A number that may come from a size, and hence does not stand in the text."""
    return local.number(value, np.dtype(np.int64))


def flops_of(steps: object) -> float:
    """Operations of one turn of the steps of a held Program."""
    return sum(step.flops for step in steps)  # type: ignore[attr-defined]
