"""Elementary functions: exponentials, logarithms, roots, angles, trigonometry and hyperbolic functions."""

from __future__ import annotations

import numpy as np

from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.elementwise.ufuncs import Operand, elementwise, untraced
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.ops.elementwise import bivariate, elementary, magnitude, special
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, UfuncOption

__all__ = [
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "exp",
    "exp2",
    "expm1",
    "hypot",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "rad2deg",
    "radians",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


@elementwise(np.exp, elementary.exp)
def exp(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The exponential.

    >>> print(fg.numpy.exp([0.0, 1.0]))
    [1.         2.71828183]
    """


@elementwise(np.exp2, elementary.exp2)
def exp2(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Two to the power x.

    >>> print(fg.numpy.exp2([0.0, 3.0]))
    [1. 8.]
    """


@elementwise(np.expm1, elementary.expm1)
def expm1(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``exp(x) - 1``, accurate near 0.

    >>> print(fg.numpy.expm1(1e-20))
    1e-20
    """


@elementwise(np.log, elementary.log)
def log(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The natural logarithm.

    >>> print(fg.numpy.log([1.0, np.e]))
    [0. 1.]
    """


@elementwise(np.log2, elementary.log2)
def log2(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The logarithm to base 2.

    >>> print(fg.numpy.log2([1.0, 8.0]))
    [0. 3.]
    """


@elementwise(np.log10, elementary.log10)
def log10(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The logarithm to base 10.

    >>> print(fg.numpy.log10([1.0, 1000.0]))
    [0. 3.]
    """


@elementwise(np.log1p, elementary.log1p)
def log1p(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``log(1 + x)``, accurate near 0.

    >>> print(fg.numpy.log1p(1e-20))
    1e-20
    """


@elementwise(np.sqrt, elementary.sqrt)
def sqrt(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The square root; its derivative at 0 is infinite.

    >>> print(fg.numpy.sqrt([0.0, 9.0]))
    [0. 3.]
    """


@elementwise(np.cbrt, elementary.cbrt)
def cbrt(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The cube root of a real number, negative ones included.

    >>> print(fg.numpy.cbrt([-8.0, 27.0]))
    [-2.  3.]
    """


@elementwise(np.sin, elementary.sin)
def sin(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The sine of an angle in radians.

    >>> print(fg.numpy.sin([0.0, np.pi / 2]))
    [0. 1.]
    """


@elementwise(np.cos, elementary.cos)
def cos(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The cosine of an angle in radians.

    >>> print(fg.numpy.cos([0.0, np.pi]))
    [ 1. -1.]
    """


@elementwise(np.tan, elementary.tan)
def tan(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The tangent of an angle in radians.

    >>> print(fg.numpy.tan([0.0, 1.0]))
    [0.         1.55740772]
    """


@elementwise(np.arcsin, elementary.arcsin)
def arcsin(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The angle, in radians, whose sine is x.

    >>> print(fg.numpy.arcsin([0.0, 1.0]))
    [0.         1.57079633]
    """


@elementwise(np.arccos, elementary.arccos)
def arccos(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The angle, in radians, whose cosine is x.

    >>> print(fg.numpy.arccos([1.0, 0.0]))
    [0.         1.57079633]
    """


@elementwise(np.arctan, elementary.arctan)
def arctan(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The angle, in radians, whose tangent is x.

    >>> print(fg.numpy.arctan([0.0, 1.0]))
    [0.         0.78539816]
    """


@elementwise(np.sinh, elementary.sinh)
def sinh(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The hyperbolic sine.

    >>> print(fg.numpy.sinh([0.0, 1.0]))
    [0.         1.17520119]
    """


@elementwise(np.cosh, elementary.cosh)
def cosh(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The hyperbolic cosine.

    >>> print(fg.numpy.cosh([0.0, 1.0]))
    [1.         1.54308063]
    """


@elementwise(np.tanh, elementary.tanh)
def tanh(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The hyperbolic tangent.

    >>> print(fg.numpy.tanh([0.0, 1.0]))
    [0.         0.76159416]
    """


@elementwise(np.arcsinh, elementary.arcsinh)
def arcsinh(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The inverse hyperbolic sine.

    >>> print(fg.numpy.arcsinh([0.0, 1.0]))
    [0.         0.88137359]
    """


@elementwise(np.arccosh, elementary.arccosh)
def arccosh(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The inverse hyperbolic cosine.

    >>> print(fg.numpy.arccosh([1.0, 2.0]))
    [0.        1.3169579]
    """


@elementwise(np.arctanh, elementary.arctanh)
def arctanh(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The inverse hyperbolic tangent.

    >>> print(fg.numpy.arctanh([0.0, 0.5]))
    [0.         0.54930614]
    """


@elementwise(np.degrees, elementary.degrees)
def degrees(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Radians as degrees.

    >>> print(fg.numpy.degrees(np.pi))
    180.0
    """


@elementwise(np.radians, elementary.radians)
def radians(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Degrees as radians.

    >>> print(fg.numpy.radians(180.0))
    3.141592653589793
    """


@elementwise(np.rad2deg, elementary.degrees)
def rad2deg(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Radians as degrees, as `degrees`.

    >>> print(fg.numpy.rad2deg(np.pi))
    180.0
    """


@elementwise(np.deg2rad, elementary.radians)
def deg2rad(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Degrees as radians, as `radians`.

    >>> print(fg.numpy.deg2rad(180.0))
    3.141592653589793
    """


@elementwise(np.arctan2, bivariate.arctan2)
def arctan2(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The angle of the point (y, x), first the ordinate: ``arctan(x / y)`` in the right quadrant.

    Its derivative at (0, 0) is 0.

    >>> print(fg.numpy.arctan2([1.0, 1.0], [1.0, -1.0]))
    [0.78539816 2.35619449]
    """


@elementwise(np.hypot, magnitude.hypot)
def hypot(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``sqrt(x*x + y*y)`` without overflow; its derivative at (0, 0) is 0.

    >>> print(fg.numpy.hypot(3.0, 4.0))
    5.0
    """


@elementwise(np.logaddexp, bivariate.logaddexp)
def logaddexp(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``log(exp(x) + exp(y))`` without overflow; its derivatives are finite everywhere.

    ``logaddexp(0, x)`` is the softplus function.

    >>> print(fg.numpy.logaddexp(0.0, [0.0, 1000.0]))
    [6.93147181e-01 1.00000000e+03]
    """


@elementwise(np.logaddexp2, bivariate.logaddexp2)
def logaddexp2(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``log2(2**x + 2**y)`` without overflow; its derivatives are finite everywhere.

    >>> print(fg.numpy.logaddexp2(0.0, [0.0, 1000.0]))
    [   1. 1000.]
    """


@implements(np.sinc)
def sinc(x: Operand) -> Array:
    """``sin(pi x) / (pi x)``, and 1 at 0; every derivative is right there too.

    >>> print(fg.numpy.sinc([0.0, 0.5]))
    [1.         0.63661977]
    >>> print(fg.grad(fg.grad(fg.numpy.sinc))(0.0) / np.pi**2)
    -0.3333333333333333
    """
    value = asoperand(x)
    if untraced(value):
        return np.sinc(value)
    return special.Sinc(0)(value if aval(value).inexact else cast(value, np.float64))


acos = arccos
acosh = arccosh
asin = arcsin
asinh = arcsinh
atan = arctan
atan2 = arctan2
atanh = arctanh
