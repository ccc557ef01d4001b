"""Lowerings of what runs along an axis: cumulative operations, recurrences, positions of extremes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from funcgrad.compile.emit.statements import Writer, combination, start_of
from funcgrad.compile.emit.symbols import Locals
from funcgrad.compile.lower.linear_algebra.contractions import Part
from funcgrad.compile.lower.reductions import step_of
from funcgrad.compile.lower.slice_updates import check_dtype
from funcgrad.compile.passes.arranging.dividing import CHUNKS
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.taking_over import taken_over
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.program import Equation
from funcgrad.ops.reducing.cumulative import CumSum, Cumulative, LinearRecurrence
from funcgrad.ops.reducing.folds import PROD, SUM
from funcgrad.ops.reducing.reductions import ArgExtreme, ProductOfOthers
from funcgrad.ops.signal.all_pole import AllPole

MOST_DELAYS = 32
"""Coefficients of a recursion up to which what was before is kept in locals."""

ABREAST = 4
"""Running sums that one loop carries side by side: an addition waits three cycles for the one before."""

LONG = 65_536
"""Elements from which a running sum whose order nobody was promised is found in parts."""


def lines_along(writer: Writer, stack: ExitStack, shape: Sequence[int], axis: int) -> list[str]:
    """Open loops over all other axes; the variables, with an empty one for the axis."""
    variables = [writer.local.fresh("q") for _ in shape]
    for k, n in enumerate(shape):
        if k != axis:
            stack.enter_context(writer.loop(variables[k], n))
    return variables


def turn(writer: Writer, variable: str, n: int, reverse: bool, stack: ExitStack) -> str:
    """Open the loop along the axis; the position."""
    if not reverse:
        stack.enter_context(writer.loop(variable, n))
        return variable
    counted = writer.local.fresh("t")
    stack.enter_context(writer.loop(counted, n))
    writer.line(f"{variable} = {writer.local.symbol(n)} - 1 - {counted}")
    return variable


@lowers(Cumulative)
def lower_cumulative(scheduler: Scheduler, equation: Equation) -> None:
    """A result for every element, of the elements up to it."""
    check_dtype(equation)
    (x,), (out,) = equation.inputs, equation.outputs
    fold, dtype = equation.primitive.fold, out.aval.dtype
    combine = step_of(equation.primitive, dtype)
    axis, reverse = equation.primitive.axis, equation.primitive.reverse
    source = scheduler.stored(x)
    # Each element is read before its result is written: the same memory will do.
    target = taken_over(scheduler, x) or scheduler.buffer_like(out.aval, scheduler.local.named(out))
    shape = out.aval.shape
    parts = sums_of_parts(scheduler, equation)

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        if parts is not None and writer.is_outermost:
            write_in_parts(writer, source, target, parts)
            return
        total = writer.local.fresh("total")
        with ExitStack() as stack:
            variables = lines_along(writer, stack, shape, axis)
            writer.line(f"{total} = {start_of(fold, dtype)}")
            turn(writer, variables[axis], shape[axis], reverse, stack)
            writer.line(f"{total} = {combine.format(total, writer.element(source, variables))}")
            writer.line(f"{writer.element(target, variables)} = {total}")

    position = scheduler.special(
        equation.primitive.name,
        emit,
        [source],
        [target],
        scratch=[] if parts is None else [parts],
        flops=out.aval.size,
        shares=parts is not None,
    )
    scheduler.define_view(out, target, position)


def sums_of_parts(scheduler: Scheduler, equation: Equation) -> View | None:
    """Memory for the sums of parts; None where the running sum is to be found element by element.

    A sum that runs from the end is a transpose: nobody is promised its order, and parts of it may be summed
    at once. One from the beginning has NumPy's digits. In parts it would not: of terms that are not negative
    it could step back by a last digit where one part ends.
    """
    (x,), primitive = equation.inputs, equation.primitive
    if not isinstance(primitive, CumSum) or not primitive.reverse or x.aval.dtype.kind != "f":
        return None
    if scheduler.local.portable or x.aval.size < LONG or x.aval.size != x.aval.shape[primitive.axis]:
        return None
    return View.whole(scheduler.local.scratch(x.aval.dtype, CHUNKS * ABREAST, "sums"), (CHUNKS * ABREAST,))


def write_in_parts(writer: Writer, source: View, target: View, sums: View) -> None:
    """A sum that runs from the end: those of all parts, what comes after each, then each part by itself."""
    local, count, name = writer.local, CHUNKS * ABREAST, sums.buffer.name
    summing, running = Part(local.fresh("sums_of_parts")), Part(local.fresh("running_sums"))
    total, before, place = (local.fresh(stem) for stem in ("total", "before", "t"))
    writer.functions.append((summing, lines_of_sums(local, source, sums)))
    writer.line(f"parallel({summing.name}, p, n, 0, {count}, {ABREAST})")
    writer.line(f"{total} = {start_of(SUM, sums.buffer.dtype)}")
    with writer.block(f"for {place} in range({count}):"):
        writer.line(f"{before} = {total}")
        writer.line(f"{total} = {total} + {name}[{count - 1} - {place}]")
        writer.line(f"{name}[{count - 1} - {place}] = {before}")
    writer.functions.append((running, lines_of_running_sums(local, source, target, sums)))
    writer.line(f"parallel({running.name}, p, n, 0, {CHUNKS}, 1)")


def lines_of_sums(local: Locals, source: View, sums: View) -> list[str]:
    """The function that sums each part."""
    writer, size, dtype = Writer(local), local.symbol(max(source.shape)), sums.buffer.dtype
    total, part = local.fresh("total"), local.fresh("part")
    with writer.block(f"for {part} in range(begin, end):"):
        writer.line(f"{total} = {start_of(SUM, dtype)}")
        with writer.block(f"for i in range({bound(part, size)}, {bound(f'({part} + 1)', size)}):"):
            writer.line(f"{total} = {combination(SUM, dtype).format(total, element(writer, source, 'i'))}")
        writer.line(f"{sums.buffer.name}[{part}] = {total}")
    return writer.lines


def lines_of_running_sums(local: Locals, source: View, target: View, sums: View) -> list[str]:
    """The function that sums parts side by side from their ends, from what comes after each."""
    writer, size = Writer(local), local.symbol(max(source.shape))
    shortest, turn = f"{size} // {CHUNKS * ABREAST}", local.fresh("t")
    totals = [local.fresh("total") for _ in range(ABREAST)]
    ends = [local.fresh("stop") for _ in range(ABREAST + 1)]

    def add(total: str, place: str) -> None:
        writer.line(f"{total} = {total} + {element(writer, source, place)}")
        writer.line(f"{element(writer, target, place)} = {total}")

    with writer.block("for chunk in range(begin, end):"):
        for k, end in enumerate(ends):
            writer.line(f"{end} = {bound(f'(chunk * {ABREAST} + {k})', size)}")
        for k, total in enumerate(totals):
            writer.line(f"{total} = {sums.buffer.name}[chunk * {ABREAST} + {k}]")
        with writer.block(f"for {turn} in range({shortest}):"):
            for total, stop in zip(totals, ends[1:], strict=True):
                place = local.fresh("q")
                writer.line(f"{place} = {stop} - 1 - {turn}")
                add(total, place)
        # Parts differ by one element.
        for total, first, stop in zip(totals, ends[:-1], ends[1:], strict=True):
            with writer.block(f"if {stop} - {first} > {shortest}:"):
                add(total, first)
    return writer.lines


def element(writer: Writer, view: View, place: str) -> str:
    """An element of a view of which one axis alone has more than one."""
    return writer.element(view, [place if n > 1 else "0" for n in view.shape])


def bound(part: str, size: str) -> str:
    """Where a part begins."""
    return f"{part} * {size} // {CHUNKS * ABREAST}"


@lowers(LinearRecurrence)
def lower_recurrence(scheduler: Scheduler, equation: Equation) -> None:
    """``y[0] = b[0]`` and ``y[k] = a[k-1] * y[k-1] + b[k]`` along an axis, or the same from the last on."""
    check_dtype(equation)
    primitive = equation.primitive
    factors, terms = [scheduler.stored(a) for a in equation.inputs]
    (out,) = equation.outputs
    shape, axis = out.aval.shape, primitive.axis
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))

    def emit(writer: Writer) -> None:
        if 0 in shape:
            return
        writer.comment(equation.source)
        state, product, k = (writer.local.fresh(stem) for stem in ("state", "product", "t"))
        last = writer.local.symbol(shape[axis] - 1)
        with ExitStack() as stack:
            variables = lines_along(writer, stack, shape, axis)
            place, before = variables[axis], writer.local.fresh("before")
            writer.line(f"{place} = {last if primitive.reverse else 0}")
            writer.line(f"{state} = {writer.element(terms, variables)}")
            writer.line(f"{writer.element(target, variables)} = {state}")
            with writer.loop(k, shape[axis] - 1):
                writer.line(f"{before} = {f'{last} - 1 - {k}' if primitive.reverse else k}")
                writer.line(f"{place} = {before if primitive.reverse else f'{k} + 1'}")
                between = [before if a == axis else v for a, v in enumerate(variables)]
                writer.line(f"{product} = {writer.element(factors, between)} * {state}")
                if primitive.strong:
                    writer.line(f"{product} = select({state} == 0, {state}, {product})")
                writer.line(f"{state} = {product} + {writer.element(terms, variables)}")
                writer.line(f"{writer.element(target, variables)} = {state}")

    position = scheduler.special(
        "linear_recurrence", emit, [factors, terms], [target], flops=2 * out.aval.size
    )
    scheduler.define_view(out, target, position)


@lowers(AllPole)
def lower_all_pole(scheduler: Scheduler, equation: Equation) -> None:
    """``y[t] = x[t] - a[0] y[t-1] - a[1] y[t-2] - ...``, with what was before in locals."""
    check_dtype(equation)
    coefficients, x = [scheduler.stored(a) for a in equation.inputs]
    (out,) = equation.outputs
    order, shape = equation.inputs[0].aval.shape[0], out.aval.shape
    if order > MOST_DELAYS:
        raise NotLowered(f"all_pole with {order} coefficients has no native form")
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    axis, zero = len(shape) - 1, start_of(SUM, out.aval.dtype)

    def emit(writer: Writer) -> None:
        if 0 in shape:
            return
        writer.comment(equation.source)
        state = writer.local.fresh("state")
        factors = [writer.local.fresh("factor") for _ in range(order)]
        before = [writer.local.fresh("before") for _ in range(order)]
        for k, factor in enumerate(factors):
            writer.line(f"{factor} = {writer.element(coefficients, [str(k)])}")
        with ExitStack() as stack:
            variables = lines_along(writer, stack, shape, axis)
            for name in before:
                writer.line(f"{name} = {zero}")
            turn(writer, variables[axis], shape[axis], equation.primitive.reverse, stack)
            # What was just found comes last, so that the products before it do not wait for it.
            terms = [f" - {f} * {b}" for f, b in zip(factors, before, strict=True)]
            writer.line(f"{state} = {writer.element(x, variables)}{''.join(reversed(terms))}")
            for newer, older in zip(reversed(before[:-1]), reversed(before[1:]), strict=True):
                writer.line(f"{older} = {newer}")
            if before:
                writer.line(f"{before[0]} = {state}")
            writer.line(f"{writer.element(target, variables)} = {state}")

    flops = 2 * order * out.aval.size
    position = scheduler.special("all_pole", emit, [coefficients, x], [target], flops=flops)
    scheduler.define_view(out, target, position)


@lowers(ProductOfOthers)
def lower_product_of_others(scheduler: Scheduler, equation: Equation) -> None:
    """What stands before an element, multiplied; then what stands after it. Several axes are one by now."""
    check_dtype(equation)
    (x,), (out,) = equation.inputs, equation.outputs
    if out.aval.dtype.kind == "b" or len(equation.primitive.axes) != 1:
        raise NotLowered(f"product_of_others of {x.aval} has no native form")
    (axis,) = equation.primitive.axes
    source = scheduler.stored(x)
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    shape, dtype = out.aval.shape, out.aval.dtype
    combine = combination(PROD, dtype)

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        total = writer.local.fresh("total")
        for reverse in (False, True):
            with ExitStack() as stack:
                variables = lines_along(writer, stack, shape, axis)
                writer.line(f"{total} = {start_of(PROD, dtype)}")
                turn(writer, variables[axis], shape[axis], reverse, stack)
                element = writer.element(target, variables)
                writer.line(f"{element} = {combine.format(element, total) if reverse else total}")
                writer.line(f"{total} = {combine.format(total, writer.element(source, variables))}")

    position = scheduler.special("product_of_others", emit, [source], [target], flops=4 * out.aval.size)
    scheduler.define_view(out, target, position)


@lowers(ArgExtreme)
def lower_extreme_position(scheduler: Scheduler, equation: Equation) -> None:
    """Where the first extreme is; a NaN counts as one."""
    (x,), (out,) = equation.inputs, equation.outputs
    dtype, axis = x.aval.dtype, equation.primitive.axis
    if dtype.kind == "c" or dtype.char in "egG":
        raise NotLowered(f"{equation.primitive.name} of {dtype} has no native form")
    symbol = equation.primitive.better
    source = scheduler.stored(x)
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    shape = x.aval.shape

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        best, place, value = (writer.local.fresh(stem) for stem in ("best", "place", "value"))
        with ExitStack() as stack:
            variables = lines_along(writer, stack, shape, axis)
            first = [*variables[:axis], "0", *variables[axis + 1 :]]
            writer.line(f"{best} = {writer.element(source, first)}")
            writer.line(f"{place} = 0")
            with writer.loop(variables[axis], shape[axis]):
                writer.line(f"{value} = {writer.element(source, variables)}")
                better = f"{value} {symbol} {best}"
                if dtype.kind == "b":
                    better = f"{value} & (not {best})" if symbol == ">" else f"(not {value}) & {best}"
                elif dtype.kind == "f":
                    better = f"({better}) | (({value} != {value}) & ({best} == {best}))"
                with writer.block(f"if {better}:"):
                    writer.line(f"{best} = {value}")
                    writer.line(f"{place} = {variables[axis]}")
            kept = View(target.buffer, (), target.strides, target.offset)
            outer = [v for k, v in enumerate(variables) if k != axis]
            writer.line(f"{writer.element(kept, outer)} = {place}")

    position = scheduler.special(equation.primitive.name, emit, [source], [target], flops=x.aval.size)
    scheduler.define_view(out, target, position)
