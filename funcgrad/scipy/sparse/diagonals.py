"""Sparse arrays given by their diagonals: SciPy's `diags`, `spdiags` and ``dia`` classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.originals import originals_of
from funcgrad.scipy.sparse.arrays import SparseArray, gathered
from funcgrad.scipy.sparse.constructors import is_traced, of_dtype, of_elements
from funcgrad.scipy.sparse.matrices import as_matrix
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, ArrayLike, DTypeLike, Number, ShapeLike

scipys = originals_of("sparse")
"""SciPy's functions and classes by name."""


def diags_array(
    diagonals: ArrayLike,
    /,
    *,
    offsets: ArrayLike = 0,
    shape: ShapeLike = None,
    format: object = None,
    dtype: DTypeLike = None,
) -> Anything:
    """A sparse array from its diagonals; a scalar fills one of an array whose shape is given.

    >>> dense = lambda d: fg.scipy.sparse.diags_array([d, 1.0], offsets=[0, 1], shape=(2, 2)).toarray()
    >>> print(fg.jit(dense)(np.array([2.0, 3.0])))
    [[2. 1.]
     [0. 3.]]
    """
    rows = diagonals if isinstance(diagonals, list | tuple) else [diagonals]
    if not any(isinstance(asoperand_of(x), Tracer) for x in (diagonals, *rows)):
        return scipys("diags_array")(diagonals, offsets=offsets, shape=shape, format=format, dtype=dtype)
    if np.ndim(offsets) == 0:
        whole = asoperand(diagonals)
        rows = [whole[0] if len(shape_of(whole)) == 2 else whole]
    elif isinstance(diagonals, Tracer):
        rows = list(diagonals)
    places = [int(k) for k in np.atleast_1d(offsets)]
    if len(places) != len(rows):
        raise ValueError("Different number of diagonals and offsets.")
    values = [asoperand(x) for x in rows]
    if shape is None:
        size = (shape_of(values[0]) or (1,))[0] + abs(places[0])
        shape = (size, size)
    return of_dtype(from_diagonals(values, places, tuple(shape)), dtype)


def from_diagonals(values: Sequence[Any], places: Sequence[int], shape: tuple[int, int]) -> SparseArray:
    """The sparse array of diagonals, whose lengths must agree with the shape."""
    found = []
    for value, k in zip(values, places, strict=True):
        length = min(shape[0] + min(k, 0), shape[1] - max(k, 0))
        if length < 0:
            raise ValueError(f"Offset {k} (index 0) out of bounds")
        given = (shape_of(value) or (1,))[0]
        if given != 1 and given < length:
            raise ValueError(
                f"Diagonal length (index 0: {given} at offset {k}) does not agree with array size {shape}."
            )
        i = np.arange(length)
        value = value[:length] if given > 1 else value  # noqa: PLW2901 - what is beyond the shape SciPy drops
        found.append((i - min(k, 0), i + max(k, 0), fnp.broadcast_to(1.0 * value, (length,))))
    return joined(shape, found)


def joined(shape: tuple[int, int], parts: Sequence[tuple[Any, Any, Any]]) -> SparseArray:
    """The sparse array of rows, columns and elements that are given in parts."""
    rows, columns, values = zip(*parts, strict=True)
    return gathered(shape, np.concatenate(rows), np.concatenate(columns), fnp.concatenate(values))


def diags(
    diagonals: ArrayLike,
    offsets: ArrayLike = 0,
    shape: ShapeLike = None,
    format: object = None,
    dtype: DTypeLike = None,
) -> Anything:
    """As `diags_array`, a matrix: with it ``*`` is the product of matrices.

    >>> print(fg.grad(lambda d: (fg.scipy.sparse.diags(d) * np.arange(3.0)).sum())(np.ones(3)))
    [0. 1. 2.]
    """
    found = diags_array(diagonals, offsets=offsets, shape=shape, format=format, dtype=dtype)
    if isinstance(found, SparseArray):
        return as_matrix(found)
    return scipys("diags")(diagonals, offsets, shape, format, dtype)


def asoperand_of(x: ArrayLike) -> Anything:
    """A list of numbers as one operand; lists of several lengths as they are."""
    if not isinstance(x, list | tuple) or len({np.shape(y) for y in x}) > 1:
        return x
    return asoperand(x)


def dia_array(arg1: object, shape: ShapeLike = None, dtype: DTypeLike = None, copy: bool = False) -> Anything:
    """A sparse array from ``(data, offsets)``: column j of row k of `data` stands in column j of a diagonal.

    Raises SciPy's ValueError where diagonals and offsets are not as many, or no shape is given.

    >>> dense = lambda v: fg.scipy.sparse.dia_array((np.stack([v, v]), [0, 1]), shape=(2, 2)).toarray()
    >>> print(fg.jit(dense)(np.array([2.0, 3.0])))
    [[2. 3.]
     [0. 3.]]
    """
    if not is_traced(arg1):
        return scipys("dia_array")(arg1, shape=shape, dtype=dtype, copy=copy)
    if not (isinstance(arg1, tuple) and len(arg1) == 2):
        return of_elements(arg1, shape, dtype)
    data, offsets = asoperand(arg1[0]), np.atleast_1d(arg1[1])
    m, n = scipys("dia_array")((np.zeros(shape_of(data)), offsets), shape=shape).shape
    rows = fnp.reshape(data, (1, -1)) if len(shape_of(data)) < 2 else data
    found = []
    for k, offset in enumerate(int(x) for x in offsets):
        j = np.arange(max(offset, 0), max(min(n, m + offset, shape_of(rows)[1]), 0))
        found.append((j - offset, j, rows[k][j]))
    return of_dtype(joined((m, n), found), dtype)


def dia_matrix(
    arg1: object, shape: ShapeLike = None, dtype: DTypeLike = None, copy: bool = False
) -> Anything:
    """As `dia_array`, a matrix: with it ``*`` is the product of matrices.

    >>> product = lambda v: fg.scipy.sparse.dia_matrix((v, 0), shape=(2, 2)) * np.array([1.0, 10.0])
    >>> print(fg.jit(product)(np.array([2.0, 3.0])))
    [ 2. 30.]
    """
    if not is_traced(arg1):
        return scipys("dia_matrix")(arg1, shape=shape, dtype=dtype, copy=copy)
    return as_matrix(dia_array(arg1, shape, dtype, copy))


def spdiags(
    data: ArrayLike, diags: ArrayLike, m: Number = None, n: Number = None, format: object = None
) -> Anything:
    """A sparse matrix of diagonals that are the rows of `data`, square where no shape is given.

    >>> slope = fg.grad(lambda v: (fg.scipy.sparse.spdiags(v, 1, 3, 3) * np.arange(3.0)).sum())
    >>> print(slope(np.ones(3)))
    [0. 1. 2.]
    """
    given = asoperand_of(data)
    if not isinstance(given, Tracer):
        return scipys("spdiags")(data, diags, m, n, format)
    if m is None and n is None:
        shape: Any = (shape_of(given)[-1],) * 2
    else:
        shape = m if n is None else (m, n)
    return dia_matrix((given, diags), shape=shape)
