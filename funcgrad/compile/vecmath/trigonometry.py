"""Sine, cosine and tangent.

``x = n pi/2 + r`` by four parts of pi/2 with fused multiplications (Cody and Waite, 1980): the first is
exact, what the second rounds is kept. Numbers too large for that, which hardly ever occur, are reduced by
integer arithmetic.
"""

from __future__ import annotations

import math

from funcgrad.compile.vecmath.angles import exact_quadrant
from funcgrad.compile.vecmath.body import Value, absolute, fma, polynomial, rounded, select
from funcgrad.compile.vecmath.coefficients import COS, HALF_PI, SIN
from funcgrad.compile.vecmath.mending import mended

TWO_OVER_PI = 0.6366197723675814

# Below these powers of two the multiple of pi/2 that is subtracted has an error far below the rest's last
# bit.
LARGE = {"f64": 31, "f32": 15}


def sin(x: Value) -> Value:
    """The sine."""
    # Zero's sign is lost in the sums.
    near = select(x.equals(0.0), x, sine_of(*quadrant(x)))
    return mended("sine", absolute(x), limit(x), near, exact_sine, x, x.body.real(0.0))


def cos(x: Value) -> Value:
    """The cosine."""
    n, r, tail = quadrant(x)
    near = sine_of(n + 1, r, tail)
    return mended("sine", absolute(x), limit(x), near, exact_sine, x, x.body.real(1.0))


def tan(x: Value) -> Value:
    """The tangent."""
    near = select(x.equals(0.0), x, tangent_of(*quadrant(x)))
    return mended("tan", absolute(x), limit(x), near, exact_tangent, x)


def exact_sine(x: Value, turn: Value) -> Value:
    """The sine of a large number and no quarter turn or one.

    One function for sine and cosine: where there is the one, its derivative is not far.
    """
    n, r, tail = exact_quadrant(x)
    return nowhere_at_infinity(x, sine_of(select(turn > 0.0, n + 1, n), r, tail))


def exact_tangent(x: Value) -> Value:
    """The tangent of a large number."""
    return nowhere_at_infinity(x, tangent_of(*exact_quadrant(x)))


def nowhere_at_infinity(x: Value, result: Value) -> Value:
    """The result where ``x`` is finite, else NaN."""
    return select(absolute(x) < math.inf, result, math.nan)


def limit(x: Value) -> float:
    """Beyond this the fast reduction is not exact enough."""
    return 2.0 ** LARGE[x.body.format.name]


def sine_of(n: Value, r: Value, tail: Value) -> Value:
    """The sine of ``n`` quarter turns and a rest."""
    sine, _, cosine, _ = sine_and_cosine(r, tail)
    value = select((n & 1).equals(0), sine, cosine)
    sign = (n & 2) << (r.body.format.width - 2)
    return (value.bits() ^ sign).as_real()


def tangent_of(n: Value, r: Value, tail: Value) -> Value:
    """The tangent of ``n`` quarter turns and a rest."""
    sine, sine_low, cosine, cosine_low = sine_and_cosine(r, tail)
    even = (n & 1).equals(0)
    numerator, low = select(even, sine, -cosine), select(even, sine_low, -cosine_low)
    denominator, below = select(even, cosine, sine), select(even, cosine_low, sine_low)
    inverse = 1.0 / denominator
    ratio = numerator * inverse
    remaining = fma(-ratio, below, fma(-ratio, denominator, numerator) + low)
    return fma(remaining, inverse, ratio)


def quadrant(x: Value) -> tuple[Value, Value, Value]:
    """The number of quarter turns nearest to ``x``, and the rest as a sum of a number and its tail."""
    k, n = rounded(x, TWO_OVER_PI)
    first, second, third, _ = HALF_PI[x.body.format.name]
    exact = fma(k, -first, x)
    moved = k * second
    r = exact - moved
    # Dekker's sum: its condition holds because `exact` is a multiple of the last bit of `moved` where it is
    # smaller.
    lost = (exact - r) - moved
    return n, r, fma(k, -third, lost - fma(k, second, -moved))


def sine_and_cosine(r: Value, tail: Value) -> tuple[Value, Value, Value, Value]:
    """Both for an angle in [-pi/4, pi/4], each with what its last rounding lost."""
    format = r.body.format.name
    z = r * r
    rest = fma(z * r, polynomial(z, SIN[format]), tail)
    sine = r + rest
    half = z * 0.5
    near = 1.0 - half
    # What rounding 1 - z/2 lost is exactly (1 - near) - z/2.
    fall = fma(z * z, polynomial(z, COS[format]), fma(r, -tail, (1.0 - near) - half))
    cosine = near + fall
    return sine, (r - sine) + rest, cosine, (near - cosine) + fall
