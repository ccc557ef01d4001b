"""Powers and roots."""

from __future__ import annotations

import math

from funcgrad.compile.vecmath.body import (
    Value,
    absolute,
    fma,
    greatest,
    intrinsic,
    least,
    polynomial,
    rounded,
    scaled,
    select,
    square_root,
    with_sign_of,
)
from funcgrad.compile.vecmath.coefficients import CBRT, LN2, LOG_PRECISE, TWO_THIRDS
from funcgrad.compile.vecmath.exponentials import exponential_of_sum
from funcgrad.compile.vecmath.logarithms import decomposed


def pow(x: Value, y: Value) -> Value:
    """``x`` to the power ``y``: the exponential of a product known to some ten bits more than one holds."""
    size = absolute(x)
    negative = x.bits() < 0
    whole = intrinsic("floor", y).equals(y)
    odd = whole & (intrinsic("floor", y * 0.5) * 2.0 < y)
    positive = (size > 0.0) & (size < math.inf)
    # An infinite or a vanishing base: the power grows or falls as the exponent's sign says.
    limit = select(size.equals(0.0) ^ (y < 0.0), 0.0, y.body.real(math.inf))
    result = select(positive, power_of_positive(size, y), select(size.is_nan(), size, limit))
    result = select(size.equals(1.0), 1.0, result)
    result = select(positive & negative & (whole ^ 1), math.nan, result)
    result = select(negative & odd, -result, result)
    return select(x.equals(1.0) | y.equals(0.0), 1.0, select(y.is_nan(), y, result))


def power_of_positive(x: Value, y: Value) -> Value:
    """A power of a positive finite number."""
    format = x.body.format
    high, low = precise_logarithm(x)
    product = y * high
    lost = fma(y, low, fma(y, high, -product))
    top = (format.bias + format.mantissa + 3) * 0.6932
    inside = absolute(product) < top
    return exponential_of_sum(greatest(least(product, top), -top), select(inside, lost, 0.0))


def precise_logarithm(x: Value) -> tuple[Value, Value]:
    """The logarithm of a positive finite number as the sum of two numbers, to some twelve bits beyond one.

    The leading terms of ``2 s + s**3 (2/3 + s**2 q)`` with ``s = f / (2 + f)`` are computed with what each
    rounding loses (T. J. Dekker, "A floating-point technique for extending the available precision", 1971).
    """
    format = x.body.format.name
    k, f = decomposed(x)
    below = f + 2.0
    inverse = 1.0 / below
    s = f * inverse
    s_low = fma(-s, f - (below - 2.0), fma(-s, below, f)) * inverse
    z = s * s
    z_low = fma(s + s, s_low, fma(s, s, -z))
    tail = z * polynomial(z, LOG_PRECISE[format])
    first, first_low = TWO_THIRDS[format]
    w = tail + first
    w_low = ((first - w) + tail) + first_low
    v = z * w
    v_low = fma(z_low, w, fma(z, w_low, fma(z, w, -v)))
    u = s * v
    u_low = fma(s_low, v, fma(s, v_low, fma(s, v, -u)))
    double = s + s
    part = double + u
    part_low = ((double - part) + u) + (u_low + (s_low + s_low))
    big, small, _ = LN2[format]
    whole = k * big
    whole_low = fma(k, small, fma(k, big, -whole))
    total = whole + part
    return total, ((whole - total) + part) + (whole_low + part_low)


def cbrt(x: Value) -> Value:
    """The cube root, by iterations for the inverse cube root and a last one with its exact residual."""
    format = x.body.format
    size = absolute(x)
    k, f = decomposed(size)
    third, exponent = rounded(k, 1.0 / 3.0)
    left = fma(third, -3.0, k)
    # The number without the largest power of eight.
    m = (f + 1.0) * select(left > 0.5, 2.0, select(left < -0.5, 0.5, x.body.real(1.0)))
    turn = select(left > 0.5, 0.5 ** (1 / 3), select(left < -0.5, 2.0 ** (1 / 3), x.body.real(1.0)))
    w = polynomial(f + 1.0, CBRT[format.name]) * turn
    h = fma(-(w * w) * w, m, 1.0)
    w = fma(w * h, fma(h, 2.0 / 9.0, 1.0 / 3.0), w)
    t = m * w * w
    square = t * t
    residual = fma(-square, t, m) - fma(t, t, -square) * t
    root = scaled(fma(residual * w, w * (1.0 / 3.0), t), exponent)
    return select((size > 0.0) & (size < math.inf), with_sign_of(root, x), x)


def hypot(x: Value, y: Value) -> Value:
    """The length of the vector (x, y), without overflow."""
    bias = x.body.format.bias
    a, b = absolute(x), absolute(y)
    longer, shorter = select(a > b, a, b), select(a > b, b, a)
    huge, tiny = longer > 2.0 ** (bias // 2 - 4), longer < 2.0 ** -(bias * 7 // 16)
    down, up, one = bias * 5 // 8, bias * 3 // 4, x.body.real(1.0)
    scale = select(huge, 2.0**-down, select(tiny, 2.0**up, one))
    unscale = select(huge, 2.0**down, select(tiny, 2.0**-up, one))
    p, q = longer * scale, shorter * scale
    square = p * p
    total = fma(q, q, square)
    root = square_root(total)
    # What the roundings of the sum and of the root lost, over twice the root.
    lost = fma(q, q, square - total) + fma(p, p, -square) + fma(-root, root, total)
    length = root + select(root > 0.0, lost / (root + root), 0.0)
    return select(a.equals(math.inf) | b.equals(math.inf), math.inf, length * unscale)
