"""Distribution functions by their short names: chi-square, gamma, Poisson, binomial, F and Student's t.

All are incomplete gamma or beta functions, and their derivatives are those, by the chain rule.
"""

from __future__ import annotations

import math

from funcgrad.ops.elementwise.arithmetic import strong_product
from funcgrad.ops.elementwise.comparison import equal, isinf, less
from funcgrad.ops.elementwise.elementary import exp, log, log1p, sqrt
from funcgrad.ops.elementwise.logic import logical_or
from funcgrad.ops.elementwise.magnitude import absolute, sign
from funcgrad.ops.elementwise.rounding import floor
from funcgrad.ops.elementwise.selection import where
from funcgrad.ops.families import aval
from funcgrad.ops.specials.gamma import betaln, digamma
from funcgrad.ops.specials.incomplete import (
    GammaincByParameter,
    beta_density,
    beta_moves,
    betainc_slope,
    gammainc_slope,
    implicit,
    quantile_slope,
)
from funcgrad.ops.specials.table import define
from funcgrad.types import Array

COUNT = "the count"
TRIALS = "the number of trials"

# -- chi-square and gamma ----------------------------------------------------------------------------------


def chdtr_by_v(out: Array, v: Array, x: Array) -> Array:
    """That of ``gammainc(v / 2, x / 2)``."""
    return 0.5 * GammaincByParameter((1,))(0.5 * v, 0.5 * x)


def chdtr_by_x(out: Array, v: Array, x: Array) -> Array:
    """The density."""
    return 0.5 * gammainc_slope(0.5 * v, 0.5 * x)


def chdtrc_by_v(out: Array, v: Array, x: Array) -> Array:
    """Minus that of `chdtr`."""
    return -chdtr_by_v(out, v, x)


def chdtrc_by_x(out: Array, v: Array, x: Array) -> Array:
    """Minus the density."""
    return -chdtr_by_x(out, v, x)


def chdtri_by_v(out: Array, v: Array, p: Array) -> Array:
    """By implicit differentiation of ``chdtrc(v, out) = p``."""
    return implicit(chdtr_by_v(None, v, out), chdtr_by_x(None, v, out), p)


def chdtri_by_p(out: Array, v: Array, p: Array) -> Array:
    """Minus one over the density."""
    return -quantile_slope(chdtr_by_x(None, v, out), p, v)


def gdtr_by_a(out: Array, a: Array, b: Array, x: Array) -> Array:
    """That of ``gammainc(b, a x)``; where x is 0 it is 0 however steep that is."""
    return strong_product(x, gammainc_slope(b, strong_product(a, x)))


def gdtr_by_b(out: Array, a: Array, b: Array, x: Array) -> Array:
    """That of ``gammainc(b, a x)``."""
    return GammaincByParameter((1,))(b, strong_product(a, x))


def gdtr_by_x(out: Array, a: Array, b: Array, x: Array) -> Array:
    """That of ``gammainc(b, a x)``; where a is 0 it is 0 however steep that is."""
    return strong_product(a, gammainc_slope(b, strong_product(a, x)))


def gdtrc_by_a(out: Array, a: Array, b: Array, x: Array) -> Array:
    """Minus that of `gdtr`."""
    return -gdtr_by_a(out, a, b, x)


def gdtrc_by_b(out: Array, a: Array, b: Array, x: Array) -> Array:
    """Minus that of `gdtr`."""
    return -gdtr_by_b(out, a, b, x)


def gdtrc_by_x(out: Array, a: Array, b: Array, x: Array) -> Array:
    """Minus that of `gdtr`."""
    return -gdtr_by_x(out, a, b, x)


define("chdtr", chdtr_by_v, chdtr_by_x, flat=True)
define("chdtrc", chdtrc_by_v, chdtrc_by_x, flat=True)
define("chdtri", chdtri_by_v, chdtri_by_p)
define("gdtr", gdtr_by_a, gdtr_by_b, gdtr_by_x, flat=True)
define("gdtrc", gdtrc_by_a, gdtrc_by_b, gdtrc_by_x, flat=True)


# -- counts ------------------------------------------------------------------------------------------------


def pdtr_by_m(out: Array, k: Array, m: Array) -> Array:
    """Minus the probability of k, for ``pdtr(k, m) = gammaincc(k + 1, m)``."""
    return -gammainc_slope(whole(k, m) + 1.0, m)


def pdtrc_by_m(out: Array, k: Array, m: Array) -> Array:
    """The probability of k."""
    return gammainc_slope(whole(k, m) + 1.0, m)


def bdtr_by_p(out: Array, k: Array, n: Array, p: Array) -> Array:
    """Minus that of ``betainc(k + 1, n - k, p)``."""
    return -bdtrc_by_p(out, k, n, p)


def bdtrc_by_p(out: Array, k: Array, n: Array, p: Array) -> Array:
    """That of ``betainc(k + 1, n - k, p)``."""
    count = whole(k, p)
    return betainc_slope(count + 1.0, whole(n, p) - count, p)


def whole(k: Array, like: Array) -> Array:
    """A count in the dtype of `like`."""
    return floor(k) if aval(k).inexact else k.astype(aval(like).dtype)


define("pdtr", COUNT, pdtr_by_m)
define("pdtrc", COUNT, pdtrc_by_m)
define("pdtrik", "p", "m")
define("bdtr", COUNT, TRIALS, bdtr_by_p)
define("bdtrc", COUNT, TRIALS, bdtrc_by_p)


# -- F -----------------------------------------------------------------------------------------------------


def fdtr_by_dfn(out: Array, dfn: Array, dfd: Array, x: Array) -> Array:
    """That of ``betainc(dfn / 2, dfd / 2, w)`` with ``w = dfn x / (dfd + dfn x)``."""
    far, x, w, total = share_of_numerator(dfn, dfd, x)
    by_parameter = beta_moves((1, 0), 0.5 * dfn, 0.5 * dfd, w, dfd / total)
    by_limit = strong_product(x, dfd / total**2 * beta_density(0.5 * dfn, 0.5 * dfd, w, dfd / total))
    return where(far, 0.0, 0.5 * by_parameter + by_limit)


def fdtr_by_dfd(out: Array, dfn: Array, dfd: Array, x: Array) -> Array:
    """Likewise."""
    far, x, w, total = share_of_numerator(dfn, dfd, x)
    by_parameter = beta_moves((0, 1), 0.5 * dfn, 0.5 * dfd, w, dfd / total)
    by_limit = strong_product(x, dfn / total**2 * beta_density(0.5 * dfn, 0.5 * dfd, w, dfd / total))
    return where(far, 0.0, 0.5 * by_parameter - by_limit)


def fdtr_by_x(out: Array, dfn: Array, dfd: Array, x: Array) -> Array:
    """The density."""
    far, x, w, total = share_of_numerator(dfn, dfd, x)
    density = beta_density(0.5 * dfn, 0.5 * dfd, w, dfd / total)
    return where(far, 0.0, density * (dfn * dfd / total**2))


def share_of_numerator(dfn: Array, dfd: Array, x: Array) -> tuple[Array, Array, Array, Array]:
    """Whether x is infinite, else x, ``dfn x`` as a share of ``dfd + dfn x``, 0 where x is, and that sum."""
    far = isinf(x)
    x = where(far, 1.0, x)
    numerator = strong_product(dfn, x)
    total = dfd + numerator
    return far, x, strong_product(numerator, 1.0 / total), total


def fdtrc_by_dfn(out: Array, dfn: Array, dfd: Array, x: Array) -> Array:
    """Minus that of `fdtr`."""
    return -fdtr_by_dfn(out, dfn, dfd, x)


def fdtrc_by_dfd(out: Array, dfn: Array, dfd: Array, x: Array) -> Array:
    """Minus that of `fdtr`."""
    return -fdtr_by_dfd(out, dfn, dfd, x)


def fdtrc_by_x(out: Array, dfn: Array, dfd: Array, x: Array) -> Array:
    """Minus the density."""
    return -fdtr_by_x(out, dfn, dfd, x)


define("fdtr", fdtr_by_dfn, fdtr_by_dfd, fdtr_by_x)
define("fdtrc", fdtrc_by_dfn, fdtrc_by_dfd, fdtrc_by_x)


# -- Student's t -------------------------------------------------------------------------------------------


def stdtr_by_df(out: Array, df: Array, t: Array) -> Array:
    """Half of that of ``betainc(df / 2, 1 / 2, w)`` with ``w = df / (df + t*t)``, odd in t.

    At the median, where the square of t is rounded to 0, it is the derivative of the density there times t.
    """
    middle, far = less(absolute(t), 1e-100), logical_or(isinf(t), isinf(df))
    near = t * stdtr_by_t(None, df, 0.0 * t) * log_peak_by_df(df)
    t = where(logical_or(middle, far), 1.0, t)
    df = where(far, 1.0, df)
    square = t * t
    total = df + square
    half = 0.5 * df
    by_parameter = 0.5 * beta_moves((1, 0), half, 0.5, df / total, square / total)
    powers = (half - 1.0) * (log(df) - log(total)) - betaln(half, 0.5)
    by_limit = exp(powers) * absolute(t) / (total * sqrt(total))
    usual = -0.5 * sign(t) * (by_parameter + by_limit)
    return where(far, 0.0, where(middle, near, usual))


def log_peak_by_df(df: Array) -> Array:
    """The derivative of the logarithm of the density at the median."""
    return 0.5 * (digamma(0.5 * (df + 1.0)) - digamma(0.5 * df) - 1.0 / df)


def stdtr_by_t(out: Array, df: Array, t: Array) -> Array:
    """The density ``(1 + t*t / df)**(-(df + 1) / 2) / (sqrt(df) beta(df / 2, 1 / 2))``, or the normal one."""
    normal, far = isinf(df), isinf(t)
    df, t = where(normal, 1.0, df), where(far, 0.0, t)
    usual = exp(-0.5 * (df + 1.0) * log1p(t * t / df) - 0.5 * log(df) - betaln(0.5 * df, 0.5))
    return where(far, 0.0, where(normal, exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi), usual))


def stdtrit_by_df(out: Array, df: Array, p: Array) -> Array:
    """By implicit differentiation of ``stdtr(df, out) = p``; the median itself does not move."""
    middle = equal(p, 0.5)
    beside = where(middle, 1.0, out)
    usual = -stdtr_by_df(None, df, beside) / stdtr_by_t(None, df, beside)
    return where(middle, -(p - 0.5) / stdtr_by_t(None, df, 0.0 * p) * log_peak_by_df(df), usual)


def stdtrit_by_p(out: Array, df: Array, p: Array) -> Array:
    """One over the density."""
    return 1.0 / stdtr_by_t(None, df, out)


define("stdtr", stdtr_by_df, stdtr_by_t)
define("stdtrit", stdtrit_by_df, stdtrit_by_p)
