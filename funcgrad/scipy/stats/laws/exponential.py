"""Exponential tails: logistic, Laplace, hyperbolic secant, and powers of their exponentials."""

from __future__ import annotations

import math

from funcgrad.numpy import arctan, exp, expm1, log, log1p, logaddexp, sin, tan, tanh, where
from funcgrad.ops.elementwise.arithmetic import strong_product
from funcgrad.scipy.special import beta, expit, log_expit, logit, polygamma, psi, xlogy
from funcgrad.scipy.stats.law import declare
from funcgrad.scipy.stats.laws.beta_family import above
from funcgrad.scipy.stats.laws.parts import EULER, INF, LOG_2, LOG_PI, log1p_power, magnitude, rest_to_power
from funcgrad.types import Array, ArrayLike

POSITIVE = (0.0, INF)

declare(
    "logistic",
    "The logistic distribution.",
    (0.7,),
    logpdf=lambda x: log_expit(x) + log_expit(-x),
    cdf=expit,
    sf=lambda x: expit(-x),
    logcdf=log_expit,
    logsf=lambda x: log_expit(-x),
    ppf=logit,
    isf=lambda q: -logit(q),
    entropy=lambda: 2.0,
    mean=lambda: 0.0,
    var=lambda: math.pi**2 / 3.0,
)
declare(
    "genlogistic",
    "The power c of the logistic distribution function.",
    (0.7, 1.8),
    logpdf=lambda x, c: log(c) + c * log_expit(x) + log_expit(-x),
    logcdf=lambda x, c: c * log_expit(x),
    ppf=lambda q, c: -log(expm1(-log(q) / c)),
    isf=lambda q, c: -log(expm1(-log1p(-q) / c)),
    entropy=lambda c: -log(c) + psi(c + 1.0) + EULER + 1.0,
    mean=lambda c: EULER + psi(c),
    var=lambda c: math.pi**2 / 6.0 + polygamma(1, c),
)
declare(
    "halflogistic",
    "The magnitude of a logistic number.",
    (0.7,),
    ends=POSITIVE,
    logpdf=lambda x: LOG_2 + log_expit(x) + log_expit(-x),
    cdf=lambda x: tanh(0.5 * x),
    sf=lambda x: 2.0 * expit(-x),
    logsf=lambda x: LOG_2 + log_expit(-x),
    ppf=lambda q: log1p(q) - log1p(-q),
    isf=lambda q: -logit(0.5 * q),
    entropy=lambda: 2.0 - LOG_2,
    mean=lambda: 2.0 * LOG_2,
    var=lambda: math.pi**2 / 3.0 - 4.0 * LOG_2**2,
)


def halflogistic_part(x: ArrayLike, c: ArrayLike) -> Array:
    """``log(1 - c x) / c``."""
    return log1p(-c * x) / c


declare(
    "genhalflogistic",
    "The generalised half-logistic distribution.",
    (0.7, 0.6),
    ends=lambda c: (0.0, 1.0 / c),
    logpdf=lambda x, c: (
        LOG_2 + strong_product(1.0 - c, halflogistic_part(x, c)) - 2.0 * log1p(rest_to_power(x, c))
    ),
    cdf=lambda x, c: tanh(-0.5 * halflogistic_part(x, c)),
    sf=lambda x, c: 2.0 * expit(halflogistic_part(x, c)),
    ppf=lambda q, c: -expm1(-c * (log1p(q) - log1p(-q))) / c,
    isf=lambda q, c: -expm1(c * logit(0.5 * q)) / c,
    entropy=lambda c: 2.0 - (2.0 * c + 1.0) * LOG_2,
)


def secant_tail(x: ArrayLike) -> Array:
    """The probability beyond x, on its own side of 0."""
    return arctan(exp(-magnitude(x))) * (2.0 / math.pi)


declare(
    "hypsecant",
    "The hyperbolic secant distribution.",
    (0.7,),
    logpdf=lambda x: LOG_2 - LOG_PI - logaddexp(x, -x),
    cdf=lambda x: where(x > 0, 1.0 - secant_tail(x), secant_tail(x)),
    sf=lambda x: where(x > 0, secant_tail(x), 1.0 - secant_tail(x)),
    ppf=lambda q: log(tan(0.5 * math.pi * q)),
    isf=lambda q: -log(tan(0.5 * math.pi * q)),
    entropy=lambda: math.log(2.0 * math.pi),
    mean=lambda: 0.0,
    var=lambda: math.pi**2 / 4.0,
)


def half_exponential(x: ArrayLike) -> Array:
    """The distribution function of Laplace's law."""
    tail = 0.5 * exp(-magnitude(x))
    return where(x > 0, 1.0 - tail, tail)


def laplace_quantile(q: ArrayLike) -> Array:
    """The inverse of `half_exponential`."""
    high = q > 0.5
    return where(high, -log(2.0 * (1.0 - where(high, q, 0.5))), log(2.0 * where(high, 0.5, q)))


declare(
    "laplace",
    "Laplace's distribution, exponential to both sides.",
    (0.7,),
    logpdf=lambda x: -LOG_2 - abs(x),
    cdf=half_exponential,
    sf=lambda x: half_exponential(-x),
    logcdf=lambda x: where(x > 0, log1p(-0.5 * exp(-abs(x))), x - LOG_2),
    logsf=lambda x: where(x < 0, log1p(-0.5 * exp(-abs(x))), -x - LOG_2),
    ppf=laplace_quantile,
    isf=lambda q: -laplace_quantile(q),
    entropy=lambda: LOG_2 + 1.0,
    mean=lambda: 0.0,
    var=lambda: 2.0,
)
declare(
    "laplace_asymmetric",
    "Exponential to both sides, with rates kappa and ``1 / kappa``.",
    (0.7, 1.4),
    logpdf=lambda x, kappa: x * where(x >= 0, -kappa, 1.0 / kappa) - log(kappa + 1.0 / kappa),
    cdf=lambda x, kappa: where(
        x > 0,
        1.0 - exp(-magnitude(x) * kappa) / (1.0 + kappa * kappa),
        exp(-magnitude(x) / kappa) * kappa * kappa / (1.0 + kappa * kappa),
    ),
    sf=lambda x, kappa: where(
        x > 0,
        exp(-magnitude(x) * kappa) / (1.0 + kappa * kappa),
        1.0 - exp(-magnitude(x) / kappa) * kappa * kappa / (1.0 + kappa * kappa),
    ),
    entropy=lambda kappa: 1.0 + log(kappa + 1.0 / kappa),
    mean=lambda kappa: 1.0 / kappa - kappa,
    var=lambda kappa: 1.0 / (kappa * kappa) + kappa * kappa,
)


def loglaplace_logcdf(y: ArrayLike) -> Array:
    """Of the logarithm, the logarithm of Laplace's distribution function."""
    left = y < 0
    return where(left, where(left, y, 0.0) - LOG_2, log1p(-0.5 * exp(-where(left, 0.0, y))))


declare(
    "loglaplace",
    "The exponential of a Laplace number.",
    (0.7, 2.6),
    ends=POSITIVE,
    logpdf=lambda x, c: (
        log(0.5 * c) + where(x < 1, xlogy(c - 1.0, x), -(c + 1.0) * log(where(x < 1, 1.0, x)))
    ),
    cdf=lambda x, c: where(x < 1, 0.5 * where(x < 1, x, 1.0) ** c, 1.0 - 0.5 * where(x < 1, 1.0, x) ** (-c)),
    sf=lambda x, c: where(x < 1, 1.0 - 0.5 * where(x < 1, x, 1.0) ** c, 0.5 * where(x < 1, 1.0, x) ** (-c)),
    logcdf=lambda x, c: loglaplace_logcdf(c * log(x)),
    logsf=lambda x, c: loglaplace_logcdf(-c * log(x)),
    ppf=lambda q, c: exp(laplace_quantile(q) / c),
    isf=lambda q, c: exp(-laplace_quantile(q) / c),
    entropy=lambda c: log(2.0 / c) + 1.0,
    mean=lambda c: above(1.0, c, lambda c: c * c / (c * c - 1.0)),
    var=lambda c: above(2.0, c, lambda c: c * c / (c * c - 4.0) - (c * c / (c * c - 1.0)) ** 2),
)


def angle_ratio(c: ArrayLike, times: float) -> Array:
    """``(t pi / c) / sin(t pi / c)``: the moment of order t of the log-logistic distribution."""
    angle = times * math.pi / c
    return angle / sin(angle)


declare(
    "fisk",
    "The log-logistic distribution.",
    (0.7, 2.6),
    ends=POSITIVE,
    rise=lambda c: c - 1.0,
    rest=lambda x, c: log(c) - 2.0 * log1p_power(x, c),
    steep=True,
    cdf=lambda x, c: expit(c * log(x)),
    sf=lambda x, c: expit(-c * log(x)),
    logcdf=lambda x, c: log_expit(c * log(x)),
    logsf=lambda x, c: log_expit(-c * log(x)),
    ppf=lambda q, c: exp(logit(q) / c),
    isf=lambda q, c: exp(-logit(q) / c),
    entropy=lambda c: 2.0 - log(c),
    mean=lambda c: above(1.0, c, lambda c: angle_ratio(c, 1.0), math.nan),
    var=lambda c: above(2.0, c, lambda c: angle_ratio(c, 2.0) - angle_ratio(c, 1.0) ** 2, math.nan),
)


def burr_moment(c: ArrayLike, d: ArrayLike, order: float) -> Array:
    """``d B(d + k / c, 1 - k / c)``."""
    return d * beta(d + order / c, 1.0 - order / c)


declare(
    "burr",
    "Burr's distribution of type III.",
    (0.7, 2.6, 1.4),
    ends=POSITIVE,
    rise=lambda c, d: c * d - 1.0,
    rest=lambda x, c, d: log(c) + log(d) - (d + 1.0) * log1p_power(x, c),
    steep=True,
    logcdf=lambda x, c, d: d * log_expit(c * log(x)),
    ppf=lambda q, c, d: expm1(-log(q) / d) ** (-1.0 / c),
    isf=lambda q, c, d: expm1(-log1p(-q) / d) ** (-1.0 / c),
    mean=lambda c, d: above(1.0, c, lambda c: burr_moment(c, d, 1.0), math.nan),
    var=lambda c, d: above(2.0, c, lambda c: burr_moment(c, d, 2.0) - burr_moment(c, d, 1.0) ** 2, math.nan),
)
declare(
    "burr12",
    "Burr's distribution of type XII.",
    (0.7, 2.6, 1.4),
    ends=POSITIVE,
    rise=lambda c, d: c - 1.0,
    rest=lambda x, c, d: log(c) + log(d) - (d + 1.0) * log1p_power(x, c),
    steep=True,
    logsf=lambda x, c, d: -d * log1p_power(x, c),
    ppf=lambda q, c, d: expm1(-log1p(-q) / d) ** (1.0 / c),
    isf=lambda q, c, d: expm1(-log(q) / d) ** (1.0 / c),
)
declare(
    "mielke",
    "Mielke's beta-kappa distribution.",
    (0.7, 2.6, 1.4),
    ends=POSITIVE,
    rise=lambda k, s: k - 1.0,
    rest=lambda x, k, s: log(k) - (1.0 + k / s) * log1p_power(x, s),
    steep=True,
    logcdf=lambda x, k, s: k / s * log_expit(s * log(x)),
    ppf=lambda q, k, s: expm1(-log(q) * s / k) ** (-1.0 / s),
)


def kappa3_scale(x: ArrayLike, a: ArrayLike) -> Array:
    """``log(a + x**a) / a``, by the power of what is not larger than 1."""
    is_large = x > 1.0
    small, large = where(is_large, 1.0, x), where(is_large, x, 1.0)
    return where(is_large, log(large) + log1p(a * large ** (-a)) / a, log(a + small**a) / a)


def kappa3_logcdf(x: ArrayLike, a: ArrayLike) -> Array:
    """``-log1p(a * x**-a) / a``."""
    is_large = x > 1.0
    small, large = where(is_large, 1.0, x), where(is_large, x, 1.0)
    return where(is_large, -log1p(a * large ** (-a)) / a, log(small) - log(a + small**a) / a)


def kappa3_quantile(log_q: ArrayLike, a: ArrayLike) -> Array:
    """``q (a / (1 - q**a))**(1 / a)`` of the logarithm of a probability."""
    return exp(log_q + (log(a) - log(-expm1(a * log_q))) / a)


declare(
    "kappa3",
    "The three-parameter kappa distribution.",
    (0.7, 1.7),
    ends=POSITIVE,
    logpdf=lambda x, a: log(a) - (a + 1.0) * kappa3_scale(x, a),
    steep=True,
    logcdf=kappa3_logcdf,
    ppf=lambda q, a: kappa3_quantile(log(q), a),
    isf=lambda q, a: kappa3_quantile(log1p(-q), a),
)
declare(
    "truncexpon",
    "The exponential distribution up to b.",
    (0.7, 2.4),
    ends=lambda b: (0.0, b),
    logpdf=lambda x, b: -x - log(-expm1(-b)),
    cdf=lambda x, b: expm1(-x) / expm1(-b),
    sf=lambda x, b: exp(-b) * expm1(b - x) / -expm1(-b),
    ppf=lambda q, b: -log1p(q * expm1(-b)),
    isf=lambda q, b: -log(exp(-b) - q * expm1(-b)),
    entropy=lambda b: log(expm1(b)) + (1.0 + exp(b) * (b - 1.0)) / -expm1(b),
    mean=lambda b: 1.0 - b / expm1(b),
    var=lambda b: 1.0 - b * b * exp(b) / expm1(b) ** 2,
)
