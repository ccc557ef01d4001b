"""Lowerings of operations that write a part of an array: padding, updates of slices, and joining.

Where nothing else reads the array that is changed, it is changed where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from funcgrad.compile.lower.elementwise import cast_name, wrapped
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.nests import Let, Load, Store, squeezed_view
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.taking_over import note_copy, taken_over
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.program import Atom, Equation, Var
from funcgrad.ops.arrays.movement import Concatenate, Stack
from funcgrad.ops.arrays.slicing import AddToSlice, Pad, Slice, UpdateSlice
from funcgrad.types import Index

if TYPE_CHECKING:
    from funcgrad.source import Source


def check_dtype(equation: Equation) -> None:
    """Raise NotLowered for elements that kernels cannot hold."""
    dtype = equation.outputs[0].aval.dtype
    if dtype.char in "egG":
        raise NotLowered(f"{equation.primitive.name} of {dtype} has no native form")


def store_part(scheduler: Scheduler, view: View, atom: Atom, after: int, source: object) -> int:
    """Write the elements of an atom into a view, in a step later than `after`; returns the step."""
    target = squeezed_view(view)
    nest = scheduler.nest_for(target.shape, max(scheduler.bound(atom, target.shape), after + 1))
    nest.body.append(Store(target, scheduler.operand(atom, nest), source))
    return nest.position


def fill(scheduler: Scheduler, view: View, text: str, source: Source | None) -> int:
    """Write one number everywhere; returns the step."""
    target = squeezed_view(view)
    nest = scheduler.nest_for(target.shape, 0)
    nest.body.append(Store(target, text, source))
    return nest.position


@lowers(Pad)
def lower_pad(scheduler: Scheduler, equation: Equation) -> None:
    """Zeros, and the input at an index of them."""
    check_dtype(equation)
    (x,), (out,) = equation.inputs, equation.outputs
    view = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    zero = "False" if out.aval.dtype.kind == "b" else f"{cast_name(out.aval.dtype)}(0)"
    part = view.slice(Slice(equation.primitive.index))
    if 0 in part.shape:
        scheduler.define_view(out, view, fill(scheduler, view, zero, equation.source))
        return
    ready = store_part(scheduler, part, x, -1, equation.source)
    for rest in around(view, equation.primitive.index):
        scheduler.nest_at(ready).fills.append((squeezed_view(rest), zero))
    scheduler.define_view(out, view, ready)


def around(view: View, index: Index) -> list[View]:
    """What a part leaves of an array: what is before and after it along one axis, or else the whole array."""
    whole = [(0, n, 1) for n in view.shape]
    partial = [axis for axis, entry in enumerate(index) if entry != whole[axis]]
    if len(partial) != 1 or not isinstance(index[partial[0]], tuple) or index[partial[0]][2] != 1:
        return [view]
    (axis,) = partial
    start, size, _ = index[axis]
    stop = start + size
    spans = [(0, start, 1), (stop, view.shape[axis] - stop, 1)]
    parts = [Slice((*whole[:axis], span, *whole[axis + 1 :])) for span in spans if span[1]]
    return [view.slice(part) for part in parts]


def own_memory(scheduler: Scheduler, x: Atom, out: Var, source: Source | None) -> tuple[View, int]:
    """Memory that holds the elements of `x` and may be changed, and the last step that touches it.

    It comes before the places of other operands are asked for: those that are made of `x` may be stored now.
    """
    view = taken_over(scheduler, x)
    if view is not None:
        return view, scheduler.last_reader(view)
    note_copy(scheduler, x, source)
    view = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    return view, store_part(scheduler, view, x, -1, source)


@lowers(UpdateSlice)
def lower_update(scheduler: Scheduler, equation: Equation) -> None:
    """The array with another part."""
    check_dtype(equation)
    (x, part), (out,) = equation.inputs, equation.outputs
    view, written = own_memory(scheduler, x, out, equation.source)
    target = view.slice(Slice(equation.primitive.index))
    ready = written
    if 0 not in target.shape:
        ready = store_part(scheduler, target, part, written, equation.source)
    scheduler.define_view(out, view, max(ready, written))


@lowers(AddToSlice)
def lower_addition(scheduler: Scheduler, equation: Equation) -> None:
    """The array with something added to a part."""
    check_dtype(equation)
    (x, part), (out,) = equation.inputs, equation.outputs
    dtype = out.aval.dtype
    view, written = own_memory(scheduler, x, out, equation.source)
    target = squeezed_view(view.slice(Slice(equation.primitive.index)))
    if 0 in target.shape:
        scheduler.define_view(out, view, written)
        return
    nest = scheduler.nest_for(target.shape, max(scheduler.bound(part, target.shape), written + 1))
    name = scheduler.local.fresh("sum")
    template = "{0} | {1}" if dtype.kind == "b" else wrapped("{0} + {1}", dtype)
    operands = (Load(target), scheduler.operand(part, nest))
    nest.body.append(Let(name, template, operands, dtype, 1, equation.source))
    if view.buffer.is_total:
        nest.extents.sums[name] = operands[1]
    nest.body.append(Store(target, name, equation.source))
    # Elements read before must not be taken for those that are there now.
    scheduler.close(nest)
    scheduler.define_view(out, view, nest.position)


@lowers(Concatenate, Stack)
def lower_joined(scheduler: Scheduler, equation: Equation) -> None:
    """Arrays one after another."""
    check_dtype(equation)
    (out,) = equation.outputs
    axis = equation.primitive.axis
    view = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    ready, start = -1, 0
    for atom in equation.inputs:
        stacked = isinstance(equation.primitive, Stack)
        size = 1 if stacked else atom.aval.shape[axis]
        if size:
            index: list[Any] = [(0, n, 1) for n in out.aval.shape]
            index[axis] = start if stacked else (start, size, 1)
            ready = max(
                ready, store_part(scheduler, view.slice(Slice(tuple(index))), atom, -1, equation.source)
            )
        start += size
    scheduler.define_view(out, view, ready)
