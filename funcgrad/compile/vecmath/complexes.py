"""Elementary functions of complex numbers, each as two functions of the two parts.

``real_exp(x, y)`` and ``imag_exp(x, y)`` are the parts of ``exp(x + iy)``. Compiled together they share their
common terms. Errors are a few units in the last place of the larger part, and of either part in most cases.
"""

from __future__ import annotations

import math

from funcgrad.compile.vecmath.body import Value, absolute, fma, least, select, square_root, with_sign_of
from funcgrad.compile.vecmath.exponentials import cosh, exponential_in_parts, scaled_twice, sinh, within
from funcgrad.compile.vecmath.inverses import arctan2
from funcgrad.compile.vecmath.logarithms import log_of_sum
from funcgrad.compile.vecmath.powers import hypot
from funcgrad.compile.vecmath.trigonometry import cos, sin, tan


def real_exp(x: Value, y: Value) -> Value:
    """The real part of the exponential."""
    return exponential_times(x, cos(y))


def imag_exp(x: Value, y: Value) -> Value:
    """The imaginary part of the exponential."""
    return exponential_times(x, sin(y))


def exponential_times(x: Value, factor: Value) -> Value:
    """``exp(x)`` times a number of at most 1, which overflows only where the product does."""
    top = (x.body.format.bias + 64) * 0.6931
    p, _, exponent = exponential_in_parts(within(x, top), x.body.real(0.0))
    product = scaled_twice(p * factor, exponent)
    # Far to the left even an angle that is no number does not count.
    return select(x.equals(-math.inf), 0.0, product)


def real_log(x: Value, y: Value) -> Value:
    """The logarithm of the size."""
    bias = x.body.format.bias
    a, b = absolute(x), absolute(y)
    longer, shorter = select(a > b, a, b), select(a > b, b, a)
    huge, tiny = longer > 2.0 ** (bias // 2 - 4), longer < 2.0 ** -(bias * 7 // 16)
    down, up, zero = bias * 5 // 8, bias * 3 // 4, x.body.real(0.0)
    scale = select(huge, 2.0**-down, select(tiny, 2.0**up, x.body.real(1.0)))
    doublings = select(huge, 2.0 * down, select(tiny, -2.0 * up, zero))
    p, q = longer * scale, shorter * scale
    square = p * p
    other = q * q
    total = square + other
    lost = ((square - total) + other) + (fma(p, p, -square) + fma(q, q, -other))
    result = log_of_sum(total, lost, doublings) * 0.5
    result = select(longer.equals(0.0), -math.inf, select(longer < math.inf, result, longer))
    infinite = a.equals(math.inf) | b.equals(math.inf)
    return select(infinite, math.inf, select(x.is_nan() | y.is_nan(), x + y, result))


def imag_log(x: Value, y: Value) -> Value:
    """The angle."""
    return arctan2(y, x)


def real_sqrt(x: Value, y: Value) -> Value:
    """The real part of the square root, never negative."""
    larger, smaller = root_parts(x, y)
    return select(x < 0.0, smaller, larger)


def imag_sqrt(x: Value, y: Value) -> Value:
    """The imaginary part of the square root, with the sign of ``y``."""
    larger, smaller = root_parts(x, y)
    return with_sign_of(select(x < 0.0, larger, smaller), y)


def root_parts(x: Value, y: Value) -> tuple[Value, Value]:
    """``sqrt((|x| + |z|) / 2)`` and ``|y|`` over twice that: the parts of the root but for signs."""
    bias = x.body.format.bias
    a, b = absolute(x), absolute(y)
    huge = (a > 2.0 ** (bias - 4)) | (b > 2.0 ** (bias - 4))
    tiny = (a < 2.0 ** -(bias // 2)) & (b < 2.0 ** -(bias // 2))
    # Powers of four, so that their roots are exact.
    up = 2 * (bias // 4)
    one = x.body.real(1.0)
    scale = select(huge, 0.0625, select(tiny, 2.0**up, one))
    unscale = select(huge, 4.0, select(tiny, 2.0 ** -(up // 2), one))
    p, q = a * scale, b * scale
    root = square_root((p + hypot(p, q)) * 0.5)
    other = select(root > 0.0, q * 0.5 / root, q)
    infinite = b.equals(math.inf)
    larger = select(infinite, math.inf, root * unscale)
    return larger, select(infinite, math.inf, select(a.equals(math.inf), b * 0.0, other * unscale))


def real_sin(x: Value, y: Value) -> Value:
    """The real part of the sine."""
    return sin(x) * cosh(y)


def imag_sin(x: Value, y: Value) -> Value:
    """The imaginary part of the sine."""
    return cos(x) * sinh(y)


def real_cos(x: Value, y: Value) -> Value:
    """The real part of the cosine."""
    return cos(x) * cosh(y)


def imag_cos(x: Value, y: Value) -> Value:
    """The imaginary part of the cosine."""
    return -(sin(x) * sinh(y))


def real_sinh(x: Value, y: Value) -> Value:
    """The real part of the hyperbolic sine."""
    return sinh(x) * cos(y)


def imag_sinh(x: Value, y: Value) -> Value:
    """The imaginary part of the hyperbolic sine."""
    return cosh(x) * sin(y)


def real_cosh(x: Value, y: Value) -> Value:
    """The real part of the hyperbolic cosine."""
    return cosh(x) * cos(y)


def imag_cosh(x: Value, y: Value) -> Value:
    """The imaginary part of the hyperbolic cosine."""
    return sinh(x) * sin(y)


def real_tanh(x: Value, y: Value) -> Value:
    """The real part of the hyperbolic tangent."""
    s, _, beta = tangent_parts(x, y)
    slope = beta * square_root(fma(s, s, 1.0)) * s / fma(beta * s, s, 1.0)
    return select(absolute(x) > far(x), with_sign_of(x.body.real(1.0), x), slope)


def imag_tanh(x: Value, y: Value) -> Value:
    """The imaginary part of the hyperbolic tangent."""
    s, t, beta = tangent_parts(x, y)
    beyond = exponential_times(-2.0 * absolute(x), sin(y) * cos(y)) * 4.0
    return select(absolute(x) > far(x), beyond, t / fma(beta * s, s, 1.0))


def tangent_parts(x: Value, y: Value) -> tuple[Value, Value, Value]:
    """The hyperbolic sine of x, the tangent of y, and one and the tangent's square.

    W. Kahan, "Branch cuts for complex elementary functions", 1987.
    """
    t = tan(y)
    return sinh(with_sign_of(least(absolute(x), far(x)), x)), t, fma(t, t, 1.0)


def far(x: Value) -> float:
    """Beyond this the hyperbolic tangent is 1 to the last bit."""
    return 0.35 * (x.body.format.mantissa + 3)


def real_tan(x: Value, y: Value) -> Value:
    """The real part of the tangent."""
    return imag_tanh(y, x)


def imag_tan(x: Value, y: Value) -> Value:
    """The imaginary part of the tangent."""
    return real_tanh(y, x)
