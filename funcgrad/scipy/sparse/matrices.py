"""Sparse matrices, as SciPy's older classes: ``*`` is the product of matrices, and a row is a matrix.

What an operation makes of a matrix is a matrix again, so that ``*`` never changes its meaning on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from funcgrad import tree
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ops.arrays.structure import shape_of
from funcgrad.scipy.originals import original
from funcgrad.scipy.sparse.arrays import SparseArray, Structure, is_sparse
from funcgrad.scipy.sparse.constructors import coo_array, csc_array, csr_array, is_traced
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Anything, ArrayLike

__all__ = ["SparseMatrix", "as_matrix", "coo_matrix", "csc_matrix", "csr_matrix", "of_kind"]


class SparseMatrix(SparseArray):
    """A `SparseArray` with which ``*`` is the product of matrices.

    >>> a = fg.scipy.sparse.SparseMatrix(
    ...     np.array([2.0, 3.0]), fg.scipy.sparse.Structure([1, 0], [0, 1, 2], (2, 2))
    ... )
    >>> print(a * np.array([1.0, 10.0]))
    [20.  3.]
    """

    def __mul__(self, other: Any) -> Any:
        if is_sparse(other) or shape_of(asoperand(other)):
            return self @ other
        return self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        if is_sparse(other) or shape_of(asoperand(other)):
            return other @ self
        return self.multiply(other)

    def __getitem__(self, index: Any) -> Any:
        found = original("sparse", "csr_matrix")(self.structure.numbered)[index]
        if hasattr(found, "tocsr"):
            return self.rearranged(found)
        return SparseArray.__getitem__(self, index)

    def __radd__(self, other: Any) -> Any:
        found = SparseArray.__radd__(self, other)
        return as_matrix(found) if is_matrix(other) else found

    def __rsub__(self, other: Any) -> Any:
        return (-self).__radd__(other)

    def sum(self, axis: int | None = None) -> Anything:
        """The sum of the elements. Along an axis SciPy gives a `numpy.matrix`, which no traced value is."""
        if axis is not None:
            refuse_matrix("sum(axis)")
        return SparseArray.sum(self)

    def mean(self, axis: int | None = None) -> Anything:
        """The mean of the elements, zeros included."""
        if axis is not None:
            refuse_matrix("mean(axis)")
        return SparseArray.mean(self)

    def todense(self) -> NoReturn:
        """Refused: SciPy gives a `numpy.matrix`."""
        refuse_matrix("todense()")


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


def of_kind(found: object, *operands: ArrayLike) -> Anything:
    """A matrix where no operand is a sparse array, as SciPy decides."""
    sparse = [x for x in operands if is_sparse(x)]
    return as_matrix(found) if all(is_matrix(x) for x in sparse) else found


def staying(name: str) -> Callable[..., Any]:
    """A method of arrays, whose sparse results are matrices."""
    method = getattr(SparseArray, name)

    def call(self: SparseMatrix, *args: Any) -> Any:
        return as_matrix(method(self, *args))

    call.__name__ = name
    call.__doc__ = method.__doc__
    return call


for _name in (
    *("transpose", "rearranged", "astype", "multiply", "__matmul__", "__rmatmul__", "dot"),
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

    def construct(arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> Any:
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
