"""Linear algebra with matrices of up to three rows: loops over a stack, unrolled within a matrix.

Rows are exchanged for the largest pivot by selection, as LAPACK exchanges them, so results are as accurate. A
singular matrix is noted in a flag where NumPy raises, and the program is then run by NumPy. Larger matrices
and complex ones are left to the evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.linear_algebra.contractions import Part
from funcgrad.compile.passes.arranging.dividing import CHUNKS, FLOPS_PER_SECOND, SHORTEST
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Literal, Var
from funcgrad.ops.arrays.structure import Broadcast
from funcgrad.ops.linalg import tiny
from funcgrad.ops.linalg.systems import Inv, LuFactors, SolveFactored
from funcgrad.types import Anything

Matrix = list[list[str]]
"""The names of a matrix's elements."""

Turn = Callable[[Writer, Sequence[str]], None]
"""Writes what is done with one matrix of a stack, which the variables number."""


class Stacks:
    """The loops over the matrices of a stack, and the text of arithmetic on their elements."""

    def __init__(self, scheduler: Scheduler, equation: Equation) -> None:
        a = equation.inputs[0].aval
        self.n = a.shape[-1]
        if a.dtype not in (np.float32, np.float64) or not 0 < self.n <= tiny.LARGEST:
            raise NotLowered(f"{equation.primitive.name} of {a} is left to LAPACK")
        self.scheduler = scheduler
        self.local = scheduler.local
        self.shape = a.shape[:-2]
        self.number = cast_name(a.dtype)
        self.source = equation.source

    def output(self, out: Anything) -> View:
        """Memory for a result."""
        return self.scheduler.buffer_like(out.aval, self.local.named(out))

    def each(self, writer: Writer, turn: Turn, flops: float) -> None:
        """Write the loops with what is done in each turn, divided between threads where they are long."""
        divided = self.divided(flops)
        if divided is None or not writer.is_outermost:
            self.loops(writer, turn)
            return
        inner, part = Writer(self.local), self.local.fresh("matrices")
        size = self.local.symbol(self.shape[divided])
        with inner.block("for chunk in range(begin, end):"):
            inner.line(f"first = chunk * {size} // {CHUNKS}")
            inner.line(f"last = (chunk + 1) * {size} // {CHUNKS}")
            self.loops(inner, turn, divided)
        writer.line(f"parallel({part}, p, n, 0, {CHUNKS}, 1)")
        writer.functions.append((Part(part), inner.lines))

    def divided(self, flops: float) -> int | None:
        """The axis that threads share where this is outermost; None where the loops are short."""
        if flops < SHORTEST * FLOPS_PER_SECOND:
            return None
        return next((axis for axis, size in enumerate(self.shape) if size >= 2 * CHUNKS), None)

    def loops(self, writer: Writer, turn: Turn, divided: int | None = None) -> None:
        """The loops; that over the divided axis runs from `first` to `last`."""
        writer.comment(self.source)
        variables = [self.local.fresh("q") for _ in self.shape]
        with ExitStack() as stack:
            for axis, (variable, size) in enumerate(zip(variables, self.shape, strict=True)):
                some = f"for {variable} in range(first, last):"
                stack.enter_context(writer.block(some) if axis == divided else writer.loop(variable, size))
            turn(writer, variables)

    def named(self, writer: Writer, text: str) -> str:
        """A new local with this value."""
        name = self.local.fresh("m")
        writer.line(f"{name} = {text}")
        return name

    def loaded(self, writer: Writer, view: View, variables: Sequence[str], columns: int) -> Matrix:
        """The elements of one matrix of a view."""
        return [
            [self.named(writer, element(writer, view, variables, i, j)) for j in range(columns)]
            for i in range(self.n)
        ]

    def eliminated(self, writer: Writer, rows: Matrix) -> tuple[list[str], str]:
        """Forward elimination, with the largest pivots; the pivots, and 1 or -1 for the exchanges."""
        sign = self.named(writer, f"{self.number}(1)")
        for k in range(self.n):
            for i in range(k + 1, self.n):
                swap = self.named(writer, f"fabs({rows[i][k]}) > fabs({rows[k][k]})")
                sign = self.named(writer, f"select({swap}, -{sign}, {sign})")
                for j in range(k, len(rows[0])):
                    upper = self.named(writer, f"select({swap}, {rows[i][j]}, {rows[k][j]})")
                    rows[i][j] = self.named(writer, f"select({swap}, {rows[k][j]}, {rows[i][j]})")
                    rows[k][j] = upper
            for i in range(k + 1, self.n):
                share = self.named(writer, f"{rows[i][k]} / {rows[k][k]}")
                for j in range(k + 1, len(rows[0])):
                    rows[i][j] = self.named(writer, f"{rows[i][j]} - {share} * {rows[k][j]}")
        return [rows[k][k] for k in range(self.n)], sign

    def inverse(self, writer: Writer, rows: Matrix, flag: str) -> Matrix:
        """The inverse, by elimination beside an identity matrix; the flag is set where there is none."""
        n = self.n
        wide = [[*row, *[f"{self.number}({int(i == j)})" for j in range(n)]] for i, row in enumerate(rows)]
        pivots, _ = self.eliminated(writer, wide)
        singular = " | ".join([f"({pivot} == {self.number}(0))" for pivot in pivots])
        with writer.block(f"if {singular}:"):
            writer.line(f"{flag}[0] = 1")
        for k in range(n - 1, -1, -1):
            for j in range(n, 2 * n):
                terms = "".join([f" - {wide[k][i]} * {wide[i][j]}" for i in range(k + 1, n)])
                wide[k][j] = self.named(writer, f"({wide[k][j]}{terms}) / {pivots[k]}")
        return [row[n:] for row in wide]

    def doubtful(self, writer: Writer, m: Matrix, det: str) -> str:
        """Whether a closed form may have lost digits: the determinant is far below Hadamard's bound."""
        lengths = [self.named(writer, total(row, row)) for row in m]
        bound = self.named(writer, " * ".join([f"{self.number}({tiny.WELL_CONDITIONED**2!r})", *lengths]))
        return f"not (({det} * {det} >= {bound}) & ({bound} > {self.number}(0)))"

    def inverse_in_closed_form(self, writer: Writer, rows: Matrix, flag: str) -> Matrix:
        """The inverse by cofactors, by elimination where those may lose digits."""
        n = self.n
        cofactors = [[self.named(writer, text) for text in row] for row in self.cofactors(rows)]
        det = self.named(writer, total(rows[0], cofactors[0]))
        scale = self.named(writer, f"{self.number}(1) / {det}")
        found = [[self.named(writer, f"{cofactors[j][i]} * {scale}") for j in range(n)] for i in range(n)]
        with writer.block(f"if {self.doubtful(writer, rows, det)}:"):
            better = self.inverse(writer, rows, flag)
            for old, new in zip(found, better, strict=True):
                for x, y in zip(old, new, strict=True):
                    writer.line(f"{x} = {y}")
        return found

    def cofactors(self, m: Matrix) -> Matrix:
        """The text of the cofactors."""
        if self.n == 1:
            return [[f"{self.number}(1)"]]
        if self.n == 2:
            return [[m[1][1], f"-{m[1][0]}"], [f"-{m[0][1]}", m[0][0]]]
        return [
            [
                f"{m[(i + 1) % 3][(j + 1) % 3]} * {m[(i + 2) % 3][(j + 2) % 3]}"
                f" - {m[(i + 1) % 3][(j + 2) % 3]} * {m[(i + 2) % 3][(j + 1) % 3]}"
                for j in range(3)
            ]
            for i in range(3)
        ]


def element(writer: Writer, view: View, variables: Sequence[str], i: int, j: int) -> str:
    """The text of an element of one matrix of a view."""
    *_, row, column = view.strides
    part = View(
        view.buffer, view.shape[:-2], view.strides[:-2], view.offset + i * row + j * column, view.base
    )
    return writer.element(part, variables)


def store(writer: Writer, view: View, variables: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write the elements of one matrix of a view."""
    for i, row in enumerate(rows):
        for j, text in enumerate(row):
            writer.line(f"{element(writer, view, variables, i, j)} = {text}")


def inverted_into(scheduler: Scheduler, stacks: Stacks, a: Atom, view: View) -> int:
    """The step that writes the inverses of a stack, and sets the flag where there is none."""
    source = scheduler.stored(a)
    flag: Buffer = scheduler.local.failure_flag()

    flops = 3.0 * stacks.n * a.aval.size

    def turn(writer: Writer, variables: Sequence[str]) -> None:
        rows = stacks.loaded(writer, source, variables, stacks.n)
        store(writer, view, variables, stacks.inverse_in_closed_form(writer, rows, flag.name))

    def emit(writer: Writer) -> None:
        stacks.each(writer, turn, flops)

    shares, writes = stacks.divided(flops) is not None, [view, View.whole(flag, ())]
    return scheduler.special("inverse", emit, [source], writes, flops=flops, shares=shares)


def define_zeros(scheduler: Scheduler, out: Var, source: object) -> None:
    """Define a variable as zeros, which take memory only if they are read."""
    zero = Literal(out.aval.dtype.type(0), Aval((), out.aval.dtype))
    scheduler.move(Equation(Broadcast(out.aval.shape, ()), (zero,), (out,), source))


@lowers(LuFactors)
def lower_factors(scheduler: Scheduler, equation: Equation) -> None:
    """Of tiny matrices the factors are the inverse, and nobody asks for the pivots."""
    stacks = Stacks(scheduler, equation)
    factors, pivots = equation.outputs
    view = stacks.output(factors)
    scheduler.define_view(factors, view, inverted_into(scheduler, stacks, equation.inputs[0], view))
    define_zeros(scheduler, pivots, equation.source)


@lowers(Inv)
def lower_inverse(scheduler: Scheduler, equation: Equation) -> None:
    """The inverse."""
    stacks = Stacks(scheduler, equation)
    (out,) = equation.outputs
    view = stacks.output(out)
    scheduler.define_view(out, view, inverted_into(scheduler, stacks, equation.inputs[0], view))


@lowers(SolveFactored)
def lower_solution(scheduler: Scheduler, equation: Equation) -> None:
    """The inverse times the right-hand sides, refined once."""
    stacks = Stacks(scheduler, equation)
    (out,) = equation.outputs
    a, factors, b = [scheduler.stored(equation.inputs[k]) for k in (0, 1, 3)]
    if equation.primitive.transposed:
        a, factors = swapped(a), swapped(factors)
    view = stacks.output(out)
    n, columns = out.aval.shape[-2:]

    flops = 6.0 * n * out.aval.size

    def turn(writer: Writer, variables: Sequence[str]) -> None:
        m = stacks.loaded(writer, a, variables, n)
        f = stacks.loaded(writer, factors, variables, n)
        for j in range(columns):
            c = [stacks.named(writer, element(writer, b, variables, i, j)) for i in range(n)]
            x = [stacks.named(writer, total(f[i], c)) for i in range(n)]
            rest = [stacks.named(writer, f"{c[i]} - ({total(m[i], x)})") for i in range(n)]
            for i in range(n):
                target = element(writer, view, variables, i, j)
                writer.line(f"{target} = {x[i]} + ({total(f[i], rest)})")

    def emit(writer: Writer) -> None:
        stacks.each(writer, turn, flops)

    if columns > 2 * tiny.LARGEST:
        raise NotLowered(f"solve with {columns} right-hand sides is left to LAPACK")
    shares = stacks.divided(flops) is not None
    position = scheduler.special("solve", emit, [a, factors, b], [view], flops=flops, shares=shares)
    scheduler.define_view(out, view, position)


def total(x: Sequence[str], y: Sequence[str]) -> str:
    """The text of a sum of products."""
    return " + ".join([f"{a} * {b}" for a, b in zip(x, y, strict=True)])


def swapped(view: View) -> View:
    """Each matrix transposed."""
    *shape, rows, columns = view.shape
    *strides, row, column = view.strides
    return View(view.buffer, (*shape, columns, rows), (*strides, column, row), view.offset, view.base)


def lower_determinant(scheduler: Scheduler, equation: Equation) -> None:
    """The product of the pivots, and the cofactors in closed form."""
    stacks = Stacks(scheduler, equation)
    source = scheduler.stored(equation.inputs[0])
    views = [stacks.output(out) for out in equation.outputs]

    flops = 3.0 * stacks.n * equation.inputs[0].aval.size

    def turn(writer: Writer, variables: Sequence[str]) -> None:
        rows = stacks.loaded(writer, source, variables, stacks.n)
        cofactors = [[stacks.named(writer, text) for text in row] for row in stacks.cofactors(rows)]
        if len(views) > 1:
            store(writer, views[1], variables, cofactors)
        det = stacks.named(writer, total(rows[0], cofactors[0]))
        if stacks.n > 1:
            with writer.block(f"if {stacks.doubtful(writer, rows, det)}:"):
                pivots, sign = stacks.eliminated(writer, rows)
                # A pivot of zero makes what follows NaN, and the determinant zero.
                value = " * ".join([sign, *pivots])
                zero = " | ".join([f"({p} == {stacks.number}(0))" for p in pivots[:-1]])
                writer.line(f"{det} = select({zero}, {stacks.number}(0), {value})")
        writer.line(f"{writer.element(views[0], variables)} = {det}")

    def emit(writer: Writer) -> None:
        stacks.each(writer, turn, flops)

    shares = stacks.divided(flops) is not None
    position = scheduler.special("determinant", emit, [source], views, flops=flops, shares=shares)
    for out, view in zip(equation.outputs, views, strict=True):
        scheduler.define_view(out, view, position)
