"""The normal distribution and what is made of it: powers, folds, cuts, transforms, first passages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from funcgrad.api.rules.custom import custom_jvp
from funcgrad.numpy import arcsinh, cosh, exp, expm1, log, log1p, sinh, sqrt, where
from funcgrad.ops.elementwise.arithmetic import strong_product
from funcgrad.ops.random.values_of_laws import LawValue
from funcgrad.scipy.special import erf, erfc, erfcinv, erfinv, expit, k1e, log_ndtr, logit, ndtr, ndtri
from funcgrad.scipy.stats.law import declare
from funcgrad.scipy.stats.laws.parts import (
    EULER,
    HALF_LOG_TAU,
    INF,
    LOG_2,
    LOG_PI,
    ROOT_2,
    log_difference,
    log_normal_density,
    log_normal_mass,
    magnitude,
    scaled_exp1,
)
from funcgrad.types import Array, ArrayLike

POSITIVE = (0.0, INF)
ROOT_TAU = math.sqrt(2.0 * math.pi)

declare(
    "norm",
    "The normal distribution.",
    (0.7,),
    logpdf=log_normal_density,
    cdf=ndtr,
    sf=lambda x: ndtr(-x),
    logcdf=log_ndtr,
    logsf=lambda x: log_ndtr(-x),
    ppf=ndtri,
    isf=lambda q: -ndtri(q),
    entropy=lambda: HALF_LOG_TAU + 0.5,
    mean=lambda: 0.0,
    var=lambda: 1.0,
)
declare(
    "lognorm",
    "The distribution of a number whose logarithm is normal with standard deviation s.",
    (1.3, 0.6),
    ends=POSITIVE,
    open_ends=True,
    logpdf=lambda x, s: log_normal_density(log(x) / s) - log(s) - log(x),
    cdf=lambda x, s: ndtr(log(x) / s),
    sf=lambda x, s: ndtr(-log(x) / s),
    logcdf=lambda x, s: log_ndtr(log(x) / s),
    logsf=lambda x, s: log_ndtr(-log(x) / s),
    ppf=lambda q, s: exp(s * ndtri(q)),
    isf=lambda q, s: exp(-s * ndtri(q)),
    entropy=lambda s: HALF_LOG_TAU + 0.5 + log(s),
    mean=lambda s: exp(0.5 * s * s),
    var=lambda s: expm1(s * s) * exp(s * s),
)
declare(
    "gibrat",
    "The lognormal distribution with s = 1.",
    (1.3,),
    ends=POSITIVE,
    open_ends=True,
    logpdf=lambda x: log_normal_density(log(x)) - log(x),
    cdf=lambda x: ndtr(log(x)),
    sf=lambda x: ndtr(-log(x)),
    logcdf=lambda x: log_ndtr(log(x)),
    logsf=lambda x: log_ndtr(-log(x)),
    ppf=lambda q: exp(ndtri(q)),
    isf=lambda q: exp(-ndtri(q)),
    entropy=lambda: HALF_LOG_TAU + 0.5,
    mean=lambda: math.exp(0.5),
    var=lambda: math.expm1(1.0) * math.e,
)
declare(
    "halfnorm",
    "The magnitude of a normal number.",
    (0.7,),
    ends=POSITIVE,
    logpdf=lambda x: log_normal_density(x) + LOG_2,
    cdf=lambda x: erf(x / ROOT_2),
    sf=lambda x: 2.0 * ndtr(-x),
    logsf=lambda x: LOG_2 + log_ndtr(-x),
    ppf=lambda q: ROOT_2 * erfinv(q),
    isf=lambda q: -ndtri(0.5 * q),
    entropy=lambda: 0.5 * math.log(math.pi / 2.0) + 0.5,
    mean=lambda: math.sqrt(2.0 / math.pi),
    var=lambda: 1.0 - 2.0 / math.pi,
)


def foldnorm_mean(c: ArrayLike) -> Array:
    """The mean of the magnitude of a normal number of mean c."""
    return math.sqrt(2.0 / math.pi) * exp(-0.5 * c * c) + c * erf(c / ROOT_2)


declare(
    "foldnorm",
    "The magnitude of a normal number of mean c.",
    (0.7, 1.2),
    ends=POSITIVE,
    valid=lambda c: c >= 0.0,
    logpdf=lambda x, c: log_normal_density(x - c) + log1p(exp(-2.0 * x * c)),
    cdf=lambda x, c: ndtr(x - c) - ndtr(-x - c),
    sf=lambda x, c: ndtr(c - x) + ndtr(-x - c),
    mean=foldnorm_mean,
    var=lambda c: 1.0 + c * c - foldnorm_mean(c) ** 2,
)
declare(
    "powernorm",
    "The smallest of c normal numbers.",
    (0.3, 2.5),
    logpdf=lambda x, c: log(c) + log_normal_density(x) + strong_product(c - 1.0, log_ndtr(-x)),
    logsf=lambda x, c: c * log_ndtr(-x),
    ppf=lambda q, c: -ndtri(exp(log1p(-q) / c)),
    isf=lambda q, c: -ndtri(exp(log(q) / c)),
)
declare(
    "powerlognorm",
    "The smallest of c lognormal numbers.",
    (1.3, 2.1, 0.5),
    ends=POSITIVE,
    open_ends=True,
    logpdf=lambda x, c, s: (
        log(c / (x * s)) + log_normal_density(log(x) / s) + (c - 1.0) * log_ndtr(-log(x) / s)
    ),
    logsf=lambda x, c, s: c * log_ndtr(-log(x) / s),
    ppf=lambda q, c, s: exp(-s * ndtri(exp(log1p(-q) / c))),
    isf=lambda q, c, s: exp(-s * ndtri(exp(log(q) / c))),
)


def edge_moment(a: ArrayLike, order: int) -> Array:
    """``a**order`` times the normal density at a, 0 where a is infinite."""
    finite = abs(a) < INF
    at = where(finite, a, 0.0)
    return where(finite, at**order * exp(log_normal_density(at)), 0.0)


def truncnorm_mean(a: ArrayLike, b: ArrayLike) -> Array:
    """``(density(a) - density(b)) / mass``."""
    mass = exp(log_normal_mass(a, b))
    return (edge_moment(a, 0) - edge_moment(b, 0)) / mass


def truncnorm_var(a: ArrayLike, b: ArrayLike) -> Array:
    """``1 + (a density(a) - b density(b)) / mass - mean**2``."""
    moment = (edge_moment(a, 1) - edge_moment(b, 1)) / exp(log_normal_mass(a, b))
    return 1.0 + moment - truncnorm_mean(a, b) ** 2


declare(
    "truncnorm",
    "The normal distribution between a and b.",
    (0.7, -0.4, 1.9),
    ends=lambda a, b: (a, b),
    valid=lambda a, b: a < b,
    logpdf=lambda x, a, b: log_normal_density(x) - log_normal_mass(a, b),
    logcdf=lambda x, a, b: log_normal_mass(a, x) - log_normal_mass(a, b),
    logsf=lambda x, a, b: log_normal_mass(x, b) - log_normal_mass(a, b),
    cdf=lambda x, a, b: exp(log_normal_mass(a, x) - log_normal_mass(a, b)),
    sf=lambda x, a, b: exp(log_normal_mass(x, b) - log_normal_mass(a, b)),
    entropy=lambda a, b: (
        HALF_LOG_TAU
        + 0.5
        + log_normal_mass(a, b)
        + 0.5 * (edge_moment(a, 1) - edge_moment(b, 1)) / exp(log_normal_mass(a, b))
    ),
    mean=truncnorm_mean,
    var=truncnorm_var,
)


def skew_logpdf(x: ArrayLike, a: ArrayLike) -> Array:
    """``log(2 density(x) cdf(a x))``."""
    return LOG_2 + log_normal_density(x) + log_ndtr(a * x)


@custom_jvp
def skew_cdf(x: ArrayLike, a: ArrayLike) -> Array:
    """SciPy's distribution function: Owen's formula cancels where it is small."""
    return LawValue("skewnorm", "cdf")(x, a)


@skew_cdf.defjvp
def skew_cdf_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The density, and twice the derivative of Owen's function with its sign changed."""
    (x, a), (x_dot, a_dot) = primals, tangents
    wider = 1.0 + a * a
    by_a = exp(-0.5 * x * x * wider) / (-math.pi * wider)
    return skew_cdf(x, a), exp(skew_logpdf(x, a)) * x_dot + by_a * a_dot


declare(
    "skewnorm",
    "The skew normal distribution of skewness a.",
    (0.7, 2.0),
    valid=None,
    logpdf=skew_logpdf,
    cdf=skew_cdf,
    sf=lambda x, a: skew_cdf(-x, -a),
    mean=lambda a: math.sqrt(2.0 / math.pi) * a / sqrt(1.0 + a * a),
    var=lambda a: 1.0 - (2.0 / math.pi) * a * a / (1.0 + a * a),
)
declare(
    "exponnorm",
    "The sum of a normal and an exponential number of scale K.",
    (0.7, 1.5),
    open_ends=True,
    logpdf=lambda x, K: (0.5 / K - x) / K + log_ndtr(x - 1.0 / K) - log(K),
    cdf=lambda x, K: ndtr(x) - exp((0.5 / K - x) / K + log_ndtr(x - 1.0 / K)),
    sf=lambda x, K: ndtr(-x) + exp((0.5 / K - x) / K + log_ndtr(x - 1.0 / K)),
    mean=lambda K: K,
    var=lambda K: 1.0 + K * K,
)
declare(
    "johnsonsb",
    "A bounded number x for which ``a + b logit(x)`` is normal.",
    (0.4, 0.5, 1.5),
    ends=(0.0, 1.0),
    open_ends=True,
    valid=lambda a, b: (b > 0) & (abs(a) < INF),
    logpdf=lambda x, a, b: log_normal_density(a + b * logit(x)) + log(b) - log(x) - log1p(-x),
    cdf=lambda x, a, b: ndtr(a + b * logit(x)),
    sf=lambda x, a, b: ndtr(-a - b * logit(x)),
    logcdf=lambda x, a, b: log_ndtr(a + b * logit(x)),
    logsf=lambda x, a, b: log_ndtr(-a - b * logit(x)),
    ppf=lambda q, a, b: expit((ndtri(q) - a) / b),
    isf=lambda q, a, b: expit((-ndtri(q) - a) / b),
)
declare(
    "johnsonsu",
    "A number x for which ``a + b arcsinh(x)`` is normal.",
    (0.4, 0.5, 1.5),
    valid=lambda a, b: (b > 0) & (abs(a) < INF),
    logpdf=lambda x, a, b: log_normal_density(a + b * arcsinh(x)) + log(b) - 0.5 * log1p(x * x),
    cdf=lambda x, a, b: ndtr(a + b * arcsinh(x)),
    sf=lambda x, a, b: ndtr(-a - b * arcsinh(x)),
    logcdf=lambda x, a, b: log_ndtr(a + b * arcsinh(x)),
    logsf=lambda x, a, b: log_ndtr(-a - b * arcsinh(x)),
    ppf=lambda q, a, b: sinh((ndtri(q) - a) / b),
    isf=lambda q, a, b: sinh((-ndtri(q) - a) / b),
    mean=lambda a, b: -exp(0.5 / (b * b)) * sinh(a / b),
    var=lambda a, b: 0.5 * expm1(1.0 / (b * b)) * (exp(1.0 / (b * b)) * cosh(2.0 * a / b) + 1.0),
)


def passage(x: ArrayLike, c: ArrayLike) -> Array:
    """The normal number that belongs to a life of length x."""
    return (sqrt(x) - 1.0 / sqrt(x)) / c


def lifetime(y: ArrayLike) -> Array:
    """The life that belongs to c times a normal number."""
    # For negative y the sum would cancel, and the product of both roots is 4.
    total = sqrt(y * y + 4.0) + magnitude(y)
    return 0.25 * where(y > 0, total, 4.0 / total) ** 2


declare(
    "fatiguelife",
    "The fatigue-life distribution of Birnbaum and Saunders.",
    (1.3, 0.8),
    ends=POSITIVE,
    open_ends=True,
    logpdf=lambda x, c: (
        log1p(x) - (x - 1.0) ** 2 / (2.0 * x * c * c) - log(2.0 * c) - HALF_LOG_TAU - 1.5 * log(x)
    ),
    cdf=lambda x, c: ndtr(passage(x, c)),
    sf=lambda x, c: ndtr(-passage(x, c)),
    logcdf=lambda x, c: log_ndtr(passage(x, c)),
    logsf=lambda x, c: log_ndtr(-passage(x, c)),
    ppf=lambda q, c: lifetime(c * ndtri(q)),
    isf=lambda q, c: lifetime(-c * ndtri(q)),
    mean=lambda c: 0.5 * c * c + 1.0,
    var=lambda c: c * c * (5.0 * c * c + 4.0) / 4.0,
)


def invgauss_logpdf(x: ArrayLike, mu: ArrayLike) -> Array:
    """``-log(2 pi x**3) / 2 - (x / mu - 1)**2 / (2 x)``."""
    return -HALF_LOG_TAU - 1.5 * log(x) - (x / mu - 1.0) ** 2 / (2.0 * x)


def invgauss_logcdf(x: ArrayLike, mu: ArrayLike) -> Array:
    """The two passages of a Brownian path, added."""
    near, far = brownian(x, mu)
    return log_ndtr(near) + log1p(exp(far - log_ndtr(near)))


def invgauss_logsf(x: ArrayLike, mu: ArrayLike) -> Array:
    """The two passages of a Brownian path, subtracted."""
    near, far = brownian(x, mu)
    return log_difference(log_ndtr(-near), far)


def brownian(x: ArrayLike, mu: ArrayLike) -> tuple[Any, Any]:
    """The normal number of the direct passage, and the logarithm of the probability of the reflected one."""
    rate = 1.0 / sqrt(x)
    return rate * (x / mu - 1.0), 2.0 / mu + log_ndtr(-rate * (x / mu + 1.0))


declare(
    "invgauss",
    "The inverse Gaussian distribution of mean mu.",
    (1.3, 0.8),
    ends=POSITIVE,
    open_ends=True,
    logpdf=invgauss_logpdf,
    logcdf=invgauss_logcdf,
    logsf=invgauss_logsf,
    sf=lambda x, mu: exp(invgauss_logsf(x, mu)),
    entropy=lambda mu: 0.5 * (1.0 + 2.0 * HALF_LOG_TAU + 3.0 * log(mu) - 3.0 * scaled_exp1(2.0 / mu)),
    mean=lambda mu: mu,
    var=lambda mu: mu**3,
)
declare(
    "wald",
    "The inverse Gaussian distribution of mean 1.",
    (1.3,),
    ends=POSITIVE,
    open_ends=True,
    logpdf=lambda x: invgauss_logpdf(x, 1.0),
    logcdf=lambda x: invgauss_logcdf(x, 1.0),
    logsf=lambda x: invgauss_logsf(x, 1.0),
    sf=lambda x: exp(invgauss_logsf(x, 1.0)),
    mean=lambda: 1.0,
    var=lambda: 1.0,
)
declare(
    "recipinvgauss",
    "The reciprocal of an inverse Gaussian number of mean mu.",
    (1.3, 0.8),
    ends=POSITIVE,
    open_ends=True,
    logpdf=lambda x, mu: -((1.0 / mu - x) ** 2) / (2.0 * x) - HALF_LOG_TAU - 0.5 * log(x),
    cdf=lambda x, mu: ndtr((x - 1.0 / mu) / sqrt(x)) - exp(2.0 / mu + log_ndtr(-(x + 1.0 / mu) / sqrt(x))),
    sf=lambda x, mu: ndtr((1.0 / mu - x) / sqrt(x)) + exp(2.0 / mu + log_ndtr(-(x + 1.0 / mu) / sqrt(x))),
    mean=lambda mu: 1.0 / mu + 1.0,
    var=lambda mu: 1.0 / mu + 2.0,
)
declare(
    "norminvgauss",
    "A normal number whose variance is inverse Gaussian.",
    (0.4, 1.5, 0.5),
    open_ends=True,
    valid=lambda a, b: (a > 0) & (abs(b) < a),
    logpdf=lambda x, a, b: (
        log(a)
        - LOG_PI
        - 0.5 * log1p(x * x)
        + log(k1e(a * sqrt(1.0 + x * x)))
        - a * sqrt(1.0 + x * x)
        + b * x
        + sqrt(a * a - b * b)
    ),
    mean=lambda a, b: b / sqrt(a * a - b * b),
    var=lambda a, b: a * a / (a * a - b * b) ** 1.5,
)
declare(
    "levy",
    "The first passage of a Brownian path.",
    (1.3,),
    ends=POSITIVE,
    open_ends=True,
    logpdf=lambda x: -HALF_LOG_TAU - 1.5 * log(x) - 0.5 / x,
    cdf=lambda x: erfc(sqrt(0.5 / x)),
    sf=lambda x: erf(sqrt(0.5 / x)),
    ppf=lambda q: 0.5 / erfcinv(q) ** 2,
    isf=lambda q: 0.5 / erfinv(q) ** 2,
    mean=lambda: INF,
    var=lambda: INF,
)
declare(
    "levy_l",
    "The Lévy distribution turned to the left.",
    (-1.3,),
    ends=(-INF, 0.0),
    open_ends=True,
    logpdf=lambda x: -HALF_LOG_TAU - 1.5 * log(-x) + 0.5 / x,
    cdf=lambda x: erf(sqrt(-0.5 / x)),
    sf=lambda x: erfc(sqrt(-0.5 / x)),
    ppf=lambda q: -0.5 / erfinv(q) ** 2,
    isf=lambda q: -0.5 / erfcinv(q) ** 2,
    mean=lambda: INF,
    var=lambda: INF,
)
declare(
    "moyal",
    "Moyal's distribution, of the energy that particles lose.",
    (0.7,),
    open_ends=True,
    logpdf=lambda x: -0.5 * (x + exp(-x)) - HALF_LOG_TAU,
    cdf=lambda x: erfc(exp(-0.5 * x) / ROOT_2),
    sf=lambda x: erf(exp(-0.5 * x) / ROOT_2),
    ppf=lambda q: -2.0 * log(ROOT_2 * erfcinv(q)),
    isf=lambda q: -2.0 * log(ROOT_2 * erfinv(q)),
    mean=lambda: LOG_2 + EULER,
    var=lambda: math.pi**2 / 2.0,
)


def crystalball_parts(beta: ArrayLike, m: ArrayLike) -> tuple[Any, Any]:
    """The mass of the power-law tail, and the logarithm of the whole, both over ``sqrt(2 pi)`` density."""
    tail = m / beta / (m - 1.0) * exp(-0.5 * beta * beta)
    return tail, log(tail + ROOT_TAU * ndtr(beta))


def crystalball_power(x: ArrayLike, beta: ArrayLike, m: ArrayLike) -> Array:
    """The logarithm of ``m / beta / (m / beta - beta - x)`` in the tail, 0 elsewhere."""
    left = x < -beta
    return log(m / beta) - log(m / beta - beta - where(left, x, -beta))


def crystalball_logpdf(x: ArrayLike, beta: ArrayLike, m: ArrayLike) -> Array:
    """A normal density with a tail of powers to the left of -beta."""
    _, whole = crystalball_parts(beta, m)
    tail = m * crystalball_power(x, beta, m) - 0.5 * beta * beta
    return where(x < -beta, tail, -0.5 * x * x) - whole


def crystalball_cdf(x: ArrayLike, beta: ArrayLike, m: ArrayLike) -> Array:
    """The integral of the tail, and behind it that of the normal density."""
    tail, whole = crystalball_parts(beta, m)
    power = exp((m - 1.0) * crystalball_power(x, beta, m))
    core = ROOT_TAU * (ndtr(where(x < -beta, -beta, x)) - ndtr(-beta))
    return (tail * power + core) * exp(-whole)


declare(
    "crystalball",
    "A normal distribution with a power-law tail.",
    (0.4, 1.5, 3.0),
    valid=lambda beta, m: (beta > 0) & (m > 1),
    logpdf=crystalball_logpdf,
    cdf=crystalball_cdf,
    sf=lambda x, beta, m: where(
        x < -beta,
        1.0 - crystalball_cdf(x, beta, m),
        ROOT_TAU * ndtr(-x) * exp(-crystalball_parts(beta, m)[1]),
    ),
)
