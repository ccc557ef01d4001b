"""Functions of matrices, with derivatives for repeated eigenvalues and defective matrices too."""

from __future__ import annotations

from typing import Any

from funcgrad.numpy.algebra.linear_systems import traced_matrices
from funcgrad.ops.linalg.functions import MatrixFunction
from funcgrad.scipy.linalg.arguments import checks_finite, in_doubles, scipys
from funcgrad.types import Array, ArrayLike

__all__ = [
    "coshm",
    "cosm",
    "expm",
    "expm_frechet",
    "logm",
    "sinhm",
    "sinm",
    "sqrtm",
    "tanhm",
    "tanm",
]


def applied(name: str, A: ArrayLike) -> Array:
    """SciPy's function of that name."""
    operands = traced_matrices(name, A)
    if operands is None:
        return scipys(name)(A)
    (matrix,) = operands
    return MatrixFunction(name).bind(in_doubles(matrix) if name == "logm" else matrix)


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
def logm(A: ArrayLike) -> Array:
    """The principal logarithm of a square matrix without eigenvalues on the negative real axis.

    A real matrix whose logarithm is complex must be converted to complex numbers first.

    >>> print(fg.scipy.linalg.logm(np.eye(2)))
    [[0. 0.]
     [0. 0.]]
    """
    return applied("logm", A)


@checks_finite
def sqrtm(A: ArrayLike) -> Array:
    """The principal square root of a square matrix, which has a derivative where the matrix has an inverse.

    A real matrix whose root is complex must be converted to complex numbers first.

    >>> print(fg.scipy.linalg.sqrtm(np.array([[4.0, 0.0], [0.0, 9.0]])))
    [[2. 0.]
     [0. 3.]]
    """
    return applied("sqrtm", A)


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
) -> Any:
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
