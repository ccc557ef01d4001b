"""Lowerings of conversions, reductions and identities: what becomes statements of nests."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.compile.emit.statements import combination, start_of
from funcgrad.compile.lower.elementwise import cast_name, check_text
from funcgrad.compile.passes.scheduling.lowerings import NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.ir.program import Equation
from funcgrad.ops.arrays.structure import Cast, Reduction
from funcgrad.tracing.primitive import Primitive
from funcgrad.types import AnyPrimitive


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


def step_of(primitive: AnyPrimitive, dtype: np.dtype[Any]) -> str:
    """The template by which elements are combined; raises NotLowered where there is none for a dtype."""
    step = combination(primitive.fold, dtype)
    if not step:
        numbers = "complex numbers" if dtype.kind == "c" else dtype
        raise NotLowered(f"{primitive.name} of {numbers} has no native form")
    check_text(primitive.name, step, 2)
    check_text(primitive.name, start_of(primitive.fold, dtype), 0)
    return step


@lowers(Reduction)
def lower_reduction(scheduler: Scheduler, equation: Equation) -> None:
    """A reduction over axes."""
    primitive = equation.primitive
    step_of(primitive, equation.inputs[0].aval.dtype)
    (x,), (out,) = equation.inputs, equation.outputs
    scheduler.reduction(out, x, primitive.axes, primitive.fold, equation.source)


@lowers(Primitive)
def lower_identity(scheduler: Scheduler, equation: Equation) -> None:
    """The value itself, of rows that pass it on."""
    scheduler.alias(equation.outputs[0], equation.inputs[0])
