"""Sparse arrays put together of blocks: stacked, along the diagonal, on a grid, and Kronecker's products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.originals import originals_of
from funcgrad.scipy.sparse.arrays import SparseArray, gathered, is_sparse, sparse
from funcgrad.scipy.sparse.constructors import of_dtype
from funcgrad.scipy.sparse.diagonals import joined
from funcgrad.scipy.sparse.matrices import of_kind
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, ArrayLike, DTypeLike, ShapeLike

__all__ = ["block_array", "block_diag", "bmat", "hstack", "kron", "kronsum", "vstack"]

scipys = originals_of("sparse")
"""SciPy's functions and classes by name."""


def any_ours(blocks: Sequence[Any]) -> bool:
    """Whether a block, or one in a row of blocks, is a sparse array of ours, or traced."""
    return any(
        any_ours(x) if isinstance(x, list | tuple) else isinstance(x, SparseArray | Tracer) for x in blocks
    )


def part(x: ArrayLike) -> SparseArray:
    """A block as a sparse array of ours."""
    if is_sparse(x):
        return sparse(x)
    value = asoperand(x)
    m, n = shape_of(value)
    return gathered((m, n), np.repeat(np.arange(m), n), np.tile(np.arange(n), m), fnp.ravel(1.0 * value))


def placed(
    blocks: Sequence[SparseArray], corners: Sequence[tuple[int, int]], shape: ShapeLike
) -> SparseArray:
    """Blocks with their upper left corners at these places."""
    return joined(
        shape,
        [(x.structure.rows + i, x.indices + j, x.data) for x, (i, j) in zip(blocks, corners, strict=True)],
    )


def starts(sizes: Sequence[int]) -> list[int]:
    """Where each begins that comes after the others."""
    return [0, *np.cumsum(sizes)[:-1].tolist()]


def vstack(blocks: ArrayLike, format: object = None, dtype: DTypeLike = None) -> Anything:
    """Sparse arrays below each other.

    >>> stacked = lambda d: fg.scipy.sparse.vstack([fg.scipy.sparse.diags(d), fg.scipy.sparse.diags(d)])
    >>> print(fg.grad(lambda d: (stacked(d) @ np.ones(2)).sum())(np.ones(2)))
    [2. 2.]
    """
    if not any_ours(blocks):
        return scipys("vstack")(blocks, format, dtype)
    parts = [part(x) for x in blocks]
    widths = {x.shape[1] for x in parts}
    if len(widths) > 1:
        raise ValueError("incompatible dimensions for axis 1")
    heights = [x.shape[0] for x in parts]
    corners = [(i, 0) for i in starts(heights)]
    return of_kind(of_dtype(placed(parts, corners, (sum(heights), widths.pop())), dtype), *blocks)


def hstack(blocks: ArrayLike, format: object = None, dtype: DTypeLike = None) -> Anything:
    """Sparse arrays beside each other.

    >>> stacked = lambda d: fg.scipy.sparse.hstack([fg.scipy.sparse.diags(d), fg.scipy.sparse.diags(d)])
    >>> print(fg.grad(lambda d: (stacked(d) @ np.arange(4.0)).sum())(np.ones(2)))
    [2. 4.]
    """
    if not any_ours(blocks):
        return scipys("hstack")(blocks, format, dtype)
    parts = [part(x) for x in blocks]
    heights = {x.shape[0] for x in parts}
    if len(heights) > 1:
        raise ValueError("incompatible dimensions for axis 0")
    widths = [x.shape[1] for x in parts]
    corners = [(0, j) for j in starts(widths)]
    return of_kind(of_dtype(placed(parts, corners, (heights.pop(), sum(widths))), dtype), *blocks)


def block_diag(mats: ArrayLike, format: object = None, dtype: DTypeLike = None) -> Anything:
    """Sparse arrays along the diagonal.

    >>> both = lambda d: fg.scipy.sparse.block_diag([fg.scipy.sparse.diags(d), fg.scipy.sparse.diags(d)])
    >>> print(fg.grad(lambda d: (both(d) @ np.arange(4.0)).sum())(np.ones(2)))
    [2. 4.]
    """
    if not any_ours(mats):
        return scipys("block_diag")(mats, format, dtype)
    parts = [part(x) for x in mats]
    heights, widths = [x.shape[0] for x in parts], [x.shape[1] for x in parts]
    corners = list(zip(starts(heights), starts(widths), strict=True))
    return of_kind(of_dtype(placed(parts, corners, (sum(heights), sum(widths))), dtype), *mats)


def kron(A: ArrayLike, B: ArrayLike, format: object = None) -> Anything:
    """Kronecker's product: `B` times each element of `A`, in its place.

    >>> product = lambda d: fg.scipy.sparse.kron(fg.scipy.sparse.diags(d), np.ones((1, 2)))
    >>> print(fg.jit(lambda d: product(d).toarray())(np.array([2.0, 3.0])))
    [[2. 2. 0. 0.]
     [0. 0. 3. 3.]]
    """
    if not any_ours((A, B)):
        return scipys("kron")(A, B, format)
    a, b = part(A), part(B)
    i, j = np.repeat(np.arange(a.nnz), b.nnz), np.tile(np.arange(b.nnz), a.nnz)
    rows = a.structure.rows[i] * b.shape[0] + b.structure.rows[j]
    columns = a.indices[i] * b.shape[1] + b.indices[j]
    shape = a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]
    return of_kind(gathered(shape, rows, columns, a.data[i] * b.data[j]), A, B)


def kronsum(A: ArrayLike, B: ArrayLike, format: object = None) -> Anything:
    """Kronecker's sum of square matrices: ``kron(I, A) + kron(B, I)`` with identities of the other's size.

    >>> total = lambda d: fg.scipy.sparse.kronsum(fg.scipy.sparse.diags(d), np.eye(3)).sum()
    >>> print(fg.grad(total)(np.ones(2)))
    [3. 3.]
    """
    if not any_ours((A, B)):
        return scipys("kronsum")(A, B, format)
    a, b = part(A), part(B)
    for name, x in (("A", a), ("B", b)):
        if x.shape[0] != x.shape[1]:
            raise ValueError(f"{name} is not square")
    eye = scipys("eye_array")
    return of_kind(kron(eye(b.shape[0]), a) + kron(b, eye(a.shape[0])), A, B)


def on_a_grid(blocks: Sequence[Sequence[Any]], dtype: DTypeLike) -> SparseArray:
    """Blocks on a grid, None where there are zeros; SciPy says which sizes do not fit."""
    if not all(isinstance(row, list | tuple | np.ndarray) for row in blocks):
        raise ValueError("blocks must be 2-D")
    parts = [[None if x is None else part(x) for x in row] for row in blocks]
    empty = [[None if x is None else scipys("coo_array")(x.shape) for x in row] for row in parts]
    shape = scipys("block_array")(empty).shape
    heights = [max((x.shape[0] for x in row if x is not None), default=0) for row in parts]
    widths = [
        max((x.shape[1] for x in column if x is not None), default=0) for column in zip(*parts, strict=True)
    ]
    placements = [
        (x, (i, j))
        for i, row in zip(starts(heights), parts, strict=True)
        for j, x in zip(starts(widths), row, strict=True)
        if x is not None
    ]
    found, corners = zip(*placements, strict=True)
    return of_dtype(placed(found, corners, shape), dtype)


def block_array(blocks: ArrayLike, *, format: object = None, dtype: DTypeLike = None) -> Anything:
    """A sparse array of rows of blocks, of which None stands for zeros.

    Raises SciPy's ValueError where the sizes of blocks do not fit.

    >>> def dense(d):
    ...     A = fg.scipy.sparse.diags(d)
    ...     return fg.scipy.sparse.block_array([[A, None], [None, A]]).toarray()
    >>> print(fg.jit(dense)(np.array([2.0])))
    [[2. 0.]
     [0. 2.]]
    """
    if not any_ours(blocks):
        return scipys("block_array")(blocks, format=format, dtype=dtype)
    return on_a_grid(blocks, dtype)


def bmat(blocks: ArrayLike, format: object = None, dtype: DTypeLike = None) -> Anything:
    """As `block_array`; a matrix, where no block is a sparse array.

    >>> def total(d):
    ...     A = fg.scipy.sparse.diags(d)
    ...     return (fg.scipy.sparse.bmat([[A, None], [A, A]]) * np.arange(4.0)).sum()
    >>> print(fg.grad(total)(np.ones(2)))
    [2. 5.]
    """
    if not any_ours(blocks):
        return scipys("bmat")(blocks, format, dtype)
    given = [x for row in blocks for x in row]
    return of_kind(on_a_grid(blocks, dtype), *given)
