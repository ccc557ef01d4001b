"""Products with sparse matrices as loops over their elements: gathers, products, and scatters.

The row of an element is the number of rows that begin up to it, less one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Atom, Equation, Literal, Var
from funcgrad.ops.arithmetic import mul, sub
from funcgrad.ops.cumulative import CumSum
from funcgrad.ops.indexing import Gather, Scatter
from funcgrad.ops.slicing import Slice
from funcgrad.ops.structure import Broadcast, ReduceSum

INTEGER = np.dtype(np.int64)


def rewrite_sparse_product(r: Any, equation: Equation) -> Sequence[Atom] | None:
    """``out[rows] += data * x[columns]``, and the same with rows and columns exchanged."""
    data, indices, indptr, x = equation.inputs
    (out,) = equation.outputs
    count = data.aval.size
    if not count or not out.aval.size or not x.aval.size:
        return None
    rows = rows_of(r, indptr, count)
    source, target = (rows, indices) if equation.primitive.transposed else (indices, rows)
    read = r(Gather((0,)), x, source)
    factors = r(Broadcast(read.aval.shape, (0,)), data) if x.aval.ndim > 1 else data
    zeros = r(Broadcast(out.aval.shape, ()), Literal(out.aval.dtype.type(0), Aval((), out.aval.dtype)))
    return [r(Scatter("add", (0,), False), zeros, r(mul, read, factors), target)]


def rewrite_sparse_outer(r: Any, equation: Equation) -> Sequence[Atom] | None:
    """``x[rows] * y[columns]``, summed over further columns."""
    indices, indptr, x, y = equation.inputs
    if not indices.aval.size or not x.aval.size:
        return None
    rows = rows_of(r, indptr, indices.aval.size)
    found = r(mul, r(Gather((0,)), x, rows), r(Gather((0,)), y, indices))
    return [found if x.aval.ndim == 1 else r(ReduceSum((1,)), found)]


def rows_of(r: Any, indptr: Atom, count: int) -> Var:
    """The row of each of so many elements."""
    zeros = r(Broadcast((count + 1,), ()), Literal(np.int64(0), Aval((), INTEGER)))
    marked = r(Scatter("add", (0,), False), zeros, Literal(np.int64(1), Aval((), INTEGER)), indptr)
    begun = r(Slice(((0, count, 1),)), r(CumSum(0, False), marked))
    found: Var = r(sub, begun, Literal(np.int64(1), Aval((), INTEGER)))
    return found
