"""The error function, the normal distribution's, and their logarithms.

In the tails a factor ``exp(-y**2)`` is split off, whose exponent is known to twice the usual precision, and
what remains is a polynomial in ``(y - K) / (y + K)``, which takes all positive numbers to [-1, 1] (M. M.
Shepherd and J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x", 1981).
"""

from __future__ import annotations

import math

from funcgrad.compile.vecmath.body import (
    Value,
    absolute,
    fma,
    least,
    polynomial,
    select,
    square_root,
    with_sign_of,
)
from funcgrad.compile.vecmath.coefficients import (
    ERF,
    ERF_REST,
    ERFCX,
    ERFINV,
    ERFINV_OUTER,
    ERFINV_OUTER_SINGLE,
    MILLS,
    NDTR,
)
from funcgrad.compile.vecmath.exponentials import (
    exp,
    exponential_in_parts,
    scaled_twice,
    within,
)
from funcgrad.compile.vecmath.logarithms import log_of_sum, one_and

Pair = tuple[Value, Value]


def erf(x: Value) -> Value:
    """The error function.

    ``exp(-x**2)`` is written as LLVM writes that of the derivative: where both are needed, it is made once.
    """
    format = x.body.format.name
    small = fma(x, polynomial(x * x, ERF[format]), x)
    y = least(absolute(x), 6.0)
    rest = polynomial(1.0 / (y + 2.0), ERF_REST[format])
    return select(y < 0.9, small, with_sign_of(fma(exp(x * -x), -rest, 1.0), x))


def erfc(x: Value) -> Value:
    """One less the error function."""
    y = absolute(x)
    high, low = tail_factor(least(y, 1e9), 4.0, 2.0, ERFCX[x.body.format.name])
    square = y * y
    tail, _ = times_exponential(-square, -fma(y, y, -square), high, low)
    small = 1.0 - fma(x, polynomial(x * x, ERF[x.body.format.name]), x)
    return select(y < 0.5, small, select(x < 0.0, 2.0 - tail, tail))


def erfinv(x: Value) -> Value:
    """The inverse of the error function, by ``w = -log(1 - x**2)``.

    M. B. Giles, "Approximating the erfinv function", 2010: a polynomial in w, and in its root in the tails.
    """
    format = x.body.format.name
    y = absolute(x)
    square = y * y
    high, low = one_and(-square, -fma(y, y, -square))
    # Near 1 the difference is small and what was lost is not far smaller.
    whole = high + low
    w = -log_of_sum(whole, (high - whole) + low)
    root = square_root(w)
    single = format == "f32"
    inner = w < 6.25
    away = select(inner, w - 3.125, root - (3.25 if single else 4.35))
    central, outer = ERFINV[format], (ERFINV_OUTER_SINGLE if single else ERFINV_OUTER)[format]
    slope = select(inner, polynomial(away, central[1:]), polynomial(away, outer[1:]))
    first = select(inner, central[0], x.body.real(outer[0]))
    # The last sum and the last product are rounded once together.
    total = fma(away, slope, first)
    result = fma(y, total, y * fma(away, slope, first - total))
    edge = select(y.equals(1.0), math.inf, select(y > 1.0, math.nan, x))
    return with_sign_of(select(y < 1.0, result, edge), x)


def erfcx(x: Value) -> Value:
    """``exp(x**2) erfc(x)``."""
    y = absolute(x)
    high, low = tail_factor(least(y, 1e9), 4.0, 2.0, ERFCX[x.body.format.name])
    # Beyond the clamp it is 1 / (x sqrt(pi)).
    right = select(y > 1e9, (1 / math.sqrt(math.pi)) / y, high + low)
    square = x * x
    lost = fma(x, x, -square)
    top = (x.body.format.bias + 2) * 0.6931
    bounded = least(square, top)
    p, p_low, exponent = exponential_in_parts(bounded, select(bounded.equals(square), lost, 0.0))
    rest = 1.0 - erf(x)
    product = p * rest
    left = scaled_twice(product + fma(p_low, rest, fma(p, rest, -product)), exponent)
    return select(x < 0.5, left, right)


def ndtr(x: Value) -> Value:
    """The standard normal distribution's function."""
    _, _, _, (tail, _) = lower_tail(absolute(x))
    return select(absolute(x) < 0.6, central(x)[0], select(x > 0.0, 1.0 - tail, tail))


def central(x: Value) -> tuple[Value, Value]:
    """The normal distribution's function near its median, as the sum of two numbers."""
    slope = polynomial(x * x, NDTR[x.body.format.name])
    total = fma(x, slope, 0.5)
    return total, fma(x, slope, 0.5 - total)


def lower_tail(y: Value) -> tuple[Value, Value, Value, Pair]:
    """The normal distribution's function at ``-y``, where ``y`` is above 1/2.

    First half of the square of y, then what remains of the function when the exponential of minus that is
    split off, as the sum of two numbers, then the function as such a sum.
    """
    high, low = tail_factor(least(y, 1e9), 4.0, 1.25, MILLS[y.body.format.name])
    half = y * 0.5
    square = half * y
    return square, high, low, times_exponential(-square, -fma(half, y, -square), high, low)


def log_ndtr(x: Value) -> Value:
    """The logarithm of the standard normal distribution's function."""
    y = absolute(x)
    square, high, low, (tail, tail_low) = lower_tail(y)
    left, near = x < -0.6, y < 0.6
    middle, middle_lost = central(x)
    whole = select(near, middle, 1.0 - tail)
    lost = select(near, middle_lost, (1.0 - whole) - tail - tail_low)
    logarithm = log_of_sum(select(left, high, whole), select(left, low, lost))
    return select(x.is_nan(), x, select(left, logarithm - square, -absolute(logarithm)))


def tail_factor(
    y: Value, centre: float, slope: float, coefficients: tuple[float, ...]
) -> tuple[Value, Value]:
    """``p(t) / (1 + slope y)`` with ``t = (y - centre) / (y + centre)``, as the sum of two numbers."""
    away, below = y + centre, fma(y, slope, 1.0)
    inverse = 1.0 / (away * below)
    t = (y - centre) * (inverse * below)
    rest = t * polynomial(t, coefficients[1:])
    p = rest + coefficients[0]
    p_low = (p.constant(coefficients[0]) - p) + rest
    reciprocal = inverse * away
    ratio = p * reciprocal
    lost = fma(y, slope, 1.0 - below)
    remaining = fma(-ratio, lost, fma(-ratio, below, p) + p_low)
    low = remaining * reciprocal
    total = ratio + low
    return total, (ratio - total) + low


def times_exponential(x: Value, tail: Value, high: Value, low: Value) -> Pair:
    """The exponential of one sum of two numbers times another such sum, and what its last rounding lost."""
    bounded = within(x, 0.0)
    p, p_low, exponent = exponential_in_parts(bounded, select(bounded.equals(x), tail, 0.0))
    product = p * high
    low = fma(p, low, fma(p_low, high, fma(p, high, -product)))
    total = product + low
    return scaled_twice(total, exponent), scaled_twice((product - total) + low, exponent)
