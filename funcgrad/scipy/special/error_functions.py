"""Error functions and the normal distribution."""

from __future__ import annotations

from funcgrad.numpy.elementwise.ufuncs import Operand
from funcgrad.scipy.special.defining import tabled
from funcgrad.types import Array, UfuncOption

__all__ = ["dawsn", "erfcinv", "erfcx", "erfi", "log_ndtr", "ndtri", "ndtri_exp", "owens_t", "wofz"]


@tabled
def erfcx(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``exp(x*x) erfc(x)``, the scaled complementary error function.

    Its derivatives are accurate for large x too.

    >>> print(fg.scipy.special.erfcx([0.0, 100.0]))
    [1.         0.00564161]
    """


@tabled
def erfi(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The imaginary error function, ``-i erf(i x)``.

    >>> print(fg.scipy.special.erfi([0.0, 1.0]))
    [0.         1.65042576]
    """


@tabled
def dawsn(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Dawson's function, ``sqrt(pi) / 2 exp(-x*x) erfi(x)``.

    >>> print(fg.scipy.special.dawsn([0.0, 1.0]))
    [0.         0.53807951]
    """


@tabled
def wofz(z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Faddeeva's function, ``exp(-z*z) erfc(-i z)``.

    >>> print(fg.scipy.special.wofz([0.0, 1j]))
    [1.        +0.j 0.42758358+0.j]
    """


@tabled
def erfcinv(y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The inverse of `erfc`.

    >>> print(fg.scipy.special.erfcinv([0.5, 1.0]))
    [ 0.47693628 -0.        ]
    """


@tabled
def log_ndtr(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The logarithm of `ndtr`, accurate in the lower tail, as are its derivatives.

    >>> print(fg.scipy.special.log_ndtr([0.0, -100.0]))
    [-6.93147181e-01 -5.00552421e+03]
    """


@tabled
def ndtri(p: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The inverse of `ndtr`: quantiles of the standard normal distribution.

    >>> print(fg.scipy.special.ndtri([0.5, 0.975]))
    [0.         1.95996398]
    """


@tabled
def ndtri_exp(y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The inverse of `log_ndtr`.

    >>> print(fg.scipy.special.ndtri_exp([-1.0, -1000.0]))
    [ -0.33747496 -44.61574773]
    """


@tabled
def owens_t(h: Operand, a: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Owen's T function.

    >>> print(fg.scipy.special.owens_t(1.0, [0.0, 0.5]))
    [0.         0.04306469]
    """
