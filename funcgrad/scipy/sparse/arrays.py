"""Sparse arrays whose elements are traced: SciPy's constructors, products, sums, rows and conversions.

A `SparseArray` is the elements, which are differentiated, and a `Structure`, which is not: where they stand,
in compressed rows. Products with dense arrays are operations of `funcgrad.ops.sparse`; what changes the
structure is computed once by SciPy on structures whose elements are their own positions.
"""

from __future__ import annotations

import sys
from hashlib import blake2b
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad import tree
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.numpy.arrays.shapes import nobody_knows
from funcgrad.ops.arrays.indexing import Scatter
from funcgrad.ops.arrays.structure import Reshape, aval, cast, reshape, shape_of
from funcgrad.ops.sparse.products import SparseProduct
from funcgrad.scipy.originals import original
from funcgrad.shared import once
from funcgrad.source import Source, user_location
from funcgrad.tracing.aliasing import as_view
from funcgrad.tracing.conversion import refuse_sparse_inside_scipy
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, DTypeLike, Foreign, Index


class Structure:
    """Where the elements of a matrix stand: their columns and the beginnings of rows. Immutable.

    >>> fg.scipy.sparse.Structure([1, 0], [0, 1, 2], (2, 2)).count
    2
    """

    def __init__(self, indices: Array, indptr: Array, shape: tuple[int, int]) -> None:
        self.indices = np.asarray(indices)
        self.indptr = np.asarray(indptr)
        self.shape = (int(shape[0]), int(shape[1]))

    @once
    def digest(self) -> bytes:
        """Of the contents."""
        found = blake2b(digest_size=16)
        for array in (self.indices, self.indptr):
            found.update(array.astype(np.int64).tobytes())
        return found.digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and (self.shape, self.digest) == (other.shape, other.digest)

    def __hash__(self) -> int:
        return hash((self.shape, self.digest))

    @property
    def count(self) -> int:
        """How many elements there are."""
        return int(self.indices.shape[0])

    @once
    def rows(self) -> Array:
        """The row of each element."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    @once
    def numbered(self) -> Foreign:
        """SciPy's array with this structure, whose elements are their positions, counted from 1."""
        sparse: Any = import_module("scipy.sparse")
        return sparse.csr_array((np.arange(1, self.count + 1), self.indices, self.indptr), shape=self.shape)


class SparseArray:
    """A sparse matrix with traced elements.

    >>> a = fg.scipy.sparse.SparseArray(
    ...     np.array([2.0, 3.0]), fg.scipy.sparse.Structure([1, 0], [0, 1, 2], (2, 2))
    ... )
    >>> print(a @ np.array([1.0, 10.0]))
    [20.  3.]

    ``data`` are the elements in the order of compressed rows; ``indices`` and ``indptr`` say where they are.
    """

    __array_ufunc__ = None
    """So that NumPy's arrays and tracers leave operators to this class."""
    __array_priority__ = 2000.0
    ndim = 2
    is_matrix = False
    """Whether it is of SciPy's older kind, with which ``*`` is the product of matrices."""

    def __init__(self, data: Array, structure: Structure) -> None:
        self.data = data
        self.structure = structure

    def __repr__(self) -> str:
        kind = aval(self.data) if isinstance(self.data, Tracer | np.ndarray) else self.data
        return f"SparseArray({kind}, shape={self.shape})"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.structure.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the elements."""
        return aval(self.data).dtype

    @property
    def nnz(self) -> int:
        """How many elements are stored."""
        return self.structure.count

    @property
    def indices(self) -> Array:
        """The column of each element."""
        return self.structure.indices

    @property
    def indptr(self) -> Array:
        """Where each row begins."""
        return self.structure.indptr

    @property
    def T(self) -> SparseArray:
        """The transposed matrix."""
        return self.transpose()

    # -- structure -----------------------------------------------------------------------------------------

    def rearranged(self, numbered: ArrayLike) -> SparseArray:
        """The elements that SciPy has left of `numbered`, where it has put them."""
        rows = numbered.tocsr()
        return SparseArray(self.data[rows.data - 1], Structure(rows.indices, rows.indptr, rows.shape))

    def transpose(self, axes: object = None, copy: bool = False) -> SparseArray:
        """Rows for columns; of SciPy's both have the same elements, so no one may be written unseen."""
        if axes not in (None, (1, 0)):
            self.structure.numbered.transpose(axes)
            raise self.unsupported("transpose with these axes")
        turned = self.rearranged(self.structure.numbered.T)
        doubtful(turned.data, self.data)
        return turned

    def __getitem__(self, index: Index) -> Array:
        found = self.structure.numbered[plain_index(index)]
        if not hasattr(found, "tocsr"):
            if np.ndim(found):
                return fnp.where(found > 0, self.data[np.maximum(found, 1) - 1], 0)
            return self.data[int(found) - 1] if found else fnp.zeros((), self.dtype)
        if found.ndim == 1:
            found = found.tocoo()
            return scattered(found.shape, found.coords, self.data[found.data - 1])
        return self.rearranged(found)

    def toarray(self, order: object = None, out: None = None) -> Array:
        """The dense array; a traced one has no order, and no memory of others'."""
        if out is not None:
            raise self.unsupported("toarray(out=...)")
        return scattered(self.shape, (self.structure.rows, self.indices), self.data)

    todense = toarray

    def diagonal(self, k: int = 0) -> Array:
        """A diagonal, zeros included."""
        on = np.flatnonzero(self.indices - self.structure.rows == k)
        length = max(min(self.shape[0] + min(k, 0), self.shape[1] - max(k, 0)), 0)
        return scattered((length,), (np.minimum(self.structure.rows, self.indices)[on],), self.data[on])

    def trace(self, offset: int = 0) -> Array:
        """The sum of a diagonal."""
        return self.diagonal(offset).sum()

    def tocsr(self, copy: bool = False) -> SparseArray:
        """The same, since compressed rows are how elements are kept; or a copy."""
        return type(self)(fnp.copy(self.data), self.structure) if copy else self

    def copy(self) -> SparseArray:
        """With elements of its own."""
        return self.tocsr(copy=True)

    def tocsc(self, copy: bool = True) -> SparseArray:
        """With elements of its own, as SciPy's."""
        return self.tocsr(copy=True)

    def tocoo(self, copy: bool = True) -> SparseArray:
        """With elements of its own, or the same."""
        return self.tocsr(copy)

    def asformat(self, format: str | None, copy: bool = False) -> SparseArray:
        """With elements of its own, or the same where the format is that of compressed rows."""
        return self.tocsr(copy or format not in (None, "csr"))

    def astype(self, dtype: DTypeLike) -> SparseArray:
        """With elements of another dtype."""
        return SparseArray(cast(self.data, np.dtype(dtype)), self.structure)

    # -- products ------------------------------------------------------------------------------------------

    def __matmul__(self, other: Array) -> Array:
        if is_sparse(other):
            return sparse_times_sparse(self, sparse(other))
        return dense_product(self, asoperand(other), False)

    def __rmatmul__(self, other: Array) -> Array:
        if is_sparse(other):
            return sparse_times_sparse(sparse(other), self)
        x = asoperand(other)
        if len(shape_of(x)) == 1:
            return dense_product(self, x, True)
        return dense_product(self, x.T, True).T

    dot = __matmul__

    def __mul__(self, other: Array) -> SparseArray:
        return self.multiply(other)

    def __rmul__(self, other: Array) -> SparseArray:
        if original("sparse", "isspmatrix")(other):  # whose ``*`` is the product of matrices
            return sparse_times_sparse(sparse(other), self)
        return self.multiply(other)

    def multiply(self, other: ArrayLike) -> SparseArray:
        """The elements times those of a dense or sparse array in their places, or times a number."""
        if is_sparse(other):
            return shared_elements(self, sparse(other))
        x = asoperand(other)
        if shape_of(x):
            x = fnp.broadcast_to(x, self.shape)[self.structure.rows, self.indices]
        return SparseArray(self.data * x, self.structure)

    def __truediv__(self, other: Array) -> SparseArray:
        return self.multiply(1.0 / asoperand(other))

    def __neg__(self) -> SparseArray:
        return SparseArray(-self.data, self.structure)

    # -- sums ----------------------------------------------------------------------------------------------

    def __add__(self, other: Array) -> Array:
        if is_sparse(other):
            check_kinds(self, other, whole_diagonals(self.structure))
            return sum_of(self, sparse(other))
        x = asoperand(other)
        if not shape_of(x) and not isinstance(x, Tracer) and x == 0:
            return self
        if not shape_of(x):
            raise NotImplementedError("adding a nonzero scalar to a sparse array is not supported")
        return self.toarray() + x

    def __radd__(self, other: Array) -> Array:
        if not is_sparse(other):
            return self + other
        check_kinds(self, other, getattr(other, "format", None) == "dia")
        return sum_of(sparse(other), self)

    def __sub__(self, other: Array) -> Array:
        return self + (-other if is_sparse(other) else -asoperand(other))

    def __rsub__(self, other: Array) -> Array:
        return (-self).__radd__(other)

    def sum(self, axis: int | None = None, dtype: DTypeLike = None, out: None = None) -> Array:
        """The sum of the elements, or of those of each column (axis 0) or row (axis 1)."""
        if out is not None:
            raise self.unsupported("sum(out=...)")
        if dtype is not None:
            return self.astype(dtype).sum(axis)
        if axis is None:
            return self.data.sum()
        if not -2 <= axis < 2:
            raise ValueError("axis out of range")
        axis = axis % 2
        ones = np.ones(self.shape[axis], self.dtype)
        return dense_product(self, ones, axis == 0)

    def mean(self, axis: int | None = None, dtype: DTypeLike = None, out: None = None) -> Array:
        """The mean, zeros included."""
        if dtype is not None or out is not None:
            raise self.unsupported("mean with dtype or out")
        count = self.shape[0] * self.shape[1] if axis is None else self.shape[axis % 2]
        return self.sum(axis) / count

    def __getattr__(self, name: str) -> Anything:
        known = name in ("coords", "row", "col") or hasattr(original("sparse", "csr_array"), name)
        if name.startswith("_") or not known:
            raise AttributeError(f"a sparse array with traced elements has no attribute {name!r}")
        raise self.unsupported(name)

    def unsupported(self, name: str) -> UnsupportedFunctionError:
        """The error for what these arrays do not have."""
        return UnsupportedFunctionError(
            f"csr_array.{name} is not supported for traced elements",
            source=Source(*user_location()),
            remedy="It has products, sums, rows, diagonal and multiply; others follow from toarray().",
        )

    # -- questions that have no one answer -----------------------------------------------------------------

    def __bool__(self) -> bool:
        raise ValueError(
            "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()."
        )

    def __eq__(self, other: object) -> Array:
        raise self.unsupported("__eq__")

    def __ne__(self, other: object) -> Array:
        raise self.unsupported("__ne__")

    def __lt__(self, other: object) -> Array:
        raise self.unsupported("__lt__")

    def __le__(self, other: object) -> Array:
        raise self.unsupported("__le__")

    def __gt__(self, other: object) -> Array:
        raise self.unsupported("__gt__")

    def __ge__(self, other: object) -> Array:
        raise self.unsupported("__ge__")

    __hash__ = object.__hash__

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Array:
        """What is no array to SciPy's products, which then leave them to this class; as SciPy's own."""
        refuse_sparse_inside_scipy(sys._getframe(1))
        found = np.empty((), dtype=object)
        found[()] = self
        return found


def plain_index(index: Anything) -> Anything:
    """The index with arrays of its own, which SciPy sets flags of."""
    if isinstance(index, tuple):
        return tuple([plain_index(x) for x in index])
    return np.array(index) if isinstance(index, np.ndarray) else index


class Convertible:
    """What gives a sparse array, of ours or of SciPy's, by its method ``tocsr``."""


def flattened(x: SparseArray) -> tuple[tuple[Any], Structure]:
    """The elements, and the structure beside them."""
    return (x.data,), x.structure


def unflattened(structure: Structure, children: tuple[Any, ...]) -> SparseArray:
    """The inverse of `flattened`."""
    return SparseArray(children[0], structure)


tree.register_node(SparseArray, flattened, unflattened)


def doubtful(part: Array, base: Array) -> None:
    """Have elements that SciPy would share refused where one of the two arrays is written."""
    if type(part) is Tracer and type(base) is Tracer and part is not base and part.aval.shape:
        as_view(part, base, Reshape(part.aval.shape), nobody_knows)


def scattered(shape: tuple[int, ...], positions: tuple[Any, ...], values: ArrayLike) -> Array:
    """A dense array with these values added up at positions, and zeros elsewhere."""
    flat = np.ravel_multi_index(positions, shape) if len(positions) > 1 else positions[0]
    zeros = np.zeros(prod(shape), aval(values).dtype)
    return reshape(Scatter("add", (0,), False).bind(zeros, values, flat), shape)


def is_sparse(x: object) -> bool:
    """Whether it is a sparse array of SciPy's or of ours."""
    return isinstance(x, SparseArray | Convertible) or (
        type(x).__module__.startswith("scipy.sparse") and bool(original("sparse", "issparse")(x))
    )


def sparse(x: ArrayLike) -> SparseArray:
    """A sparse array of SciPy's as ours."""
    if isinstance(x, SparseArray):
        return x
    rows = x.tocsr()
    if isinstance(rows, SparseArray):
        return rows
    return SparseArray(rows.data, Structure(rows.indices, rows.indptr, rows.shape))


def dense_product(a: SparseArray, x: ArrayLike, transposed: bool) -> Array:
    """``a @ x``, or ``a.T @ x``."""
    n = a.shape[0] if transposed else a.shape[1]
    shape = shape_of(x)
    if not shape or len(shape) > 2 or shape[0] != n:
        raise ValueError(f"matmul: dimension mismatch with signature (n,k={n}),(k={shape or '?'})->(n,1?)")
    dtype = np.result_type(aval(a.data).dtype, aval(x).dtype)
    dtype = dtype if dtype.kind in "fc" else np.dtype(np.float64)
    return SparseProduct(a.shape, transposed).bind(cast(a.data, dtype), a.indices, a.indptr, cast(x, dtype))


def whole_diagonals(structure: Structure) -> bool:
    """Whether the elements are those of whole diagonals, as SciPy's ``dia`` classes have them."""
    offsets, counts = np.unique(structure.indices - structure.rows, return_counts=True)
    m, n = structure.shape
    return bool(np.all(counts == np.minimum(m + np.minimum(offsets, 0), n - np.maximum(offsets, 0))))


def check_kinds(a: SparseArray, b: Anything, diagonal: bool) -> None:
    """Raise UnsupportedFunctionError where SciPy's formats say if a sum is a matrix, and ``*`` its product.

    The sum is of the kind of its left operand, unless that is made of diagonals.
    """
    is_matrix = b.is_matrix if isinstance(b, SparseArray) else bool(original("sparse", "isspmatrix")(b))
    if diagonal and is_matrix != a.is_matrix:
        raise UnsupportedFunctionError(
            "the sum of a sparse array and a sparse matrix, one of them made of diagonals, is a matrix or an "
            "array depending on its format",
            source=Source(*user_location()),
            remedy="Make both arrays: csr_array(A), diags_array instead of diags, eye_array instead of eye.",
        )


def sum_of(a: SparseArray, b: SparseArray) -> SparseArray:
    """The sum, with elements where either has some."""
    if a.shape != b.shape:
        raise ValueError("inconsistent shapes")
    if a.structure == b.structure:
        return SparseArray(a.data + b.data, a.structure)
    rows = np.concatenate([a.structure.rows, b.structure.rows])
    columns = np.concatenate([a.indices, b.indices])
    return gathered(a.shape, rows, columns, fnp.concatenate([a.data, b.data]))


def gathered(shape: tuple[int, int], rows: ArrayLike, columns: ArrayLike, values: ArrayLike) -> SparseArray:
    """A sparse array of elements given by their places, of which equal ones are added."""
    flat = np.asarray(rows, np.int64) * shape[1] + np.asarray(columns, np.int64)
    places, which = np.unique(flat, return_inverse=True)
    counts = np.bincount(places // max(shape[1], 1), minlength=shape[0])
    structure = Structure(places % max(shape[1], 1), np.concatenate([[0], np.cumsum(counts)]), shape)
    return SparseArray(scattered((len(places),), (which,), values), structure)


def shared_elements(a: SparseArray, b: SparseArray) -> SparseArray:
    """The products of the elements that both have."""
    if a.shape != b.shape:
        raise ValueError("inconsistent shapes")
    first = a.structure.rows * a.shape[1] + a.indices
    second = b.structure.rows * b.shape[1] + b.indices
    _, i, j = np.intersect1d(first, second, return_indices=True)
    return gathered(a.shape, a.structure.rows[i], a.indices[i], a.data[i] * b.data[j])


def deduplicated(a: SparseArray) -> SparseArray:
    """With one element in each place, in the order of rows and columns; of the same kind."""
    rows, columns = a.structure.rows, a.indices
    places = rows.astype(np.int64) * a.shape[1] + columns
    if np.all(np.diff(places) > 0):
        return a
    found = gathered(a.shape, rows, columns, a.data)
    return type(a)(found.data, found.structure)


def sparse_times_sparse(a: SparseArray, b: SparseArray) -> SparseArray:
    """The product: for every element of `a`, the row of `b` that it meets."""
    if a.shape[1] != b.shape[0]:
        raise ValueError(
            f"matmul: dimension mismatch with signature (n,k={a.shape[1]}),(k={b.shape[0]},m)->(n,m)"
        )
    lengths = np.diff(b.indptr)[a.indices]
    i = np.repeat(np.arange(a.nnz), lengths)
    begins = np.repeat(b.indptr[a.indices], lengths)
    j = begins + np.arange(len(i)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return gathered((a.shape[0], b.shape[1]), a.structure.rows[i], b.indices[j], a.data[i] * b.data[j])
