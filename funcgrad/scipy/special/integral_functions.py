"""Integrals of elementary functions, elliptic integrals, and inverses with names of their own."""

from __future__ import annotations

from funcgrad.numpy.elementwise.ufuncs import Operand
from funcgrad.scipy.special.defining import tabled
from funcgrad.types import Array, UfuncOption

__all__ = [
    "ellipe",
    "ellipeinc",
    "ellipk",
    "ellipkinc",
    "ellipkm1",
    "exp1",
    "expi",
    "expn",
    "spence",
    "wrightomega",
]


@tabled
def expi(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The exponential integral Ei.

    >>> print(fg.scipy.special.expi([0.5, 1.0]))
    [0.4542199  1.89511782]
    """


@tabled
def exp1(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The exponential integral E1.

    >>> print(fg.scipy.special.exp1([0.5, 1.0]))
    [0.55977359 0.21938393]
    """


@tabled
def expn(n: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The exponential integral of integer order n. There is no derivative by n.

    >>> print(fg.scipy.special.expn(2, [0.0, 1.0]))
    [1.         0.14849551]
    """


@tabled
def spence(z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Spence's function, the dilogarithm of ``1 - z``.

    >>> print(fg.scipy.special.spence([0.0, 1.0]))
    [1.64493407 0.        ]
    """


@tabled
def ellipk(m: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The complete elliptic integral of the first kind, of the parameter m.

    >>> print(fg.scipy.special.ellipk([0.0, 0.5]))
    [1.57079633 1.85407468]
    """


@tabled
def ellipkm1(p: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``ellipk(1 - p)``, accurate for small p.

    >>> print(fg.scipy.special.ellipkm1([1e-20, 1.0]))
    [24.41214529  1.57079633]
    """


@tabled
def ellipe(m: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The complete elliptic integral of the second kind, of the parameter m.

    >>> print(fg.scipy.special.ellipe([0.0, 0.5]))
    [1.57079633 1.35064388]
    """


@tabled
def ellipkinc(phi: Operand, m: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The incomplete elliptic integral of the first kind, of the parameter m.

    >>> print(fg.scipy.special.ellipkinc([0.0, 1.0], 0.5))
    [0.         1.08321677]
    """


@tabled
def ellipeinc(phi: Operand, m: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The incomplete elliptic integral of the second kind, of the parameter m.

    >>> print(fg.scipy.special.ellipeinc([0.0, 1.0], 0.5))
    [0.         0.92732988]
    """


@tabled
def wrightomega(z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Wright's omega function, the w with ``w + log(w) = z``.

    >>> print(fg.scipy.special.wrightomega([1.0, 1000.0]))
    [  1.         993.09916947]
    """
