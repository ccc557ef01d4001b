"""Lowerings of reading and adding at positions along an axis, which are known only when the program runs.

A position out of bounds is noted in a flag, and the program is then run by NumPy, which raises the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from funcgrad.compile.emit.statements import Writer, combination
from funcgrad.compile.lower.slice_updates import check_dtype, own_memory
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.program import Equation
from funcgrad.ops.arrays.sorting import AddAlongAxis, TakeAlongAxis
from funcgrad.ops.reducing.folds import SUM


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
            if 0 not in shape:
                writer.line(f"{self.flag.name}[0] = 1")
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
    memory, _ = own_memory(scheduler, total, out, equation.source)
    added, places_view = scheduler.stored(part), scheduler.stored(index)
    along = Along(scheduler, memory, equation.primitive.axis, places_view)

    def emit(writer: Writer) -> None:
        def statement(variables: Sequence[str], places: Sequence[str]) -> str:
            target = writer.element(memory, places)
            return f"{target} = {combination(SUM, dtype).format(target, writer.element(added, variables))}"

        writer.comment(equation.source)
        along.write(writer, statement)

    writes = [memory, View.whole(along.flag, ())]
    reads = [memory, added, places_view]
    position = scheduler.special("add_along_axis", emit, reads, writes, flops=added.buffer.size)
    scheduler.define_view(out, memory, position)
