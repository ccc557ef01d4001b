"""Two normal numbers of a radius and an angle, step by step as `random_words.of_pairs`, to the bit.

No sum is fused with a product here, on purpose: NumPy rounds both.
"""

from __future__ import annotations

import math

from funcgrad.compile.vecmath.body import Value, square_root
from funcgrad.ops.random.random_words import SINE


def normal_cosine(radius: Value, digits: Value) -> Value:
    """Half the radius, with the sign of the pair, times twice the cosine of twice the angle."""
    square = half_sine(digits)[1]
    return (0.5 - square) * 4.0 * radius


def normal_sine(radius: Value, digits: Value) -> Value:
    """The same with the sine."""
    sine, square = half_sine(digits)
    return sine * square_root(1.0 - square) * 4.0 * radius


def half_sine(digits: Value) -> tuple[Value, Value]:
    """The sine of an angle between -pi/4 and pi/4, and its square."""
    format = digits.body.format
    whole = format.mantissa + 1
    angle = digits * (0.5**whole * (math.pi / 2)) - math.pi / 4
    square = angle * angle
    terms = SINE if format.width == 64 else SINE[:5]
    total = square * terms[-1]
    for term in terms[-2:0:-1]:
        total = (total + term) * square
    sine = (total + 1.0) * angle
    return sine, sine * sine
