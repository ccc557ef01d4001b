"""Inverse trigonometric functions."""

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
from funcgrad.compile.vecmath.coefficients import ARCSIN, ARCTAN, HALF_PI


def arcsin(x: Value) -> Value:
    """The inverse sine."""
    y = absolute(x)
    high, low = HALF_PI[x.body.format.name][:2]
    small, t, tail, rest = sine_of_half(y)
    # The complement's half angle twice, taken from pi/2.
    double = t + t
    near = high - double
    lost = (high - near) - double
    large = near + (lost + (low - (rest + rest) - (tail + tail)))
    return with_sign_of(select(small, t + rest, large), x)


def arccos(x: Value) -> Value:
    """The inverse cosine."""
    y = absolute(x)
    high, low = HALF_PI[x.body.format.name][:2]
    small, t, tail, rest = sine_of_half(y)
    rest = rest + tail
    negative = x < 0.0
    # pi/2 -+ arcsin(y) for small numbers; twice the half angle, or pi less that, for others.
    whole = select(small, high, select(negative, 2.0 * high, x.body.real(0.0)))
    whole_tail = select(small, low, select(negative, 2.0 * low, x.body.real(0.0)))
    angle = select(small, t, t + t)
    angle_rest = select(small, rest, rest + rest)
    minus = (small & (x > 0.0)) | (negative & (y >= 0.5))
    signed, signed_rest = select(minus, -angle, angle), select(minus, -angle_rest, angle_rest)
    near = whole + signed
    lost = (whole - near) + signed
    return near + (lost + (whole_tail + signed_rest))


def sine_of_half(y: Value) -> tuple[Value, Value, Value, Value]:
    """Whether ``y`` is small, the number whose arcsine counts, its tail, and that arcsine less the number.

    The number is ``y`` itself below 1/2, else the sine of half the angle of cosine ``y``.
    """
    small = y < 0.5
    complement = fma(y, -0.5, 0.5)
    root = square_root(complement)
    z = select(small, y * y, complement)
    t = select(small, y, root)
    # What rounding the root lost; the root of zero lost nothing.
    tail = fma(-root, root, complement) / select(root > 0.0, root + root, 1.0)
    rest = z * t * polynomial(z, ARCSIN[y.body.format.name])
    return small, t, select(small, 0.0, tail), rest


def arctan(x: Value) -> Value:
    """The inverse tangent."""
    # An upper bound where the result is pi/2 to the last bit.
    y = least(absolute(x), 2.0**60)
    steep = y > 1.0
    one = x.body.real(1.0)
    angle = angle_of(select(steep, one, y), select(steep, y, one), steep, None)
    return with_sign_of(angle, x)


def arctan2(y: Value, x: Value) -> Value:
    """The angle of the point (x, y)."""
    rise, run = absolute(y), absolute(x)
    steep = rise > run
    shorter, longer = select(steep, run, rise), select(steep, rise, run)
    infinite = longer.equals(math.inf)
    shorter = select(infinite, select(shorter.equals(math.inf), 1.0, shorter * 0.0), shorter)
    longer = select(infinite | longer.equals(0.0), 1.0, longer)
    scale = scale_of(longer)
    angle = angle_of(shorter * scale, longer * scale, steep, x.bits() < 0)
    return with_sign_of(angle, y)


def scale_of(longer: Value) -> Value:
    """A power of two that keeps a sum from overflowing and inverses among the normal numbers."""
    bias = longer.body.format.bias
    huge, tiny = 2.0 ** (bias - 20), 2.0 ** -(bias * 7 // 8)
    return select(longer > huge, 0.25, select(longer < tiny, 2.0 ** (bias // 2), longer.body.real(1.0)))


def angle_of(shorter: Value, longer: Value, steep: Value, backward: Value | None) -> Value:
    """The angle of a point from its coordinates' sizes: which is the longer, and whether it is to the left.

    The angle is a multiple of pi/4 with, added or subtracted, the arctangent of a small ratio that is kept as
    the sum of two numbers.
    """
    body = shorter.body
    high, low = HALF_PI[body.format.name][:2]
    diagonal = shorter > longer * (math.sqrt(2.0) - 1.0)
    over, under = shorter - longer, shorter + longer
    numerator = select(diagonal, over, shorter)
    numerator_tail = select(diagonal, shorter - (over + longer), 0.0)
    denominator = select(diagonal, under, longer)
    denominator_tail = select(diagonal, shorter - (under - longer), 0.0)
    inverse = 1.0 / denominator
    t = numerator * inverse
    remaining = fma(-t, denominator_tail, fma(-t, denominator, numerator) + numerator_tail)
    z = t * t
    rest = fma(t * z, polynomial(z, ARCTAN[body.format.name]), remaining * inverse)
    base = select(diagonal, 0.5, select(steep, 1.0, body.real(0.0)))
    minus = steep
    if backward is not None:
        base = select(backward, 2.0 - base, base)
        minus = minus ^ backward
    t, rest = select(minus, -t, t), select(minus, -rest, rest)
    whole = base * high
    near = whole + t
    lost = (whole - near) + t
    return near + (lost + fma(base, low, rest))
