"""Sparse arrays whose elements are set one by one.

They are SciPy's ``lil`` and ``dok``: in a traced function they are an `Assembly`, which traced values can
be written into; without one it gives SciPy's own when it is converted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.errors import IndexingError
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.originals import originals_of
from funcgrad.scipy.sparse.arrays import Convertible, gathered, is_sparse, sparse
from funcgrad.scipy.sparse.blocks import part
from funcgrad.scipy.sparse.matrices import as_matrix
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, DTypeLike, Foreign, Index, ShapeLike

scipys = originals_of("sparse")
"""SciPy's functions and classes by name."""


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

    def __init__(self, name: str, arg1: Anything, dtype: DTypeLike = None) -> None:
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

    def _places(self, key: Index) -> tuple[Any, Any]:
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

    def __getitem__(self, key: Index) -> Array:
        rows, columns = self._places(key)
        if np.ndim(rows):
            return self._converted()[key]
        return self._values.get((int(rows), int(columns)), self.dtype.type(0))

    def __setitem__(self, key: Index, value: ArrayLike) -> None:
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

    def _put(self, i: int, j: int, value: Array) -> None:
        if isinstance(value, Tracer) or value != 0:
            self._values[i, j] = value
        else:
            self._values.pop((i, j), None)

    def _converted(self) -> Foreign:
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

    def __getattr__(self, name: str) -> Anything:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._converted(), name)

    def __neg__(self) -> Array:
        return -self._converted()


def operating(name: str) -> Callable[[Assembly, Any], Any]:
    """An operator, of what the assembly is converted to."""

    def operate(self: Assembly, other: Array) -> Array:
        other = other._converted() if isinstance(other, Assembly) else other
        return getattr(self._converted(), name)(other)

    return operate


for _name in ("add", "sub", "mul", "matmul"):
    setattr(Assembly, f"__{_name}__", operating(f"__{_name}__"))
    setattr(Assembly, f"__r{_name}__", operating(f"__r{_name}__"))
setattr(Assembly, "__truediv__", operating("__truediv__"))  # noqa: B010 - as those above


def assembled_as(name: str) -> Callable[..., Any]:
    """The constructor of that name."""

    def construct(
        arg1: Anything, shape: ShapeLike = None, dtype: DTypeLike = None, copy: bool = False
    ) -> Anything:
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
