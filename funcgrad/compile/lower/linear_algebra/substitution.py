"""Lowerings of systems with triangular matrices: substitution by loops, or by BLAS.

Right-hand sides are shared between threads, and what is known to be zero of them is left out. A zero on the
diagonal is noted in a flag where NumPy raises, and the program is then run by NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.linear_algebra.contractions import (
    LETTERS,
    NO_TRANS,
    PARTS,
    ROW_MAJOR,
    SHORTEST_FLOPS,
    TRANS,
    Matrix,
    Part,
    at,
    number,
    readable,
    write_check,
)
from funcgrad.compile.lower.linear_algebra.factorizations import (
    EVERY_LETTER,
    LEFT,
    LOWER,
    NON_UNIT,
    RIGHT,
    SMALL,
    UNIT,
    UPPER,
    Square,
    Stack,
    changeable,
    known,
    letter_of,
)
from funcgrad.compile.lower.linear_algebra.triangles import NONE, triangles_of
from funcgrad.compile.passes.scheduling.lowerings import lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.compile.runtime.addresses.blas import routine
from funcgrad.ir.program import Equation
from funcgrad.ops.linalg.triangular import TriangularSolve


class System(NamedTuple):
    """``op(a) @ x == b`` with triangles, for each member of a stack; `x` takes the place of `b`."""

    a: View
    b: Square
    lower: bool
    transposed: bool
    unit: bool
    triangle: frozenset[str] = NONE
    """Which triangle the right-hand sides and so the solutions are, if they are the same as ``op(a)``."""

    @property
    def forward(self) -> bool:
        """Whether rows are solved from the first one on."""
        return self.lower != self.transposed


@lowers(TriangularSolve)
def lower_triangular_solve(scheduler: Scheduler, equation: Equation) -> None:
    """Substitution: by loops if there are few rows, else by BLAS."""
    a, b = equation.inputs
    (out,) = equation.outputs
    local, primitive = scheduler.local, equation.primitive
    n, columns = out.aval.shape[-2:]
    batch = out.aval.shape[:-2]
    small = n <= SMALL or not columns
    letter = letter_of(equation, EVERY_LETTER if small else LETTERS)
    flops = float(n * out.aval.size)
    matrix, call = None, None
    if not small:
        matrix = readable(scheduler, a, range(len(batch)), [len(batch)], [len(batch) + 1])
    view = scheduler.stored(a)
    square = changeable(scheduler, b, local.named(out), equation.source)
    system = System(view, square, primitive.lower, primitive.transposed, primitive.unit)
    triangle = triangles_of(scheduler, b) & {"lower" if system.forward else "upper"}
    if n == columns:
        system = system._replace(triangle=triangle)
    flag = local.failure_flag()
    if matrix is not None:
        name = f"{letter}trsm"
        address = local.constant(name, known(routine(name), name).address)
        local.serial_blas()
        call = TriangularCall(name, address, matrix, system)
    divided = call is not None and not batch and flops >= SHORTEST_FLOPS and columns >= PARTS
    part = local.fresh("solve") if divided else ""

    def emit(writer: Writer) -> None:
        stack = Stack(writer, batch, flag, equation.source)
        with stack as variables:
            if call is None:
                write_substitution(writer, system, variables, stack.wrong)
                return
            write_singular(writer, system, variables, stack.wrong)
            if divided and writer.is_outermost:
                writer.line(f"parallel({part}, p, n, 0, {call.parts}, 1)")
                writer.functions.append((Part(part), call.part_lines(writer)))
                if system.triangle:
                    # Zeros that were left out might have met an infinity.
                    write_check(writer, square.view, flag.name)
            else:
                call.write(writer, variables, "0", writer.local.symbol(columns))

    reads = [view, square.view] if matrix is None else [view, matrix.view, square.view]
    writes = [square.view, View.whole(flag, ())]
    position = scheduler.special("triangular_solve", emit, reads, writes, flops=flops)
    scheduler.define_view(out, square.view, position).triangles = system.triangle


class TriangularCall(NamedTuple):
    """What a call of BLAS is given."""

    name: str
    address: str
    matrix: Matrix
    system: System

    @property
    def parts(self) -> int:
        """Into how many parts it is divided: more if they are unequal."""
        return 2 * PARTS if self.system.triangle else PARTS

    def write(
        self, writer: Writer, variables: Sequence[str], first: str, count: str, rows: str | None = None
    ) -> None:
        """One call, for some of the right-hand sides: all of one member, or a part of the only one.

        With `rows` they are zero in the other rows: the last ones, or the first ones of a lower triangle.
        """
        symbol, system, square = writer.local.symbol, self.system, self.system.b
        n, columns = square.view.shape[-2:]
        # A single column is a row as well, and what BLAS then calls is faster.
        by_columns = square.columns_first or columns == 1
        stored = self.matrix.order == TRANS
        lower, transposed = system.lower != stored, system.transposed != stored
        target = square.batch
        if first != "0":
            target = target._replace(base=(*target.base, (first, square.view.strides[-1])))
        matrix = self.matrix.view
        if rows is not None and system.forward:
            target = target._replace(base=(*target.base, (first, square.view.strides[-2])))
            step = self.matrix.row_stride + self.matrix.column_stride
            matrix = matrix._replace(base=(*matrix.base, (first, step)))
        rows = rows or symbol(n)
        sizes = (count, rows) if by_columns else (rows, count)
        codes = (
            RIGHT if by_columns else LEFT,
            LOWER if lower else UPPER,
            TRANS if transposed != by_columns else NO_TRANS,
            UNIT if system.unit else NON_UNIT,
        )
        writer.line(
            f"{self.name}({self.address}, {ROW_MAJOR}, {', '.join(map(str, codes))}, {', '.join(sizes)}, "
            f"{number(1, square.view.buffer.dtype)}, {at(writer, matrix, variables)}, "
            f"{symbol(self.matrix.leading)}, {at(writer, target, variables)}, "
            f"{symbol(n if by_columns else columns)})"
        )

    def part_lines(self, writer: Writer) -> list[str]:
        """The body of a function that solves for some of the right-hand sides."""
        inner = Writer(writer.local)
        size = writer.local.symbol(self.system.b.view.shape[-1])
        with inner.block("for chunk in range(begin, end):"):
            # The parts with the most work come first.
            inner.line(
                f"turn = {f'{self.parts - 1} - chunk' if 'upper' in self.system.triangle else 'chunk'}"
            )
            inner.line(f"first = turn * {size} // {self.parts}")
            inner.line(f"last = (turn + 1) * {size} // {self.parts}")
            rows = None
            if self.system.triangle:
                rows = f"{size} - first" if self.system.forward else "last"
            self.write(inner, (), "first", "last - first", rows)
        return inner.lines


def write_singular(writer: Writer, system: System, variables: Sequence[str], wrong: str) -> None:
    """Note a zero on the diagonal."""
    if system.unit:
        return
    i = writer.local.fresh("r")
    with writer.loop(i, system.a.shape[-1]):
        element = writer.element(system.a, [*variables, i, i])
        writer.line(f"{wrong} = {wrong} | ({element} == {cast_name(system.a.buffer.dtype)}(0))")


def write_substitution(writer: Writer, system: System, variables: Sequence[str], wrong: str) -> None:
    """A small system, one right-hand side after the other."""
    fresh = writer.local.fresh
    a, b = system.a, system.b.view
    n, columns = b.shape[-2:]
    size = writer.local.symbol(n)
    turn, i, j, k, total = fresh("r"), fresh("r"), fresh("r"), fresh("r"), fresh("total")
    write_singular(writer, system, variables, wrong)

    def factor(row: str, column: str) -> str:
        places = (column, row) if system.transposed else (row, column)
        return writer.element(a, [*variables, *places])

    def side(row: str) -> str:
        return writer.element(b, [*variables, row, j])

    with writer.loop(j, columns), writer.loop(turn, n):
        writer.line(f"{i} = {turn if system.forward else f'{size} - 1 - {turn}'}")
        writer.line(f"{total} = {side(i)}")
        with writer.block(f"for {k} in range({i if system.forward else f'{i} + 1, {size}'}):"):
            writer.line(f"{total} = {total} - {factor(i, k)} * {side(k)}")
        divisor = "" if system.unit else f" / {factor(i, i)}"
        writer.line(f"{side(i)} = {total}{divisor}")
