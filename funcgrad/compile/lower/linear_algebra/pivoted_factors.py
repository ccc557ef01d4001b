"""Lowering of the LU decomposition as its users see it: LAPACK's factors of a matrix, and its pivots."""

from __future__ import annotations

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.linear_algebra.contractions import at
from funcgrad.compile.lower.linear_algebra.factorizations import (
    EVERY_LETTER,
    Stack,
    changeable,
    known,
    letter_of,
    threads_of_blas,
)
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.compile.runtime.addresses.blas import lapack_routine
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation
from funcgrad.ops.linalg.lu import Lu, PivotOrder


@lowers(Lu)
def lower_lu(scheduler: Scheduler, equation: Equation) -> None:
    """A call of LAPACK for each matrix of a stack. Singular matrices have factors, too."""
    (a,), (out, pivots) = equation.inputs, equation.outputs
    letter, local = letter_of(equation, EVERY_LETTER), scheduler.local
    m, n = a.aval.shape[-2:]
    if not a.aval.size:
        raise NotLowered(f"lu of {a.aval} is left to NumPy")
    found = known(lapack_routine(letter + "getrf"), "getrf")
    address = local.constant(letter + "getrf", found.address)
    integer = np.dtype(np.int64 if found.integer == "i64" else np.int32)
    local.serial_blas()
    square = changeable(scheduler, a, local.named(out), equation.source, columns_first=True)
    exchanged = scheduler.buffer_like(Aval((min(m, n),), integer), "exchanged")
    target = scheduler.buffer_like(pivots.aval, local.named(pivots))
    flag = local.failure_flag()

    def emit(writer: Writer) -> None:
        stack = Stack(writer, a.aval.shape[:-2], flag, equation.source)
        cells, k = local.fresh("arguments"), local.fresh("r")
        writer.line(f"{cells} = stack_i64(3)")
        writer.line(f"{cells}[0] = {local.symbol(m)}")
        writer.line(f"{cells}[1] = {local.symbol(n)}")
        rows, columns, info = [f"shifted({cells}, {place})" for place in range(3)]
        with stack as variables:
            writer.line(f"{cells}[2] = 0")
            pointer = at(writer, square.batch, variables)
            with threads_of_blas(writer, min(m, n)):
                writer.line(
                    f"{letter}getrf({address}, {rows}, {columns}, {pointer}, {rows}, "
                    f"{exchanged.buffer.name}, {info})"
                )
            with writer.loop(k, min(m, n)):
                element = writer.element(target, [*variables, k])
                writer.line(f"{element} = i32({exchanged.buffer.name}[{k}] - 1)")

    flops = equation.primitive.flops([a.aval], [v.aval for v in equation.outputs])
    writes = [square.view, target, View.whole(flag, ())]
    position = scheduler.special("lu", emit, [square.view], writes, scratch=[exchanged], flops=flops)
    scheduler.define_view(out, square.view, position)
    scheduler.define_view(pivots, target, position)


@lowers(PivotOrder)
def lower_order(scheduler: Scheduler, equation: Equation) -> None:
    """The rows in order, exchanged one after the other. A pivot that is no row is noted in a flag."""
    (pivots,), (out,) = equation.inputs, equation.outputs
    source = scheduler.stored(pivots)
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    flag = scheduler.local.failure_flag()
    rows, count = equation.primitive.rows, pivots.aval.shape[-1]

    def emit(writer: Writer) -> None:
        stack = Stack(writer, out.aval.shape[:-1], flag, equation.source)
        k, other, kept = (writer.local.fresh(stem) for stem in ("r", "other", "row"))
        size = writer.local.symbol(rows)
        with stack as variables:

            def row(place: str) -> str:
                return writer.element(target, [*variables, place])

            with writer.loop(k, rows):
                writer.line(f"{row(k)} = {k}")
            with writer.loop(k, count):
                writer.line(f"{other} = i64({writer.element(source, [*variables, k])})")
                writer.line(f"{other} = select({other} < 0, {other} + {size}, {other})")
                with writer.block(f"if ({other} < 0) | ({other} >= {size}):"):
                    writer.line(f"{stack.wrong} = True")
                with writer.block("else:"):
                    writer.line(f"{kept} = {row(k)}")
                    writer.line(f"{row(k)} = {row(other)}")
                    writer.line(f"{row(other)} = {kept}")

    writes = [target, View.whole(flag, ())]
    position = scheduler.special(equation.primitive.name, emit, [source], writes, flops=3.0 * out.aval.size)
    scheduler.define_view(out, target, position)
