"""Lowering of sorting: a stable order of the elements along an axis, by radix, or by insertion where few.

And of searching in what is sorted, by halves.

A number is turned into bits that are ordered as numbers are. They are sorted by one byte after the other,
from the last; each pass keeps the order of equal bytes, so the whole is stable.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.cumulative import lines_along
from funcgrad.compile.lower.slice_updates import check_dtype
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation
from funcgrad.ops.arrays.searching import LONG
from funcgrad.ops.arrays.sorting import ArgSort, SearchSorted

FEW = 48
"""Elements up to which insertion is faster."""

DIGITS = 256
"""The values of a byte."""


class Scratch(NamedTuple):
    """Memory for the bits and positions of one line, twice, and for the counts of every byte."""

    keys: tuple[View, View]
    places: tuple[View, View]
    counts: View

    @property
    def views(self) -> tuple[View, ...]:
        """All of it."""
        return (*self.keys, *self.places, self.counts)


def passes_of(dtype: np.dtype[np.generic]) -> int:
    """The bytes that differ: signed integers are widened, and their sign is in the last."""
    return 8 if dtype.kind == "i" else dtype.itemsize


@lowers(ArgSort)
def lower_argsort(scheduler: Scheduler, equation: Equation) -> None:
    """The positions that sort the elements along an axis."""
    check_dtype(equation)
    (x,), (out,) = equation.inputs, equation.outputs
    dtype, axis = x.aval.dtype, equation.primitive.axis
    if dtype.kind == "c" or dtype.char in "egG":
        raise NotLowered(f"{equation.primitive.name} of {dtype} has no native form")
    source = scheduler.stored(x)
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    n = x.aval.shape[axis]
    keys, places = (Aval((n,), np.dtype(d)) for d in (np.uint64, np.int64))
    scratch = Scratch(
        (scheduler.buffer_like(keys, "keys"), scheduler.buffer_like(keys, "keys")),
        (scheduler.buffer_like(places, "places"), scheduler.buffer_like(places, "places")),
        scheduler.buffer_like(Aval((passes_of(dtype) * DIGITS,), np.dtype(np.int64)), "counts"),
    )

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        with ExitStack() as stack:
            variables = lines_along(writer, stack, x.aval.shape, axis)
            line = Line(writer, variables, axis, n, source, target, scratch)
            if n <= FEW:
                line.by_insertion()
            else:
                line.by_radix(passes_of(dtype))

    position = scheduler.special(
        "argsort", emit, [source], [target], scratch=scratch.views, flops=20 * x.aval.size
    )
    scheduler.define_view(out, target, position)


class Line(NamedTuple):
    """One line along the axis, to be sorted."""

    writer: Writer
    variables: list[str]
    axis: int
    n: int
    source: View
    target: View
    scratch: Scratch

    def at(self, place: str) -> list[str]:
        """The variables at a place of the line."""
        return [place if k == self.axis else v for k, v in enumerate(self.variables)]

    def by_insertion(self) -> None:
        """Each element moves before those that are larger."""
        w, (keys, _), (places, _) = self.writer, self.scratch.keys, self.scratch.places
        i, j, key = (w.local.fresh(stem) for stem in ("t", "t", "key"))
        with w.loop(i, self.n):
            w.line(f"{key} = order_bits({w.element(self.source, self.at(i))})")
            w.line(f"{j} = {i}")
            with w.block(f"while {j} > 0 and {keys.buffer.name}[{j} - 1] > {key}:"):
                w.line(f"{keys.buffer.name}[{j}] = {keys.buffer.name}[{j} - 1]")
                w.line(f"{places.buffer.name}[{j}] = {places.buffer.name}[{j} - 1]")
                w.line(f"{j} = {j} - 1")
            w.line(f"{keys.buffer.name}[{j}] = {key}")
            w.line(f"{places.buffer.name}[{j}] = {i}")
        with w.loop(i, self.n):
            w.line(f"{w.element(self.target, self.at(i))} = {places.buffer.name}[{i}]")

    def by_radix(self, passes: int) -> None:
        """One pass for each byte."""
        w, counts = self.writer, self.scratch.counts.buffer.name
        i, key = w.local.fresh("t"), w.local.fresh("key")
        with w.block(f"for {i} in range({passes * DIGITS}):"):
            w.line(f"{counts}[{i}] = 0")
        with w.loop(i, self.n):
            w.line(f"{key} = order_bits({w.element(self.source, self.at(i))})")
            w.line(f"{self.scratch.keys[0].buffer.name}[{i}] = {key}")
            for k in range(passes):
                digit = self.digit(key, k)
                w.line(f"{counts}[{digit}] = {counts}[{digit}] + 1")
        self.sum_counts(passes)
        for k in range(passes):
            self.write_pass(k, passes)

    def digit(self, key: str, k: int) -> str:
        """The place of the count of a byte."""
        shifted = key if k == 0 else f"({key} >> u64({8 * k}))"
        return f"i64({shifted} & u64(255)) + {k * DIGITS}"

    def sum_counts(self, passes: int) -> None:
        """Counts become the places where the elements with each byte begin."""
        w, counts = self.writer, self.scratch.counts.buffer.name
        i, j, before, here = (w.local.fresh(stem) for stem in ("t", "t", "before", "here"))
        with w.block(f"for {i} in range({passes}):"):
            w.line(f"{before} = 0")
            with w.block(f"for {j} in range({DIGITS}):"):
                w.line(f"{here} = {counts}[{i} * {DIGITS} + {j}]")
                w.line(f"{counts}[{i} * {DIGITS} + {j}] = {before}")
                w.line(f"{before} = {before} + {here}")

    def write_pass(self, k: int, passes: int) -> None:
        """The elements in the order of one byte."""
        w, counts = self.writer, self.scratch.counts.buffer.name
        keys, places = self.scratch.keys, self.scratch.places
        here, there = k % 2, 1 - k % 2
        i, key, place, digit = (w.local.fresh(stem) for stem in ("t", "key", "place", "digit"))
        with w.loop(i, self.n):
            w.line(f"{key} = {keys[here].buffer.name}[{i}]")
            w.line(f"{digit} = {self.digit(key, k)}")
            w.line(f"{place} = {counts}[{digit}]")
            w.line(f"{counts}[{digit}] = {place} + 1")
            origin = i if k == 0 else f"{places[here].buffer.name}[{i}]"
            if k == passes - 1:
                w.line(f"{w.element(self.target, self.at(place))} = {origin}")
            else:
                w.line(f"{keys[there].buffer.name}[{place}] = {key}")
                w.line(f"{places[there].buffer.name}[{place}] = {origin}")


@lowers(SearchSorted)
def lower_search(scheduler: Scheduler, equation: Equation) -> None:
    """Where values belong in sorted rows."""
    (rows, values), (out,) = equation.inputs, equation.outputs
    dtype, name = rows.aval.dtype, equation.primitive.name
    if dtype.kind == "c" or dtype.char in "egG":
        raise NotLowered(f"{name} of {dtype} has no native form")
    if values.aval.size >= LONG:
        raise NotLowered(f"{name} of {values.aval} is faster with NumPy, which sorts the rows into buckets")
    table, wanted = scheduler.stored(rows), scheduler.stored(values)
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    symbol = "<" if equation.primitive.side == "left" else "<="

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        low, high, middle, key = (writer.local.fresh(stem) for stem in ("low", "high", "middle", "key"))
        with ExitStack() as stack:
            variables = lines_along(writer, stack, out.aval.shape, -1)
            writer.line(f"{key} = order_bits({writer.element(wanted, variables)})")
            writer.line(f"{low} = 0")
            writer.line(f"{high} = {writer.local.symbol(rows.aval.shape[-1])}")
            with writer.block(f"while {low} < {high}:"):
                writer.line(f"{middle} = ({low} + {high}) >> 1")
                element = writer.element(table, [*variables[: rows.aval.ndim - 1], middle])
                with writer.block(f"if order_bits({element}) {symbol} {key}:"):
                    writer.line(f"{low} = {middle} + 1")
                with writer.block("else:"):
                    writer.line(f"{high} = {middle}")
            writer.line(f"{writer.element(target, variables)} = {low}")

    flops = 10.0 * values.aval.size * max(rows.aval.shape[-1], 1).bit_length()
    position = scheduler.special(name, emit, [table, wanted], [target], flops=flops)
    scheduler.define_view(out, target, position)
