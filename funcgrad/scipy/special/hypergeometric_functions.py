"""Hypergeometric functions and orthogonal polynomials, differentiable by their last argument."""

from __future__ import annotations

from funcgrad.numpy.elementwise.ufuncs import Operand
from funcgrad.scipy.special.defining import tabled
from funcgrad.types import Array, UfuncOption

__all__ = [
    "eval_chebyt",
    "eval_chebyu",
    "eval_gegenbauer",
    "eval_genlaguerre",
    "eval_hermite",
    "eval_hermitenorm",
    "eval_jacobi",
    "eval_laguerre",
    "eval_legendre",
    "exprel",
    "hyp0f1",
    "hyp1f1",
    "hyp2f1",
    "hyperu",
]


@tabled
def hyp0f1(v: Operand, z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The confluent hypergeometric limit function.

    >>> print(fg.scipy.special.hyp0f1(1.5, [0.0, 1.0]))
    [1.        1.8134302]
    """


@tabled
def hyp1f1(a: Operand, b: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Kummer's confluent hypergeometric function.

    >>> print(fg.scipy.special.hyp1f1(1.0, 2.0, [0.0, 1.0]))
    [1.         1.71828183]
    """


@tabled
def hyp2f1(
    a: Operand, b: Operand, c: Operand, z: Operand, /, out: Array = None, **options: UfuncOption
) -> Array:
    """Gauss's hypergeometric function.

    >>> print(fg.scipy.special.hyp2f1(1.0, 1.0, 2.0, [0.0, 0.5]))
    [1.         1.38629436]
    """


@tabled
def hyperu(a: Operand, b: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Tricomi's confluent hypergeometric function.

    >>> print(fg.scipy.special.hyperu(1.0, 2.0, [0.5, 1.0]))
    [2. 1.]
    """


@tabled
def exprel(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``(exp(x) - 1) / x``, 1 at 0.

    >>> print(fg.scipy.special.exprel([0.0, 1.0]))
    [1.         1.71828183]
    """


@tabled
def eval_jacobi(
    n: Operand, alpha: Operand, beta: Operand, x: Operand, /, out: Array = None, **options: UfuncOption
) -> Array:
    """The Jacobi polynomial of degree n.

    >>> print(fg.scipy.special.eval_jacobi(2, 0.5, 0.5, [0.0, 1.0]))
    [-0.625  1.875]
    """


@tabled
def eval_gegenbauer(
    n: Operand, alpha: Operand, x: Operand, /, out: Array = None, **options: UfuncOption
) -> Array:
    """The Gegenbauer polynomial of degree n.

    >>> print(fg.scipy.special.eval_gegenbauer(2, 0.5, [0.0, 1.0]))
    [-0.5  1. ]
    """


@tabled
def eval_genlaguerre(
    n: Operand, alpha: Operand, x: Operand, /, out: Array = None, **options: UfuncOption
) -> Array:
    """The generalised Laguerre polynomial of degree n.

    >>> print(fg.scipy.special.eval_genlaguerre(2, 0.5, [0.0, 1.0]))
    [ 1.875 -0.125]
    """


@tabled
def eval_legendre(n: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Legendre polynomial of degree n.

    >>> print(fg.scipy.special.eval_legendre(2, [0.0, 1.0]))
    [-0.5  1. ]
    """


@tabled
def eval_laguerre(n: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Laguerre polynomial of degree n.

    >>> print(fg.scipy.special.eval_laguerre(2, [0.0, 1.0]))
    [ 1.  -0.5]
    """


@tabled
def eval_chebyt(n: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Chebyshev polynomial of the first kind of degree n.

    >>> print(fg.scipy.special.eval_chebyt(2, [0.0, 1.0]))
    [-1.  1.]
    """


@tabled
def eval_chebyu(n: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Chebyshev polynomial of the second kind of degree n.

    >>> print(fg.scipy.special.eval_chebyu(2, [0.0, 1.0]))
    [-1.  3.]
    """


@tabled
def eval_hermite(n: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The physicist's Hermite polynomial of degree n.

    >>> print(fg.scipy.special.eval_hermite(2, [0.0, 1.0]))
    [-2.  2.]
    """


@tabled
def eval_hermitenorm(n: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The probabilist's Hermite polynomial of degree n.

    >>> print(fg.scipy.special.eval_hermitenorm(2, [0.0, 1.0]))
    [-1.  0.]
    """
