"""The logarithm of the gamma function and its derivative.

A number between 3/4 and 8 is brought near 3/2 by the recurrence, one below is raised by 1, and above 8
Stirling's approximation holds (NIST's Handbook of Mathematical Functions, 5.5.1, 5.5.3 and 5.11). The
polynomials near 3/2 leave the functions' zeros out, so that results near these zeros are accurate too.
"""

from __future__ import annotations

import math

from funcgrad.compile.vecmath.body import Value, absolute, fma, intrinsic, polynomial, select
from funcgrad.compile.vecmath.coefficients import (
    DIGAMMA,
    DIGAMMA_ROOT,
    DIGAMMA_TAIL,
    HALF_LOG_2PI,
    HALF_PI,
    LN2,
    LOG_GAMMA,
    STIRLING,
)
from funcgrad.compile.vecmath.logarithms import decomposed, natural, precise
from funcgrad.compile.vecmath.trigonometry import sine_and_cosine

# Where the recurrence starts and ends.
NEAR, FAR = 2.25, 8.0


def gammaln(x: Value) -> Value:
    """The logarithm of the size of the gamma function."""
    negative = x < 0.0
    # The gamma functions of -a and of 1 + a have the product pi / sin(pi a), up to its sign.
    result = log_gamma_of_positive(select(negative, 1.0 - x, x))
    size = absolute(x)
    sine = absolute(half_turns(size)[0]) * (1 / math.pi)
    mirrored = -natural(*decomposed(select(size < 2.0**-30, size, sine)), None) - result
    poles = x.equals(0.0) | (negative & intrinsic("floor", x).equals(x))
    result = select(poles, math.inf, select(negative, mirrored, result))
    # SciPy's choice where there is no limit.
    return select(x.equals(-math.inf), x, result)


def logarithm(x: Value) -> tuple[Value, Value]:
    """The natural logarithm of a positive finite number, as the sum of two numbers."""
    k, f = decomposed(x)
    high, low = precise(f)
    big, small, _ = LN2[x.body.format.name]
    whole = k * big
    total = whole + high
    return total, ((whole - total) + high) + fma(k, small, fma(k, big, -whole) + low)


def log_gamma_of_positive(x: Value) -> Value:
    """The logarithm of the gamma function of a positive number."""
    format = x.body.format.name
    low, high = x < 0.75, x >= FAR
    y, product = x, x.body.real(1.0)
    for _ in range(6):
        step = y > NEAR
        less = y - 1.0
        product = select(step, product * less, product)
        y = select(step, less, y)
    logs, logs_low = logarithm(select(low | high, x, product))
    # Where x was raised, the distances from y are those from x, which has more bits.
    raised = select(low, 1.0, x.body.real(0.0))
    y = select(low, x, y)
    first, second = y - (1.0 - raised), y - (2.0 - raised)
    second_low = y - (second + (2.0 - raised))
    both = first * second
    both_low = fma(first, second_low, fma(first, second, -both))
    factor = polynomial(y - (1.5 - raised), LOG_GAMMA[format])
    logs, logs_low = select(low, -logs, logs), select(low, -logs_low, logs_low)
    near = logs + fma(both, factor, fma(both_low, factor, logs_low))
    inverse = 1.0 / x
    tail = inverse * polynomial(inverse * inverse, STIRLING[format]) + (HALF_LOG_2PI[format][0] - 0.5)
    far = fma(x - 0.5, logs - 1.0, fma(x - 0.5, logs_low, tail))
    return select(x < math.inf, select(high, far, near), x)


def digamma(x: Value) -> Value:
    """The logarithmic derivative of the gamma function."""
    negative = x < 0.0
    result = digamma_of_positive(select(negative, 1.0 - x, x))
    sine, cosine = half_turns(x)
    reflected = result - math.pi * cosine / sine
    poles = negative & intrinsic("floor", x).equals(x)
    result = select(negative, select(poles, math.nan, reflected), result)
    return select(x.equals(0.0), -1.0 / x, result)


def digamma_of_positive(x: Value) -> Value:
    """The digamma function of a positive number."""
    format = x.body.format.name
    low, high = x < 1.0, x >= 6.0
    y, over, under = x, x.body.real(0.0), x.body.real(1.0)
    # No further than where the function is positive: a sum of terms of one sign loses nothing.
    for _ in range(3):
        step = y > 3.0
        less = y - 1.0
        over = select(step, fma(over, less, under), over)
        under = select(step, under * less, under)
        y = select(step, less, y)
    # One division serves for the recurrence and for the series.
    over = select(low, -1.0, select(high, 1.0, over))
    ratio = over / select(low | high, x, under)
    # Where x is raised by 1, the distances from it have more bits.
    raised = select(low, 1.0, x.body.real(0.0))
    root, root_low = DIGAMMA_ROOT[format]
    distance = (y - (root - raised)) - root_low
    near = fma(distance, polynomial(y - (2.0 - raised), DIGAMMA[format]), ratio)
    square = ratio * ratio
    tail = fma(square, polynomial(square, DIGAMMA_TAIL[format]), ratio * -0.5)
    far = natural(*decomposed(x), None) + tail
    return select(x < math.inf, select(high, far, near), x)


def half_turns(x: Value) -> tuple[Value, Value]:
    """Sine and cosine of pi times ``x``."""
    format = x.body.format
    n = intrinsic("rint", x + x)
    f = fma(n, -0.5, x)
    high, low = (2.0 * part for part in HALF_PI[format.name][:2])
    r = f * high
    sine, _, cosine, _ = sine_and_cosine(r, fma(f, low, fma(f, high, -r)))
    # n modulo 4, exactly; numbers so large that n would lose its last bits are even integers.
    quarter = fma(intrinsic("floor", n * 0.25), -4.0, n)
    odd = quarter.equals(1.0) | quarter.equals(3.0)
    first, second = select(odd, cosine, sine), select(odd, sine, cosine)
    first = select(quarter >= 2.0, -first, first)
    second = select(quarter.equals(1.0) | quarter.equals(2.0), -second, second)
    return first, second
