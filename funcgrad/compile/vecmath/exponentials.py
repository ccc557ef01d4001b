"""Exponentials and what is made of them: hyperbolic functions and the logistic function.

``x = k log(2) + r`` with an integer k (W. J. Cody and W. Waite, "Software Manual for the Elementary
Functions", 1980), where the multiples of the two parts of log(2) are subtracted with one rounding each, and
the first without any.
"""

from __future__ import annotations

from funcgrad.compile.vecmath.body import (
    Value,
    absolute,
    fma,
    greatest,
    least,
    polynomial,
    power_of_two,
    rounded,
    scaled,
    select,
    square_root,
    with_sign_of,
)
from funcgrad.compile.vecmath.coefficients import COSH, EXP, EXP2, LN2, LOG2E, SINH, TANH
from funcgrad.compile.vecmath.formats import F64


def exp(x: Value) -> Value:
    """The exponential."""
    format = x.body.format
    # Beyond these bounds the result is infinity or 0 as it is at them.
    return exponential_of_sum(within(x, (format.bias + 2) * 0.6931))


def exponential_of_sum(x: Value, tail: Value | None = None) -> Value:
    """The exponential of a number between the bounds and a far smaller one, denormal results included."""
    k, exponent = rounded(x, LOG2E["f64"][0])
    r = remainder(x, k, tail)
    p = fma(r, fma(r, polynomial(r, EXP[x.body.format.name]), 1.0), 1.0)
    return scaled_twice(p, exponent)


def exponential_in_parts(x: Value, tail: Value) -> tuple[Value, Value, Value]:
    """The exponential of a number between the bounds and a far smaller one, before it is scaled.

    Two numbers of which it is the sum, and the power of two to multiply them by.
    """
    k, exponent = rounded(x, LOG2E["f64"][0])
    r = remainder(x, k, tail)
    above = fma(r * r, polynomial(r, EXP[x.body.format.name]), r)
    p = above + 1.0
    return p, (1.0 - p) + above, exponent


def within(x: Value, top: float) -> Value:
    """``x`` where it is at most ``top`` and not so low that the exponential vanishes, else a bound."""
    format = x.body.format
    return greatest(least(x, top), -(format.bias + format.mantissa + 3) * 0.6932)


def remainder(x: Value, k: Value, tail: Value | None = None) -> Value:
    """What the multiple ``k`` of log(2) leaves of ``x`` and of a tail of it."""
    high, low = LN2[x.body.format.name][:2]
    exact = fma(k, -high, x)
    return fma(k, -low, exact) if tail is None else exact + fma(k, -low, tail)


def scaled_twice(p: Value, exponent: Value) -> Value:
    """``p`` times two to a power that may be no normal number: rounded once, overflowing where it should."""
    offset = 2 * p.body.format.bias
    half = ((exponent + 2 * offset) >> 1) - offset
    return scaled(scaled(p, half), exponent - half)


def exp2(x: Value) -> Value:
    """Two to the power ``x``."""
    format = x.body.format
    y = greatest(least(x, format.bias + 2.0), -(format.bias + format.mantissa + 3.0))
    k, exponent = rounded(y, 1.0)
    r = y - k
    return scaled_twice(fma(r, polynomial(r, EXP2[format.name]), 1.0), exponent)


def expm1(x: Value) -> Value:
    """``exp(x) - 1``, accurate near 0."""
    format = x.body.format
    y = greatest(least(x, (format.bias + 1.2) * 0.69315), -(format.mantissa + 3) * 0.7)
    k, exponent = rounded(y, LOG2E["f64"][0])
    # Half the result, because the power of two may be the one after the largest.
    half = less_one(remainder(y, k), power_of_two(exponent - 1), 0.5)
    return select(absolute(x) < format.epsilon / 4, x, half + half)


def less_one(r: Value, power: Value, one: float) -> Value:
    """``power * exp(r) - one`` to better than an ulp, for a power that is ``one`` times a power of two."""
    tail = r * r * polynomial(r, EXP[r.body.format.name])
    less = power - one
    near = fma(power, r, less)
    return near + fma(power, tail, fma(power, r, less - near))


def tanh(x: Value) -> Value:
    """The hyperbolic tangent."""
    format = x.body.format
    # tanh is 1 to the last bit beyond.
    y = least(absolute(x), 0.35 * (format.mantissa + 3))
    return with_sign_of(tanh_by_quotient(y) if format is F64 else tanh_by_cases(y), x)


def tanh_by_quotient(y: Value) -> Value:
    """``t / (t + 2)`` where ``t = exp(2 y) - 1``."""
    double = y + y
    k, exponent = rounded(double, LOG2E["f64"][0])
    t = less_one(remainder(double, k), power_of_two(exponent), 1.0)
    whole = t + 2.0
    ratio = t / whole
    # What rounding the sum lost, over the sum, which is 2 / (1 - ratio). It counts only where t is small.
    lost = select(y < 1.0, (t - (whole - 2.0)) * ratio, 0.0)
    return fma(lost, fma(ratio, 0.5, -0.5), ratio)


def tanh_by_cases(y: Value) -> Value:
    """A polynomial for small numbers, which is cheap in single precision, else ``1 - 2 / (exp(2 y) + 1)``."""
    square = y * y
    small = fma(y * square, polynomial(square, TANH[y.body.format.name]), y)
    double = y + y
    k, exponent = rounded(double, LOG2E["f64"][0])
    r = remainder(double, k)
    power = scaled(fma(r, fma(r, polynomial(r, EXP[y.body.format.name]), 1.0), 1.0), exponent)
    return select(y < 0.55, small, 1.0 - 2.0 / (power + 1.0))


def sinh(x: Value) -> Value:
    """The hyperbolic sine."""
    total, difference, r, even, odd = halves(absolute(x))
    near = fma(total, r, difference)
    rest = fma(total, r, difference - near)
    half = near + (rest + fma(difference, even, total * odd))
    tiny = absolute(x) < square_root(x.body.real(x.body.format.epsilon)) * 0.25
    return with_sign_of(select(tiny, absolute(x), half + half), x)


def cosh(x: Value) -> Value:
    """The hyperbolic cosine."""
    total, difference, r, even, odd = halves(absolute(x))
    near = fma(difference, r, total)
    rest = fma(difference, r, total - near)
    half = near + (rest + fma(total, even, difference * odd))
    return half + half


def halves(y: Value) -> tuple[Value, Value, Value, Value, Value]:
    """What hyperbolic functions of ``y = k log(2) + r`` are sums of.

    A quarter of ``2**k + 2**-k`` and of ``2**k - 2**-k``, the rest r, and ``cosh(r) - 1`` and ``sinh(r) -
    r``.
    """
    format = y.body.format
    y = least(y, (format.bias + 2.2) * 0.69315)
    k, exponent = rounded(y, LOG2E["f64"][0])
    r = remainder(y, k)
    growing = power_of_two(exponent - 2)
    # A power below the least that is a normal number would be too small to count.
    falling = power_of_two(greatest(-exponent, 3 - format.bias) - 2)
    square = r * r
    even = square * polynomial(square, COSH[format.name])
    odd = square * r * polynomial(square, SINH[format.name])
    return growing + falling, growing - falling, r, even, odd


def logistic(x: Value) -> Value:
    """``1 / (1 + exp(-x))``, without overflow and accurate in both tails."""
    falling = exponential_of_sum(within(-absolute(x), 0.0))
    whole = falling + 1.0
    left = x < 0.0
    ratio = select(left, falling, 1.0) / whole
    # What rounding the sum lost, over the sum.
    lost = (falling - (whole - 1.0)) * ratio
    return fma(-lost, select(left, 1.0 - ratio, ratio), ratio)
