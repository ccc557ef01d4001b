"""Bessel functions and Airy's.

None has a derivative by its order, and asking for one raises NotDifferentiableError.
"""

from __future__ import annotations

from funcgrad.numpy.elementwise.ufuncs import Operand
from funcgrad.scipy.special.defining import tabled
from funcgrad.types import Array, UfuncOption

__all__ = [
    "hankel1",
    "hankel2",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "iv",
    "ive",
    "j0",
    "j1",
    "jn",
    "jv",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kn",
    "kv",
    "kve",
    "y0",
    "y1",
    "yn",
    "yv",
]


@tabled
def jv(v: Operand, z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Bessel function of the first kind of real order v.

    >>> print(fg.scipy.special.jv(0.5, [1.0, 2.0]))
    [0.67139671 0.51301614]
    """


@tabled
def jn(v: Operand, z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """As `jv`.

    >>> print(fg.scipy.special.jn(2, [1.0, 2.0]))
    [0.11490348 0.35283403]
    """


@tabled
def yv(v: Operand, z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Bessel function of the second kind of real order v.

    >>> print(fg.scipy.special.yv(0.5, [1.0, 2.0]))
    [-0.43109887  0.23478571]
    """


@tabled
def yn(n: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Bessel function of the second kind of integer order n.

    >>> print(fg.scipy.special.yn(2, [1.0, 2.0]))
    [-1.65068261 -0.6174081 ]
    """


@tabled
def iv(v: Operand, z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The modified Bessel function of the first kind of real order v.

    >>> print(fg.scipy.special.iv(0.5, [1.0, 2.0]))
    [0.93767489 2.04623686]
    """


@tabled
def ive(v: Operand, z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``exp(-|z|) iv(v, z)``, for real z.

    >>> print(fg.scipy.special.ive(0.5, [1.0, 2000.0]))
    [0.34495131 0.00892062]
    """


@tabled
def kv(v: Operand, z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The modified Bessel function of the second kind of real order v.

    >>> print(fg.scipy.special.kv(0.5, [1.0, 2.0]))
    [0.4610685  0.11993777]
    """


@tabled
def kn(n: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The modified Bessel function of the second kind of integer order n.

    >>> print(fg.scipy.special.kn(2, [1.0, 2.0]))
    [1.6248389  0.25375975]
    """


@tabled
def kve(v: Operand, z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``exp(z) kv(v, z)``.

    >>> print(fg.scipy.special.kve(0.5, [1.0, 2000.0]))
    [1.25331414 0.02802496]
    """


@tabled
def hankel1(v: Operand, z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Hankel function of the first kind, ``jv + i yv``.

    >>> print(fg.scipy.special.hankel1(0.5, [1.0, 2.0]))
    [0.67139671-0.43109887j 0.51301614+0.23478571j]
    """


@tabled
def hankel2(v: Operand, z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Hankel function of the second kind, ``jv - i yv``.

    >>> print(fg.scipy.special.hankel2(0.5, [1.0, 2.0]))
    [0.67139671+0.43109887j 0.51301614-0.23478571j]
    """


@tabled
def j0(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Bessel function of the first kind of order 0.

    >>> print(fg.scipy.special.j0([0.0, 1.0]))
    [1.         0.76519769]
    """


@tabled
def j1(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Bessel function of the first kind of order 1.

    >>> print(fg.scipy.special.j1([0.0, 1.0]))
    [0.         0.44005059]
    """


@tabled
def y0(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Bessel function of the second kind of order 0.

    >>> print(fg.scipy.special.y0([1.0, 2.0]))
    [0.08825696 0.51037567]
    """


@tabled
def y1(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Bessel function of the second kind of order 1.

    >>> print(fg.scipy.special.y1([1.0, 2.0]))
    [-0.78121282 -0.10703243]
    """


@tabled
def i0(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The modified Bessel function of the first kind of order 0.

    >>> print(fg.scipy.special.i0([0.0, 1.0]))
    [1.         1.26606588]
    """


@tabled
def i0e(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``exp(-|x|) i0(x)``.

    >>> print(fg.scipy.special.i0e([0.0, 1000.0]))
    [1.         0.01261724]
    """


@tabled
def i1(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The modified Bessel function of the first kind of order 1.

    >>> print(fg.scipy.special.i1([0.0, 1.0]))
    [0.        0.5651591]
    """


@tabled
def i1e(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``exp(-|x|) i1(x)``.

    >>> print(fg.scipy.special.i1e([0.0, 1000.0]))
    [0.         0.01261093]
    """


@tabled
def k0(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The modified Bessel function of the second kind of order 0.

    >>> print(fg.scipy.special.k0([1.0, 2.0]))
    [0.42102444 0.11389387]
    """


@tabled
def k0e(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``exp(x) k0(x)``.

    >>> print(fg.scipy.special.k0e([1.0, 1000.0]))
    [1.14446308 0.03962832]
    """


@tabled
def k1(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The modified Bessel function of the second kind of order 1.

    >>> print(fg.scipy.special.k1([1.0, 2.0]))
    [0.60190723 0.13986588]
    """


@tabled
def k1e(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``exp(x) k1(x)``.

    >>> print(fg.scipy.special.k1e([1.0, 1000.0]))
    [1.63615349 0.03964813]
    """
