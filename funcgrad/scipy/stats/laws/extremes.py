"""Largest and smallest values, and times until failure: Weibull, Gumbel, Fréchet, Gompertz and kin."""

from __future__ import annotations

import math
from typing import Any

from funcgrad.numpy import exp, expm1, log, log1p, where
from funcgrad.ops.elementwise.arithmetic import strong_product
from funcgrad.scipy.special import gamma, xlogy
from funcgrad.scipy.stats.law import declare, log1m_exp, risen_from
from funcgrad.scipy.stats.laws.beta_family import above
from funcgrad.scipy.stats.laws.parts import (
    EULER,
    INF,
    LOG_2,
    expm1_ratio,
    log1p_ratio,
    log_difference,
    magnitude,
    on_either_side,
    rest_to_power,
    scaled_exp1,
)
from funcgrad.types import Array, ArrayLike

POSITIVE = (0.0, INF)


def weibull_var(c: ArrayLike) -> Array:
    """``gamma(1 + 2 / c) - gamma(1 + 1 / c)**2``."""
    return gamma(1.0 + 2.0 / c) - gamma(1.0 + 1.0 / c) ** 2


declare(
    "weibull_min",
    "Weibull's distribution of times until failure.",
    (0.7, 1.8),
    ends=POSITIVE,
    rise=lambda c: c - 1.0,
    rest=lambda x, c: log(c) - x**c,
    steep=True,
    logsf=lambda x, c: -(x**c),
    ppf=lambda q, c: (-log1p(-q)) ** (1.0 / c),
    isf=lambda q, c: (-log(q)) ** (1.0 / c),
    entropy=lambda c: -EULER / c - log(c) + EULER + 1.0,
    mean=lambda c: gamma(1.0 + 1.0 / c),
    var=weibull_var,
)
declare(
    "weibull_max",
    "Weibull's distribution turned to the left.",
    (-0.7, 1.8),
    ends=(-INF, 0.0),
    logpdf=lambda x, c: log(c) + xlogy(c - 1.0, -x) - (-x) ** c,
    logcdf=lambda x, c: -((-x) ** c),
    ppf=lambda q, c: -((-log(q)) ** (1.0 / c)),
    isf=lambda q, c: -((-log1p(-q)) ** (1.0 / c)),
    entropy=lambda c: -EULER / c - log(c) + EULER + 1.0,
    mean=lambda c: -gamma(1.0 + 1.0 / c),
    var=weibull_var,
)


def weibull_tail(x: ArrayLike, c: ArrayLike) -> Array:
    """Half of the probability beyond |x|."""
    return 0.5 * risen_from(-(magnitude(x) ** c))


declare(
    "dweibull",
    "A Weibull number with a random sign.",
    (0.7, 1.8),
    open_ends=True,
    logpdf=lambda x, c: log(0.5 * c) + xlogy(c - 1.0, abs(x)) - abs(x) ** c,
    steep=True,
    cdf=lambda x, c: where(x > 0, 1.0 - weibull_tail(x, c), weibull_tail(x, c)),
    sf=lambda x, c: where(x > 0, weibull_tail(x, c), 1.0 - weibull_tail(x, c)),
    ppf=lambda q, c: on_either_side(q, lambda p: (-log(p)) ** (1.0 / c)),
    isf=lambda q, c: -on_either_side(q, lambda p: (-log(p)) ** (1.0 / c)),
    entropy=lambda c: -EULER / c - log(c) + EULER + 1.0 + LOG_2,
    mean=lambda c: 0.0 * c,
    var=lambda c: gamma(1.0 + 2.0 / c),
)
declare(
    "exponweib",
    "The power a of Weibull's distribution function.",
    (0.7, 2.0, 1.8),
    ends=POSITIVE,
    logpdf=lambda x, a, c: log(a) + log(c) + xlogy(a - 1.0, -expm1(-(x**c))) - x**c + xlogy(c - 1.0, x),
    steep=True,
    logcdf=lambda x, a, c: a * log1m_exp(-(x**c)),
    ppf=lambda q, a, c: (-log1m_exp(log(q) / a)) ** (1.0 / c),
    isf=lambda q, a, c: (-log1m_exp(log1p(-q) / a)) ** (1.0 / c),
)
declare(
    "exponpow",
    "The exponential power distribution of times until failure.",
    (0.7, 1.8),
    ends=POSITIVE,
    rise=lambda b: b - 1.0,
    rest=lambda x, b: 1.0 + log(b) + x**b - exp(x**b),
    steep=True,
    logsf=lambda x, b: -expm1(x**b),
    ppf=lambda q, b: log1p(-log1p(-q)) ** (1.0 / b),
    isf=lambda q, b: log1p(-log(q)) ** (1.0 / b),
)
declare(
    "genexpon",
    "The generalised exponential distribution.",
    (0.4, 1.2, 2.0, 1.5),
    ends=POSITIVE,
    logpdf=lambda x, a, b, c: log(a - b * expm1(-c * x)) - (a + b) * x - b * expm1(-c * x) / c,
    logsf=lambda x, a, b, c: -(a + b) * x - b * expm1(-c * x) / c,
)
declare(
    "gompertz",
    "Gompertz's distribution of life times.",
    (0.7, 1.2),
    ends=POSITIVE,
    logpdf=lambda x, c: log(c) + x - c * expm1(x),
    logsf=lambda x, c: -c * expm1(x),
    ppf=lambda q, c: log1p(-log1p(-q) / c),
    isf=lambda q, c: log1p(-log(q) / c),
    entropy=lambda c: 1.0 - log(c) - scaled_exp1(c),
    mean=scaled_exp1,
)
declare(
    "gumbel_r",
    "The largest of many exponential numbers, but for a shift.",
    (0.7,),
    open_ends=True,
    logpdf=lambda x: -x - exp(-x),
    logcdf=lambda x: -exp(-x),
    ppf=lambda q: -log(-log(q)),
    isf=lambda q: -log(-log1p(-q)),
    entropy=lambda: EULER + 1.0,
    mean=lambda: EULER,
    var=lambda: math.pi**2 / 6.0,
)
declare(
    "gumbel_l",
    "The smallest of many numbers, but for a shift.",
    (0.7,),
    open_ends=True,
    logpdf=lambda x: x - exp(x),
    logsf=lambda x: -exp(x),
    ppf=lambda q: log(-log1p(-q)),
    isf=lambda q: log(-log(q)),
    entropy=lambda: EULER + 1.0,
    mean=lambda: -EULER,
    var=lambda: math.pi**2 / 6.0,
)


def genextreme_ends(c: ArrayLike) -> tuple[Any, Any]:
    """Bounded above for positive c, below for negative."""
    inverse = 1.0 / where(c == 0, 1.0, c)
    return where(c < 0, inverse, -INF), where(c > 0, inverse, INF)


declare(
    "genextreme",
    "The generalised extreme value distribution; c = 0 is Gumbel's.",
    (0.4, 0.3),
    ends=genextreme_ends,
    open_ends=True,
    closed_end=lambda c: c == 1.0,
    valid=lambda c: abs(c) < INF,
    logpdf=lambda x, c: strong_product(c - 1.0, log1p_ratio(x, -c)) - rest_to_power(x, c),
    logcdf=lambda x, c: -exp(-log1p_ratio(x, -c)),
    ppf=lambda q, c: -expm1_ratio(log(-log(q)), c),
    isf=lambda q, c: -expm1_ratio(log(-log1p(-q)), c),
    entropy=lambda c: EULER * (1.0 - c) + 1.0,
)
declare(
    "invweibull",
    "The reciprocal of a Weibull number: Fréchet's distribution.",
    (0.7, 2.8),
    ends=POSITIVE,
    open_ends=True,
    logpdf=lambda x, c: log(c) - (c + 1.0) * log(x) - x ** (-c),
    logcdf=lambda x, c: -(x ** (-c)),
    ppf=lambda q, c: (-log(q)) ** (-1.0 / c),
    isf=lambda q, c: (-log1p(-q)) ** (-1.0 / c),
    entropy=lambda c: 1.0 + EULER + EULER / c - log(c),
    mean=lambda c: above(1.0, c, lambda c: gamma(1.0 - 1.0 / c)),
    var=lambda c: above(2.0, c, lambda c: gamma(1.0 - 2.0 / c) - gamma(1.0 - 1.0 / c) ** 2),
)
declare(
    "genpareto",
    "The generalised Pareto distribution; c = 0 is the exponential one.",
    (0.7, 0.2),
    ends=lambda c: (0.0, where(c < 0, -1.0 / where(c < 0, c, -1.0), INF)),
    valid=lambda c: abs(c) < INF,
    logpdf=lambda x, c: -strong_product(c + 1.0, log1p_ratio(x, c)),
    logsf=lambda x, c: -log1p_ratio(x, c),
    ppf=lambda q, c: expm1_ratio(-log1p(-q), c),
    isf=lambda q, c: expm1_ratio(-log(q), c),
    entropy=lambda c: 1.0 + c,
    mean=lambda c: above(-1.0, -c, lambda d: 1.0 / (1.0 + d)),
    var=lambda c: above(-0.5, -c, lambda d: 1.0 / ((1.0 + d) ** 2 * (1.0 + 2.0 * d))),
)


def weibull_mass(low: ArrayLike, high: ArrayLike, c: ArrayLike) -> Array:
    """The logarithm of Weibull's probability between two bounds."""
    return log_difference(-(low**c), -(high**c))


declare(
    "truncweibull_min",
    "Weibull's distribution between a and b.",
    (1.1, 1.8, 0.3, 2.4),
    ends=lambda c, a, b: (a, b),
    valid=lambda c, a, b: (c > 0) & (a >= 0) & (b > a),
    logpdf=lambda x, c, a, b: log(c) + xlogy(c - 1.0, x) - x**c - weibull_mass(a, b, c),
    logcdf=lambda x, c, a, b: weibull_mass(a, x, c) - weibull_mass(a, b, c),
    logsf=lambda x, c, a, b: weibull_mass(x, b, c) - weibull_mass(a, b, c),
    cdf=lambda x, c, a, b: exp(weibull_mass(a, x, c) - weibull_mass(a, b, c)),
    sf=lambda x, c, a, b: exp(weibull_mass(x, b, c) - weibull_mass(a, b, c)),
    ppf=lambda q, c, a, b: (a**c - log1p(q * expm1(a**c - b**c))) ** (1.0 / c),
    isf=lambda q, c, a, b: (a**c - log(q + (1.0 - q) * exp(a**c - b**c))) ** (1.0 / c),
)
