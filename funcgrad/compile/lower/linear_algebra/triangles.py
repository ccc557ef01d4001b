"""Lowerings of parts of matrices: triangles, and matrices of which a diagonal is given.

They are statements of nests, which join those around them: whether an element counts is a comparison of the
variables of the loops. The diagonal of a matrix is a view; see `funcgrad.compile.passes.scheduling.views`.
Products and solutions ask here which of their operands are triangles, and leave out what is zero.
"""

from __future__ import annotations

import numpy as np

from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.slice_updates import check_dtype
from funcgrad.compile.passes.scheduling.lowerings import lowers
from funcgrad.compile.passes.scheduling.nests import Load, Nest, Operand, squeezed, squeezed_view
from funcgrad.compile.passes.scheduling.nodes import Node
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.ir.avals import Shape
from funcgrad.ir.program import Atom, Equation, Literal
from funcgrad.ops.arrays.structure import Broadcast, Permute
from funcgrad.ops.linalg.matrices import DiagonalMatrix, Triangle


def places(shape: Shape) -> tuple[Load, Load]:
    """The row and the column of an element of a stack of matrices: no memory, but a loop's variable."""
    index = Buffer("", np.dtype(np.int64), 0, "index")
    last = len(shape) - 1
    row, column = (
        squeezed_view(View(index, shape, tuple([int(a == axis) for a in range(len(shape))])))
        for axis in (last - 1, last)
    )
    return Load(row), Load(column)


NONE: frozenset[str] = frozenset()
LOWER, UPPER = frozenset({"lower"}), frozenset({"upper"})
FARTHEST = 8
"""How many operations back it is looked for triangles."""


def is_flip(move: object, ndim: int) -> bool:
    """Whether a movement exchanges rows and columns, and nothing else."""
    return isinstance(move, Permute) and move.order == (*range(ndim - 2), ndim - 1, ndim - 2)


def flipped(triangles: frozenset[str]) -> frozenset[str]:
    """The triangles of transposed matrices."""
    return {LOWER: UPPER, UPPER: LOWER}.get(triangles, triangles)


def triangles_of(scheduler: Scheduler, atom: Atom, far: int = FARTHEST) -> frozenset[str]:
    """Beside which triangles of its matrices all elements are zero, as far as is known."""
    if isinstance(atom, Literal) or atom.aval.ndim < 2 or not far:
        return NONE
    node = scheduler.nodes[atom]
    if node.source is not None:
        found = triangles_of(scheduler, node.source, far - 1)
        return flipped(found) if is_flip(node.move, atom.aval.ndim) else NONE
    if node.equation is None or node.equation.primitive.name not in ("add", "sub", "neg", "mul"):
        return node.triangles
    numbers = [x for x in node.equation.inputs if isinstance(x, Literal)]
    arrays = [x for x in node.equation.inputs if not isinstance(x, Literal)]
    if node.equation.primitive.name == "mul":
        if len(arrays) != 1 or not np.isfinite(numbers[0].value):
            return NONE
    elif numbers:
        return NONE
    return frozenset.intersection(*[triangles_of(scheduler, x, far - 1) for x in arrays])


def select_in(scheduler: Scheduler, nest: Nest, equation: Equation, condition: str, value: Operand) -> Node:
    """Define the result as a value where the row ``{0}`` and the column ``{1}`` say so, else zero."""
    (out,) = equation.outputs
    dtype = out.aval.dtype
    zero = "False" if dtype.kind == "b" else f"{cast_name(dtype)}(0)"
    operands = (*places(out.aval.shape), value)
    template = f"select({condition}, {{2}}, {zero})"
    return scheduler.define_member(out, nest, template, operands, 1, equation.source)


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
    node = select_in(scheduler, nest, equation, condition, scheduler.operand(x, nest))
    if equation.primitive.lower:
        node.triangles = LOWER if k <= 0 else NONE
    else:
        node.triangles = UPPER if k >= 0 else NONE


@lowers(DiagonalMatrix)
def lower_diagonal_matrix(scheduler: Scheduler, equation: Equation) -> None:
    """The elements of a diagonal, and zeros beside it."""
    check_dtype(equation)
    (x,), (out,) = equation.inputs, equation.outputs
    shape = squeezed(out.aval.shape)
    nest = scheduler.nest_for(shape, scheduler.bound(x, shape))
    spread = Broadcast(out.aval.shape, tuple(range(x.aval.ndim)))
    node = select_in(scheduler, nest, equation, "{0} == {1}", scheduler.operand(x, nest, (spread,)))
    node.triangles = LOWER | UPPER
