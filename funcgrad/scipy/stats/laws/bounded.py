"""Distributions on an interval or a circle: uniform, polygons, cosines, von Mises."""

from __future__ import annotations

import math

from funcgrad.numpy import arcsin, arctan2, cos, exp, expm1, log, log1p, logical_not, sin, sqrt, where
from funcgrad.scipy.special import cosm1, i0, i0e, i1e
from funcgrad.scipy.stats.law import declare
from funcgrad.scipy.stats.laws.parts import LOG_2
from funcgrad.types import Array, ArrayLike

UNIT = (0.0, 1.0)
LOG_TAU = math.log(2.0 * math.pi)

declare(
    "uniform",
    "The uniform distribution from 0 to 1.",
    (0.4,),
    ends=UNIT,
    logpdf=lambda x: 0.0 * x,
    cdf=lambda x: x,
    sf=lambda x: 1.0 - x,
    ppf=lambda q: q,
    isf=lambda q: 1.0 - q,
    entropy=lambda: 0.0,
    mean=lambda: 0.5,
    var=lambda: 1.0 / 12.0,
)
declare(
    "bradford",
    "Bradford's distribution, a hyperbola.",
    (0.4, 1.7),
    ends=UNIT,
    logpdf=lambda x, c: log(c) - log1p(c * x) - log(log1p(c)),
    cdf=lambda x, c: log1p(c * x) / log1p(c),
    sf=lambda x, c: log1p(c * (1.0 - x) / (1.0 + c * x)) / log1p(c),
    ppf=lambda q, c: expm1(q * log1p(c)) / c,
    isf=lambda q, c: expm1((1.0 - q) * log1p(c)) / c,
    entropy=lambda c: 0.5 * log1p(c) - log(c / log1p(c)),
    mean=lambda c: (c - log1p(c)) / (c * log1p(c)),
    var=lambda c: ((c + 2.0) * log1p(c) - 2.0 * c) / (2.0 * c * log1p(c) ** 2),
)


def either_side(x: ArrayLike, c: ArrayLike, left: ArrayLike, right: ArrayLike) -> Array:
    """``left(c)`` up to c and ``right(c)`` beyond, of which only that is evaluated that is taken."""
    below = x < c
    return where(below, left(where(below, c, 0.5)), right(where(below, 0.5, c)))


declare(
    "triang",
    "The triangular distribution with its corner at c.",
    (0.2, 0.4),
    ends=UNIT,
    valid=lambda c: (c >= 0) & (c <= 1),
    logpdf=lambda x, c: (
        LOG_2
        + where(x < c, log(where(x < c, x, 0.5)), 0.0)
        - where(x < c, log(where(x < c, c, 0.5)), 0.0)
        + where(x < c, 0.0, where(c == 1, 0.0, log1p(-where(x < c, 0.5, where(c == 1, 0.5, x)))))
        - where(x < c, 0.0, where(c == 1, 0.0, log1p(-where(x < c, 0.5, where(c == 1, 0.5, c)))))
    ),
    cdf=lambda x, c: either_side(x, c, lambda c: x * x / c, lambda c: 1.0 - (1.0 - x) ** 2 / (1.0 - c)),
    sf=lambda x, c: either_side(x, c, lambda c: 1.0 - x * x / c, lambda c: (1.0 - x) ** 2 / (1.0 - c)),
    ppf=lambda q, c: where(
        q < c, sqrt(c * where(q < c, q, 0.5)), 1.0 - sqrt((1.0 - c) * (1.0 - where(q < c, 0.5, q)))
    ),
    isf=lambda q, c: where(
        q < 1.0 - c,
        1.0 - sqrt((1.0 - c) * where(q < 1.0 - c, q, 0.5)),
        sqrt(c * (1.0 - where(q < 1.0 - c, 0.5, q))),
    ),
    entropy=lambda c: 0.5 - LOG_2 + 0.0 * c,
    mean=lambda c: (1.0 + c) / 3.0,
    var=lambda c: (1.0 - c + c * c) / 18.0,
)


def trapezoid_density(x: ArrayLike, c: ArrayLike, d: ArrayLike) -> Array:
    """Up to c, flat to d, and down again."""
    rising, falling = logical_not(x >= c), x > d
    up = where(rising, x / where(rising, c, 1.0), 1.0)
    down = where(falling, (1.0 - x) / where(falling, 1.0 - d, 1.0), 1.0)
    return 2.0 / (1.0 + d - c) * up * down


def trapezoid_cdf(x: ArrayLike, c: ArrayLike, d: ArrayLike) -> Array:
    """The area up to x."""
    rising, falling = logical_not(x >= c), x > d
    up = x * x / where(rising, c, 1.0)
    down = (1.0 + d - c) - (1.0 - x) ** 2 / where(falling, 1.0 - d, 1.0)
    return where(rising, up, where(falling, down, 2.0 * x - c)) / (1.0 + d - c)


def trapezoid_sf(x: ArrayLike, c: ArrayLike, d: ArrayLike) -> Array:
    """The area beyond x: that of the trapezoid turned around."""
    return trapezoid_cdf(1.0 - x, 1.0 - d, 1.0 - c)


def trapezoid_ppf(q: ArrayLike, c: ArrayLike, d: ArrayLike) -> Array:
    """Where the area up to x is q."""
    width = 1.0 + d - c
    rising, falling = q * width < c, (1.0 - q) * width < 1.0 - d
    up = sqrt(where(rising, q * c * width, 1.0))
    down = 1.0 - sqrt(where(falling, (1.0 - q) * (1.0 - d) * width, 1.0))
    return where(rising, up, where(falling, down, 0.5 * (q * width + c)))


def trapezoid_isf(q: ArrayLike, c: ArrayLike, d: ArrayLike) -> Array:
    """Where the area beyond x is q."""
    return 1.0 - trapezoid_ppf(q, 1.0 - d, 1.0 - c)


def trapezoid_mean(c: ArrayLike, d: ArrayLike) -> Array:
    """The first moment."""
    return (1.0 + d + d * d - c * c) / (3.0 * (1.0 + d - c))


declare(
    "trapezoid",
    "The distribution whose density rises to c, is flat to d, and falls.",
    (0.2, 0.3, 0.6),
    ends=UNIT,
    valid=lambda c, d: (c >= 0) & (c <= 1) & (d >= c) & (d <= 1),
    logpdf=lambda x, c, d: log(trapezoid_density(x, c, d)),
    pdf=trapezoid_density,
    cdf=trapezoid_cdf,
    sf=trapezoid_sf,
    ppf=trapezoid_ppf,
    isf=trapezoid_isf,
    entropy=lambda c, d: 0.5 * (1.0 - d + c) / (1.0 + d - c) + log(0.5 * (1.0 + d - c)),
    mean=trapezoid_mean,
    var=lambda c, d: (1.0 + d + d * d + d**3 - c**3) / (6.0 * (1.0 + d - c)) - trapezoid_mean(c, d) ** 2,
)
for _name in ("loguniform", "reciprocal"):
    declare(
        _name,
        "A number between a and b whose logarithm is uniform.",
        (0.9, 0.5, 2.0),
        ends=lambda a, b: (a, b),
        valid=lambda a, b: (a > 0) & (b > a),
        logpdf=lambda x, a, b: -log(x) - log(log(b) - log(a)),
        cdf=lambda x, a, b: (log(x) - log(a)) / (log(b) - log(a)),
        sf=lambda x, a, b: (log(b) - log(x)) / (log(b) - log(a)),
        ppf=lambda q, a, b: exp(log(a) + q * (log(b) - log(a))),
        isf=lambda q, a, b: exp(log(b) - q * (log(b) - log(a))),
        entropy=lambda a, b: 0.5 * (log(a) + log(b)) + log(log(b) - log(a)),
        mean=lambda a, b: (b - a) / (log(b) - log(a)),
        var=lambda a, b: (b * b - a * a) / (2.0 * (log(b) - log(a))) - ((b - a) / (log(b) - log(a))) ** 2,
    )


def cosine_area(t: ArrayLike) -> Array:
    """``(t - sin(t)) / (2 pi)`` for positive t, without cancellation for small ones."""
    near = t < 0.5
    s = where(near, t, 0.0) ** 2
    series = 1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0 * (1.0 - s / 156.0))))
    return where(near, t * s / 6.0 * series, t - sin(t)) / (2.0 * math.pi)


declare(
    "cosine",
    "The distribution whose density is a raised cosine.",
    (0.7,),
    ends=(-math.pi, math.pi),
    logpdf=lambda x: log1p(cos(x)) - LOG_TAU,
    cdf=lambda x: cosine_area(math.pi + x),
    sf=lambda x: cosine_area(math.pi - x),
    entropy=lambda: math.log(4.0 * math.pi) - 1.0,
    mean=lambda: 0.0,
    var=lambda: math.pi**2 / 3.0 - 2.0,
)
declare(
    "anglit",
    "The distribution whose density is ``cos(2 x)``.",
    (0.3,),
    ends=(-math.pi / 4.0, math.pi / 4.0),
    logpdf=lambda x: log(cos(2.0 * x)),
    pdf=lambda x: cos(2.0 * x),
    cdf=lambda x: sin(x + math.pi / 4.0) ** 2,
    sf=lambda x: cos(x + math.pi / 4.0) ** 2,
    ppf=lambda q: arcsin(sqrt(q)) - math.pi / 4.0,
    isf=lambda q: math.pi / 4.0 - arcsin(sqrt(q)),
    entropy=lambda: 1.0 - LOG_2,
    mean=lambda: 0.0,
    var=lambda: math.pi**2 / 16.0 - 0.5,
)


def wrapped_part(x: ArrayLike, c: ArrayLike) -> Array:
    """The probability of an angle up to x; by two arguments the tangent is smooth at pi as well."""
    return arctan2((1.0 + c) * sin(0.5 * x), (1.0 - c) * cos(0.5 * x)) / math.pi


declare(
    "wrapcauchy",
    "Cauchy's distribution wrapped around a circle.",
    (0.7, 0.4),
    ends=(0.0, 2.0 * math.pi),
    valid=lambda c: (c > 0) & (c < 1),
    logpdf=lambda x, c: log1p(-c * c) - LOG_TAU - log1p(c * c - 2.0 * c * cos(x)),
    cdf=wrapped_part,
    sf=lambda x, c: wrapped_part(2.0 * math.pi - x, c),
    entropy=lambda c: LOG_TAU + log1p(-c * c),
)


def log_i0e(kappa: ArrayLike) -> Array:
    """``log(i0e(kappa))`` for numbers from 0 on: that of ``exp(-|kappa|)`` has no slope at 0, this has."""
    near = kappa < 1.0
    return where(near, log(i0(where(near, kappa, 0.0))) - kappa, log(i0e(where(near, 1.0, kappa))))


def von_mises_logpdf(x: ArrayLike, kappa: ArrayLike) -> Array:
    """``kappa (cos(x) - 1) - log(2 pi i0e(kappa))``."""
    return kappa * cosm1(x) - LOG_TAU - log_i0e(kappa)


def von_mises_entropy(kappa: ArrayLike) -> Array:
    """Of the circular distribution."""
    return kappa - kappa * i1e(kappa) / i0e(kappa) + LOG_TAU + log_i0e(kappa)


declare(
    "vonmises",
    "The von Mises distribution of angles, unrolled.",
    (0.7, 1.6),
    valid=lambda kappa: kappa >= 0,
    logpdf=von_mises_logpdf,
    entropy=von_mises_entropy,
)
declare(
    "vonmises_line",
    "The von Mises distribution of angles from -pi to pi.",
    (0.7, 1.6),
    ends=(-math.pi, math.pi),
    valid=lambda kappa: kappa >= 0,
    logpdf=von_mises_logpdf,
    entropy=von_mises_entropy,
)
