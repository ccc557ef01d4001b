"""Lowerings of indexing by arrays as statements of nests, which join those around them.

A position is a local of the loops over the index arrays. One out of bounds is noted in a flag, and the
program is then run by NumPy, which raises the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.compile.emit.statements import combination
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.slice_updates import check_dtype, own_memory
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.nests import (
    Let,
    Load,
    Nest,
    Place,
    Reduce,
    Store,
    squeezed,
    squeezed_view,
)
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.avals import Shape
from funcgrad.ir.program import Atom, Equation
from funcgrad.ops.arrays.indexing import Chosen, Gather, Scatter
from funcgrad.ops.arrays.structure import Broadcast
from funcgrad.ops.families import broadcast_shapes
from funcgrad.ops.reducing.folds import ANY, MAX, MIN, PROD, SUM

if TYPE_CHECKING:
    from funcgrad.source import Source

FOLDS = {"add": SUM, "mul": PROD, "min": MIN, "max": MAX}
NOT_CHEAP = 1000


class Positions:
    """Where the elements of a gather or scatter are, in a nest over all of them."""

    def __init__(self, scheduler: Scheduler, x: Shape, axes: Sequence[int], indices: Sequence[Atom]) -> None:
        self.scheduler = scheduler
        self.axes, self.indices = axes, indices
        self.selected = broadcast_shapes("index arrays", [a.aval for a in indices])
        self.kept = [a for a in range(len(x)) if a not in axes]
        self.x_shape = x
        self.shape: Shape = (*self.selected, *[x[a] for a in self.kept])
        if any(x[a] == 0 for a in axes):
            raise NotLowered("an index into an empty axis has no native form")

    def bound(self) -> int:
        """The first step at which the index arrays can be read."""
        shape = squeezed(self.shape)
        return max([self.scheduler.bound(self.spread(a)[0], shape) for a in self.indices])

    def spread(self, index: Atom) -> tuple[Atom, tuple[Any, ...]]:
        """An index array, and the movement that spreads it over all elements."""
        first = len(self.selected) - len(index.aval.shape)
        axes = tuple(range(first, len(self.selected)))
        if self.shape == index.aval.shape:
            return index, ()
        return index, (Broadcast(self.shape, axes),)

    def view_in(self, nest: Nest, view: View, source: Source | None) -> View:
        """The elements of an array at the positions, as a view of the nest's shape."""
        terms = []
        for axis, index in zip(self.axes, self.indices, strict=True):
            n = self.x_shape[axis]
            sure = axis == 0 and view.buffer.is_log and self.scheduler.ranges.is_limited(index, n)
            place = self.place(nest, index, n, source, sure)
            terms.append((place, view.strides[axis]))
        strides = (*[0] * len(self.selected), *[view.strides[a] for a in self.kept])
        return squeezed_view(View(view.buffer, self.shape, strides, view.offset, (*view.base, *terms)))

    def place(self, nest: Nest, index: Atom, n: int, source: Source | None, sure: bool = False) -> str:
        """The local that holds a position, made in the nest; the flag is raised where it is out of bounds.

        None is where that is `sure`.
        """
        key = ("place", index, n, self.shape, sure)
        found = nest.memo.get(key)
        if found is not None:
            return found
        scheduler, ranges = self.scheduler, self.scheduler.ranges
        known = None if nest.shape else ranges.place(index, n, nest.position)
        if known is not None:
            return known
        local, i64 = scheduler.local, np.dtype(np.int64)
        size = local.symbol(n)
        atom, moves = self.spread(index)
        operand = scheduler.operand(atom, nest, moves)
        low, high = (0, n - 1) if sure else ranges.of(index) or (-n - 1, n)
        place = local.fresh("index")
        nest.body.append(Let(place, "i64({0})", (operand,), i64, 1, source))
        unsure = low < -n or high >= n
        steady = ranges.steady if unsure and not nest.shape else None
        fresh = (lambda: local.fresh("shift")) if low < 0 else None
        asked = None if steady is None else steady.ask(index, n, fresh)
        if asked is not None and asked.shift:
            raw, place = place, local.fresh("place")
            nest.body.append(Let(place, "i64({0} + {1})", (raw, asked.shift), i64, 1, source))
        elif asked is not None:
            pass
        elif not nest.shape and unsure:
            flag = View.whole(local.failure_flag(), ())
            raw, place = place, local.fresh("place")
            nest.body.append(Place(place, raw, size, low < 0, flag, source))
        elif low < 0:
            raw, place = place, local.fresh("index")
            nest.body.append(Let(place, f"select({{0}} < 0, {{0}} + {size}, {{0}})", (raw,), i64, 1, source))
        if nest.shape and unsure:
            turned, wrong, place = place, local.fresh("outside"), local.fresh("place")
            outside = f"({{0}} < 0) | ({{0}} >= {size})"
            nest.body.append(Let(wrong, outside, (turned,), np.dtype(np.bool_), 1, source))
            nest.body.append(Let(place, "select({0}, 0, {1})", (wrong, turned), i64, 1, source))
            note(scheduler, nest, wrong, source)
        nest.memo[key] = place
        if not nest.shape:
            ranges.note_place(index, n, place, nest.position)
        return place


def note(scheduler: Scheduler, nest: Nest, wrong: str, source: Source | None) -> None:
    """Raise the flag after the loops if any position was out of bounds."""
    local = scheduler.local
    flag = View.whole(local.failure_flag(), ())
    total = wrong
    if nest.shape:
        total = local.fresh("wrong")
        axes = tuple(range(len(nest.shape)))
        nest.body.append(Reduce(total, ANY, wrong, np.dtype(np.bool_), axes, source))
    after = scheduler.nest_for((), nest.position + (1 if nest.shape else 0))
    after.body.append(Store(flag, "1", source, total))


@lowers(Gather)
def lower_gather(scheduler: Scheduler, equation: Equation) -> None:
    """The elements at positions."""
    check_dtype(equation)
    x, *indices = equation.inputs
    (out,) = equation.outputs
    at = Positions(scheduler, x.aval.shape, equation.primitive.axes, indices)
    source = scheduler.stored(x)
    nest = scheduler.nest_for(squeezed(out.aval.shape), max(at.bound(), scheduler.ready_of(x) + 1))
    view = at.view_in(nest, source, equation.source)
    scheduler.define_member(out, nest, "{0}", (Load(view),), NOT_CHEAP, equation.source)


@lowers(Chosen)
def lower_chosen(scheduler: Scheduler, equation: Equation) -> None:
    """Positions that are noted where they are out of range."""
    (x,), (out,) = equation.inputs, equation.outputs
    if out.aval.dtype.itemsize < 8:
        raise NotLowered(f"chosen of {out.aval.dtype} has no native form")
    shape, i64 = squeezed(out.aval.shape), np.dtype(np.int64)
    nest = scheduler.nest_for(shape, scheduler.bound(x, shape))
    local, count = scheduler.local, equation.primitive.count
    raw, wrong, place = (local.fresh(stem) for stem in ("index", "outside", "place"))
    nest.body += [
        Let(raw, "i64({0})", (scheduler.operand(x, nest),), i64, 1, equation.source),
        Let(wrong, f"({{0}} < 0) | ({{0}} >= {count})", (raw,), np.dtype(np.bool_), 1, equation.source),
        Let(place, "select({0}, 0, {1})", (wrong, raw), i64, 1, equation.source),
    ]
    note(scheduler, nest, wrong, equation.source)
    scheduler.define_member(
        out, nest, f"{cast_name(out.aval.dtype)}({{0}})", (place,), NOT_CHEAP, equation.source
    )


@lowers(Scatter)
def lower_scatter(scheduler: Scheduler, equation: Equation) -> None:
    """An array with updates combined into the elements at positions."""
    check_dtype(equation)
    x, updates, *indices = equation.inputs
    (out,) = equation.outputs
    mode, dtype = equation.primitive.mode, out.aval.dtype
    if dtype.kind == "c" and mode in ("min", "max"):
        raise NotLowered(f"scatter {mode} of complex numbers has no native form")
    if dtype.kind == "b" and mode != "set":
        raise NotLowered(f"scatter {mode} of booleans has no native form")
    at = Positions(scheduler, out.aval.shape, equation.primitive.axes, indices)
    shape = squeezed(at.shape)
    number = scheduler.nodes.number_everywhere(x)
    if number is not None:
        memory = scheduler.buffer_like(out.aval, scheduler.local.named(out))
        given = max(scheduler.bound(updates, shape), at.bound())
        nest = scheduler.nest_for(shape, given) if mode == "add" else scheduler.new_nest(shape)
        nest.fills.append((squeezed_view(memory), scheduler.literal(number)))
    else:
        memory, written = own_memory(scheduler, x, out, equation.source)
        given = max(scheduler.bound(updates, shape), at.bound())
        nest = scheduler.nest_for(shape, max(given, written + 1))
    moves = () if updates.aval.shape == at.shape or not updates.aval.shape else (Broadcast(at.shape, ()),)
    value = scheduler.operand(updates, nest, moves)
    view = at.view_in(nest, memory, equation.source)
    if mode != "set":
        name = scheduler.local.fresh("sum")
        template = combination(FOLDS[mode], dtype)
        nest.body.append(Let(name, template, (Load(view), value), dtype, 1, equation.source))
        if mode == "add" and memory.buffer.is_total:
            nest.extents.sums[name] = value
        value = name
    nest.body.append(Store(view, value, equation.source))
    nest.ordered = True
    scheduler.define_view(out, memory, nest.position)
