"""Distribution functions by their short names, with derivatives by parameters as well."""

from __future__ import annotations

from funcgrad.numpy.elementwise.ufuncs import Operand
from funcgrad.scipy.special.defining import tabled
from funcgrad.types import Array, UfuncOption

__all__ = [
    "bdtr",
    "bdtrc",
    "chdtr",
    "chdtrc",
    "chdtri",
    "fdtr",
    "fdtrc",
    "gdtr",
    "gdtrc",
    "pdtr",
    "pdtrc",
    "stdtr",
    "stdtrit",
]


@tabled
def chdtr(v: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The chi-square distribution function with v degrees of freedom.

    >>> print(fg.scipy.special.chdtr(2.0, [0.0, 1.0]))
    [0.         0.39346934]
    """


@tabled
def chdtrc(v: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``1 - chdtr(v, x)``, accurate where it is small.

    >>> print(fg.scipy.special.chdtrc(2.0, [0.0, 100.0]))
    [1.00000000e+00 1.92874985e-22]
    """


@tabled
def chdtri(v: Operand, p: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The x for which ``chdtrc(v, x)`` is p.

    >>> print(fg.scipy.special.chdtri(2.0, [0.5, 1.0]))
    [1.38629436 0.        ]
    """


@tabled
def gdtr(a: Operand, b: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The gamma distribution function of rate a and shape b.

    >>> print(fg.scipy.special.gdtr(2.0, 3.0, [0.0, 1.0]))
    [0.         0.32332358]
    """


@tabled
def gdtrc(a: Operand, b: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``1 - gdtr(a, b, x)``, accurate where it is small.

    >>> print(fg.scipy.special.gdtrc(2.0, 3.0, [0.0, 50.0]))
    [1.00000000e+00 1.89761076e-40]
    """


@tabled
def pdtr(k: Operand, m: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The Poisson distribution function of mean m. There is no derivative by the count k.

    >>> print(fg.scipy.special.pdtr(2, [1.0, 3.0]))
    [0.9196986  0.42319008]
    """


@tabled
def pdtrc(k: Operand, m: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``1 - pdtr(k, m)``, accurate where it is small.

    >>> print(fg.scipy.special.pdtrc(2, [0.001, 3.0]))
    [1.66541717e-10 5.76809919e-01]
    """


@tabled
def bdtr(k: Operand, n: Operand, p: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The binomial distribution function. There is no derivative by the counts k and n.

    >>> print(fg.scipy.special.bdtr(2, 5, [0.1, 0.5]))
    [0.99144 0.5    ]
    """


@tabled
def bdtrc(k: Operand, n: Operand, p: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``1 - bdtr(k, n, p)``, accurate where it is small.

    >>> print(fg.scipy.special.bdtrc(2, 5, [0.001, 0.5]))
    [9.985006e-09 5.000000e-01]
    """


@tabled
def fdtr(dfn: Operand, dfd: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The F distribution function.

    >>> print(fg.scipy.special.fdtr(2.0, 3.0, [0.0, 1.0]))
    [0.       0.535242]
    """


@tabled
def fdtrc(dfn: Operand, dfd: Operand, x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``1 - fdtr(dfn, dfd, x)``, accurate where it is small.

    >>> print(fg.scipy.special.fdtrc(2.0, 30.0, [0.0, 50.0]))
    [1.00000000e+00 2.80329328e-10]
    """


@tabled
def stdtr(df: Operand, t: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The distribution function of Student's t, with df degrees of freedom.

    >>> print(fg.scipy.special.stdtr(3.0, [0.0, 1.0]))
    [0.5        0.80449889]
    """


@tabled
def stdtrit(df: Operand, p: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The t for which ``stdtr(df, t)`` is p.

    >>> print(fg.scipy.special.stdtrit(3.0, [0.5, 0.975]))
    [0.         3.18244631]
    """
