"""The gamma function and its kin, incomplete ones among them, and zeta functions."""

from __future__ import annotations

from funcgrad.numpy.elementwise.ufuncs import Operand
from funcgrad.scipy.special.defining import tabled
from funcgrad.types import Array, UfuncOption

__all__ = [
    "beta",
    "betainc",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "betaln",
    "binom",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammasgn",
    "loggamma",
    "poch",
    "rgamma",
    "zetac",
]


@tabled
def gamma(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The gamma function.

    >>> print(fg.scipy.special.gamma([1.0, 4.5]))
    [ 1.        11.6317284]
    """


@tabled
def loggamma(z: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The logarithm of the gamma function.

    Of negative real numbers NaN, of complex ones the principal branch.

    >>> print(fg.scipy.special.loggamma([1.0, 4.5]))
    [0.         2.45373657]
    """


@tabled
def rgamma(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``1 / gamma(x)``, which is 0 where the gamma function has poles, with all its derivatives.

    >>> print(fg.scipy.special.rgamma([0.0, 4.0]))
    [0.         0.16666667]
    """


@tabled
def gammasgn(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The sign of the gamma function; its derivative is 0.

    >>> print(fg.scipy.special.gammasgn([-0.5, 2.0]))
    [-1.  1.]
    """


@tabled
def beta(a: Operand, b: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The beta function, ``gamma(a) gamma(b) / gamma(a + b)``.

    >>> print(fg.scipy.special.beta(2.0, [1.0, 3.0]))
    [0.5        0.08333333]
    """


@tabled
def betaln(a: Operand, b: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The logarithm of the absolute value of the beta function.

    >>> print(fg.scipy.special.betaln(2.0, [1.0, 3.0]))
    [-0.69314718 -2.48490665]
    """


@tabled
def binom(n: Operand, k: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The binomial coefficient of real numbers.

    >>> print(fg.scipy.special.binom(5.0, [2.0, 2.5]))
    [10.         10.86497745]
    """


@tabled
def poch(z: Operand, m: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``gamma(z + m) / gamma(z)``, the rising factorial.

    >>> print(fg.scipy.special.poch(3.0, [2.0, 0.5]))
    [12.          1.66167549]
    """


@tabled
def gammainc(a: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The regularised lower incomplete gamma function, with derivatives by both arguments.

    >>> print(fg.scipy.special.gammainc(2.0, [0.0, 1.0]))
    [0.         0.26424112]
    >>> print(*np.round(fg.grad(fg.scipy.special.gammainc, argnums=(0, 1))(2.0, 1.0), 12))
    -0.276196045703 0.367879441171
    """


@tabled
def gammaincc(a: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``1 - gammainc(a, x)``, accurate where it is small.

    >>> print(fg.scipy.special.gammaincc(2.0, [0.0, 100.0]))
    [1.00000000e+00 3.75727674e-42]
    """


@tabled
def gammaincinv(a: Operand, p: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The x for which ``gammainc(a, x)`` is p.

    >>> print(fg.scipy.special.gammaincinv(2.0, [0.0, 0.5]))
    [0.         1.67834699]
    """


@tabled
def gammainccinv(a: Operand, q: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The x for which ``gammaincc(a, x)`` is q.

    >>> print(fg.scipy.special.gammainccinv(2.0, [1.0, 0.5]))
    [0.         1.67834699]
    """


@tabled
def betainc(a: Operand, b: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The regularised incomplete beta function, with derivatives by all three arguments.

    >>> print(fg.scipy.special.betainc(2.0, 3.0, [0.0, 0.5]))
    [0.     0.6875]
    >>> print(*np.round(fg.grad(fg.scipy.special.betainc, argnums=(0, 1, 2))(2.0, 2.0, 0.5), 12))
    -0.22157359028 0.22157359028 1.5
    """


@tabled
def betaincc(a: Operand, b: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``1 - betainc(a, b, x)``, accurate where it is small.

    >>> print(fg.scipy.special.betaincc(2.0, 3.0, [0.0, 0.5]))
    [1.     0.3125]
    """


@tabled
def betaincinv(a: Operand, b: Operand, p: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The x for which ``betainc(a, b, x)`` is p.

    >>> print(fg.scipy.special.betaincinv(2.0, 3.0, [0.0, 0.5]))
    [0.         0.38572757]
    """


@tabled
def betainccinv(a: Operand, b: Operand, q: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The x for which ``betaincc(a, b, x)`` is q.

    >>> print(fg.scipy.special.betainccinv(2.0, 3.0, [1.0, 0.5]))
    [0.         0.38572757]
    """


@tabled
def zetac(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Riemann's zeta function less 1.

    >>> print(fg.scipy.special.zetac([2.0, 4.0]))
    [0.64493407 0.08232323]
    """
