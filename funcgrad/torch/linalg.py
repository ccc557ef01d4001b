"""Linear algebra: ``torch.linalg``."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op
from funcgrad.torch.core.errors import dims_of
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.algebra import matrix_formulas as _formulas
from funcgrad.torch.operations.algebra.contractions import cross as _cross_of
from funcgrad.torch.operations.algebra.contractions import matmul, matrix_power
from funcgrad.torch.operations.algebra.factorisations import (
    householder_product,
    lu_factor,
    lu_factor_ex,
    lu_solve,
    solve_triangular,
)
from funcgrad.torch.operations.algebra.factorisations import lu_of as lu
from funcgrad.torch.operations.algebra.symmetric_factors import ldl_factor, ldl_factor_ex, ldl_solve
from funcgrad.torch.operations.reducing.norms import norm as _norm_of
from funcgrad.torch.operations.registry import FUNCTIONS, take_out
from funcgrad.torch.operations.requiring import long_word
from funcgrad.torch.operations.results import named
from funcgrad.types import Array, Arrays, AxisLike, DTypeLike, NormOrder, Number, Option, ShapeLike

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]


class _LinAlgError(RuntimeError):
    """A matrix for which the operation is not defined."""

    __module__ = "torch._C"


LinAlgError = _LinAlgError


def _word(t: Tensor) -> str:
    return str(t.type()).removeprefix("torch.").removesuffix("Tensor")


def _require_matrix(name: str, x: Tensor, what: str = "A") -> None:
    if len(x._value.shape) < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor {what} must have at least 2 dimensions.")
    if x._value.dtype.kind in "iub":
        raise RuntimeError(
            f"linalg.{name}: Expected a floating point or complex tensor as input. Got {_word(x)}"
        )
    if x._value.dtype == np.float16:
        raise RuntimeError(f"linalg.{name}: Low precision dtypes not supported. Got Half")


def _require_square(name: str, x: Tensor, what: str = "A") -> None:
    _require_matrix(name, x, what)
    rows, columns = x._value.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"linalg.{name}: {what} must be batches of square matrices, but they are {rows} by {columns} "
            "matrices"
        )


def _solved(name: str, made: Op, inputs: Arrays, params: tuple[Any, ...] = ()) -> Operand:
    try:
        return apply(made, inputs, params)
    except np.linalg.LinAlgError:
        if name == "cholesky":
            raise LinAlgError(
                "linalg.cholesky: The factorization could not be completed because the input is not "
                "positive-definite (the leading minor of order 1 is not positive-definite)."
            ) from None
        suffix = (
            ""
            if name != "inv"
            else ": The diagonal element 1 is zero, the inversion could not be completed because the input "
            "matrix is singular."
        )
        if name == "solve":
            raise LinAlgError(
                "torch.linalg.solve: The solver failed because the input matrix is singular."
            ) from None
        raise LinAlgError(f"linalg.{name}{suffix}") from None


_SOLVE = Op("LinalgSolveExBackward0", _formulas.solve, keeps_result=True, input_names=("A", "B"))


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Operand:
    """The solution X of ``A X = B`` (or of ``X A = B``)."""
    _require_square("solve", A)
    a, b = A._value.shape, B._value.shape
    vector = len(b) == 1 or (len(a) - 1 == len(b) and b == a[:-1])
    if not left:
        return solve(A.mT, B.mT).mT
    rows = b[-1] if vector else b[-2]
    if rows != a[-1]:
        columns = 1 if vector else b[-1]
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({a[-2]}x{a[-1]} and "
            f"{rows}x{columns})"
        )
    if A._value.dtype != B._value.dtype:
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{_word(A)} and B of type {_word(B)} instead"
        )
    return _solved("solve", _SOLVE, (A, B), (vector,))


_INV = Op(
    "LinalgInvExBackward0", np.linalg.inv, keeps_result=True, input_names=("A",), output_names=("inverse",)
)


def inv(A: Tensor) -> Operand:
    """The inverse."""
    _require_square("inv", A)
    return _solved("inv", _INV, (A,))


_DET = Op("LinalgDetBackward0", np.linalg.det, keeps_result=True, input_names=("A",))


def det(A: Tensor) -> Operand:
    """The determinant."""
    _require_square("det", A)
    return apply(_DET, (A,))


_SLOGDET = Op("LinalgSlogdetBackward0", _formulas.slogdet, keeps_result=True, input_names=("A",))


def slogdet(A: Tensor) -> Operands:
    """The sign of the determinant and the logarithm of its absolute value."""
    _require_square("slogdet", A)
    return named("linalg_slogdet", "sign logabsdet")(*apply(_SLOGDET, (A,)))


_CHOLESKY = Op("LinalgCholeskyExBackward0", _formulas.cholesky, keeps_result=True, output_names=("L",))


def cholesky(A: Tensor, *, upper: bool = False) -> Operand:
    """The triangular factor of a positive definite matrix."""
    _require_square("cholesky", A)
    found = _solved("cholesky", _CHOLESKY, (A,))
    return found.mH if upper else found


_QR = Op("LinalgQrBackward0", _formulas.qr, keeps_result=True, input_names=("A",), output_names=("Q", "R"))


def qr(A: Tensor, mode: str = "reduced") -> Operands:
    """The factors Q, with orthonormal columns, and R, triangular."""
    _require_matrix("qr", A)
    return named("linalg_qr", "Q R")(*apply(_QR, (A,), (mode,)))


_SVD = Op(
    "LinalgSvdBackward0", _formulas.svd, keeps_result=True, input_names=("A",), output_names=("U", "S", "Vh")
)


def svd(A: Tensor, full_matrices: bool = True, *, driver: object = None) -> Operands:
    """The singular value decomposition."""
    _require_matrix("svd", A)
    return named("linalg_svd", "U S Vh")(*apply(_SVD, (A,), (full_matrices,)))


_SVDVALS = Op("LinalgSvdBackward0", _formulas.svdvals, input_names=("A",))


def svdvals(A: Tensor, *, driver: object = None) -> Operand:
    """The singular values."""
    _require_matrix("svdvals", A)
    return apply(_SVDVALS, (A,))


_EIGH = Op("LinalgEighBackward0", _formulas.eigh, keeps_result=True, input_names=("A",))


def eigh(A: Tensor, UPLO: str = "L") -> Operands:
    """The eigenvalues and eigenvectors of a symmetric or Hermitian matrix."""
    _require_square("eigh", A)
    return named("linalg_eigh", "eigenvalues eigenvectors")(*apply(_EIGH, (A,), (UPLO,)))


_EIGVALSH = Op("LinalgEighBackward0", _formulas.eigvalsh, input_names=("A",))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Operand:
    """The eigenvalues of a symmetric or Hermitian matrix."""
    _require_square("eigvalsh", A)
    return apply(_EIGVALSH, (A,), (UPLO,))


_EIG = Op("LinalgEigBackward0", _formulas.eig, keeps_result=True)


def eig(A: Tensor) -> Operands:
    """The eigenvalues and eigenvectors of a square matrix."""
    _require_square("eig", A)
    return named("linalg_eig", "eigenvalues eigenvectors")(*apply(_EIG, (A,)))


def eigvals(A: Tensor) -> Operand:
    """The eigenvalues of a square matrix."""
    _require_square("eigvals", A)
    return eig(A)[0]


# -- norms ------------------------------------------------------------------------------------------------


def vector_norm(
    x: Tensor, ord: float = 2, dim: AxisLike = None, keepdim: bool = False, *, dtype: DTypeLike = None
) -> Operand:
    """The norm of the elements, or of those along dimensions, as a vector."""
    return _norm_of(x, float(ord), dim, keepdim, dtype)


def matrix_norm(
    A: Tensor,
    ord: NormOrder = "fro",
    dim: AxisLike = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DTypeLike = None,
) -> Operand:
    """The norm of matrices."""
    if dtype is not None:
        A = A.to(dtype)
    ndim = len(A._value.shape)
    if ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if ord == "fro":
        return _norm_of(A, 2.0, dims_of(tuple(dim), ndim), keepdim)
    a, b = dims_of(tuple(dim), ndim)
    moved = A.movedim((a, b), (-2, -1))
    if ord in (2, -2, "nuc"):
        values = svdvals(moved)
        found = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord == 2 else values.amin(-1)
    else:
        sums = moved.abs().sum(-2 if abs(ord) == 1 else -1)
        found = sums.amax(-1) if ord > 0 else sums.amin(-1)
    if keepdim:
        for d in sorted((a, b)):
            found = found.unsqueeze(d)
    return found


def norm(
    A: Tensor, ord: NormOrder = None, dim: AxisLike = None, keepdim: bool = False, *, dtype: DTypeLike = None
) -> Operand:
    """A vector norm, or with two dimensions (or an order of its own) a matrix norm."""
    rank = len(A._value.shape)
    if dim is None and ord is not None and rank not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {rank}D."
        )
    is_matrix = (dim is None and ord is not None and len(A._value.shape) == 2) or (
        isinstance(dim, tuple | list) and len(dim) == 2 and ord is not None
    )
    if isinstance(ord, str) or is_matrix:
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


# -- more -------------------------------------------------------------------------------------------------


def _negligible(sizes: ShapeLike, A: Tensor, atol: Option, rtol: Option) -> Array:
    """The bound below which singular values count as zero, from tolerances that may be tensors."""
    usual = rtol is None and not (isinstance(atol, Tensor) or atol)
    if usual:
        rtol = max(A._value.shape[-2:]) * np.finfo(sizes.dtype).eps
    absolute, relative = [
        np.expand_dims(np.asarray(t._value if isinstance(t, Tensor) else t or 0.0, sizes.dtype), -1)
        for t in (atol, rtol)
    ]
    return np.maximum(absolute, relative * sizes.max(-1, keepdims=True, initial=0.0))


def matrix_rank(
    A: Tensor, tol: Number = None, hermitian: bool = False, *, atol: Number = None, rtol: Number = None
) -> Tensor:
    """The number of singular values that are not negligible; `tol` is the old word for `atol`."""
    _require_matrix("matrix_rank", A)
    s = np.abs(np.linalg.eigvalsh(A._value)) if hermitian else np.linalg.svd(A._value, compute_uv=False)
    if tol is not None:
        atol, rtol = tol, 0.0
    return wrap(np.asarray((s > _negligible(s, A, atol, rtol)).sum(-1)))


def pinv(
    A: Tensor, rcond: Number = None, hermitian: bool = False, *, atol: Number = None, rtol: Number = None
) -> Operand:
    """The pseudo-inverse: of singular values, those that are negligible count as zero."""
    _require_matrix("pinv", A)
    known = _formulas.of_lower(A._value) if hermitian else A._value
    # With the vectors, which are not needed here: without them the last digits are others.
    sizes = np.linalg.svd(known, full_matrices=False)[1]
    bound = _negligible(sizes, A, atol, rcond if rtol is None else rtol)
    return apply(_PINV, (A, wrap(bound)), (hermitian,))


_PINV = Op("LinalgPinvBackward0", _formulas.pinv, input_names=("A", "bound"))


def lstsq(A: Tensor, B: Tensor, rcond: Number = None, *, driver: object = None) -> Operands:
    """The least squares solution of ``A X = B``; the driver says what else is returned, as in LAPACK."""
    drivers = ("gels", "gelsy", "gelsd", "gelss")
    driver = driver or "gelsy"
    if driver not in drivers:
        raise RuntimeError(f"torch.linalg.lstsq: parameter `driver` should be one of ({', '.join(drivers)})")
    for name, x, least in (("input", A, 2), ("other", B, 1)):
        if len(x._value.shape) < least:
            raise RuntimeError(f"torch.linalg.lstsq: {name} must have at least {least} dimensions.")
    vector = len(B._value.shape) == 1
    right = B.unsqueeze(-1) if vector else B
    rank = matrix_rank(A, rtol=rcond)
    solution = pinv(A, rtol=rcond) @ right
    rows, columns = A._value.shape[-2:]
    residuals = values = wrap(np.zeros(0, A._value.real.dtype))
    if driver != "gelsy" and rows > columns and (rank._value == columns).all():
        residuals = (A @ solution - right).abs().square().sum(-2)
    if driver in ("gelsd", "gelss"):
        values = svdvals(A).detach()
    if driver == "gels":
        rank = wrap(np.zeros(0, np.int64))
    solution = solution.squeeze(-1) if vector else solution
    return named("linalg_lstsq", "solution residuals rank singular_values")(solution, residuals, rank, values)


def multi_dot(tensors: Operand) -> Operand:
    """The product of several matrices, in the cheapest order."""
    for k, t in enumerate(tensors):
        if t._value.dtype != tensors[0]._value.dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{long_word(tensors[0])} and tensor {k} {long_word(t)}"
            )
    return apply(_MULTI_DOT, tuple(tensors))


_MULTI_DOT = Op("ViewBackward0", _formulas.multi_dot)


def cond(A: Tensor, p: NormOrder = None) -> Operand:
    """How much a solution may grow errors."""
    if p is None or p in (2, -2):
        s = svdvals(A)
        big, small = s.amax(-1), s.amin(-1)
        return small / big if p == -2 else big / small
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Operand:
    """The cross product of vectors of three elements."""
    return _cross_of(input, other, dim)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Operand:
    """The diagonals of matrices, a view."""
    return A.diagonal(offset, dim1, dim2)


def matrix_exp(A: Tensor) -> Operand:
    """The exponential of a matrix."""
    _require_square("matrix_exp", A)
    size = float(np.max(np.sum(np.abs(A._value), axis=-1), initial=0.0))
    squarings = max(int(np.ceil(np.log2(size))) + 1, 0) if size > 0 else 0
    return apply(_MATRIX_EXP, (A,), (squarings,))


_MATRIX_EXP = Op("LinalgMatrixExpBackward0", _formulas.matrix_exp_scaled)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Operand:
    """The products of vectors along a dimension, the first conjugated."""
    return (x.conj() * y).sum(dim)


def vander(x: Tensor, N: int | None = None) -> Operand:
    """The powers of elements, a column each."""
    x = x if x._value.shape else x.reshape(1)
    count = x._value.shape[-1] if N is None else N
    return FUNCTIONS["stack"]([x**k for k in range(count)], -1)


def tensorinv(A: Tensor, ind: int = 2) -> Operand:
    """The inverse of a tensor as a map of its first dimensions from its last."""
    shape = A._value.shape
    rows = int(np.prod(shape[:ind]))
    return inv(A.reshape(rows, -1)).reshape((*shape[ind:], *shape[:ind]))


def tensorsolve(A: Tensor, B: Tensor, dims: AxisLike = None) -> Operand:
    """The solution of a system whose unknown is a tensor."""
    if dims is not None:
        ndim = len(A._value.shape)
        moved = dims_of(tuple(dims), ndim)
        A = A.permute([d for d in range(ndim) if d not in moved] + list(moved))
    rest = A._value.shape[len(B._value.shape) :]
    return solve(A.reshape(B._value.size, -1), B.reshape(-1)).reshape(rest)


def inv_ex(A: Tensor, *, check_errors: bool = False) -> Operands:
    """The inverse and an error code."""
    return named("linalg_inv_ex", "inverse info")(inv(A), wrap(np.zeros(A._value.shape[:-2], np.int32)))


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Operands:
    """The Cholesky factor and an error code."""
    return named("linalg_cholesky_ex", "L info")(
        cholesky(A, upper=upper), wrap(np.zeros(A._value.shape[:-2], np.int32))
    )


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Operands:
    """As `solve`, with a number that is not 0 where the matrix is singular."""
    info = lu_factor_ex(A.detach()).info
    return named("linalg_solve_ex", "result info")(solve(A, B, left=left), info)


take_out(globals(), [name for name in __all__ if name not in ("LinAlgError", "diagonal")])


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
