"""Functions of sparse matrices: norms, exponentials, powers, and the operator that a matrix is."""

from __future__ import annotations

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.scipy.linalg import expm as dense_expm
from funcgrad.scipy.originals import originals_of
from funcgrad.scipy.sparse.arrays import SparseArray, deduplicated, scattered
from funcgrad.scipy.sparse.blocks import part
from funcgrad.scipy.sparse.constructors import coo_array
from funcgrad.scipy.sparse.linalg.operators import LinearOperator
from funcgrad.scipy.sparse.linalg.spectra import svds
from funcgrad.scipy.sparse.matrices import matrix_power as power_of
from funcgrad.scipy.sparse.matrices import of_kind
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike

scipys = originals_of("sparse.linalg")
"""SciPy's functions and classes by name."""


# -- norms -------------------------------------------------------------------------------------------------


def norm(x: ArrayLike, ord: Anything = None, axis: Anything = None) -> Array:
    """A norm of a sparse matrix, or of its columns (axis 0) or rows (axis 1).

    For matrices 'fro' (what None means), 1, -1, inf, -inf and 2; for rows and columns any number. Raises
    SciPy's errors for other orders and axes.

    >>> total = lambda v: fg.scipy.sparse.linalg.norm(fg.scipy.sparse.diags_array(v))
    >>> print(fg.grad(total)(np.array([3.0, 4.0])))
    [0.6 0.8]
    """
    if not isinstance(x, SparseArray):
        return scipys("norm")(x, ord, axis)
    axes = axes_of(axis)
    if not all(-2 <= k < 2 for k in axes):
        raise ValueError(f"Invalid axis {axis!r} for an array with shape {x.shape!r}")
    a = deduplicated(x)
    if len(axes) == 1:
        return vector_norms(a, ord, axes[0] % 2)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if axes[0] % 2 == axes[1] % 2:
        raise ValueError("Duplicate axes given.")
    return matrix_norm(a, ord, axes[0] % 2)


def axes_of(axis: Anything) -> tuple[int, ...]:
    """The axes that a norm is along; raises SciPy's TypeError."""
    if axis is None or isinstance(axis, tuple):
        return (0, 1) if axis is None else axis
    message = "'axis' must be None, an integer or a tuple of integers"
    try:
        found = int(axis)
    except TypeError as error:
        raise TypeError(message) from error
    if axis != found:
        raise TypeError(message)
    return (found,)


def matrix_norm(a: SparseArray, ord: Anything, first: int) -> Array:
    """A norm of the matrix whose rows go along the axis `first`."""
    if ord in (None, "f", "fro"):
        return fnp.linalg.norm(a.data)
    if ord in (1, -1, np.inf, -np.inf):
        sums = abs(a).sum(first if abs(ord) == 1 else 1 - first)
        return fnp.max(sums) if ord > 0 else fnp.min(sums)
    if ord == 2:
        return svds(a, k=1, return_singular_vectors=False)[0]
    if ord == -2:
        raise NotImplementedError
    raise ValueError("Invalid norm order for matrices.")


def vector_norms(a: SparseArray, ord: Anything, axis: int) -> Array:
    """The norms of columns (axis 0) or rows (axis 1)."""
    if ord is not None and isinstance(ord, str):
        raise ValueError("Invalid norm order for vectors.")
    if ord in (np.inf, -np.inf):
        dense = abs(a.toarray())
        return fnp.max(dense, axis) if ord > 0 else fnp.min(dense, axis)
    if ord == 0:
        return (a.toarray() != 0).sum(axis)
    places = a.indices if axis == 0 else a.structure.rows
    if ord is None or ord == 2:
        return fnp.linalg.norm(a.toarray(), axis=axis)
    sums = scattered((a.shape[1 - axis],), (places,), abs(a.data) ** ord)
    return sums if ord == 1 else sums ** (1.0 / ord)


# -- exponentials and powers ---------------------------------------------------------------------------------


def expm(A: ArrayLike) -> Anything:
    """The exponential of a sparse matrix, in which on traced values every element is stored.

    `expm_multiply` has its products with vectors, without the matrix.

    >>> total = lambda d: fg.scipy.sparse.linalg.expm(fg.scipy.sparse.diags_array(d)).sum()
    >>> print(fg.grad(total)(np.array([0.0, 1.0])).round(4))
    [1.     2.7183]
    """
    if not isinstance(A, SparseArray):
        return dense_expm(A) if isinstance(A, Tracer) else scipys("expm")(A)
    a = A.astype(np.result_type(A.dtype, np.float64))  # SciPy's is in double precision, too
    return of_kind(coo_array(dense_expm(a.toarray())), A)


def matrix_power(A: ArrayLike, power: int) -> Anything:
    """A power of a square sparse matrix, by repeated squaring.

    Raises SciPy's TypeError for a matrix that is not square, and its ValueError for negative powers.

    >>> total = lambda d: fg.scipy.sparse.linalg.matrix_power(fg.scipy.sparse.diags_array(d), 3).sum()
    >>> print(fg.grad(total)(np.array([1.0, 2.0])))
    [ 3. 12.]
    """
    if not isinstance(A, SparseArray):
        return scipys("matrix_power")(A, power)
    return power_of(A, power)


def aslinearoperator(A: ArrayLike) -> Anything:
    """A matrix as what has products with vectors.

    >>> product = lambda d: fg.scipy.sparse.linalg.aslinearoperator(fg.scipy.sparse.diags_array(d))
    >>> print(fg.grad(lambda d: product(d).matvec(np.arange(2.0)).sum())(np.ones(2)))
    [0. 1.]
    """
    if isinstance(A, LinearOperator):
        return A
    if not isinstance(A, SparseArray | Tracer):
        return scipys("aslinearoperator")(A)
    a = part(A)
    turned = a.T

    def product(x: Array) -> Array:
        return a @ x

    def transposed(x: Array) -> Array:
        return turned @ x

    return LinearOperator(a.shape, product, transposed, product, a.dtype)
