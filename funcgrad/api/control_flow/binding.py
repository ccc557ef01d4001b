"""What all control flow does with what it is given: predicates, scalars, binding an equation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.api.calling.arguments import here
from funcgrad.api.control_flow.control_types import as_operand
from funcgrad.errors import ShapeError
from funcgrad.ir.program import Program
from funcgrad.ops.elementwise.comparison import not_equal
from funcgrad.ops.families import aval as aval_of_any
from funcgrad.tracing.recorder import active_recorder, recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import AnyPrimitive, Array

Function = Callable[..., Any]


def boolean(pred: object, what: str) -> Array:
    """A predicate as a scalar boolean; numbers are compared with 0."""
    value = scalar(pred, f"the predicate of {what}")
    seen = aval_of_any(value)
    if seen.dtype.kind != "b":
        value = not_equal(value, 0)
    return value if isinstance(value, Tracer) else np.bool_(value)


def scalar(x: object, role: str) -> Array:
    """A tracer, NumPy scalar or number of rank 0; raises ShapeError for arrays with axes."""
    value = as_operand(x, role, "the value")
    seen = aval_of_any(value)
    if seen.shape:
        raise ShapeError(
            f"{role} must be a scalar, got {seen}",
            source=here(),
            remedy="Use fg.numpy.where to choose element by element, or fg.vmap over the examples.",
        )
    return value[()] if isinstance(value, np.ndarray) else value


def bound(primitive: AnyPrimitive, inputs: Sequence[Any]) -> Sequence[Any]:
    """Record the primitive, or evaluate it where no input is traced."""
    if recorder_of(inputs) is not None:
        recorded_outs: Sequence[Any] = primitive.bind(*inputs)
        return recorded_outs
    with np.errstate(all="ignore"):
        outs: Sequence[Any] = primitive.bind(*inputs)
    if active_recorder() is None:
        return outs
    # In a trace, what started as Python's numbers must still give way to the dtypes it meets.
    avals = primitive.inferred(tuple([aval_of_any(x) for x in inputs]))
    return [x.item() if a.weak else x for x, a in zip(outs, avals, strict=True)]


def itself(program: Program) -> Program:
    """A Program as it is, where another makes something of it."""
    return program
