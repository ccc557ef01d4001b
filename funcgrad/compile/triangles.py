"""Lowerings of parts of matrices: triangles, and matrices of which a diagonal is given.

They are statements of nests, which join those around them: whether an element counts is a comparison of the
variables of the loops. The diagonal of a matrix is a view; see `funcgrad.compile.layout`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.compile.layout import Buffer, View
from funcgrad.compile.nests import Load, Nest, squeezed, squeezed_view
from funcgrad.compile.parts import check_dtype
from funcgrad.compile.scalars import cast_name
from funcgrad.compile.schedule import Scheduler, lowers
from funcgrad.ir.avals import Shape
from funcgrad.ir.program import Equation
from funcgrad.ops.linalg.matrices import DiagonalMatrix, Triangle
from funcgrad.ops.structure import Broadcast


def places(shape: Shape) -> tuple[Load, Load]:
    """The row and the column of an element of a stack of matrices: no memory, but a loop's variable."""
    index = Buffer("", np.dtype(np.int64), 0, "index")
    last = len(shape) - 1
    row, column = (
        squeezed_view(View(index, shape, tuple([int(a == axis) for a in range(len(shape))])))
        for axis in (last - 1, last)
    )
    return Load(row), Load(column)


def select_in(scheduler: Scheduler, nest: Nest, equation: Equation, condition: str, value: Any) -> None:
    """Define the result as a value where the row ``{0}`` and the column ``{1}`` say so, else zero."""
    (out,) = equation.outputs
    dtype = out.aval.dtype
    zero = "False" if dtype.kind == "b" else f"{cast_name(dtype)}(0)"
    operands = (*places(out.aval.shape), value)
    template = f"select({condition}, {{2}}, {zero})"
    scheduler.define_member(out, nest, template, operands, 1, equation.source)


@lowers(Triangle)
def lower_triangle(scheduler: Scheduler, equation: Equation) -> None:
    """The elements of a triangle, and zeros beside it."""
    check_dtype(equation)
    (x,) = equation.inputs
    k = equation.primitive.k
    size = scheduler.local.symbol(abs(k))
    compared = "<=" if equation.primitive.lower else ">="
    shape = squeezed(x.aval.shape)
    nest = scheduler.nest_for(shape, scheduler.bound(x, shape))
    condition = f"{{1}} - {{0}} {compared} {'-' if k < 0 else ''}{size}"
    select_in(scheduler, nest, equation, condition, scheduler.operand(x, nest))


@lowers(DiagonalMatrix)
def lower_diagonal_matrix(scheduler: Scheduler, equation: Equation) -> None:
    """The elements of a diagonal, and zeros beside it."""
    check_dtype(equation)
    (x,), (out,) = equation.inputs, equation.outputs
    shape = squeezed(out.aval.shape)
    nest = scheduler.nest_for(shape, scheduler.bound(x, shape))
    spread = Broadcast(out.aval.shape, tuple(range(x.aval.ndim)))
    select_in(scheduler, nest, equation, "{0} == {1}", scheduler.operand(x, nest, (spread,)))
