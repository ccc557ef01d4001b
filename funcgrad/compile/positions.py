"""Lowerings of indexing by arrays: reading and writing elements at positions known only when the program runs.

A position out of bounds is noted in a flag, and the program is then run by NumPy, which raises the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from funcgrad.compile.emission import Writer, combination
from funcgrad.compile.layout import View
from funcgrad.compile.parts import check_dtype, own_memory
from funcgrad.compile.schedule import NotLowered, Scheduler, lowers
from funcgrad.ir.avals import Shape
from funcgrad.ir.program import Atom, Equation
from funcgrad.ops.families import broadcast_shapes
from funcgrad.ops.indexing import Gather, Scatter
from funcgrad.ops.sorting import AddAlongAxis, TakeAlongAxis
from funcgrad.ops.structure import Broadcast

KINDS = {"add": "sum", "mul": "prod", "min": "min", "max": "max"}


class Positions:
    """Index arrays over their common shape, and the loops over it."""

    def __init__(self, scheduler: Scheduler, x: View, axes: Sequence[int], indices: Sequence[Atom]) -> None:
        self.local = scheduler.local
        self.x = x
        self.axes = axes
        self.shape = broadcast_shapes("index arrays", [a.aval for a in indices])
        self.views = [over(scheduler.stored(a), self.shape) for a in indices]
        self.kept = [a for a in range(len(x.shape)) if a not in axes]
        self.kept_shape: Shape = tuple([x.shape[a] for a in self.kept])
        self.flag = scheduler.local.failure_flag()

    def loops(self, writer: Writer, stack: ExitStack, shape: Shape) -> list[str]:
        """Open loops over a shape; their variables."""
        variables = [self.local.fresh("q") for _ in shape]
        for variable, n in zip(variables, shape, strict=True):
            stack.enter_context(writer.loop(variable, n))
        return variables

    def base(self, writer: Writer, variables: Sequence[str], wrong: str) -> str:
        """The place of the selected part of `x`; sets `wrong` where a position is out of bounds."""
        terms = []
        for axis, view in zip(self.axes, self.views, strict=True):
            n = self.local.symbol(self.x.shape[axis])
            place = self.local.fresh("place")
            index = writer.element(view, variables)
            writer.line(f"{place} = i64({index})")
            writer.line(f"{place} = select({place} < 0, {place} + {n}, {place})")
            writer.line(f"{wrong} = {wrong} | ({place} < 0) | ({place} >= {n})")
            writer.line(f"{place} = select(({place} < 0) | ({place} >= {n}), 0, {place})")
            terms.append((place, self.x.strides[axis]))
        flat = View(self.x.buffer, (), (), self.x.offset, (*self.x.base, *terms))
        base = self.local.fresh("base")
        writer.line(f"{base} = {writer.index(flat, ())}")
        return base

    def part(self, base: str) -> View:
        """The selected part of `x`, by the axes that no index array names."""
        strides = tuple([self.x.strides[a] for a in self.kept])
        return View(self.x.buffer, self.kept_shape, strides, 0, ((base, 1),))

    def reads(self) -> list[View]:
        """What is read to find the positions."""
        return [*self.views, View.whole(self.flag, ())]


def over(view: View, shape: Shape) -> View:
    """A view spread over a larger shape under NumPy's rules."""
    first = len(shape) - len(view.shape)
    made: Broadcast = Broadcast(shape, tuple(range(first, len(shape))))
    return view.broadcast(made)


@lowers(Gather)
def lower_gather(scheduler: Scheduler, equation: Equation) -> None:
    """The elements at positions."""
    check_dtype(equation)
    x, *indices = equation.inputs
    (out,) = equation.outputs
    view = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    source = scheduler.stored(x)
    at = Positions(scheduler, source, equation.primitive.axes, indices)
    empty = any(source.shape[a] == 0 for a in equation.primitive.axes)

    def emit(writer: Writer) -> None:
        wrong = scheduler.local.fresh("wrong")
        writer.comment(equation.source)
        if empty:
            writer.line(f"{at.flag.name}[0] = {int(out.aval.size > 0 or 0 not in at.shape)}")
            return
        writer.line(f"{wrong} = False")
        with ExitStack() as stack:
            outer = at.loops(writer, stack, at.shape)
            base = at.base(writer, outer, wrong)
            inner = at.loops(writer, stack, at.kept_shape)
            writer.line(f"{writer.element(view, [*outer, *inner])} = {writer.element(at.part(base), inner)}")
        with writer.block(f"if {wrong}:"):
            writer.line(f"{at.flag.name}[0] = 1")

    position = scheduler.special("gather", emit, [source, *at.reads()], [view], flops=out.aval.size)
    scheduler.define_view(out, view, position)


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
    single = scheduler.scalar(updates) if not updates.aval.shape else ""
    given = None if single else scheduler.stored(updates)
    memory, _ = own_memory(scheduler, x, out, equation.source)
    at = Positions(scheduler, memory, equation.primitive.axes, indices)
    empty = any(memory.shape[a] == 0 for a in equation.primitive.axes)

    def emit(writer: Writer) -> None:
        wrong = scheduler.local.fresh("wrong")
        writer.comment(equation.source)
        if empty:
            writer.line(f"{at.flag.name}[0] = {int(0 not in at.shape)}")
            return
        writer.line(f"{wrong} = False")
        with ExitStack() as stack:
            outer = at.loops(writer, stack, at.shape)
            base = at.base(writer, outer, wrong)
            inner = at.loops(writer, stack, at.kept_shape)
            target = writer.element(at.part(base), inner)
            value = single if given is None else writer.element(given, [*outer, *inner])
            if mode != "set":
                value = combination(KINDS[mode], dtype).format(target, value)
            writer.line(f"{target} = {value}")
        with writer.block(f"if {wrong}:"):
            writer.line(f"{at.flag.name}[0] = 1")

    reads = [memory, *at.reads(), *([] if given is None else [given])]
    names = [single] if single else []
    position = scheduler.special("scatter", emit, reads, [memory], names=names)
    scheduler.define_view(out, memory, position)


class Along:
    """Positions along one axis, given for every element of an array."""

    def __init__(self, scheduler: Scheduler, x: View, axis: int, index: View) -> None:
        self.local = scheduler.local
        self.x, self.axis, self.index = x, axis, index
        self.flag = scheduler.local.failure_flag()

    def place(self, writer: Writer, variables: Sequence[str], wrong: str) -> list[str]:
        """The variables with the position in place of that of the axis."""
        n, place = self.local.symbol(self.x.shape[self.axis]), self.local.fresh("place")
        writer.line(f"{place} = i64({writer.element(self.index, variables)})")
        writer.line(f"{place} = select({place} < 0, {place} + {n}, {place})")
        writer.line(f"{wrong} = {wrong} | ({place} < 0) | ({place} >= {n})")
        writer.line(f"{place} = select(({place} < 0) | ({place} >= {n}), 0, {place})")
        return [place if k == self.axis else v for k, v in enumerate(variables)]

    def write(self, writer: Writer, statement: Callable[[Sequence[str], Sequence[str]], str]) -> None:
        """The loops over all positions; `statement` says what is done at each."""
        wrong, shape = self.local.fresh("wrong"), self.index.shape
        if self.x.shape[self.axis] == 0:
            writer.line(f"{self.flag.name}[0] = {int(0 not in shape)}")
            return
        writer.line(f"{wrong} = False")
        with ExitStack() as stack:
            variables = [self.local.fresh("q") for _ in shape]
            for variable, n in zip(variables, shape, strict=True):
                stack.enter_context(writer.loop(variable, n))
            writer.line(statement(variables, self.place(writer, variables, wrong)))
        with writer.block(f"if {wrong}:"):
            writer.line(f"{self.flag.name}[0] = 1")


@lowers(TakeAlongAxis)
def lower_take(scheduler: Scheduler, equation: Equation) -> None:
    """The elements at positions along an axis."""
    check_dtype(equation)
    x, index = [scheduler.stored(a) for a in equation.inputs]
    (out,) = equation.outputs
    view = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    along = Along(scheduler, x, equation.primitive.axis, index)

    def emit(writer: Writer) -> None:
        def statement(variables: Sequence[str], places: Sequence[str]) -> str:
            return f"{writer.element(view, variables)} = {writer.element(x, places)}"

        writer.comment(equation.source)
        along.write(writer, statement)

    writes = [view, View.whole(along.flag, ())]
    position = scheduler.special("take_along_axis", emit, [x, index], writes, flops=out.aval.size)
    scheduler.define_view(out, view, position)


@lowers(AddAlongAxis)
def lower_add_along(scheduler: Scheduler, equation: Equation) -> None:
    """An array with something added at positions along an axis."""
    check_dtype(equation)
    total, part, index = equation.inputs
    (out,) = equation.outputs
    dtype = out.aval.dtype
    if dtype.kind == "b":
        raise NotLowered("add_along_axis of booleans has no native form")
    added, places_view = scheduler.stored(part), scheduler.stored(index)
    memory, _ = own_memory(scheduler, total, out, equation.source)
    along = Along(scheduler, memory, equation.primitive.axis, places_view)

    def emit(writer: Writer) -> None:
        def statement(variables: Sequence[str], places: Sequence[str]) -> str:
            target = writer.element(memory, places)
            return f"{target} = {combination('sum', dtype).format(target, writer.element(added, variables))}"

        writer.comment(equation.source)
        along.write(writer, statement)

    writes = [memory, View.whole(along.flag, ())]
    reads = [memory, added, places_view]
    position = scheduler.special("add_along_axis", emit, reads, writes, flops=added.buffer.size)
    scheduler.define_view(out, memory, position)
