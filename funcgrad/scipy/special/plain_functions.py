"""Functions with elementary derivatives: products with logarithms, divergences, losses, Box-Cox, powers.

And angles in degrees.
"""

from __future__ import annotations

from funcgrad.numpy.elementwise.ufuncs import Operand
from funcgrad.scipy.special.defining import tabled
from funcgrad.types import Array, UfuncOption

__all__ = [
    "boxcox",
    "boxcox1p",
    "cosdg",
    "cosm1",
    "cotdg",
    "exp10",
    "huber",
    "inv_boxcox",
    "inv_boxcox1p",
    "kl_div",
    "powm1",
    "pseudo_huber",
    "rel_entr",
    "sindg",
    "tandg",
    "xlog1py",
    "xlogy",
]


@tabled
def rel_entr(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x log(x / y)``, a term of the relative entropy: 0 for ``x = 0``.

    >>> print(fg.scipy.special.rel_entr([0.0, 1.0], 2.0))
    [ 0.         -0.69314718]
    """


@tabled
def kl_div(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x log(x / y) - x + y``, a term of the Kullback-Leibler divergence.

    >>> print(fg.scipy.special.kl_div([0.0, 1.0], 2.0))
    [2.         0.30685282]
    """


@tabled
def huber(delta: Operand, r: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Huber's loss: ``r*r / 2`` up to delta, linear beyond.

    >>> print(fg.scipy.special.huber(1.0, [0.5, 3.0]))
    [0.125 2.5  ]
    """


@tabled
def pseudo_huber(delta: Operand, r: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``delta**2 (sqrt(1 + (r / delta)**2) - 1)``, a smooth `huber`.

    >>> print(fg.scipy.special.pseudo_huber(1.0, [0.5, 3.0]))
    [0.11803399 2.16227766]
    """


@tabled
def boxcox(x: Operand, lmbda: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``(x**lmbda - 1) / lmbda``, and ``log(x)`` for 0; its derivatives are right there too.

    >>> print(fg.scipy.special.boxcox(2.0, [0.0, 0.5]))
    [0.69314718 0.82842712]
    """


@tabled
def boxcox1p(x: Operand, lmbda: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``boxcox(1 + x, lmbda)``, accurate for small x.

    >>> print(fg.scipy.special.boxcox1p(1e-20, [0.0, 0.5]))
    [1.e-20 1.e-20]
    """


@tabled
def inv_boxcox(y: Operand, lmbda: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The inverse of `boxcox`.

    >>> print(fg.scipy.special.inv_boxcox(2.0, [0.0, 0.5]))
    [7.3890561 4.       ]
    """


@tabled
def inv_boxcox1p(y: Operand, lmbda: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The inverse of `boxcox1p`.

    >>> print(fg.scipy.special.inv_boxcox1p(1e-20, [0.0, 0.5]))
    [1.e-20 1.e-20]
    """


@tabled
def exp10(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Ten to the power x.

    >>> print(fg.scipy.special.exp10([0.0, 2.0]))
    [  1. 100.]
    """


@tabled
def cosm1(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``cos(x) - 1``, accurate near 0.

    >>> print(fg.scipy.special.cosm1([0.0, 1e-10]))
    [ 0.e+00 -5.e-21]
    """


@tabled
def powm1(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x**y - 1``, accurate where that is small.

    >>> print(fg.scipy.special.powm1(1.5, [0.0, 1e-20]))
    [0.00000000e+00 4.05465108e-21]
    """


@tabled
def sindg(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The sine of an angle in degrees.

    >>> print(fg.scipy.special.sindg([0.0, 30.0]))
    [0.  0.5]
    """


@tabled
def cosdg(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The cosine of an angle in degrees.

    >>> print(fg.scipy.special.cosdg([0.0, 60.0]))
    [1.  0.5]
    """


@tabled
def tandg(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The tangent of an angle in degrees.

    >>> print(fg.scipy.special.tandg([0.0, 45.0]))
    [0. 1.]
    """


@tabled
def cotdg(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The cotangent of an angle in degrees.

    >>> print(fg.scipy.special.cotdg([45.0, 90.0]))
    [1. 0.]
    """


@tabled
def xlogy(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x * log(y)``, and 0 where ``x`` is 0 unless ``y`` is NaN.

    >>> print(fg.scipy.special.xlogy([0.0, 2.0], [0.0, np.e]))
    [0. 2.]
    """


@tabled
def xlog1py(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x * log(1 + y)``, and 0 where ``x`` is 0 unless ``y`` is NaN.

    >>> print(fg.scipy.special.xlog1py([0.0, 2.0], [-1.0, np.e - 1]))
    [0. 2.]
    """
