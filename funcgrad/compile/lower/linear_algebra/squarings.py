"""Lowering of what the exponential of matrices needs beside products and solutions, as loops."""

from __future__ import annotations

from contextlib import ExitStack

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.cumulative import lines_along
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.linear_algebra.factorizations import Stack
from funcgrad.compile.lower.slice_updates import check_dtype
from funcgrad.compile.passes.scheduling.lowerings import lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation
from funcgrad.ops.linalg.exponential import PowerNorm, RepeatedSquares


@lowers(PowerNorm)
def lower_power_norm(scheduler: Scheduler, equation: Equation) -> None:
    """The sums of columns, multiplied by the matrix again and again."""
    (a,), (out,) = equation.inputs, equation.outputs
    local, n, dtype = scheduler.local, a.aval.shape[-1], a.aval.dtype
    source = scheduler.stored(a)
    target = scheduler.buffer_like(out.aval, local.named(out))
    sums, others = [scheduler.buffer_like(Aval((n,), dtype), stem) for stem in ("sums", "others")]
    now, then, number = sums.buffer.name, others.buffer.name, cast_name(dtype)

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        turn, i, j, share = (local.fresh(stem) for stem in ("t", "r", "r", "share"))
        with ExitStack() as stack:
            batch = lines_along(writer, stack, out.aval.shape, -1)
            with writer.loop(j, n):
                writer.line(f"{now}[{j}] = {number}(1)")
            with writer.loop(turn, equation.primitive.power):
                with writer.loop(j, n):
                    writer.line(f"{then}[{j}] = {number}(0)")
                with writer.loop(i, n):
                    writer.line(f"{share} = {now}[{i}]")
                    with writer.loop(j, n):
                        term = f"{share} * {writer.element(source, [*batch, i, j])}"
                        writer.line(f"{then}[{j}] = {then}[{j}] + {term}")
                with writer.loop(j, n):
                    writer.line(f"{now}[{j}] = {then}[{j}]")
            writer.line(f"{share} = {number}(0)")
            with writer.loop(j, n):
                writer.line(f"{share} = maximum({share}, {now}[{j}])")
            writer.line(f"{writer.element(target, batch)} = {share}")

    flops = equation.primitive.flops([a.aval], [out.aval])
    position = scheduler.special(
        equation.primitive.name, emit, [source], [target], scratch=[sums, others], flops=flops
    )
    scheduler.define_view(out, target, position)


@lowers(RepeatedSquares)
def lower_squares(scheduler: Scheduler, equation: Equation) -> None:
    """Products of the result with itself, in memory of their own until they are complete."""
    (x, count, _), (out,) = equation.inputs, equation.outputs
    check_dtype(equation)
    local, n, dtype = scheduler.local, x.aval.shape[-1], out.aval.dtype
    source, told = scheduler.stored(x), scheduler.stored(count)
    target = scheduler.buffer_like(out.aval, local.named(out))
    square = scheduler.buffer_like(Aval((n, n), dtype), "square")
    flag = local.failure_flag()

    def emit(writer: Writer) -> None:
        stack = Stack(writer, count.aval.shape, flag, equation.source)
        turn, i, j, k, share = (local.fresh(stem) for stem in ("t", "r", "r", "r", "share"))
        with stack as batch:

            def found(row: str, column: str) -> str:
                return writer.element(target, [*batch, row, column])

            new = writer.element(square, [i, j])
            with writer.loop(i, n), writer.loop(j, n):
                writer.line(f"{found(i, j)} = {writer.element(source, [*batch, i, j])}")
            writer.line(f"{stack.wrong} = {stack.wrong} | ({writer.element(told, batch)} < 0)")
            with writer.block(f"for {turn} in range({writer.element(told, batch)}):"):
                with writer.loop(i, n):
                    with writer.loop(j, n):
                        writer.line(f"{new} = {cast_name(dtype)}(0)")
                    with writer.loop(k, n):
                        writer.line(f"{share} = {found(i, k)}")
                        with writer.loop(j, n):
                            writer.line(f"{new} = {new} + {share} * {found(k, j)}")
                with writer.loop(i, n), writer.loop(j, n):
                    writer.line(f"{found(i, j)} = {new}")

    flops = equation.primitive.flops([x.aval], [out.aval])
    position = scheduler.special(
        equation.primitive.name,
        emit,
        [source, told],
        [target, View.whole(flag, ())],
        scratch=[square],
        flops=flops,
    )
    scheduler.define_view(out, target, position)
