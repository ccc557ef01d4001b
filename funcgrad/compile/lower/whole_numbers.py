"""Lowering of powers of whole numbers. A negative exponent is noted, and NumPy then raises the error."""

from __future__ import annotations

import numpy as np

from funcgrad.compile.lower.elementwise import wrapped
from funcgrad.compile.lower.indexing import note
from funcgrad.compile.passes.scheduling.lowerings import lowers
from funcgrad.compile.passes.scheduling.nests import Let, squeezed
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.ir.program import Equation
from funcgrad.ops.elementwise.bivariate import FallingPow, Pow


@lowers(Pow, FallingPow)
def lower_power(scheduler: Scheduler, equation: Equation) -> None:
    """Powers of integers, by squaring; those of other numbers are as any function of elements."""
    (x, n), (out,) = equation.inputs, equation.outputs
    dtype = out.aval.dtype
    if dtype.kind not in "iu":
        scheduler.pointwise(equation)
        return
    low, _ = scheduler.ranges.of(n) or (-1, 0)
    source, shape = equation.source, squeezed(out.aval.shape)
    nest = scheduler.nest_for(shape, max(scheduler.bound(x, shape), scheduler.bound(n, shape)))
    base, exponent = scheduler.operand(x, nest), scheduler.operand(n, nest)
    if dtype.kind == "i" and low < 0:
        wrong, raised = scheduler.local.fresh("negative"), scheduler.local.fresh("exponent")
        nest.body.append(Let(wrong, "{0} < 0", (exponent,), np.dtype(np.bool_), 1, source))
        nest.body.append(Let(raised, "select({0}, 0, {1})", (wrong, exponent), n.aval.dtype, 1, source))
        note(scheduler, nest, wrong, source)
        exponent = raised
    text = wrapped("integer_power({0}, {1})", dtype)
    scheduler.define_member(out, nest, text, (base, exponent), equation.primitive.cost, source)
