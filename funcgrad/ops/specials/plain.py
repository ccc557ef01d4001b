"""Functions with elementary derivatives: divergences, losses, transforms of data, angles in degrees."""

from __future__ import annotations

import math

from funcgrad.ops.elementwise.arithmetic import strong_zero_mul
from funcgrad.ops.elementwise.comparison import equal, greater, less, less_equal
from funcgrad.ops.elementwise.elementary import log, log1p, sin
from funcgrad.ops.elementwise.identity import stop_gradient
from funcgrad.ops.elementwise.logic import logical_and
from funcgrad.ops.elementwise.magnitude import absolute, hypot, sign
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.specials.exprel import ExprelDerivative
from funcgrad.ops.specials.hypergeometric import hyp2f1
from funcgrad.ops.specials.table import define
from funcgrad.types import Array

# -- divergences and losses --------------------------------------------------------------------------------


def rel_entr_by_x(out: Array, x: Array, y: Array) -> Array:
    """``log(x / y) + 1``."""
    return log_of_ratio(x, y) + 1.0


def rel_entr_by_y(out: Array, x: Array, y: Array) -> Array:
    """``-x / y``."""
    return -x / y


def kl_div_by_x(out: Array, x: Array, y: Array) -> Array:
    """``log(x / y)``."""
    return log_of_ratio(x, y)


def log_of_ratio(x: Array, y: Array) -> Array:
    """``log(x / y)``, whose derivative by y is right where x is 0 as well."""
    # At 0 it is minus infinity, and its derivative by x infinite, but only where x moves: 0 * inf is 0 here.
    at_zero = strong_zero_mul(x, math.inf) - math.inf - log(y)
    return where(equal(x, 0.0), at_zero, log(x / y))


def kl_div_by_y(out: Array, x: Array, y: Array) -> Array:
    """``1 - x / y``."""
    return 1.0 - x / y


def huber_by_delta(out: Array, delta: Array, r: Array) -> Array:
    """``|r| - delta`` beyond delta, 0 within."""
    return where(less_equal(absolute(r), delta), 0.0, absolute(r) - delta)


def huber_by_r(out: Array, delta: Array, r: Array) -> Array:
    """``r`` within delta, ``delta sign(r)`` beyond."""
    return where(less_equal(absolute(r), delta), r, delta * sign(r))


def pseudo_huber_by_delta(out: Array, delta: Array, r: Array) -> Array:
    """``(h - delta)**2 / h`` with ``h = hypot(delta, r)``, for the function is ``delta (h - delta)``."""
    size = hypot(delta, r)
    beyond = r * (r / (size + delta))
    return beyond / size * beyond


def pseudo_huber_by_r(out: Array, delta: Array, r: Array) -> Array:
    """``delta r / hypot(delta, r)``."""
    return delta * (r / hypot(delta, r))


define("rel_entr", rel_entr_by_x, rel_entr_by_y)
define("kl_div", kl_div_by_x, kl_div_by_y)
define("huber", huber_by_delta, huber_by_r)
define("pseudo_huber", pseudo_huber_by_delta, pseudo_huber_by_r)


# -- Box and Cox -------------------------------------------------------------------------------------------


def power_slope(log_x: Array, lmbda: Array) -> Array:
    """The derivative of ``(exp(lmbda L) - 1) / lmbda`` by lmbda, ``L**2`` times that of `exprel`."""
    return log_x * log_x * ExprelDerivative(1)(lmbda * log_x)


def power_at_zero(x: Array, n: Array) -> Array:
    """``x ** n`` whose derivative by n is minus infinity where both are 0: from 1 it falls to 0 at once."""
    sudden = where(logical_and(equal(x, 0.0), equal(n, 0.0)), -math.inf, 0.0)
    return x**n + strong_zero_mul(n - stop_gradient(n), sudden)


def boxcox_by_x(out: Array, x: Array, lmbda: Array) -> Array:
    """``x ** (lmbda - 1)``."""
    return power_at_zero(x, lmbda - 1.0)


def boxcox_by_lmbda(out: Array, x: Array, lmbda: Array) -> Array:
    """See `power_slope`; ``1 / lmbda**2`` where x is 0, whose derivative by x is ``x**(lmbda-1) log(x)``."""
    zero = equal(x, 0.0)
    at_zero = 1.0 / lmbda**2 + steep(x, lmbda - 1.0)
    return where(zero, at_zero, power_slope(log(where(zero, 1.0, x)), lmbda))


def steep(x: Array, n: Array) -> Array:
    """0, with the derivative by x that ``x**(n+1) log(x)`` has where x is 0: minus infinity up to n = 0."""
    return strong_zero_mul(x - stop_gradient(x), where(greater(n, 0.0), 0.0, -math.inf))


def boxcox1p_by_x(out: Array, x: Array, lmbda: Array) -> Array:
    """``(1 + x) ** (lmbda - 1)``."""
    return boxcox_by_x(out, 1.0 + x, lmbda)


def boxcox1p_by_lmbda(out: Array, x: Array, lmbda: Array) -> Array:
    """As that of `boxcox`."""
    zero = equal(x, -1.0)
    at_zero = 1.0 / lmbda**2 + steep(x, lmbda - 1.0)
    return where(zero, at_zero, power_slope(log1p(where(zero, 0.0, x)), lmbda))


def inv_boxcox_by_y(out: Array, y: Array, lmbda: Array) -> Array:
    """``(1 + lmbda y) ** (1 / lmbda - 1)``."""
    return out / (1.0 + lmbda * y)


def inv_boxcox_by_lmbda(out: Array, y: Array, lmbda: Array) -> Array:
    """``y**2`` times the derivative of ``log1p(t) / t`` at ``lmbda y``, near 0 ``-2F1(2, 2; 3; -t) / 2``."""
    t = lmbda * y
    near = less(absolute(t), 0.5)
    far = where(near, 1.0, t)
    usual = (far / (1.0 + far) - log1p(far)) / (far * far)
    return out * y * y * where(near, -0.5 * hyp2f1(2.0, 2.0, 3.0, where(near, -t, 0.0)), usual)


def inv_boxcox1p_by_y(out: Array, y: Array, lmbda: Array) -> Array:
    """That of `inv_boxcox`, of which this is 1 less."""
    return inv_boxcox_by_y(out + 1.0, y, lmbda)


def inv_boxcox1p_by_lmbda(out: Array, y: Array, lmbda: Array) -> Array:
    """That of `inv_boxcox`."""
    return inv_boxcox_by_lmbda(out + 1.0, y, lmbda)


define("boxcox", boxcox_by_x, boxcox_by_lmbda)
define("boxcox1p", boxcox1p_by_x, boxcox1p_by_lmbda)
define("inv_boxcox", inv_boxcox_by_y, inv_boxcox_by_lmbda)
define("inv_boxcox1p", inv_boxcox1p_by_y, inv_boxcox1p_by_lmbda)


# -- powers and angles -------------------------------------------------------------------------------------


def exp10_by_x(out: Array, x: Array) -> Array:
    """``log(10) 10**x``."""
    return out * math.log(10.0)


def cosm1_by_x(out: Array, x: Array) -> Array:
    """``-sin(x)``."""
    return -sin(x)


def powm1_by_x(out: Array, x: Array, y: Array) -> Array:
    """``y x ** (y - 1)``."""
    return strong_zero_mul(y, power_at_zero(x, y - 1.0))


def powm1_by_y(out: Array, x: Array, y: Array) -> Array:
    """``x**y log(x)``, 0 where x is 0 and y is positive."""
    zero = equal(x, 0.0)
    at_zero = where(greater(y, 0.0), steep(x, y - 1.0), math.nan)
    return where(zero, at_zero, (out + 1.0) * log(where(zero, 1.0, x)))


DEGREE = math.pi / 180.0


def sindg_by_x(out: Array, x: Array) -> Array:
    """The cosine."""
    return cosdg(x) * DEGREE


def cosdg_by_x(out: Array, x: Array) -> Array:
    """Minus the sine."""
    return sindg(x) * -DEGREE


def tandg_by_x(out: Array, x: Array) -> Array:
    """``1 + tan**2``."""
    return (1.0 + out * out) * DEGREE


def cotdg_by_x(out: Array, x: Array) -> Array:
    """``-(1 + cot**2)``."""
    return (1.0 + out * out) * -DEGREE


exp10 = define("exp10", exp10_by_x)
cosm1 = define("cosm1", cosm1_by_x)
powm1 = define("powm1", powm1_by_x, powm1_by_y)
sindg = define("sindg", sindg_by_x)
cosdg = define("cosdg", cosdg_by_x)
tandg = define("tandg", tandg_by_x)
cotdg = define("cotdg", cotdg_by_x)
