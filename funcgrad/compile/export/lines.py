"""Operations along an axis in the text of exported modules: calls of functions that are written out.

These take flat arrays and say how the lines lie in them: `outer` blocks of `n` rows of `inner` elements.
"""

from __future__ import annotations

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.program import Equation
from funcgrad.tracing.primitive import Primitive
from funcgrad.types import AnyPrimitive


def is_of_lines(primitive: AnyPrimitive) -> bool:
    """Whether its row says what is called for it on flat arrays."""
    return type(primitive).line_calls is not Primitive.line_calls


def lower_lines(scheduler: Scheduler, equation: Equation) -> None:
    """The calls, in which arrays are flat."""
    primitive, (out,) = equation.primitive, equation.outputs
    avals = [a.aval for a in equation.inputs]
    if any(a.dtype.char not in "fdFDl" or not a.size for a in (*avals, out.aval)):
        raise NotLowered(f"{primitive.name} of {', '.join(map(str, avals))} is not written out")
    given = [scheduler.contiguous(x) for x in equation.inputs]
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    calls = primitive.line_calls(avals, out.aval)

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
