"""Lowerings of what samples go through: NumPy's own loops by address, and SciPy's functions.

Sums whose order is NumPy's are left to the evaluator.
"""

from __future__ import annotations

import numpy as np

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.lower.linear_algebra.contractions import at
from funcgrad.compile.lower.random.draws import WORDS, loop_names
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.compile.runtime.addresses.scipy_functions import function_of_number
from funcgrad.ir.program import Equation
from funcgrad.ops.random.draws import InOrder, SampledSpecial


def check_format(equation: Equation) -> None:
    """Raise NotLowered for other numbers than those of single and double precision."""
    dtype = equation.outputs[0].aval.dtype
    if dtype not in WORDS or any(a.aval.dtype != dtype for a in equation.inputs):
        raise NotLowered(f"{equation.primitive.name} of {dtype} has no native form")


@lowers(InOrder)
def lower_loop(scheduler: Scheduler, equation: Equation) -> None:
    """One call of a loop of NumPy's for all elements, which lie one after the other."""
    check_format(equation)
    (out,) = equation.outputs
    dtype, size = out.aval.dtype, out.aval.size
    address, data = loop_names(scheduler, equation.primitive.numpys_loop, dtype)
    views = [scheduler.contiguous(x) for x in equation.inputs]
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    # A number among arrays is the same for all elements.
    steps = [dtype.itemsize if x.aval.shape == out.aval.shape else 0 for x in equation.inputs]
    function = "numpy_unary" if len(views) == 1 else "numpy_binary"

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        operands = zip([*views, target], [*steps, dtype.itemsize], strict=True)
        given = ", ".join([f"{first_of(writer, view)}, {step}" for view, step in operands])
        if size:
            writer.line(f"{function}({address}, {data}, {given}, {writer.local.symbol(size)})")

    position = scheduler.special(equation.primitive.name, emit, views, [target], flops=15 * size)
    scheduler.define_view(out, target, position)


@lowers(SampledSpecial)
def lower_special(scheduler: Scheduler, equation: Equation) -> None:
    """A call of SciPy's function for each element."""
    primitive, (out,) = equation.primitive, equation.outputs
    if out.aval.dtype != np.float64:
        raise NotLowered(f"{primitive.name} of {out.aval.dtype} has no native form")
    address = address_of_function(scheduler, primitive.function)
    scheduler.elementwise(equation, out, f"call_number({address}, {{0}})", equation.inputs)


def address_of_function(scheduler: Scheduler, name: str) -> str:
    """The name of the address of a function of SciPy's; raises NotLowered where it is not known."""
    address = function_of_number(name)
    if address is None:
        raise NotLowered(f"scipy.special.{name} is not known by address")
    return scheduler.local.constant(f"scipy_{name}", address)


def first_of(writer: Writer, view: View) -> str:
    """The text of a pointer to the first element."""
    return at(writer, View(view.buffer, (), (), view.offset, view.base), ())
