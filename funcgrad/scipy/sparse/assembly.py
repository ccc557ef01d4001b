"""Sparse arrays put together of diagonals, of blocks, and element by element.

The last are SciPy's ``lil`` and ``dok``: in a traced function they are an `Assembly`, which traced values can
be written into; without one it gives SciPy's own when it is converted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.errors import IndexingError
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.originals import originals_of
from funcgrad.scipy.sparse.arrays import Convertible, SparseArray, gathered, is_sparse, sparse
from funcgrad.scipy.sparse.matrices import as_matrix, of_kind
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, ArrayLike, DTypeLike, ShapeLike

__all__ = [
    "Assembly",
    "block_diag",
    "diags",
    "diags_array",
    "dok_array",
    "dok_matrix",
    "hstack",
    "kron",
    "lil_array",
    "lil_matrix",
    "vstack",
]


scipys = originals_of("sparse")
"""SciPy's functions and classes by name."""


# -- diagonals -------------------------------------------------------------------------------------------


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
    return dtype_of(from_diagonals(values, places, tuple(shape)), dtype)


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


def dtype_of(found: SparseArray, dtype: DTypeLike) -> SparseArray:
    """With elements of a dtype, if one is asked for."""
    return found if dtype is None else found.astype(dtype)


# -- blocks ----------------------------------------------------------------------------------------------


def any_ours(blocks: Sequence[Any]) -> bool:
    """Whether a block is a sparse array of ours, or traced."""
    return any(isinstance(x, SparseArray | Tracer) for x in blocks)


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
    return of_kind(dtype_of(placed(parts, corners, (sum(heights), widths.pop())), dtype), *blocks)


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
    return of_kind(dtype_of(placed(parts, corners, (heights.pop(), sum(widths))), dtype), *blocks)


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
    return of_kind(dtype_of(placed(parts, corners, (sum(heights), sum(widths))), dtype), *mats)


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


# -- element by element ----------------------------------------------------------------------------------


class Assembly(Convertible):
    """What SciPy's ``lil`` and ``dok`` classes are for: a sparse array whose elements are set one by one.

    It has no operations of its own: whatever is done with it is done with what it is converted to.

    >>> def solved(c):
    ...     A = fg.scipy.sparse.lil_matrix((2, 2))
    ...     A[0, 0] = c
    ...     A[1, 1] += 2.0
    ...     return fg.scipy.sparse.linalg.spsolve(A.tocsc(), np.ones(2)).sum()
    >>> fg.grad(solved)(2.0)
    np.float64(-0.25)
    """

    __array_ufunc__ = None
    __array_priority__ = 2000.0
    ndim = 2

    def __init__(self, name: str, arg1: Any, dtype: Any = None) -> None:
        self._name = name
        self._values: dict[tuple[int, int], Any] = {}
        if is_sparse(arg1) or not isinstance(arg1, tuple):
            start = sparse(arg1) if is_sparse(arg1) else part(arg1)
            self.shape = start.shape
            self.dtype = np.dtype(start.dtype if dtype is None else dtype)
            for i, j, value in zip(start.structure.rows, start.indices, start.data, strict=True):
                self._values[int(i), int(j)] = value
        else:
            self.shape = (int(arg1[0]), int(arg1[1]))
            self.dtype = np.dtype(np.float64 if dtype is None else dtype)

    def __repr__(self) -> str:
        return f"{self._name} with {self.nnz} elements, shape={self.shape}"

    @property
    def nnz(self) -> int:
        """How many elements there are."""
        return len(self._values)

    def _places(self, key: Any) -> tuple[Any, Any]:
        if not isinstance(key, tuple) or len(key) != 2:
            key = (key, slice(None))
        found = []
        for index, size in zip(key, self.shape, strict=True):
            if isinstance(index, Tracer):
                raise IndexingError(
                    "an element of a sparse array cannot be at a traced place",
                    remedy="Make it of all elements and their places, by fg.scipy.sparse.coo_array.",
                )
            found.append(np.arange(size)[index])
        if any(isinstance(index, slice) for index in key) and all(np.ndim(x) == 1 for x in found):
            rows, columns = np.meshgrid(*found, indexing="ij")
        else:
            rows, columns = np.broadcast_arrays(*found)
        return rows, columns

    def __getitem__(self, key: Any) -> Any:
        rows, columns = self._places(key)
        if np.ndim(rows):
            return self._converted()[key]
        return self._values.get((int(rows), int(columns)), self.dtype.type(0))

    def __setitem__(self, key: Any, value: Any) -> None:
        rows, columns = self._places(key)
        if is_sparse(value):
            value = sparse(value).toarray()
        value = asoperand(value)
        if not np.ndim(rows):
            self._put(int(rows), int(columns), value.reshape(()) if shape_of(value) else value)
            return
        spread = fnp.broadcast_to(value, rows.shape)
        for place in np.ndindex(rows.shape):
            self._put(int(rows[place]), int(columns[place]), spread[place])

    def _put(self, i: int, j: int, value: Any) -> None:
        if isinstance(value, Tracer) or value != 0:
            self._values[i, j] = value
        else:
            self._values.pop((i, j), None)

    def _converted(self) -> Any:
        """The sparse array of ours where something is traced, otherwise SciPy's of this kind."""
        places = sorted(self._values)
        values = [self._values[p] for p in places]
        if any(isinstance(x, Tracer) for x in values):
            rows, columns = np.array(places).T
            found = gathered(self.shape, rows, columns, fnp.stack(values)).astype(self.dtype)
            return as_matrix(found) if self._name.endswith("matrix") else found
        made = scipys(self._name)(self.shape, dtype=self.dtype)
        for place, value in zip(places, values, strict=True):
            made[place] = value
        return made

    def setdiag(self, values: ArrayLike, k: int = 0) -> None:
        """Set the elements of a diagonal: all to one number, or the first ones to these."""
        value = asoperand(values)
        length = min(self.shape[0] + min(k, 0), self.shape[1] - max(k, 0))
        if shape_of(value):
            length = min(length, shape_of(value)[0])
        i = np.arange(length)
        self[i - min(k, 0), i + max(k, 0)] = value[:length] if shape_of(value) else value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._converted(), name)

    def __neg__(self) -> Any:
        return -self._converted()


def operating(name: str) -> Callable[[Assembly, Any], Any]:
    """An operator, of what the assembly is converted to."""

    def operate(self: Assembly, other: Any) -> Any:
        other = other._converted() if isinstance(other, Assembly) else other
        return getattr(self._converted(), name)(other)

    return operate


for _name in ("add", "sub", "mul", "matmul"):
    setattr(Assembly, f"__{_name}__", operating(f"__{_name}__"))
    setattr(Assembly, f"__r{_name}__", operating(f"__r{_name}__"))
setattr(Assembly, "__truediv__", operating("__truediv__"))  # noqa: B010 - as those above


def assembled_as(name: str) -> Callable[..., Any]:
    """The constructor of that name."""

    def construct(arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> Any:
        return Assembly(name, arg1 if shape is None else shape, dtype)

    construct.__name__ = construct.__qualname__ = name
    construct.__doc__ = f"""As `scipy.sparse.{name}`: an array whose elements are set singly, traced or not.

    >>> def dense(v):
    ...     A = fg.scipy.sparse.{name}((2, 2))
    ...     A[0, 1] = v
    ...     return A.tocsr().toarray()
    >>> print(fg.jit(dense)(3.0))
    [[0. 3.]
     [0. 0.]]
    """
    return construct


lil_array = assembled_as("lil_array")
lil_matrix = assembled_as("lil_matrix")
dok_array = assembled_as("dok_array")
dok_matrix = assembled_as("dok_matrix")
