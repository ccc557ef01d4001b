"""Comparison and logic: functions whose results have no derivative."""

from __future__ import annotations

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.numpy.dispatch import FUNCTIONS, implements
from funcgrad.numpy.elementwise.ufuncs import Operand, elementwise, loop_dtypes, untraced
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.ops.elementwise import arithmetic, comparison, logic, magnitude
from funcgrad.source import user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import located
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, UfuncOption

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "equal",
    "greater",
    "greater_equal",
    "invert",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "left_shift",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "right_shift",
    "signbit",
]


@elementwise(np.equal, comparison.equal)
def equal(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x == y``.

    >>> print(fg.numpy.equal([1.0, 2.0, 3.0], 2.0))
    [False  True False]
    """


@elementwise(np.not_equal, comparison.not_equal)
def not_equal(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x != y``.

    >>> print(fg.numpy.not_equal([1.0, 2.0, 3.0], 2.0))
    [ True False  True]
    """


@elementwise(np.less, comparison.less)
def less(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x < y``.

    >>> print(fg.numpy.less([1.0, 2.0, 3.0], 2.0))
    [ True False False]
    """


@elementwise(np.less_equal, comparison.less_equal)
def less_equal(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x <= y``.

    >>> print(fg.numpy.less_equal([1.0, 2.0, 3.0], 2.0))
    [ True  True False]
    """


@elementwise(np.greater, comparison.greater)
def greater(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x > y``.

    >>> print(fg.numpy.greater([1.0, 2.0, 3.0], 2.0))
    [False False  True]
    """


@elementwise(np.greater_equal, comparison.greater_equal)
def greater_equal(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """``x >= y``.

    >>> print(fg.numpy.greater_equal([1.0, 2.0, 3.0], 2.0))
    [False  True  True]
    """


@elementwise(np.isnan, comparison.isnan)
def isnan(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Whether each element is not a number.

    >>> print(fg.numpy.isnan([0.0, np.nan]))
    [False  True]
    """


@elementwise(np.isinf, comparison.isinf)
def isinf(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Whether each element is infinite.

    >>> print(fg.numpy.isinf([0.0, -np.inf]))
    [False  True]
    """


@elementwise(np.isfinite, comparison.isfinite)
def isfinite(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Whether each element is neither infinite nor NaN.

    >>> print(fg.numpy.isfinite([0.0, np.inf, np.nan]))
    [ True False False]
    """


@elementwise(np.signbit, comparison.signbit)
def signbit(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """Whether the sign bit is set: true for -0.0.

    >>> print(fg.numpy.signbit([1.0, -0.0]))
    [False  True]
    """


@elementwise(np.logical_and, logic.logical_and)
def logical_and(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """True where both are true, of any dtype; zero is false.

    >>> print(fg.numpy.logical_and([0.0, 1.0, 2.0], [1, 1, 0]))
    [False  True False]
    """


@elementwise(np.logical_or, logic.logical_or)
def logical_or(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """True where one or both are true.

    >>> print(fg.numpy.logical_or([0.0, 1.0, 2.0], [0, 1, 0]))
    [False  True  True]
    """


@elementwise(np.logical_xor, logic.logical_xor)
def logical_xor(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """True where exactly one is true.

    >>> print(fg.numpy.logical_xor([0.0, 1.0, 2.0], [0, 1, 0]))
    [False False  True]
    """


@elementwise(np.logical_not, logic.logical_not)
def logical_not(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """True where x is false.

    >>> print(fg.numpy.logical_not([0.0, 2.0]))
    [ True False]
    """


@elementwise(np.bitwise_and, logic.bitwise_and)
def bitwise_and(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The bits set in both integers; ``and`` of booleans.

    >>> print(fg.numpy.bitwise_and([12, 10], 6))
    [4 2]
    """


@elementwise(np.bitwise_or, logic.bitwise_or)
def bitwise_or(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The bits set in either integer; ``or`` of booleans.

    >>> print(fg.numpy.bitwise_or([12, 10], 6))
    [14 14]
    """


@elementwise(np.bitwise_xor, logic.bitwise_xor)
def bitwise_xor(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The bits set in exactly one integer; exclusive ``or`` of booleans.

    >>> print(fg.numpy.bitwise_xor([12, 10], 6))
    [10 12]
    """


@elementwise(np.left_shift, logic.left_shift)
def left_shift(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The bits of x moved to the left by y places.

    >>> print(fg.numpy.left_shift([1, 3], 2))
    [ 4 12]
    """


@elementwise(np.right_shift, logic.right_shift)
def right_shift(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """The bits of x moved to the right by y places.

    >>> print(fg.numpy.right_shift([4, 12], 2))
    [1 3]
    """


@elementwise(np.invert, logic.invert)
def invert(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """All bits flipped; ``not`` of booleans.

    >>> print(fg.numpy.invert([0, 5]))
    [-1 -6]
    """


@elementwise(np.bitwise_count, logic.bitwise_count)
def bitwise_count(x: Operand, /, out: Array = None, **options: UfuncOption) -> Array:
    """How many bits of the absolute value of each integer are set.

    >>> print(fg.numpy.bitwise_count([0, 5, -5]))
    [0 2 2]
    """


@implements(np.isposinf)
def isposinf(x: Operand, out: Array = None) -> Array:
    """Whether each element is positive infinity.

    >>> print(fg.numpy.isposinf([np.inf, -np.inf]))
    [ True False]
    """
    value = _real(x, "isposinf")
    return np.isposinf(value, out) if untraced(value, out) else equal(value, np.inf, out)


@implements(np.isneginf)
def isneginf(x: Operand, out: Array = None) -> Array:
    """Whether each element is negative infinity.

    >>> print(fg.numpy.isneginf([np.inf, -np.inf]))
    [False  True]
    """
    value = _real(x, "isneginf")
    return np.isneginf(value, out) if untraced(value, out) else equal(value, -np.inf, out)


def _real(x: Operand, name: str) -> Array:
    value = asoperand(x)
    if aval(value).dtype.kind == "c":
        raise located(
            DtypeError(f"{name} of {aval(value)}: complex infinities have no sign"), user_location()
        )
    return value


@implements(np.isclose)
def isclose(
    a: Operand, b: Operand, rtol: Operand = 1e-5, atol: Operand = 1e-8, equal_nan: bool = False
) -> Array:
    """Whether ``|a - b| <= atol + rtol * |b|``, element by element.

    >>> print(fg.numpy.isclose([1.0, 1.1], 1.0 + 1e-7))
    [ True False]
    """
    x, y, relative, absolute = [asoperand(v) for v in (a, b, rtol, atol)]
    if untraced(x, y, relative, absolute):
        return np.isclose(x, y, relative, absolute, equal_nan)
    if not aval(y).inexact:
        # Differences of unsigned integers, and of the smallest one, would wrap around.
        y = cast(y, loop_dtypes(np.multiply, y, 1.0)[-1])
    distance = magnitude.absolute(arithmetic.sub(x, y))
    allowed = arithmetic.add(absolute, arithmetic.mul(relative, magnitude.absolute(y)))
    near = logic.logical_and(comparison.less_equal(distance, allowed), comparison.isfinite(y))
    return _or_both_nan(logic.logical_or(near, comparison.equal(x, y)), x, y, equal_nan)


def _or_both_nan(same: Array, x: Array, y: Array, equal_nan: bool) -> Array:
    if not equal_nan or not aval(x).inexact or not aval(y).inexact:
        return same
    return logic.logical_or(same, logic.logical_and(comparison.isnan(x), comparison.isnan(y)))


@implements(np.allclose)
def allclose(
    a: Operand, b: Operand, rtol: Operand = 1e-5, atol: Operand = 1e-8, equal_nan: bool = False
) -> Array:
    """Whether all elements are close, as `isclose` says.

    >>> print(fg.numpy.allclose([1.0, 1.1], 1.0 + 1e-7))
    False
    """
    return _all(isclose(a, b, rtol, atol, equal_nan))


@implements(np.array_equal)
def array_equal(a1: Operand, a2: Operand, equal_nan: bool = False) -> Array:
    """Whether two arrays have the same shape and the same elements.

    >>> print(fg.numpy.array_equal([1, 2], [1, 2]), fg.numpy.array_equal([1, 2], [[1, 2]]))
    True False
    """
    x, y = asoperand(a1), asoperand(a2)
    if untraced(x, y):
        return np.array_equal(x, y, equal_nan)
    if aval(x).shape != aval(y).shape:
        return False
    return _all(_or_both_nan(comparison.equal(x, y), x, y, equal_nan))


@implements(np.array_equiv)
def array_equiv(a1: Operand, a2: Operand) -> Array:
    """Whether two arrays, broadcast to one shape, have the same elements.

    >>> print(fg.numpy.array_equiv([1, 2], [[1, 2], [1, 2]]), fg.numpy.array_equiv([1, 2], [1, 2, 3]))
    True False
    """
    x, y = asoperand(a1), asoperand(a2)
    if untraced(x, y):
        return np.array_equiv(x, y)
    try:
        np.broadcast_shapes(aval(x).shape, aval(y).shape)
    except ValueError:
        return False
    return _all(comparison.equal(x, y))


def _all(x: Array) -> Array:
    """Whether all elements are true: a Python bool, or a traced one."""
    return FUNCTIONS[np.all](x) if isinstance(x, Tracer) else bool(np.all(x))


bitwise_invert = invert
bitwise_left_shift = left_shift
bitwise_not = invert
bitwise_right_shift = right_shift
