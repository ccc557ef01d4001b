"""The logarithm of the beta function, composed of functions that kernels have.

For large arguments gammaln's terms cancel. There it is Stirling's formula (DLMF 5.11.1), whose large parts
are taken together before anything is rounded.
"""

from __future__ import annotations

import math

import numpy as np

from funcgrad.ops.elementwise.comparison import equal, greater_equal
from funcgrad.ops.elementwise.elementary import log, log1p
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.elementwise.special import gammaln
from funcgrad.ops.reducing.extremes import maximum, minimum
from funcgrad.types import Array

LARGE = 10.0
"""From here on the series has all digits."""

BERNOULLI = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
"""The coefficients of Stirling's series in odd powers of 1/z."""


def stirling_rest(z: Array) -> Array:
    """What Stirling's series adds to its leading terms."""
    inverse = 1.0 / z
    square, total = inverse * inverse, BERNOULLI[-1]
    for coefficient in reversed(BERNOULLI[:-1]):
        total = total * square + coefficient
    return total * inverse


def composed_betaln(x: Array, y: Array) -> Array | None:
    """``betaln(x, y)`` of double precision; None of another."""
    if x.dtype != np.float64:
        return None
    a, b = minimum(x, y), maximum(x, y)
    both = a + b
    plain = gammaln(a) + gammaln(b) - gammaln(both)
    b_large, a_large = greater_equal(b, LARGE), greater_equal(a, LARGE)
    big = where(b_large, b, LARGE)
    small = where(greater_equal(a, 0.0), a, 1.0)
    total = small + big
    shared = stirling_rest(big) - stirling_rest(total)
    fall = (big - 0.5) * log1p(small / big)
    one = gammaln(small) + small - small * log(total)
    safe = where(a_large, a, LARGE)
    powers = safe * log1p(big / safe)
    two = 0.5 * math.log(2.0 * math.pi) - 0.5 * log(safe) + stirling_rest(safe) + -powers
    series = where(a_large, two, one) + shared - fall
    series = where(equal(b, math.inf), -math.inf, series)
    found = where(b_large, where(greater_equal(a, 0.0), series, plain), plain)
    return where(equal(a, 0.0), math.inf, found)
