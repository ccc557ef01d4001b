"""Powers, logarithms and products with logarithms, at 0 as well.

There their derivatives are infinite, but only where something moves: along a tangent of 0 they stay as they
are, in every order and both directions. Multiplying out the usual formulas would give 0 times infinity.
"""

from __future__ import annotations

import math

import numpy as np

from funcgrad.ops.elementwise.arithmetic import strong_product, strong_zero_mul
from funcgrad.ops.elementwise.comparison import equal, greater, isnan, less, not_equal
from funcgrad.ops.elementwise.elementary import log, log1p
from funcgrad.ops.elementwise.identity import departure
from funcgrad.ops.elementwise.logic import logical_and, logical_or
from funcgrad.ops.elementwise.magnitude import sign
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.specials.table import Evaluated, define, infinitely
from funcgrad.types import Array

# -- at zero -----------------------------------------------------------------------------------------------


def reciprocal(x: Array) -> Array:
    """``1 / x`` of numbers from 0 on, infinite at 0."""
    zero = equal(x, 0.0)
    return where(zero, math.inf - infinitely(x), 1.0 / where(zero, 1.0, x))


def logarithm(x: Array) -> Array:
    """``log(x)`` of numbers from 0 on, whose derivative is `reciprocal`."""
    zero = equal(x, 0.0)
    return where(zero, falling(x), log(where(zero, 1.0, x)))


def falling(x: Array) -> Array:
    """Minus infinity, with the derivative of ``log(x)``: what that is where x is 0."""
    return strong_zero_mul(departure(x), reciprocal(x)) - math.inf


def share(x: Array, y: Array) -> Array:
    """``x / y`` for y from 0 on, and 0 where x is 0 unless y is NaN."""
    return where(isnan(y), y, strong_product(x, reciprocal(y)))


def steep(x: Array, n: Array) -> Array:
    """0, with the derivative by x that ``x**(n+1) log(x)`` has where x is 0: minus infinity up to n = 0."""
    return strong_zero_mul(departure(x), where(greater(n, 0.0), 0.0, -math.inf))


# -- powers ------------------------------------------------------------------------------------------------


def power_by_x(out: Array, x: Array, n: Array) -> Array:
    """``n x**(n-1)``; where that is infinite as x is 0, so are its derivatives, and of the other sign."""
    sudden = logical_and(equal(x, 0.0), logical_and(less(n, 1.0), not_equal(n, 0.0)))
    usual = strong_product(n, power(x, where(sudden, 1.0, n) - 1.0))
    return where(sudden, sign(n) * (math.inf - infinitely(x) - infinitely(n)), usual)


def power_by_n(out: Array, x: Array, n: Array) -> Array:
    """``x**n log(x)``; where x is 0, it is 0 for a positive n and minus infinity for others.

    It is 0 where x is infinite and n negative, too.
    """
    zero = equal(x, 0.0)
    never = logical_and(equal(x, math.inf), less(n, 0.0))
    rests = logical_or(zero, never)
    at_zero = where(greater(n, 0.0), steep(x, n - 1.0), infinitely(x) + infinitely(n) - math.inf)
    usual = where(rests, 1.0, out) * log(where(rests, 1.0, x))
    return where(zero, at_zero, where(never, 0.0, usual))


def quiet_power(x: Array, n: Array) -> Array:
    """``x**n`` without a warning where that is infinite."""
    with np.errstate(all="ignore"):
        return np.power(x, n)


def composed_power(x: Array, n: Array) -> Array:
    """``x**n``."""
    return x**n


power = define(
    "power",
    power_by_x,
    power_by_n,
    ufunc=Evaluated("power", quiet_power, np.arctan2),
    expansion=composed_power,
)


# -- products with logarithms ------------------------------------------------------------------------------


def xlogy_by_x(out: Array, x: Array, y: Array) -> Array:
    """``log(y)``, also where x is 0."""
    return logarithm(y)


def xlogy_by_y(out: Array, x: Array, y: Array) -> Array:
    """``x / y``, 0 where x is 0."""
    return share(x, y)


def xlog1py_by_x(out: Array, x: Array, y: Array) -> Array:
    """``log(1 + y)``, also where x is 0."""
    end = equal(y, -1.0)
    return where(end, falling(where(end, 1.0 + y, 1.0)), log1p(where(end, 0.0, y)))


def xlog1py_by_y(out: Array, x: Array, y: Array) -> Array:
    """``x / (1 + y)``, 0 where x is 0."""
    return share(x, 1.0 + y)


def composed_xlogy(x: Array, y: Array) -> Array:
    """``x log(y)``, and 0 where x is 0 unless y is NaN; the logarithm is in the words of `logarithm`."""
    zero = equal(y, 0.0)
    return where(isnan(y), y, strong_zero_mul(x, where(zero, -math.inf, log(where(zero, 1.0, y)))))


def composed_xlog1py(x: Array, y: Array) -> Array:
    """``x log(1 + y)``, and 0 where x is 0 unless y is NaN; the logarithm is that of the derivative."""
    end = equal(y, -1.0)
    return where(isnan(y), y, strong_zero_mul(x, where(end, -math.inf, log1p(where(end, 0.0, y)))))


xlogy = define("xlogy", xlogy_by_x, xlogy_by_y, expansion=composed_xlogy)
xlog1py = define("xlog1py", xlog1py_by_x, xlog1py_by_y, expansion=composed_xlog1py)
