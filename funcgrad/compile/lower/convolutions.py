"""Lowering of convolutions: windows gathered by loops, one product of BLAS, as the evaluator does it.

See `funcgrad.ops.signal.convolution_plan` for what runs are, and for the letters. Positions and channels may
lie in memory in any order; what is copied here is in the order that the product wants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from funcgrad.compile.emit.loop_order import loops_of
from funcgrad.compile.emit.statements import NestWriter, Writer, write_fill
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
    Product,
    at,
    number,
    write_check,
)
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.nests import Let, Load, Nest, Store, squeezed, squeezed_view
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View, row_major
from funcgrad.compile.runtime.addresses.blas import routine
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation
from funcgrad.ops.signal.convolution import Convolution, StrongZeroConvolution
from funcgrad.ops.signal.convolution_plan import Plan, plan


@lowers(Convolution, StrongZeroConvolution)
def lower_convolution(scheduler: Scheduler, equation: Equation) -> None:
    """Zeros around the input, windows, the kernel as a matrix, their product."""
    x, w = equation.inputs
    (out,) = equation.outputs
    dtype = out.aval.dtype
    if dtype not in LETTERS or 0 in (*x.aval.shape, *w.aval.shape, *out.aval.shape):
        raise NotLowered(f"convolution of {x.aval} and {w.aval} has no native form")
    found = routine(f"{LETTERS[dtype]}gemm")
    if found is None:
        raise NotLowered("there is no product of matrices in this NumPy's BLAS")
    geometry = equation.primitive.geometry
    n, c, o = x.aval.shape[1], x.aval.shape[2], w.aval.shape[1]
    p = plan(geometry, x.aval.shape[3:], w.aval.shape[3:], (n, c, o))
    windows = windows_of(p, padded(scheduler, p, x, equation))
    kernel = kernel_matrix(scheduler, p, w, equation)
    multiply = multiplied_by_example if is_long(windows, kernel) else multiplied
    product = multiply(scheduler, p, windows, kernel, equation, found.address)
    view = summed_runs(scheduler, p, product, out.aval, equation) if p.backward else in_order(p, product)
    ready = len(scheduler.steps) - 1
    scheduler.define_view(out, view, ready)


# -- steps ----------------------------------------------------------------------------------------------


def copied_into(
    scheduler: Scheduler, target: View, source: View, equation: Equation, fill: View | None = None
) -> None:
    """A nest of its own at the end that copies one view to another, after filling memory with zeros."""
    nest = scheduler.new_nest(squeezed(source.shape))
    scheduler.close(nest)
    if fill is not None:
        nest.fills.append((squeezed_view(fill), f"{cast_name(fill.buffer.dtype)}(0)"))
    nest.body.append(Store(squeezed_view(target), Load(squeezed_view(source)), equation.source))


def padded(scheduler: Scheduler, p: Plan, x: Atom, equation: Equation) -> View:
    """The input as ``[g, a, ..., b]`` with its zeros, contiguous along ``b``."""
    view = scheduler.stored(x)
    first, last = (2, 1) if p.backward else (1, 2)
    order = (0, first, *range(3, len(view.shape)), last)
    view = transposed(view, order)
    sizes = view.shape[2:-1]
    geometry = p.geometry
    whole = all(low <= 0 and high <= 0 for low, high in geometry.padding) and all(
        e == 1 or n == 1 for n, e in zip(sizes, geometry.input_dilation, strict=True)
    )
    if whole and view.strides[-1] == 1:
        for axis, (low, high) in enumerate(geometry.padding, 2):
            view = part_of(view, axis, -low, view.shape[axis] + low + high, 1)
        return view
    total = geometry.total(sizes)
    shape = (*view.shape[:2], *total, view.shape[-1])
    memory = scheduler.buffer_like(Aval(shape, view.buffer.dtype))
    source, target = view, memory
    for axis, (n, t, (low, _), e) in enumerate(
        zip(sizes, total, geometry.padding, geometry.input_dilation, strict=True), 2
    ):
        start = -(-max(0, -low) // e)
        stop = max(start, min(n, (t - 1 - low) // e + 1))
        if stop == start:
            raise NotLowered("a convolution of zeros alone has no native form")
        source = part_of(source, axis, start, stop - start, 1)
        target = part_of(target, axis, low + start * e, stop - start, e)
    copied_into(scheduler, target, source, equation, memory)
    return memory


def windows_of(p: Plan, x: View) -> View:
    """The windows of ``x[g, a, ..., b]``, which overlap in memory: ``[g, a, outer..., inner..., b]``."""
    outer_steps, inner_steps = p.geometry.strides, p.geometry.kernel_dilation
    outer, inner = list(p.positions), list(p.kernel)
    if p.backward:
        outer, inner, outer_steps, inner_steps = inner, outer, inner_steps, outer_steps
    spatial = x.strides[2:-1]
    outer_strides = [s * k for s, k in zip(spatial, outer_steps, strict=True)]
    inner_strides = [s * k for s, k in zip(spatial, inner_steps, strict=True)]
    if p.run > 1:
        outer[-1] //= p.run
        outer_strides[-1] *= p.run
        inner[-1] += p.run - 1
    return x._replace(
        shape=(*x.shape[:2], *outer, *inner, x.shape[-1]),
        strides=(*x.strides[:2], *outer_strides, *inner_strides, x.strides[-1]),
    )


def sizes_of(windows: View) -> tuple[int, int]:
    """The rows and columns of the matrix of one example's windows."""
    ndim = (len(windows.shape) - 3) // 2
    return math.prod(windows.shape[2 : 2 + ndim]), math.prod(windows.shape[2 + ndim :])


def is_long(windows: View, kernel: View) -> bool:
    """Whether threads should share the examples."""
    flops = 2.0 * math.prod(windows.shape) * kernel.shape[2]
    return windows.shape[0] == 1 and windows.shape[1] >= PARTS and flops >= SHORTEST_FLOPS


def kernel_matrix(scheduler: Scheduler, p: Plan, w: Atom, equation: Equation) -> View:
    """The kernel as matrices ``[g, rows, columns]``: banded for runs, or with runs as columns."""
    view = scheduler.stored(w)
    view = transposed(
        view, (0, 2, *range(3, len(view.shape)), 1) if p.backward else (0, *range(3, len(view.shape)), 2, 1)
    )
    g, o, m = view.shape[0], view.shape[-1], p.run
    size = math.prod(view.shape)
    columns = m * o
    if p.backward or m == 1:
        if view.contiguous:
            matrices = (g, size // (g * columns), columns)
            return view._replace(shape=matrices, strides=row_major(matrices))
        memory = scheduler.buffer_like(Aval(view.shape, view.buffer.dtype))
        copied_into(scheduler, memory, view, equation)
        return View.whole(memory.buffer, (g, size // (g * columns), columns))
    *lead, k, c, _ = view.shape
    shape = (*lead, k + m - 1, c, m, o)
    memory = scheduler.buffer_like(Aval(shape, view.buffer.dtype))
    # For every element of a run the kernel stands one row further down.
    diagonal = (*memory.strides[: len(lead)], *memory.strides[-4:-2], memory.strides[-1])
    step = memory.strides[-4] + memory.strides[-2]
    target = View(memory.buffer, (*view.shape, m), (*diagonal, step))
    source = view._replace(shape=(*view.shape, m), strides=(*view.strides, 0))
    copied_into(scheduler, target, source, equation, memory)
    return View.whole(memory.buffer, (g, math.prod(shape) // (g * m * o), m * o))


def multiplied(
    scheduler: Scheduler, p: Plan, windows: View, kernel: View, equation: Equation, address: int
) -> View:
    """The product for each group: windows times kernel, or the transposed windows times kernel."""
    dtype = kernel.buffer.dtype
    rows, columns = sizes_of(windows)
    g, rows = windows.shape[0], windows.shape[1] * rows
    memory = scheduler.buffer_like(Aval(windows.shape, dtype))
    copied_into(scheduler, memory, windows, equation)
    windows = View.whole(memory.buffer, (g, rows, columns))
    batch = (g,) if g > 1 else ()

    def stack(view: View, height: int, width: int, row: int, column: int) -> Matrix:
        return Matrix(
            view._replace(shape=batch, strides=view.strides[:1] if batch else ()), height, width, row, column
        )

    left = stack(windows, rows, columns, columns, 1)
    if p.backward:
        left = stack(windows, columns, rows, 1, columns)
    right = stack(kernel, kernel.shape[1], kernel.shape[2], kernel.shape[2], 1)
    out = scheduler.buffer_like(Aval((g, left.rows, right.columns), dtype))
    target = out._replace(shape=batch, strides=out.strides[:1] if batch else ())
    name = f"{LETTERS[dtype]}gemm"
    product = Product(name, scheduler.local.constant(name, address), left, right, target, dtype)
    flops = 2.0 * math.prod(batch) * left.rows * left.columns * right.columns
    strong = isinstance(equation.primitive, StrongZeroConvolution)
    flag = scheduler.local.failure_flag() if strong or p.run > 1 else None
    scheduler.local.serial_blas()

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        if batch:
            variable = writer.local.fresh("q")
            with writer.loop(variable, g):
                product.write(writer, [variable])
        else:
            product.write(writer, [])
        if flag is not None:
            # A zero may have met an infinity: the evaluator knows what to do then.
            write_check(writer, out, flag.name)

    writes = [out] if flag is None else [out, View.whole(flag, ())]
    scheduler.special(name, emit, [left.view, right.view], writes, flops=flops)
    return out


class ByExample(NamedTuple):
    """The product, example by example: windows are gathered into memory that the cache holds.

    Threads take parts of the examples, and have memory of their own for windows and for what they sum.
    """

    windows: View
    scratch: View
    kernel: View
    out: View
    backward: bool
    routine: str
    address: str

    def write(self, writer: Writer, begin: str, end: str) -> None:
        """Loops over some of the parts, and over their examples."""
        symbol, fresh = writer.local.symbol, writer.local.fresh
        part, example, first, last = (fresh(stem) for stem in ("part", "example", "first", "last"))
        count, dtype = symbol(self.windows.shape[1]), self.out.buffer.dtype
        size = sizes_of(self.windows)[1] * self.kernel.shape[2]
        with writer.block(f"for {part} in range({begin}, {end}):"):
            writer.line(f"{first} = {part} * {count} // {PARTS}")
            writer.line(f"{last} = ({part} + 1) * {count} // {PARTS}")
            if self.backward:
                write_fill(
                    writer, View(self.out.buffer, (size,), (1,), 0, ((part, size),)), f"{cast_name(dtype)}(0)"
                )
            with writer.block(f"for {example} in range({first}, {last}):"):
                self.gather(writer, part, example)
                self.multiply(writer, part, example)

    def gather(self, writer: Writer, part: str, example: str) -> None:
        """Copy the windows of an example."""
        base = (*self.windows.base, (example, self.windows.strides[1]))
        source = self.windows._replace(
            shape=self.windows.shape[2:], strides=self.windows.strides[2:], base=base
        )
        target = View.whole(self.scratch.buffer, source.shape)
        target = target._replace(base=((part, math.prod(source.shape)),))
        store = Store(squeezed_view(target), Load(squeezed_view(source)), None)
        nest = Nest(-1, squeezed(source.shape), [store])
        NestWriter(writer, nest, loops_of(nest)).write()

    def multiply(self, writer: Writer, part: str, example: str) -> None:
        """Multiply them by the kernel, or add their transpose times its rows."""
        rows, columns = sizes_of(self.windows)
        width, symbol, dtype = self.kernel.shape[2], writer.local.symbol, self.out.buffer.dtype
        left = moving(self.scratch, part, rows * columns)
        if self.backward:
            right = moving(self.kernel, example, rows * width)
            target, order, m, k, beta = moving(self.out, part, columns * width), TRANS, columns, rows, 1
        else:
            right = self.kernel._replace(shape=(), strides=())
            target, order, m, k, beta = moving(self.out, example, rows * width), NO_TRANS, rows, columns, 0
        a, b, c = (at(writer, view, ()) for view in (left, right, target))
        writer.line(
            f"{self.routine}({self.address}, {ROW_MAJOR}, {order}, {NO_TRANS}, "
            f"{symbol(m)}, {symbol(width)}, {symbol(k)}, {number(1, dtype)}, {a}, {symbol(columns)}, "
            f"{b}, {symbol(width)}, {number(beta, dtype)}, {c}, {symbol(width)})"
        )


def moving(view: View, variable: str, stride: int) -> View:
    """The first element of a view, moved by a loop variable."""
    return view._replace(shape=(), strides=(), base=(*view.base, (variable, stride)))


def multiplied_by_example(
    scheduler: Scheduler, p: Plan, windows: View, kernel: View, equation: Equation, address: int
) -> View:
    """As `multiplied`, for one group; where it is a sum over examples, one for each part of them."""
    dtype = kernel.buffer.dtype
    rows, columns = sizes_of(windows)
    width = kernel.shape[2]
    shape = (PARTS, columns, width) if p.backward else (1, windows.shape[1] * rows, width)
    out = scheduler.buffer_like(Aval(shape, dtype))
    scratch = scheduler.buffer_like(Aval((PARTS, rows, columns), dtype))
    name = f"{LETTERS[dtype]}gemm"
    constant = scheduler.local.constant(name, address)
    step = ByExample(windows, scratch, kernel, out, p.backward, name, constant)
    strong = isinstance(equation.primitive, StrongZeroConvolution)
    flag = scheduler.local.failure_flag() if strong or p.run > 1 else None
    function = scheduler.local.fresh("convolution")
    scheduler.local.serial_blas()

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        if writer.is_outermost:
            inner = Writer(writer.local)
            step.write(inner, "begin", "end")
            writer.line(f"parallel({function}, p, n, 0, {PARTS}, 1)")
            writer.functions.append((Part(function), inner.lines))
        else:
            step.write(writer, "0", str(PARTS))
        if flag is not None:
            # A zero may have met an infinity: the evaluator knows what to do then.
            write_check(writer, out, flag.name)

    writes = [out] if flag is None else [out, View.whole(flag, ())]
    flops = 2.0 * math.prod(windows.shape) * width
    scheduler.special(name, emit, [windows, kernel], writes, scratch=[scratch], flops=flops, shares=True)
    return out


def in_order(p: Plan, product: View) -> View:
    """Products of windows and kernel as ``[g, n, o, ...]``."""
    g = product.shape[0]
    size = math.prod(product.shape)
    o = product.shape[2] // p.run
    n = size // (g * math.prod(p.positions) * o)
    view = View.whole(product.buffer, (g, n, *p.positions, o))
    return transposed(view, (0, 1, len(view.shape) - 1, *range(2, len(view.shape) - 1)))


def summed_runs(scheduler: Scheduler, p: Plan, product: View, aval: Aval, equation: Equation) -> View:
    """Products of a row's element ``u`` and a run's ``v``, summed for each position ``u - v``.

    And over the parts of the examples, where each part has its own.
    """
    m = p.run
    g, n, o = aval.shape[:3]
    parts = product.shape[0] // g
    *rest, last = p.positions
    whole = View.whole(product.buffer, (g, *rest, last + m - 1, n, m, o))
    axes = len(whole.shape)
    if m == 1 and parts == 1:
        dropped = whole._replace(
            shape=(*whole.shape[:-2], o), strides=(*whole.strides[:-2], whole.strides[-1])
        )
        return transposed(dropped, (0, axes - 3, axes - 2, *range(1, axes - 3)))
    step = whole.strides[axes - 4] + whole.strides[axes - 2]
    shape = (g, *rest, last, n, o)
    strides = (*whole.strides[:-2], whole.strides[-1])
    memory = scheduler.buffer_like(Aval(shape, product.buffer.dtype))
    nest = scheduler.new_nest(squeezed(shape))
    scheduler.close(nest)
    size = math.prod(product.shape) // parts
    terms = [
        Load(squeezed_view(View(product.buffer, shape, strides, part * size + v * step)))
        for part in range(parts)
        for v in range(m)
    ]
    name = scheduler.local.fresh("total")
    template = " + ".join([f"{{{k}}}" for k in range(len(terms))])
    nest.body.append(
        Let(name, f"({template})", tuple(terms), product.buffer.dtype, len(terms), equation.source)
    )
    nest.body.append(Store(squeezed_view(memory), name, equation.source))
    ndim = len(shape)
    return transposed(memory, (0, ndim - 2, ndim - 1, *range(1, ndim - 2)))


# -- views ----------------------------------------------------------------------------------------------


def transposed(view: View, order: Sequence[int]) -> View:
    """The view with its axes in another order."""
    return view._replace(
        shape=tuple([view.shape[a] for a in order]), strides=tuple([view.strides[a] for a in order])
    )


def part_of(view: View, axis: int, start: int, size: int, step: int) -> View:
    """Every so many elements along an axis."""
    shape = (*view.shape[:axis], size, *view.shape[axis + 1 :])
    strides = (*view.strides[:axis], view.strides[axis] * step, *view.strides[axis + 1 :])
    return view._replace(shape=shape, strides=strides, offset=view.offset + start * view.strides[axis])
