"""Operations on no elements in exported modules: their results are known, or are empty as well."""

from __future__ import annotations

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.ir.program import Equation


def is_of_nothing(equation: Equation) -> bool:
    """Whether operands or results have no elements, and the results are known without any."""
    avals = [a.aval for a in (*equation.inputs, *equation.outputs)]
    return equation.primitive.of_nothing != "" and any(not aval.size for aval in avals)


def lower_nothing(scheduler: Scheduler, equation: Equation) -> None:
    """The result of no elements: empty, or what a sum of none is."""
    (out,) = equation.outputs
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        if out.aval.size:
            writer.line(f"{target.buffer.name}[...] = {equation.primitive.of_nothing}")

    scheduler.define_view(out, target, scheduler.special(equation.primitive.name, emit, [], [target]))
