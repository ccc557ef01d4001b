"""Lowering of discrete Fourier transforms: NumPy's own loops over lines, by address.

``numpy.fft`` calls pocketfft in loops that take lines of any strides and touch no Python object. Arrays that
the evaluator leaves to SciPy are SciPy's outside of loops, with its threads; a trip of a loop calls NumPy's,
axis by axis in SciPy's order, which gives the same digits for complex numbers, but for the last one where the
norm is "ortho". Numbers in single precision stay so; NumPy transforms some of them in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import NamedTuple

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.linear_algebra.decompositions import MatrixLoop, found_loop, write_calls
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ir.program import Equation
from funcgrad.ops.elementwise.complexes import real_dtype
from funcgrad.ops.signal.fft import FFT, SHARED, SMALL, HermitianFFT, RealFFT
from funcgrad.types import AnyPrimitive


class Pass(NamedTuple):
    """The transforms along one axis."""

    axis: int
    loop: MatrixLoop
    counted: int
    """Of how many numbers the norm is taken; 0 where another pass multiplies with it."""


@lowers(FFT, RealFFT, HermitianFFT)
def lower_transform(scheduler: Scheduler, equation: Equation) -> None:
    """Operands made ready, a call of a loop for each axis, and what remains to be done to the results."""
    primitive, (x,), (out,) = equation.primitive, equation.inputs, equation.outputs
    check_size(scheduler, primitive, x.aval)
    passes = passes_of(scheduler, primitive, x.aval, out.aval)
    source = scheduler.stored(x)
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    scale = scheduler.buffer_like(Aval((), real_dtype(out.aval.dtype)), "scale")
    scratch = [scale]
    ready, prepared = source, ""
    if isinstance(primitive, FFT) and x.aval.dtype.kind != "c":
        ready, prepared = target, "{0}"
    elif isinstance(primitive, HermitianFFT) and not primitive.inverse:
        ready, prepared = scheduler.buffer_like(x.aval, "conjugates"), "conjugate({0})"
        scratch.append(ready)

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        if prepared:
            write_map(writer, ready, source, prepared)
        given = ready
        for axis, loop, count in passes:
            writer.line(f"{scale.buffer.name}[0] = {factor_text(writer, primitive, scale, count)}")
            batch = tuple([n for a, n in enumerate(out.aval.shape) if a != axis])
            lines = [axis_last(given, axis), spread(scale, batch), axis_last(target, axis)]
            write_calls(writer, loop, lines, batch)
            given = target
        if isinstance(primitive, RealFFT):
            finish_half(writer, primitive, target, x.aval.shape[primitive.axis])
        elif isinstance(primitive, HermitianFFT) and not primitive.doubled:
            finish_undoubled(writer, primitive, source, target, scale)

    flops = primitive.flops([x.aval], [out.aval])
    position = scheduler.special(primitive.name, emit, [source], [target], scratch=scratch, flops=flops)
    scheduler.define_view(out, target, position)


def check_size(scheduler: Scheduler, primitive: AnyPrimitive, x: Aval) -> None:
    """Raise NotLowered where the evaluator does better, or where NumPy has no loop."""
    if x.dtype.char not in "fdFD":
        raise NotLowered(f"{primitive.name} of {x.dtype} has no native form")
    if not x.size:
        raise NotLowered(f"{primitive.name} of nothing is left to NumPy")
    if x.size >= (SHARED if scheduler.inside else SMALL):
        raise NotLowered(f"{primitive.name} of {x.size} numbers is left to SciPy, which has threads for it")


def passes_of(scheduler: Scheduler, primitive: AnyPrimitive, x: Aval, out: Aval) -> list[Pass]:
    """The passes in order: NumPy begins with the last axis, SciPy with the first, and with its factor."""
    numbers = out.shape if isinstance(primitive, HermitianFFT) else x.shape
    axes = primitive.axes if isinstance(primitive, FFT) else (primitive.axis,)
    by_scipy, total, found = x.size >= SMALL, 1, []
    for axis in axes:
        total *= numbers[axis]
    for k, axis in enumerate(axes if by_scipy else axes[::-1]):
        name, types = loop_name(primitive, numbers[axis], out.dtype.char)
        loop = found_loop(scheduler, name, types, "101", (x.shape[axis], out.shape[axis]))
        count = (total if not k else 0) if by_scipy else numbers[axis]
        found.append(Pass(axis, loop, count))
    return found


def loop_name(primitive: object, size: int, kind: str) -> tuple[str, str]:
    """The ufunc of ``numpy.fft`` for lines of `size` numbers, and the types of its loop."""
    real, complex_ = kind.lower(), kind.upper()
    if isinstance(primitive, FFT):
        return "ifft" if primitive.inverse else "fft", f"{complex_}{real}->{complex_}"
    if isinstance(primitive, RealFFT):
        return f"rfft_n_{'odd' if size % 2 else 'even'}", f"{real}{real}->{complex_}"
    return "irfft", f"{complex_}{real}->{real}"


def factor_text(writer: Writer, primitive: AnyPrimitive, scale: View, count: int) -> str:
    """What a pass multiplies with."""
    cast = cast_name(scale.buffer.dtype)
    number = f"{cast}({writer.local.symbol(count)})"
    if count and primitive.norm == "ortho":
        return f"{cast}(1) / sqrt({number})"
    return (
        f"{cast}(1) / {number}"
        if count and (primitive.norm == "backward") == primitive.inverse
        else f"{cast}(1)"
    )


def axis_last(view: View, axis: int) -> View:
    """The elements with an axis moved behind the others."""
    order = [a for a in range(len(view.shape)) if a != axis] + [axis]
    shape, strides = [tuple([parts[a] for a in order]) for parts in (view.shape, view.strides)]
    return view._replace(shape=shape, strides=strides)


def spread(number: View, shape: Shape) -> View:
    """One number at each place of a shape."""
    return number._replace(shape=shape, strides=(0,) * len(shape))


def part(view: View, axis: int, start: int, count: int, step: int = 1) -> View:
    """Some of the places along an axis."""
    stride = view.strides[axis]
    shape, strides = list(view.shape), list(view.strides)
    shape[axis], strides[axis] = count, stride * step
    return view._replace(shape=tuple(shape), strides=tuple(strides), offset=view.offset + start * stride)


def over(writer: Writer, shape: Shape, write: Callable[[list[str]], None]) -> None:
    """What is written for each place of a shape, in loops."""
    with ExitStack() as stack:
        variables = [writer.local.fresh("r") for _ in shape]
        for variable, size in zip(variables, shape, strict=True):
            stack.enter_context(writer.loop(variable, size))
        write(variables)


def write_map(writer: Writer, target: View, source: View, text: str) -> None:
    """Elements of one array as a function of those of another."""

    def write(variables: list[str]) -> None:
        value = text.format(writer.element(source, variables))
        writer.line(f"{writer.element(target, variables)} = {cast_name(target.buffer.dtype)}({value})")

    over(writer, target.shape, write)


def finish_half(writer: Writer, primitive: RealFFT, out: View, size: int) -> None:
    """Conjugates where the sign in the exponent is the other, and inner coefficients twice."""
    if primitive.inverse:
        write_map(writer, out, out, "conjugate({0})")
    if primitive.doubled:
        inner = part(out, primitive.axis, 1, (size + 1) // 2 - 1)
        write_map(writer, inner, inner, "{0} + {0}")


def finish_undoubled(writer: Writer, primitive: HermitianFFT, x: View, out: View, scale: View) -> None:
    """Half of all, and half of what the first and last coefficients give: they were counted once."""
    axis, n = primitive.axis, primitive.size
    cast = cast_name(out.buffer.dtype)
    lines = tuple([1 if a == axis else size for a, size in enumerate(x.shape)])
    first, last = part(x, axis, 0, 1), part(x, axis, x.shape[axis] - 1, 1)

    def write(variables: list[str]) -> None:
        local = writer.local
        ends = [local.fresh(name) for name in ("half", "first", "last")]
        half, begin, end = ends
        writer.line(f"{half} = {cast}(0.5) * {scale.buffer.name}[0]")
        writer.line(f"{begin} = {writer.element(first, variables)}.real * {half}")
        value = f"{writer.element(last, variables)}.real * {half}" if n % 2 == 0 else f"{cast}(0) * {begin}"
        writer.line(f"{end} = {value}")
        for start, sign in ((0, "sum"), (1, "difference")):
            places = part(out, axis, start, (n + 1 - start) // 2, 2)
            term = local.fresh("term")
            writer.line(f"{term} = rounded_{sign}({begin}, {end})")
            k = local.fresh("k")
            with writer.loop(k, places.shape[axis]):
                place = writer.element(places, [k if a == axis else v for a, v in enumerate(variables)])
                writer.line(f"{place} = {cast}(0.5) * {place} + {term}")

    over(writer, lines, write)
