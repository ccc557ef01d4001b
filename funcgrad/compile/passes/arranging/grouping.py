"""Sharing loops that add rows at positions, of which several may be the same: row by row of what is written.

As it stands such a loop has one order, and takes the rows as they come, which are long gone from the cache.
Here turns are counted by the row that they write, and listed in the order of these rows, those of one row as
they stood. Each chunk then has rows of its own, and what is added to an element is added in the order in
which it was. Loops that read a long row of another array in each turn stay as they are: in their order these
rows follow one another in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from funcgrad.compile.emit.loop_order import Loop, loops_of
from funcgrad.compile.emit.statements import NestWriter, Writer
from funcgrad.compile.emit.symbols import Locals
from funcgrad.compile.passes.arranging.dividing import (
    CHUNKS,
    LINE,
    SHORTEST,
    Shared,
    Step,
    begin_chunks,
    dtypes_of,
    end_chunks,
    is_long,
    names_from_outside,
    write_turn,
)
from funcgrad.compile.passes.scheduling.nests import (
    Let,
    Load,
    Nest,
    Operand,
    Reduce,
    Statement,
    Store,
    masks_of,
    names_read,
    views_of,
)
from funcgrad.compile.passes.scheduling.numbers import NUMBERS
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.ops.reducing.folds import ANY

SHORTEST_ROW = 4 * LINE
"""Bytes of a row from which the order of the rows is worth finding."""

FEWEST_ROWS = 4 * CHUNKS

INTEGER = np.dtype(np.int64)


class Rows(NamedTuple):
    """Which row each turn of a nest writes."""

    place: str
    """The local that holds it."""
    number: int
    made: list[Let]
    """What makes it and what is noted, of index arrays alone."""
    noted: list[Reduce]
    """What is noted of positions that are out of bounds."""


@dataclass(eq=False)
class Grouped(Shared):
    """A nest whose turns are done row by row of what they write."""

    at: Rows = field(kw_only=True)
    starts: Buffer = field(kw_only=True)
    """Where the turns of each row begin in the order of all."""
    order: Buffer | None = field(kw_only=True)
    """The turns in the order of their rows; None where nothing but the row tells them apart."""

    def write(self, writer: Writer) -> list[str]:
        """Write what finds the order, and the call; returns the lines of the function."""
        return write_grouped(writer, self)

    @property
    def buffers(self) -> Iterator[Buffer]:
        """Every block of memory that it touches."""
        yield from super().buffers
        yield self.starts
        if self.order is not None:
            yield self.order


def grouped_steps(
    steps: Sequence[Step | Shared], local: Locals, numbers: Mapping[str, np.dtype], name: str
) -> list[Step | Shared]:
    """The steps, with those that are long and add rows at positions made ready for threads."""
    found: list[Step | Shared] = list(steps)
    for k, step in enumerate(steps):
        if isinstance(step, Nest) and step.ordered and is_long(step, SHORTEST):
            found[k] = grouped(step, local, {**numbers, **dtypes_of(steps)}, name) or step
    return found


def grouped(nest: Nest, local: Locals, dtypes: Mapping[str, np.dtype], name: str) -> Grouped | None:
    """A nest made ready for threads; None where what its turns write is no row, or others read it."""
    loops = loops_of(nest)
    at = rows_of(nest, loops)
    if at is None:
        return None
    inner = without_places(nest, at)
    if any(
        any(view.strides[a] for a in turns.axes) for view in own_views(inner, loops) for turns in loops[1:]
    ):
        return None  # rows that now follow one another in memory
    outside = [n for n in names_from_outside([inner]) if n not in local.numbers.values() and n != at.place]
    if any(n not in dtypes for n in outside):
        return None
    made = Grouped(
        local.distinct(f"{name}_part"),
        [nest],
        [loops],
        {},
        at=at,
        starts=local.scratch(INTEGER, at.number + 2, "starts"),
        order=local.scratch(INTEGER, loops[0].size, "order") if own_views(inner, loops) else None,
    )
    made.cells = {n: local.scratch(dtypes[n], 1, n) for n in outside}
    made.partial = {
        s.target: local.scratch(s.dtype, CHUNKS, s.target)
        for s in inner.body
        if isinstance(s, Reduce) and isinstance(s.target, str)
    }
    return made


def own_views(nest: Nest, loops: Sequence[Loop]) -> list[View]:
    """The views of which each turn has something of its own."""
    views = [view for s in nest.body for view in views_of(s)]
    return [view for view in views if any(view.strides[axis] for axis in loops[0].axes)]


def rows_of(nest: Nest, loops: Sequence[Loop]) -> Rows | None:
    """Which rows the turns of the outermost loop write; None where that is not all that they write."""
    stores = [s for s in nest.body if isinstance(s, Store)]
    places = {s.view.base for s in stores}
    if len(loops) < 2 or len(places) != 1 or any(s.when for s in stores) or masks_of(nest):
        return None
    if any(isinstance(s, Reduce) and not isinstance(s.target, str) for s in nest.body):
        return None
    base, outer = places.pop(), loops[0].axes
    written = {s.view.buffer for s in stores}
    touching = {view for view, _ in nest.views() if view.buffer in written}
    if len(base) != 1 or not all(is_row(view, base, outer) for view in touching):
        return None
    (place, stride) = base[0]
    count = max(buffer.size // stride for buffer in written)
    # Counting begins with all rows, which are to be fewer than what is added to them.
    if not FEWEST_ROWS <= count <= 2 * loops[0].size:
        return None
    steady = steady_names(nest, outer)
    if place not in steady:
        return None
    noted = [s for s in nest.body if isinstance(s, Reduce) and s.fold is ANY and s.operand in steady]
    wanted = {place, *[str(s.operand) for s in noted]}
    made = []
    for s in reversed(nest.body):
        if isinstance(s, Let) and s.name in wanted:
            wanted.update(names_read(s))
            made.append(s)
    return Rows(place, count, made[::-1], noted)


def is_row(view: View, base: tuple[tuple[str, int], ...], outer: Sequence[int]) -> bool:
    """Whether what a turn touches of a view lies within the row at a position."""
    reach = sum([(n - 1) * s for n, s in zip(view.shape, view.strides, strict=True)])
    stays = view.base == base and not view.offset and min(view.strides) >= 0
    long = base[0][1] * view.buffer.dtype.itemsize >= SHORTEST_ROW
    return stays and long and reach < base[0][1] and not any(view.strides[axis] for axis in outer)


def steady_names(nest: Nest, outer: Sequence[int]) -> set[str]:
    """The locals that are made of what each turn of the outermost loop has one of, and nothing changes."""
    written = {view.buffer for view, is_written in nest.views() if is_written}
    made = {s.name for s in nest.body if isinstance(s, Let)}
    found: set[str] = set()

    def is_steady(operand: Operand) -> bool:
        if not isinstance(operand, Load):
            return operand in found or operand not in made
        view = operand.view
        inner = any(stride and axis not in outer for axis, stride in enumerate(view.strides))
        return not inner and not view.base and view.buffer not in written

    for s in nest.body:
        if isinstance(s, Let) and all(map(is_steady, s.operands)):
            found.add(s.name)
    return found


def without_places(nest: Nest, at: Rows) -> Nest:
    """The nest without what makes its positions, unless the rest reads more of that than the position."""
    rest = [s for s in nest.body if s not in at.noted]
    left = [s for s in rest if s not in at.made]
    names = {s.name for s in at.made} - {at.place}
    if any(name in names for s in left for name in names_read(s)):
        left = rest
    return Nest(nest.position, nest.shape, left, fills=nest.fills, ordered=True, extents=nest.extents)


def write_grouped(writer: Writer, step: Grouped) -> list[str]:
    """The order of the turns, and the call of the pool; returns the lines of the function."""
    (nest,), (loops,) = step.nests, step.loops
    write_order(writer, step)
    inner = Writer(writer.local)
    maker = NestWriter(writer, without_places(nest, step.at), loops)
    sums = maker.prepared()
    maker.writer = inner
    end_chunks(writer, step, [sums])
    starts, turn = step.starts.name, maker.variables[0]
    makes_place = any(s.name == step.at.place for s in maker.nest.body if isinstance(s, Let))
    with (
        begin_chunks(inner, step, [maker], [sums], inner.local.symbol(step.at.number)),
        inner.block("for row in range(first, last):"),
        inner.block(f"for turn in range({starts}[row], {starts}[row + 1]):"),
    ):
        if step.order is not None:
            inner.line(f"{turn} = {step.order.name}[turn]")
        if not makes_place:
            inner.line(f"{step.at.place} = row")
        write_turn([maker], [sums])
    return inner.lines


def write_order(writer: Writer, step: Grouped) -> None:
    """Count the turns of each row, say where they begin, and list them in the order of their rows."""
    (loops,), at, starts = step.loops, step.at, step.starts
    size, axis = loops[0].size, loops[0].axes[-1]

    def of_turn(operand: Operand) -> Operand:
        if not isinstance(operand, Load):
            return operand
        view = operand.view
        return Load(View(view.buffer, (size,), (view.strides[axis],), view.offset))

    def row(offset: int) -> View:
        return View(starts, (size,), (0,), offset, ((at.place, 1),))

    def write(body: list[Statement]) -> None:
        nest = Nest(step.nests[0].position, (size,), body, ordered=True)
        NestWriter(writer, nest, loops_of(nest)).write()

    made = [s._replace(operands=tuple([of_turn(o) for o in s.operands])) for s in at.made]
    k, below, seen = (writer.local.fresh(stem) for stem in ("row", "before", "seen"))
    count = writer.local.symbol(at.number)
    with writer.block(f"for {k} in range({count} + 2):"):
        writer.line(f"{starts.name}[{k}] = 0")
    # What is listed moves its start to where the next row begins: counts are one further on until then.
    counted = row(1 if step.order is None else 2)
    more = Let(seen, "{0} + 1", (Load(counted),), INTEGER, 1, None)
    write([*made, *[s._replace(axes=(0,)) for s in at.noted], more, Store(counted, seen, None)])
    writer.line(f"{below} = i64(0)")
    with writer.block(f"for {k} in range({count} + 2):"):
        writer.line(f"{below} = {below} + {starts.name}[{k}]")
        writer.line(f"{starts.name}[{k}] = {below}")
    if step.order is None:
        return
    place = Let(seen, "{0}", (Load(row(1)),), INTEGER, 0, None)
    listed = Store(View(step.order, (size,), (0,), 0, ((seen, 1),)), Load(View(NUMBERS, (size,), (1,))), None)
    after = writer.local.fresh("after")
    moved = Let(after, "{0} + 1", (seen,), INTEGER, 1, None)
    write([*made, place, listed, moved, Store(row(1), after, None)])
