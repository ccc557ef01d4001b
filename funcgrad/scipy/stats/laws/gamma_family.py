"""The gamma distribution and its powers, reciprocals, logarithms and mirror images."""

from __future__ import annotations

import math

from funcgrad.numpy import exp, expm1, log, log1p, sign, sqrt, where
from funcgrad.ops.elementwise.arithmetic import strong_zero_mul
from funcgrad.ops.elementwise.identity import departure
from funcgrad.scipy.special import (
    chdtr,
    chdtrc,
    chdtri,
    gamma,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    poch,
    polygamma,
    psi,
    xlogy,
)
from funcgrad.scipy.stats.law import declare
from funcgrad.scipy.stats.laws.parts import (
    EULER,
    HALF_LOG_TAU,
    INF,
    LOG_2,
    LOG_PI,
    gamma_ratio,
    on_either_side,
    rest_of_gammaln,
    rest_of_psi,
)
from funcgrad.types import Array, ArrayLike

POSITIVE = (0.0, INF)


def gamma_logpdf(x: ArrayLike, a: ArrayLike) -> Array:
    """``(a - 1) log(x) - x - log(gamma(a))``."""
    return xlogy(a - 1.0, x) - x - gammaln(a)


def gamma_entropy(a: ArrayLike) -> Array:
    """``a + log(gamma(a)) + (1 - a) psi(a)``."""
    return log_gamma_entropy(a) + log(a) - 0.5 / a - rest_of_psi(a)


def log_gamma_entropy(a: ArrayLike) -> Array:
    """``a + log(gamma(a)) - a psi(a)``."""
    return HALF_LOG_TAU + 0.5 - 0.5 * log(a) + rest_of_gammaln(a) + a * rest_of_psi(a)


for _name, _about in (
    ("gamma", "The gamma distribution of shape a."),
    ("erlang", "The gamma distribution of whole shapes a."),
):
    declare(
        _name,
        _about,
        (1.3, 2.0),
        ends=POSITIVE,
        rise=lambda a: a - 1.0,
        rest=lambda x, a: -x - gammaln(a),
        cdf=lambda x, a: gammainc(a, x),
        sf=lambda x, a: gammaincc(a, x),
        ppf=lambda q, a: gammaincinv(a, q),
        isf=lambda q, a: gammainccinv(a, q),
        entropy=gamma_entropy,
        mean=lambda a: a,
        var=lambda a: a,
    )
declare(
    "chi2",
    "The sum of the squares of df normal numbers.",
    (1.3, 3.5),
    ends=POSITIVE,
    rise=lambda df: 0.5 * df - 1.0,
    rest=lambda x, df: -0.5 * x - gammaln(0.5 * df) - 0.5 * LOG_2 * df,
    cdf=lambda x, df: chdtr(df, x),
    sf=lambda x, df: chdtrc(df, x),
    ppf=lambda q, df: 2.0 * gammaincinv(0.5 * df, q),
    isf=lambda q, df: chdtri(df, q),
    entropy=lambda df: gamma_entropy(0.5 * df) + LOG_2,
    mean=lambda df: df,
    var=lambda df: 2.0 * df,
)


def chi_mean(df: ArrayLike) -> Array:
    """``sqrt(2) gamma((df + 1) / 2) / gamma(df / 2)``."""
    return math.sqrt(2.0) * poch(0.5 * df, 0.5)


declare(
    "chi",
    "The norm of a vector of df normal numbers.",
    (1.3, 3.5),
    ends=POSITIVE,
    rise=lambda df: df - 1.0,
    rest=lambda x, df: LOG_2 * (1.0 - 0.5 * df) - gammaln(0.5 * df) - 0.5 * x * x,
    cdf=lambda x, df: gammainc(0.5 * df, 0.5 * x * x),
    sf=lambda x, df: gammaincc(0.5 * df, 0.5 * x * x),
    ppf=lambda q, df: sqrt(2.0 * gammaincinv(0.5 * df, q)),
    isf=lambda q, df: sqrt(2.0 * gammainccinv(0.5 * df, q)),
    entropy=lambda df: (
        0.5 * (LOG_PI + 1.0 - 1.0 / df) + rest_of_gammaln(0.5 * df) + 0.5 * (df - 1.0) * rest_of_psi(0.5 * df)
    ),
    mean=chi_mean,
    var=lambda df: df - chi_mean(df) ** 2,
)
declare(
    "invgamma",
    "The reciprocal of a gamma number of shape a.",
    (0.7, 2.5),
    ends=POSITIVE,
    open_ends=True,
    logpdf=lambda x, a: -(a + 1.0) * log(x) - gammaln(a) - 1.0 / x,
    cdf=lambda x, a: gammaincc(a, 1.0 / x),
    sf=lambda x, a: gammainc(a, 1.0 / x),
    ppf=lambda q, a: 1.0 / gammainccinv(a, q),
    isf=lambda q, a: 1.0 / gammaincinv(a, q),
    entropy=lambda a: log_gamma_entropy(a) - log(a) + 0.5 / a + rest_of_psi(a),
    mean=lambda a: where(a > 1.0, 1.0 / where(a > 1.0, a - 1.0, 1.0), INF),
    var=lambda a: where(a > 2.0, 1.0 / where(a > 2.0, (a - 1.0) ** 2 * (a - 2.0), 1.0), INF),
)


LARGEST = 709.0
"""Of what the exponential does not overflow."""


def small(x: ArrayLike, c: ArrayLike) -> Array:
    """Whether ``exp(x)`` is so small that the incomplete gamma function is its leading power."""
    return x < -700.0 + 0.0 * c


declare(
    "loggamma",
    "The logarithm of a gamma number of shape c.",
    (0.4, 1.5),
    open_ends=True,
    logpdf=lambda x, c: c * x - exp(x) - gammaln(c),
    logcdf=lambda x, c: where(
        small(x, c),
        c * x - gammaln(c + 1.0),
        where(x > LARGEST, 0.0, log(gammainc(c, exp(where(small(x, c) | (x > LARGEST), 0.0, x))))),
    ),
    cdf=lambda x, c: where(
        small(x, c),
        exp(where(small(x, c), c * x - gammaln(c + 1.0), 0.0)),
        where(x > LARGEST, 1.0, gammainc(c, exp(where(small(x, c) | (x > LARGEST), 0.0, x)))),
    ),
    sf=lambda x, c: where(x > LARGEST, 0.0, gammaincc(c, exp(where(x > LARGEST, 0.0, x)))),
    entropy=log_gamma_entropy,
    mean=psi,
    var=lambda c: polygamma(1, c),
)
declare(
    "gengamma",
    "The power ``1 / c`` of a gamma number of shape a.",
    (1.3, 2.0, 1.5),
    ends=POSITIVE,
    open_start=lambda a, c: c < 0,
    valid=lambda a, c: (a > 0) & (abs(c) > 0),
    rise=lambda a, c: c * a - 1.0,
    rest=lambda x, a, c: log(abs(c)) - x**c - gammaln(a),
    steep=True,
    cdf=lambda x, a, c: where(c > 0, gammainc(a, x**c), gammaincc(a, x**c)),
    sf=lambda x, a, c: where(c > 0, gammaincc(a, x**c), gammainc(a, x**c)),
    ppf=lambda q, a, c: where(c > 0, gammaincinv(a, q), gammainccinv(a, q)) ** (1.0 / c),
    isf=lambda q, a, c: where(c > 0, gammainccinv(a, q), gammaincinv(a, q)) ** (1.0 / c),
    entropy=lambda a, c: log_gamma_entropy(a) + psi(a) / c - log(abs(c)),
    mean=lambda a, c: gamma_ratio(a + 1.0 / c, a),
    var=lambda a, c: gamma_ratio(a + 2.0 / c, a) - gamma_ratio(a + 1.0 / c, a) ** 2,
)
declare(
    "dgamma",
    "A gamma number of shape a with a random sign.",
    (0.7, 1.6),
    open_ends=True,
    logpdf=lambda x, a: gamma_logpdf(abs(x), a) - LOG_2,
    steep=True,
    cdf=lambda x, a: where(
        x > 0, 0.5 + 0.5 * gammainc(a, where(x > 0, x, 0.5)), 0.5 * gammaincc(a, where(x > 0, 0.5, -x))
    ),
    sf=lambda x, a: where(
        x > 0, 0.5 * gammaincc(a, where(x > 0, x, 0.5)), 0.5 + 0.5 * gammainc(a, where(x > 0, 0.5, -x))
    ),
    ppf=lambda q, a: on_either_side(q, lambda p: gammainccinv(a, p)),
    isf=lambda q, a: -on_either_side(q, lambda p: gammainccinv(a, p)),
    entropy=lambda a: gamma_entropy(a) + LOG_2,
    mean=lambda a: 0.0 * a,
    var=lambda a: a * (a + 1.0),
)
declare(
    "maxwell",
    "The speed of a particle of a gas.",
    (1.3,),
    ends=POSITIVE,
    logpdf=lambda x: 0.5 * (LOG_2 - LOG_PI) + 2.0 * log(x) - 0.5 * x * x,
    cdf=lambda x: gammainc(1.5, 0.5 * x * x),
    sf=lambda x: gammaincc(1.5, 0.5 * x * x),
    ppf=lambda q: sqrt(2.0 * gammaincinv(1.5, q)),
    isf=lambda q: sqrt(2.0 * gammainccinv(1.5, q)),
    entropy=lambda: EULER + 0.5 * math.log(2.0 * math.pi) - 0.5,
    mean=lambda: 2.0 * math.sqrt(2.0 / math.pi),
    var=lambda: 3.0 - 8.0 / math.pi,
)
declare(
    "nakagami",
    "Nakagami's distribution of fading signals.",
    (1.1, 1.7),
    ends=POSITIVE,
    rise=lambda nu: 2.0 * nu - 1.0,
    rest=lambda x, nu: LOG_2 + xlogy(nu, nu) - gammaln(nu) - nu * x * x,
    cdf=lambda x, nu: gammainc(nu, nu * x * x),
    sf=lambda x, nu: gammaincc(nu, nu * x * x),
    ppf=lambda q, nu: sqrt(gammaincinv(nu, q) / nu),
    isf=lambda q, nu: sqrt(gammainccinv(nu, q) / nu),
    entropy=lambda nu: (
        HALF_LOG_TAU
        + 0.5
        - LOG_2
        - 0.25 / nu
        - 0.5 * log(nu)
        + rest_of_gammaln(nu)
        + (nu - 0.5) * rest_of_psi(nu)
    ),
    mean=lambda nu: poch(nu, 0.5) / sqrt(nu),
    var=lambda nu: 1.0 - poch(nu, 0.5) ** 2 / nu,
)


def power_tail(x: ArrayLike, beta: ArrayLike) -> Array:
    """``gammaincc(1 / beta, |x|**beta)``, at 0 with the derivative from below."""
    centre = x == 0
    around = 1.0 + x / gamma(1.0 + 1.0 / beta)
    return where(centre, around, gammaincc(1.0 / beta, abs(where(centre, 1.0, x)) ** beta))


def gennorm_quantile(q: ArrayLike, beta: ArrayLike) -> Array:
    """The quantile of the generalised normal law."""
    centre = q == 0.5
    away = where(centre, 0.25, q)
    size = gammainccinv(1.0 / beta, 2.0 * where(away > 0.5, 1.0 - away, away)) ** (1.0 / beta)
    return where(centre, (2.0 * q - 1.0) * gamma(1.0 + 1.0 / beta), sign(away - 0.5) * size)


def power_of_size(x: ArrayLike, beta: ArrayLike) -> Array:
    """``|x|**beta``, at 0 with the curvature of the power: 2 for a square, infinite between 1 and 2."""
    centre = x == 0.0
    around = departure(where(centre, x, 0.0))
    curvature = where(beta == 2.0, 1.0, where((beta > 1.0) & (beta < 2.0), INF, 0.0))
    at_centre = strong_zero_mul(around, strong_zero_mul(around, curvature))
    return where(centre, at_centre, abs(where(centre, 1.0, x)) ** beta)


declare(
    "gennorm",
    "The generalised normal distribution: ``exp(-|x|**beta)``.",
    (0.7, 1.6),
    logpdf=lambda x, beta: log(0.5 * beta) - gammaln(1.0 / beta) - power_of_size(x, beta),
    steep=True,
    cdf=lambda x, beta: where(x > 0, 1.0 - 0.5 * power_tail(x, beta), 0.5 * power_tail(x, beta)),
    sf=lambda x, beta: where(x > 0, 0.5 * power_tail(x, beta), 1.0 - 0.5 * power_tail(x, beta)),
    ppf=gennorm_quantile,
    isf=lambda q, beta: -gennorm_quantile(q, beta),
    entropy=lambda beta: 1.0 / beta - log(0.5 * beta) + gammaln(1.0 / beta),
    mean=lambda beta: 0.0 * beta,
    var=lambda beta: gamma_ratio(3.0 / beta, 1.0 / beta),
)
declare(
    "halfgennorm",
    "The magnitude of a generalised normal number.",
    (0.7, 1.6),
    ends=POSITIVE,
    logpdf=lambda x, beta: log(beta) - gammaln(1.0 / beta) - x**beta,
    steep=True,
    cdf=lambda x, beta: gammainc(1.0 / beta, x**beta),
    sf=lambda x, beta: gammaincc(1.0 / beta, x**beta),
    ppf=lambda q, beta: gammaincinv(1.0 / beta, q) ** (1.0 / beta),
    isf=lambda q, beta: gammainccinv(1.0 / beta, q) ** (1.0 / beta),
    entropy=lambda beta: 1.0 / beta - log(beta) + gammaln(1.0 / beta),
    mean=lambda beta: gamma_ratio(2.0 / beta, 1.0 / beta),
    var=lambda beta: gamma_ratio(3.0 / beta, 1.0 / beta) - gamma_ratio(2.0 / beta, 1.0 / beta) ** 2,
)
declare(
    "expon",
    "The exponential distribution.",
    (0.7,),
    ends=POSITIVE,
    logpdf=lambda x: -x,
    cdf=lambda x: -expm1(-x),
    sf=lambda x: exp(-x),
    logsf=lambda x: -x,
    ppf=lambda q: -log1p(-q),
    isf=lambda q: -log(q),
    entropy=lambda: 1.0,
    mean=lambda: 1.0,
    var=lambda: 1.0,
)
declare(
    "rayleigh",
    "The norm of a vector of two normal numbers.",
    (1.3,),
    ends=POSITIVE,
    logpdf=lambda x: log(x) - 0.5 * x * x,
    cdf=lambda x: -expm1(-0.5 * x * x),
    sf=lambda x: exp(-0.5 * x * x),
    logsf=lambda x: -0.5 * x * x,
    ppf=lambda q: sqrt(-2.0 * log1p(-q)),
    isf=lambda q: sqrt(-2.0 * log(q)),
    entropy=lambda: 0.5 * EULER + 1.0 - 0.5 * LOG_2,
    mean=lambda: math.sqrt(math.pi / 2.0),
    var=lambda: (4.0 - math.pi) / 2.0,
)
