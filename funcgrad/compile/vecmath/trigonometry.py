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
    return with_large_arguments("sin", x, turned(n, r, tail))


def cos(x: Value) -> Value:
    """The cosine."""
    n, r, tail = quadrant(x)
    return with_large_arguments("cos", x, turned(n + 1, r, tail))


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


def sine_and_cosine(r: Value, tail: Value) -> tuple[Value, Value]:
    """Both for an angle in [-pi/4, pi/4]."""
    format = r.body.format.name
    z = r * r
    sine = r + fma(z * r, polynomial(z, SIN[format]), tail)
    half = z * 0.5
    near = 1.0 - half
    # What rounding 1 - z/2 lost is exactly (1 - near) - z/2.
    lost = (1.0 - near) - half
    cosine = near + fma(z * z, polynomial(z, COS[format]), fma(r, -tail, lost))
    return sine, cosine


def turned(n: Value, r: Value, tail: Value) -> Value:
    """The sine of ``n`` quarter turns and a rest."""
    sine, cosine = sine_and_cosine(r, tail)
    value = select((n & 1).equals(0), sine, cosine)
    sign = (n & 2) << (r.body.format.width - 2)
    return (value.bits() ^ sign).as_real()


def with_large_arguments(name: str, x: Value, result: Value) -> Value:
    """The result, or where ``x`` is too large for it the C library's."""
    format = x.body.format
    return mended(name if format.width == 64 else f"{name}f", x, 2.0 ** LARGE[format.name], result)
