"""What the contractions do with their arguments: one dtype, an `out`, and refusals in the user's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import ShapeError
from funcgrad.ir.avals import Aval
from funcgrad.numpy.reducing import axes
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.ops.elementwise.complexes import conj
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike


def traced(*arguments: ArrayLike) -> list[Any] | None:
    """The arguments as operands of one dtype, or None where none of them is traced."""
    operands = [asoperand(x) for x in arguments]
    if recorder_of(operands) is None:
        return None
    return promoted(operands)


def promoted(operands: Sequence[Any]) -> list[Any]:
    """The operands cast to their common dtype."""
    avals = [aval(x) for x in operands]
    dtype = avals[0].dtype
    if all(a.dtype is dtype and not a.weak for a in avals):
        return list(operands)
    for a in avals:
        dtype = np.promote_types(dtype, a.dtype)
    return [cast(x, dtype) for x in operands]


def stored(result: object, out: Array, name: str) -> Array:
    """The result, written to `out` where one is given; a real array cannot take a traced result."""
    if out is None or isinstance(result, Tracer):
        return axes.stored(result, out, name)
    out[...] = result
    return out


def conjugated(x: ArrayLike) -> Array:
    """The complex conjugate; `x` itself where it is real."""
    return conj(x) if aval(x).dtype.kind == "c" else x


def sizes_differ(name: str, x: Aval, y: Aval, x_size: int, y_size: int) -> ShapeError:
    """The error for operands whose summed axes have different sizes."""
    return refused(
        f"{name} of {x} and {y}: the inner sizes {x_size} and {y_size} differ",
        "The axes that are summed over must have one size; x.T exchanges the axes of a matrix.",
    )
