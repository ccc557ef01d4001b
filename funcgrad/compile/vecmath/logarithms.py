"""Logarithms and what is made of them: inverse hyperbolic functions, and sums in the space of logarithms.

``x = 2**k (1 + f)`` with ``1 + f`` between the square roots of 1/2 and 2, and ``log(1 + f)`` from a
polynomial in ``s = f / (2 + f)``, arranged as in Sun's fdlibm (K. C. Ng, 1993) so that rounding errors meet
only small terms.
"""

from __future__ import annotations

import math

from funcgrad.compile.vecmath.body import (
    Value,
    absolute,
    fma,
    greatest,
    polynomial,
    select,
    square_root,
    with_sign_of,
)
from funcgrad.compile.vecmath.coefficients import LN2, LOG, LOG2E, LOG10_2, LOG10E
from funcgrad.compile.vecmath.exponentials import exp2, exponential_of_sum, within


def log(x: Value) -> Value:
    """The natural logarithm."""
    k, f = decomposed(x)
    return at_edges(x, natural(k, f, None))


def natural(k: Value, f: Value, tail: Value | None) -> Value:
    """``k log(2) + log(1 + f + tail)``."""
    half = f * f * 0.5
    high, low = LN2[k.body.format.name][:2]
    small = k * low if tail is None else fma(k, low, tail * (1.0 - f))
    s, z = quotient(f)
    return fma(k, high, f - (half - fma(s, fma(z, polynomial(z, LOG[k.body.format.name]), half), small)))


def quotient(f: Value) -> tuple[Value, Value]:
    """``f / (2 + f)`` and its square."""
    s = f / (f + 2.0)
    return s, s * s


def decomposed(x: Value) -> tuple[Value, Value]:
    """The k and f for which ``x`` is ``2**k (1 + f)``; anything where x is not positive and finite."""
    k, _, f = with_power(x)
    return k, f


def with_power(x: Value) -> tuple[Value, Value, Value]:
    """The decomposition of a number, with ``2**-k`` in the middle (less where that is no normal number)."""
    format = x.body.format
    denormal = x < format.least_normal
    shift = format.mantissa + 2
    normal = select(denormal, x * 2.0**shift, x)
    root = format.bits_of(math.sqrt(0.5))
    # The exponent with a bias that keeps it positive, so that it is easily made a floating-point number.
    bits = normal.bits() - root
    exponent = (bits + (2 * format.bias << format.mantissa)) >> format.mantissa
    raw = (exponent | format.bits_of(2.0**format.mantissa)).as_real()
    offset = 2.0**format.mantissa + 2 * format.bias
    k = raw - select(denormal, offset + shift, x.body.real(offset))
    significand = (bits & ((1 << format.mantissa) - 1)) + root
    power = greatest(3 * format.bias - exponent, 1) << format.mantissa
    return k, power.as_real(), significand.as_real() - 1.0


def at_edges(x: Value, result: Value) -> Value:
    """A logarithm's result, or its limits where ``x`` is zero, negative, infinite or NaN."""
    format = x.body.format
    outside = select(x.equals(0.0), -math.inf, select(x < 0.0, math.nan, x))
    # As unsigned integers, the bit patterns of positive finite numbers are those from 1 to below infinity's.
    inside = (x.bits() - 1).less_unsigned(format.bits_of(math.inf) - 1)
    return select(inside, result, outside)


def log2(x: Value) -> Value:
    """The logarithm to base 2."""
    k, f = decomposed(x)
    return at_edges(x, in_base(k, None, *precise(f), LOG2E[x.body.format.name]))


def log10(x: Value) -> Value:
    """The logarithm to base 10."""
    k, f = decomposed(x)
    high, low = LOG10_2[x.body.format.name]
    whole = k * high
    lost = fma(k, low, fma(k, high, -whole))
    return at_edges(x, in_base(whole, lost, *precise(f), LOG10E[x.body.format.name]))


def precise(f: Value) -> tuple[Value, Value]:
    """``log(1 + f)`` as the sum of two numbers, good to some more bits than one holds."""
    halved = f * 0.5
    half = halved * f
    high = f - half
    low = (f - high) - half - fma(halved, f, -half)
    s, z = quotient(f)
    return high, fma(s, fma(z, polynomial(z, LOG[f.body.format.name]), half), low)


def in_base(whole: Value, lost: Value | None, high: Value, low: Value, factor: tuple[float, ...]) -> Value:
    """The sum of a whole part and a natural logarithm times the factor of another base."""
    product = high * factor[0]
    rest = fma(high, factor[1], fma(low, factor[0], fma(high, factor[0], -product)))
    total = whole + product
    rest = rest + ((whole - total) + product)
    return total + (rest if lost is None else rest + lost)


def log1p(x: Value) -> Value:
    """``log(1 + x)``, accurate near 0."""
    return with_sign_of(at_edges(x + 1.0, log_of_sum(*one_and(x))), x)


def one_and(x: Value, tail: Value | None = None) -> tuple[Value, Value]:
    """``1 + x`` and a tail as the sum of a number and what rounding lost (Knuth's sum)."""
    total = x + 1.0
    other = total - 1.0
    lost = (1.0 - (total - other)) + (x - other)
    return total, lost if tail is None else lost + tail


def log_of_sum(high: Value, low: Value, doublings: Value | None = None) -> Value:
    """The logarithm of a positive finite number and a far smaller one, times two to a power."""
    k, power, f = with_power(high)
    return natural(k if doublings is None else k + doublings, f, low * power)


def arcsinh(x: Value) -> Value:
    """The inverse hyperbolic sine."""
    y = absolute(x)
    # log(2 y) to the last bit beyond, where the square might overflow.
    large = y > 2.0**30
    square = y * y
    more = square / (square_root(square + 1.0) + 1.0)
    near = y + more
    high, low = one_and(near, (y - near) + more)
    result = log_of_sum(select(large, y, high), select(large, 0.0, low), select(large, 1.0, y.body.real(0.0)))
    return with_sign_of(select(y < math.inf, result, y), x)


def arccosh(x: Value) -> Value:
    """The inverse hyperbolic cosine."""
    large = x > 2.0**30
    root = square_root(fma(x, x, -1.0))
    high = x + root
    low = (x - high) + root
    result = log_of_sum(select(large, x, high), select(large, 0.0, low), select(large, 1.0, x.body.real(0.0)))
    return select(x < math.inf, select(x < 1.0, math.nan, result), x)


def arctanh(x: Value) -> Value:
    """The inverse hyperbolic tangent: half of ``log1p(2 x / (1 - x))``."""
    y = absolute(x)
    below = 1.0 - y
    inverse = 1.0 / below
    ratio = (y + y) * inverse
    remaining = fma(ratio, (y + below) - 1.0, fma(-ratio, below, y + y))
    half = log_of_sum(*one_and(ratio, remaining * inverse)) * 0.5
    return with_sign_of(select(y < 1.0, half, select(y > 1.0, math.nan, y * math.inf)), x)


def logit(x: Value) -> Value:
    """``log(x / (1 - x))``, the inverse of the logistic function."""
    upper = x >= 0.5
    smaller = select(upper, 1.0 - x, x)
    # By log1p of the ratio less 1, or where that is huge the logarithm of the smaller part alone.
    tiny = smaller < x.body.format.epsilon / 8
    below = select(tiny, 1.0, smaller)
    over = 1.0 - (below + below)
    inverse = 1.0 / below
    ratio = over * inverse
    remaining = fma(-ratio, below, over) + ((1.0 - over) - (below + below))
    high, low = one_and(ratio, remaining * inverse)
    logarithm = log_of_sum(select(tiny, smaller, high), select(tiny, 0.0, low))
    result = select(tiny ^ upper, logarithm, -logarithm)
    inside = (x > 0.0) & (x < 1.0)
    outside = select(x.equals(0.0), -math.inf, select(x.equals(1.0), math.inf, x.body.real(math.nan)))
    return select(inside, result, outside)


def log_expit(x: Value) -> Value:
    """The logarithm of the logistic function."""
    rest = log_of_one_and_exponential(-absolute(x))
    return select(x > 0.0, -rest, x - rest)


def log_of_one_and_exponential(x: Value) -> Value:
    """``log(1 + exp(x))`` where ``x`` is not positive."""
    return log_of_sum(*one_and(exponential_of_sum(within(x, 0.0))))


def logaddexp(x: Value, y: Value) -> Value:
    """``log(exp(x) + exp(y))``."""
    larger = select(x > y, x, y)
    both = larger + log_of_one_and_exponential(-absolute(x - y))
    return select(x.equals(y), x + LN2["f64"][0], both)


def logaddexp2(x: Value, y: Value) -> Value:
    """``log2(2**x + 2**y)``."""
    larger = select(x > y, x, y)
    high, low = one_and(exp2(-absolute(x - y)))
    both = fma(log_of_sum(high, low), LOG2E["f64"][0], larger)
    return select(x.equals(y), x + 1.0, both)
