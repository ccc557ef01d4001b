"""Sine, cosine and tangent.

``x = n pi/2 + r`` by four parts of pi/2 with fused multiplications (Cody and Waite, 1980): the first is
exact, what the second rounds is kept. Arguments too large for that, which hardly ever occur, go to the C
library.
"""

from __future__ import annotations

from funcgrad.compile.vecmath.body import Value, fma, polynomial, rounded, select
from funcgrad.compile.vecmath.coefficients import COS, HALF_PI, SIN
from funcgrad.compile.vecmath.mending import mended

TWO_OVER_PI = 0.6366197723675814

# Below these powers of two the multiple of pi/2 that is subtracted has an error far below the rest's last
# bit.
LARGE = {"f64": 31, "f32": 15}


def sin(x: Value) -> Value:
    """The sine."""
    n, r, tail = quadrant(x)
    # Zero's sign is lost in the sums.
    return with_large_arguments("sin", x, select(x.equals(0.0), x, turned(n, r, tail)))


def cos(x: Value) -> Value:
    """The cosine."""
    n, r, tail = quadrant(x)
    return with_large_arguments("cos", x, turned(n + 1, r, tail))


def tan(x: Value) -> Value:
    """The tangent."""
    n, r, tail = quadrant(x)
    sine, sine_low, cosine, cosine_low = sine_and_cosine(r, tail)
    even = (n & 1).equals(0)
    numerator, low = select(even, sine, -cosine), select(even, sine_low, -cosine_low)
    denominator, below = select(even, cosine, sine), select(even, cosine_low, sine_low)
    inverse = 1.0 / denominator
    ratio = numerator * inverse
    remaining = fma(-ratio, below, fma(-ratio, denominator, numerator) + low)
    return with_large_arguments("tan", x, select(x.equals(0.0), x, fma(remaining, inverse, ratio)))


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


def turned(n: Value, r: Value, tail: Value) -> Value:
    """The sine of ``n`` quarter turns and a rest."""
    sine, _, cosine, _ = sine_and_cosine(r, tail)
    value = select((n & 1).equals(0), sine, cosine)
    sign = (n & 2) << (r.body.format.width - 2)
    return (value.bits() ^ sign).as_real()


def with_large_arguments(name: str, x: Value, result: Value) -> Value:
    """The result, or where ``x`` is too large for it the C library's."""
    format = x.body.format
    return mended(name if format.width == 64 else f"{name}f", x, 2.0 ** LARGE[format.name], result)
