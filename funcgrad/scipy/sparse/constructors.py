"""Constructors of sparse arrays, as SciPy's: with traced elements they give a `SparseArray`."""

from __future__ import annotations

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.structure import cast, shape_of
from funcgrad.scipy.originals import originals_of
from funcgrad.scipy.sparse.arrays import SparseArray, Structure, doubtful, gathered, is_sparse, sparse
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, ArrayLike, DTypeLike, ShapeLike


def is_traced(arg: object) -> bool:
    """Whether what a constructor is given holds a tracer where elements stand."""
    if isinstance(arg, SparseArray | Tracer):
        return True
    return isinstance(arg, tuple | list) and any(isinstance(asoperand_or(x), Tracer) for x in arg)


def asoperand_or(x: ArrayLike) -> Anything:
    """A list of tracers as one; everything else as it is."""
    return asoperand(x) if isinstance(x, list) else x


def of_dtype(found: SparseArray, dtype: DTypeLike) -> SparseArray:
    """With elements of the dtype that is asked for."""
    return found if dtype is None else SparseArray(cast(found.data, np.dtype(dtype)), found.structure)


def csr_array(arg1: object, shape: ShapeLike = None, dtype: DTypeLike = None, copy: bool = False) -> Anything:
    """A sparse array from ``(data, indices, indptr)`` of its rows, ``(data, (rows, columns))`` or a matrix.

    >>> structure = np.array([0, 2, 1]), np.array([0, 2, 3])
    >>> matrix = lambda data: fg.scipy.sparse.csr_array((data, *structure), shape=(2, 3))
    >>> total = lambda data: (matrix(data) @ np.arange(3.0)).sum()
    >>> print(fg.grad(total)(np.ones(3)))
    [0. 2. 1.]
    """
    if not is_traced(arg1):
        return scipys("csr_array")(arg1, shape=shape, dtype=dtype, copy=copy)
    if isinstance(arg1, tuple) and len(arg1) == 3:
        data, indices, indptr = arg1
        columns = int(np.max(indices)) + 1 if shape is None and len(indices) else 0
        full = (len(indptr) - 1, columns) if shape is None else shape
        return of_dtype(SparseArray(asoperand_or(data), Structure(indices, indptr, full)), dtype)
    return of_elements(arg1, shape, dtype)


def csc_array(arg1: object, shape: ShapeLike = None, dtype: DTypeLike = None, copy: bool = False) -> Anything:
    """A sparse array from ``(data, indices, indptr)`` of its columns, or as `csr_array`.

    >>> structure = np.array([0, 1, 1]), np.array([0, 2, 3])
    >>> matrix = lambda data: fg.scipy.sparse.csc_array((data, *structure), shape=(2, 2))
    >>> total = lambda data: (matrix(data) @ np.arange(2.0)).sum()
    >>> print(fg.grad(total)(np.ones(3)))
    [0. 0. 1.]
    """
    if not is_traced(arg1):
        return scipys("csc_array")(arg1, shape=shape, dtype=dtype, copy=copy)
    if isinstance(arg1, tuple) and len(arg1) == 3:
        turned = csr_array(arg1, None if shape is None else tuple(reversed(shape)), dtype)
        return turned.transpose()
    return of_elements(arg1, shape, dtype)


def coo_array(arg1: object, shape: ShapeLike = None, dtype: DTypeLike = None, copy: bool = False) -> Anything:
    """A sparse array of elements and their places, of which equal ones are added.

    >>> places = np.array([0, 1, 1]), np.array([0, 1, 1])
    >>> dense = lambda data: fg.scipy.sparse.coo_array((data, places), shape=(2, 2)).toarray()
    >>> print(fg.jit(dense)(np.array([1.0, 2.0, 3.0])))
    [[1. 0.]
     [0. 5.]]
    """
    if not is_traced(arg1):
        return scipys("coo_array")(arg1, shape=shape, dtype=dtype, copy=copy)
    found = of_elements(arg1, shape, dtype)
    if isinstance(arg1, tuple) and len(arg1) == 2 and not copy:
        doubtful(found.data, asoperand_or(arg1[0]))  # SciPy's has these elements, in their order
    return found


def of_elements(arg1: Anything, shape: ShapeLike, dtype: DTypeLike) -> SparseArray:
    """A sparse array with elements of its own, from their places or from a matrix."""
    if is_sparse(arg1):
        found = sparse(arg1)
        return of_dtype(SparseArray(found.data, found.structure), dtype)
    if isinstance(arg1, tuple) and len(arg1) == 2:
        data, (rows, columns) = arg1
        full = (int(np.max(rows)) + 1, int(np.max(columns)) + 1) if shape is None else shape
        return of_dtype(gathered(tuple(full), rows, columns, asoperand_or(data)), dtype)
    x = asoperand(arg1)
    m, n = shape_of(x)
    every = Structure(np.tile(np.arange(n), m), np.arange(m + 1) * n, (m, n))
    return of_dtype(SparseArray(fnp.copy(fnp.ravel(x)), every), dtype)


def issparse(x: ArrayLike) -> bool:
    """Whether it is a sparse array, of SciPy's or of ours.

    >>> fg.scipy.sparse.issparse(np.eye(2))
    False
    """
    return is_sparse(x)


scipys = originals_of("sparse")
"""SciPy's functions and classes by name."""
