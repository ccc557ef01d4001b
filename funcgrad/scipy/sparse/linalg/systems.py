"""Systems of linear equations: by factors, which value and derivatives share, and by iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.ops.sparse.systems import SparseSolve
from funcgrad.scipy.originals import original, originals_of
from funcgrad.scipy.sparse.arrays import SparseArray, is_sparse, sparse
from funcgrad.scipy.sparse.constructors import coo_array
from funcgrad.scipy.sparse.linalg.operators import LinearOperator, solution_by_products
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Number

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

    def __init__(self, a: Any, factors: Any) -> None:
        super().__init__(compressed(a))
        self._factors = factors

    def solve(self, rhs: ArrayLike, trans: str = "N") -> Array:
        """The solution of a system with the matrix, its transpose or its adjoint."""
        if not isinstance(asoperand(rhs), Tracer):
            return self._factors.solve(rhs, trans)
        return super().solve(rhs, trans)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_factors"], name)


def factorized(A: ArrayLike) -> Callable[[Any], Any]:
    """The function that solves systems with a sparse matrix.

    >>> solve = fg.scipy.sparse.linalg.factorized(fg.scipy.sparse.csc_array(np.diag([2.0, 4.0])))
    >>> print(fg.grad(lambda b: solve(b).sum())(np.ones(2)))
    [0.5  0.25]
    """
    solve: Callable[[Any], Any] = splu(A).solve
    return solve


def by_iteration(method: str, A: ArrayLike, b: ArrayLike, options: dict[str, Any]) -> tuple[Any, Any]:
    """A solution and SciPy's account of it: 0, or why it stopped before."""
    plain = {name: value for name, value in options.items() if value is not None}
    given = ("x0", "M", "callback")
    if isinstance(A, LinearOperator):
        used = {name: value for name, value in plain.items() if name not in given}
        vector = asoperand(b)[:, 0] if is_column(asoperand(b)) else b
        found = solution_by_products(method, A.matvec, vector, used)
        if found is not None:
            refuse_options(method, [name for name in given if name in plain])
            return found, 0
    traced = [v for v in plain.values() if isinstance(v, Tracer)]
    if recorder_of([elements(A), asoperand(b), *traced]) is None:
        answer: tuple[Any, Any] = scipys(method)(A, b, **plain)
        return answer
    unknown = not is_sparse(A) and not isinstance(A, Tracer | np.ndarray)
    refuse_options(
        method, [*(name for name in given if name in plain), *(["an operator"] if unknown else [])]
    )
    b = asoperand(b)
    return solved(compressed(A), b[:, 0] if is_column(b) else b, False, method, plain), 0


def refuse_options(method: str, refused: list[str]) -> None:
    """Raise for what has no derivative here."""
    if refused:
        raise UnsupportedFunctionError(
            f"scipy.sparse.linalg.{method} with {', '.join(refused)} is not supported on traced values",
            source=Source(*user_location()),
            remedy="Leave out the starting point, the preconditioner and the callback, and give the matrix "
            "itself or fg.scipy.sparse.linalg.LinearOperator.",
        )


def cg(
    A: ArrayLike,
    b: ArrayLike,
    x0: ArrayLike = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: Number = None,
    M: object = None,
    callback: object = None,
) -> tuple[Any, Any]:
    """The solution of a positive definite system by conjugate gradients; derivatives likewise.

    >>> A = fg.scipy.sparse.csr_array(np.diag([2.0, 4.0]))
    >>> print(fg.grad(lambda b: fg.scipy.sparse.linalg.cg(A, b)[0].sum())(np.ones(2)).round(6))
    [0.5  0.25]
    """
    options = {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M, "callback": callback, "x0": x0}
    return by_iteration("cg", A, b, options)


def bicgstab(
    A: ArrayLike,
    b: ArrayLike,
    x0: ArrayLike = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: Number = None,
    M: object = None,
    callback: object = None,
) -> tuple[Any, Any]:
    """The solution of a system by stabilised biconjugate gradients; derivatives likewise.

    >>> A = fg.scipy.sparse.csr_array(np.diag([2.0, 4.0]))
    >>> print(fg.grad(lambda b: fg.scipy.sparse.linalg.bicgstab(A, b)[0].sum())(np.ones(2)).round(6))
    [0.5  0.25]
    """
    options = {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M, "callback": callback, "x0": x0}
    return by_iteration("bicgstab", A, b, options)


def gmres(
    A: ArrayLike,
    b: ArrayLike,
    x0: ArrayLike = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: ArrayLike = None,
    maxiter: Number = None,
    M: object = None,
    callback: object = None,
    callback_type: ArrayLike = None,
) -> tuple[Any, Any]:
    """The solution of a system by minimal residuals; derivatives likewise.

    >>> A = fg.scipy.sparse.csr_array(np.diag([2.0, 4.0]))
    >>> print(fg.grad(lambda b: fg.scipy.sparse.linalg.gmres(A, b)[0].sum())(np.ones(2)).round(6))
    [0.5  0.25]
    """
    options = {"rtol": rtol, "atol": atol, "restart": restart, "maxiter": maxiter}
    options |= {"M": M, "callback": callback, "callback_type": callback_type, "x0": x0}
    return by_iteration("gmres", A, b, options)
