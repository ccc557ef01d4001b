"""Distributions of whole numbers. By counts there is no derivative: formulas get them rounded down."""

from __future__ import annotations

from funcgrad.api.derivatives.differentiate import stop_gradient
from funcgrad.numpy import ceil, exp, expm1, log, log1p, maximum, sinh, sqrt, tanh, where
from funcgrad.ops.specials.table import Special
from funcgrad.scipy.special import (
    beta,
    betainc,
    betaincc,
    betaln,
    entr,
    gammaln,
    ive,
    pdtr,
    pdtrc,
    xlog1py,
    xlogy,
    zeta,
)
from funcgrad.scipy.stats.law import declare
from funcgrad.scipy.stats.laws import saddle_points
from funcgrad.scipy.stats.laws.beta_family import above
from funcgrad.scipy.stats.laws.parts import INF
from funcgrad.types import Array, ArrayLike

FROM_0 = (0.0, INF)
FROM_1 = (1.0, INF)


def share(p: ArrayLike) -> Array:
    """Whether p is a probability."""
    return (p >= 0) & (p <= 1)


def binomial_logpmf(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """The logarithm of the probability of k successes in n trials.

    The beta function keeps the digits of few successes among many trials, where gamma functions have none.
    """
    few = xlogy(k, p) + xlog1py(n - k, -p) - log1p(n) - betaln(n - k + 1.0, k + 1.0)
    return saddle_points.binomial(k, n - k, p, few)


def negative_binomial_logpmf(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """The logarithm of the probability of k failures before n successes, of which the last is a success."""
    few = n * log(p) + xlog1py(k, -p) - log(n + k) - betaln(n, k + 1.0)
    share_of_last = log(n / (n + k))
    return saddle_points.binomial(n, k, p, few - share_of_last) + share_of_last


# A probability of 0 rises with the first of its factors that is 0: by powers, for its logarithm is infinite.


def of_trials(k: ArrayLike, m: ArrayLike, p: ArrayLike, logpmf: ArrayLike, choices: Array) -> Array:
    """``choices p**k (1 - p)**m`` of a probability that may be 0 or 1, else the exponential of `logpmf`."""
    certain = (p == 0.0) | (p == 1.0)
    at = where(certain, p, 0.5)
    return where(certain, choices * at**k * (1.0 - at) ** m, exp(where(certain, 0.0, logpmf)))


def binomial_pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """The probability of k successes in n trials."""
    choices = exp(-log1p(n) - betaln(n - k + 1.0, k + 1.0))
    return of_trials(k, n - k, p, binomial_logpmf(k, n, p), choices)


def negative_binomial_pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """The probability of k failures before n successes."""
    choices = exp(-log(n + k) - betaln(n, k + 1.0))
    return of_trials(n, k, p, negative_binomial_logpmf(k, n, p), choices)


def failures(k: ArrayLike, p: ArrayLike) -> Array:
    """The probability that k trials fail, also where none can."""
    certain = p == 1.0
    return where(certain, (1.0 - where(certain, p, 0.5)) ** k, exp(k * log1p(-where(certain, 0.5, p))))


def not_only_failures(k: ArrayLike, p: ArrayLike) -> Array:
    """The probability that one of k trials succeeds, also where each does."""
    certain = p == 1.0
    one = 1.0 - (1.0 - where(certain, p, 0.5)) ** k
    return where(certain, one, -expm1(k * log1p(-where(certain, 0.5, p))))


declare(
    "bernoulli",
    "One trial that succeeds with probability p.",
    (1.0, 0.3),
    discrete=True,
    ends=(0.0, 1.0),
    valid=share,
    logpdf=lambda k, p: xlogy(k, p) + xlog1py(1.0 - k, -p),
    pdf=lambda k, p: where(k >= 1, p, 1.0 - p) + 0.0 * k,
    cdf=lambda k, p: where(k >= 1, 1.0, 1.0 - p + 0.0 * k),
    sf=lambda k, p: where(k >= 1, 0.0, p + 0.0 * k),
    entropy=lambda p: entr(p) + entr(1.0 - p),
    mean=lambda p: p,
    var=lambda p: p * (1.0 - p),
)
declare(
    "binom",
    "The number of successes in n trials.",
    (2.0, 5.0, 0.3),
    discrete=True,
    counts=("n",),
    ends=lambda n, p: (0.0, n),
    valid=lambda n, p: (n >= 0) & share(p),
    logpdf=binomial_logpmf,
    pdf=binomial_pmf,
    cdf=lambda k, n, p: betaincc(k + 1.0, n - k, p),
    sf=lambda k, n, p: betainc(k + 1.0, n - k, p),
    mean=lambda n, p: n * p,
    var=lambda n, p: n * p * (1.0 - p),
)
declare(
    "nbinom",
    "The number of failures before n successes.",
    (2.0, 3.5, 0.3),
    discrete=True,
    ends=FROM_0,
    valid=lambda n, p: (n > 0) & (p > 0) & (p <= 1),
    logpdf=negative_binomial_logpmf,
    pdf=negative_binomial_pmf,
    cdf=lambda k, n, p: betainc(n, k + 1.0, p),
    sf=lambda k, n, p: betaincc(n, k + 1.0, p),
    mean=lambda n, p: n * (1.0 - p) / p,
    var=lambda n, p: n * (1.0 - p) / (p * p),
)


def poisson_logpmf(k: ArrayLike, mu: ArrayLike) -> Array:
    """The logarithm of the probability of k events of which mu are expected."""
    return saddle_points.poisson(k, mu, xlogy(k, mu) - gammaln(k + 1.0) - mu)


def poisson_pmf(k: ArrayLike, mu: ArrayLike) -> Array:
    """The probability of k events, also where none is expected."""
    never = mu == 0.0
    at = where(never, mu, 1.0)
    by_powers = at**k * exp(-at - gammaln(k + 1.0))
    return where(never, by_powers, exp(where(never, 0.0, poisson_logpmf(k, mu))))


def poisson_quantile(q: ArrayLike, mu: ArrayLike) -> Array:
    """The least count up to which the probability is q, as SciPy finds it; it does not move."""
    q, mu = stop_gradient(q), stop_gradient(mu)
    count = ceil(Special("pdtrik")(q, mu))
    before = maximum(count - 1.0, 0.0)
    return where(pdtr(before, mu) >= q, before, count)


declare(
    "poisson",
    "The number of independent events of which mu are expected.",
    (2.0, 3.5),
    discrete=True,
    ends=FROM_0,
    valid=lambda mu: mu >= 0,
    logpdf=poisson_logpmf,
    pdf=poisson_pmf,
    cdf=pdtr,
    sf=pdtrc,
    ppf=poisson_quantile,
    isf=lambda q, mu: poisson_quantile(1.0 - q, mu),
    mean=lambda mu: mu,
    var=lambda mu: mu,
)
declare(
    "geom",
    "The number of trials up to the first success.",
    (2.0, 0.3),
    discrete=True,
    ends=FROM_1,
    valid=lambda p: (p > 0) & (p <= 1),
    logpdf=lambda k, p: xlog1py(k - 1.0, -p) + log(p),
    pdf=lambda k, p: p * failures(k - 1.0, p),
    cdf=not_only_failures,
    sf=failures,
    logsf=lambda k, p: k * log1p(-p),
    entropy=lambda p: (entr(p) + entr(1.0 - p)) / p,
    mean=lambda p: 1.0 / p,
    var=lambda p: (1.0 - p) / (p * p),
)
declare(
    "logser",
    "The logarithmic series distribution.",
    (2.0, 0.6),
    discrete=True,
    ends=FROM_1,
    valid=lambda p: (p > 0) & (p < 1),
    logpdf=lambda k, p: k * log(p) - log(k) - log(-log1p(-p)),
    mean=lambda p: p / (p - 1.0) / log1p(-p),
    var=lambda p: -p * (p + log1p(-p)) / ((1.0 - p) * log1p(-p)) ** 2,
)
declare(
    "planck",
    "The discrete exponential distribution.",
    (2.0, 0.6),
    discrete=True,
    ends=FROM_0,
    logpdf=lambda k, lambda_: log(-expm1(-lambda_)) - lambda_ * k,
    logsf=lambda k, lambda_: -lambda_ * (k + 1.0),
    entropy=lambda lambda_: lambda_ / expm1(lambda_) - log(-expm1(-lambda_)),
    mean=lambda lambda_: 1.0 / expm1(lambda_),
    var=lambda lambda_: exp(-lambda_) / expm1(-lambda_) ** 2,
)
declare(
    "boltzmann",
    "The discrete exponential distribution below N.",
    (2.0, 0.6, 6.0),
    discrete=True,
    counts=("N",),
    ends=lambda lambda_, N: (0.0, N - 1.0),
    logpdf=lambda k, lambda_, N: log(expm1(-lambda_) / expm1(-lambda_ * N)) - lambda_ * k,
    cdf=lambda k, lambda_, N: expm1(-lambda_ * (k + 1.0)) / expm1(-lambda_ * N),
    sf=lambda k, lambda_, N: (
        exp(-lambda_ * (k + 1.0)) * expm1(-lambda_ * (N - k - 1.0)) / expm1(-lambda_ * N)
    ),
    mean=lambda lambda_, N: 1.0 / expm1(lambda_) - N / expm1(lambda_ * N),
    var=lambda lambda_, N: (
        exp(-lambda_) / expm1(-lambda_) ** 2 - N * N * exp(-lambda_ * N) / expm1(-lambda_ * N) ** 2
    ),
)
declare(
    "dlaplace",
    "The discrete Laplace distribution.",
    (2.0, 0.6),
    discrete=True,
    logpdf=lambda k, a: log(tanh(0.5 * a)) - a * abs(k),
    cdf=lambda k, a: where(
        k >= 0,
        1.0 - exp(-a * where(k >= 0, k, 0.0)) / (exp(a) + 1.0),
        exp(a * (where(k >= 0, 0.0, k) + 1.0)) / (exp(a) + 1.0),
    ),
    sf=lambda k, a: where(
        k >= 0,
        exp(-a * where(k >= 0, k, 0.0)) / (exp(a) + 1.0),
        1.0 - exp(a * (where(k >= 0, 0.0, k) + 1.0)) / (exp(a) + 1.0),
    ),
    entropy=lambda a: a / sinh(a) - log(tanh(0.5 * a)),
    mean=lambda a: 0.0 * a,
    var=lambda a: 2.0 * exp(a) / expm1(a) ** 2,
)
declare(
    "yulesimon",
    "The Yule-Simon distribution.",
    (2.0, 3.6),
    discrete=True,
    ends=FROM_1,
    logpdf=lambda k, alpha: log(alpha) + betaln(k, alpha + 1.0),
    cdf=lambda k, alpha: 1.0 - k * beta(k, alpha + 1.0),
    sf=lambda k, alpha: k * beta(k, alpha + 1.0),
    logsf=lambda k, alpha: log(k) + betaln(k, alpha + 1.0),
    mean=lambda alpha: above(1.0, alpha, lambda a: a / (a - 1.0)),
    var=lambda alpha: above(2.0, alpha, lambda a: a * a / ((a - 1.0) ** 2 * (a - 2.0))),
)


def zipf_moment(a: ArrayLike, order: float) -> Array:
    """``zeta(a - order) / zeta(a)``."""
    return zeta(a - order, 1.0) / zeta(a, 1.0)


declare(
    "zipf",
    "Zipf's distribution of ranks.",
    (2.0, 3.6),
    discrete=True,
    ends=FROM_1,
    valid=lambda a: a > 1,
    logpdf=lambda k, a: -a * log(k) - log(zeta(a, 1.0)),
    sf=lambda k, a: zeta(a, k + 1.0) / zeta(a, 1.0),
    mean=lambda a: above(2.0, a, lambda a: zipf_moment(a, 1.0)),
    var=lambda a: above(3.0, a, lambda a: zipf_moment(a, 2.0) - zipf_moment(a, 1.0) ** 2),
)
declare(
    "betabinom",
    "A binomial number whose probability is a beta number.",
    (2.0, 5.0, 1.5, 2.5),
    discrete=True,
    counts=("n",),
    ends=lambda n, a, b: (0.0, n),
    valid=lambda n, a, b: (n >= 0) & (a > 0) & (b > 0),
    logpdf=lambda k, n, a, b: (
        -log(n + 1.0) - betaln(n - k + 1.0, k + 1.0) + betaln(k + a, n - k + b) - betaln(a, b)
    ),
    mean=lambda n, a, b: n * a / (a + b),
    var=lambda n, a, b: n * a * b * (a + b + n) / ((a + b) ** 2 * (a + b + 1.0)),
)
declare(
    "betanbinom",
    "A negative binomial number whose probability is a beta number.",
    (2.0, 5.0, 4.5, 2.5),
    discrete=True,
    counts=("n",),
    ends=FROM_0,
    valid=lambda n, a, b: (n >= 0) & (a > 0) & (b > 0),
    logpdf=lambda k, n, a, b: -log(n + k) - betaln(n, k + 1.0) + betaln(a + n, b + k) - betaln(a, b),
    mean=lambda n, a, b: above(1.0, a, lambda a: n * b / (a - 1.0)),
    var=lambda n, a, b: above(
        2.0, a, lambda a: n * (n + a - 1.0) * b * (a + b - 1.0) / ((a - 2.0) * (a - 1.0) ** 2)
    ),
)
declare(
    "skellam",
    "The difference of two Poisson numbers.",
    (2.0, 3.5, 1.5),
    open_ends=True,
    discrete=True,
    logpdf=lambda k, mu1, mu2: (
        -((sqrt(mu1) - sqrt(mu2)) ** 2)
        + 0.5 * k * (log(mu1) - log(mu2))
        + log(ive(abs(k), 2.0 * sqrt(mu1 * mu2)))
    ),
    mean=lambda mu1, mu2: mu1 - mu2,
    var=lambda mu1, mu2: mu1 + mu2,
)
declare(
    "randint",
    "The whole numbers from low up to, not including, high.",
    (2.0, 0.0, 6.0),
    discrete=True,
    counts=("low", "high"),
    ends=lambda low, high: (low, high - 1.0),
    valid=lambda low, high: high > low,
    logpdf=lambda k, low, high: -log(high - low) + 0.0 * k,
    cdf=lambda k, low, high: (k - low + 1.0) / (high - low),
    entropy=lambda low, high: log(high - low),
    mean=lambda low, high: 0.5 * (high + low - 1.0),
    var=lambda low, high: ((high - low) ** 2 - 1.0) / 12.0,
)
