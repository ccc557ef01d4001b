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
    found = exponential_times(x, cos(y))
    # C99, G.6.3.1: far to the right an angle that is no number still leaves the size.
    found = select(x.equals(math.inf) & is_not_finite(y), math.inf, found)
    sign = select(is_not_finite(y), 1.0, cos(y))
    return select(x.equals(-math.inf), with_sign_of(x.body.real(0.0), sign), found)


def imag_exp(x: Value, y: Value) -> Value:
    """The imaginary part of the exponential; 0 on the real axis, whatever `x` is."""
    found = select(y.equals(0.0), y, exponential_times(x, sin(y)))
    sign = select(is_not_finite(y), y, sin(y))
    return select(x.equals(-math.inf), with_sign_of(x.body.real(0.0), sign), found)


def is_not_finite(x: Value) -> Value:
    """Whether a number is NaN or infinite."""
    return x.is_nan() | absolute(x).equals(math.inf)


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
    other = select(root.equals(0.0), q, q * 0.5 / root)
    infinite = b.equals(math.inf)
    larger = select(infinite, math.inf, root * unscale)
    return larger, select(infinite, math.inf, select(a.equals(math.inf), b * 0.0, other * unscale))


def real_sin(x: Value, y: Value) -> Value:
    """The real part of the sine; 0 on the imaginary axis, whatever `y` is."""
    return select(x.equals(0.0), x, sin(x) * cosh(y))


def imag_sin(x: Value, y: Value) -> Value:
    """The imaginary part of the sine."""
    beyond = is_not_finite(x)
    found = select(y.equals(0.0) & beyond, y, cos(x) * sinh(y))
    return select(beyond & absolute(y).equals(math.inf), math.inf, found)


def real_cos(x: Value, y: Value) -> Value:
    """The real part of the cosine."""
    boundless = is_not_finite(x) & absolute(y).equals(math.inf)
    return select(boundless, math.inf, cos(x) * cosh(y))


def imag_cos(x: Value, y: Value) -> Value:
    """The imaginary part of the cosine; 0 on both axes, whatever the other part is."""
    found = -(sin(x) * sinh(y))
    found = select(x.equals(0.0), select(y.is_nan(), x, -(x * with_sign_of(x.body.real(1.0), y))), found)
    return select(y.equals(0.0) & is_not_finite(x), 0.0, found)


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
    size, beyond = absolute(x), is_not_finite(y)
    one = (size > far(x)) & (size.equals(math.inf) | (absolute(y) < math.inf))
    return select(x.equals(0.0) & beyond, x, select(one, with_sign_of(x.body.real(1.0), x), slope))


def imag_tanh(x: Value, y: Value) -> Value:
    """The imaginary part of the hyperbolic tangent; 0 on the real axis, whatever `x` is."""
    s, t, beta = tangent_parts(x, y)
    turn = sin(y) * cos(y)
    size = absolute(x)
    beyond = exponential_times(-2.0 * size, turn) * 4.0
    found = select(size > far(x), beyond, t / fma(beta * s, s, 1.0))
    found = select(y.equals(0.0), y, found)
    # C99, G.6.2.6: at infinity it is 0, with the sign of the sine of 2y where there is one.
    sign = select(is_not_finite(y), y, turn)
    return select(size.equals(math.inf), with_sign_of(x.body.real(0.0), sign), found)


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
