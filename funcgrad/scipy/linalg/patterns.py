"""Matrices with a pattern."""

from __future__ import annotations

import numpy as np

from funcgrad.numpy.algebra.operands import traced
from funcgrad.numpy.arrays.joining import concatenate
from funcgrad.numpy.reducing.axes import refused
from funcgrad.ops.arrays.structure import aval, reshape, shape_of
from funcgrad.ops.linalg.matrices import conjugate
from funcgrad.scipy.linalg.arguments import scipys
from funcgrad.scipy.linalg.special_matrices import length_of, side_by_side
from funcgrad.types import Array, ArrayLike


def block_diag(*arrs: ArrayLike) -> Array:
    """The matrix with these matrices along its diagonal; a vector is a row.

    >>> print(fg.scipy.linalg.block_diag(np.eye(2), np.array([[3.0, 4.0]])))
    [[1. 0. 0. 0.]
     [0. 1. 0. 0.]
     [0. 0. 3. 4.]]
    """
    operands = traced(*arrs) if arrs else None
    if operands is None:
        return scipys("block_diag")(*arrs)
    blocks = [reshape(x, (1,) * (2 - aval(x).ndim) + shape_of(x)) for x in operands]
    for x in blocks:
        if aval(x).ndim != 2:
            raise refused(f"block_diag of {aval(x)}: each block must be a matrix")
    widths = [shape_of(x)[1] for x in blocks]
    rows = []
    for k, x in enumerate(blocks):
        sides = [
            np.zeros((shape_of(x)[0], sum(part)), aval(x).dtype) for part in (widths[:k], widths[k + 1 :])
        ]
        rows.append(concatenate([sides[0], x, sides[1]], axis=1))
    return concatenate(rows, axis=0)


def toeplitz(c: ArrayLike, r: ArrayLike = None) -> Array:
    """The matrix with first column `c` and first row `r` (`c`, conjugated, if it is not given), or a stack.

    >>> print(fg.scipy.linalg.toeplitz(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0])))
    [[1. 4.]
     [2. 1.]
     [3. 2.]]
    """
    operands = traced(c) if r is None else traced(c, r)
    if operands is None:
        return scipys("toeplitz")(c, r)
    column = operands[0]
    row = conjugate(column) if r is None else operands[1]
    if not aval(column).ndim or not aval(row).ndim:
        raise refused(f"toeplitz of {aval(column)} and {aval(row)}: needs vectors")
    n, m = length_of(column), length_of(row)
    values = side_by_side(row[..., :0:-1], column)
    return values[..., m - 1 + np.arange(n)[:, None] - np.arange(m)]
