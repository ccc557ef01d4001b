"""Linear systems by factors, which value and derivatives share; inverses and triangles by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.ops.sparse.systems import SparseSolve
from funcgrad.scipy.originals import known_value, original, originals_of
from funcgrad.scipy.sparse.arrays import SparseArray, gathered, is_sparse, sparse
from funcgrad.scipy.sparse.constructors import coo_array
from funcgrad.scipy.sparse.matrices import of_kind
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike

scipys = originals_of("sparse.linalg")
"""SciPy's functions and classes by name."""


def elements(a: ArrayLike) -> Array:
    """What may be traced of a matrix."""
    return a.data if isinstance(a, SparseArray) else a if isinstance(a, Tracer) else 0.0


def right_hand_side(b: ArrayLike | SparseArray) -> Array:
    """What may be traced of a right-hand side, which SciPy takes sparse as well."""
    return elements(b) if is_sparse(b) else asoperand(b)


def dense_right(name: str, b: ArrayLike | SparseArray) -> Array:
    """A right-hand side of traced systems; raises UnsupportedFunctionError for a sparse one."""
    if is_sparse(b):
        raise UnsupportedFunctionError(
            f"scipy.sparse.linalg.{name} with a sparse right-hand side is not supported on traced values",
            source=Source(*user_location()),
            remedy="Pass its toarray().",
        )
    return asoperand(b)


def compressed(a: ArrayLike) -> SparseArray:
    """A matrix, sparse or dense, as ours."""
    if is_sparse(a):
        return sparse(a)
    if isinstance(a, Tracer):
        return coo_array(a)  # type: ignore[no-any-return]
    return sparse(original("sparse", "csr_array")(np.asarray(a)))


def solved(a: SparseArray, b: ArrayLike, transposed: bool, method: str, options: dict[str, Any]) -> Array:
    """The solution as one operation, in the dtype that SciPy solves in."""
    b = asoperand(b)
    dtype = np.result_type(a.dtype, aval(b).dtype, np.float32)
    solve = SparseSolve(a.shape, transposed, method, tuple(sorted(options.items())))
    return solve.bind(cast(a.data, dtype), a.indices, a.indptr, cast(b, dtype))


def spsolve(A: ArrayLike, b: ArrayLike, permc_spec: object = None, use_umfpack: bool = True) -> Array:
    """``x`` with ``A @ x == b`` for a sparse `A`; value and derivatives share its factors.

    >>> A = fg.scipy.sparse.csr_array(np.diag([2.0, 4.0]))
    >>> print(fg.grad(lambda b: fg.scipy.sparse.linalg.spsolve(A, b).sum())(np.ones(2)))
    [0.5  0.25]
    """
    if recorder_of([elements(A), right_hand_side(b)]) is None:
        return scipys("spsolve")(A, b, permc_spec, use_umfpack)
    a, y = compressed(A), dense_right("spsolve", b)
    return solved(a, y[:, 0] if is_column(y) else y, False, "spsolve", {})


def is_column(b: object) -> bool:
    """Whether SciPy takes a matrix of one column for a vector."""
    shape = shape_of(b)
    return len(shape) == 2 and shape[1] == 1


class Factors:
    """What `splu` returns for traced elements: a matrix whose factors are kept, and `solve`."""

    def __init__(self, a: SparseArray) -> None:
        self.shape = a.shape
        self.nnz = a.nnz
        self._matrix = a

    def solve(self, rhs: ArrayLike, trans: str = "N") -> Array:
        """The solution of a system with the matrix, or its transpose (``trans="T"``)."""
        if trans not in ("N", "T"):
            raise UnsupportedFunctionError(
                f"splu(A).solve with trans={trans!r} of traced elements is not supported",
                source=Source(*user_location()),
                remedy='Use trans="N" or trans="T".',
            )
        return solved(self._matrix, rhs, trans == "T", "spsolve", {})


def splu(A: ArrayLike, **options: object) -> Anything:
    """The factors of a sparse matrix, whose ``solve`` is differentiable by matrix and right-hand side.

    >>> b = np.ones(2)
    >>> def total(data):
    ...     A = fg.scipy.sparse.csc_array((data, np.arange(2), np.arange(3)))
    ...     return fg.scipy.sparse.linalg.splu(A).solve(b).sum()
    >>> print(fg.grad(total)(np.array([2.0, 4.0])))
    [-0.25   -0.0625]
    """
    if isinstance(elements(A), Tracer):
        return Factors(compressed(A))
    return PlainFactors(A, scipys("splu")(A, **options))


class PlainFactors(Factors):
    """SciPy's factors of a plain matrix, whose solutions are differentiable by a traced right-hand side."""

    def __init__(self, a: Array, factors: Array) -> None:
        super().__init__(compressed(a))
        self._factors = factors

    def solve(self, rhs: ArrayLike, trans: str = "N") -> Array:
        """The solution of a system with the matrix, its transpose or its adjoint."""
        if not isinstance(asoperand(rhs), Tracer):
            return self._factors.solve(rhs, trans)
        return super().solve(rhs, trans)

    def __getattr__(self, name: str) -> Anything:
        return getattr(self.__dict__["_factors"], name)


def factorized(A: ArrayLike) -> Callable[[Any], Any]:
    """The function that solves systems with a sparse matrix.

    >>> solve = fg.scipy.sparse.linalg.factorized(fg.scipy.sparse.csc_array(np.diag([2.0, 4.0])))
    >>> print(fg.grad(lambda b: solve(b).sum())(np.ones(2)))
    [0.5  0.25]
    """
    solve: Callable[[Any], Any] = splu(A).solve
    return solve


# -- inverses and triangles --------------------------------------------------------------------------------


def inv(A: ArrayLike) -> Anything:
    """The inverse of a sparse matrix, in which on traced values every element is stored.

    Raises SciPy's TypeError for a dense matrix.

    >>> inverse = lambda d: fg.scipy.sparse.linalg.inv(fg.scipy.sparse.diags_array(d))
    >>> print(fg.grad(lambda d: inverse(d).sum())(np.array([2.0, 4.0])))
    [-0.25   -0.0625]
    """
    if not isinstance(A, SparseArray):
        return scipys("inv")(A)
    found = solved(A, np.eye(A.shape[0], dtype=A.dtype), False, "spsolve", {})
    return of_kind(coo_array(found), A)


def spsolve_triangular(
    A: ArrayLike,
    b: ArrayLike,
    lower: bool = True,
    overwrite_A: bool = False,
    overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """``x`` with ``A @ x == b`` for a triangular sparse `A`, with ones for its diagonal if asked.

    Raises LinAlgError where elements are on the other side of the diagonal, or missing on it, and SciPy's
    ValueError for shapes that do not fit.

    >>> A = fg.scipy.sparse.csr_array(np.array([[2.0, 0.0], [1.0, 4.0]]))
    >>> print(fg.grad(lambda b: fg.scipy.sparse.linalg.spsolve_triangular(A, b).sum())(np.ones(2)))
    [0.375 0.25 ]
    """
    if recorder_of([elements(A), right_hand_side(b)]) is None:
        return scipys("spsolve_triangular")(A, b, lower, overwrite_A, overwrite_b, unit_diagonal)
    a, y = compressed(A), dense_right("spsolve_triangular", b)
    check_sizes(a.shape, shape_of(y))
    beyond = a.indices - a.structure.rows if lower else a.structure.rows - a.indices
    if np.any(beyond > 0):
        raise np.linalg.LinAlgError(f"A is not {'lower' if lower else 'upper'} triangular.")
    every = np.arange(a.shape[0])
    if unit_diagonal:
        inside = np.flatnonzero(beyond)
        rows = np.concatenate([a.structure.rows[inside], every])
        values = fnp.concatenate([a.data[inside], np.ones(len(every), a.dtype)])
        a = gathered(a.shape, rows, np.concatenate([a.indices[inside], every]), values)
    elif missing_on_diagonal(a):
        raise np.linalg.LinAlgError("A is singular: zero entry on diagonal.")
    return solved(a, y, False, "spsolve", {})


def missing_on_diagonal(a: SparseArray) -> bool:
    """Whether a zero is known to stand on the diagonal."""
    on = a.structure.rows == a.indices
    values = known_value(a.data)
    if values is not None:
        on &= values != 0
    return len(np.unique(a.indices[on])) < a.shape[0]


def check_sizes(shape: tuple[int, int], right: tuple[int, ...]) -> None:
    """Raise SciPy's errors for a matrix that is not square and for what is no right-hand side of it."""
    if shape[0] != shape[1]:
        raise ValueError(f"A must be a square matrix but its shape is {shape}.")
    if len(right) not in (1, 2):
        raise ValueError(f"b must have 1 or 2 dims but its shape is {right}.")
    if right[0] != shape[0]:
        raise ValueError(
            "The size of the dimensions of A must be equal to the size of the first dimension of b but the "
            f"shape of A is {shape} and the shape of b is {right}."
        )
