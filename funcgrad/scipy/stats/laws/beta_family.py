"""The beta distribution and its relatives: F, Student's t, powers of uniform numbers, spheres."""

from __future__ import annotations

import math

from funcgrad.numpy import arctan2, cos, exp, expm1, isinf, log, log1p, minimum, sin, sqrt, where
from funcgrad.scipy.special import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    betaln,
    fdtr,
    fdtrc,
    gammainc,
    i1e,
    stdtr,
    stdtrit,
    xlog1py,
    xlogy,
)
from funcgrad.scipy.stats.law import declare
from funcgrad.scipy.stats.laws.parts import (
    HALF_LOG_TAU,
    INF,
    LOG_2,
    LOG_PI,
    gamma_ratio,
    magnitude,
    rest_of_gammaln,
    rest_of_psi,
)
from funcgrad.types import Array, ArrayLike

UNIT = (0.0, 1.0)
POSITIVE = (0.0, INF)
NORMAL = 1e20
"""Degrees of freedom from which Student's distribution is the normal one, to the last digit."""


def beta_logpdf(x: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    """``(a - 1) log(x) + (b - 1) log(1 - x) - log(B(a, b))``."""
    return xlog1py(b - 1.0, -x) + xlogy(a - 1.0, x) - betaln(a, b)


def log_beta_rest(a: ArrayLike, b: ArrayLike) -> Array:
    """What the logarithm of the beta function differs by from Stirling's formula."""
    return HALF_LOG_TAU + rest_of_gammaln(a) + rest_of_gammaln(b) - rest_of_gammaln(a + b)


def beta_entropy(a: ArrayLike, b: ArrayLike) -> Array:
    """``log(B(a, b)) - (a - 1) psi(a) - (b - 1) psi(b) + (a + b - 2) psi(a + b)``."""
    s = a + b
    logarithms = 0.5 * (log(a) + log(b)) - 1.5 * log(s) + 0.5 - 0.5 / a - 0.5 / b + 1.0 / s
    rest = (a - 1.0) * rest_of_psi(a) + (b - 1.0) * rest_of_psi(b) - (s - 2.0) * rest_of_psi(s)
    return logarithms + rest + log_beta_rest(a, b)


def f_entropy(a: ArrayLike, b: ArrayLike) -> Array:
    """``log(B(a, b)) + (1 - a) psi(a) - (1 + b) psi(b) + (a + b) psi(a + b) + log(b / a)``."""
    s = a + b
    logarithms = 0.5 * (log(s) - log(a) - log(b) + 1.0 - 1.0 / a + 1.0 / b)
    rest = (a - 1.0) * rest_of_psi(a) + (b + 1.0) * rest_of_psi(b) - s * rest_of_psi(s)
    return logarithms + rest + log_beta_rest(a, b)


def student_entropy(df: ArrayLike) -> Array:
    """``(df + 1) / 2 (psi((df + 1) / 2) - psi(df / 2)) + log(df) / 2 + log(B(df / 2, 1 / 2))``."""
    df = minimum(df, NORMAL)
    a, b = 0.5 * df, 0.5 * (df + 1.0)
    rest = b * (rest_of_psi(a) - rest_of_psi(b)) + rest_of_gammaln(a) - rest_of_gammaln(b)
    return HALF_LOG_TAU + 0.5 + 0.5 * log1p(1.0 / df) + 0.5 / df + rest


def student_logpdf(x: ArrayLike, df: ArrayLike) -> Array:
    """The logarithm of Student's density; that of a normal number for infinitely many degrees of freedom."""
    df = minimum(df, NORMAL)
    return -betaln(0.5 * df, 0.5) - 0.5 * log(df) - 0.5 * (df + 1.0) * log1p(x * x / df)


def above(bound: float, parameter: ArrayLike, f: ArrayLike, otherwise: float = INF) -> Array:
    """``f(parameter)`` where the parameter exceeds a bound, of which nothing else is evaluated."""
    holds = parameter > bound
    return where(holds, f(where(holds, parameter, bound + 1.0)), otherwise)


declare(
    "beta",
    "The beta distribution.",
    (0.4, 2.0, 3.0),
    ends=UNIT,
    rise=lambda a, b: a - 1.0,
    rest=lambda x, a, b: xlog1py(b - 1.0, -x) - betaln(a, b),
    cdf=lambda x, a, b: betainc(a, b, x),
    sf=lambda x, a, b: betaincc(a, b, x),
    ppf=lambda q, a, b: betaincinv(a, b, q),
    isf=lambda q, a, b: betainccinv(a, b, q),
    entropy=beta_entropy,
    mean=lambda a, b: a / (a + b),
    var=lambda a, b: a * b / ((a + b) ** 2 * (a + b + 1.0)),
)


def odds_cdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, upper: bool) -> Array:
    """The distribution function of beta odds, or what is left of it, from the smaller of both arguments."""
    far = x > 1.0
    near_x, far_x = where(far, 0.5, x), where(far, x, 1.0)
    by_odds, by_rest = (betaincc, betainc) if upper else (betainc, betaincc)
    return where(far, by_rest(b, a, 1.0 / (1.0 + far_x)), by_odds(a, b, near_x / (1.0 + near_x)))


def odds_logpdf(x: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    """The logarithm of the density, minus infinity at infinity, where it is a difference of infinities."""
    end = isinf(x)
    x = where(end, 1.0, x)
    return where(end, -INF, xlogy(a - 1.0, x) - xlog1py(a + b, x) - betaln(a, b))


declare(
    "betaprime",
    "The odds of a beta number.",
    (0.7, 2.0, 3.0),
    ends=POSITIVE,
    open_ends=True,
    logpdf=odds_logpdf,
    cdf=lambda x, a, b: odds_cdf(x, a, b, False),
    sf=lambda x, a, b: odds_cdf(x, a, b, True),
    mean=lambda a, b: above(1.0, b, lambda b: a / (b - 1.0)),
    var=lambda a, b: above(2.0, b, lambda b: a * (a + b - 1.0) / ((b - 2.0) * (b - 1.0) ** 2)),
)
declare(
    "f",
    "The ratio of two sums of squares, each over its degrees of freedom.",
    (1.3, 3.0, 5.0),
    ends=POSITIVE,
    rise=lambda dfn, dfd: 0.5 * dfn - 1.0,
    rest=lambda x, dfn, dfd: (
        0.5 * dfd * log(dfd)
        + 0.5 * dfn * log(dfn)
        - 0.5 * (dfn + dfd) * log(dfd + dfn * x)
        - betaln(0.5 * dfn, 0.5 * dfd)
    ),
    cdf=lambda x, dfn, dfd: fdtr(dfn, dfd, x),
    sf=lambda x, dfn, dfd: fdtrc(dfn, dfd, x),
    entropy=lambda dfn, dfd: f_entropy(0.5 * dfn, 0.5 * dfd),
    mean=lambda dfn, dfd: above(2.0, dfd, lambda d: d / (d - 2.0)),
    var=lambda dfn, dfd: above(
        4.0, dfd, lambda d: 2.0 * d * d * (dfn + d - 2.0) / (dfn * (d - 2.0) ** 2 * (d - 4.0))
    ),
)
declare(
    "t",
    "Student's distribution with df degrees of freedom.",
    (0.7, 3.5),
    logpdf=student_logpdf,
    cdf=lambda x, df: stdtr(df, x),
    sf=lambda x, df: stdtr(df, -x),
    ppf=lambda q, df: stdtrit(df, q),
    isf=lambda q, df: -stdtrit(df, q),
    entropy=student_entropy,
    mean=lambda df: where(df > 1.0, 0.0, INF),
    var=lambda df: where(df > 1.0, above(2.0, df, lambda n: 1.0 + 2.0 / (n - 2.0)), math.nan),
)
declare(
    "arcsine",
    "The beta distribution of both parameters 1/2.",
    (0.4,),
    ends=UNIT,
    logpdf=lambda x: -LOG_PI - 0.5 * log(x) - 0.5 * log1p(-x),
    cdf=lambda x: arctan2(sqrt(x), sqrt(1.0 - x)) * (2.0 / math.pi),
    sf=lambda x: arctan2(sqrt(1.0 - x), sqrt(x)) * (2.0 / math.pi),
    ppf=lambda q: sin(0.5 * math.pi * q) ** 2,
    isf=lambda q: cos(0.5 * math.pi * q) ** 2,
    entropy=lambda: math.log(math.pi / 4.0),
    mean=lambda: 0.5,
    var=lambda: 0.125,
)
declare(
    "powerlaw",
    "The power ``1 / a`` of a uniform number.",
    (0.4, 1.7),
    ends=UNIT,
    open_start=lambda a: a < 1.0,
    rise=lambda a: a - 1.0,
    rest=lambda x, a: log(a) + 0.0 * x,
    cdf=lambda x, a: exp(a * log(x)),
    sf=lambda x, a: -expm1(a * log(x)),
    logcdf=lambda x, a: a * log(x),
    ppf=lambda q, a: exp(log(q) / a),
    isf=lambda q, a: exp(log1p(-q) / a),
    entropy=lambda a: 1.0 - 1.0 / a - log(a),
    mean=lambda a: a / (a + 1.0),
    var=lambda a: a / ((a + 2.0) * (a + 1.0) ** 2),
)
declare(
    "rdist",
    "A coordinate of a point on a sphere, in effect: a symmetric beta number between -1 and 1.",
    (0.4, 2.6),
    ends=(-1.0, 1.0),
    logpdf=lambda x, c: beta_logpdf(0.5 * (x + 1.0), 0.5 * c, 0.5 * c) - LOG_2,
    cdf=lambda x, c: betainc(0.5 * c, 0.5 * c, 0.5 * (x + 1.0)),
    sf=lambda x, c: betainc(0.5 * c, 0.5 * c, 0.5 * (1.0 - x)),
    ppf=lambda q, c: 2.0 * betaincinv(0.5 * c, 0.5 * c, q) - 1.0,
    isf=lambda q, c: 1.0 - 2.0 * betaincinv(0.5 * c, 0.5 * c, q),
    mean=lambda c: 0.0 * c,
    var=lambda c: 1.0 / (c + 1.0),
)
declare(
    "semicircular",
    "The distribution whose density is half of a circle.",
    (0.4,),
    ends=(-1.0, 1.0),
    logpdf=lambda x: LOG_2 - LOG_PI + 0.5 * log1p(-x * x),
    cdf=lambda x: betainc(1.5, 1.5, 0.5 * (1.0 + x)),
    sf=lambda x: betainc(1.5, 1.5, 0.5 * (1.0 - x)),
    ppf=lambda q: 2.0 * betaincinv(1.5, 1.5, q) - 1.0,
    isf=lambda q: 1.0 - 2.0 * betaincinv(1.5, 1.5, q),
    entropy=lambda: LOG_PI - 0.5,
    mean=lambda: 0.0,
    var=lambda: 0.25,
)


def share(x: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    """``(1 + x / sqrt(a + b + x*x)) / 2``, without cancellation for negative x."""
    root = sqrt(a + b + x * x)
    return where(x < 0, (a + b) / (2.0 * root * (root + abs(x))), 0.5 * (root + x) / root)


def skew_tail(x: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    """The probability beyond x, on its own side of 0."""
    right = x > 0
    return betainc(where(right, b, a), where(right, a, b), share(-magnitude(x), a, b))


def skew_number(u: ArrayLike, v: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    """The number whose `share` is u, and 1 less it v."""
    return (u - v) * sqrt(a + b) / (2.0 * sqrt(u) * sqrt(v))


declare(
    "jf_skew_t",
    "The skew Student distribution of Jones and Faddy.",
    (0.4, 2.0, 3.0),
    open_ends=True,
    logpdf=lambda x, a, b: (
        (a + 0.5) * log(2.0 * share(x, a, b))
        + (b + 0.5) * log(2.0 * share(-x, a, b))
        - (a + b - 1.0) * LOG_2
        - betaln(a, b)
        - 0.5 * log(a + b)
    ),
    cdf=lambda x, a, b: where(x > 0, 1.0 - skew_tail(x, a, b), skew_tail(x, a, b)),
    sf=lambda x, a, b: where(x > 0, skew_tail(x, a, b), 1.0 - skew_tail(x, a, b)),
    ppf=lambda q, a, b: skew_number(betaincinv(a, b, q), betainccinv(b, a, q), a, b),
    isf=lambda q, a, b: skew_number(betainccinv(a, b, q), betaincinv(b, a, q), a, b),
    mean=lambda a, b: above(
        0.5,
        where(a < b, a, b),
        lambda _: (
            (a - b)
            * sqrt(a + b)
            * 0.5
            * gamma_ratio(where(a > 0.5, a - 0.5, 1.0), a)
            * gamma_ratio(where(b > 0.5, b - 0.5, 1.0), b)
        ),
        math.nan,
    ),
)


def argus_mass(chi: ArrayLike) -> Array:
    """``normal_cdf(chi) - chi normal_density(chi) - 1/2``, without cancellation."""
    return 0.5 * gammainc(1.5, 0.5 * chi * chi)


def argus_mean(chi: ArrayLike) -> Array:
    """``sqrt(pi / 8) chi i1e(chi**2 / 4) / mass``."""
    return math.sqrt(math.pi / 8.0) * chi * i1e(0.25 * chi * chi) / argus_mass(chi)


declare(
    "argus",
    "The ARGUS distribution, of masses of particles.",
    (0.4, 1.7),
    ends=UNIT,
    logpdf=lambda x, chi: (
        3.0 * log(chi)
        - HALF_LOG_TAU
        - log(argus_mass(chi))
        + log(x)
        + 0.5 * log1p(-x * x)
        - 0.5 * chi * chi * (1.0 - x * x)
    ),
    sf=lambda x, chi: gammainc(1.5, 0.5 * chi * chi * (1.0 - x * x)) / (2.0 * argus_mass(chi)),
    mean=argus_mean,
    var=lambda chi: (
        1.0
        - 3.0 / (chi * chi)
        + chi * exp(-0.5 * chi * chi - HALF_LOG_TAU) / argus_mass(chi)
        - argus_mean(chi) ** 2
    ),
)
