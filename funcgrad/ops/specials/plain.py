"""Functions with elementary derivatives: divergences, losses, transforms of data, angles in degrees."""

from __future__ import annotations

import math

from funcgrad.ops.elementwise.arithmetic import strong_product
from funcgrad.ops.elementwise.comparison import equal, isfinite, isinf, less, less_equal
from funcgrad.ops.elementwise.elementary import log, log1p, sin
from funcgrad.ops.elementwise.logic import logical_and, logical_or
from funcgrad.ops.elementwise.magnitude import absolute, hypot, sign
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.specials.exprel import ExprelDerivative
from funcgrad.ops.specials.hypergeometric import hyp2f1
from funcgrad.ops.specials.powers import logarithm, power, power_by_n, power_by_x, share, steep
from funcgrad.ops.specials.table import define, infinitely, nowhere, undefined
from funcgrad.types import Array

# -- divergences and losses --------------------------------------------------------------------------------


def rel_entr_by_x(out: Array, x: Array, y: Array) -> Array:
    """``log(x / y) + 1``."""
    return log_of_ratio(x, y) + 1.0


def rel_entr_by_y(out: Array, x: Array, y: Array) -> Array:
    """``-x / y``, 0 where x is."""
    return where(outside(x, y), nowhere(x, y), -share(x, y))


def kl_div_by_x(out: Array, x: Array, y: Array) -> Array:
    """``log(x / y)``."""
    return log_of_ratio(x, y)


def log_of_ratio(x: Array, y: Array) -> Array:
    """``log(x / y)``, and of each alone where one is 0 or infinite; NaN of negative numbers."""
    edge = outside(x, y)
    for v in (x, y):
        edge = logical_or(edge, logical_or(equal(v, 0.0), equal(v, math.inf)))
    usual = log(where(edge, 1.0, x) / where(edge, 1.0, y))
    alone = logarithm(where(edge, x, 1.0)) - logarithm(where(edge, y, 1.0))
    return where(outside(x, y), nowhere(x, y), where(edge, alone, usual))


def outside(x: Array, y: Array) -> Array:
    """Whether one is negative, where SciPy says infinity."""
    return logical_or(less(x, 0.0), less(y, 0.0))


def kl_div_by_y(out: Array, x: Array, y: Array) -> Array:
    """``1 - x / y``, 1 where x is 0."""
    return 1.0 + rel_entr_by_y(out, x, y)


def huber_by_delta(out: Array, delta: Array, r: Array) -> Array:
    """``|r| - delta`` beyond delta, 0 within; NaN of a negative delta, of which SciPy says infinity."""
    found = where(less_equal(absolute(r), delta), 0.0, absolute(r) - delta)
    return where(less(delta, 0.0), nowhere(delta, r), found)


def huber_by_r(out: Array, delta: Array, r: Array) -> Array:
    """``r`` within delta, ``delta sign(r)`` beyond."""
    found = where(less_equal(absolute(r), delta), r, delta * sign(r))
    return where(less(delta, 0.0), nowhere(delta, r), found)


def pseudo_huber_by_delta(out: Array, delta: Array, r: Array) -> Array:
    """``(h - delta)**2 / h`` with ``h = hypot(delta, r)``, for the function is ``delta (h - delta)``.

    Far away it is ``|r| - 2 delta``, and 0 where delta is infinite; both of it infinite, there is no limit.
    """
    steep, flat = far_from_origin(delta, r)
    size, near_delta, near_r = lengths(delta, r)
    beyond = near_r * (near_r / (size + near_delta))
    usual = beyond / size * beyond
    found = where(steep, absolute(r) - 2.0 * delta, where(flat, 0.0, usual))
    return pseudo_huber_slope(found, delta, r)


def pseudo_huber_by_r(out: Array, delta: Array, r: Array) -> Array:
    """``delta r / hypot(delta, r)``; far away ``delta sign(r)``, and r where delta is infinite."""
    steep, flat = far_from_origin(delta, r)
    size, near_delta, near_r = lengths(delta, r)
    found = where(steep, delta * sign(r), where(flat, r, near_delta * (near_r / size)))
    return pseudo_huber_slope(found, delta, r)


def pseudo_huber_slope(slope: Array, delta: Array, r: Array) -> Array:
    """A derivative, which at the origin is 0 and has none itself: it depends on the way there.

    There is none of a negative delta, where SciPy says infinity.
    """
    found = where(origin(delta, r), undefined(delta) + undefined(r), slope)
    return where(less(delta, 0.0), nowhere(delta, r), found)


def origin(delta: Array, r: Array) -> Array:
    """Whether both are 0."""
    return logical_and(equal(delta, 0.0), equal(r, 0.0))


def far_from_origin(delta: Array, r: Array) -> tuple[Array, Array]:
    """Whether r alone is infinite, and whether delta alone is."""
    return logical_and(isinf(r), isfinite(delta)), logical_and(isinf(delta), isfinite(r))


def lengths(delta: Array, r: Array) -> tuple[Array, Array, Array]:
    """``hypot(delta, r)`` and both, of other numbers where it is 0 or one of them alone infinite."""
    steep, flat = far_from_origin(delta, r)
    elsewhere = logical_or(origin(delta, r), logical_or(steep, flat))
    delta, r = where(elsewhere, 1.0, delta), where(elsewhere, 1.0, r)
    return hypot(delta, r), delta, r


define("rel_entr", rel_entr_by_x, rel_entr_by_y)
define("kl_div", kl_div_by_x, kl_div_by_y)
define("huber", huber_by_delta, huber_by_r)
define("pseudo_huber", pseudo_huber_by_delta, pseudo_huber_by_r)


# -- Box and Cox -------------------------------------------------------------------------------------------


def power_slope(log_x: Array, lmbda: Array) -> Array:
    """The derivative of ``(exp(lmbda L) - 1) / lmbda`` by lmbda, ``L**2`` times that of `exprel`."""
    return log_x * log_x * ExprelDerivative(1)(lmbda * log_x)


def boxcox_by_x(out: Array, x: Array, lmbda: Array) -> Array:
    """``x ** (lmbda - 1)``."""
    return power(x, lmbda - 1.0)


def boxcox_by_lmbda(out: Array, x: Array, lmbda: Array) -> Array:
    """See `power_slope`; ``1 / lmbda**2`` where x is 0, whose derivative by x is ``x**(lmbda-1) log(x)``.

    And where x is infinite and lmbda negative, for there the function is ``-1 / lmbda``.
    """
    rests, at_rest = settled(x, lmbda, x)
    return where(rests, at_rest, power_slope(log(where(rests, 1.0, x)), lmbda))


def settled(base: Array, lmbda: Array, x: Array) -> tuple[Array, Array]:
    """Whether the base is 0, or infinite with a negative lmbda, and the derivative by lmbda there.

    Where the base is 0 and lmbda is not positive, the function is minus infinity and all is infinite.
    """
    zero = equal(base, 0.0)
    never = logical_and(equal(base, math.inf), less(lmbda, 0.0))
    sinks = logical_and(zero, less_equal(lmbda, 0.0))
    level = 1.0 / where(sinks, 1.0, lmbda) ** 2 + where(zero, steep(x, lmbda - 1.0), 0.0)
    sunk = math.inf - infinitely(x) - infinitely(lmbda)
    return logical_or(zero, never), where(sinks, sunk, level)


def boxcox1p_by_x(out: Array, x: Array, lmbda: Array) -> Array:
    """``(1 + x) ** (lmbda - 1)``."""
    return boxcox_by_x(out, 1.0 + x, lmbda)


def boxcox1p_by_lmbda(out: Array, x: Array, lmbda: Array) -> Array:
    """As that of `boxcox`."""
    rests, at_rest = settled(1.0 + x, lmbda, x)
    return where(rests, at_rest, power_slope(log1p(where(rests, 0.0, x)), lmbda))


def inv_boxcox_by_y(out: Array, y: Array, lmbda: Array) -> Array:
    """``(1 + lmbda y) ** (1 / lmbda - 1)``."""
    base = 1.0 + lmbda * y
    end = equal(base, 0.0)
    at_end = power(where(end, base, 1.0), 1.0 / where(end, lmbda, 1.0) - 1.0)
    return where(end, at_end, out / where(end, 1.0, base))


def inv_boxcox_by_lmbda(out: Array, y: Array, lmbda: Array) -> Array:
    """``y**2`` times the derivative of ``log1p(t) / t`` at ``lmbda y``, near 0 ``-2F1(2, 2; 3; -t) / 2``.

    Where the base b is 0, of ``b**n (y / lmbda - b log(b) / lmbda**2)`` with ``n = 1/lmbda - 1`` the first
    term is left, and of the second one its derivative.
    """
    base = 1.0 + lmbda * y
    end = equal(base, 0.0)
    scale = where(end, lmbda, 1.0)
    edge, exponent = where(end, base, 1.0), 1.0 / scale - 1.0
    at_end = strong_product(power(edge, exponent), y / scale) - steep(edge, exponent) / scale**2
    t = where(end, 0.0, lmbda * y)
    near = less(absolute(t), 0.5)
    far = where(near, 1.0, t)
    usual = (far / (1.0 + far) - log1p(far)) / (far * far)
    inside = out * y * y * where(near, -0.5 * hyp2f1(2.0, 2.0, 3.0, where(near, -t, 0.0)), usual)
    return where(end, at_end, inside)


def inv_boxcox1p_by_y(out: Array, y: Array, lmbda: Array) -> Array:
    """That of `inv_boxcox`, of which this is 1 less."""
    return inv_boxcox_by_y(out + 1.0, y, lmbda)


def inv_boxcox1p_by_lmbda(out: Array, y: Array, lmbda: Array) -> Array:
    """That of `inv_boxcox`."""
    return inv_boxcox_by_lmbda(out + 1.0, y, lmbda)


define("boxcox", boxcox_by_x, boxcox_by_lmbda)
define("boxcox1p", boxcox1p_by_x, boxcox1p_by_lmbda)
define("inv_boxcox", inv_boxcox_by_y, inv_boxcox_by_lmbda, flat=True)
define("inv_boxcox1p", inv_boxcox1p_by_y, inv_boxcox1p_by_lmbda, flat=True)


# -- powers and angles -------------------------------------------------------------------------------------


def exp10_by_x(out: Array, x: Array) -> Array:
    """``log(10) 10**x``."""
    return out * math.log(10.0)


def cosm1_by_x(out: Array, x: Array) -> Array:
    """``-sin(x)``."""
    return -sin(x)


def powm1_by_x(out: Array, x: Array, y: Array) -> Array:
    """``y x ** (y - 1)``."""
    return power_by_x(out + 1.0, x, y)


def powm1_by_y(out: Array, x: Array, y: Array) -> Array:
    """``x**y log(x)``."""
    return power_by_n(out + 1.0, x, y)


DEGREE = math.pi / 180.0


def sindg_by_x(out: Array, x: Array) -> Array:
    """The cosine."""
    return nowhere_at_infinity(cosdg(x) * DEGREE, x)


def cosdg_by_x(out: Array, x: Array) -> Array:
    """Minus the sine."""
    return nowhere_at_infinity(sindg(x) * -DEGREE, x)


def tandg_by_x(out: Array, x: Array) -> Array:
    """``1 + tan**2``."""
    return nowhere_at_infinity((1.0 + out * out) * DEGREE, x)


def cotdg_by_x(out: Array, x: Array) -> Array:
    """``-(1 + cot**2)``."""
    return nowhere_at_infinity((1.0 + out * out) * -DEGREE, x)


def nowhere_at_infinity(slope: Array, x: Array) -> Array:
    """NaN where x is infinite: SciPy gives 0 there, and there is no limit."""
    return where(isinf(x), x * math.nan, slope)


exp10 = define("exp10", exp10_by_x)
cosm1 = define("cosm1", cosm1_by_x)
powm1 = define("powm1", powm1_by_x, powm1_by_y)
sindg = define("sindg", sindg_by_x)
cosdg = define("cosdg", cosdg_by_x)
tandg = define("tandg", tandg_by_x)
cotdg = define("cotdg", cotdg_by_x)
