"""The exponential and what is made of it: hyperbolic functions and the logistic function.

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
    rounded,
    scaled,
    select,
    with_sign_of,
)
from funcgrad.compile.vecmath.coefficients import EXP, LN2, TANH
from funcgrad.compile.vecmath.formats import F64

LOG2E = 1.4426950408889634


def exp(x: Value) -> Value:
    """The exponential."""
    format = x.body.format
    # Beyond these bounds the result is infinity or 0 as it is at them.
    top, bottom = (format.bias + 2) * 0.6931, -(format.bias + format.mantissa + 3) * 0.6932
    x = greatest(least(x, top), bottom)
    k, exponent = rounded(x, LOG2E)
    r = remainder(x, k)
    p = fma(r, fma(r, polynomial(r, EXP[format.name]), 1.0), 1.0)
    return scaled_twice(p, exponent)


def remainder(x: Value, k: Value) -> Value:
    """What the multiple ``k`` of log(2) leaves of ``x``."""
    high, low = LN2[x.body.format.name][:2]
    return fma(k, -low, fma(k, -high, x))


def scaled_twice(p: Value, exponent: Value) -> Value:
    """``p`` times two to a power that may be no normal number: rounded once, overflowing where it should."""
    offset = 2 * p.body.format.bias
    half = ((exponent + 2 * offset) >> 1) - offset
    return scaled(scaled(p, half), exponent - half)


def tanh(x: Value) -> Value:
    """The hyperbolic tangent."""
    format = x.body.format
    # tanh is 1 to the last bit beyond.
    y = least(absolute(x), 0.35 * (format.mantissa + 3))
    return with_sign_of(tanh_by_quotient(y) if format is F64 else tanh_by_cases(y), x)


def tanh_by_quotient(y: Value) -> Value:
    """``t / (t + 2)`` where ``t = exp(2 y) - 1``."""
    t = exponential_less_one(y + y)
    whole = t + 2.0
    ratio = t / whole
    # What rounding the sum lost, over the sum, which is 2 / (1 - ratio). It counts only where t is small.
    lost = select(y < 1.0, (t - (whole - 2.0)) * ratio, 0.0)
    return fma(lost, fma(ratio, 0.5, -0.5), ratio)


def tanh_by_cases(y: Value) -> Value:
    """A polynomial for small numbers, which is cheap in single precision, else ``1 - 2 / (exp(2 y) + 1)``."""
    square = y * y
    small = fma(y * square, polynomial(square, TANH[y.body.format.name]), y)
    large = 1.0 - 2.0 / (exponential(y + y) + 1.0)
    return select(y < 0.55, small, large)


def exponential(x: Value) -> Value:
    """The exponential where it is a normal number."""
    k, exponent = rounded(x, LOG2E)
    r = remainder(x, k)
    return scaled(fma(r, fma(r, polynomial(r, EXP[x.body.format.name]), 1.0), 1.0), exponent)


def exponential_less_one(x: Value) -> Value:
    """``exp(x) - 1`` to better than an ulp, where ``exp(x)`` is a normal number."""
    k, exponent = rounded(x, LOG2E)
    r = remainder(x, k)
    power = scaled(x.body.real(1.0), exponent)
    tail = r * r * polynomial(r, EXP[x.body.format.name])
    less = power - 1.0
    near = fma(power, r, less)
    return near + fma(power, tail, fma(power, r, less - near))
