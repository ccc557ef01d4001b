"""Sparse matrices, as SciPy's older classes: ``*`` is the product of matrices, and a row is a matrix.

What an operation makes of a matrix is a matrix again, so that ``*`` never changes its meaning on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, NoReturn

import funcgrad.scipy.sparse.elementwise  # noqa: F401 - gives arrays their methods
from funcgrad import tree
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.originals import original
from funcgrad.scipy.sparse.arrays import SparseArray, Structure, is_sparse, sparse
from funcgrad.scipy.sparse.constructors import coo_array, csc_array, csr_array, is_traced
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Anything, Array, ArrayLike, DTypeLike, Index, Option, ShapeLike


class SparseMatrix(SparseArray):
    """A `SparseArray` with which ``*`` is the product of matrices.

    >>> a = fg.scipy.sparse.SparseMatrix(
    ...     np.array([2.0, 3.0]), fg.scipy.sparse.Structure([1, 0], [0, 1, 2], (2, 2))
    ... )
    >>> print(a * np.array([1.0, 10.0]))
    [20.  3.]
    """

    is_matrix = True

    def __mul__(self, other: Array) -> Array:
        if is_sparse(other) or shape_of(asoperand(other)):
            return self @ other
        return self.multiply(other)

    def __rmul__(self, other: Array) -> Array:
        if is_sparse(other) and not is_matrix(other):  # whose ``*`` is of elements
            return sparse(other).multiply(self)
        if is_sparse(other) or shape_of(asoperand(other)):
            return other @ self
        return self.multiply(other)

    def __getitem__(self, index: Index) -> Array:
        found = original("sparse", "csr_matrix")(self.structure.numbered)[index]
        if hasattr(found, "tocsr"):
            return self.rearranged(found)
        return SparseArray.__getitem__(self, index)

    def __pow__(self, power: Array) -> Array:
        return matrix_power(self, power)

    def sum(self, axis: int | None = None, dtype: DTypeLike = None, out: None = None) -> Anything:
        """The sum of the elements. Along an axis SciPy gives a `numpy.matrix`, which no traced value is."""
        if axis is not None:
            refuse_matrix("sum(axis)")
        return SparseArray.sum(self, None, dtype, out)

    def mean(self, axis: int | None = None, dtype: DTypeLike = None, out: None = None) -> Anything:
        """The mean of the elements, zeros included."""
        if axis is not None:
            refuse_matrix("mean(axis)")
        return SparseArray.mean(self, None, dtype, out)

    def todense(self, order: object = None, out: None = None) -> NoReturn:
        """Refused: SciPy gives a `numpy.matrix`."""
        refuse_matrix("todense()")


def matrix_power(a: SparseArray, power: int) -> Anything:
    """A power of a square matrix, by repeated squaring; raises SciPy's errors."""
    if a.shape[0] != a.shape[1]:
        raise TypeError("sparse matrix is not square")
    try:
        count = index(power)
    except TypeError as error:
        raise ValueError("exponent must be an integer") from error
    if count < 0:
        raise ValueError("exponent must be >= 0")
    if count < 2:
        return a.copy() if count else original("sparse", "eye_array")(a.shape[0], dtype=a.dtype)
    half = matrix_power(a, count // 2)
    return a @ half @ half if count % 2 else half @ half


def refuse_matrix(name: str) -> NoReturn:
    """Raise for what SciPy's sparse matrices give as a `numpy.matrix`."""
    raise UnsupportedFunctionError(
        f"{name} of a sparse matrix is a numpy.matrix, which cannot hold traced values",
        source=Source(*user_location()),
        remedy="Use toarray(), or the classes whose names end in _array: csr_array and its kin.",
    )


def as_matrix(x: ArrayLike) -> Anything:
    """A sparse array of ours as a matrix; anything else as it is."""
    return SparseMatrix(x.data, x.structure) if isinstance(x, SparseArray) else x


def is_matrix(x: object) -> bool:
    """Whether it is a sparse matrix, of SciPy's or of ours, rather than a sparse array."""
    return isinstance(x, SparseMatrix) or (
        not isinstance(x, SparseArray) and is_sparse(x) and bool(original("sparse", "isspmatrix")(x))
    )


def isspmatrix(x: object) -> bool:
    """Whether it is a sparse matrix, of SciPy's or of ours, rather than a sparse array.

    >>> import scipy.sparse
    >>> fg.scipy.sparse.isspmatrix(scipy.sparse.csr_matrix((2, 2)))
    True
    """
    return is_matrix(x)


def of_kind(found: object, *operands: ArrayLike) -> Anything:
    """A matrix where no operand is a sparse array, as SciPy decides."""
    sparse = [x for x in operands if is_sparse(x)]
    return as_matrix(found) if all(is_matrix(x) for x in sparse) else found


def staying(name: str) -> Callable[..., Any]:
    """A method of arrays, whose sparse results are matrices."""
    method = getattr(SparseArray, name)

    def call(self: SparseMatrix, *args: Anything, **options: Option) -> Anything:
        return as_matrix(method(self, *args, **options))

    call.__name__ = name
    call.__doc__ = method.__doc__
    return call


def of_left(name: str) -> Callable[..., Any]:
    """An operator with SciPy's array or matrix on the left, whose kind its result has."""
    method = getattr(SparseArray, name)

    def call(self: SparseArray, other: Anything) -> Anything:
        found = method(self, other)
        left = is_matrix(other) if is_sparse(other) else is_matrix(self)
        return as_matrix(found) if left else found

    call.__name__ = name
    return call


for _name in ("__radd__", "__rmatmul__", "__rmul__", "__rsub__"):
    setattr(SparseArray, _name, of_left(_name))

for _name in (
    *("transpose", "rearranged", "astype", "multiply", "__matmul__", "dot"),
    *("__add__", "__sub__", "__neg__", "__truediv__"),
):
    setattr(SparseMatrix, _name, staying(_name))


def flattened(x: SparseMatrix) -> tuple[tuple[Any], Structure]:
    """The elements, and the structure beside them."""
    return (x.data,), x.structure


def unflattened(structure: Structure, children: tuple[Any, ...]) -> SparseMatrix:
    """The inverse of `flattened`."""
    return SparseMatrix(children[0], structure)


tree.register_node(SparseMatrix, flattened, unflattened)


def made_as(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    """The constructor of matrices that goes with one of arrays."""

    def construct(
        arg1: Anything, shape: ShapeLike = None, dtype: DTypeLike = None, copy: bool = False
    ) -> Anything:
        if not is_traced(arg1):
            return original("sparse", name)(arg1, shape=shape, dtype=dtype, copy=copy)
        return as_matrix(make(arg1, shape, dtype, copy))

    construct.__name__ = construct.__qualname__ = name
    construct.__doc__ = f"""As `{make.__name__}`, a matrix: with it ``*`` is the product of matrices.

    >>> product = lambda v: fg.scipy.sparse.{name}((v, ([0, 1], [1, 0]))) * np.array([1.0, 10.0])
    >>> print(fg.jit(product)(np.array([2.0, 3.0])))
    [20.  3.]
    """
    return construct


csr_matrix = made_as("csr_matrix", csr_array)
csc_matrix = made_as("csc_matrix", csc_array)
coo_matrix = made_as("coo_matrix", coo_array)
