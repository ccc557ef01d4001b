"""Lowering of calls of the user's functions that have machine code: by address, with pointers to arrays."""

from __future__ import annotations

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.language.calls import MOST_POINTERS
from funcgrad.compile.lower.numpy_loops import first_of
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.ir.program import Equation
from funcgrad.transforms.host_call import HostCall, name_of


@lowers(HostCall)
def lower_host_call(scheduler: Scheduler, equation: Equation) -> None:
    """A call of a C function with a pointer to each operand and to each result."""
    function = equation.primitive.function
    machine_code = getattr(function, "machine_code", None)
    if machine_code is None:
        raise NotLowered(f"{name_of(function)} is a function of Python's, called with values")
    if len(equation.inputs) + len(equation.outputs) > MOST_POINTERS:
        raise NotLowered(f"{name_of(function)} has more than {MOST_POINTERS} arguments and results")
    address = scheduler.local.constant(name_of(function), machine_code())
    views = [scheduler.contiguous(x) for x in equation.inputs]
    targets = [scheduler.buffer_like(v.aval, scheduler.local.named(v)) for v in equation.outputs]

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        pointers = [first_of(writer, view) for view in (*views, *targets)]
        writer.line(f"call_pointers({', '.join([address, *pointers])})")

    size = sum(a.aval.size for a in (*equation.inputs, *equation.outputs))
    position = scheduler.special("host_call", emit, views, targets, flops=15 * size)
    for v, target in zip(equation.outputs, targets, strict=True):
        scheduler.define_view(v, target, position)
