"""Lowering of systems with banded matrices, by the routines of LAPACK that SciPy calls.

Three diagonals are eliminated as vectors, others in LAPACK's storage, which lies column after column and has
room for what exchanges of rows fill in. A singular matrix is noted in a flag, and so is what is not finite:
the program is then run by SciPy, which raises.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.linear_algebra.contractions import at
from funcgrad.compile.lower.linear_algebra.decompositions import when_finite
from funcgrad.compile.lower.linear_algebra.factorizations import (
    EVERY_LETTER,
    Stack,
    changeable,
    known,
    letter_of,
)
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.compile.runtime.addresses.blas import lapack_routine
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation
from funcgrad.ops.linalg.banded import SolveBanded

SIZE, BELOW, ABOVE, COLUMNS, LEAD, INFO = range(6)
"""Places of what LAPACK is given by pointer."""


class Banded:
    """The call for one matrix after another, and the memory for a copy of its diagonals."""

    def __init__(self, scheduler: Scheduler, equation: Equation) -> None:
        primitive, (ab, b) = equation.primitive, [a.aval for a in equation.inputs]
        letter = letter_of(equation, EVERY_LETTER)
        if ab.dtype != b.dtype or not b.size:
            raise NotLowered(f"{primitive.name} of {ab} and {b} is left to LAPACK")
        self.lower, self.upper = primitive.lower, primitive.upper
        self.is_tridiagonal = self.lower == self.upper == 1
        stem = letter + ("gtsv" if self.is_tridiagonal else "gbsv")
        found = known(lapack_routine(stem), stem)
        self.local = scheduler.local
        self.address = self.local.constant(stem, found.address)
        self.n, self.columns = b.shape[-2:]
        self.lead = 3 if self.is_tridiagonal else 2 * self.lower + self.upper + 1
        """Rows of the copy: diagonals, each by itself where there are three."""
        self.work = scheduler.buffer_like(Aval((self.n * self.lead,), b.dtype), "diagonals")
        integer = np.dtype(np.int64 if found.integer == "i64" else np.int32)
        self.pivots = scheduler.buffer_like(Aval((self.n,), integer), "pivots")
        self.cells = self.local.fresh("arguments")
        self.local.serial_blas()

    def prepare(self, writer: Writer) -> None:
        """Before the loops over the matrices."""
        writer.line(f"{self.cells} = stack_i64(6)")
        numbers = (self.n, self.lower, self.upper, self.columns, self.lead)
        for place, number in enumerate(numbers):
            writer.line(f"{self.cells}[{place}] = {self.local.symbol(number)}")

    def copy(self, writer: Writer, ab: View, variables: Sequence[str]) -> None:
        """Put the diagonals of one matrix where LAPACK changes them."""
        name, j, symbol = self.work.buffer.name, writer.local.fresh("r"), self.local.symbol
        if not self.is_tridiagonal:
            zero = f"{cast_name(self.work.buffer.dtype)}(0)"
            with writer.loop(j, self.n * self.lead):
                writer.line(f"{name}[{j}] = {zero}")
        for row in range(self.lower + self.upper + 1):
            first, last = max(self.upper - row, 0), self.n + min(self.upper - row, 0)
            if first >= last:
                continue
            with writer.block(f"for {j} in range({symbol(first)}, {symbol(last)}):"):
                if self.is_tridiagonal:
                    # That above the main diagonal begins with its second place.
                    place = f"{row} * {symbol(self.n)} + {j} - {first}"
                else:
                    place = f"{j} * {symbol(self.lead)} + {self.lower + row}"
                writer.line(f"{name}[{place}] = {writer.element(ab, [*variables, str(row), j])}")

    def solve(self, writer: Writer, sides: View, variables: Sequence[str]) -> None:
        """Replace right-hand sides, column after column, by solutions."""
        given, name = [f"shifted({self.cells}, {k})" for k in range(6)], self.work.buffer.name
        writer.line(f"{self.cells}[{INFO}] = 0")
        b = at(writer, sides, variables)
        if self.is_tridiagonal:
            n = self.local.symbol(self.n)
            above, main, below = name, f"shifted({name}, {n})", f"shifted({name}, 2 * {n})"
            arguments = [given[SIZE], given[COLUMNS], below, main, above, b, given[SIZE], given[INFO]]
        else:
            sizes = [given[k] for k in (SIZE, BELOW, ABOVE, COLUMNS)]
            pivots = self.pivots.buffer.name
            arguments = [*sizes, name, given[LEAD], pivots, b, given[SIZE], given[INFO]]
        writer.line(f"call_pointers({self.address}, {', '.join(arguments)})")


@lowers(SolveBanded)
def lower_banded(scheduler: Scheduler, equation: Equation) -> None:
    """A call of LAPACK for each matrix of a stack."""
    (ab, b), (out,) = equation.inputs, equation.outputs
    banded = Banded(scheduler, equation)
    source = scheduler.stored(ab)
    sides = changeable(scheduler, b, scheduler.local.named(out), equation.source, columns_first=True)
    flag = scheduler.local.failure_flag()
    first = sides.view._replace(shape=sides.view.shape[:-2], strides=sides.view.strides[:-2])

    def emit(writer: Writer) -> None:
        stack = Stack(writer, out.aval.shape[:-2], flag, equation.source)
        banded.prepare(writer)
        with when_finite(writer, source, flag), when_finite(writer, sides.view, flag), stack as variables:
            banded.copy(writer, source, variables)
            banded.solve(writer, first, variables)
            writer.line(f"{stack.wrong} = {stack.wrong} | ({banded.cells}[{INFO}] != 0)")

    writes = [sides.view, View.whole(flag, ())]
    flops = 4.0 * banded.lead * out.aval.size
    scratch = [banded.work, banded.pivots]
    position = scheduler.special(
        "solve_banded", emit, [source, sides.view], writes, scratch=scratch, flops=flops
    )
    scheduler.define_view(out, sides.view, position)
