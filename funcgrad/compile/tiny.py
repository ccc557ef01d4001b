"""Linear algebra with matrices of up to three rows: loops over a stack, unrolled within a matrix.

Rows are exchanged for the largest pivot by selection, as LAPACK exchanges them, so results are as accurate. A
singular matrix is noted in a flag where NumPy raises, and the program is then run by NumPy. Larger matrices
and complex ones are left to the evaluator.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from funcgrad.compile.emission import Writer
from funcgrad.compile.layout import Buffer, View
from funcgrad.compile.parts import fill
from funcgrad.compile.scalars import cast_name
from funcgrad.compile.schedule import NotLowered, Scheduler, lowers
from funcgrad.ir.program import Atom, Equation
from funcgrad.ops.linalg import tiny
from funcgrad.ops.linalg.determinants import Det, DetWithCofactors
from funcgrad.ops.linalg.systems import Inv, LuFactors, SolveFactored

Matrix = list[list[str]]
"""The names of a matrix's elements."""


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

    def output(self, out: Any) -> View:
        """Memory for a result."""
        return self.scheduler.buffer_like(out.aval, self.local.named(out))

    def open(self, writer: Writer, stack: ExitStack) -> list[str]:
        """Open the loops; their variables."""
        writer.comment(self.source)
        variables = [self.local.fresh("q") for _ in self.shape]
        for variable, size in zip(variables, self.shape, strict=True):
            stack.enter_context(writer.loop(variable, size))
        return variables

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

    def inverse(self, writer: Writer, rows: Matrix, wrong: str) -> Matrix:
        """The inverse, by elimination beside an identity matrix."""
        n = self.n
        wide = [[*row, *[f"{self.number}({int(i == j)})" for j in range(n)]] for i, row in enumerate(rows)]
        pivots, _ = self.eliminated(writer, wide)
        for pivot in pivots:
            writer.line(f"{wrong} = {wrong} | ({pivot} == {self.number}(0))")
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

    def inverse_in_closed_form(self, writer: Writer, rows: Matrix, wrong: str) -> Matrix:
        """The inverse by cofactors, by elimination where those may lose digits."""
        n = self.n
        cofactors = [[self.named(writer, text) for text in row] for row in self.cofactors(rows)]
        det = self.named(writer, total(rows[0], cofactors[0]))
        scale = self.named(writer, f"{self.number}(1) / {det}")
        found = [[self.named(writer, f"{cofactors[j][i]} * {scale}") for j in range(n)] for i in range(n)]
        with writer.block(f"if {self.doubtful(writer, rows, det)}:"):
            better = self.inverse(writer, rows, wrong)
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
        view.buffer,
        view.shape[:-2],
        view.strides[:-2],
        view.offset + i * row + j * column,
        view.base,
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

    def emit(writer: Writer) -> None:
        wrong = stacks.local.fresh("wrong")
        writer.line(f"{wrong} = False")
        with ExitStack() as stack:
            variables = stacks.open(writer, stack)
            rows = stacks.loaded(writer, source, variables, stacks.n)
            store(writer, view, variables, stacks.inverse_in_closed_form(writer, rows, wrong))
        with writer.block(f"if {wrong}:"):
            writer.line(f"{flag.name}[0] = 1")

    flops = 3.0 * stacks.n * a.aval.size
    return scheduler.special("inverse", emit, [source], [view, View.whole(flag, ())], flops=flops)


@lowers(LuFactors)
def lower_factors(scheduler: Scheduler, equation: Equation) -> None:
    """Of tiny matrices the factors are the inverse."""
    stacks = Stacks(scheduler, equation)
    factors, pivots = equation.outputs
    view, unused = stacks.output(factors), stacks.output(pivots)
    scheduler.define_view(factors, view, inverted_into(scheduler, stacks, equation.inputs[0], view))
    scheduler.define_view(pivots, unused, fill(scheduler, unused, "0", equation.source))


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

    def emit(writer: Writer) -> None:
        with ExitStack() as stack:
            variables = stacks.open(writer, stack)
            m = stacks.loaded(writer, a, variables, n)
            f = stacks.loaded(writer, factors, variables, n)
            for j in range(columns):
                c = [stacks.named(writer, element(writer, b, variables, i, j)) for i in range(n)]
                x = [stacks.named(writer, total(f[i], c)) for i in range(n)]
                rest = [stacks.named(writer, f"{c[i]} - ({total(m[i], x)})") for i in range(n)]
                for i in range(n):
                    target = element(writer, view, variables, i, j)
                    writer.line(f"{target} = {x[i]} + ({total(f[i], rest)})")

    if columns > 2 * tiny.LARGEST:
        raise NotLowered(f"solve with {columns} right-hand sides is left to LAPACK")
    flops = 6.0 * n * out.aval.size
    position = scheduler.special("solve", emit, [a, factors, b], [view], flops=flops)
    scheduler.define_view(out, view, position)


def total(x: Sequence[str], y: Sequence[str]) -> str:
    """The text of a sum of products."""
    return " + ".join([f"{a} * {b}" for a, b in zip(x, y, strict=True)])


def swapped(view: View) -> View:
    """Each matrix transposed."""
    *shape, rows, columns = view.shape
    *strides, row, column = view.strides
    return View(view.buffer, (*shape, columns, rows), (*strides, column, row), view.offset, view.base)


@lowers(Det, DetWithCofactors)
def lower_determinant(scheduler: Scheduler, equation: Equation) -> None:
    """The product of the pivots, and the cofactors in closed form."""
    stacks = Stacks(scheduler, equation)
    source = scheduler.stored(equation.inputs[0])
    views = [stacks.output(out) for out in equation.outputs]

    def emit(writer: Writer) -> None:
        with ExitStack() as stack:
            variables = stacks.open(writer, stack)
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

    flops = 3.0 * stacks.n * equation.inputs[0].aval.size
    position = scheduler.special("determinant", emit, [source], views, flops=flops)
    for out, view in zip(equation.outputs, views, strict=True):
        scheduler.define_view(out, view, position)
