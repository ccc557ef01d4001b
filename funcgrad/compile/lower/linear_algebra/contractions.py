"""Lowering of contractions to matrix products of BLAS. Small ones have been rewritten as loops before."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.linear_algebra.triangles import NONE, flipped, triangles_of
from funcgrad.compile.passes.arranging.dividing import CHUNKS, FEWEST_TURNS
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.compile.runtime.addresses.blas import routine
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation
from funcgrad.ops.arrays.structure import Permute
from funcgrad.ops.contraction import DotGeneral, StrongZeroDot
from funcgrad.ops.reducing.labelled import contraction_labels

SHORTEST_FLOPS = 4e6
"""Operations from which the rows or columns of a product are shared between threads."""

PARTS = 4
"""Into how many parts they are divided: each packs the other matrix for itself, so few; two for short ones.

256×64 by 64×256, transposed, on one thread: 92 µs whole, 102 in two parts, 119 in four.
"""

FEW_RESULTS = 8
"""How many elements of the operands there are for each of the result, at least, where terms are shared.

Of `x.T @ d`, with a long batch, who has the first half of the rows of both reads what it has made itself, and
packs nothing that another packs too. What there is to pay are as many results as parts, which are added up.
"""

ROW_MAJOR, NO_TRANS, TRANS = 101, 111, 112
LETTERS = {np.dtype(np.float64): "d", np.dtype(np.float32): "s"}


class Matrix(NamedTuple):
    """A stack of matrices in memory: the axes of each are merged into one of rows and one of columns."""

    view: View
    """Its shape is that of the batch."""
    rows: int
    columns: int
    row_stride: int
    column_stride: int

    @property
    def order(self) -> int:
        """How BLAS is to read it."""
        return NO_TRANS if self.column_stride == 1 or self.columns == 1 else TRANS

    @property
    def leading(self) -> int:
        """The distance between rows, or between columns of what is transposed."""
        if self.order == NO_TRANS:
            return max(self.row_stride, self.columns, 1)
        return max(self.column_stride, self.rows, 1)


def merged(view: View, axes: Sequence[int]) -> tuple[int, int] | None:
    """The size and stride of several axes as one; None where they do not follow one another."""
    if len(axes) == 1:
        n = view.shape[axes[0]]
        return n, view.strides[axes[0]] if n != 1 else 1
    size, stride, first = 1, 0, True
    for axis in reversed(axes):
        n = view.shape[axis]
        if n == 1:
            continue
        if first:
            size, stride, first = n, view.strides[axis], False
        elif view.strides[axis] == size * stride:
            size *= n
        else:
            return None
    return size, stride if not first else 1


def matrix_of(view: View, batch: Sequence[int], rows: Sequence[int], columns: Sequence[int]) -> Matrix | None:
    """A view as a stack of matrices that BLAS can read; None where it must be copied."""
    row, column = merged(view, rows), merged(view, columns)
    if row is None or column is None:
        return None
    base = View(
        view.buffer,
        tuple([view.shape[a] for a in batch]),
        tuple([view.strides[a] for a in batch]),
        view.offset,
        view.base,
    )
    made = Matrix(base, row[0], column[0], row[1], column[1])
    by_rows = (column[1] == 1 or column[0] == 1) and (row[0] == 1 or row[1] >= column[0])
    by_columns = (row[1] == 1 or row[0] == 1) and (column[0] == 1 or column[1] >= row[0])
    return made if by_rows or by_columns else None


def readable(
    scheduler: Scheduler, atom: Atom, batch: Sequence[int], rows: Sequence[int], columns: Sequence[int]
) -> Matrix:
    """An operand as a stack of matrices, copied if need be; each of one piece, where that is undecided."""
    view = scheduler.stored(atom, (*batch, *sorted((*rows, *columns))) if batch else ())
    found = matrix_of(view, batch, rows, columns)
    if found is None:
        # What lies side by side stays so: a copy that turns round what is long takes several times as long.
        is_turned = bool(rows) and bool(columns) and view.strides[rows[-1]] == 1 != view.shape[rows[-1]]
        first, last = (columns, rows) if is_turned else (rows, columns)
        order = (*batch, *first, *last)
        copied = scheduler.copied(view, Permute(order), atom)
        n, m = len(batch), len(batch) + len(first)
        copied_axes = [range(n, m), range(m, len(order))]
        if is_turned:
            copied_axes.reverse()
        found = matrix_of(copied, range(n), *copied_axes)
    assert found is not None, "a contiguous array is a matrix"
    return found


@lowers(DotGeneral, StrongZeroDot)
def lower_contraction(scheduler: Scheduler, equation: Equation) -> None:
    """A product of matrices for every member of the batch."""
    (out,) = equation.outputs
    dtype = out.aval.dtype
    letter = LETTERS.get(dtype)
    if letter is None:
        raise NotLowered(f"{equation.primitive.name} of {dtype} is no product that BLAS has")
    left, right, x_rows = operands_of(scheduler, equation)
    view = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    labels = equation.primitive.labels
    batch = view.shape[: len(labels.batch[0])]
    target = View(view.buffer, batch, view.strides[: len(batch)])
    routine_name = letter + ("gemv" if 1 in (left.rows, right.columns) else "gemm")
    address = address_of(scheduler, routine_name)
    strong = isinstance(equation.primitive, StrongZeroDot)
    flops = 2.0 * math.prod(batch) * left.rows * left.columns * right.columns
    # Of a batch, threads share the members: each product is what it is.
    by_members = len(batch) > 0 and batch[0] >= FEWEST_TURNS
    divided = flops >= SHORTEST_FLOPS and (by_members or (routine_name.endswith("gemm") and not batch))
    triangle = NONE
    if divided and not batch and len(labels.x) == 2 and left.rows == left.columns:
        triangle = triangles_of(scheduler, equation.inputs[0])
        triangle = triangle if x_rows == (0,) else flipped(triangle)
    # Zeros that are left out might have met an infinity.
    flag = scheduler.local.failure_flag() if strong or triangle else None
    product = Product(routine_name, address, left, right, target, dtype, triangle)
    part = scheduler.local.fresh("product") if divided else ""
    scratch: list[View] = []
    if divided and product.shares_terms:
        product, scratch = product.with_sums(scheduler)
    if divided or routine_name.endswith("gemm"):
        scheduler.local.serial_blas()

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        shared = divided and writer.is_outermost
        if shared:
            product.write_shared(writer, part, None if flag is None else flag.name)
        else:
            product.write_members(writer, ())
        if flag is not None and not (shared and product.sums is None):
            write_check(writer, view, flag.name)

    writes = [view] if flag is None else [view, View.whole(flag, ())]
    reads = [left.view, right.view]
    position = scheduler.special(
        routine_name, emit, reads, writes, scratch=scratch, flops=flops, shares=divided
    )
    scheduler.define_view(out, view, position)


def operands_of(scheduler: Scheduler, equation: Equation) -> tuple[Matrix, Matrix, tuple[int, ...]]:
    """Both operands as matrices, and the axes of the first that are its rows."""
    x, y = equation.inputs
    labels = equation.primitive.labels
    (x_summed, y_summed), (x_batch, y_batch) = labels.contracting, labels.batch
    x_rows, y_columns = free_axes(equation.primitive.subscripts)
    left = readable(scheduler, x, x_batch, x_rows, x_summed)
    return left, readable(scheduler, y, y_batch, y_summed, y_columns), x_rows


@lru_cache(maxsize=1024)
def free_axes(subscripts: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of each operand that the other does not have."""
    labels = contraction_labels(subscripts)
    free = [
        tuple([a for a in range(len(names)) if a not in summed and a not in batch])
        for names, summed, batch in zip(labels[:2], labels.contracting, labels.batch, strict=True)
    ]
    return free[0], free[1]


def address_of(scheduler: Scheduler, name: str) -> str:
    """The name of a constant: where a routine of NumPy's BLAS is."""
    found = routine(name)
    if found is None:
        raise NotLowered(f"there is no {name} in this NumPy's BLAS")
    return scheduler.local.constant(name, found.address)


def at(writer: Writer, view: View, variables: Sequence[str]) -> str:
    """The text of a pointer to a member of the batch."""
    index = writer.index(view, variables)
    return view.buffer.name if index == "0" else f"shifted({view.buffer.name}, {index})"


class Part(NamedTuple):
    """A function that threads run and that has no memory of its own: `Shared` of `arranging.dividing` has."""

    name: str
    rows: Mapping[Buffer, int] = MappingProxyType({})
    tiles: Mapping[Buffer, int] = MappingProxyType({})
    private: Mapping[Buffer, Buffer] = MappingProxyType({})
    cells: Mapping[str, Buffer] = MappingProxyType({})


class Product(NamedTuple):
    """One product of matrices for each member of a batch."""

    name: str
    address: str
    left: Matrix
    right: Matrix
    target: View
    dtype: np.dtype[np.generic]
    triangle: frozenset[str] = NONE
    """Which triangle the only left matrix is: the rest of it is left out."""
    sums: View | None = None
    """Where threads share terms, each part's result."""

    @property
    def shares_terms(self) -> bool:
        """Whether the terms are divided, not the rows or columns of the only product."""
        m, k, n = self.left.rows, self.left.columns, self.right.columns
        return not self.target.shape and not self.triangle and k * (m + n) >= FEW_RESULTS * m * n

    def with_sums(self, scheduler: Scheduler) -> tuple[Product, list[View]]:
        """This with memory for the parts' results."""
        shape = (self.parts, self.left.rows, self.right.columns)
        sums = scheduler.buffer_like(Aval(shape, self.dtype), "parts")
        return self._replace(sums=sums), [sums]

    @property
    def parts(self) -> int:
        """Into how many parts it is divided: more if they are unequal."""
        if self.target.shape:
            return CHUNKS
        if self.triangle:
            return 2 * PARTS
        flops = 2.0 * self.left.rows * self.left.columns * self.right.columns
        return PARTS if flops >= PARTS * SHORTEST_FLOPS else 2

    def write_members(self, writer: Writer, outer: Sequence[str]) -> None:
        """The products of all members of the batch, whose first axes `outer` goes through."""
        with ExitStack() as stack:
            inner = self.target.shape[len(outer) :]
            variables = [*outer, *[writer.local.fresh("q") for _ in inner]]
            for variable, n in zip(variables[len(outer) :], inner, strict=True):
                stack.enter_context(writer.loop(variable, n))
            self.write(writer, variables)

    def write(self, writer: Writer, variables: Sequence[str]) -> None:
        """The product for a member of the batch."""
        pointers = [at(writer, m, variables) for m in (self.left.view, self.right.view, self.target)]
        symbol = writer.local.symbol
        if self.name.endswith("gemm"):
            rows, columns = symbol(self.left.rows), symbol(self.right.columns)
            write_gemm(writer, self, pointers, rows, columns)
        else:
            write_gemv(writer, self.name, self.address, self.left, self.right, pointers, self.dtype)

    def write_shared(self, writer: Writer, part: str, flag: str | None) -> None:
        """The call of a function `part` by threads. Where it has whole results, it looks at them itself."""
        writer.line(f"parallel({part}, p, n, 0, {self.parts}, 1)")
        if self.sums is None:
            writer.functions.append((Part(part), self.part_lines(writer, flag)))
        else:
            writer.functions.append((Part(part), self.term_lines(Writer(writer.local), self.sums)))
            self.add_up(writer, self.sums)

    def part_lines(self, writer: Writer, flag: str | None) -> list[str]:
        """The body of a function that computes some members, or some rows or columns of the only one.

        It looks at what it has computed, where there is a flag to set.
        """
        inner, symbol = Writer(writer.local), writer.local.symbol
        if self.target.shape:
            size, member = symbol(self.target.shape[0]), inner.local.fresh("q")
            with inner.block("for chunk in range(begin, end):"):
                inner.line(f"first = chunk * {size} // {CHUNKS}")
                inner.line(f"last = (chunk + 1) * {size} // {CHUNKS}")
                with inner.block(f"for {member} in range(first, last):"):
                    self.write_members(inner, [member])
                if flag is not None:
                    write_check_of(inner, self.target.buffer, symbol(self.target.strides[0]), flag)
            return inner.lines
        by_rows = bool(self.triangle) or self.left.rows >= self.right.columns
        size = symbol(self.left.rows if by_rows else self.right.columns)
        with inner.block("for chunk in range(begin, end):"):
            # The parts with the most work come first.
            turn = f"{self.parts - 1} - chunk" if "lower" in self.triangle else "chunk"
            inner.line(f"turn = {turn}")
            inner.line(f"first = turn * {size} // {self.parts}")
            inner.line(f"last = (turn + 1) * {size} // {self.parts}")
            left, right, target = self.left.view, self.right.view, self.target
            terms = None
            if "upper" in self.triangle:
                terms = f"{'last' if 'lower' in self.triangle else size} - first"
                left = left._replace(base=(*left.base, ("first", self.left.column_stride)))
                right = right._replace(base=(*right.base, ("first", self.right.row_stride)))
            elif self.triangle:
                terms = "last"
            if by_rows:
                left = left._replace(base=(*left.base, ("first", self.left.row_stride)))
                target = target._replace(base=(*target.base, ("first", max(self.right.columns, 1))))
                sizes = "last - first", symbol(self.right.columns)
            else:
                right = right._replace(base=(*right.base, ("first", self.right.column_stride)))
                target = target._replace(base=(*target.base, ("first", 1)))
                sizes = symbol(self.left.rows), "last - first"
            pointers = [at(inner, view, ()) for view in (left, right, target)]
            write_gemm(inner, self, pointers, *sizes, terms)
            if flag is not None:
                self.write_part_check(inner, by_rows, flag)
        return inner.lines

    def term_lines(self, inner: Writer, sums: View) -> list[str]:
        """The body of a function that adds up some terms of the only product, apart from others."""
        symbol, terms = inner.local.symbol, inner.local.symbol(self.left.columns)
        with inner.block("for chunk in range(begin, end):"):
            inner.line(f"first = chunk * {terms} // {self.parts}")
            inner.line(f"last = (chunk + 1) * {terms} // {self.parts}")
            left, right = self.left.view, self.right.view
            left = left._replace(base=(*left.base, ("first", self.left.column_stride)))
            right = right._replace(base=(*right.base, ("first", self.right.row_stride)))
            target = View(sums.buffer, (), (), sums.offset, (*sums.base, ("chunk", sums.strides[0])))
            pointers = [at(inner, view, ()) for view in (left, right, target)]
            sizes = symbol(self.left.rows), symbol(self.right.columns)
            write_gemm(inner, self, pointers, *sizes, "last - first")
        return inner.lines

    def add_up(self, writer: Writer, sums: View) -> None:
        """The result: the parts' results, added in their order."""
        k, each = writer.local.fresh("q"), math.prod(sums.shape[1:])
        terms = [f"{sums.buffer.name}[{k} + {part * each}]" for part in range(self.parts)]
        with writer.block(f"for {k} in range({writer.local.symbol(each)}):"):
            writer.line(f"{self.target.buffer.name}[{k}] = {' + '.join(terms)}")

    def write_part_check(self, writer: Writer, by_rows: bool, flag: str) -> None:
        """Look at rows or columns of the only product, from ``first`` to ``last``."""
        columns = writer.local.symbol(max(self.right.columns, 1))
        if by_rows:
            write_check_of(writer, self.target.buffer, columns, flag)
            return
        row = writer.local.fresh("q")
        with writer.loop(row, self.left.rows):
            write_check_of(writer, self.target.buffer, "1", flag, f"{row} * {columns} + ")


def write_gemm(
    writer: Writer,
    product: Product,
    pointers: Sequence[str],
    rows: str,
    columns: str,
    terms: str | None = None,
) -> None:
    """One call for a product of two matrices, or for some of its rows or columns, or of the terms of each."""
    symbol, left, right = writer.local.symbol, product.left, product.right
    a, b, c = pointers
    one, zero = number(1, product.dtype), number(0, product.dtype)
    writer.line(
        f"{product.name}({product.address}, {ROW_MAJOR}, {left.order}, {right.order}, {rows}, {columns}, "
        f"{terms or symbol(left.columns)}, {one}, {a}, {symbol(left.leading)}, {b}, "
        f"{symbol(right.leading)}, {zero}, {c}, {symbol(max(right.columns, 1))})"
    )


def write_gemv(
    writer: Writer,
    name: str,
    address: str,
    left: Matrix,
    right: Matrix,
    pointers: Sequence[str],
    dtype: np.dtype[np.generic],
) -> None:
    """One product of a matrix and a vector."""
    symbol = writer.local.symbol
    a, b, c = pointers
    one, zero = number(1, dtype), number(0, dtype)
    if right.columns == 1:
        matrix, vector, rows, columns, transposed = left, a, left.rows, left.columns, left.order == TRANS
        step, operand = right.row_stride, b
    else:
        # A row times a matrix is the transposed matrix times a column.
        matrix, vector, rows, columns = right, b, right.columns, right.rows
        transposed = right.order == NO_TRANS
        step, operand = left.column_stride, a
    m, n = (columns, rows) if transposed else (rows, columns)
    order = TRANS if transposed else NO_TRANS
    writer.line(
        f"{name}({address}, {ROW_MAJOR}, {order}, {symbol(m)}, {symbol(n)}, "
        f"{one}, {vector}, {symbol(matrix.leading)}, {operand}, {symbol(max(step, 1))}, {zero}, {c}, 1)"
    )


def write_check(writer: Writer, view: View, flag: str) -> None:
    """Set the flag unless all elements are finite: then zeros may have met infinity."""
    write_check_between(writer, view.buffer, "0", writer.local.symbol(math.prod(view.shape)), flag)


def write_check_of(writer: Writer, buffer: Buffer, each: str, flag: str, start: str = "") -> None:
    """Set the flag unless what ``first`` to ``last`` have computed, so many elements each, is finite."""
    write_check_between(writer, buffer, f"{start}first * {each}", f"{start}last * {each}", flag)


def write_check_between(writer: Writer, buffer: Buffer, begin: str, end: str, flag: str) -> None:
    """Set the flag unless the elements from the one to the other are finite."""
    wrong, k = writer.local.fresh("wrong"), writer.local.fresh("q")
    writer.line(f"{wrong} = False")
    with writer.block(f"for {k} in range({begin}, {end}):"):
        writer.line(f"{wrong} = {wrong} | (not (fabs({buffer.name}[{k}]) < INF))")
    with writer.block(f"if {wrong}:"):
        writer.line(f"{flag}[0] = 1")


def number(value: int, dtype: np.dtype[np.generic]) -> str:
    """A factor as BLAS wants it."""
    return f"{float(value)}" if dtype == np.float64 else f"f32({float(value)})"
