"""Remainders and quotients of floating-point numbers, exact, and neighbours of numbers.

A remainder is one fused multiplication where the quotient is an exact integer; where it is not, LLVM's
`frem`, which is the C library's `fmod`.
"""

from __future__ import annotations

import math

from funcgrad.compile.vecmath.body import Value, absolute, fma, intrinsic, select, with_sign_of
from funcgrad.compile.vecmath.mending import mended


def fmod(x: Value, y: Value) -> Value:
    """What an integer multiple of ``y`` leaves of ``x``, with the sign of ``x``."""
    quotient = x / y
    whole = intrinsic("trunc", quotient)
    rest = fma(-whole, y, x)
    # Rounding may have carried the quotient up to the next integer.
    size = absolute(rest)
    passed = (rest < 0.0) ^ (x < 0.0)
    rest = select(passed & (size > 0.0), absolute(y) - size, size)
    rest = with_sign_of(select((absolute(y) >= math.inf) & (absolute(x) < math.inf), absolute(x), rest), x)
    return mended("fmod", absolute(quotient), 2.0 ** (x.body.format.mantissa - 1), rest, exact_fmod, x, y)


def exact_fmod(x: Value, y: Value) -> Value:
    """The same by division bit by bit."""
    return x.combine("frem", y)


def remainder(x: Value, y: Value) -> Value:
    """``x - y floor(x / y)``, with the sign of ``y``."""
    rest = fmod(x, y)
    other_side = (y < 0.0) ^ (rest < 0.0)
    return select(rest.equals(0.0), with_sign_of(rest, y), select(other_side, rest + y, rest))


def floor_divide(x: Value, y: Value) -> Value:
    """The quotient rounded down, as NumPy finds it from the remainder."""
    rest = fmod(x, y)
    ratio = (x - rest) / y
    other_side = ((y < 0.0) ^ (rest < 0.0)) & (absolute(rest) > 0.0)
    ratio = select(other_side, ratio - 1.0, ratio)
    down = intrinsic("floor", ratio)
    down = select(ratio - down > 0.5, down + 1.0, down)
    result = select(ratio.equals(0.0), with_sign_of(absolute(ratio), x / y), down)
    return select(y.equals(0.0), x / y, result)


def nextafter(x: Value, y: Value) -> Value:
    """The number after ``x`` in the direction of ``y``."""
    format = x.body.format
    bits = x.bits()
    # Away from zero the bit pattern grows.
    outward = (x < y) ^ (bits < 0)
    step = select(outward, 1, x.body.integer(-1))
    moved = (bits + step).as_real()
    least = with_sign_of(x.body.real(2.0 ** (1 - format.bias - format.mantissa)), y)
    moved = select(x.equals(0.0), least, moved)
    return select(x.is_nan() | y.is_nan(), x + y, select(x.equals(y), y, moved))
