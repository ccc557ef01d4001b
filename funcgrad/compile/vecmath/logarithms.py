"""Logarithms.

``x = 2**k (1 + f)`` with ``1 + f`` between the square roots of 1/2 and 2, and ``log(1 + f)`` from a
polynomial in ``s = f / (2 + f)``, arranged as in Sun's fdlibm (K. C. Ng, 1993) so that rounding errors meet
only small terms.
"""

from __future__ import annotations

import math

from funcgrad.compile.vecmath.body import Value, fma, polynomial, select
from funcgrad.compile.vecmath.coefficients import LN2, LOG


def log(x: Value) -> Value:
    """The natural logarithm."""
    format = x.body.format
    k, f = decomposed(x)
    s = f / (f + 2.0)
    z = s * s
    half = f * f * 0.5
    high, low = LN2[format.name][:2]
    inner = fma(s, fma(z, polynomial(z, LOG[format.name]), half), k * low)
    return at_edges(x, fma(k, high, f - (half - inner)))


def decomposed(x: Value) -> tuple[Value, Value]:
    """The k and f for which ``x`` is ``2**k (1 + f)``; anything where x is not positive and finite."""
    format = x.body.format
    denormal = x < format.least_normal
    normal = select(denormal, x * 2.0 ** (format.mantissa + 2), x)
    root = format.bits_of(math.sqrt(0.5))
    # The exponent with a bias that keeps it positive, so that it is easily made a floating-point number.
    bits = normal.bits() - root
    exponent = (bits + (2 * format.bias << format.mantissa)) >> format.mantissa
    raw = (exponent | format.bits_of(2.0**format.mantissa)).as_real()
    offset = 2.0**format.mantissa + 2 * format.bias
    k = raw - select(denormal, offset + format.mantissa + 2, x.body.real(offset))
    significand = (bits & ((1 << format.mantissa) - 1)) + root
    return k, significand.as_real() - 1.0


def at_edges(x: Value, result: Value) -> Value:
    """A logarithm's result, or its limits where ``x`` is zero, negative, infinite or NaN."""
    outside = select(x.equals(0.0), -math.inf, select(x < 0.0, math.nan, x))
    return select((x > 0.0) & (x < math.inf), result, outside)
