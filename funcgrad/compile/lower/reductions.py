"""Lowerings of conversions, reductions and identities: what becomes statements of nests."""

from __future__ import annotations

import numpy as np

from funcgrad.compile.lower.elementwise import cast_name, spelled
from funcgrad.compile.passes.schedule import NotLowered, Scheduler, lowers
from funcgrad.ir.program import Equation
from funcgrad.ops.identity import StopGradient
from funcgrad.ops.structure import Cast, Reduction
from funcgrad.transforms.checkpoint import Barrier


@lowers(Cast)
def lower_cast(scheduler: Scheduler, equation: Equation) -> None:
    """A conversion of elements."""
    (x,), (out,) = equation.inputs, equation.outputs
    scheduler.elementwise(equation, out, cast_template(x.aval.dtype, out.aval.dtype), equation.inputs)


def cast_template(dtype: np.dtype, out: np.dtype) -> str:
    """The expression that converts between two dtypes."""
    if np.float16 in (dtype, out) or "g" in (dtype.char, out.char) or "G" in (dtype.char, out.char):
        raise NotLowered(f"conversion of {dtype} to {out} has no native form")
    if dtype == out:
        return "{0}"
    if out.kind == "b":
        return "({0} != 0)"
    if dtype.kind == "c" and out.kind != "c":
        return f"{cast_name(out)}({{0}}.real)"
    return f"{cast_name(out)}({{0}})"


@lowers(Reduction)
def lower_reduction(scheduler: Scheduler, equation: Equation) -> None:
    """A reduction over axes."""
    dtype, primitive = equation.inputs[0].aval.dtype, equation.primitive
    if not spelled(primitive.fold.combine, dtype, dtype):
        numbers = "complex numbers" if dtype.kind == "c" else dtype
        raise NotLowered(f"{primitive.name} of {numbers} has no native form")
    (x,), (out,) = equation.inputs, equation.outputs
    scheduler.reduction(out, x, primitive.axes, primitive.fold, equation.source)


@lowers(StopGradient, Barrier)
def lower_identity(scheduler: Scheduler, equation: Equation) -> None:
    """The value itself."""
    scheduler.alias(equation.outputs[0], equation.inputs[0])
