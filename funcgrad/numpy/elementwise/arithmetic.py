"""Arithmetic functions: sums and products, quotients and remainders, powers, sizes and signs."""

from __future__ import annotations

import numpy as np

from funcgrad.numpy.elementwise.ufuncs import Operand, elementwise, loop_dtypes, own
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.ops.elementwise import arithmetic, bivariate, elementary, magnitude, rounding
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, ArrayLike, UfuncOption

__all__ = [
    "abs",
    "absolute",
    "add",
    "copysign",
    "divide",
    "divmod",
    "fabs",
    "float_power",
    "floor_divide",
    "fmod",
    "gcd",
    "lcm",
    "mod",
    "multiply",
    "negative",
    "positive",
    "pow",
    "power",
    "reciprocal",
    "remainder",
    "sign",
    "square",
    "subtract",
    "true_divide",
]

LARGEST_FIXED_EXPONENT = 1 << 20
"""Integer exponents up to here are part of a recorded Program; larger ones are operands like any number."""


@elementwise(np.add, arithmetic.add)
def add(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x + y``.

    >>> print(fg.numpy.add([1.0, 2.0], 10.0))
    [11. 12.]
    """


@elementwise(np.subtract, arithmetic.sub)
def subtract(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x - y``.

    >>> print(fg.numpy.subtract([1.0, 2.0], 10.0))
    [-9. -8.]
    """


@elementwise(np.multiply, arithmetic.mul)
def multiply(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x * y``.

    >>> print(fg.numpy.multiply([1.0, 2.0], 10.0))
    [10. 20.]
    """


@elementwise(np.divide, arithmetic.div)
def divide(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x / y``, a floating-point number for integers too.

    >>> print(fg.numpy.divide([1, 2], 4))
    [0.25 0.5 ]
    """


@elementwise(np.floor_divide, rounding.floor_divide)
def floor_divide(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x // y``, the quotient rounded down; its derivative is 0.

    >>> print(fg.numpy.floor_divide([7.0, -7.0], 2.0))
    [ 3. -4.]
    """


@elementwise(np.remainder, rounding.remainder)
def remainder(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x % y``, with the sign of ``y``.

    >>> print(fg.numpy.remainder([7.0, -7.0], 4.0))
    [3. 1.]
    """


@elementwise(np.fmod, rounding.fmod)
def fmod(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The remainder of the quotient rounded towards zero, with the sign of ``x``.

    >>> print(fg.numpy.fmod([7.0, -7.0], 4.0))
    [ 3. -3.]
    """


@elementwise(np.divmod)
def divmod(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> tuple[Array, Array]:
    """``(x // y, x % y)``.

    >>> print(*fg.numpy.divmod([7.0, -7.0], 4.0))
    [ 1. -2.] [3. 1.]
    """
    return rounding.floor_divide(x, y), rounding.remainder(x, y)


@elementwise(np.gcd, rounding.gcd)
def gcd(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The greatest common divisor of integers.

    >>> print(fg.numpy.gcd([12, 15], 18))
    [6 3]
    """


@elementwise(np.lcm, rounding.lcm)
def lcm(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The lowest common multiple of integers.

    >>> print(fg.numpy.lcm([4, 5], 6))
    [12 30]
    """


@elementwise(np.negative, arithmetic.neg)
def negative(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``-x``.

    >>> print(fg.numpy.negative([1.0, -2.0]))
    [-1.  2.]
    """


@elementwise(np.positive)
def positive(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``+x``: the same values in an array of their own.

    Raises DtypeError for booleans.

    >>> print(fg.numpy.positive([1.0, -2.0]))
    [ 1. -2.]
    """
    loop_dtypes(np.positive, x)
    return own(x)


def power_of(x: ArrayLike, y: ArrayLike) -> Array:
    """``x ** y``, with a rule of its own for exponents that are fixed."""
    if not isinstance(x, Tracer) or not is_fixed_exponent(y):
        return bivariate.pow(x, y)
    if (type(y) is float and not x.aval.inexact) or x.aval.dtype.kind == "b":
        return power_of(cast(x, loop_dtypes(np.power, x, y)[0]), y)
    return elementary.sqrt(x) if y == 0.5 else arithmetic.integer_pow(x, int(y))


def is_fixed_exponent(y: ArrayLike) -> bool:
    """Whether an exponent has a rule of its own: a Python number that is whole, or one half.

    >>> is_fixed_exponent(2.0), is_fixed_exponent(0.5), is_fixed_exponent(np.float64(2.0))
    (True, True, False)
    """
    if type(y) is not int and type(y) is not float:
        return False
    return -LARGEST_FIXED_EXPONENT < y < LARGEST_FIXED_EXPONENT and (int(y) == y or y == 0.5)


@elementwise(np.power, power_of)
def power(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x ** y``.

    A Python number as the exponent is fixed: ``x ** 2.0`` is right, with every derivative, at 0 and for
    negative ``x``, and the derivative of ``x ** 0`` is 0. For an exponent that is an array, the derivative by
    ``x`` is 0 where ``y`` is 0, and by ``y`` where ``x`` is 0.

    Raises a ValueError for integers to negative integer powers, as NumPy does.

    >>> print(fg.numpy.power([1.0, -2.0], 3))
    [ 1. -8.]
    >>> print(fg.grad(lambda x: fg.numpy.power(x, 0))(0.0))
    0.0
    """


@elementwise(np.float_power)
def float_power(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x ** y`` in double precision at least, for integers too.

    >>> print(fg.numpy.float_power([1, 2], -1))
    [1.  0.5]
    """
    dtype = loop_dtypes(np.float_power, x, y)[0]
    return power_of(cast(x, dtype), y if is_fixed_exponent(y) else cast(y, dtype))


@elementwise(np.square)
def square(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x * x``.

    >>> print(fg.numpy.square([3.0, -4.0]))
    [ 9. 16.]
    """
    return arithmetic.IntegerPow(2)(cast(x, np.int8) if aval(x).dtype.kind == "b" else x)


@elementwise(np.reciprocal, arithmetic.reciprocal)
def reciprocal(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``1 / x``; for integers rounded towards zero.

    >>> print(fg.numpy.reciprocal([2.0, -4.0]))
    [ 0.5  -0.25]
    """


@elementwise(np.absolute, magnitude.absolute)
def absolute(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The absolute value, also of complex numbers; its derivative at 0 is 0.

    >>> print(fg.numpy.absolute([-2.0, 3.0]), fg.numpy.absolute(3.0 + 4.0j))
    [2. 3.] 5.0
    >>> print(fg.grad(fg.numpy.absolute)(0.0))
    0.0
    """


@elementwise(np.fabs)
def fabs(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The absolute value of real numbers, as a floating-point number.

    Raises DtypeError for complex numbers.

    >>> print(fg.numpy.fabs([-2, 3]))
    [2. 3.]
    """
    return magnitude.absolute(cast(x, loop_dtypes(np.fabs, x)[0]))


@elementwise(np.sign, magnitude.sign)
def sign(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """-1, 0 or 1; ``x / |x|`` for complex numbers.

    >>> print(fg.numpy.sign([-2.0, 0.0, 3.0]), fg.numpy.sign(3.0 + 4.0j))
    [-1.  0.  1.] (0.6+0.8j)
    """


@elementwise(np.copysign, magnitude.copysign)
def copysign(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The size of ``x`` with the sign of ``y``, that of -0.0 included.

    >>> print(fg.numpy.copysign([1.0, -2.0], -0.0))
    [-1. -2.]
    """


abs = absolute
mod = remainder
pow = power
true_divide = divide
