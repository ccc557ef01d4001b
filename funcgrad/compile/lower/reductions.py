"""Lowerings of conversions, reductions and identities: what becomes statements of nests."""

from __future__ import annotations

import numpy as np

from funcgrad.compile.lower.elementwise import cast_name, wrapped
from funcgrad.compile.passes.nests import squeezed
from funcgrad.compile.passes.schedule import Node, NotLowered, Scheduler, lowers
from funcgrad.ir.program import Equation
from funcgrad.ops.identity import StopGradient
from funcgrad.ops.reductions import (
    ReduceAll,
    ReduceAny,
    ReduceFmax,
    ReduceFmin,
    ReduceMax,
    ReduceMin,
    ReduceProd,
)
from funcgrad.ops.structure import Cast, ReduceSum
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


KINDS: dict[type, str] = {
    ReduceSum: "sum",
    ReduceProd: "prod",
    ReduceMax: "max",
    ReduceMin: "min",
    ReduceFmax: "fmax",
    ReduceFmin: "fmin",
    ReduceAny: "any",
    ReduceAll: "all",
}


@lowers(*KINDS)
def lower_reduction(scheduler: Scheduler, equation: Equation) -> None:
    """A reduction over axes."""
    dtype = equation.inputs[0].aval.dtype
    name = equation.primitive.name
    kind = KINDS[type(equation.primitive)]
    if (dtype.itemsize == 2 and dtype.kind == "f") or dtype.char in "gG":
        raise NotLowered(f"{name} of {dtype} has no native form")
    if dtype.kind == "c" and kind not in ("sum", "prod"):
        raise NotLowered(f"{name} of complex numbers has no native form")
    if kind in ("any", "all") and dtype.kind != "b":
        raise NotLowered(f"{name} of {dtype} has no native form")
    if dtype.kind == "b":
        kind = {"max": "any", "fmax": "any", "min": "all", "fmin": "all"}.get(kind, kind)
    scheduler.reduce(equation, kind)


@lowers(StopGradient, Barrier)
def lower_identity(scheduler: Scheduler, equation: Equation) -> None:
    """The value itself."""
    scheduler.alias(equation.outputs[0], equation.inputs[0])


__all__ = ["KINDS", "Node", "cast_template", "lower_cast", "squeezed", "wrapped"]
