"""Lowering of gradients through large Cholesky factors: the blocked factor, from its last block to its first.

In the place of the cotangent, which nothing else reads. Each block of columns is divided by the square on the
diagonal, that square is differentiated, and what the columns before it took part in is taken back; threads
share the first and the last. What they do is divided in the same way however many there are.

I. Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527, 2016, section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.linear_algebra.contractions import NO_TRANS, PARTS, ROW_MAJOR, TRANS, Part, number
from funcgrad.compile.lower.linear_algebra.factorizations import (
    LEFT,
    LOWER,
    NON_UNIT,
    RIGHT,
    Square,
    changeable,
    known,
    letter_of,
    write_zeros,
)
from funcgrad.compile.passes.scheduling.lowerings import lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.compile.runtime.addresses.blas import routine
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation
from funcgrad.ops.linalg.cholesky import CholeskyCotangent

BLOCK = 64
"""Columns that are differentiated at a time: the square of each is one thread's."""


@lowers(CholeskyCotangent)
def lower_cholesky_cotangent(scheduler: Scheduler, equation: Equation) -> None:
    """The gradient by a triangle of the matrix; for small factors and stacks it has been composed before."""
    factor, cotangent = equation.inputs
    (out,) = equation.outputs
    letter, n = letter_of(equation), out.aval.shape[-1]
    made = Backwards(scheduler, letter, scheduler.contiguous(factor), n)
    scheduler.local.serial_blas()
    made.square = changeable(
        scheduler, cotangent, scheduler.local.named(out), equation.source, columns_first=False
    )

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        made.write(writer)
        write_zeros(writer, made.square, ())

    view = made.square.view
    scratch = [made.start, made.middle]
    position = scheduler.special(
        equation.primitive.name,
        emit,
        [made.factor, view],
        [view],
        scratch=scratch,
        flops=out.aval.size * n * 2.0 / 3.0,
    )
    scheduler.define_view(out, view, position).triangles = frozenset({"lower"})


class Backwards:
    """The statements for one matrix."""

    square: Square
    """The cotangent, which becomes the gradient."""
    first: str
    """Where the factor's first element lies."""

    def __init__(self, scheduler: Scheduler, letter: str, factor: View, n: int) -> None:
        self.letter, self.factor, self.local = letter, factor, scheduler.local
        self.dtype: np.dtype[np.generic] = factor.buffer.dtype
        self.n = self.local.symbol(n)
        self.addresses = {
            stem: self.local.constant(letter + stem, known(routine(letter + stem), stem).address)
            for stem in ("trsm", "gemm")
        }
        self.start = scheduler.buffer_like(Aval((1,), np.dtype(np.int64)), "start")
        """Where the present columns begin."""
        self.middle = scheduler.buffer_like(Aval((BLOCK, BLOCK), self.dtype), "middle")
        """The gradient by the square on the diagonal, with its mirror image."""
        self.below, self.before = self.local.fresh("below"), self.local.fresh("before")

    # -- calls -----------------------------------------------------------------------------------------------

    def of_factor(self, row: str, column: str) -> str:
        """The pointer to an element of the factor."""
        return f"shifted({self.factor.buffer.name}, {self.first} + {self.index(row, column)})"

    def index(self, row: str, column: str) -> str:
        """Where an element lies from the first one on."""
        return f"({row}) * {self.n} + {column}"

    def place(self, row: str, column: str) -> str:
        """The pointer to an element of the gradient."""
        return f"shifted({self.square.view.buffer.name}, {self.index(row, column)})"

    def multiply(self, writer: Writer, turned: bool, sizes: str, a: str, b: str, c: str, new: bool) -> None:
        """Take the product of two matrices, the first transposed if `turned`, from a third, or make it `new`.

        Operands are pointers with the lengths of their rows; `sizes` are rows, columns and terms.
        """
        factors = (1, 0) if new else (-1, 1)
        one, zero = [number(k, self.dtype) for k in factors]
        writer.line(
            f"{self.letter}gemm({self.addresses['gemm']}, {ROW_MAJOR}, {TRANS if turned else NO_TRANS}, "
            f"{NO_TRANS}, {sizes}, {one}, {a}, {b}, {zero}, {c})"
        )

    def divide(self, writer: Writer, side: int, order: int, sizes: str, target: str) -> None:
        """Divide a matrix by the present square of the factor, on its left or right."""
        one = number(1, self.dtype)
        writer.line(
            f"{self.letter}trsm({self.addresses['trsm']}, {ROW_MAJOR}, {side}, {LOWER}, {order}, "
            f"{NON_UNIT}, {sizes}, {one}, {self.of_factor('begun', 'begun')}, {self.n}, {target})"
        )

    # -- statements ------------------------------------------------------------------------------------------

    def write(self, writer: Writer) -> None:
        """All blocks, the last one first."""
        self.first = writer.index(self.factor._replace(shape=(), strides=()), ())
        start, turn = self.start.buffer.name, self.local.fresh("turn")
        blocks = f"(({self.n} + {BLOCK - 1}) // {BLOCK})"
        with writer.block(f"for {turn} in range({blocks}):"):
            writer.line(f"begun = ({blocks} - 1 - {turn}) * {BLOCK}")
            writer.line(f"{start}[0] = begun")
            writer.line(f"width = min({BLOCK}, {self.n} - begun)")
            writer.line("after = begun + width")
            with writer.block(f"if after < {self.n}:"):
                self.write_parts(writer, self.below, self.write_below)
                self.multiply(
                    writer,
                    True,
                    f"width, width, {self.n} - after",
                    f"{self.place('after', 'begun')}, {self.n}",
                    f"{self.of_factor('after', 'begun')}, {self.n}",
                    f"{self.place('begun', 'begun')}, {self.n}",
                    new=False,
                )
            self.write_square(writer)
            with writer.block("if begun > 0:"):
                self.write_parts(writer, self.before, self.write_before)

    def write_parts(self, writer: Writer, name: str, body: Callable[[Writer], None]) -> None:
        """What threads share, or one after the other in a loop that is not outermost."""
        if not writer.is_outermost:
            with writer.block(f"for chunk in range({PARTS}):"):
                body(writer)
            return
        inner = Writer(self.local)
        with inner.block("for chunk in range(begin, end):"):
            body(inner)
        writer.line(f"parallel({name}, p, n, 0, {PARTS}, 1)")
        writer.functions.append((Part(name), inner.lines))

    @contextmanager
    def span(self, writer: Writer, low: str, high: str) -> Iterator[None]:
        """A part of the rows or columns from `low` to `high`, if there are any in it."""
        writer.line(f"begun = {self.start.buffer.name}[0]")
        writer.line(f"width = min({BLOCK}, {self.n} - begun)")
        writer.line("after = begun + width")
        writer.line(f"first = {low} + chunk * ({high} - {low}) // {PARTS}")
        writer.line(f"last = {low} + (chunk + 1) * ({high} - {low}) // {PARTS}")
        with writer.block("if first < last:"):
            yield

    def write_below(self, writer: Writer) -> None:
        """Rows below the square, divided by it."""
        with self.span(writer, "after", self.n):
            target = f"{self.place('first', 'begun')}, {self.n}"
            self.divide(writer, RIGHT, NO_TRANS, "last - first, width", target)

    def write_before(self, writer: Writer) -> None:
        """Columns before the square: what they were multiplied with below it, and in its rows."""
        columns, n = "last - first", self.n
        with self.span(writer, "0", "begun"):
            rows = f"{self.place('begun', 'first')}, {n}"
            right = f"{self.of_factor('begun', 'first')}, {n}"
            middle = f"{self.middle.buffer.name}, {BLOCK}"
            with writer.block(f"if after < {n}:"):
                lower, target = f"{self.place('after', 'begun')}, {n}", f"{self.place('after', 'first')}, {n}"
                sizes = f"{n} - after, {columns}, width"
                self.multiply(writer, False, sizes, lower, right, target, new=False)
                below = f"{self.of_factor('after', 'first')}, {n}"
                self.multiply(writer, True, f"width, {columns}, {n} - after", lower, below, rows, new=False)
            self.multiply(writer, False, f"width, {columns}, width", middle, right, rows, new=False)

    def write_square(self, writer: Writer) -> None:
        """The square on the diagonal: as of a small factor, by one product and two solutions."""
        i, j = self.local.fresh("r"), self.local.fresh("r")
        name, middle = self.square.view.buffer.name, self.middle.buffer.name
        target = f"{middle}, {BLOCK}"
        with writer.block(f"for {i} in range(width):"), writer.block(f"for {j} in range({i} + 1, width):"):
            element = self.index(f"begun + {i}", f"begun + {j}")
            writer.line(f"{name}[{element}] = {cast_name(self.dtype)}(0)")
        square = f"{self.place('begun', 'begun')}, {self.n}"
        factor = f"{self.of_factor('begun', 'begun')}, {self.n}"
        self.multiply(writer, True, "width, width, width", factor, square, target, new=True)
        with writer.block(f"for {i} in range(width):"), writer.block(f"for {j} in range({i}):"):
            writer.line(f"{middle}[{j} * {BLOCK} + {i}] = {middle}[{i} * {BLOCK} + {j}]")
        self.divide(writer, LEFT, TRANS, "width, width", target)
        self.divide(writer, RIGHT, NO_TRANS, "width, width", target)
        with writer.block(f"for {i} in range(width):"):
            with writer.block(f"for {j} in range({i}):"):
                element = self.index(f"begun + {i}", f"begun + {j}")
                writer.line(f"{name}[{element}] = {middle}[{i} * {BLOCK} + {j}]")
            element = self.index(f"begun + {i}", f"begun + {i}")
            half = f"{cast_name(self.dtype)}(0.5)"
            writer.line(f"{name}[{element}] = {half} * {middle}[{i} * {BLOCK} + {i}]")
