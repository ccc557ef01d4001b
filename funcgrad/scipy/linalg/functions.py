"""Functions of matrices, with derivatives for repeated eigenvalues and defective matrices too."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.api.rules.custom import custom_jvp
from funcgrad.numpy.algebra.linear_systems import require_square, traced_matrices
from funcgrad.numpy.algebra.operands import traced
from funcgrad.numpy.dispatch import unsupported
from funcgrad.ops.arrays.structure import cast, shape_of
from funcgrad.ops.linalg.functions import MatrixFunction, MatrixPower
from funcgrad.scipy.linalg.arguments import checks_finite, in_doubles, scipys
from funcgrad.scipy.linalg.systems import solve_sylvester
from funcgrad.scipy.originals import known_value
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, Arrays, Number

__all__ = [
    "coshm",
    "cosm",
    "expm",
    "expm_frechet",
    "fractional_matrix_power",
    "logm",
    "signm",
    "sinhm",
    "sinm",
    "sqrtm",
    "tanhm",
    "tanm",
]

NOT_GIVEN = object()
"""Where SciPy warns of an option that is given at all."""


def applied(name: str, A: ArrayLike, **options: Number) -> Array:
    """SciPy's function of that name; an estimate of its error, with ``disp=False``, is of plain arrays."""
    operands = traced_matrices(name, A)
    if operands is None:
        return scipys(name)(A, **given(**options))
    if not options.get("disp", True):
        raise unsupported(f"scipy.linalg.{name} with disp=False")
    (matrix,) = operands
    if name in ("logm", "sqrtm") and is_complex_function_of(known_value(matrix)):
        matrix = cast(matrix, np.dtype(np.complex128))
    return MatrixFunction(name).bind(in_doubles(matrix) if name == "logm" else matrix)


def is_complex_function_of(matrix: Array | None) -> bool:
    """Whether a real matrix of known value has a negative eigenvalue, so that its root is complex."""
    if matrix is None or matrix.dtype.kind != "f" or not np.isfinite(matrix).all():
        return False
    found = np.linalg.eigvals(matrix)
    least = -np.finfo(matrix.dtype).eps * np.abs(found).max(initial=0.0)
    return bool(np.any((found.imag == 0) & (found.real < least)))


def expm(A: ArrayLike) -> Array:
    """The exponential of a square matrix.

    >>> print(fg.scipy.linalg.expm(np.array([[0.0, 1.0], [0.0, 0.0]])))
    [[1. 1.]
     [0. 1.]]
    >>> print(fg.grad(lambda a: np.sum(fg.scipy.linalg.expm(a)))(np.zeros((2, 2))))
    [[1. 1.]
     [1. 1.]]
    """
    return applied("expm", A)


@checks_finite
def logm(A: ArrayLike, disp: Number = NOT_GIVEN) -> Array:
    """The principal logarithm of a square matrix without eigenvalues on the negative real axis.

    Under `jit` a real matrix whose logarithm is complex must be converted to complex numbers first.

    >>> print(fg.scipy.linalg.logm(np.eye(2)))
    [[0. 0.]
     [0. 0.]]
    """
    return applied("logm", A, disp=disp)


@checks_finite
def sqrtm(A: ArrayLike, disp: Number = NOT_GIVEN, blocksize: Number = NOT_GIVEN) -> Array:
    """The principal square root of a square matrix, which has a derivative where the matrix has an inverse.

    Under `jit` a real matrix whose root is complex must be converted to complex numbers first.

    >>> print(fg.scipy.linalg.sqrtm(np.array([[4.0, 0.0], [0.0, 9.0]])))
    [[2. 0.]
     [0. 3.]]
    """
    return applied("sqrtm", A, disp=disp, blocksize=blocksize)


def sinm(A: ArrayLike) -> Array:
    """The sine of a square matrix.

    >>> print(fg.scipy.linalg.sinm(np.zeros((1, 1))))
    [[0.]]
    """
    return applied("sinm", A)


def cosm(A: ArrayLike) -> Array:
    """The cosine of a square matrix.

    >>> print(fg.scipy.linalg.cosm(np.zeros((1, 1))))
    [[1.]]
    """
    return applied("cosm", A)


@checks_finite
def tanm(A: ArrayLike) -> Array:
    """The tangent of a square matrix.

    >>> print(fg.scipy.linalg.tanm(np.zeros((1, 1))))
    [[0.]]
    """
    return applied("tanm", A)


def sinhm(A: ArrayLike) -> Array:
    """The hyperbolic sine of a square matrix.

    >>> print(fg.scipy.linalg.sinhm(np.zeros((1, 1))))
    [[0.]]
    """
    return applied("sinhm", A)


def coshm(A: ArrayLike) -> Array:
    """The hyperbolic cosine of a square matrix.

    >>> print(fg.scipy.linalg.coshm(np.zeros((1, 1))))
    [[1.]]
    """
    return applied("coshm", A)


@checks_finite
def tanhm(A: ArrayLike) -> Array:
    """The hyperbolic tangent of a square matrix.

    >>> print(fg.scipy.linalg.tanhm(np.zeros((1, 1))))
    [[0.]]
    """
    return applied("tanhm", A)


def expm_frechet(
    A: ArrayLike,
    E: ArrayLike,
    method: str | None = None,
    compute_expm: bool = True,
    check_finite: bool = True,
) -> Arrays:
    """The exponential of a matrix and its derivative along a direction, which have derivatives themselves.

    >>> print(fg.scipy.linalg.expm_frechet(np.zeros((1, 1)), np.ones((1, 1))))
    (array([[1.]]), array([[1.]]))
    """
    operands = traced_matrices("expm_frechet", A, E)
    if operands is None:
        return scipys("expm_frechet")(A, E, method, compute_expm, check_finite)
    if method not in (None, "SPS", "blockEnlarge"):
        raise ValueError(f"Unknown implementation {method}: expm_frechet has 'SPS' and 'blockEnlarge'")
    a, e = operands
    along = MatrixFunction("expm").bind(a, e)
    return (expm(a), along) if compute_expm else along


def fractional_matrix_power(A: ArrayLike, t: ArrayLike) -> Array:
    """A matrix to a real power, SciPy's for a plain `t`, ``expm(t * logm(A))`` for a traced one.

    >>> print(fg.scipy.linalg.fractional_matrix_power(np.diag([4.0, 9.0]), 0.5))
    [[2. 0.]
     [0. 3.]]
    """
    if traced(A, t) is None:
        return scipys("fractional_matrix_power")(A, t)
    if isinstance(asoperand(t), Tracer):
        return expm(t * logm(A))
    (matrix,) = traced_matrices("fractional_matrix_power", A) or [A]
    require_square("fractional_matrix_power", matrix)
    whole = float(t).is_integer()
    return MatrixPower(float(t)).bind(matrix if whole else in_doubles(matrix))


def _signm(a: Array) -> Array:
    return MatrixFunction("signm").bind(a)


sign_of_matrix = custom_jvp(_signm)


@sign_of_matrix.defjvp
def signm_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """``n @ s_dot + s_dot @ n = a_dot - s @ a_dot @ s`` for ``n = s @ a`` (Higham 2008, theorem 5.3)."""
    (a,), (a_dot,) = primals, tangents
    s = sign_of_matrix(a)
    n = s @ a
    s_dot = solve_sylvester(n, n, a_dot - s @ a_dot @ s)
    # The square of a sign is one; where it is not, an eigenvalue has no sign, and any step gives it one.
    is_sign = np.max(abs(s @ s - np.eye(shape_of(s)[-1]))) < 1e-6 * (1.0 + np.max(abs(s)) ** 2)
    return s, np.where(is_sign, s_dot, np.nan)


def signm(A: ArrayLike, disp: Number = NOT_GIVEN) -> Array:
    """The sign of a square matrix; its derivative is NaN where an eigenvalue is on the imaginary axis.

    >>> print(fg.scipy.linalg.signm(np.diag([2.0, -3.0])))
    [[ 1.  0.]
     [ 0. -1.]]
    """
    operands = traced_matrices("signm", A)
    if operands is None:
        return scipys("signm")(A, **given(disp=disp))
    if not disp:
        raise unsupported("scipy.linalg.signm with disp=False")
    (matrix,) = operands
    require_square("signm", matrix)
    return sign_of_matrix(matrix)


def given(**options: Number) -> dict[str, Any]:
    """The options that are given."""
    return {name: value for name, value in options.items() if value is not NOT_GIVEN}
