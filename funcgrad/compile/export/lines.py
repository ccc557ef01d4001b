"""Operations along an axis in the text of exported modules: calls of functions that are written out.

These take flat arrays and say how the lines lie in them: `outer` blocks of `n` rows of `inner` elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ir.program import Equation
from funcgrad.ops.arrays.sorting import Sort
from funcgrad.ops.interpolation.broken_line import BrokenLine, OnLine, SpreadOnLine
from funcgrad.ops.signal.fft import FFT, HermitianFFT, RealFFT, Transform
from funcgrad.ops.signal.sliding import Convolve, Correlate
from funcgrad.tracing.primitive import Primitive


class Call(NamedTuple):
    """A function, and its arguments after the operands and the result."""

    function: str
    arguments: str


def axes_text(shape: Shape, axis: int) -> str:
    """How the lines along an axis lie in a flat array."""
    return f"{math.prod(shape[:axis])}, {shape[axis]}, {math.prod(shape[axis + 1 :])}"


def sorting(primitive: Sort, given: Sequence[Aval], out: Aval) -> list[Call]:
    """Each line sorted by itself."""
    return [Call("sorted_lines", axes_text(out.shape, primitive.axis))]


def sliding(primitive: Convolve | Correlate, given: Sequence[Aval], out: Aval) -> list[Call]:
    """Each row of a stack with that of the other."""
    rows = math.prod(out.shape[:-1])
    sizes = ", ".join([str(a.shape[-1]) for a in given])
    function = "convolved_rows" if isinstance(primitive, Convolve) else "correlated_rows"
    return [Call(function, f"{rows}, {sizes}")]


def fourier(primitive: FFT, given: Sequence[Aval], out: Aval) -> list[Call]:
    """The axes one after the other, the last one first."""
    texts = [f"{axes_text(out.shape, a)}, {sign_and_factor(primitive, out.shape[a])}" for a in primitive.axes]
    return [Call("fourier_lines", text) for text in texts[::-1]]


def half_fourier(primitive: RealFFT | HermitianFFT, given: Sequence[Aval], out: Aval) -> list[Call]:
    """From or to the first halves of transforms; the lines are those of the real numbers."""
    kind, real = ("real", given[0]) if isinstance(primitive, RealFFT) else ("hermitian", out)
    size = real.shape[primitive.axis]
    text = f"{axes_text(real.shape, primitive.axis)}, {sign_and_factor(primitive, size)}"
    return [Call(f"{kind}_fourier_lines", f"{text}, {primitive.doubled}")]


def sign_and_factor(primitive: Transform, n: int) -> str:
    """The sign in the exponent, and what a transform of n numbers is multiplied with."""
    sign = "1" if primitive.inverse else "-1"
    if primitive.norm == "ortho":
        return f"{sign}, 1.0 / math.sqrt({n})"
    return f"{sign}, 1.0 / {n}" if (primitive.norm == "backward") == primitive.inverse else f"{sign}, 1.0"


def on_line(primitive: OnLine, given: Sequence[Aval], out: Aval) -> list[Call]:
    """All positions of a broken line, one after the other."""
    function = "heights_on_line" if isinstance(primitive, BrokenLine) else "spread_on_line"
    return [Call(function, f"{given[1].size}, {given[-1].size}")]


CALLS: dict[type[Primitive], Callable[..., list[Call]]] = {
    FFT: fourier,
    RealFFT: half_fourier,
    HermitianFFT: half_fourier,
    Sort: sorting,
    Convolve: sliding,
    Correlate: sliding,
    BrokenLine: on_line,
    SpreadOnLine: on_line,
}
"""What is called for each operation; every call after the first reads the result of the one before."""


def lower_lines(scheduler: Scheduler, equation: Equation) -> None:
    """The calls, in which arrays are flat."""
    primitive, (out,) = equation.primitive, equation.outputs
    avals = [a.aval for a in equation.inputs]
    if any(a.dtype.char not in "fdFDl" or not a.size for a in (*avals, out.aval)):
        raise NotLowered(f"{primitive.name} of {', '.join(map(str, avals))} is not written out")
    given = [scheduler.contiguous(x) for x in equation.inputs]
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    calls = CALLS[type(primitive)](primitive, avals, out.aval)

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        operands = ", ".join([first_of(writer, view) for view in given])
        for function, arguments in calls:
            writer.line(f"{function}({operands}, {target.buffer.name}, {arguments})")
            operands = target.buffer.name

    flops = primitive.flops(avals, [out.aval])
    position = scheduler.special(primitive.name, emit, given, [target], flops=flops)
    scheduler.define_view(out, target, position)


def first_of(writer: Writer, view: View) -> str:
    """The flat array that begins with the first element of a view."""
    index = writer.index(View(view.buffer, (), (), view.offset, view.base), ())
    return view.buffer.name if index == "0" else f"shifted({view.buffer.name}, {index})"
