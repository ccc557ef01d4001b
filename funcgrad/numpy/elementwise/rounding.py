"""Rounding, and the parts of floating-point numbers."""

from __future__ import annotations

import warnings

import numpy as np

from funcgrad.numpy.dispatch import implements
from funcgrad.numpy.elementwise.ufuncs import Operand, elementwise, loop_dtypes, own, untraced
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.ops.elementwise import arithmetic, floats, rounding
from funcgrad.source import user_stacklevel
from funcgrad.tracing.aliasing import written_into
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Array, UfuncOption

__all__ = [
    "around",
    "ceil",
    "fix",
    "floor",
    "frexp",
    "ldexp",
    "modf",
    "nextafter",
    "rint",
    "round",
    "spacing",
    "trunc",
]


@elementwise(np.floor, rounding.floor)
def floor(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The largest whole number that is not above x; its derivative is 0.

    >>> print(fg.numpy.floor([1.5, -1.5]))
    [ 1. -2.]
    """


@elementwise(np.ceil, rounding.ceil)
def ceil(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The smallest whole number that is not below x; its derivative is 0.

    >>> print(fg.numpy.ceil([1.5, -1.5]))
    [ 2. -1.]
    """


@elementwise(np.trunc, rounding.trunc)
def trunc(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """x without its fraction; its derivative is 0.

    >>> print(fg.numpy.trunc([1.5, -1.5]))
    [ 1. -1.]
    """


@elementwise(np.rint, rounding.rint)
def rint(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The nearest whole number, the even one of two; its derivative is 0.

    >>> print(fg.numpy.rint([1.5, 2.5]))
    [2. 2.]
    """


@implements(np.fix)
def fix(x: Operand, out: Array = None) -> Array:
    """x rounded towards zero; its derivative is 0.

    >>> print(fg.numpy.fix([1.5, -1.5]))
    [ 1. -1.]
    """
    if np.lib.NumpyVersion(np.__version__) >= "2.5.0":
        warnings.warn(
            "numpy.fix is deprecated in NumPy 2.5: use numpy.trunc",
            DeprecationWarning,
            stacklevel=user_stacklevel(),
        )
    return trunc(x, out)


@implements(np.round, np.around)
def round(a: Operand, decimals: int = 0, out: Array = None) -> Array:
    """The nearest number with that many decimals, the even one of two; its derivative is 0.

    >>> print(fg.numpy.round([1.25, 1.35], 1), fg.numpy.round(1234, -2))
    [1.2 1.4] 1200
    """
    x = asoperand(a)
    if untraced(x, out):
        return np.round(x, decimals, out)
    found = _rounded(x, decimals)
    if out is None:
        return found
    target = written_into(out, "np.round with out=")
    target[...] = found
    return target


def _round_method(self: Tracer, decimals: int = 0, out: Array = None) -> Array:
    return round(self, decimals, out)


install({"round": _round_method})


def _rounded(x: Array, decimals: int) -> Array:
    dtype = aval(x).dtype
    if dtype.kind in "iu" and decimals >= 0:
        return own(x)
    if decimals == 0:
        return rounding.rint(x)
    # NumPy's own three steps: a power of ten that is exact, and never its inverse.
    power = 10.0**-decimals if decimals < 0 else 10.0**decimals
    if decimals > 0:
        return arithmetic.div(rounding.rint(arithmetic.mul(x, power)), power)
    return cast(arithmetic.mul(rounding.rint(arithmetic.div(x, power)), power), dtype)


@elementwise(np.modf)
def modf(x: Operand, /, out: Array = None, **options: UfuncOption) -> tuple[Array, Array]:
    """The fraction and the whole part of x, both with the sign of x.

    >>> print(*fg.numpy.modf([1.25, -1.5]))
    [ 0.25 -0.5 ] [ 1. -1.]
    """
    value = cast(x, loop_dtypes(floats.fraction.ufunc, x)[0])
    return floats.fraction(value), rounding.trunc(value)


@elementwise(np.frexp)
def frexp(x: Operand, /, out: Array = None, **options: UfuncOption) -> tuple[Array, Array]:
    """The mantissa m and integer exponent e of ``x = m * 2**e`` with ``0.5 <= |m| < 1``.

    >>> print(*fg.numpy.frexp([1.0, -12.0]))
    [ 0.5  -0.75] [1 4]
    """
    value = cast(x, loop_dtypes(floats.exponent.ufunc, x)[0])
    e = floats.exponent(value)
    return floats.ldexp(value, arithmetic.neg(e)), e


@elementwise(np.ldexp, floats.ldexp)
def ldexp(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x * 2**y`` for integers y.

    >>> print(fg.numpy.ldexp([0.5, -0.75], [1, 4]))
    [  1. -12.]
    """


@elementwise(np.nextafter, floats.nextafter)
def nextafter(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The next floating-point number after x towards y.

    >>> print(fg.numpy.nextafter(1.0, 2.0))
    1.0000000000000002
    """


@elementwise(np.spacing, floats.spacing)
def spacing(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The distance from x to the next floating-point number.

    >>> print(fg.numpy.spacing(1.0))
    2.220446049250313e-16
    """


around = round
