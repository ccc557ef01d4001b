"""Tails of powers: Cauchy, Pareto, Lomax and their cuts."""

from __future__ import annotations

import math

from funcgrad.numpy import arctan, arctan2, exp, expm1, log, log1p, tan, where
from funcgrad.scipy.stats.law import declare
from funcgrad.scipy.stats.laws.beta_family import above
from funcgrad.scipy.stats.laws.parts import INF, LOG_2, LOG_PI
from funcgrad.types import Array, ArrayLike

POSITIVE = (0.0, INF)
NOWHERE = math.nan

FAR = 1e100
"""Beyond it ``1 + x * x`` is ``x * x``, and the square is soon too large."""


def log1p_square(x: ArrayLike) -> Array:
    """``log(1 + x * x)``, also where the square overflows."""
    size = abs(x)
    far = size > FAR
    near = where(far, 1.0, x)
    return where(far, 2.0 * log(where(far, size, 1.0)), log1p(near * near))


def cauchy_above(q: ArrayLike) -> Array:
    """The number beyond which the probability is q, with every digit of either tail."""
    upper = q <= 0.25
    lower = q >= 0.75
    middle = tan(math.pi * (0.5 - where(upper | lower, 0.5, q)))
    below = -1.0 / tan(math.pi * (1.0 - where(lower, q, 0.75)))
    return where(upper, 1.0 / tan(math.pi * where(upper, q, 0.25)), where(lower, below, middle))


declare(
    "cauchy",
    "Cauchy's distribution.",
    (0.7,),
    logpdf=lambda x: -LOG_PI - log1p_square(x),
    cdf=lambda x: arctan2(1.0, -x) / math.pi,
    sf=lambda x: arctan2(1.0, x) / math.pi,
    ppf=lambda q: -cauchy_above(q),
    isf=cauchy_above,
    entropy=lambda: math.log(4.0 * math.pi),
    mean=lambda: NOWHERE,
    var=lambda: NOWHERE,
)
declare(
    "halfcauchy",
    "The magnitude of a Cauchy number.",
    (0.7,),
    ends=POSITIVE,
    logpdf=lambda x: LOG_2 - LOG_PI - log1p_square(x),
    cdf=lambda x: arctan(x) * (2.0 / math.pi),
    sf=lambda x: arctan2(1.0, x) * (2.0 / math.pi),
    ppf=lambda q: tan(0.5 * math.pi * q),
    isf=lambda q: 1.0 / tan(0.5 * math.pi * q),
    entropy=lambda: math.log(2.0 * math.pi),
    mean=lambda: INF,
    var=lambda: INF,
)
declare(
    "foldcauchy",
    "The magnitude of a Cauchy number around c.",
    (0.7, 1.2),
    ends=POSITIVE,
    valid=lambda c: c >= 0,
    logpdf=lambda x, c: log(1.0 / (1.0 + (x - c) ** 2) + 1.0 / (1.0 + (x + c) ** 2)) - LOG_PI,
    # The sums of two angles, as one: between -c and c they would cancel.
    cdf=lambda x, c: arctan2(2.0 * x, 1.0 + (c - x) * (c + x)) / math.pi,
    sf=lambda x, c: arctan2(2.0 * x, (x - c) * (x + c) - 1.0) / math.pi,
    mean=lambda c: INF + 0.0 * c,
    var=lambda c: INF + 0.0 * c,
)


def leaning(x: ArrayLike, a: ArrayLike) -> Array:
    """The width of a skew distribution on the side of x."""
    return where(x <= 0, 1.0 - a, 1.0 + a)


def leaning_above(q: ArrayLike, a: ArrayLike) -> Array:
    """The number beyond which the probability is q."""
    right = 2.0 * q < 1.0 + a
    above, below = where(right, q, 0.5), where(right, 0.5, 1.0 - q)
    return where(
        right,
        (1.0 + a) * cauchy_above(above / (1.0 + a)),
        -(1.0 - a) * cauchy_above(below / (1.0 - a)),
    )


declare(
    "skewcauchy",
    "Cauchy's distribution, ``1 + a`` wide to the right and ``1 - a`` to the left.",
    (0.7, 0.3),
    valid=lambda a: abs(a) < 1,
    logpdf=lambda x, a: -LOG_PI - log1p_square(x / leaning(x, a)),
    cdf=lambda x, a: where(
        x <= 0,
        leaning(x, a) / math.pi * arctan2(1.0, -x / leaning(x, a)),
        1.0 - leaning(x, a) / math.pi * arctan2(1.0, x / leaning(x, a)),
    ),
    sf=lambda x, a: where(
        x <= 0,
        1.0 - leaning(x, a) / math.pi * arctan2(1.0, -x / leaning(x, a)),
        leaning(x, a) / math.pi * arctan2(1.0, x / leaning(x, a)),
    ),
    ppf=lambda q, a: -leaning_above(q, -a),
    isf=leaning_above,
    mean=lambda a: NOWHERE + 0.0 * a,
    var=lambda a: NOWHERE + 0.0 * a,
)
declare(
    "lomax",
    "Pareto's distribution moved to 0.",
    (0.7, 2.6),
    ends=POSITIVE,
    logpdf=lambda x, c: log(c) - (c + 1.0) * log1p(x),
    logsf=lambda x, c: -c * log1p(x),
    ppf=lambda q, c: expm1(-log1p(-q) / c),
    isf=lambda q, c: expm1(-log(q) / c),
    entropy=lambda c: 1.0 + 1.0 / c - log(c),
    mean=lambda c: above(1.0, c, lambda c: 1.0 / (c - 1.0)),
    var=lambda c: above(2.0, c, lambda c: c / ((c - 1.0) ** 2 * (c - 2.0))),
)
declare(
    "pareto",
    "Pareto's distribution.",
    (1.7, 2.6),
    ends=(1.0, INF),
    logpdf=lambda x, b: log(b) - (b + 1.0) * log(x),
    logsf=lambda x, b: -b * log(x),
    ppf=lambda q, b: exp(-log1p(-q) / b),
    isf=lambda q, b: exp(-log(q) / b),
    entropy=lambda b: 1.0 + 1.0 / b - log(b),
    mean=lambda b: above(1.0, b, lambda b: b / (b - 1.0)),
    var=lambda b: above(2.0, b, lambda b: b / ((b - 1.0) ** 2 * (b - 2.0))),
)
declare(
    "truncpareto",
    "Pareto's distribution up to c.",
    (1.7, 2.6, 4.0),
    ends=lambda b, c: (1.0, c),
    valid=lambda b, c: (abs(b) > 0) & (c > 1),
    logpdf=lambda x, b, c: log(b / -expm1(-b * log(c))) - (b + 1.0) * log(x),
    cdf=lambda x, b, c: expm1(-b * log(x)) / expm1(-b * log(c)),
    sf=lambda x, b, c: (exp(-b * log(x)) - exp(-b * log(c))) / -expm1(-b * log(c)),
    ppf=lambda q, b, c: exp(-log1p(q * expm1(-b * log(c))) / b),
)
