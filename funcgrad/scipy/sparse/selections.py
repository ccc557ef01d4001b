"""Some of the elements of a sparse array: triangles, what is stored with its places, and exchanged axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.scipy.originals import known_value, originals_of
from funcgrad.scipy.sparse.arrays import SparseArray, Structure, deduplicated
from funcgrad.scipy.sparse.blocks import any_ours, part
from funcgrad.scipy.sparse.matrices import as_matrix
from funcgrad.types import Anything, Array, ArrayLike, Arrays

scipys = originals_of("sparse")
"""SciPy's functions and classes by name."""


def selected(a: SparseArray, mask: Array) -> SparseArray:
    """The elements of which a mask is true, where they stand."""
    chosen = np.flatnonzero(mask)
    counts = np.bincount(a.structure.rows[chosen], minlength=a.shape[0])
    structure = Structure(a.indices[chosen], np.concatenate([[0], np.cumsum(counts)]), a.shape)
    return SparseArray(a.data[chosen], structure)


def triangle(name: str, beyond: Callable[[Any, Any], Any], A: ArrayLike, k: int, format: object) -> Anything:
    """The elements of ``A[i, j]`` with ``j - i`` on one side of `k`, in a matrix unless `A` is an array."""
    if not any_ours((A,)):
        return scipys(name)(A, k, format)
    a = part(A)
    found = selected(a, beyond(a.indices - a.structure.rows, k))
    is_array = isinstance(A, SparseArray) and type(A) is SparseArray
    return found if is_array else as_matrix(found)


def tril(A: ArrayLike, k: int = 0, format: object = None) -> Anything:
    """The elements on and below a diagonal.

    >>> total = lambda v: fg.scipy.sparse.tril(fg.scipy.sparse.csr_array(np.outer(v, v))).sum()
    >>> print(fg.grad(total)(np.array([1.0, 2.0])))
    [4. 5.]
    """
    return triangle("tril", np.less_equal, A, k, format)


def triu(A: ArrayLike, k: int = 0, format: object = None) -> Anything:
    """The elements on and above a diagonal.

    >>> total = lambda v: fg.scipy.sparse.triu(fg.scipy.sparse.csr_array(np.outer(v, v)), 1).sum()
    >>> print(fg.grad(total)(np.array([1.0, 2.0])))
    [2. 1.]
    """
    return triangle("triu", np.greater_equal, A, k, format)


def find(A: ArrayLike) -> Arrays:
    """The rows, columns and values of the elements, as SciPy's; zeros are left out.

    Where values are not known, under `jit` and `vmap`, whatever is stored counts as an element.

    >>> total = lambda v: (fg.scipy.sparse.find(fg.scipy.sparse.diags(v))[2] ** 2).sum()
    >>> print(fg.grad(total)(np.array([1.0, 2.0])))
    [2. 4.]
    """
    if not any_ours((A,)):
        return scipys("find")(A)
    a = deduplicated(part(A))
    known = known_value(a.data)
    if known is not None and not np.all(known):
        a = selected(a, known != 0)
    return a.structure.rows.astype(np.int32), a.indices.astype(np.int32), a.data


def permute_dims(A: ArrayLike, axes: Anything = None, copy: bool = False) -> Anything:
    """The sparse array with its axes in another order: transposed, or as it is.

    Raises SciPy's ValueError for axes that are none of a matrix's.

    >>> total = lambda v: fg.scipy.sparse.permute_dims(fg.scipy.sparse.diags_array([v], offsets=[1]))[1, 0]
    >>> print(fg.grad(total)(np.array([1.0, 2.0])))
    [1. 0.]
    """
    if not isinstance(A, SparseArray):
        return scipys("permute_dims")(A, axes, copy)
    scipys("permute_dims")(scipys("coo_array")(A.shape), axes)
    order = (1, 0) if axes is None else tuple([int(k) % 2 for k in axes])
    if order == (0, 1):
        return A.copy() if copy else A
    return A.transpose()


def swapaxes(A: ArrayLike, axis1: int, axis2: int) -> Anything:
    """The sparse array with two axes exchanged.

    Raises SciPy's ValueError for axes that are none of a matrix's.

    >>> total = lambda v: fg.scipy.sparse.swapaxes(fg.scipy.sparse.diags_array([v], offsets=[1]), 0, 1)[1, 0]
    >>> print(fg.grad(total)(np.array([1.0, 2.0])))
    [1. 0.]
    """
    if not isinstance(A, SparseArray):
        return scipys("swapaxes")(A, axis1, axis2)
    scipys("swapaxes")(scipys("coo_array")(A.shape), axis1, axis2)
    return A if axis1 % 2 == axis2 % 2 else A.transpose()
