"""Lowering of Cholesky's factor, and what lowerings of linear algebra share.

Small matrices are loops, so that a loop of the user's around them stays one loop; larger ones are calls of
BLAS and LAPACK, in place on the memory of the operand where nothing else reads it, else on a copy. A matrix
that is not positive definite, or is singular, is noted in a flag where NumPy raises, and the program is then
run by NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.linear_algebra.contractions import (
    LETTERS,
    NO_TRANS,
    PARTS,
    ROW_MAJOR,
    TRANS,
    Part,
    at,
    number,
)
from funcgrad.compile.lower.linear_algebra.small_matrices import swapped
from funcgrad.compile.lower.linear_algebra.triangles import is_flip
from funcgrad.compile.lower.slice_updates import store_part
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.compile.runtime.addresses.blas import Routine, lapack_routine, routine
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Var
from funcgrad.source import Source

SMALL = 16
"""Up to this size loops of our own are faster than what a call of LAPACK costs before it starts."""

LARGE = 256
"""From this size on work with one matrix is shared between threads."""

BLOCK = 128
"""Columns that are factored at a time."""

LEFT, RIGHT, UPPER, LOWER, NON_UNIT, UNIT = 141, 142, 121, 122, 131, 132


class Square(NamedTuple):
    """A stack of matrices in memory that may be changed, one after another."""

    view: View
    columns_first: bool
    """Whether each is stored column after column."""

    @property
    def batch(self) -> View:
        """The first element of each matrix."""
        return self.view._replace(shape=self.view.shape[:-2], strides=self.view.strides[:-2])


EVERY_LETTER: dict[Any, str] = {**LETTERS, np.dtype(np.complex128): "z", np.dtype(np.complex64): "c"}


def letter_of(equation: Equation, letters: Mapping[Any, str] = LETTERS) -> str:
    """The letter of the routines for the matrices; raises NotLowered where kernels have none."""
    aval = equation.outputs[0].aval
    letter = letters.get(aval.dtype)
    if letter is None:
        raise NotLowered(f"{equation.primitive.name} of {aval.dtype} is left to LAPACK")
    return letter


def known(found: Routine | None, name: str) -> Routine:
    """A routine that this process has; raises NotLowered where it has not."""
    if found is None:
        raise NotLowered(f"there is no {name} in this NumPy's BLAS")
    return found


# -- memory --------------------------------------------------------------------------------------------------


def changeable(
    scheduler: Scheduler, x: Atom, hint: str, source: object, *, columns_first: bool | None = None
) -> Square:
    """The matrices in memory of their own, which is that of `x` where nothing else reads it.

    `columns_first` says how they must lie, if that is not all the same.
    """
    base, flipped, single = x, False, True
    while isinstance(base, Var):
        single = single and scheduler.uses.get(base, 0) == 1
        node = scheduler.nodes[base]
        if node.source is None or not is_flip(node.move, x.aval.ndim):
            break
        base, flipped = node.source, not flipped
    stored = None
    if isinstance(base, Var):
        node = scheduler.nodes[base]
        stored = node.view
        if single and node.source is None and not (node.nest is None and node.view is None):
            view = scheduler.stored_node(node)
            free = view.buffer.role == "scratch" and view.buffer not in scheduler.held
            if free and view.is_whole and columns_first in (None, flipped):
                return Square(swapped(view) if flipped else view, flipped)
            if free and swapped(view).is_whole and columns_first in (None, not flipped):
                return Square(swapped(view) if flipped else view, not flipped)
    if stored is not None and stored.strides[-2] == 1 != stored.strides[-1]:
        flipped = not flipped
    if columns_first is not None:
        flipped = columns_first
    *lead, rows, columns = x.aval.shape
    shape = (*lead, columns, rows) if flipped else x.aval.shape
    view = scheduler.buffer_like(Aval(shape, x.aval.dtype), hint)
    view = swapped(view) if flipped else view
    store_part(scheduler, view, x, -1, source)
    return Square(view, flipped)


class Stack:
    """The loops over the matrices of a stack, and a note of what went wrong with one."""

    def __init__(self, writer: Writer, shape: Sequence[int], flag: Buffer, source: Source | None) -> None:
        self.writer, self.shape, self.flag = writer, shape, flag
        self.wrong = writer.local.fresh("wrong")
        self.opened = ExitStack()
        writer.comment(source)
        writer.line(f"{self.wrong} = False")

    def __enter__(self) -> list[str]:
        variables = [self.writer.local.fresh("q") for _ in self.shape]
        for variable, size in zip(variables, self.shape, strict=True):
            self.opened.enter_context(self.writer.loop(variable, size))
        return variables

    def __exit__(self, *error: object) -> None:
        self.opened.close()
        with self.writer.block(f"if {self.wrong}:"):
            self.writer.line(f"{self.flag.name}[0] = 1")


@contextmanager
def threads_of_blas(writer: Writer, n: int) -> Iterator[None]:
    """Let BLAS have its threads for calls with large matrices: nobody else works meanwhile."""
    if n < LARGE or not writer.local.blas_threads:
        yield
        return
    _, put = writer.local.blas_threads
    with writer.block("if blas_threads > 1:"):
        writer.line(f"int_set({put}, blas_threads)")
    yield
    with writer.block("if blas_threads > 1:"):
        writer.line(f"int_set({put}, i32(1))")


# -- Cholesky's factor ---------------------------------------------------------------------------------------


def lower_cholesky(scheduler: Scheduler, equation: Equation) -> None:
    """The lower factor, with zeros above it."""
    letter = letter_of(equation)
    (x,), (out,) = equation.inputs, equation.outputs
    local, n = scheduler.local, out.aval.shape[-1]
    name = f"{letter}potrf"
    address = ""
    if n > SMALL:
        address = local.constant(name, known(lapack_routine(name), name).address)
        local.serial_blas()
    flag = local.failure_flag()
    batch = out.aval.shape[:-2]
    divided = n >= LARGE and not batch
    square = changeable(
        scheduler, x, local.named(out), equation.source, columns_first=False if divided else None
    )
    flops = out.aval.size * n / 3.0
    blocked = Blocked(scheduler, letter, square.view) if divided else None

    def emit(writer: Writer) -> None:
        stack = Stack(writer, batch, flag, equation.source)
        if blocked is not None and writer.is_outermost:
            with stack:
                blocked.write(writer, address, stack.wrong)
                write_zeros(writer, square, ())
            return
        cells = writer.local.fresh("arguments") if address else ""
        if cells:
            writer.line(f"{cells} = stack_i64(3)")
        with stack as variables:
            if cells:
                write_potrf(writer, name, address, square, variables, cells, stack.wrong)
            else:
                write_factor(writer, square.view, variables, stack.wrong)
            write_zeros(writer, square, variables)

    writes = [square.view, View.whole(flag, ())]
    scratch = [blocked.start] if blocked is not None else []
    position = scheduler.special("cholesky", emit, [square.view], writes, scratch=scratch, flops=flops)
    scheduler.define_view(out, square.view, position).triangles = frozenset({"lower"})


def write_potrf(
    writer: Writer, name: str, address: str, square: Square, variables: Sequence[str], cells: str, wrong: str
) -> None:
    """One call of LAPACK, for which matrices lie column after column."""
    pointer = at(writer, square.batch, variables)
    triangle = ord("L" if square.columns_first else "U")
    writer.line(f"{cells}[0] = {triangle}")
    writer.line(f"{cells}[1] = {writer.local.symbol(square.view.shape[-1])}")
    writer.line(f"{cells}[2] = 0")
    size = f"shifted({cells}, 1)"
    with threads_of_blas(writer, square.view.shape[-1]):
        writer.line(f"{name}({address}, {cells}, {size}, {pointer}, {size}, shifted({cells}, 2))")
    writer.line(f"{wrong} = {wrong} | ({cells}[2] != 0)")


class Blocked:
    """The factor of a large matrix, some columns after the other, each time shared between threads."""

    def __init__(self, scheduler: Scheduler, letter: str, view: View) -> None:
        self.letter, self.view, self.local = letter, view, scheduler.local
        self.addresses = {
            stem: self.local.constant(letter + stem, known(routine(letter + stem), stem).address)
            for stem in ("trsm", "gemm")
        }
        self.start = scheduler.buffer_like(Aval((1,), np.dtype(np.int64)), "start")
        """Where the present columns begin."""
        self.below, self.rest = self.local.fresh("below"), self.local.fresh("rest")

    def write(self, writer: Writer, address: str, wrong: str) -> None:
        """LAPACK for the square on the diagonal, then what is below it, then what is right of that."""
        n, name = self.local.symbol(self.view.shape[-1]), self.view.buffer.name
        cells, k, start = self.local.fresh("arguments"), self.local.fresh("k"), self.start.buffer.name
        writer.line(f"{cells} = stack_i64(4)")
        writer.line(f"{cells}[0] = {ord('U')}")
        writer.line(f"{cells}[1] = {n}")
        with writer.block(f"for {k} in range(0, {n}, {BLOCK}):"):
            writer.line(f"{start}[0] = {k}")
            writer.line(f"{cells}[2] = min({BLOCK}, {n} - {k})")
            writer.line(f"{cells}[3] = 0")
            pointers = ", ".join([f"shifted({cells}, {place})" for place in (1, 3)])
            square = f"shifted({name}, {k} * {n} + {k})"
            writer.line(f"{self.letter}potrf({address}, {cells}, shifted({cells}, 2), {square}, {pointers})")
            writer.line(f"{wrong} = {wrong} | ({cells}[3] != 0)")
            with writer.block(f"if {k} + {BLOCK} < {n}:"):
                for function, body in ((self.below, self.below_lines), (self.rest, self.rest_lines)):
                    writer.line(f"parallel({function}, p, n, 0, {2 * PARTS}, 1)")
                    writer.functions.append((Part(function), body()))

    @contextmanager
    def rows(self, writer: Writer) -> Iterator[None]:
        """The loop over parts of the rows below the square, those with the most work first."""
        n = self.local.symbol(self.view.shape[-1])
        with writer.block("for chunk in range(begin, end):"):
            writer.line(f"begun = {self.start.buffer.name}[0]")
            writer.line(f"after = begun + {BLOCK}")
            writer.line(f"turn = {2 * PARTS - 1} - chunk")
            writer.line(f"first = after + turn * ({n} - after) // {2 * PARTS}")
            writer.line(f"last = after + (turn + 1) * ({n} - after) // {2 * PARTS}")
            yield

    def place(self, row: str, column: str) -> str:
        """The pointer to an element."""
        return (
            f"shifted({self.view.buffer.name}, {row} * {self.local.symbol(self.view.shape[-1])} + {column})"
        )

    def below_lines(self) -> list[str]:
        """The function that divides what is below the square by its factor."""
        writer = Writer(self.local)
        n, dtype = self.local.symbol(self.view.shape[-1]), self.view.buffer.dtype
        with self.rows(writer):
            writer.line(
                f"{self.letter}trsm({self.addresses['trsm']}, {ROW_MAJOR}, {RIGHT}, {LOWER}, {TRANS}, "
                f"{NON_UNIT}, last - first, {BLOCK}, {number(1, dtype)}, "
                f"{self.place('begun', 'begun')}, {n}, {self.place('first', 'begun')}, {n})"
            )
        return writer.lines

    def rest_lines(self) -> list[str]:
        """The function that takes the products of what is below the square from the lower triangle."""
        writer = Writer(self.local)
        n, dtype = self.local.symbol(self.view.shape[-1]), self.view.buffer.dtype
        with self.rows(writer):
            writer.line(
                f"{self.letter}gemm({self.addresses['gemm']}, {ROW_MAJOR}, {NO_TRANS}, {TRANS}, "
                f"last - first, last - after, {BLOCK}, {number(-1, dtype)}, "
                f"{self.place('first', 'begun')}, {n}, {self.place('after', 'begun')}, {n}, "
                f"{number(1, dtype)}, {self.place('first', 'after')}, {n})"
            )
        return writer.lines


def write_factor(writer: Writer, view: View, variables: Sequence[str], wrong: str) -> None:
    """The factor of a small matrix, row by row, in its place."""
    fresh, n = writer.local.fresh, view.shape[-1]
    i, j, k, total = fresh("r"), fresh("r"), fresh("r"), fresh("total")

    def element(row: str, column: str) -> str:
        return writer.element(view, [*variables, row, column])

    with writer.loop(i, n):
        with writer.block(f"for {j} in range({i}):"):
            writer.line(f"{total} = {element(i, j)}")
            with writer.block(f"for {k} in range({j}):"):
                writer.line(f"{total} = {total} - {element(i, k)} * {element(j, k)}")
            writer.line(f"{element(i, j)} = {total} / {element(j, j)}")
        writer.line(f"{total} = {element(i, i)}")
        with writer.block(f"for {k} in range({i}):"):
            writer.line(f"{total} = {total} - {element(i, k)} * {element(i, k)}")
        writer.line(f"{wrong} = {wrong} | (not ({total} > {cast_name(view.buffer.dtype)}(0)))")
        writer.line(f"{element(i, i)} = sqrt({total})")


def write_zeros(writer: Writer, square: Square, variables: Sequence[str]) -> None:
    """Zeros above the diagonal."""
    view, n = square.view, square.view.shape[-1]
    i, j = writer.local.fresh("r"), writer.local.fresh("r")
    size, zero = writer.local.symbol(n), f"{cast_name(view.buffer.dtype)}(0)"
    with writer.loop(i, n):
        span = i if square.columns_first else f"{i} + 1, {size}"
        with writer.block(f"for {j} in range({span}):"):
            places = (j, i) if square.columns_first else (i, j)
            writer.line(f"{writer.element(view, [*variables, *places])} = {zero}")
