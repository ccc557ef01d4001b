"""Lowerings of systems of linear equations, inverses and determinants by LAPACK's factors with pivots.

LAPACK takes matrices column after column, so what it factors is the transpose of a matrix that lies row after
row, as `funcgrad.ops.linalg.systems` does. Matrices of up to three rows are `small_matrices`'s. A
singular matrix is noted in a flag where NumPy raises, and the program is then run by NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.linear_algebra import small_matrices
from funcgrad.compile.lower.linear_algebra.contractions import at
from funcgrad.compile.lower.linear_algebra.factorizations import (
    EVERY_LETTER,
    Square,
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
from funcgrad.ir.program import Atom, Equation
from funcgrad.ops.elementwise.complexes import real_dtype
from funcgrad.ops.linalg.determinants import FAR_FROM_SINGULAR, DetWithCofactors
from funcgrad.ops.linalg.systems import Inv, LuFactors, SolveFactored, way_to_solve
from funcgrad.ops.linalg.tiny import LARGEST

CHARACTER, SIZE, COLUMNS, INFO = range(4)
"""Places of what LAPACK is given by pointer."""


class Lapack:
    """The calls for one matrix after another, and the memory that they share."""

    def __init__(self, scheduler: Scheduler, equation: Equation) -> None:
        a = equation.inputs[0].aval
        self.letter, self.n = letter_of(equation, EVERY_LETTER), a.shape[-1]
        if not self.n or 0 in equation.outputs[0].aval.shape:
            raise NotLowered(f"{equation.primitive.name} of {a} is left to NumPy")
        self.local, self.source, self.batch = scheduler.local, equation.source, a.shape[:-2]
        self.addresses: dict[str, str] = {}
        for stem in ("getrf", "getrs"):
            found = known(lapack_routine(self.letter + stem), stem)
            self.addresses[stem] = self.local.constant(self.letter + stem, found.address)
            integer = np.dtype(np.int64 if found.integer == "i64" else np.int32)
        self.pivots = scheduler.buffer_like(Aval((self.n,), integer), "pivots")
        self.cells = self.local.fresh("arguments")
        self.local.serial_blas()

    def prepare(self, writer: Writer) -> None:
        """Before the loops over the matrices."""
        writer.line(f"{self.cells} = stack_i64(4)")
        writer.line(f"{self.cells}[{SIZE}] = {self.local.symbol(self.n)}")

    def given(self, place: int) -> str:
        """The pointer to an argument."""
        return f"shifted({self.cells}, {place})"

    def factor(self, writer: Writer, square: Square, variables: Sequence[str]) -> str:
        """Factor a matrix in its place; whether it is singular."""
        size = self.given(SIZE)
        writer.line(f"{self.cells}[{INFO}] = 0")
        with threads_of_blas(writer, self.n):
            writer.line(
                f"{self.letter}getrf({self.addresses['getrf']}, {size}, {size}, "
                f"{at(writer, square.batch, variables)}, {size}, {self.pivots.buffer.name}, "
                f"{self.given(INFO)})"
            )
        return f"({self.cells}[{INFO}] != 0)"

    def solve(
        self, writer: Writer, factors: View, b: View, columns: int, transposed: bool, variables: Sequence[str]
    ) -> None:
        """Replace right-hand sides, column after column, by solutions."""
        writer.line(f"{self.cells}[{CHARACTER}] = {ord('T' if transposed else 'N')}")
        writer.line(f"{self.cells}[{COLUMNS}] = {self.local.symbol(columns)}")
        size = self.given(SIZE)
        with threads_of_blas(writer, min(self.n, 2 * columns)):
            writer.line(
                f"{self.letter}getrs({self.addresses['getrs']}, {self.cells}, {size}, {self.given(COLUMNS)}, "
                f"{at(writer, factors, variables)}, {size}, {self.pivots.buffer.name}, "
                f"{at(writer, b, variables)}, {size}, {self.given(INFO)})"
            )


def stack_of(view: View) -> View:
    """The first element of each matrix."""
    return Square(view, False).batch


@lowers(LuFactors)
def lower_factors(scheduler: Scheduler, equation: Equation) -> None:
    """The factors of large matrices; others are solved with directly, and left as they are."""
    (a,), (factors, pivots) = equation.inputs, equation.outputs
    way = way_to_solve(a.aval.shape)
    if way == "inverse":
        if a.aval.dtype.kind == "c":
            define_inverse(scheduler, equation)
            small_matrices.define_zeros(scheduler, pivots, equation.source)
        else:
            small_matrices.lower_factors(scheduler, equation)
        return
    if way == "direct":
        letter_of(equation, EVERY_LETTER)
        scheduler.alias(factors, a)
        small_matrices.define_zeros(scheduler, pivots, equation.source)
        return
    found = scheduler.buffer_like(pivots.aval, scheduler.local.named(pivots))
    lapack = Lapack(scheduler, equation)
    square = changeable(scheduler, a, scheduler.local.named(factors), equation.source, columns_first=False)
    flag = scheduler.local.failure_flag()

    def emit(writer: Writer) -> None:
        stack = Stack(writer, lapack.batch, flag, equation.source)
        lapack.prepare(writer)
        with stack as variables:
            writer.line(f"{stack.wrong} = {stack.wrong} | {lapack.factor(writer, square, variables)}")
            k = writer.local.fresh("r")
            with writer.loop(k, lapack.n):
                element = writer.element(found, [*variables, k])
                writer.line(f"{element} = i32({lapack.pivots.buffer.name}[{k}] - 1)")

    writes = [square.view, found, View.whole(flag, ())]
    flops = 2.0 / 3.0 * lapack.n * a.aval.size
    position = scheduler.special(
        "lu_factors", emit, [square.view], writes, scratch=[lapack.pivots], flops=flops
    )
    scheduler.define_view(factors, square.view, position)
    scheduler.define_view(pivots, found, position)


@lowers(SolveFactored)
def lower_solution(scheduler: Scheduler, equation: Equation) -> None:
    """Solutions by the factors of large matrices, or by factors that are made for them."""
    a, factors, pivots, b = equation.inputs
    (out,) = equation.outputs
    way = way_to_solve(a.aval.shape)
    if way == "inverse" and out.aval.dtype.kind != "c":
        small_matrices.lower_solution(scheduler, equation)
        return
    lapack, transposed = Lapack(scheduler, equation), equation.primitive.transposed
    # With the inverse of a small complex matrix no digits would be mended: it is factored again.
    direct = way != "factors"
    if direct:
        square = changeable(scheduler, a, "", equation.source)
    else:
        square = Square(scheduler.contiguous(factors), False)
    given = [] if direct else [scheduler.stored(pivots)]
    sides = changeable(scheduler, b, scheduler.local.named(out), equation.source, columns_first=True)
    flag = scheduler.local.failure_flag()
    columns = out.aval.shape[-1]

    def emit(writer: Writer) -> None:
        stack = Stack(writer, lapack.batch, flag, equation.source)
        lapack.prepare(writer)
        with stack as variables:
            if direct:
                writer.line(f"{stack.wrong} = {stack.wrong} | {lapack.factor(writer, square, variables)}")
            else:
                k = writer.local.fresh("r")
                with writer.loop(k, lapack.n):
                    element = writer.element(given[0], [*variables, k])
                    cast = cast_name(lapack.pivots.buffer.dtype)
                    writer.line(f"{lapack.pivots.buffer.name}[{k}] = {cast}({element}) + 1")
            turned = transposed == square.columns_first
            lapack.solve(writer, square.batch, sides.batch, columns, turned, variables)

    writes = [sides.view, View.whole(flag, ()), *([square.view] if direct else [])]
    flops = 2.0 * lapack.n * out.aval.size + (0.7 * lapack.n * a.aval.size if direct else 0.0)
    reads = [square.view, *given, sides.view]
    position = scheduler.special("solve", emit, reads, writes, scratch=[lapack.pivots], flops=flops)
    scheduler.define_view(out, sides.view, position)


@lowers(Inv)
def lower_inverse(scheduler: Scheduler, equation: Equation) -> None:
    """The inverse, in closed form for small real matrices."""
    a = equation.inputs[0].aval
    if 0 < a.shape[-1] <= LARGEST and a.dtype.kind != "c":
        small_matrices.lower_inverse(scheduler, equation)
    else:
        define_inverse(scheduler, equation)


def define_inverse(scheduler: Scheduler, equation: Equation) -> None:
    """The first result is the inverse: solutions whose right-hand sides are the columns of the identity."""
    a, out = equation.inputs[0], equation.outputs[0]
    lapack = Lapack(scheduler, equation)
    square = changeable(scheduler, a, "", equation.source)
    view = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    flag = scheduler.local.failure_flag()

    def emit(writer: Writer) -> None:
        stack = Stack(writer, lapack.batch, flag, equation.source)
        lapack.prepare(writer)
        with stack as variables:
            writer.line(f"{stack.wrong} = {stack.wrong} | {lapack.factor(writer, square, variables)}")
            write_identity(writer, view, variables)
            # Of the transposed factors the solutions, column after column, are the rows of the inverse.
            turned = square.columns_first
            lapack.solve(writer, square.batch, stack_of(view), lapack.n, turned, variables)

    writes = [square.view, view, View.whole(flag, ())]
    flops = 2.0 * lapack.n * out.aval.size
    position = scheduler.special("inverse", emit, [square.view], writes, scratch=[lapack.pivots], flops=flops)
    scheduler.define_view(out, view, position)


class Magnitude(NamedTuple):
    """The locals that hold a determinant's sign and the logarithm of its magnitude."""

    sign: str
    log: str


def determinants(scheduler: Scheduler, equation: Equation) -> None:
    """Determinants by pivots: their sign and the logarithm of their magnitude, or both in one number."""
    a: Atom = equation.inputs[0]
    letter_of(equation)  # signs and logarithms are those of real numbers
    lapack = Lapack(scheduler, equation)
    square = changeable(scheduler, a, "", equation.source)
    views = [scheduler.buffer_like(v.aval, scheduler.local.named(v)) for v in equation.outputs]
    flag = scheduler.local.failure_flag()
    number = cast_name(a.aval.dtype)

    def emit(writer: Writer) -> None:
        found = Magnitude(writer.local.fresh("sign"), writer.local.fresh("log"))
        stack = Stack(writer, lapack.batch, flag, equation.source)
        lapack.prepare(writer)
        with stack as variables:
            singular = lapack.factor(writer, square, variables)
            write_magnitude(writer, lapack, square, variables, found)
            with writer.block(f"if {singular}:"):
                writer.line(f"{found.sign} = {number}(0)")
                writer.line(f"{found.log} = {number}(-INF)")
            texts = [found.sign, found.log] if len(views) > 1 else [f"{found.sign} * exp({found.log})"]
            for view, text in zip(views, texts, strict=True):
                writer.line(f"{writer.element(view, variables)} = {text}")

    writes = [square.view, *views, View.whole(flag, ())]
    flops = 2.0 / 3.0 * lapack.n * a.aval.size
    position = scheduler.special(
        "determinant", emit, [square.view], writes, scratch=[lapack.pivots], flops=flops
    )
    for out, view in zip(equation.outputs, views, strict=True):
        scheduler.define_view(out, view, position)


def write_magnitude(
    writer: Writer, lapack: Lapack, square: Square, variables: Sequence[str], found: Magnitude
) -> None:
    """Sum the logarithms of the pivots; each exchange of rows and each pivot below zero turns the sign."""
    dtype = square.view.buffer.dtype
    number, k, pivot = cast_name(dtype), writer.local.fresh("r"), writer.local.fresh("pivot")
    writer.line(f"{found.sign} = {number}(1)")
    writer.line(f"{found.log} = {cast_name(real_dtype(dtype))}(0)")
    with writer.loop(k, lapack.n):
        writer.line(f"{pivot} = {writer.element(square.view, [*variables, k, k])}")
        exchanged, size = f"{lapack.pivots.buffer.name}[{k}] != {k} + 1", f"fabs({pivot})"
        if dtype.kind == "c":
            turned, size = writer.local.fresh("turned"), writer.local.fresh("size")
            writer.line(f"{size} = {magnitude(pivot, dtype)}")
            writer.line(f"{turned} = {number}(complex({pivot}.real / {size}, {pivot}.imag / {size}))")
            writer.line(f"{found.sign} = {found.sign} * select({exchanged}, -{turned}, {turned})")
        else:
            turns = f"({exchanged}) != ({pivot} < {number}(0))"
            writer.line(f"{found.sign} = select({turns}, -{found.sign}, {found.sign})")
        writer.line(f"{found.log} = {found.log} + log({size})")


def magnitude(x: str, dtype: np.dtype[Any]) -> str:
    """The text of a number's absolute value; `x` is a name, or is read twice."""
    return f"hypot({x}.real, {x}.imag)" if dtype.kind == "c" else f"fabs({x})"


def lower_determinant(scheduler: Scheduler, equation: Equation) -> None:
    """The determinant."""
    if 0 < equation.inputs[0].aval.shape[-1] <= LARGEST:
        small_matrices.lower_determinant(scheduler, equation)
    else:
        determinants(scheduler, equation)


@lowers(DetWithCofactors)
def lower_cofactors(scheduler: Scheduler, equation: Equation) -> None:
    """The determinant times the transposed inverse; matrices near singular ones are left to NumPy."""
    a: Atom = equation.inputs[0]
    if 0 < a.aval.shape[-1] <= LARGEST and a.aval.dtype.kind != "c":
        small_matrices.lower_determinant(scheduler, equation)
        return
    lapack = Lapack(scheduler, equation)
    square = changeable(scheduler, a, "", equation.source)
    det, view = [scheduler.buffer_like(v.aval, scheduler.local.named(v)) for v in equation.outputs]
    flag = scheduler.local.failure_flag()
    number = cast_name(real_dtype(a.aval.dtype))

    def emit(writer: Writer) -> None:
        fresh, n = writer.local.fresh, lapack.n
        found, value = Magnitude(fresh("sign"), fresh("log")), fresh("det")
        stack = Stack(writer, lapack.batch, flag, equation.source)
        lapack.prepare(writer)
        with stack as variables:
            size = write_total(writer, square.view, variables)
            writer.line(f"{stack.wrong} = {stack.wrong} | {lapack.factor(writer, square, variables)}")
            write_magnitude(writer, lapack, square, variables, found)
            writer.line(f"{value} = {found.sign} * exp({found.log})")
            writer.line(f"{writer.element(det, variables)} = {value}")
            write_identity(writer, view, variables)
            lapack.solve(writer, square.batch, stack_of(view), n, not square.columns_first, variables)
            other = write_total(writer, view, variables)
            bound = f"{number}({FAR_FROM_SINGULAR * n})"
            writer.line(f"{stack.wrong} = {stack.wrong} | (not ({size} * {other} < {bound}))")
            i, j = fresh("r"), fresh("r")
            with writer.loop(i, n), writer.loop(j, n):
                element = writer.element(view, [*variables, i, j])
                writer.line(f"{element} = {value} * {element}")

    writes = [square.view, det, view, View.whole(flag, ())]
    flops = 2.0 * lapack.n * a.aval.size
    position = scheduler.special(
        "cofactors", emit, [square.view], writes, scratch=[lapack.pivots], flops=flops
    )
    for out, made in zip(equation.outputs, (det, view), strict=True):
        scheduler.define_view(out, made, position)


def write_identity(writer: Writer, view: View, variables: Sequence[str]) -> None:
    """The identity matrix."""
    number, n = cast_name(view.buffer.dtype), view.shape[-1]
    i, j = writer.local.fresh("r"), writer.local.fresh("r")
    with writer.loop(i, n):
        with writer.loop(j, n):
            writer.line(f"{writer.element(view, [*variables, i, j])} = {number}(0)")
        writer.line(f"{writer.element(view, [*variables, i, i])} = {number}(1)")


def write_total(writer: Writer, view: View, variables: Sequence[str]) -> str:
    """The sum of the magnitudes of a matrix's elements; the local that holds it."""
    total, i, j = (writer.local.fresh(stem) for stem in ("total", "r", "r"))
    dtype = view.buffer.dtype
    writer.line(f"{total} = {cast_name(real_dtype(dtype))}(0)")
    with writer.loop(i, view.shape[-2]), writer.loop(j, view.shape[-1]):
        size = magnitude(writer.element(view, [*variables, i, j]), dtype)
        writer.line(f"{total} = plus({total}, {size})")
    return total


def lower_magnitude(scheduler: Scheduler, equation: Equation) -> None:
    """The determinant's sign, and the logarithm of its magnitude."""
    determinants(scheduler, equation)
